package rewrite

import (
	"pipelines/sqlplan/logical"
)

// distinct turns aggregates over distinct values into two without: the first
// groups by the values, which runs side by side and spills as any grouping. And
// it removes a DISTINCT of rows that are distinct, or of which nothing but
// their existence is asked.
func distinct(c *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		switch m := m.(type) {
		case *logical.Aggregate:
			return c.distinctValues(m)
		case *logical.Distinct:
			if m.State == nil && !m.Streaming() && unique(m.Input, setOf(m.Output())) {
				return m.Input
			}
		case *logical.Join:
			switch m.Type {
			case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
				if right := repeated(m.Right); right != m.Right {
					return m.WithInputs([]logical.Node{m.Left, right})
				}
			}
		}
		return m
	})
}

// repeated is n without a DISTINCT at its top, maybe below projections.
func repeated(n logical.Node) logical.Node {
	switch m := n.(type) {
	case *logical.Distinct:
		if m.State == nil && !m.Streaming() {
			return repeated(m.Input)
		}
	case *logical.Project:
		if in := repeated(m.Input); in != m.Input {
			return &logical.Project{Input: in, Exprs: m.Exprs}
		}
	}
	return n
}

// unique reports whether no two rows of n agree in all of the columns.
func unique(n logical.Node, by idSet) bool {
	switch m := n.(type) {
	case *logical.Aggregate:
		for _, g := range m.Groups {
			if !by[g.Attr.ID] {
				return false
			}
		}
		return m.State == nil
	case *logical.Project:
		below := idSet{}
		for _, a := range m.Exprs {
			if col, ok := a.Expr.(*logical.Column); ok && by[a.Attr.ID] {
				below[col.Attr.ID] = true
			}
		}
		return unique(m.Input, below)
	case *logical.Distinct:
		return setOf(m.Output()).within(by)
	case *logical.SetOp:
		return !m.All && setOf(m.Output()).within(by)
	case *logical.RangeScan:
		return by[m.Column.ID]
	case *logical.Filter, *logical.Sort, *logical.Limit, *logical.Sample, *logical.Window:
		return unique(n.Inputs()[0], by)
	case *logical.Join:
		switch m.Type {
		case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
			return unique(m.Left, by)
		}
	}
	return false
}

// distinctValues splits an aggregate all of whose calls are over the same
// distinct values, in no order.
func (c *Context) distinctValues(m *logical.Aggregate) logical.Node {
	if m.State != nil || m.Streaming() || len(m.Aggs) == 0 {
		return m
	}
	first, needed := m.Aggs[0], false
	for _, g := range m.Aggs {
		needed = needed || g.Distinct
		if !g.Distinct && !g.Fn.Fn.IgnoresDistinct || g.Filter != nil || len(g.OrderBy) > 0 || g.Fn.Fn.OrderSensitive || len(g.Args) != len(first.Args) {
			return m
		}
		for i, a := range g.Args {
			// The sum of floating-point numbers depends on their order.
			if logical.Text(a) != logical.Text(first.Args[i]) || !exactEquality(a.Type()) && g.Fn.Fn.Name != "count" {
				return m
			}
		}
	}
	if !needed {
		return m
	}
	inner := &logical.Aggregate{Input: m.Input}
	outer := &logical.Aggregate{Input: inner}
	for _, g := range m.Groups {
		key := g.Attr
		key.ID = c.id()
		inner.Groups = append(inner.Groups, logical.Alias{Expr: g.Expr, Attr: key})
		outer.Groups = append(outer.Groups, logical.Alias{Expr: key.Ref(), Attr: g.Attr})
	}
	var args []logical.Expr
	for _, a := range first.Args {
		key := c.attr("value", a)
		inner.Groups = append(inner.Groups, logical.Alias{Expr: a, Attr: key})
		args = append(args, key.Ref())
	}
	for _, g := range m.Aggs {
		g.Distinct, g.Args = false, args
		outer.Aggs = append(outer.Aggs, g)
	}
	return outer
}
