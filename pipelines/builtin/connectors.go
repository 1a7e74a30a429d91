package builtin

import (
	"strings"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/console"
	"pipelines/runtime/connector/files"
	"pipelines/runtime/connector/generate"
	"pipelines/runtime/connector/noop"
	"pipelines/runtime/connector/rate"
	"pipelines/runtime/connector/table"
)

// Sources lists what can be read.
func Sources() []connector.SourceFactory {
	var out []connector.SourceFactory
	for _, f := range Formats() {
		out = append(out, files.Factory(f, ReadStore))
	}
	return append(out,
		table.Factory(tableFormat, ViewStore),
		rate.Factory(),
		generate.Factory(),
	)
}

// Sinks lists what can be written beside tables.
func Sinks() []connector.SinkFactory {
	return []connector.SinkFactory{
		console.Factory(),
		noop.Factory(),
	}
}

// Source returns the factory of a format word, ignoring case, or nil.
func Source(name string) *connector.SourceFactory {
	for _, f := range Sources() {
		if strings.EqualFold(f.Name, name) {
			return &f
		}
	}
	return nil
}

// Sink returns the factory of a format word, ignoring case, or nil.
func Sink(name string) *connector.SinkFactory {
	for _, f := range Sinks() {
		if strings.EqualFold(f.Name, name) {
			return &f
		}
	}
	return nil
}
