package rewrite

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// Unsupported is a query that no rule can turn into what operators run.
type Unsupported struct {
	Place diag.Span
	What  string
	// Class is the error class; "" for the general one.
	Class diag.Code
}

func (e *Unsupported) Error() string { return e.What }

// decorrelate replaces subquery expressions and lateral joins by joins.
//
// IN and EXISTS that are conjuncts of a filter become semi and anti joins,
// elsewhere mark joins; scalar subqueries become single joins. Conditions of
// the subquery on outer columns are pulled up into the join (pull); where that
// is not possible the subquery runs over the distinct outer values (domain).
func decorrelate(c *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		if j, ok := m.(*logical.Join); ok && j.Lateral {
			return c.lateral(j)
		}
		if !holdsSubquery(m) {
			return m
		}
		return c.unnest(m)
	})
}

func holdsSubquery(n logical.Node) bool {
	found := false
	logical.EachExpr(n, func(e logical.Expr) {
		if e != nil && logical.HasSubquery(e) {
			found = true
		}
	})
	return found
}

// unnest removes the subqueries of one node.
func (c *Context) unnest(n logical.Node) logical.Node {
	switch m := n.(type) {
	case *logical.Filter:
		return c.unnestFilter(m)
	case *logical.Join:
		if m.Type != logical.InnerJoin && m.Type != logical.CrossJoin {
			return c.unnestOuter(m)
		}
		refuseBothSides(m)
		j := *m
		j.Cond = nil
		j.Type = logical.CrossJoin
		return c.unnestFilter(&logical.Filter{Input: &j, Cond: m.Cond})
	}
	ins := n.Inputs()
	if len(ins) != 1 {
		panic(&Unsupported{Place: diag.Span{}, What: "a subquery is not supported here"})
	}
	u := &unnester{c: c, input: ins[0]}
	out := logical.MapExprs(n, u.expr).WithInputs([]logical.Node{u.input})
	if want := n.Output(); len(out.Output()) != len(want) {
		return passing(out, want)
	}
	return out
}

func overBothSides(s *logical.Subquery) *Unsupported {
	return &Unsupported{Place: s.Place, What: "Correlated subqueries in the join predicate cannot reference both join inputs.",
		Class: "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_CORRELATED_EXPRESSION_IN_JOIN_CONDITION"}
}

// refuseBothSides refuses, as Spark does, a subquery in a join condition that
// reads columns of both sides.
func refuseBothSides(j *logical.Join) {
	left, right := setOf(j.Left.Output()), setOf(j.Right.Output())
	logical.WalkExpr(j.Cond, func(e logical.Expr) bool {
		if s, ok := e.(*logical.Subquery); ok {
			outer := setOf(s.Outer)
			if outer.meets(left) && outer.meets(right) {
				panic(overBothSides(s))
			}
		}
		return true
	})
}

// unnestOuter computes the subqueries in the condition of an outer, semi or
// anti join on the side whose columns they read.
func (c *Context) unnestOuter(j *logical.Join) logical.Node {
	want := j.Output()
	left, right := setOf(j.Left.Output()), setOf(j.Right.Output())
	l, r := &unnester{c: c, input: j.Left}, &unnester{c: c, input: j.Right}
	m := *j
	var visit func(e logical.Expr) logical.Expr
	visit = func(e logical.Expr) logical.Expr {
		if !logical.HasSubquery(e) {
			return e
		}
		s, negated := asSubquery(e)
		if s == nil {
			return logical.MapChildren(e, visit)
		}
		if t := constantIn(s, j); t != nil {
			return l.threeValued(t, negated)
		}
		used := columnsOf(s)
		switch {
		case !used.meets(right):
			return l.expr(e)
		case !used.meets(left):
			return r.expr(e)
		}
		panic(overBothSides(s))
	}
	m.Cond = visit(j.Cond)
	m.Left, m.Right = l.input, r.input
	out := logical.Node(logical.SplitJoin(&m))
	if len(out.Output()) != len(want) {
		out = passing(out, want)
	}
	return out
}

func exprPlace(e logical.Expr) diag.Span {
	if e == nil {
		return diag.Span{}
	}
	return e.Span()
}

// unnestFilter turns conjuncts that are IN or EXISTS into joins.
func (c *Context) unnestFilter(f *logical.Filter) logical.Node {
	want := f.Output()
	in := f.Input
	var rest []logical.Expr
	for _, conj := range logical.Conjuncts(c.pushNot(f.Cond)) {
		s, negated := asSubquery(conj)
		if s == nil || s.Kind == logical.ScalarSubquery {
			rest = append(rest, conj)
			continue
		}
		in = c.existence(in, s, negated)
	}
	u := &unnester{c: c, input: in}
	for i, r := range rest {
		rest[i] = u.expr(r)
	}
	out := u.input
	if cond := logical.Conjunction(rest); cond != nil {
		out = &logical.Filter{Input: out, Cond: cond}
	}
	if len(out.Output()) != len(want) {
		return passing(out, want)
	}
	return out
}

