package rewrite

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// prune drops the columns that nothing above reads, down into the scans.
// What is in the state of a streaming operator is kept.
func prune(c *Context, n logical.Node) logical.Node {
	return c.prune(n, setOf(n.Output()))
}

func (s idSet) with(e logical.Expr) {
	if e != nil {
		logical.Columns(e, s)
	}
}

func (s idSet) copy() idSet {
	out := make(idSet, len(s))
	for id := range s {
		out[id] = true
	}
	return out
}

// prune rebuilds n so that it gives at least the needed columns.
//
//tidy:allow-long one case a node kind
func (c *Context) prune(n logical.Node, need idSet) logical.Node {
	switch m := n.(type) {
	case *logical.Scan:
		return pruneScan(m, need)
	case *logical.Values:
		return pruneValues(m, need)
	case *logical.RangeScan:
		return m
	case *logical.Project:
		p := &logical.Project{Exprs: keepAliases(m.Exprs, need)}
		below := idSet{}
		for _, a := range p.Exprs {
			below.with(a.Expr)
		}
		p.Input = c.prune(m.Input, below)
		return p
	case *logical.Aggregate:
		a := *m
		if m.State == nil {
			a.Aggs = nil
			for _, g := range m.Aggs {
				if need[g.Attr.ID] {
					a.Aggs = append(a.Aggs, g)
				}
			}
			if len(a.Aggs) == 0 && len(a.Groups) == 0 && len(m.Aggs) > 0 {
				a.Aggs = m.Aggs[:1]
			}
		}
		below := idSet{}
		logical.EachExpr(&a, below.with)
		a.Input = c.prune(m.Input, below)
		return &a
	case *logical.Union:
		return c.pruneUnion(m, need)
	case *logical.RecursionRef:
		return m
	case *logical.SetOp, *logical.Distinct, *logical.Recursion:
		return logical.MapInputs(n, func(in logical.Node) logical.Node { return c.prune(in, setOf(in.Output())) })
	case *logical.Deduplicate:
		below := need.copy()
		for _, k := range m.Keys {
			below[k] = true
		}
		if len(m.Keys) == 0 {
			below = setOf(m.Output())
		}
		if m.State != nil && m.State.EventTime >= 0 {
			below[m.State.EventTime] = true
		}
		return m.WithInputs([]logical.Node{c.prune(m.Input, below)})
	case *logical.Expand:
		return c.pruneExpand(m, need)
	case *logical.Window:
		w := *m
		w.Calls = nil
		for _, k := range m.Calls {
			if need[k.Attr.ID] || m.State != nil {
				w.Calls = append(w.Calls, k)
			}
		}
		if len(w.Calls) == 0 {
			return c.prune(m.Input, need)
		}
		return c.pruneThrough(&w, need)
	case *logical.Join:
		below := need.copy()
		logical.EachExpr(m, below.with)
		if m.Time != nil {
			below[m.Time.LeftTime], below[m.Time.RightTime] = true, true
		}
		return m.WithInputs([]logical.Node{c.prune(m.Left, below), c.prune(m.Right, below)})
	case *logical.Watermark:
		below := need.copy()
		below[m.Column] = true
		return m.WithInputs([]logical.Node{c.prune(m.Input, below)})
	case *logical.Expect:
		below := need.copy()
		if m.DropErrors { // whether a row is dropped is not for who reads to say
			below.addAll(logical.MayFail(m.Input))
		}
		return c.pruneThrough(m, below)
	}
	return c.pruneThrough(n, need)
}

// pruneThrough handles nodes that pass their input's columns on.
func (c *Context) pruneThrough(n logical.Node, need idSet) logical.Node {
	below := need.copy()
	logical.EachExpr(n, below.with)
	return n.WithInputs([]logical.Node{c.prune(n.Inputs()[0], below)})
}

func keepAliases(in []logical.Alias, need idSet) []logical.Alias {
	var out []logical.Alias
	for _, a := range in {
		if need[a.Attr.ID] {
			out = append(out, a)
		}
	}
	if len(out) == 0 && len(in) > 0 {
		out = in[:1]
	}
	return out
}

// pruneScan reads only what is needed; when that is nothing, the column that
// is the cheapest to read, for its rows.
func pruneScan(m *logical.Scan, need idSet) logical.Node {
	below := need.copy()
	for _, f := range m.Filters {
		below.with(f)
	}
	s := *m
	s.Columns, s.Fields, s.Metadata = nil, nil, nil
	keep := func(i int) {
		if name, ok := m.Metadata[i]; ok {
			if s.Metadata == nil {
				s.Metadata = map[int]string{}
			}
			s.Metadata[len(s.Columns)] = name
		}
		s.Columns, s.Fields = append(s.Columns, m.Columns[i]), append(s.Fields, m.Fields[i])
	}
	for i, a := range m.Columns {
		if below[a.ID] {
			keep(i)
		}
	}
	if len(s.Columns) == 0 && len(m.Columns) > 0 {
		keep(cheapest(m.Columns))
	}
	return &s
}

func cheapest(cols []logical.Attr) int {
	for i, a := range cols {
		switch column.PhysicalOf(a.Type) {
		case column.PhysBool, column.PhysI8, column.PhysI16, column.PhysI32, column.PhysI64, column.PhysF32, column.PhysF64:
			return i
		}
	}
	return 0
}

func pruneValues(m *logical.Values, need idSet) logical.Node {
	v := &logical.Values{Rows: m.Rows}
	for i, a := range m.Columns {
		if need[a.ID] {
			v.Columns, v.Data = append(v.Columns, a), append(v.Data, m.Data[i])
		}
	}
	if len(v.Columns) == 0 && len(m.Columns) > 0 {
		v.Columns, v.Data = m.Columns[:1], m.Data[:1]
	}
	return v
}

func (c *Context) pruneUnion(m *logical.Union, need idSet) logical.Node {
	u := &logical.Union{}
	var at []int
	for i, a := range m.Columns {
		if need[a.ID] {
			u.Columns, at = append(u.Columns, a), append(at, i)
		}
	}
	if len(at) == 0 && len(m.Columns) > 0 {
		u.Columns, at = m.Columns[:1], []int{0}
	}
	for _, in := range m.Children {
		var want []logical.Attr
		out := in.Output()
		for _, i := range at {
			want = append(want, out[i])
		}
		p := passing(in, want)
		if identity(p) {
			u.Children = append(u.Children, c.prune(in, setOf(want)))
			continue
		}
		u.Children = append(u.Children, exactly(c.prune(in, setOf(want)), want))
	}
	return u
}

// exactly projects to the columns unless n gives just them.
func exactly(n logical.Node, want []logical.Attr) logical.Node {
	p := passing(n, want)
	if identity(p) {
		return n
	}
	return p
}

func (c *Context) pruneExpand(m *logical.Expand, need idSet) logical.Node {
	e := &logical.Expand{}
	var at []int
	for i, a := range m.Columns {
		if need[a.ID] {
			e.Columns, at = append(e.Columns, a), append(at, i)
		}
	}
	if len(at) == 0 {
		e.Columns, at = m.Columns[:1], []int{0}
	}
	below := idSet{}
	for _, p := range m.Projections {
		var q []logical.Expr
		for _, i := range at {
			q = append(q, p[i])
			below.with(p[i])
		}
		e.Projections = append(e.Projections, q)
	}
	e.Input = c.prune(m.Input, below)
	return e
}
