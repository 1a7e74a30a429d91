package sqlplan

import (
	"strings"

	"pipelines/sqlplan/ast"
)

// cdc reads AUTO CDC into plain values.
func (s *scripter) cdc(c *ast.AutoCDC) *CDC {
	out := &CDC{SequenceBy: c.SequenceBy, DeleteWhen: c.DeleteWhen, TruncateWhen: c.TruncateWhen, SCDType: 1}
	s.cdcSource(c, out)
	out.Keys = s.words(c.Keys)
	if c.Columns != nil {
		names := s.words(c.Columns.Names)
		if c.Columns.All {
			out.Except = names
		} else {
			out.Columns = names
		}
	}
	if c.TrackHistory != nil {
		out.HasTrackHistory = true
		names := s.words(c.TrackHistory.Names)
		if c.TrackHistory.All {
			out.TrackHistoryExcept = names
		} else {
			out.TrackHistory = names
		}
	}
	if c.IgnoreNulls != nil {
		out.IgnoreNulls = true
		names := s.words(c.IgnoreNulls.Names)
		if c.IgnoreNulls.All {
			out.IgnoreNullExcept = names
		} else {
			out.IgnoreNullColumns = names
		}
	}
	if c.SCDType == "2" {
		out.SCDType = 2
	}
	s.cdcConflicts(c, out)
	if c.SequenceBy == nil {
		s.fail(c.Span, "MISSING_CLAUSES_FOR_OPERATION", "AUTO CDC needs SEQUENCE BY")
	}
	return out
}

func (s *scripter) words(es []ast.Expr) []Word {
	var out []Word
	for _, e := range es {
		c, ok := e.(*ast.Column)
		switch {
		case !ok:
			s.fail(e.Range(), "AUTOCDC_NON_COLUMN_IDENTIFIER", "the name of a column is wanted here")
			continue
		case len(c.Name.Parts) != 1:
			s.fail(e.Range(), "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER", "a column name of one part is wanted here")
			continue
		}
		out = append(out, Word{c.Name.Parts[0].Name, c.Span})
	}
	return out
}

// cdcConflicts refuses clauses that do not go with the SCD type, and what is
// not provided.
func (s *scripter) cdcConflicts(c *ast.AutoCDC, out *CDC) {
	if c.TruncateWhen != nil && out.SCDType == 2 {
		s.fail(c.TruncateWhen.Range(), "CONFLICTING_KEYS", "APPLY AS TRUNCATE WHEN needs SCD type 1")
	}
	if c.TrackHistory != nil && out.SCDType != 2 {
		s.fail(c.TrackHistory.Span, "CONFLICTING_KEYS", "TRACK HISTORY needs STORED AS SCD TYPE 2")
	}
	if c.Once {
		s.fail(c.Span, "FEATURE_NOT_AVAILABLE", "AUTO CDC ONCE is not available yet")
	}
}

// cdcSource makes the query that reads the source.
func (s *scripter) cdcSource(c *ast.AutoCDC, out *CDC) {
	out.SourceAt = c.Source.Range()
	from, stream := c.Source, true
	switch src := c.Source.(type) {
	case *ast.Table:
		out.Source, stream = src.Name.Strings(), src.Stream
		if !stream && c.Legacy != ast.NotLegacy {
			read := *src
			read.Stream = true
			from, stream = &read, true
		}
	case *ast.TableFunc:
		out.Source, stream = src.Name.Strings(), src.Stream
	default:
		s.fail(out.SourceAt, "FEATURE_NOT_AVAILABLE", "AUTO CDC reads a table, a view, a source or a table function")
	}
	if !stream {
		s.fail(out.SourceAt, "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE", "AUTO CDC reads a stream: write STREAM(%s)", strings.Join(out.Source, "."))
	}
	at := ast.Pos{Span: out.SourceAt}
	out.Query = &Query{Pos: at, Body: &ast.Select{Pos: at, Form: ast.FromOnly, Items: []ast.Expr{&ast.Star{Pos: at}}, From: from}}
}
