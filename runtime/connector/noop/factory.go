package noop

import (
	"context"

	"pipelines/runtime/connector"
)

// Factory makes noop sinks.
func Factory() connector.SinkFactory {
	return connector.SinkFactory{
		Name: "noop",
		Open: func(context.Context, connector.SinkConfig) (connector.Sink, error) { return Sink{}, nil },
	}
}
