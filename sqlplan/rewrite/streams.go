package rewrite

import (
	"slices"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// What is filtered below a watermark does not move it, and what is filtered
// below a join of streams is not in its state (W-19). Spark's optimiser filters
// the sides of such joins by what the join implies, so these rewritings are
// part of the semantics.

// narrow turns an outer join over streams, whose null rows the conditions above
// it drop, into the join without them.
func (c *Context) narrow(j *logical.Join, conds []logical.Expr) *logical.Join {
	if !j.Streaming() || j.Lateral {
		return j
	}
	left, right := c.rejects(conds, j.Left), c.rejects(conds, j.Right)
	m := *j
	switch {
	case j.Type == logical.LeftJoin && right, j.Type == logical.RightJoin && left, j.Type == logical.FullJoin && left && right:
		m.Type = logical.InnerJoin
	case j.Type == logical.FullJoin && left:
		m.Type = logical.LeftJoin
	case j.Type == logical.FullJoin && right:
		m.Type = logical.RightJoin
	default:
		return j
	}
	return &m
}

// rejects reports whether a condition on the side alone is not true for a row
// of nulls.
func (c *Context) rejects(conds []logical.Expr, side logical.Node) bool {
	attrs := side.Output()
	ids := setOf(attrs)
	return slices.ContainsFunc(conds, func(e logical.Expr) bool {
		for id := range notNull(e) {
			if ids[id] {
				return true
			}
		}
		if own := columnsOf(e); len(own) == 0 || !own.within(ids) || logical.HasSubquery(e) {
			return false
		}
		nulls := map[logical.ColumnID]logical.Expr{}
		for _, a := range attrs {
			nulls[a.ID] = &logical.Literal{Value: column.Constant(a.Type, 1, nil)}
		}
		x, ok := logical.MapExpr(substitute(e, nulls), c.foldExpr).(*logical.Literal)
		return ok && (x.Value.IsNull(0) || isFalse(x))
	})
}

// timed filters what is below a window over a join of streams: rows without
// the event time are in no window.
func (c *Context) timed(n logical.Node, time logical.Expr) logical.Node {
	in := n.Inputs()[0]
	x := in
	for {
		switch m := x.(type) {
		case *logical.Project:
			x = m.Input
			continue
		case *logical.Filter:
			x = m.Input
			continue
		}
		break
	}
	j, ok := x.(*logical.Join)
	ids := notNull(time)
	if !ok || j.State == nil || len(ids) == 0 {
		return n
	}
	var conds []logical.Expr
	for _, a := range in.Output() {
		if e := c.call("isnotnull", a.Ref()); ids[a.ID] && !implied(in, e) {
			conds = append(conds, e)
		}
	}
	return n.WithInputs([]logical.Node{c.push(in, conds)})
}

// present are the conditions that the columns are not null which a join over
// streams implies for its sides: rows without a key meet none.
func (c *Context) present(j *logical.Join) (left, right []logical.Expr) {
	if !j.Streaming() || j.Lateral || j.NullAware {
		return nil, nil
	}
	toLeft, toRight := ownSides(j)
	ids := idSet{}
	for _, e := range logical.Conjuncts(j.Cond) {
		ids.addAll(notNull(e))
	}
	for i := range j.LeftKeys {
		if i >= len(j.NullSafe) || !j.NullSafe[i] {
			ids.addAll(notNull(j.LeftKeys[i]))
			ids.addAll(notNull(j.RightKeys[i]))
		}
	}
	side := func(n logical.Node) (out []logical.Expr) {
		for _, a := range n.Output() {
			if !ids[a.ID] || !a.Nullable || !keepsTime(n) && j.State == nil {
				continue
			}
			if e := c.call("isnotnull", a.Ref()); !implied(n, e) {
				out = append(out, e)
			}
		}
		return out
	}
	if toLeft {
		left = side(j.Left)
	}
	if toRight {
		right = side(j.Right)
	}
	return left, right
}

// keepsTime reports whether a watermark or state stands in the plan, so that it
// matters which rows get there.
func keepsTime(n logical.Node) bool {
	found := false
	logical.WalkNode(n, func(m logical.Node) bool {
		switch m.(type) {
		case *logical.Watermark, *logical.Aggregate, *logical.Distinct:
			found = found || m.Streaming()
		}
		return !found
	})
	return found
}

// notNull are the columns without whose value a condition is not true, or an
// expression null.
func notNull(e logical.Expr) idSet {
	out := idSet{}
	switch x := e.(type) {
	case *logical.Column:
		out[x.Attr.ID] = true
	case *logical.Cast:
		return notNull(x.Input)
	case *logical.Call:
		if x.Fn.Fn == nil {
			return out
		}
		if x.Fn.Nulls == funcs.NullIfAny || x.Fn.Fn.Name == "isnotnull" {
			for _, a := range x.Args {
				out.addAll(notNull(a))
			}
		}
	}
	return out
}
