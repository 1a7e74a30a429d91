package logical

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Node is a relational operator.
type Node interface {
	// Kind names the operator; switches over it are checked to be exhaustive.
	Kind() Kind
	// Inputs are the children in order.
	Inputs() []Node
	// WithInputs returns the node over other children.
	WithInputs([]Node) Node
	// Output lists the columns that the node gives.
	Output() []Attr
	// Streaming reports whether rows keep arriving.
	Streaming() bool
}

// Kind enumerates the relational nodes.
type Kind uint8

// The kinds.
const (
	KindScan Kind = iota
	KindValues
	KindRange
	KindFilter
	KindProject
	KindAggregate
	KindExpand
	KindJoin
	KindSort
	KindLimit
	KindUnion
	KindSetOp
	KindDistinct
	KindWindow
	KindGenerate
	KindSample
	KindWatermark
	KindTimeWindow
	KindSessionWindow
	KindDeduplicate
	KindExpect
	KindRecursion
	KindRecursionRef
)

// Relation is what a Catalog says of a table, view or source that is read.
type Relation struct {
	// ID names the thing for whoever runs the plan: equal IDs are one source.
	ID string
	// Name is the resolved name in parts, for messages and explain.
	Name   []string
	Schema schema.Schema
	// Streaming is true when it is read as a stream.
	Streaming bool
	// IdleTimeout, of a stream, is the time without rows after which it does not
	// hold a watermark back any more, in microseconds; 0: it always does.
	IdleTimeout int64
	// Handle is the catalog's own business (file format and path, table).
	Handle any
}

// Scan reads a relation. Columns are the output; Fields[i] is the place of
// column i in Relation.Schema and its type may be a pruned struct. Filters are
// conjuncts over the output that the reader may use to skip rows; the filter
// above stays.
type Scan struct {
	Relation *Relation
	Columns  []Attr
	Fields   []int
	Filters  []Expr
	// Metadata marks columns that are file metadata (_metadata.*), by index.
	Metadata map[int]string
	// Shared scans of one number read the same rows of one relation, and the
	// columns that they have in common as the same types: whoever runs the plan
	// may read once for all of them. 0: a read of its own.
	Shared int
	// Late asks the reader to look at the columns of Filters first.
	Late  bool
	Place diag.Span
}

// Values is an inline table: Rows holds constant columns, one vector a column.
type Values struct {
	Columns []Attr
	Data    []*column.Vector
	Rows    int
}

// RangeScan is range(start, end, step).
type RangeScan struct {
	Start, End, Step int64
	Column           Attr
}

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Input Node
	Cond  Expr
	// Deletes says that the other rows come out as deletes, for a table that is
	// kept by key.
	Deletes bool
}

// Project computes the listed columns.
type Project struct {
	Input Node
	Exprs []Alias
}

// Aggregate groups by Groups and computes Aggs. Output: the groups' attrs,
// then the aggregates'. No groups: one row (also for empty input, when
// bounded).
type Aggregate struct {
	Input  Node
	Groups []Alias
	Aggs   []AggCall
	State  *StateInfo // streaming only
}

// Expand makes, for each row, one row a projection (grouping sets).
type Expand struct {
	Input       Node
	Projections [][]Expr
	Columns     []Attr
}

// JoinType is the type of a join.
type JoinType uint8

// The join types. Left anti joins of NOT IN set NullAware.
const (
	InnerJoin JoinType = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
	SemiJoin
	AntiJoin
	// MarkJoin adds a boolean column that says whether the row has a match
	// (IN and EXISTS inside expressions).
	MarkJoin
	// SingleJoin is a left join that fails a row with more than one match
	// (scalar subqueries).
	SingleJoin
)

// Join joins Left and Right. Keys are equalities between the sides (already
// split off); Cond is the rest, or nil.
type Join struct {
	Left, Right Node
	Type        JoinType
	LeftKeys    []Expr
	RightKeys   []Expr
	// NullSafe[i] says that key i is <=>.
	NullSafe  []bool
	Cond      Expr
	NullAware bool
	Mark      Attr // MarkJoin
	// Lateral joins evaluate Right for each row of Left (removed by rewrite).
	Lateral bool
	State   *StateInfo  // stream–stream only
	Time    *TimeBounds // stream–stream: what may be evicted
}

// Sort orders the rows. With Limit >= 0 only the first Limit rows are wanted
// (top-n).
type Sort struct {
	Input Node
	Keys  []SortKey
	Limit int64 // -1: all
}

// Limit passes Count rows (-1: all) after Offset.
type Limit struct {
	Input         Node
	Count, Offset int64
}

// Union appends inputs of equal types (UNION ALL); Columns are its output.
type Union struct {
	Children []Node
	Columns  []Attr
}

