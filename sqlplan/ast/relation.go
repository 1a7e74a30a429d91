package ast

// Relation is what FROM reads: Table, TableFunc, SubqueryRel, Values,
// ParenRel, Join, Pivot, Unpivot, LateralView.
type Relation interface {
	Node
	relation()
}

// TableAlias is [AS] t [(a, b)].
type TableAlias struct {
	Pos
	Name    Ident
	Columns []Ident
}

// RelTail is what may follow a primary relation, in this order.
type RelTail struct {
	Sample    *Sample
	Watermark *Watermark
	Alias     *TableAlias
}

// Watermark is WATERMARK expr [AS name] DELAY OF INTERVAL ...
type Watermark struct {
	Pos
	X     Expr // a Column or an Alias
	Delay *IntervalLit
}

// Table is a table, view or CTE by name, or a file path: a Name of two parts
// whose first is a format (json.`path`).
type Table struct {
	Pos
	Name    Name
	Stream  bool       // STREAM t or STREAM(t)
	Version Expr       // VERSION AS OF v
	Time    Expr       // TIMESTAMP AS OF t
	Changes *Changes   // CHANGES FROM VERSION ...
	Options []Property // WITH (...)
	RelTail
}

// Changes is CHANGES FROM VERSION|TIMESTAMP a [TO b].
type Changes struct {
	Pos
	ByTime   bool
	From, To Expr // To is nil if open
}

// TableFunc is f(args) in FROM.
type TableFunc struct {
	Pos
	Name   Name
	Args   []Expr // NamedArg, TableArg or plain
	Stream bool   // STREAM f(...)
	Table  bool   // written TABLE(f(...))
	RelTail
	// Lateral says that LATERAL was written before it.
	Lateral bool
}

// SubqueryRel is (query) in FROM.
type SubqueryRel struct {
	Pos
	Query   *Query
	Lateral bool
	Stream  bool // STREAM (query): refused by the binder
	RelTail
}

// ParenRel is a relation in parentheses, usually a join.
type ParenRel struct {
	Pos
	Rel Relation
	RelTail
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// The kinds of joins.
const (
	CommaJoin JoinKind = iota // a, b
	CrossJoin
	InnerJoin
	LeftJoin
	RightJoin
	FullJoin
	LeftSemiJoin
	LeftAntiJoin
)

// Join joins two relations. At most one of Natural, On, Using is set.
type Join struct {
	Pos
	Kind    JoinKind
	Natural bool
	L, R    Relation
	// Lateral says that LATERAL stands before the right side (a SubqueryRel or
	// TableFunc with Lateral set).
	Lateral bool
	On      Expr
	Using   []Ident
	Nearest *Nearest
}

// Nearest is APPROX|EXACT NEAREST n BY DISTANCE|SIMILARITY expr.
type Nearest struct {
	Pos
	Exact      bool
	Count      Expr // nil: 1
	Similarity bool
	By         Expr
}

// SampleKind says how a Sample counts.
type SampleKind uint8

// The kinds of samples.
const (
	SamplePercent SampleKind = iota
	SampleRows
	SampleBucket
)

// Sample is TABLESAMPLE (n PERCENT | n ROWS | BUCKET a OUT OF b) [REPEATABLE (seed)].
type Sample struct {
	Pos
	Kind   SampleKind
	X      Expr // percentage or number of rows
	Bucket int
	Of     int
	Seed   Expr // nil if absent
}

// Pivot is PIVOT (aggregates FOR columns IN (values)).
type Pivot struct {
	Pos
	Input      Relation
	Aggregates []Expr // Alias or plain
	Columns    []Name
	Values     []Expr // Alias or plain; a tuple is a Row
	Alias      *TableAlias
}

// Unpivot is UNPIVOT [INCLUDE|EXCLUDE NULLS] (values FOR name IN (columns)).
type Unpivot struct {
	Pos
	Input        Relation
	IncludeNulls bool
	ExcludeNulls bool    // EXCLUDE NULLS was written (the default)
	Values       []Ident // more than one in the multi-column form
	Multi        bool    // written with parentheses
	NameColumn   Ident
	Columns      []UnpivotColumn
	Alias        *TableAlias
}

// UnpivotColumn is one entry of IN: a column or a tuple of them, with a label.
type UnpivotColumn struct {
	Pos
	Names []Name
	Alias *Ident
}

// LateralView is LATERAL VIEW [OUTER] f(args) t AS a, b. Without FROM its Input is
// nil: one row without columns.
type LateralView struct {
	Pos
	Input   Relation
	Outer   bool
	Call    *Call
	Table   *Ident // nil if no table alias was written
	Columns []Ident
}

func (*Table) relation()       {}
func (*TableFunc) relation()   {}
func (*SubqueryRel) relation() {}
func (*Values) relation()      {}
func (*ParenRel) relation()    {}
func (*Join) relation()        {}
func (*Pivot) relation()       {}
func (*Unpivot) relation()     {}
func (*LateralView) relation() {}
