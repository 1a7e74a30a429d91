package noop

import (
	"context"

	"pipelines/runtime/connector"
	"pipelines/tables/column"
)

// Sink forgets rows.
type Sink struct{}

// Held implements connector.Sink.
func (Sink) Held(context.Context, string) (connector.Held, error) {
	return connector.Held{Epoch: -1}, nil
}

// Begin implements connector.Sink.
func (Sink) Begin(context.Context, connector.EpochInfo) (connector.Epoch, error) { return epoch{}, nil }

// Commit implements connector.Sink.
func (Sink) Commit(context.Context, connector.EpochInfo, []byte) error { return nil }

// Clean implements connector.Sink.
func (Sink) Clean(context.Context, string) error { return nil }

type epoch struct{}

func (epoch) Write(int, *column.Batch) error          { return nil }
func (epoch) Prepare(context.Context) ([]byte, error) { return nil, nil }
func (epoch) Abort() error                            { return nil }
