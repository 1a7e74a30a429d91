package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// EventTime is a watermark that a catalog declares; lengths in microseconds.
type EventTime struct {
	Column    string
	Delay     int64
	MaxFuture int64 // 0: no bound
}

// declaredWatermark puts the catalog's watermark on a scan.
func (b *Binder) declaredWatermark(n *logical.Scan, s *scope, e *EventTime, r diag.Range) (logical.Node, *scope) {
	if e == nil || !n.Relation.Streaming {
		return n, s
	}
	for i := range s.cols {
		a := &s.cols[i].attr
		if s.cols[i].meta != nil || !strings.EqualFold(a.Name, e.Column) {
			continue
		}
		if a.Type.Kind != schema.Timestamp {
			b.fail(r, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", `The event time %s has the invalid type %q, but expected "TIMESTAMP".`, a.Name, a.Type.SQL())
			return nil, &scope{broken: true}
		}
		a.Watermark = e.Delay
		return &logical.Watermark{Input: n, Column: a.ID, Delay: e.Delay, MaxFuture: e.MaxFuture}, s
	}
	b.fail(r, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "The source has no column `%s` for its watermark.", e.Column)
	return nil, &scope{broken: true}
}