// SetOpType is INTERSECT or EXCEPT.
type SetOpType uint8

// The set operations.
const (
	Intersect SetOpType = iota
	Except
)

// SetOp is INTERSECT or EXCEPT, with or without ALL.
type SetOp struct {
	Left, Right Node
	Op          SetOpType
	All         bool
	Columns     []Attr
}

// Distinct drops equal rows.
type Distinct struct {
	Input Node
	State *StateInfo
}

// Window computes window functions with one partitioning and ordering.
// Output: the input's columns, then the calls'.
type Window struct {
	Input       Node
	PartitionBy []Expr
	OrderBy     []SortKey
	Calls       []WindowCall
	// First, if above 0, says that of each partition only the rows with a rank
	// (the call whose column is FirstBy) up to First are wanted: the others may
	// be left out. All calls are ranks then.
	First   int64
	FirstBy ColumnID
	State   *StateInfo // recognised streaming forms
}

// Generate runs a generator for each row. Output: the input's columns, then
// Columns. Outer keeps rows without generated rows, with nulls.
type Generate struct {
	At
	Input   Node
	Fn      *funcs.BoundGenerator
	Args    []Expr
	Columns []Attr
	Outer   bool
}

// Sample keeps rows by chance: Fraction of them, or exactly Rows of them.
type Sample struct {
	Input    Node
	Fraction float64
	Rows     int64 // -1: by fraction
	Seed     int64
}

// Watermark declares Column as event time with a delay in microseconds.
type Watermark struct {
	Input  Node
	Column ColumnID
	Delay  int64
	// MaxFuture bounds how far ahead of the clock an event time may move the
	// watermark, 0: any.
	MaxFuture int64
	// ID names the watermark node in the checkpoint; set by streaming.
	ID string
}

// TimeWindow assigns each row to its windows window(Time, size, slide, start):
// one row a window. Output: the input's columns, then Column, a
// STRUCT<start, end>. Sizes in microseconds.
type TimeWindow struct {
	Input              Node
	Time               Expr
	Size, Slide, Start int64
	Column             Attr
}

// SessionWindow marks that the aggregate above groups by sessions: Column is
// the STRUCT<start, end> that grows, Gap an interval by row (microseconds).
type SessionWindow struct {
	Input  Node
	Time   Expr
	Gap    Expr
	Column Attr
}

// Deduplicate keeps the first row of each key. No keys: all columns.
type Deduplicate struct {
	Input           Node
	Keys            []ColumnID
	WithinWatermark bool
	State           *StateInfo
}

// OnViolation is what happens to a row that violates an expectation.
type OnViolation uint8

// The actions.
const (
	Warn OnViolation = iota
	Drop
	FailFlow
)

// Expectation is one named condition.
type Expectation struct {
	Name   string
	Cond   Expr
	Action OnViolation
}

// Expect checks expectations on each row and counts. Nothing that decides about
// rows moves past it: the rows that it sees are those of its dataset.
type Expect struct {
	Input Node
	Rules []Expectation
	// Dataset is the view whose rows these are; "" for those of the query's
	// own target.
	Dataset string
	// DropErrors drops rows whose expressions fail, here and below.
	DropErrors bool
	// Deletes says that dropped rows come out as deletes, for a table that is
	// kept by key.
	Deletes bool
}

// StateInfo is what sqlplan/streaming fixes about a stateful operator before
// any rewrite.
type StateInfo struct {
	// ID names the operator in the checkpoint: kind, normalised keys, ordinal.
	ID string
	// Meaning is a text that changes when the stored state means another
	// thing (aggregate functions and their versions).
	Meaning string
	// Below is a normal form of what chooses the operator's rows: the relations
	// and filters below it.
	Below string
	// EventTime is the column whose watermark expires state, -1 for none; for
	// window columns, the end of the window counts.
	EventTime ColumnID
	// IsWindow says that EventTime is a window struct.
	IsWindow bool
	// Mode is the output mode of the flow.
	Mode OutputMode
	// TTL in microseconds, 0 for none.
	TTL int64
}

// OutputMode is a flow's output mode.
type OutputMode uint8

// The output modes.
const (
	Append OutputMode = iota
	Update
	Complete
)

// TimeBounds says when rows of a stream–stream join can be dropped: a left row
// with event time t (column LeftTime) can match until the right watermark
// passes t + LeftUntil, and the other way round.
type TimeBounds struct {
	LeftTime, RightTime   ColumnID // -1: no event time on that side
	LeftUntil, RightUntil int64    // microseconds; valid when the flag is set
	LeftBound, RightBound bool
	// KeyWindow is set when the join keys hold the event-time window itself.
	KeyWindow bool
}
