package bind

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// arg describes a bound expression to a function.
func (b *Binder) arg(x bound) funcs.Arg {
	a := funcs.Arg{Type: x.typ(), Nullable: x.e.Nullable(), Text: x.text}
	if l, ok := x.e.(*logical.Literal); ok {
		a.Const, a.Literal = l.Value, !x.computed
	} else if v, ok := b.constant(x.e); ok {
		a.Const = v
	}
	return a
}

// constant evaluates e when it is constant and does not fail.
func (b *Binder) constant(e logical.Expr) (*column.Vector, bool) {
	if l, ok := e.(*logical.Literal); ok {
		return l.Value, true
	}
	if hasAgg(e) || hasWindow(e) || logical.HasSubquery(e) {
		return nil, false
	}
	v, err := fold(e, b.session)
	return v, err == nil && v != nil
}

// cast converts x to type t without being asked to by the user. It reports an
// error when there is no such conversion.
func (b *Binder) cast(r diag.Range, x logical.Expr, t schema.Type) (logical.Expr, bool) {
	return b.implicit(r, x, t, b.castMode())
}

// castMode is the mode of the casts that nobody wrote.
func (b *Binder) castMode() logical.CastMode {
	if b.session.ANSI {
		return logical.CastANSI
	}
	return logical.CastLegacy
}

// implicit is a cast that nobody wrote.
func (b *Binder) implicit(r diag.Range, x logical.Expr, t schema.Type, mode logical.CastMode) (logical.Expr, bool) {
	from := x.Type()
	if from.SameShape(t) {
		return x, true
	}
	if l, ok := x.(*logical.Literal); ok && from.Kind == schema.Void {
		return nullLiteral(l.At, t), true
	}
	bd, err := funcs.BindCast(b.session, b.arg(bound{e: x}), t, funcs.CastMode(mode))
	if err != nil {
		b.failErr(r, err)
		return nil, false
	}
	return &logical.Cast{At: logical.At{Place: x.Span()}, Input: x, To: t, Mode: mode, Implicit: true, Fn: bd}, true
}

// condition makes x a boolean operand: NULL and, under ANSI, text are cast.
func (b *Binder) condition(r diag.Range, x bound, what string) (logical.Expr, bool) {
	switch x.typ().Kind {
	case schema.Boolean:
		return x.e, true
	case schema.Void, schema.String:
		return b.cast(r, x.e, schema.Of(schema.Boolean))
	}
	b.fail(r, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
		`Cannot resolve "%s" due to data type mismatch: the parameter requires the "BOOLEAN" type, however "%s" has the type "%s".`,
		what, x.text, x.typ().SQL())
	return nil, false
}

// commonType is the least type that all of the expressions can have. Without
// promote, text meets nothing but text.
func (b *Binder) commonType(types []schema.Type, promote bool) (schema.Type, bool) {
	if !promote {
		text, other := false, false
		for _, t := range types {
			text = text || t.Kind == schema.String
			other = other || t.Kind != schema.String && t.Kind != schema.Void
		}
		if text && other {
			return schema.Type{}, false
		}
	}
	return funcs.CommonOf(b.session, types)
}
