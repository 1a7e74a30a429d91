package rewrite

import (
	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// fold replaces constant expressions by their value. What fails is left as it
// is: it fails only if a row asks for it.
func fold(c *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		m = logical.MapExprs(m, func(e logical.Expr) logical.Expr { return logical.MapExpr(e, c.foldExpr) })
		if f, ok := m.(*logical.Filter); ok && isTrue(f.Cond) {
			return f.Input
		}
		return m
	})
}

func isTrue(e logical.Expr) bool  { return isBool(e, true) }
func isFalse(e logical.Expr) bool { return isBool(e, false) }

func isBool(e logical.Expr, v bool) bool {
	l, ok := e.(*logical.Literal)
	return ok && l.Value.Type.Kind == schema.Boolean && !l.Value.IsNull(0) && l.Value.Bool[0] == v
}

func (c *Context) foldExpr(e logical.Expr) logical.Expr {
	switch x := e.(type) {
	case *logical.Literal, *logical.Column, *logical.Lambda, *logical.Subquery:
		return e
	case *logical.And:
		return foldChain(e, x.At, isTrue, isFalse)
	case *logical.Or:
		return foldChain(e, x.At, isFalse, isTrue)
	}
	for _, ch := range e.Children() {
		switch ch.(type) {
		case *logical.Literal, *logical.Lambda:
		default:
			return e
		}
	}
	if !expr.Foldable(e) {
		return e
	}
	v, err := expr.Fold(e, c.Session)
	if err != nil || v == nil || !v.Type.SameShape(e.Type()) {
		return e
	}
	return &logical.Literal{At: logical.At{Place: e.Span()}, Value: v}
}

// foldChain drops the neutral operands of an AND or OR and what stands behind
// a deciding one.
func foldChain(e logical.Expr, at logical.At, neutral, decides func(logical.Expr) bool) logical.Expr {
	args := e.Children()
	var out []logical.Expr
	for _, a := range args {
		if neutral(a) {
			continue
		}
		out = append(out, a)
		if decides(a) {
			break
		}
	}
	switch {
	case len(out) == len(args):
		return e
	case len(out) == 0:
		l := *args[0].(*logical.Literal)
		l.At = at
		return &l
	case len(out) == 1:
		return out[0]
	}
	return e.WithChildren(out)
}
