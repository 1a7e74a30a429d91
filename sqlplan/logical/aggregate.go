package logical

import (
	"pipelines/sqlplan/funcs"
)

// SortKey is one ORDER BY key.
type SortKey struct {
	Expr       Expr
	Descending bool
	NullsLast  bool
}

// AggCall is one aggregate of an Aggregate node; Attr is its output column.
type AggCall struct {
	At
	Fn       *funcs.BoundAggregate
	Args     []Expr
	Distinct bool
	Filter   Expr      // nil: all rows
	OrderBy  []SortKey // WITHIN GROUP, listagg
	Attr     Attr
}

// FrameUnit is ROWS or RANGE.
type FrameUnit uint8

// The units.
const (
	Rows FrameUnit = iota
	Range
)

// BoundKind is the kind of a frame bound.
type BoundKind uint8

// The bound kinds.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is one end of a frame. Offset is a literal for Preceding and
// Following (a number, or an interval for RANGE).
type FrameBound struct {
	Kind   BoundKind
	Offset Expr
}

// Frame is a window frame.
type Frame struct {
	Unit       FrameUnit
	Start, End FrameBound
}

// WindowCall is one window function of a Window node. Exactly one of Fn and
// Agg is set.
type WindowCall struct {
	At
	Fn          *funcs.BoundWindow
	Agg         *funcs.BoundAggregate
	Args        []Expr
	Filter      Expr
	Distinct    bool
	IgnoreNulls bool
	Frame       Frame
	Attr        Attr
}
