package rate

import (
	"context"

	"pipelines/runtime/connector"
	"pipelines/spec/option"
)

// Factory makes rate sources.
func Factory() connector.SourceFactory {
	s := Schema()
	return connector.SourceFactory{
		Name: "rate", Schema: &s,
		Fields: []option.Field{
			{Name: "rowsPerSecond", Type: option.TypeInt, Min: 1, Max: 1 << 40, Default: "1", Doc: "rows a second"},
			{Name: "rampUpTime", Type: option.TypeDuration, Doc: "how long the rate takes to grow", Later: true},
			{Name: "numPartitions", Type: option.TypeInt, Min: 1, Max: 1024, Doc: "splits of the rows", NoEffect: "a flow deals its work to lanes by itself"},
		},
		Open: func(_ context.Context, c connector.SourceConfig) (connector.Opened, error) {
			return connector.Opened{Schema: s, Stream: New(Options{RowsPerSecond: c.Options.Int("rowsPerSecond"), Now: c.Now})}, nil
		},
	}
}
