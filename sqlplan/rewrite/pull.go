package rewrite

import "pipelines/sqlplan/logical"

// puller moves the conditions of a plan on outer columns up to its root.
type puller struct {
	c     *Context
	outer idSet
	// always counts the global aggregates, which give a row even when none goes
	// in: an outer join must then give that row's value, which is known where
	// there is one of them and it stands on top (emptyRow).
	always int
}

// pull returns the plan without outer columns, the conditions taken out of it,
// and whether that was possible. Columns that conditions need are added to the
// output.
func (p *puller) pull(n logical.Node) (logical.Node, []logical.Expr, bool) {
	if !refers(n, p.outer) {
		return n, nil, true
	}
	switch m := n.(type) {
	case *logical.Filter:
		in, conds, ok := p.pull(m.Input)
		if !ok {
			return nil, nil, false
		}
		var rest []logical.Expr
		for _, c := range logical.Conjuncts(m.Cond) {
			if columnsOf(c).meets(p.outer) {
				conds = append(conds, c)
			} else {
				rest = append(rest, c)
			}
		}
		if cond := logical.Conjunction(rest); cond != nil {
			in = &logical.Filter{Input: in, Cond: cond}
		}
		return in, conds, true
	case *logical.Project:
		return p.project(m)
	case *logical.Aggregate:
		return p.aggregate(m)
	case *logical.Distinct:
		in, conds, ok := p.pull(m.Input)
		if !ok || !p.equalities(conds) {
			return nil, nil, false
		}
		return &logical.Distinct{Input: in}, conds, true
	case *logical.Sort:
		if m.Limit >= 0 || p.uses(n) {
			return nil, nil, false
		}
		in, conds, ok := p.pull(m.Input)
		if !ok {
			return nil, nil, false
		}
		return &logical.Sort{Input: in, Keys: m.Keys, Limit: -1}, conds, true
	case *logical.Join:
		return p.join(m)
	}
	return nil, nil, false
}

// uses reports whether the node's own expressions read outer columns.
func (p *puller) uses(n logical.Node) bool {
	found := false
	logical.EachExpr(n, func(e logical.Expr) { found = found || columnsOf(e).meets(p.outer) })
	return found
}

func (p *puller) project(m *logical.Project) (logical.Node, []logical.Expr, bool) {
	if p.uses(m) {
		return nil, nil, false
	}
	in, conds, ok := p.pull(m.Input)
	if !ok {
		return nil, nil, false
	}
	out := &logical.Project{Input: in, Exprs: append([]logical.Alias(nil), m.Exprs...)}
	have := setOf(out.Output())
	need := idSet{}
	for _, c := range conds {
		logical.Columns(c, need)
	}
	for _, a := range in.Output() {
		if need[a.ID] && !have[a.ID] {
			out.Exprs = append(out.Exprs, logical.Alias{Expr: a.Ref(), Attr: a})
		}
	}
	return out, conds, true
}

// aggregate groups by the inner sides of the equalities too.
func (p *puller) aggregate(m *logical.Aggregate) (logical.Node, []logical.Expr, bool) {
	if p.uses(m) {
		return nil, nil, false
	}
	in, conds, ok := p.pull(m.Input)
	if !ok || !p.equalities(conds) {
		return nil, nil, false
	}
	if len(m.Groups) == 0 {
		p.always++
	}
	out := *m
	out.Input = in
	out.Groups = append([]logical.Alias(nil), m.Groups...)
	have := setOf(m.Output())
	for i, c := range conds {
		call := c.(*logical.Call)
		args := append([]logical.Expr(nil), call.Args...)
		for k, a := range args {
			if columnsOf(a).meets(p.outer) {
				continue
			}
			g, isCol := a.(*logical.Column)
			attr := logical.Attr{}
			if isCol {
				attr = g.Attr
			} else {
				attr = p.c.attr("key", a)
			}
			if !have[attr.ID] {
				have[attr.ID] = true
				out.Groups = append(out.Groups, logical.Alias{Expr: a, Attr: attr})
			}
			args[k] = attr.Ref()
		}
		conds[i] = call.WithChildren(args)
	}
	// The groups stand before the aggregates: put the old columns first again.
	want := m.Output()
	n := first(&out, want, conds)
	return n, conds, true
}

// equalities reports whether each condition compares an inner expression with
// an outer one for equality.
func (p *puller) equalities(conds []logical.Expr) bool {
	for _, c := range conds {
		call, ok := c.(*logical.Call)
		if !ok || call.Fn.Fn == nil || len(call.Args) != 2 || call.Fn.Fn.Name != "=" && call.Fn.Fn.Name != "<=>" {
			return false
		}
		a, b := columnsOf(call.Args[0]), columnsOf(call.Args[1])
		inA, inB := a.meets(p.outer), b.meets(p.outer)
		if inA == inB || inA && !a.within(p.outer) || inB && !b.within(p.outer) {
			return false
		}
	}
	return true
}

func (p *puller) join(m *logical.Join) (logical.Node, []logical.Expr, bool) {
	if m.Lateral || m.State != nil || len(m.LeftKeys) > 0 && p.keysUse(m) {
		return nil, nil, false
	}
	inner := m.Type == logical.InnerJoin || m.Type == logical.CrossJoin
	if !inner && (columnsOf(m.Cond).meets(p.outer) || refers(m.Right, p.outer)) {
		return nil, nil, false
	}
	switch m.Type {
	case logical.InnerJoin, logical.CrossJoin, logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
	default:
		return nil, nil, false
	}
	l, lc, ok := p.pull(m.Left)
	if !ok {
		return nil, nil, false
	}
	r, rc, ok := p.pull(m.Right)
	if !ok {
		return nil, nil, false
	}
	out := *m
	out.Left, out.Right = l, r
	conds := append(lc, rc...)
	var rest []logical.Expr
	for _, c := range logical.Conjuncts(m.Cond) {
		if columnsOf(c).meets(p.outer) {
			conds = append(conds, c)
		} else {
			rest = append(rest, c)
		}
	}
	out.Cond = logical.Conjunction(rest)
	return &out, conds, true
}

func (p *puller) keysUse(m *logical.Join) bool {
	for i := range m.LeftKeys {
		if columnsOf(m.LeftKeys[i]).meets(p.outer) || columnsOf(m.RightKeys[i]).meets(p.outer) {
			return true
		}
	}
	return false
}
