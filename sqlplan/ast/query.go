package ast

// Query is a query with its WITH and its ordering and limits. They apply to the
// whole Body.
type Query struct {
	Pos
	With *With
	Body Body
	Tail
}

// Tail is what may follow a query body.
type Tail struct {
	OrderBy      []SortItem
	OrderByAll   *SortItem // ORDER BY ALL: X is nil
	ClusterBy    []Expr
	DistributeBy []Expr
	SortBy       []SortItem
	Windows      []NamedWindow
	Limit        Expr
	LimitAll     bool
	Offset       Expr
}

// Empty reports whether nothing follows the body.
func (t Tail) Empty() bool {
	return t.OrderBy == nil && t.OrderByAll == nil && t.ClusterBy == nil && t.DistributeBy == nil &&
		t.SortBy == nil && t.Windows == nil && t.Limit == nil && !t.LimitAll && t.Offset == nil
}

// With is WITH [RECURSIVE] a AS (...), b AS (...).
type With struct {
	Pos
	Recursive bool
	CTEs      []CTE
}

// CTE is one named query of a With.
type CTE struct {
	Pos
	Name      Ident
	Columns   []Ident
	MaxLevels Expr // MAX RECURSION LEVEL n; nil if absent
	Query     *Query
}

// Body is what a Query is made of: Select, SetOp, Values, TableQuery,
// NestedQuery, Pipe.
type Body interface {
	Node
	body()
}

// SelectForm says which word came first.
type SelectForm uint8

// The forms of Select.
const (
	SelectFirst SelectForm = iota
	FromFirst              // FROM t SELECT a
	FromOnly               // FROM t; Items is one Star
)

// Select is one SELECT.
type Select struct {
	Pos
	Form     SelectForm
	Hints    []Hint
	Distinct bool
	All      bool     // ALL was written
	Items    []Expr   // Alias, Star or a plain expression
	From     Relation // nil if none; commas are Joins of kind CommaJoin
	Where    Expr
	GroupBy  *GroupBy
	Having   Expr
	Windows  []NamedWindow
	Qualify  Expr
}

// Hint is one hint of /*+ ... */.
type Hint struct {
	Pos
	Name Ident
	Args []Expr
}

// GroupBy is a GROUP BY clause.
type GroupBy struct {
	Pos
	All   bool // GROUP BY ALL
	Items []GroupItem
	// Suffix is the older form GROUP BY a, b WITH CUBE|ROLLUP, or
	// GROUP BY a, b GROUPING SETS (...), which stands in Sets.
	Suffix GroupKind
	Sets   []GroupItem
}

// GroupKind is the kind of a GroupItem.
type GroupKind uint8

// The kinds of grouping items.
const (
	GroupExpr GroupKind = iota
	GroupSet            // (a, b) inside GROUPING SETS, CUBE or ROLLUP
	GroupCube
	GroupRollup
	GroupSets // GROUPING SETS (...)
)

// GroupItem is one item of GROUP BY. GroupExpr uses X; GroupSet uses Exprs;
// GroupCube, GroupRollup and GroupSets use Items, which are of kind GroupExpr
// (a single expression without parentheses), GroupSet or nested.
type GroupItem struct {
	Pos
	Kind  GroupKind
	X     Expr
	Exprs []Expr
	Items []GroupItem
}

// SetKind is the kind of a SetOp.
type SetKind uint8

// The set operations.
const (
	Union SetKind = iota
	Except
	Intersect
)

// SetOp joins two bodies. DISTINCT is the default.
type SetOp struct {
	Pos
	Kind     SetKind
	All      bool
	Distinct bool // DISTINCT was written
	Minus    bool // EXCEPT was written MINUS
	L, R     Body
}

// Values is VALUES (1, 'a'), (2, 'b') as a query or relation. A row of one
// value without parentheses is the value itself; others are Row or Paren.
type Values struct {
	Pos
	Rows  []Expr
	Alias *TableAlias
}

// TableQuery is TABLE t as a query.
type TableQuery struct {
	Pos
	Name Name
}

// NestedQuery is (query) as a body.
type NestedQuery struct {
	Pos
	Query *Query
}

// Pipe is input |> op.
type Pipe struct {
	Pos
	Input Body
	Op    PipeOp
}

// PipeOp is the right side of |>: PipeSelect, PipeExtend, PipeSet, PipeDrop,
// PipeAs, PipeWhere, PipeAggregate, PipeJoin, PipeSetOp, PipeTail, PipePivot,
// PipeUnpivot, PipeSample, PipeLateralView.
type PipeOp interface {
	Node
	pipeOp()
}

// PipeSelect is |> SELECT items. Windows hold a WINDOW clause.
type PipeSelect struct {
	Pos
	Select *Select // From is nil
}

// PipeExtend is |> EXTEND items.
type PipeExtend struct {
	Pos
	Items []Expr
}

// PipeSet is |> SET name = expr, ...
type PipeSet struct {
	Pos
	Sets []Assign
}

// Assign is name = value.
type Assign struct {
	Pos
	Name  Name
	Value Expr
}

// PipeDrop is |> DROP names.
type PipeDrop struct {
	Pos
	Names []Name
}

// PipeAs is |> AS name.
type PipeAs struct {
	Pos
	Name Ident
}

// PipeWhere is |> WHERE cond.
type PipeWhere struct {
	Pos
	Cond Expr
}

// PipeAggregate is |> AGGREGATE items GROUP BY keys.
type PipeAggregate struct {
	Pos
	Items   []Expr
	GroupBy *GroupBy // its expressions may be Alias
}

// PipeJoin is |> JOIN right ...; Join.L is nil.
type PipeJoin struct {
	Pos
	Join *Join
}

// PipeSetOp is |> UNION ALL right; SetOp.L is nil.
type PipeSetOp struct {
	Pos
	SetOp *SetOp
}

// PipeTail is |> ORDER BY ..., LIMIT ..., and the like.
type PipeTail struct {
	Pos
	Tail
}

// PipePivot is |> PIVOT (...); Pivot.Input is nil.
type PipePivot struct {
	Pos
	Pivot *Pivot
}

// PipeUnpivot is |> UNPIVOT (...); Unpivot.Input is nil.
type PipeUnpivot struct {
	Pos
	Unpivot *Unpivot
}

// PipeSample is |> TABLESAMPLE (...).
type PipeSample struct {
	Pos
	Sample *Sample
}

// PipeLateralView is |> LATERAL VIEW ...; View.Input is nil.
type PipeLateralView struct {
	Pos
	View *LateralView
}

func (*Select) body()      {}
func (*SetOp) body()       {}
func (*Values) body()      {}
func (*TableQuery) body()  {}
func (*NestedQuery) body() {}
func (*Pipe) body()        {}

func (*PipeSelect) pipeOp()      {}
func (*PipeExtend) pipeOp()      {}
func (*PipeSet) pipeOp()         {}
func (*PipeDrop) pipeOp()        {}
func (*PipeAs) pipeOp()          {}
func (*PipeWhere) pipeOp()       {}
func (*PipeAggregate) pipeOp()   {}
func (*PipeJoin) pipeOp()        {}
func (*PipeSetOp) pipeOp()       {}
func (*PipeTail) pipeOp()        {}
func (*PipePivot) pipeOp()       {}
func (*PipeUnpivot) pipeOp()     {}
func (*PipeSample) pipeOp()      {}
func (*PipeLateralView) pipeOp() {}
