package logical

import (
	"pipelines/tables/schema"
)

// Type returns the column's type.
func (e *Column) Type() schema.Type { return e.Attr.Type }

// Nullable reports whether the column may hold null.
func (e *Column) Nullable() bool { return e.Attr.Nullable }

// Children is empty.
func (e *Column) Children() []Expr { return nil }

// WithChildren returns e.
func (e *Column) WithChildren([]Expr) Expr { return e }

// Type returns the literal's type.
func (e *Literal) Type() schema.Type { return e.Value.Type }

// Nullable reports whether the literal is null.
func (e *Literal) Nullable() bool { return e.Value.IsNull(0) }

// Children is empty.
func (e *Literal) Children() []Expr { return nil }

// WithChildren returns e.
func (e *Literal) WithChildren([]Expr) Expr { return e }

// Type returns the function's result type.
func (e *Call) Type() schema.Type { return e.Fn.Result }

// Nullable reports whether the call may give null.
func (e *Call) Nullable() bool { return e.Fn.Nullable }

// Children are the arguments.
func (e *Call) Children() []Expr { return e.Args }

// WithChildren returns the call over other arguments.
func (e *Call) WithChildren(c []Expr) Expr {
	n := *e
	n.Args = c
	return &n
}

// Type returns the target type.
func (e *Cast) Type() schema.Type { return e.To }

// Nullable reports whether the cast may give null.
func (e *Cast) Nullable() bool {
	return e.Input.Nullable() || e.Mode == CastTry || e.Fn != nil && e.Fn.Nullable
}

// Children is the operand.
func (e *Cast) Children() []Expr { return []Expr{e.Input} }

// WithChildren returns the cast of another operand.
func (e *Cast) WithChildren(c []Expr) Expr {
	n := *e
	n.Input = c[0]
	return &n
}

// Type returns the field's type.
func (e *FieldAccess) Type() schema.Type { return e.Input.Type().Fields[e.Index].Type }

// Nullable reports whether the struct or its field may be null.
func (e *FieldAccess) Nullable() bool {
	return e.Input.Nullable() || e.Input.Type().Fields[e.Index].Nullable
}

// Children is the struct.
func (e *FieldAccess) Children() []Expr { return []Expr{e.Input} }

// WithChildren returns the access to another struct.
func (e *FieldAccess) WithChildren(c []Expr) Expr {
	n := *e
	n.Input = c[0]
	return &n
}

// Type is BOOLEAN.
func (e *And) Type() schema.Type { return schema.Of(schema.Boolean) }

// Nullable reports whether an operand may be null.
func (e *And) Nullable() bool { return anyNullable(e.Args) }

// Children are the operands in order.
func (e *And) Children() []Expr { return e.Args }

// WithChildren returns the conjunction of other operands.
func (e *And) WithChildren(c []Expr) Expr { return &And{e.At, c} }

// Type is BOOLEAN.
func (e *Or) Type() schema.Type { return schema.Of(schema.Boolean) }

// Nullable reports whether an operand may be null.
func (e *Or) Nullable() bool { return anyNullable(e.Args) }

// Children are the operands in order.
func (e *Or) Children() []Expr { return e.Args }

// WithChildren returns the disjunction of other operands.
func (e *Or) WithChildren(c []Expr) Expr { return &Or{e.At, c} }

// Type returns the type of all results.
func (e *Case) Type() schema.Type { return e.T }

// Nullable reports whether a result may be null or none may be chosen.
func (e *Case) Nullable() bool {
	if e.Else == nil || e.Else.Nullable() {
		return true
	}
	for _, b := range e.Branches {
		if b.Then.Nullable() {
			return true
		}
	}
	return false
}

// Children are WHEN and THEN of each branch in turn, then ELSE if there is one.
func (e *Case) Children() []Expr {
	out := make([]Expr, 0, 2*len(e.Branches)+1)
	for _, b := range e.Branches {
		out = append(out, b.When, b.Then)
	}
	if e.Else != nil {
		out = append(out, e.Else)
	}
	return out
}

// WithChildren returns the case over other operands, in the order of Children.
func (e *Case) WithChildren(c []Expr) Expr {
	n := *e
	n.Branches = make([]Branch, len(e.Branches))
	for i := range n.Branches {
		n.Branches[i] = Branch{c[2*i], c[2*i+1]}
	}
	if e.Else != nil {
		n.Else = c[len(c)-1]
	}
	return &n
}

// Type returns the type of all arguments.
func (e *Coalesce) Type() schema.Type { return e.Args[0].Type() }

// Nullable reports whether all arguments may be null.
func (e *Coalesce) Nullable() bool {
	for _, a := range e.Args {
		if !a.Nullable() {
			return false
		}
	}
	return true
}

// Children are the arguments in order.
func (e *Coalesce) Children() []Expr { return e.Args }

// WithChildren returns the coalesce of other arguments.
func (e *Coalesce) WithChildren(c []Expr) Expr { return &Coalesce{e.At, c} }

// Type returns the body's type.
func (e *Lambda) Type() schema.Type { return e.Body.Type() }

// Nullable reports whether the body may be null.
func (e *Lambda) Nullable() bool { return e.Body.Nullable() }

// Children is the body.
func (e *Lambda) Children() []Expr { return []Expr{e.Body} }

// WithChildren returns the lambda with another body.
func (e *Lambda) WithChildren(c []Expr) Expr {
	n := *e
	n.Body = c[0]
	return &n
}

// Type returns the type of the subquery's value.
func (e *Subquery) Type() schema.Type { return e.T }

// Nullable reports whether the value may be null: EXISTS never is.
func (e *Subquery) Nullable() bool { return e.Kind != ExistsSubquery }

// Children are the left operands of IN.
func (e *Subquery) Children() []Expr { return e.Left }

// WithChildren returns the subquery with other left operands.
func (e *Subquery) WithChildren(c []Expr) Expr {
	n := *e
	n.Left = c
	return &n
}

func anyNullable(args []Expr) bool {
	for _, a := range args {
		if a.Nullable() {
			return true
		}
	}
	return false
}
