package logical

// MapExprs returns n with f applied to each expression that the node itself
// holds (not those of its inputs), or n itself when nothing changes.
func MapExprs(n Node, f func(Expr) Expr) Node {
	m := mapper{f: f}
	out := m.node(n)
	if !m.changed {
		return n
	}
	return out
}

// EachExpr calls f for each expression that the node itself holds.
func EachExpr(n Node, f func(Expr)) {
	MapExprs(n, func(e Expr) Expr {
		f(e)
		return e
	})
}

type mapper struct {
	f       func(Expr) Expr
	changed bool
}

func (m *mapper) expr(e Expr) Expr {
	if e == nil {
		return nil
	}
	x := m.f(e)
	m.changed = m.changed || x != e
	return x
}

func (m *mapper) list(es []Expr) []Expr {
	if es == nil {
		return nil
	}
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = m.expr(e)
	}
	return out
}

func (m *mapper) aliases(as []Alias) []Alias {
	out := make([]Alias, len(as))
	for i, a := range as {
		out[i] = Alias{m.expr(a.Expr), a.Attr}
	}
	return out
}

func (m *mapper) keys(ks []SortKey) []SortKey {
	if ks == nil {
		return nil
	}
	out := make([]SortKey, len(ks))
	for i, k := range ks {
		k.Expr = m.expr(k.Expr)
		out[i] = k
	}
	return out
}

func (m *mapper) node(n Node) Node {
	switch n := n.(type) {
	case *Scan:
		c := *n
		c.Filters = m.list(n.Filters)
		return &c
	case *Filter:
		return &Filter{Input: n.Input, Cond: m.expr(n.Cond), Deletes: n.Deletes}
	case *Project:
		return &Project{n.Input, m.aliases(n.Exprs)}
	case *Aggregate:
		c := *n
		c.Groups = m.aliases(n.Groups)
		c.Aggs = append([]AggCall(nil), n.Aggs...)
		for i := range c.Aggs {
			a := &c.Aggs[i]
			a.Args, a.Filter, a.OrderBy = m.list(a.Args), m.expr(a.Filter), m.keys(a.OrderBy)
		}
		return &c
	case *Expand:
		c := *n
		c.Projections = make([][]Expr, len(n.Projections))
		for i, p := range n.Projections {
			c.Projections[i] = m.list(p)
		}
		return &c
	case *Join:
		c := *n
		c.LeftKeys, c.RightKeys, c.Cond = m.list(n.LeftKeys), m.list(n.RightKeys), m.expr(n.Cond)
		return &c
	case *Sort:
		c := *n
		c.Keys = m.keys(n.Keys)
		return &c
	case *Window:
		return m.window(n)
	case *Generate:
		c := *n
		c.Args = m.list(n.Args)
		return &c
	case *TimeWindow:
		c := *n
		c.Time = m.expr(n.Time)
		return &c
	case *SessionWindow:
		c := *n
		c.Time, c.Gap = m.expr(n.Time), m.expr(n.Gap)
		return &c
	case *Expect:
		c := *n
		c.Rules = append([]Expectation(nil), n.Rules...)
		for i := range c.Rules {
			c.Rules[i].Cond = m.expr(c.Rules[i].Cond)
		}
		return &c
	}
	return n
}

func (m *mapper) window(n *Window) Node {
	c := *n
	c.PartitionBy, c.OrderBy = m.list(n.PartitionBy), m.keys(n.OrderBy)
	c.Calls = append([]WindowCall(nil), n.Calls...)
	for i := range c.Calls {
		w := &c.Calls[i]
		w.Args, w.Filter = m.list(w.Args), m.expr(w.Filter)
		w.Frame.Start.Offset, w.Frame.End.Offset = m.expr(w.Frame.Start.Offset), m.expr(w.Frame.End.Offset)
	}
	return &c
}
