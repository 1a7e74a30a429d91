package rewrite

import "pipelines/sqlplan/logical"

// StreamExistence turns the conditions EXISTS, NOT EXISTS, IN and NOT IN over a
// stream, in the WHERE of a stream, into the semi or anti join of streams that
// they mean. Joins of streams keep state, so this comes before the check of what
// is legal on streams and is no rule that can be switched off. What it leaves is
// refused there: subqueries in other places, NOT IN where a comparison may be
// unknown (a null of the other side, at whatever time, would take all rows
// back), and those whose conditions cannot be taken out. It returns the first
// column id that is free.
func StreamExistence(n logical.Node, opts Options) (logical.Node, logical.ColumnID) {
	c := &Context{Session: opts.Session, next: opts.FirstID}
	return c.streamExistence(n), c.next
}

func (c *Context) streamExistence(n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		f, ok := m.(*logical.Filter)
		if !ok || !f.Input.Streaming() || !logical.HasSubquery(f.Cond) {
			return m
		}
		in, rest := f.Input, []logical.Expr(nil)
		for _, conj := range logical.Conjuncts(c.pushNot(f.Cond)) {
			if j := c.streamJoined(in, conj); j != nil {
				in = j
				continue
			}
			rest = append(rest, conj)
		}
		switch cond := logical.Conjunction(rest); {
		case in == f.Input:
			return f
		case cond != nil:
			return &logical.Filter{Input: in, Cond: cond}
		}
		return in
	})
}

// streamJoined joins in with the stream of a subquery; nil when that cannot be.
func (c *Context) streamJoined(in logical.Node, conj logical.Expr) logical.Node {
	s, negated := asSubquery(conj)
	if s == nil || s.Kind == logical.ScalarSubquery || !s.Plan.Streaming() {
		return nil
	}
	plan := c.streamExistence(s.Plan)
	if s.Kind == logical.ExistsSubquery {
		plan = c.existsBody(plan)
	}
	want := plan.Output()
	p := &puller{c: c, outer: setOf(s.Outer)}
	pulled, conds, ok := p.pull(plan)
	if !ok || p.always > 0 {
		return nil
	}
	for i, l := range s.Left {
		eq := c.call("=", l, want[i].Ref())
		if negated && eq.Nullable() {
			return nil
		}
		conds = append(conds, eq)
	}
	j := &logical.Join{Left: in, Right: first(pulled, want, conds), Type: logical.SemiJoin, Cond: logical.Conjunction(conds)}
	if negated {
		j.Type = logical.AntiJoin
	}
	return logical.SplitJoin(j)
}
