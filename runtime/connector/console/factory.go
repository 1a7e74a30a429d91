package console

import (
	"context"
	"path/filepath"

	"pipelines/runtime/connector"
	"pipelines/spec/option"
)

// Factory makes console sinks.
func Factory() connector.SinkFactory {
	return connector.SinkFactory{
		Name: "console",
		Fields: []option.Field{
			{Name: "path", Type: option.TypeString, Doc: "append the lines to this file instead of standard output"},
		},
		Open: func(_ context.Context, c connector.SinkConfig) (connector.Sink, error) {
			o := Options{Schema: c.Schema, Path: c.Options.String("path"), Out: c.Out}
			if o.Path != "" && !filepath.IsAbs(o.Path) {
				o.Path = filepath.Join(c.Dir, o.Path)
			}
			return New(o), nil
		},
	}
}
