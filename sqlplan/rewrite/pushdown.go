package rewrite

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// pushFilters moves the conjuncts of filters towards the scans. A conjunct
// that can fail never passes a node that drops rows before it (a join, another
// filter's condition stays in front); one that is volatile stays.
//
// Filters pass a watermark unless they read its column: rows that they drop do
// not move it (W-19), which makes this rule part of the semantics.
func pushFilters(c *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		switch m := m.(type) {
		case *logical.Filter:
			return c.push(m.Input, logical.Conjuncts(m.Cond))
		case *logical.Join:
			return c.pushJoin(m, nil)
		case *logical.TimeWindow:
			return c.timed(m, m.Time)
		case *logical.SessionWindow:
			return c.timed(m, m.Time)
		}
		return m
	})
}

// push puts conditions as far below n as they may go.
func (c *Context) push(n logical.Node, conds []logical.Expr) logical.Node {
	if len(conds) == 0 {
		return n
	}
	switch m := n.(type) {
	case *logical.Filter:
		return c.push(m.Input, append(append([]logical.Expr(nil), logical.Conjuncts(m.Cond)...), conds...))
	case *logical.Project:
		return c.pushProject(m, conds)
	case *logical.Join:
		return c.pushJoin(m, conds)
	case *logical.Union:
		return c.pushUnion(m, conds)
	case *logical.Scan:
		return c.pushScan(m, conds)
	}
	down, stay := c.split(n, conds)
	if len(down) > 0 {
		n = n.WithInputs([]logical.Node{c.push(n.Inputs()[0], down)})
	}
	return filtered(n, stay)
}

// filtered keeps the rows for which all conditions hold. A condition that can
// fail gets a filter of its own above those that may be null: AND evaluates
// its later operands for a null, a filter does not let the row through.
func filtered(n logical.Node, conds []logical.Expr) logical.Node {
	var group []logical.Expr
	null := false
	flush := func() {
		if cond := logical.Conjunction(group); cond != nil {
			n = &logical.Filter{Input: n, Cond: cond}
		}
		group, null = nil, false
	}
	for _, e := range conds {
		if null && logical.CanFail(e) {
			flush()
		}
		group, null = append(group, e), null || e.Nullable()
	}
	flush()
	return n
}

// split says which conditions may pass a node with one input. A condition
// stays, with all that can fail behind it, once one before it stays.
func (c *Context) split(n logical.Node, conds []logical.Expr) (down, stay []logical.Expr) {
	var passes func(e logical.Expr) bool
	drops := false // the node drops rows by itself
	switch m := n.(type) {
	case *logical.Sort:
		if m.Limit >= 0 {
			return nil, conds
		}
		passes = func(logical.Expr) bool { return true }
	case *logical.Distinct:
		passes = func(logical.Expr) bool { return true }
	case *logical.Watermark:
		passes = func(e logical.Expr) bool { return !columnsOf(e)[m.Column] }
	case *logical.Aggregate:
		keys := idSet{}
		for _, g := range m.Groups {
			if x, ok := g.Expr.(*logical.Column); ok && x.Attr.ID == g.Attr.ID {
				keys[g.Attr.ID] = true
			}
		}
		passes = func(e logical.Expr) bool { ids := columnsOf(e); return len(ids) > 0 && ids.within(keys) }
	case *logical.Window:
		keys := idSet{}
		for _, p := range m.PartitionBy {
			if x, ok := p.(*logical.Column); ok {
				keys[x.Attr.ID] = true
			}
		}
		passes = func(e logical.Expr) bool { ids := columnsOf(e); return len(ids) > 0 && ids.within(keys) }
	case *logical.Generate, *logical.TimeWindow, *logical.SessionWindow:
		in := setOf(m.Inputs()[0].Output())
		passes, drops = func(e logical.Expr) bool { return columnsOf(e).within(in) }, true
	case *logical.Deduplicate:
		keys := idSet{}
		for _, k := range m.Keys {
			keys[k] = true
		}
		if len(m.Keys) == 0 {
			keys = setOf(m.Output())
		}
		if m.Streaming() { // its rows have moved the watermark
			keys = nil
		}
		passes = func(e logical.Expr) bool { ids := columnsOf(e); return len(ids) > 0 && ids.within(keys) }
	default:
		return nil, conds
	}
	marked := logical.MayFail(n.Inputs()[0])
	for _, e := range conds {
		guarded := (drops || len(stay) > 0) && logical.Fails(e, marked)
		if logical.Volatility(e) == funcs.Volatile || guarded || !passes(e) {
			stay = append(stay, e)
		} else {
			down = append(down, e)
		}
	}
	return down, stay
}

// pushProject substitutes the projected expressions; large ones are not
// computed twice.
func (c *Context) pushProject(m *logical.Project, conds []logical.Expr) logical.Node {
	by := map[logical.ColumnID]logical.Expr{}
	for _, a := range m.Exprs {
		by[a.Attr.ID] = a.Expr
	}
	var down, stay []logical.Expr
	marked := logical.MayFail(m)
	for _, e := range conds {
		ok := logical.Volatility(e) < funcs.Volatile && !(len(stay) > 0 && logical.Fails(e, marked))
		for id := range columnsOf(e) {
			x := by[id]
			ok = ok && x != nil && logical.Volatility(x) < funcs.Volatile && (cheap(x) || m.Streaming() && !logical.HasSubquery(x))
		}
		if ok {
			down = append(down, substitute(e, by))
		} else {
			stay = append(stay, e)
		}
	}
	return filtered(&logical.Project{Input: c.push(m.Input, down), Exprs: m.Exprs}, stay)
}

