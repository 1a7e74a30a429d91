package logical

import (
	"pipelines/tables/schema"
)

// Common marks an expression that stands at several places of one node's
// expressions: those with one Number have one value, which is computed once
// for the rows of a batch. It is lazy as every expression is: rows that a
// guard keeps from all the places are not computed.
type Common struct {
	At
	Number int
	Input  Expr
}

// Type returns the input's type.
func (e *Common) Type() schema.Type { return e.Input.Type() }

// Nullable reports whether the input may be null.
func (e *Common) Nullable() bool { return e.Input.Nullable() }

// Children is the input.
func (e *Common) Children() []Expr { return []Expr{e.Input} }

// WithChildren returns the mark on another input.
func (e *Common) WithChildren(c []Expr) Expr { return &Common{e.At, e.Number, c[0]} }