// asSubquery recognises a subquery, negated or not.
func asSubquery(e logical.Expr) (*logical.Subquery, bool) {
	negated := false
	for {
		switch x := e.(type) {
		case *logical.Subquery:
			return x, negated
		case *logical.Call:
			if x.Fn.Fn == nil || x.Fn.Fn.Name != "not" || len(x.Args) != 1 {
				return nil, false
			}
			e, negated = x.Args[0], !negated
		default:
			return nil, false
		}
	}
}

// pushNot moves NOT down to the subqueries of e: NOT IN is not the opposite of
// IN where the comparison is unknown.
func (c *Context) pushNot(e logical.Expr) logical.Expr {
	if e == nil || !logical.HasSubquery(e) {
		return e
	}
	call, ok := e.(*logical.Call)
	if !ok || call.Fn.Fn == nil || call.Fn.Fn.Name != "not" || len(call.Args) != 1 {
		switch e.(type) {
		case *logical.And, *logical.Or:
			return logical.MapChildren(e, c.pushNot)
		}
		return e
	}
	var args []logical.Expr
	switch x := call.Args[0].(type) {
	case *logical.And:
		args = x.Args
	case *logical.Or:
		args = x.Args
	case *logical.Call:
		if x.Fn.Fn != nil && x.Fn.Fn.Name == "not" && len(x.Args) == 1 {
			return c.pushNot(x.Args[0])
		}
		return e
	default:
		return e
	}
	out := make([]logical.Expr, len(args))
	for i, a := range args {
		out[i] = c.pushNot(c.call("not", a))
	}
	if _, and := call.Args[0].(*logical.And); and {
		return &logical.Or{At: call.At, Args: out}
	}
	return &logical.And{At: call.At, Args: out}
}

// existence joins in with an IN or EXISTS subquery as a filter.
func (c *Context) existence(in logical.Node, s *logical.Subquery, negated bool) logical.Node {
	sd := c.matching(in, s)
	conds := sd.conds
	j := &logical.Join{Left: in, Right: sd.plan, Type: logical.SemiJoin}
	out := sd.plan.Output()
	if negated {
		j.Type = logical.AntiJoin
		// What is no column of the left side is no key: the comparison itself has
		// to say what is unknown.
		j.NullAware = s.Kind == logical.InSubquery && len(s.Left) == 1 && len(conds) == 0 && !logical.IsConstant(s.Left[0]) &&
			columnsOf(s.Left[0]).within(setOf(in.Output()))
	}
	for i, l := range s.Left {
		eq := c.call("=", l, out[i].Ref())
		if negated && !j.NullAware && eq.Nullable() {
			eq = &logical.Coalesce{Args: []logical.Expr{eq, boolean(true)}}
		}
		conds = append(conds, eq)
	}
	j.Cond = logical.Conjunction(conds)
	return logical.SplitJoin(j)
}

// side is the right side of the join that replaces a subquery. Its first
// columns are the subquery's.
type side struct {
	plan  logical.Node
	conds []logical.Expr // tie it to the rows of the left side
	// empty are the values of the columns where no row matches; nil: null. The
	// column seen tells those rows apart.
	empty []logical.Expr
	seen  logical.Attr
}

// rightSide makes the uncorrelated plan of a subquery.
func (c *Context) rightSide(in logical.Node, s *logical.Subquery) side {
	plan := decorrelate(c, s.Plan)
	if s.Kind == logical.ExistsSubquery {
		plan = c.existsBody(plan)
	}
	if len(s.Outer) == 0 || !refers(plan, setOf(s.Outer)) {
		return side{plan: plan}
	}
	return c.correlated(in, plan, s.Outer, s.Place)
}

// correlated makes the right side of a plan that reads outer columns.
func (c *Context) correlated(in, plan logical.Node, outer []logical.Attr, place diag.Span) side {
	want := plan.Output()
	p := &puller{c: c, outer: setOf(outer)}
	pulled, conds, ok := p.pull(plan)
	if ok && p.always == 0 {
		return side{plan: first(pulled, want, conds), conds: conds}
	}
	if ok && p.always == 1 {
		if empty := c.emptyRow(plan); empty != nil {
			n := first(pulled, want, conds)
			out := passing(n, n.Output())
			seen := c.attr("seen", boolean(true))
			out.Exprs = append(out.Exprs, logical.Alias{Expr: boolean(true), Attr: seen})
			return side{out, conds, empty, seen}
		}
	}
	n, conds := c.overDomain(in, plan, outer, place)
	return side{plan: n, conds: conds}
}

