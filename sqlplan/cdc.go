package sqlplan

import (
	"strings"

	"pipelines/sqlplan/ast"
)

// cdc reads AUTO CDC into plain values.
func (s *scripter) cdc(c *ast.AutoCDC) *CDC {
	out := &CDC{SequenceBy: c.SequenceBy, DeleteWhen: c.DeleteWhen, TruncateWhen: c.TruncateWhen, SCDType: 1}
	switch src := c.Source.(type) {
	case *ast.Table:
		out.Source, out.SourceAt = src.Name.Strings(), src.Span
		if !src.Stream && c.Legacy == ast.NotLegacy {
			s.fail(src.Span, "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE", "AUTO CDC reads a stream: write STREAM(%s)", strings.Join(out.Source, "."))
		}
	default:
		s.fail(c.Source.Range(), "FEATURE_NOT_AVAILABLE", "AUTO CDC reads a table, a view or a source by name")
	}
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
	out.IgnoreNulls = c.IgnoreNulls != nil
	if c.SCDType == "2" {
		out.SCDType = 2
	}
	if c.SequenceBy == nil {
		s.fail(c.Span, "MISSING_CLAUSES_FOR_OPERATION", "AUTO CDC needs SEQUENCE BY")
	}
	return out
}

func (s *scripter) words(es []ast.Expr) []Word {
	var out []Word
	for _, e := range es {
		c, ok := e.(*ast.Column)
		if !ok || len(c.Name.Parts) != 1 {
			s.fail(e.Range(), "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER", "a column name of one part is wanted here")
			continue
		}
		out = append(out, Word{c.Name.Parts[0].Name, c.Span})
	}
	return out
}
