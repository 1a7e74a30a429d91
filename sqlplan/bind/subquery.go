package bind

import (
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// inner binds the query of a subquery expression.
func (b *Binder) inner(q *ast.Query, v *env) (logical.Node, *scope, *outerRefs) {
	refs := &outerRefs{}
	n, s := b.query(q, enclosing{scope: v.scope, refs: refs, env: v})
	return n, s, refs
}

// scalarSubquery binds (query) as a value.
func (b *Binder) scalarSubquery(e *ast.Subquery, v *env) (bound, bool) {
	n, s, refs := b.inner(e.Query, v)
	if n == nil {
		return bound{}, false
	}
	cols := s.visible()
	if len(cols) != 1 {
		b.fail(e.Span, "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
			"Scalar subquery must return only one column, but got %d.", len(cols))
		return bound{}, false
	}
	t := cols[0].attr.Type
	if n, _ = b.align(e.Span, n, cols, []schema.Type{t}); n == nil {
		return bound{}, false
	}
	return bound{
		e:    &logical.Subquery{At: b.at(e.Span), Kind: logical.ScalarSubquery, Plan: n, Outer: refs.attrs, T: t},
		text: "scalarsubquery(" + outerNames(n, refs) + ")",
	}, true
}

// outerNames lists the outer columns of a subquery, each mention once, from
// the top of its plan down.
func outerNames(plan logical.Node, refs *outerRefs) string {
	if len(refs.attrs) == 0 {
		return ""
	}
	var names []string
	logical.WalkNode(plan, func(n logical.Node) bool {
		logical.EachExpr(n, func(e logical.Expr) {
			logical.WalkExpr(e, func(x logical.Expr) bool {
				switch x := x.(type) {
				case *logical.Column:
					if a, ok := logical.Find(refs.attrs, x.Attr.ID); ok {
						names = append(names, a.Name)
					}
				case *logical.Subquery:
					for _, o := range x.Outer {
						if a, ok := logical.Find(refs.attrs, o.ID); ok {
							names = append(names, a.Name)
						}
					}
				}
				return true
			})
		})
		return true
	})
	return strings.Join(names, ", ")
}

func (b *Binder) exists(e *ast.Exists, v *env) (bound, bool) {
	n, _, refs := b.inner(e.Query, v)
	if n == nil {
		return bound{}, false
	}
	return bound{
		e:    &logical.Subquery{At: b.at(e.Span), Kind: logical.ExistsSubquery, Plan: n, Outer: refs.attrs, T: schema.Of(schema.Boolean)},
		text: "exists(" + outerNames(n, refs) + ")",
	}, true
}

// inQuery binds x IN (query); a tuple on the left is compared by column.
func (b *Binder) inQuery(e *ast.In, v *env) (bound, bool) {
	items := []ast.Expr{e.X}
	if row, ok := ast.Unparen(e.X).(*ast.Row); ok {
		items = row.Items
	}
	left, ok := b.exprs(items, v)
	n, s, refs := b.inner(e.Query, v)
	if !ok || n == nil {
		return bound{}, false
	}
	cols := s.visible()
	if len(cols) != len(left) {
		b.fail(e.Span, "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH",
			"The number of columns in the left hand side of an IN subquery does not match the number of columns in the output of subquery: %d and %d.", len(left), len(cols))
		return bound{}, false
	}
	types := make([]schema.Type, len(left))
	sub := &logical.Subquery{At: b.at(e.Span), Kind: logical.InSubquery, Outer: refs.attrs, T: schema.Of(schema.Boolean)}
	for i, x := range left {
		t, ok := b.commonType([]schema.Type{x.typ(), cols[i].attr.Type}, true)
		if !ok {
			b.fail(e.Span, "DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH",
				"The data type of one or more elements in the left hand side of an IN subquery is not compatible with the data type of the output of the subquery: %q and %q.", x.typ().SQL(), cols[i].attr.Type.SQL())
			return bound{}, false
		}
		types[i] = t
		c, ok := b.cast(e.Span, x.e, t)
		if !ok {
			return bound{}, false
		}
		sub.Left = append(sub.Left, c)
	}
	if sub.Plan, ok = b.align(e.Span, n, cols, types); !ok {
		return bound{}, false
	}
	return bound{e: sub, text: "(" + strings.Join(textsOf(left), ", ") + " IN (listquery(" + outerNames(n, refs) + ")))"}, true
}

// replaceOuter gives an outer column of a subquery another identity.
func replaceOuter(s *logical.Subquery, id logical.ColumnID, a logical.Attr) *logical.Subquery {
	n := *s
	n.Outer = append([]logical.Attr(nil), s.Outer...)
	for i := range n.Outer {
		if n.Outer[i].ID == id {
			n.Outer[i] = a
		}
	}
	swap := func(e logical.Expr) logical.Expr {
		return logical.MapExpr(e, func(x logical.Expr) logical.Expr {
			switch x := x.(type) {
			case *logical.Column:
				if x.Attr.ID == id {
					return &logical.Column{At: x.At, Attr: a}
				}
			case *logical.Subquery:
				for _, o := range x.Outer {
					if o.ID == id {
						return replaceOuter(x, id, a)
					}
				}
			}
			return x
		})
	}
	n.Plan = logical.MapNode(s.Plan, func(m logical.Node) logical.Node { return logical.MapExprs(m, swap) })
	return &n
}
