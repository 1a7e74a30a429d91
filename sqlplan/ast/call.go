package ast

// CallForm says how a call was written when it was not name(args). Arguments
// always stand in the order given here.
type CallForm uint8

// The forms of calls.
const (
	PlainCall     CallForm = iota
	ExtractCall            // extract(F FROM x): args StringLit F, x
	SubstringCall          // substring(x FROM n [FOR m]): args x, n [, m]
	TrimCall               // trim([BOTH|LEADING|TRAILING] [c] FROM x): name trim, ltrim or rtrim, args x [, c]
	OverlayCall            // overlay(x PLACING r FROM n [FOR m]): args x, r, n [, m]
	PositionCall           // position(a IN b): args a, b
	UnitCall               // timestampadd(UNIT, n, x), timestampdiff, dateadd, datediff with a bare unit: args StringLit UNIT, ...
)

// NullTreatment is IGNORE NULLS or RESPECT NULLS.
type NullTreatment uint8

// The treatments of nulls.
const (
	DefaultNulls NullTreatment = iota
	IgnoreNulls
	RespectNulls
)

// Call is a call of a scalar, aggregate, window or table-making function.
type Call struct {
	Pos
	Name        Name
	Form        CallForm
	Args        []Expr // Star for count(*), NamedArg, Lambda, Alias in struct()
	Distinct    bool
	WithinGroup []SortItem // WITHIN GROUP (ORDER BY ...)
	Filter      Expr
	Nulls       NullTreatment
	Over        *Window // nil if no OVER
}

// NamedArg is name => value.
type NamedArg struct {
	Pos
	Name  Ident
	Value Expr
}

// TableArg is a table as an argument of a table function: TABLE(query) or
// TABLE t, with its partitioning.
type TableArg struct {
	Pos
	Query           *Query // or Table
	Table           *Name
	PartitionBy     []Expr
	SinglePartition bool // WITH SINGLE PARTITION
	OrderBy         []SortItem
}

// NullOrder is NULLS FIRST or NULLS LAST.
type NullOrder uint8

// The orders of nulls.
const (
	DefaultOrder NullOrder = iota // first when ascending, last when descending
	NullsFirst
	NullsLast
)

// SortItem is one key of an ordering.
type SortItem struct {
	Pos
	X     Expr
	Desc  bool
	Asc   bool // ASC was written
	Nulls NullOrder
}

// Window is the part after OVER, or the definition of a named window.
type Window struct {
	Pos
	Ref         Ident // OVER name, or (name ...) ; zero if none
	Bare        bool  // OVER name, or WINDOW a AS b, without parentheses
	PartitionBy []Expr
	OrderBy     []SortItem
	Frame       *Frame
}

// FrameUnit is ROWS or RANGE.
type FrameUnit uint8

// The units of frames.
const (
	Rows FrameUnit = iota
	RangeUnit
)

// Frame is the frame of a window. End is nil in the short form, which means
// CURRENT ROW.
type Frame struct {
	Pos
	Unit  FrameUnit
	Start Bound
	End   *Bound
}

// BoundKind says where a frame begins or ends.
type BoundKind uint8

// The kinds of bounds.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Bound is one end of a frame. X is set for Preceding and Following.
type Bound struct {
	Pos
	Kind BoundKind
	X    Expr
}

// NamedWindow is one entry of a WINDOW clause.
type NamedWindow struct {
	Pos
	Name   Ident
	Window *Window
}
