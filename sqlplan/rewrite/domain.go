package rewrite

import (
	"fmt"

	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// domain runs a correlated plan over the distinct values of the outer columns
// that it reads: each node carries them along.
type domain struct {
	c     *Context
	from  logical.Node // the outer rows
	attrs []logical.Attr
	outer idSet
	place diag.Span
	// hoisted are expressions over outer columns that have no equality, by the
	// column that stands for each: its values are the domain.
	hoisted map[logical.ColumnID]logical.Expr
}

// overDomain makes a plan that gives the columns of plan and the outer values
// they belong to, and the conditions that join it with the outer rows.
func (c *Context) overDomain(in, plan logical.Node, outer []logical.Attr, place diag.Span) (logical.Node, []logical.Expr) {
	d := &domain{c: c, from: in, outer: idSet{}, place: place, hoisted: map[logical.ColumnID]logical.Expr{}}
	plan = d.hoist(plan, outer)
	used := usedBy(plan)
	have := setOf(in.Output())
	for _, a := range outer {
		if used[a.ID] && have[a.ID] {
			if !funcs.Orderable(a.Type) {
				panic(&Unsupported{Place: d.place, What: "this correlated subquery over a value of type " + a.Type.SQL() + ", which has no equality, is not supported",
					Class: "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_CORRELATED_REFERENCE_DATA_TYPE"})
			}
			d.attrs, d.outer[a.ID] = append(d.attrs, a), true
		}
	}
	if in.Streaming() {
		d.refuse("this correlated subquery over a stream")
	}
	want := plan.Output()
	n, by := d.push(plan)
	var conds []logical.Expr
	attrs := append([]logical.Attr(nil), want...)
	for _, a := range d.attrs {
		x := by[a.ID].(*logical.Column)
		attrs = append(attrs, x.Attr)
		conds = append(conds, c.call("<=>", d.value(a), x))
	}
	return passing(n, attrs), conds
}

// usedBy lists the columns that a plan's expressions read.
func usedBy(plan logical.Node) idSet {
	used := idSet{}
	logical.WalkNode(plan, func(m logical.Node) bool {
		logical.EachExpr(m, func(e logical.Expr) {
			if e != nil {
				logical.Columns(e, used)
			}
		})
		return true
	})
	return used
}

// hoist replaces expressions over outer columns that have no equality, such as
// a map's value under a key, by columns: they are computed over the outer rows.
func (d *domain) hoist(plan logical.Node, outer []logical.Attr) logical.Node {
	all, bare := setOf(outer), idSet{}
	for _, a := range outer {
		if !funcs.Orderable(a.Type) {
			bare[a.ID] = true
		}
	}
	if !usedBy(plan).meets(bare) {
		return plan
	}
	by := map[string]logical.Attr{}
	var visit func(e logical.Expr) logical.Expr
	visit = func(e logical.Expr) logical.Expr {
		if e == nil {
			return nil
		}
		cols := columnsOf(e)
		if !cols.meets(bare) {
			return e
		}
		if !cols.within(all) || !funcs.Orderable(e.Type()) || logical.CanFail(e) || logical.Volatility(e) == funcs.Volatile {
			return logical.MapChildren(e, visit)
		}
		a, ok := by[logical.Text(e)]
		if !ok {
			a = d.c.attr("outer", e)
			by[logical.Text(e)], d.hoisted[a.ID] = a, e
			d.attrs, d.outer[a.ID] = append(d.attrs, a), true
		}
		return a.Ref()
	}
	return logical.MapNode(plan, func(n logical.Node) logical.Node { return logical.MapExprs(n, visit) })
}

// value is what a column of the domain is over the outer rows.
func (d *domain) value(a logical.Attr) logical.Expr {
	if e, ok := d.hoisted[a.ID]; ok {
		return e
	}
	return a.Ref()
}

func (d *domain) refuse(what string) {
	panic(&Unsupported{Place: d.place, What: what + " is not supported"})
}

// values is the distinct outer values under fresh ids.
func (d *domain) values() (logical.Node, map[logical.ColumnID]logical.Expr) {
	p := &logical.Project{Input: d.from}
	by := map[logical.ColumnID]logical.Expr{}
	for _, a := range d.attrs {
		fresh := a
		fresh.ID, fresh.Watermark = d.c.id(), -1
		p.Exprs = append(p.Exprs, logical.Alias{Expr: d.value(a), Attr: fresh})
		by[a.ID] = fresh.Ref()
	}
	return &logical.Distinct{Input: p}, by
}

// push returns the plan over the domain and the columns that hold the outer
// values in its output.
//
//tidy:allow-long one case a node kind
func (d *domain) push(n logical.Node) (logical.Node, map[logical.ColumnID]logical.Expr) {
	if !refers(n, d.outer) {
		v, by := d.values()
		return &logical.Join{Left: v, Right: n, Type: logical.CrossJoin}, by
	}
	if j, ok := n.(*logical.Join); ok {
		return d.join(j)
	}
	if u, ok := n.(*logical.Union); ok {
		return d.union(u)
	}
	if s, ok := n.(*logical.SetOp); ok {
		return d.setOp(s)
	}
	ins := n.Inputs()
	if len(ins) != 1 {
		d.refuse(fmt.Sprintf("a correlated subquery through %s", logical.Describe(n)))
	}
	in, by := d.push(ins[0])
	over := logical.MapExprs(n, func(e logical.Expr) logical.Expr { return substitute(e, by) }).WithInputs([]logical.Node{in})
	keys := d.keys(by)
	switch m := over.(type) {
	case *logical.Filter, *logical.Distinct, *logical.Generate:
		return over, by
	case *logical.Sort:
		return &logical.Sort{Input: m.Input, Keys: m.Keys, Limit: -1}, by
	case *logical.Project:
		p := &logical.Project{Input: in, Exprs: append(append([]logical.Alias(nil), m.Exprs...), keys...)}
		return p, by
	case *logical.Aggregate:
		return d.aggregate(m, by)
	case *logical.Window:
		w := *m
		w.PartitionBy = append([]logical.Expr(nil), m.PartitionBy...)
		for _, k := range keys {
			w.PartitionBy = append(w.PartitionBy, k.Expr)
		}
		return &w, by
	case *logical.Limit:
		return d.limit(m, by), by
	case *logical.Expand:
		e := *m
		e.Columns = append([]logical.Attr(nil), m.Columns...)
		e.Projections = append([][]logical.Expr(nil), m.Projections...)
		for _, k := range keys {
			if logical.IndexOf(e.Columns, k.Attr.ID) < 0 {
				e.Columns = append(e.Columns, k.Attr)
				for i := range e.Projections {
					e.Projections[i] = append(append([]logical.Expr(nil), e.Projections[i]...), k.Expr)
				}
			}
		}
		return &e, by
	case *logical.TimeWindow:
		return over, by
	}
	d.refuse(fmt.Sprintf("a correlated subquery through %s", logical.Describe(n)))
	return nil, nil
}

// keys are the outer values as pass-through aliases, in order.
func (d *domain) keys(by map[logical.ColumnID]logical.Expr) []logical.Alias {
	var out []logical.Alias
	for _, a := range d.attrs {
		x := by[a.ID].(*logical.Column)
		out = append(out, logical.Alias{Expr: x, Attr: x.Attr})
	}
	return out
}

// aggregate groups by the outer values. A global aggregate gives its row for
// outer values without rows too: it is joined to the domain, and the missing
// rows get the value over no rows.
func (d *domain) aggregate(m *logical.Aggregate, by map[logical.ColumnID]logical.Expr) (logical.Node, map[logical.ColumnID]logical.Expr) {
	a := *m
	a.Groups = append(append([]logical.Alias(nil), m.Groups...), d.keys(by)...)
	if len(m.Groups) > 0 {
		return passing(&a, append(m.Output(), d.attrsOf(by)...)), by
	}
	mark := d.c.attr("seen", boolean(true))
	right := passing(&a, a.Output())
	right.Exprs = append(right.Exprs, logical.Alias{Expr: boolean(true), Attr: mark})
	v, vby := d.values()
	j := &logical.Join{Left: v, Right: right, Type: logical.LeftJoin}
	var conds []logical.Expr
	for _, o := range d.attrs {
		conds = append(conds, d.c.call("<=>", vby[o.ID], by[o.ID]))
	}
	j.Cond = logical.Conjunction(conds)
	p := &logical.Project{Input: logical.SplitJoin(j)}
	mark.Nullable = true
	for _, g := range m.Aggs {
		val := g.Attr
		val.Nullable = true
		e := logical.Expr(val.Ref())
		if empty := EmptyValue(g, d.c.Session); !empty.Value.IsNull(0) {
			e = &logical.Case{T: g.Attr.Type, Branches: []logical.Branch{{When: d.c.call("isnull", mark.Ref()), Then: empty}}, Else: e}
		}
		p.Exprs = append(p.Exprs, logical.Alias{Expr: e, Attr: g.Attr})
	}
	p.Exprs = append(p.Exprs, d.keys(vby)...)
	return p, vby
}

func (d *domain) attrsOf(by map[logical.ColumnID]logical.Expr) []logical.Attr {
	var out []logical.Attr
	for _, k := range d.keys(by) {
		out = append(out, k.Attr)
	}
	return out
}

// EmptyValue is what an aggregate gives over no rows.
func EmptyValue(g logical.AggCall, s *funcs.Session) *logical.Literal {
	st := funcs.NewStates(g.Fn.State)
	st.Grow(1)
	out := column.New(g.Fn.Result)
	g.Fn.Finish(&funcs.Ctx{Rows: 1, Session: s}, st, []int32{0}, out)
	out.SetConst(1)
	return &logical.Literal{Value: out}
}

// limit keeps the first rows of each outer value.
func (d *domain) limit(m *logical.Limit, by map[logical.ColumnID]logical.Expr) logical.Node {
	fn := funcs.LookupWindow("row_number")
	if fn == nil {
		d.refuse("LIMIT in a correlated subquery")
	}
	bd, err := fn.Bind(d.c.Session, nil)
	if err != nil {
		panic("bug: rewrite: " + err.Error())
	}
	// The order may stand below projections: number the rows there.
	var above []*logical.Project
	in := m.Input
	for {
		p, ok := in.(*logical.Project)
		if !ok {
			break
		}
		above, in = append(above, p), p.Input
	}
	w := &logical.Window{Input: in}
	if s, ok := in.(*logical.Sort); ok {
		w.Input, w.OrderBy = s.Input, s.Keys
	} else {
		above, w.Input = nil, m.Input
	}
	for _, k := range d.keys(by) {
		w.PartitionBy = append(w.PartitionBy, k.Expr)
	}
	call := logical.WindowCall{Fn: bd, Frame: logical.Frame{
		Start: logical.FrameBound{Kind: logical.UnboundedPreceding}, End: logical.FrameBound{Kind: logical.CurrentRow},
	}}
	call.Attr = logical.Attr{ID: d.c.id(), Name: "row_number", Type: bd.Result, Watermark: -1}
	w.Calls = []logical.WindowCall{call}
	bound := func(v int64) logical.Expr {
		t := schema.Of(schema.Int32)
		return &logical.Literal{Value: column.Constant(t, 1, int32(min(v, 1<<31-1)))}
	}
	var conds []logical.Expr
	if m.Offset > 0 {
		conds = append(conds, d.c.call(">", call.Attr.Ref(), bound(m.Offset)))
	}
	if m.Count >= 0 {
		conds = append(conds, d.c.call("<=", call.Attr.Ref(), bound(m.Offset+m.Count)))
	}
	out := logical.Node(passing(&logical.Filter{Input: w, Cond: logical.Conjunction(conds)}, w.Input.Output()))
	for i := len(above) - 1; i >= 0; i-- {
		out = &logical.Project{Input: out, Exprs: above[i].Exprs}
	}
	return out
}

// join pushes the domain into both sides and joins them on it.
func (d *domain) join(m *logical.Join) (logical.Node, map[logical.ColumnID]logical.Expr) {
	if m.Lateral || m.State != nil {
		d.refuse("a correlated subquery with a lateral join inside")
	}
	if m.Type == logical.FullJoin || m.Type == logical.RightJoin && refers(m.Left, d.outer) {
		d.refuse("a correlated subquery with this outer join inside")
	}
	j := *m
	var by, rby map[logical.ColumnID]logical.Expr
	rightOnly := m.Type == logical.RightJoin
	if !rightOnly {
		j.Left, by = d.push(m.Left)
	}
	if rightOnly || refers(m.Right, d.outer) {
		j.Right, rby = d.push(m.Right)
	}
	if by == nil {
		by = rby
		rby = nil
	}
	conds := logical.Conjuncts(m.Cond)
	for i := range conds {
		conds[i] = substitute(conds[i], by)
	}
	j.LeftKeys, j.RightKeys = append([]logical.Expr(nil), m.LeftKeys...), append([]logical.Expr(nil), m.RightKeys...)
	for i := range m.LeftKeys {
		j.LeftKeys[i], j.RightKeys[i] = substitute(m.LeftKeys[i], by), substitute(m.RightKeys[i], by)
	}
	if m.NullAware && rby != nil {
		// A null counts for the rows of its own outer values only.
		for i := range j.LeftKeys {
			eq := logical.Expr(d.c.call("=", j.LeftKeys[i], j.RightKeys[i]))
			conds = append(conds, &logical.Coalesce{Args: []logical.Expr{eq, boolean(true)}})
		}
		j.LeftKeys, j.RightKeys, j.NullSafe, j.NullAware = nil, nil, nil, false
	}
	for _, a := range d.attrs {
		if rby != nil {
			conds = append(conds, d.c.call("<=>", by[a.ID], rby[a.ID]))
		}
	}
	j.Cond = logical.Conjunction(conds)
	return logical.SplitJoin(&j), by
}

func (d *domain) union(m *logical.Union) (logical.Node, map[logical.ColumnID]logical.Expr) {
	u := &logical.Union{Columns: append([]logical.Attr(nil), m.Columns...)}
	by := map[logical.ColumnID]logical.Expr{}
	for _, a := range d.attrs {
		fresh := a
		fresh.ID, fresh.Watermark = d.c.id(), -1
		u.Columns = append(u.Columns, fresh)
		by[a.ID] = fresh.Ref()
	}
	for _, in := range m.Children {
		n, cby := d.push(in)
		u.Children = append(u.Children, passing(n, append(in.Output(), d.attrsOf(cby)...)))
	}
	return u, by
}

// setOp compares the rows of each outer value apart.
func (d *domain) setOp(m *logical.SetOp) (logical.Node, map[logical.ColumnID]logical.Expr) {
	s := *m
	s.Columns = append([]logical.Attr(nil), m.Columns...)
	by := map[logical.ColumnID]logical.Expr{}
	for _, a := range d.attrs {
		fresh := a
		fresh.ID, fresh.Watermark = d.c.id(), -1
		s.Columns = append(s.Columns, fresh)
		by[a.ID] = fresh.Ref()
	}
	l, lby := d.push(m.Left)
	r, rby := d.push(m.Right)
	s.Left = passing(l, append(m.Left.Output(), d.attrsOf(lby)...))
	s.Right = passing(r, append(m.Right.Output(), d.attrsOf(rby)...))
	return &s, by
}
