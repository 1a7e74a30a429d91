package logical

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// ColumnID identifies a column inside one plan.
type ColumnID int32

// Attr is a column that a node gives out.
type Attr struct {
	ID       ColumnID
	Name     string
	Type     schema.Type
	Nullable bool
	// Watermark is the delay in microseconds when the column carries an event
	// time with a watermark; -1 when it does not.
	Watermark int64
	// Declared is what the declaration of the column says that its type does
	// not; nil where it says nothing.
	Declared *Declaration
}

// Declaration is what a table's column keeps through views and queries that
// give it as it is.
type Declaration struct {
	Comment string
	// Type has the lengths of CHAR and VARCHAR; nil where there are none.
	Type *schema.Type
}

// Expr is a scalar expression with a resolved type.
type Expr interface {
	Type() schema.Type
	Nullable() bool
	// Children are the direct operands, evaluated or not.
	Children() []Expr
	// WithChildren returns the expression over other operands.
	WithChildren([]Expr) Expr
	// Span is the fragment of SQL, for errors.
	Span() diag.Span
}

// At is embedded in expressions to carry their place.
type At struct{ Place diag.Span }

// Span returns the place.
func (a At) Span() diag.Span { return a.Place }

// Column refers to a column of the input, or to a lambda parameter.
type Column struct {
	At
	Attr Attr
}

// Literal is a constant: one row of a constant vector.
type Literal struct {
	At
	Value *column.Vector
}

// Call is a call of a scalar function. Strict: all arguments are evaluated on
// all selected rows.
type Call struct {
	At
	Fn   *funcs.Bound
	Args []Expr
}

// CastMode says what a cast does with a value that does not fit.
type CastMode uint8

// The modes: CastANSI fails the row, CastLegacy gives null or wraps as Spark
// does with ANSI off, CastTry gives null.
const (
	CastANSI CastMode = iota
	CastLegacy
	CastTry
)

// Cast converts Input. Fn is the kernel from funcs.BindCast.
type Cast struct {
	At
	Input Expr
	To    schema.Type
	Mode  CastMode
	// Implicit marks casts that the binder inserted: they are not printed.
	Implicit bool
	Fn       *funcs.Bound
}

// FieldAccess takes field Index of a struct.
type FieldAccess struct {
	At
	Input Expr
	Index int
}

// And is the n-ary conjunction: operand i+1 is evaluated only on rows where no
// operand before is false.
type And struct {
	At
	Args []Expr
}

// Or is the n-ary disjunction, guarded likewise.
type Or struct {
	At
	Args []Expr
}

// Branch is one WHEN … THEN ….
type Branch struct{ When, Then Expr }

// Case is CASE WHEN, IF and the like: a branch is evaluated only on the rows
// that take it. All results have the type of the node (the binder casts).
type Case struct {
	At
	Branches []Branch
	Else     Expr // nil: NULL
	T        schema.Type
}

// Coalesce evaluates its arguments only on rows still null. All have one type.
type Coalesce struct {
	At
	Args []Expr
}

// Lambda is a lambda argument of a Call. Params are fresh columns that Body
// may refer to, beside the columns of the surrounding input.
type Lambda struct {
	At
	Params []Attr
	Body   Expr
}

// Alias gives an output column of Project its identity.
type Alias struct {
	Expr Expr
	Attr Attr
}

// SubqueryKind is the kind of a subquery expression.
type SubqueryKind uint8

// The kinds.
const (
	ScalarSubquery SubqueryKind = iota
	ExistsSubquery
	InSubquery // Left IN (Plan)
)

// Subquery is a subquery in an expression. Correlated columns of the outer
// query appear in Plan as Column with their outer ids, listed in Outer. The
// decorrelation rule replaces all of them before a plan is built.
type Subquery struct {
	At
	Kind  SubqueryKind
	Left  []Expr // InSubquery
	Plan  Node
	Outer []Attr
	T     schema.Type
}