// emptyRow is the row that a plan gives over no rows, when that is plain:
// projections of a global aggregate.
func (c *Context) emptyRow(n logical.Node) []logical.Expr {
	switch m := n.(type) {
	case *logical.Project:
		below := c.emptyRow(m.Input)
		if below == nil {
			return nil
		}
		by := map[logical.ColumnID]logical.Expr{}
		for i, a := range m.Input.Output() {
			by[a.ID] = below[i]
		}
		var out []logical.Expr
		for _, a := range m.Exprs {
			e := substitute(a.Expr, by)
			if !logical.IsConstant(e) {
				return nil
			}
			out = append(out, e)
		}
		return out
	case *logical.Aggregate:
		if len(m.Groups) > 0 {
			return nil
		}
		var out []logical.Expr
		for _, g := range m.Aggs {
			out = append(out, EmptyValue(g, c.Session))
		}
		return out
	}
	return nil
}

// value is column i of the side as a row of the left side sees it.
func (c *Context) value(s side, i int) logical.Expr {
	a := s.plan.Output()[i]
	a.Nullable = true
	if s.empty == nil {
		return a.Ref()
	}
	if l, ok := s.empty[i].(*logical.Literal); ok && l.Value.IsNull(0) {
		return a.Ref()
	}
	seen := s.seen
	seen.Nullable = true
	return &logical.Case{T: a.Type, Branches: []logical.Branch{{When: c.call("isnull", seen.Ref()), Then: s.empty[i]}}, Else: a.Ref()}
}

// first orders a plan's columns: those wanted, then what conditions need.
func first(n logical.Node, want []logical.Attr, conds []logical.Expr) logical.Node {
	out := n.Output()
	need := idSet{}
	for _, e := range conds {
		logical.Columns(e, need)
	}
	attrs := append([]logical.Attr(nil), want...)
	have := setOf(want)
	for _, a := range out {
		if need[a.ID] && !have[a.ID] {
			attrs = append(attrs, a)
		}
	}
	if len(attrs) == len(out) {
		same := true
		for i := range out {
			same = same && out[i].ID == attrs[i].ID
		}
		if same {
			return n
		}
	}
	return passing(n, attrs)
}

// existsBody drops what does not matter for EXISTS: the select list, an order
// and a limit that lets a row through.
func (c *Context) existsBody(n logical.Node) logical.Node {
	for {
		switch m := n.(type) {
		case *logical.Sort:
			n = m.Input
		case *logical.Limit:
			if m.Count == 0 || m.Offset > 0 {
				return n
			}
			n = m.Input
		case *logical.Project:
			n = m.Input
		case *logical.Distinct:
			n = m.Input
		default:
			return n
		}
	}
}

// refers reports whether the plan reads one of the columns.
func refers(n logical.Node, outer idSet) bool {
	found := false
	logical.WalkNode(n, func(m logical.Node) bool {
		logical.EachExpr(m, func(e logical.Expr) {
			found = found || columnsOf(e).meets(outer)
		})
		return !found
	})
	return found
}

// unnester replaces the subqueries of expressions by columns of joins that it
// puts over the input.
type unnester struct {
	c     *Context
	input logical.Node
}

func (u *unnester) expr(e logical.Expr) logical.Expr {
	if e == nil || !logical.HasSubquery(e) {
		return e
	}
	e = u.c.pushNot(e)
	if s, negated := asSubquery(e); s != nil && s.Kind == logical.InSubquery {
		if negated {
			return u.c.call("not", u.mark(s, true))
		}
		return u.mark(s, false)
	}
	if s, ok := e.(*logical.Subquery); ok {
		if s.Kind == logical.ScalarSubquery {
			return u.scalar(s)
		}
		return u.mark(s, false)
	}
	return logical.MapChildren(e, u.expr)
}

// mark adds a column that says whether the row has a match. With unknown set,
// a comparison with null counts as one (NOT IN).
func (u *unnester) mark(s *logical.Subquery, unknown bool) logical.Expr {
	t := *s
	t.Left = make([]logical.Expr, len(s.Left))
	for i, l := range s.Left {
		t.Left[i] = u.expr(l)
	}
	sd := u.c.matching(u.input, &t)
	conds, out := sd.conds, sd.plan.Output()
	for i, l := range t.Left {
		eq := u.c.call("=", l, out[i].Ref())
		if unknown && eq.Nullable() {
			eq = &logical.Coalesce{Args: []logical.Expr{eq, boolean(true)}}
		}
		conds = append(conds, eq)
	}
	m := u.c.attr("exists", boolean(true))
	j := &logical.Join{Left: u.input, Right: sd.plan, Type: logical.MarkJoin, Mark: m, Cond: logical.Conjunction(conds)}
	u.input = logical.SplitJoin(j)
	ref := m.Ref()
	ref.Place = s.Place
	return ref
}

