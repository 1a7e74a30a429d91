package bind

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
)

const subqueryCategory diag.Code = "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY."

// checkOuter refuses columns of an outer query where Spark does: in the groups
// and values of an aggregation, in window functions and in ordering keys.
func (c *core) checkOuter() {
	if c.in.outers == nil || len(c.in.outers.attrs) == 0 {
		return
	}
	outer := map[logical.ColumnID]bool{}
	for _, a := range c.in.outers.attrs {
		outer[a.ID] = c.b.outerAggs[a.ID] == nil
	}
	whole := c.aggregated()
	for _, it := range c.items {
		if it.gen == nil {
			c.refuseOuter(it.e, outer, whole)
		}
	}
	if c.groups != nil {
		for _, k := range c.groups.keys {
			c.refuseOuter(k.e, outer, true)
		}
	}
	for _, o := range c.order {
		if o.out < 0 {
			c.refuseOuter(o.key.Expr, outer, true)
		}
	}
}

// refuseOuter reports the first outer column of an expression: anywhere when
// whole is set, else inside aggregates and window functions.
func (c *core) refuseOuter(e logical.Expr, outer map[logical.ColumnID]bool, whole bool) {
	logical.WalkExpr(e, func(x logical.Expr) bool {
		switch x := x.(type) {
		case *aggExpr:
			if c.ok && mixed(x, outer) {
				c.correlated(x.Span(), "AGGREGATE_FUNCTION_MIXED_OUTER_LOCAL_REFERENCES",
					"Unsupported subquery expression: Found an aggregate function in a correlated predicate that has both outer and local references, which is not supported.")
				return false
			}
		case *winExpr:
			if !whole {
				for _, ch := range x.Children() {
					c.refuseOuter(ch, outer, true)
				}
			}
		case *logical.Column:
			if whole && outer[x.Attr.ID] {
				c.correlated(x.Span(), "CORRELATED_REFERENCE",
					"Unsupported subquery expression: Expressions referencing the outer query are not supported outside of WHERE/HAVING clauses: `"+x.Attr.Name+"`.")
			}
		}
		return c.ok
	})
}

func mixed(x *aggExpr, outer map[logical.ColumnID]bool) bool {
	ids := map[logical.ColumnID]bool{}
	for _, a := range x.Children() {
		logical.Columns(a, ids)
	}
	local, far := false, false
	for id := range ids {
		if outer[id] {
			far = true
		} else {
			local = true
		}
	}
	return local && far
}

func (c *core) correlated(at diag.Span, class diag.Code, message string) {
	if c.ok {
		c.b.report(diag.AtSpan(c.b.text.File(), at, subqueryCategory+class, message))
	}
	c.ok = false
}
