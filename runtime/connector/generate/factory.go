package generate

import (
	"context"
	"errors"
	"time"

	"pipelines/runtime/connector"
	"pipelines/spec/option"
)

// Factory makes generate sources.
func Factory() connector.SourceFactory {
	return connector.SourceFactory{
		Name: "generate",
		Fields: []option.Field{
			{Name: "rows", Type: option.TypeInt, Min: 0, Max: 1 << 50, Default: "1000", Doc: "how many rows there are in all"},
			{Name: "rowsPerEpoch", Type: option.TypeInt, Min: 1, Max: 1 << 50, Doc: "at most this many rows an epoch"},
			{Name: "keys", Type: option.TypeInt, Min: 1, Max: 1 << 50, Doc: "distinct values of columns named k, key, *_key or *_id"},
			{Name: "seed", Type: option.TypeInt, Default: "42", Doc: "changes the values"},
			{Name: "start", Type: option.TypeString, Default: "2026-01-01T00:00:00Z", Doc: "time of row 0, RFC 3339"},
			{Name: "step", Type: option.TypeDuration, Default: "1 millisecond", Doc: "time between two rows"},
			{Name: "partitions", Type: option.TypeInt, Min: 1, Max: 1024, Default: "2", Doc: "splits an epoch"},
		},
		Open: open,
	}
}

func open(_ context.Context, c connector.SourceConfig) (connector.Opened, error) {
	if c.Schema == nil {
		return connector.Opened{}, errors.New("a generate source needs a schema")
	}
	if err := CheckSchema(*c.Schema); err != nil {
		return connector.Opened{}, err
	}
	v := c.Options
	start, err := time.Parse(time.RFC3339, v.String("start"))
	if err != nil {
		return connector.Opened{}, errors.New("option start: a time such as 2026-01-01T00:00:00Z is wanted")
	}
	s := New(Options{
		Schema: *c.Schema, Rows: v.Int("rows"), RowsPerEpoch: v.Int("rowsPerEpoch"), Keys: v.Int("keys"), Seed: v.Int("seed"),
		Start: start.UnixMicro(), Step: v.Duration("step").Microseconds(), Partitions: v.Int("partitions"),
	})
	return connector.Opened{Schema: *c.Schema, Stream: s, Table: s}, nil
}