// scalar adds the subquery's value as a column.
func (u *unnester) scalar(s *logical.Subquery) logical.Expr {
	if e := oneRowValue(s.Plan); e != nil && !logical.HasSubquery(e) {
		return e
	}
	sd := u.c.rightSide(u.input, s)
	j := &logical.Join{Left: u.input, Right: sd.plan, Type: logical.SingleJoin, Cond: logical.Conjunction(sd.conds)}
	u.input = logical.SplitJoin(j)
	v := u.c.value(sd, 0)
	if ref, ok := v.(*logical.Column); ok {
		ref.Place = s.Place
	}
	return v
}

// matching is rightSide for IN and EXISTS: a global aggregate matches even
// when no row does, which only the domain gives.
func (c *Context) matching(in logical.Node, s *logical.Subquery) side {
	sd := c.rightSide(in, s)
	if sd.empty == nil {
		return sd
	}
	n, conds := c.overDomain(in, decorrelate(c, s.Plan), s.Outer, s.Place)
	return side{plan: n, conds: conds}
}

// lateral removes the Lateral mark of a join.
func (c *Context) lateral(j *logical.Join) logical.Node {
	want := j.Output()
	outer := setOf(j.Left.Output())
	m := *j
	m.Lateral = false
	if !refers(j.Right, outer) {
		return logical.SplitJoin(&m)
	}
	if n := inlineRow(j); n != nil {
		return n
	}
	sd := c.correlated(j.Left, j.Right, j.Left.Output(), exprPlace(j.Cond))
	m.Right = sd.plan
	if sd.empty != nil {
		return c.lateralAggregate(j, sd)
	}
	m.Cond = logical.Conjunction(append(sd.conds, logical.Conjuncts(j.Cond)...))
	out := logical.Node(logical.SplitJoin(&m))
	if len(out.Output()) != len(want) {
		out = passing(out, want)
	}
	return out
}

// lateralAggregate joins with a global aggregate: each left row has its row.
func (c *Context) lateralAggregate(j *logical.Join, sd side) logical.Node {
	if j.Type == logical.LeftJoin && j.Cond != nil || j.Type == logical.RightJoin || j.Type == logical.FullJoin {
		panic(&Unsupported{Place: exprPlace(j.Cond), What: "this lateral join with an aggregate and a condition is not supported"})
	}
	n := logical.SplitJoin(&logical.Join{Left: j.Left, Right: sd.plan, Type: logical.LeftJoin, Cond: logical.Conjunction(sd.conds)})
	p := passing(n, j.Left.Output())
	for i, a := range j.Right.Output() {
		if j.Type == logical.LeftJoin {
			a.Nullable = true
		}
		p.Exprs = append(p.Exprs, logical.Alias{Expr: c.value(sd, i), Attr: a})
	}
	if j.Cond != nil {
		return &logical.Filter{Input: p, Cond: j.Cond}
	}
	return p
}

// oneRowValue is the value of projections over a single row, (SELECT x + 1):
// nothing has to be joined for it. Nil for other plans.
func oneRowValue(n logical.Node) logical.Expr {
	p, ok := n.(*logical.Project)
	if !ok || len(p.Exprs) != 1 || logical.Volatility(p.Exprs[0].Expr) > funcs.Stable {
		return nil
	}
	if v, ok := p.Input.(*logical.Values); !ok || v.Rows != 1 || len(v.Columns) != 0 {
		return nil
	}
	return p.Exprs[0].Expr
}

// inlineRow joins with projections over a single row: they are computed over
// the left side directly.
func inlineRow(j *logical.Join) logical.Node {
	if j.Type != logical.InnerJoin && j.Type != logical.CrossJoin && j.Type != logical.LeftJoin || j.Type == logical.LeftJoin && j.Cond != nil {
		return nil
	}
	var stack []*logical.Project
	n := j.Right
	for {
		p, ok := n.(*logical.Project)
		if !ok {
			break
		}
		stack = append(stack, p)
		n = p.Input
	}
	if v, ok := n.(*logical.Values); !ok || v.Rows != 1 || len(v.Columns) != 0 || len(stack) == 0 {
		return nil
	}
	out := j.Left
	for i := len(stack) - 1; i >= 0; i-- {
		p := passing(out, out.Output())
		p.Exprs = append(p.Exprs, stack[i].Exprs...)
		out = p
	}
	if j.Cond != nil {
		out = &logical.Filter{Input: out, Cond: j.Cond}
	}
	return passing(out, j.Output())
}
