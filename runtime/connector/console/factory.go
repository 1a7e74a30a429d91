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
			return New(Options{Schema: c.Schema, Path: target(c), Out: c.Out}), nil
		},
		Target: target,
	}
}

// target is the path of the file, "" for standard output.
func target(c connector.SinkConfig) string {
	path := c.Options.String("path")
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	return path
}
