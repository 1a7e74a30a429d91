package streaming

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
)

// Options steer the check.
type Options struct {
	Text  *diag.Text
	Place diag.Span // the whole query, where nothing closer is known
	Mode  logical.OutputMode
	Name  string // the dataset, for ids
	TTL   int64  // microseconds, 0 for none
}

// Check refuses what is not legal over streams and annotates the rest.
func Check(n logical.Node, opts Options) (logical.Node, diag.List) {
	if !n.Streaming() {
		return n, nil
	}
	return n, nil
}
