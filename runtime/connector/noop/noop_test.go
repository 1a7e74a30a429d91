package noop_test

import (
	"testing"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/connectortest"
	"pipelines/runtime/connector/noop"
)

func TestContract(t *testing.T) {
	connectortest.Sink(t, connectortest.SinkCase{Open: func(*testing.T) connector.Sink { return noop.Sink{} }})
}