// cheap expressions may be computed twice.
func cheap(e logical.Expr) bool {
	n := 0
	logical.WalkExpr(e, func(logical.Expr) bool {
		n++
		return n <= 6
	})
	return n <= 6 && !logical.HasSubquery(e)
}

// pushScan offers conditions to the reader; the filter stays.
func (c *Context) pushScan(m *logical.Scan, conds []logical.Expr) logical.Node {
	s := *m
	s.Filters = nil
	for _, e := range conds {
		if !logical.CanFail(e) && logical.Volatility(e) == funcs.Immutable && !logical.HasSubquery(e) && len(columnsOf(e)) > 0 {
			s.Filters = append(s.Filters, e)
		}
	}
	return filtered(&s, conds)
}

// pushUnion repeats the conditions over each child.
func (c *Context) pushUnion(m *logical.Union, conds []logical.Expr) logical.Node {
	var down, stay []logical.Expr
	marked := logical.MayFail(m)
	for _, e := range conds {
		if logical.Volatility(e) == funcs.Volatile || len(stay) > 0 && logical.Fails(e, marked) {
			stay = append(stay, e)
		} else {
			down = append(down, e)
		}
	}
	if len(down) == 0 {
		return filtered(m, stay)
	}
	u := &logical.Union{Columns: m.Columns}
	for _, in := range m.Children {
		by := map[logical.ColumnID]logical.Expr{}
		for i, a := range in.Output() {
			by[m.Columns[i].ID] = a.Ref()
		}
		var own []logical.Expr
		for _, e := range down {
			own = append(own, substitute(e, by))
		}
		u.Children = append(u.Children, c.push(in, own))
	}
	return filtered(u, stay)
}

// pushJoin gives each side the conditions that concern it alone, those of the
// join's own condition included where rows without a match are not kept.
func (c *Context) pushJoin(j *logical.Join, conds []logical.Expr) logical.Node {
	j = c.narrow(j, conds)
	left, right := setOf(j.Left.Output()), setOf(j.Right.Output())
	marked := logical.MayFail(logical.SplitJoin(j))
	toLeft, toRight := false, false
	switch j.Type {
	case logical.InnerJoin, logical.CrossJoin:
		toLeft, toRight = true, true
	case logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
		toLeft = true
	case logical.RightJoin:
		toRight = true
	}
	var l, r, stay []logical.Expr
	move := func(e logical.Expr) bool {
		ids := columnsOf(e)
		if len(ids) == 0 || logical.Fails(e, marked) || logical.Volatility(e) == funcs.Volatile || j.Lateral {
			return false
		}
		switch {
		case toLeft && ids.within(left):
			l = append(l, e)
		case toRight && ids.within(right):
			r = append(r, e)
		default:
			return false
		}
		return true
	}
	for _, e := range conds {
		if !move(e) {
			stay = append(stay, e)
		}
	}
	m := *j
	all := logical.Conjuncts(j.Cond)
	if inner := j.Type == logical.InnerJoin || j.Type == logical.CrossJoin; inner && j.State == nil {
		// A condition over both sides belongs to the join.
		all, stay = append(append([]logical.Expr(nil), all...), joinable(stay, marked)...), notJoinable(stay, marked)
	}
	toLeft, toRight = ownSides(j)
	var own []logical.Expr
	for _, e := range all {
		if !move(e) {
			own = append(own, e)
		}
	}
	notNullLeft, notNullRight := c.present(j)
	l, r = append(l, notNullLeft...), append(r, notNullRight...)
	if len(own) < len(all) || len(all) > len(logical.Conjuncts(j.Cond)) {
		m.Cond = logical.Conjunction(own)
	}
	if len(l) == 0 && len(r) == 0 && m.Cond == j.Cond {
		return filtered(j, stay)
	}
	m.Left, m.Right = c.push(j.Left, l), c.push(j.Right, r)
	return filtered(logical.SplitJoin(&m), stay)
}

// ownSides says which sides may be filtered by conditions of ON.
func ownSides(j *logical.Join) (left, right bool) {
	switch {
	case j.Type == logical.InnerJoin, j.Type == logical.CrossJoin:
		return true, true
	case j.NullAware:
		return false, false
	}
	switch j.Type {
	case logical.SemiJoin:
		return true, true
	case logical.LeftJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
		return false, true
	case logical.RightJoin:
		return true, false
	}
	return false, false
}

// inJoin reports a condition of WHERE that may become one of the join.
func inJoin(e logical.Expr, marked idSet) bool {
	return logical.Volatility(e) < funcs.Volatile && !logical.HasSubquery(e) && !logical.Fails(e, marked)
}

func joinable(conds []logical.Expr, marked idSet) []logical.Expr {
	var out []logical.Expr
	for _, e := range conds {
		if inJoin(e, marked) {
			out = append(out, e)
		}
	}
	return out
}

func notJoinable(conds []logical.Expr, marked idSet) []logical.Expr {
	var out []logical.Expr
	for _, e := range conds {
		if !inJoin(e, marked) {
			out = append(out, e)
		}
	}
	return out
}
