package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Generator is a function that makes several rows of one (explode, stack,
// inline, json_tuple). The _outer forms are the same value with Outer asked
// for by the plan.
type Generator struct {
	Name                        string
	Usage, Doc, Example, Result string
	Bind                        func(s *Session, args []Arg) (*BoundGenerator, error)
	TableOnly                   bool // stands in FROM, never in a select list
}

// BoundGenerator is a resolved generator call.
type BoundGenerator struct {
	Fn      *Generator
	Args    []schema.Type
	Columns []schema.Field // with Spark's default names ("col", "key", "value", "pos")
	// Generate appends, for each row of c in order, its generated rows to out
	// (one vector a column) and the source row's number to rows, once a
	// generated row. It returns rows.
	Generate func(c *Ctx, args []*column.Vector, out []*column.Vector, rows []int32) []int32
	CanFail  bool
}

// WindowFunction is a ranking or offset function that exists only with OVER
// (row_number, rank, lag, ...). Aggregates serve as window functions too.
type WindowFunction struct {
	Name, Usage, Doc, Example, Result string
	Bind                              func(s *Session, args []Arg) (*BoundWindow, error)
}

// WindowKind names the algorithm; the window operator implements each.
type WindowKind uint8

// The kinds of window functions.
const (
	RowNumber WindowKind = iota
	Rank
	DenseRank
	PercentRank
	CumeDist
	NTile
	CounterDiff
	Lag
	Lead
	NthValue
	FirstValue
	LastValue
)

// BoundWindow is a resolved window function call. Lag, Lead: args value,
// offset (constant), default. NTile, NthValue: constants as in SQL.
type BoundWindow struct {
	Fn       *WindowFunction
	Kind     WindowKind
	Args     []schema.Type
	Result   schema.Type
	Nullable bool
	// Offset is the constant offset, bucket count or n.
	Offset int
	// FixedFrame says that the function ignores the frame clause.
	FixedFrame bool
	// CanFail says that a row may fail.
	CanFail bool
	// Step appends the value of row cur of a CounterDiff; prev is the last row
	// before it whose first argument is not null, or -1.
	Step func(c *Ctx, args []*column.Vector, prev, cur int, out *column.Vector)
}
