package pipelines

import (
	"fmt"
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// rowsStay looks at the queries of a table kept by upsert whose rows replace
// each other (of aggregations, first rows of partitions and DISTINCT): a key
// must stay that of its row, two branches or flows must not take each other's
// keys, and a condition that may stop to be true leaves rows behind.
func (a *analyzer) rowsStay(d *dataset, f *flow, keys []int) {
	all := branches(f.plan.Node)
	for i, n := range all {
		for _, m := range all[:i] {
			if (keepsRows(m) || keepsRows(n)) && mayMeet(m, n, keys, keys) {
				a.meeting(d, f, "two branches of UNION ALL in the query of "+d.shown(), "select a constant that differs in each branch and add it to keys")
				return
			}
		}
	}
	if f.once {
		return // its rows are those to begin with
	}
	for _, g := range d.flows {
		if g != f && !g.once && g.keyed != nil && g.keyed.changes == nil && g.plan != nil && slices.ContainsFunc(branches(g.plan.Node), func(m logical.Node) bool {
			return slices.ContainsFunc(all, func(n logical.Node) bool {
				return (keepsRows(m) || keepsRows(n)) && mayMeet(m, n, g.keyed.keys, keys)
			})
		}) {
			a.meeting(d, f, fmt.Sprintf("the flows %s and %s of %s", g.name, f.name, d.shown()), "select a constant that differs in each flow and add it to keys, or give each flow a table of its own")
			return
		}
	}
	for _, n := range all {
		t := newRowTrace(n, d.stateTTL.IsSet())
		if t.maker == nil {
			continue
		}
		a.keysStay(d, n, t, keys)
		if len(all) == 1 {
			f.plan = t.deleting(f.plan)
		}
		a.conditionsStay(d, f, t)
	}
}

// appendsToKeyed refuses rows that would stand beside those of their key.
func (a *analyzer) appendsToKeyed(d *dataset, f *flow) {
	x := diag.AtSpan(f.file, f.place, "CONFLICTING_KEYS", fmt.Sprintf("flow %s appends to %s, which is kept by upsert on (%s): its rows would stand beside those that they should replace", f.name, d.shown(), keyNames(d)))
	a.list = append(a.list, x.WithHint("leave output_mode of the flow out, or append to a table of its own"))
	d.done.broken = true
}

// meeting refuses two sources of rows that may have equal keys.
func (a *analyzer) meeting(d *dataset, f *flow, what, hint string) {
	x := diag.AtSpan(f.file, f.place, "MISSING_KEY", fmt.Sprintf("%s may give rows of one (%s), of which one would replace the other", what, keyNames(d)))
	a.list = append(a.list, x.WithHint(hint))
	d.done.broken = true
}

func keyNames(d *dataset) string {
	have := make([]string, len(d.keys))
	for i, w := range d.keys {
		have[i] = w.value
	}
	return strings.Join(have, ", ")
}

// keysStay refuses keys that change while their group or rank goes on: the row
// under the old key would stay, and which old keys there were is the batches'
// doing.
func (a *analyzer) keysStay(d *dataset, n logical.Node, t *rowTrace, keys []int) {
	out := n.Output()
	var names []string
	for _, i := range keys {
		if !t.fixed[out[i].ID] {
			names = append(names, out[i].Name)
		}
	}
	if len(names) == 0 {
		return
	}
	place := d.keys[0].place
	for _, w := range d.keys {
		if strings.EqualFold(w.value, names[0]) {
			place = w.place
		}
	}
	one, by := "group goes on", "the columns of GROUP BY"
	if _, ok := t.maker.(*logical.Window); ok {
		one, by = "rank in the partition stays", "the columns of PARTITION BY and the rank"
	}
	x := diag.AtSpan(d.file, place, "KEY_CHANGES", fmt.Sprintf("%s of %s changes while its %s: the rows under its older values would stay", strings.Join(names, ", "), d.shown(), one))
	hint := "take " + strings.Join(names, ", ") + " out of keys: " + by + " make them up"
	if t.rejoins {
		hint += "; or join by columns that stay"
	}
	a.list = append(a.list, x.WithHint(hint))
	d.done.broken = true
}

// deleting returns a plan in which the filters and expectations that may stop to
// be true delete the row that was there, where nothing above them minds rows
// that are to go.
func (t *rowTrace) deleting(plan *sqlplan.Plan) *sqlplan.Plan {
	low := -1 // the lowest of them
	for i, n := range t.path {
		if t.mayStop(n) {
			low = i
		}
	}
	if low < 0 {
		return plan
	}
	for i, n := range t.path[:low+1] {
		switch x := n.(type) {
		case *logical.Project, *logical.Filter:
		case *logical.Expect:
			if x.DropErrors {
				return plan
			}
		default:
			return plan
		}
		fails := false
		logical.EachExpr(n, func(e logical.Expr) { fails = fails || e != nil && logical.CanFail(e) })
		if fails && i < low {
			return plan
		}
	}
	for _, n := range t.path[:low+1] {
		if t.mayStop(n) {
			t.deletes[n] = true
		}
	}
	out := *plan
	out.Node = t.marked(plan.Node)
	return &out
}

// mayStop reports whether a node drops a row that it passed before.
func (t *rowTrace) mayStop(n logical.Node) bool {
	switch n.(type) {
	case *logical.Filter, *logical.Expect:
		return slices.ContainsFunc(t.conditions, func(c rowCondition) bool { return c.by == n && !t.lasting(c.cond) })
	}
	return false
}

func (t *rowTrace) marked(n logical.Node) logical.Node {
	m := logical.MapInputs(n, t.marked)
	if !t.deletes[n] {
		return m
	}
	switch x := m.(type) {
	case *logical.Filter:
		k := *x
		k.Deletes, m = true, &k
	case *logical.Expect:
		k := *x
		k.Deletes, m = true, &k
	}
	return m
}

// conditionsStay warns of conditions above the state that may stop to be true,
// and whose rows stay then.
func (a *analyzer) conditionsStay(d *dataset, f *flow, t *rowTrace) {
	for _, c := range t.conditions {
		if t.lasting(c.cond) || t.deletes[c.by] {
			continue
		}
		at, file := c.cond.Span(), f.file
		if !at.IsValid() {
			at = a.queryPlace(f)
		}
		if file != nil && file.Name != at.File {
			file = nil // it stands in a view of another file
		}
		what := "this condition"
		if c.expectation != "" {
			what = "the expectation " + c.expectation
		}
		x := diag.AtSpan(file, at, "STALE_ROWS", fmt.Sprintf("a row of %s may stop to meet %s while its key goes on: the table then keeps the row as it last was", d.shown(), what))
		a.list = append(a.list, x.WithHint("filter where the table is read; conditions on keys, those that stay true (count(*) >= n, max(x) > n), and those with nothing above that may fail are safe").Warn())
		return
	}
}

// branches are the plans of a query, each with one branch of its UNION ALLs.
func branches(n logical.Node) []logical.Node {
	path := rowPath(n)
	u, ok := path[len(path)-1].(*logical.Union)
	if !ok {
		return []logical.Node{n}
	}
	var out []logical.Node
	for _, c := range u.Children {
		p := &logical.Project{Input: c}
		for i, a := range c.Output() {
			p.Exprs = append(p.Exprs, logical.Alias{Expr: a.Ref(), Attr: u.Columns[i]})
		}
		out = append(out, branches(inPlaceOf(n, u, p))...)
	}
	return out
}

// inPlaceOf puts another node in the place of one.
func inPlaceOf(n, old, with logical.Node) logical.Node {
	if n == old {
		return with
	}
	return logical.MapInputs(n, func(in logical.Node) logical.Node { return inPlaceOf(in, old, with) })
}

// rowPath leads from a query's output down to what makes its rows, through
// what passes each row of a stream on, more than once or not at all.
func rowPath(n logical.Node) []logical.Node {
	path := []logical.Node{n}
	for {
		switch x := n.(type) {
		case *logical.Project, *logical.Filter, *logical.Expect, *logical.Watermark, *logical.Generate:
			n = n.Inputs()[0]
		case *logical.Join:
			if n = streamOf(x); n == nil {
				return path
			}
		default:
			return path
		}
		path = append(path, n)
	}
}

// streamOf is the side of a join whose rows it passes on, nil if both do.
func streamOf(j *logical.Join) logical.Node {
	switch left, right := j.Left.Streaming(), j.Right.Streaming(); {
	case left && !right:
		return j.Left
	case right && !left:
		return j.Right
	}
	return nil
}

// maker is the operator at the end of a path that gives a row again when it has
// changed, or one of several that are equal; nil if there is none.
func maker(path []logical.Node) logical.Node {
	switch x := path[len(path)-1].(type) {
	case *logical.Aggregate, *logical.Distinct:
		return x
	case *logical.Window:
		if x.Streaming() {
			return x
		}
	}
	return nil
}

// keepsRows reports whether a plan keeps a row a key by itself: over a stream
// one that others would replace by theirs.
func keepsRows(n logical.Node) bool { return maker(rowPath(n)) != nil }

// mayMeet reports whether two plans may give rows of one key.
func mayMeet(m, n logical.Node, mkeys, nkeys []int) bool {
	mout, nout := m.Output(), n.Output()
	for k := range mkeys {
		a, b := constantOf(m, mout[mkeys[k]].ID), constantOf(n, nout[nkeys[k]].ID)
		if a != nil && b != nil && a.Type().Equal(b.Type()) && logical.Text(a) != logical.Text(b) {
			return false
		}
	}
	return true
}

// constantOf is the one value of a column, nil where it has others.
func constantOf(n logical.Node, id logical.ColumnID) *logical.Literal {
	follow := func(exprs []logical.Alias) *logical.Literal {
		for _, e := range exprs {
			if e.Attr.ID != id {
				continue
			}
			switch x := e.Expr.(type) {
			case *logical.Literal:
				return x
			case *logical.Column:
				return constantOf(n.Inputs()[0], x.Attr.ID)
			}
		}
		return nil
	}
	switch x := n.(type) {
	case *logical.Project:
		return follow(x.Exprs)
	case *logical.Aggregate:
		return follow(x.Groups)
	case *logical.Filter:
		for _, c := range logical.Conjuncts(x.Cond) {
			if l := equalTo(c, id); l != nil {
				return l
			}
		}
	case *logical.Expect, *logical.Watermark, *logical.Generate, *logical.Window, *logical.Distinct, *logical.Deduplicate, *logical.TimeWindow, *logical.SessionWindow:
	case *logical.Join:
		return constantOfJoin(x, id)
	default:
		return nil
	}
	for _, in := range n.Inputs() {
		if logical.IndexOf(in.Output(), id) >= 0 {
			return constantOf(in, id)
		}
	}
	return nil
}

// constantOfJoin looks for it in the sides that a join does not fill with NULLs.
func constantOfJoin(x *logical.Join, id logical.ColumnID) *logical.Literal {
	var sides []logical.Node
	switch x.Type {
	case logical.InnerJoin, logical.CrossJoin:
		sides = []logical.Node{x.Left, x.Right}
	case logical.RightJoin:
		sides = []logical.Node{x.Right}
	case logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
		sides = []logical.Node{x.Left}
	case logical.FullJoin:
	}
	for _, side := range sides {
		if logical.IndexOf(side.Output(), id) >= 0 {
			return constantOf(side, id)
		}
	}
	return nil
}

// equalTo is the literal that a condition holds a column to.
func equalTo(cond logical.Expr, id logical.ColumnID) *logical.Literal {
	call, ok := cond.(*logical.Call)
	if !ok || len(call.Args) != 2 || call.Fn.Fn == nil || call.Fn.Fn.Name != "=" {
		return nil
	}
	for i, x := range call.Args {
		c, ok := x.(*logical.Column)
		if l, lit := call.Args[1-i].(*logical.Literal); ok && lit && c.Attr.ID == id {
			return l
		}
	}
	return nil
}

// rowTrace says what of a query's rows stays as it is while their group goes on.
type rowTrace struct {
	maker logical.Node
	fixed idSet
	// grows are columns that only become greater (1) or less (-1).
	grows map[logical.ColumnID]int
	// texts are expressions of PARTITION BY, which stay though their columns do not.
	texts      []string
	conditions []rowCondition
	path       []logical.Node
	deletes    map[logical.Node]bool // filters that delete what does not pass
	rejoins    bool                  // a group may meet other rows of a joined table
}

// rowCondition drops rows above the operator that makes them.
type rowCondition struct {
	cond        logical.Expr
	by          logical.Node
	expectation string
}

// newRowTrace follows a query; expires says that state is forgotten (state_ttl),
// and what grew in it begins anew.
func newRowTrace(n logical.Node, expires bool) *rowTrace {
	path := rowPath(n)
	t := &rowTrace{maker: maker(path), fixed: idSet{}, grows: map[logical.ColumnID]int{}, path: path, deletes: map[logical.Node]bool{}}
	switch x := t.maker.(type) {
	case *logical.Aggregate:
		if t.aggregate(x); expires {
			clear(t.grows)
		}
	case *logical.Window:
		t.window(x)
	case *logical.Distinct:
		t.fix(x.Output())
	default:
		return t
	}
	for i := len(path) - 2; i >= 0; i-- {
		t.above(path[i], path[i+1])
	}
	return t
}

func (t *rowTrace) fix(attrs []logical.Attr) {
	for _, a := range attrs {
		t.fixed[a.ID] = true
	}
}

func (t *rowTrace) aggregate(x *logical.Aggregate) {
	of := idSet{}
	for _, g := range x.Groups {
		t.fixed[g.Attr.ID] = true
		if c, ok := g.Expr.(*logical.Column); ok {
			of[c.Attr.ID] = true
		}
	}
	of = logical.NewDependencies(x.Input).Closure(of)
	for _, c := range x.Aggs {
		if c.Fn.Fn == nil {
			continue
		}
		switch c.Fn.Fn.Name {
		case "count", "max":
			t.grows[c.Attr.ID] = 1
		case "min":
			t.grows[c.Attr.ID] = -1
		}
		if c.Filter == nil && len(c.Args) > 0 && slices.Contains(oneOfItsRows, c.Fn.Fn.Name) {
			if e := c.Args[0]; logical.Fixed(e) && within(columnsOf(e), of) {
				t.fixed[c.Attr.ID] = true
			}
		}
	}
}

func (t *rowTrace) window(x *logical.Window) {
	of := idSet{}
	for _, p := range x.PartitionBy {
		if c, ok := p.(*logical.Column); ok {
			of[c.Attr.ID] = true
		}
		t.texts = append(t.texts, logical.Text(p))
	}
	t.fixed = logical.NewDependencies(x.Input).Closure(of)
	for _, c := range x.Calls {
		t.fixed[c.Attr.ID] = true
	}
}

// above follows the columns, and notes the conditions, of a node over in.
func (t *rowTrace) above(n, in logical.Node) {
	switch x := n.(type) {
	case *logical.Project:
		for _, e := range x.Exprs {
			if t.stays(e.Expr) {
				t.fixed[e.Attr.ID] = true
			}
			if c, ok := e.Expr.(*logical.Column); ok && t.grows[c.Attr.ID] != 0 {
				t.grows[e.Attr.ID] = t.grows[c.Attr.ID]
			}
		}
	case *logical.Filter:
		t.condition(x, x.Cond, "")
	case *logical.Expect:
		for _, r := range x.Rules {
			if r.Action == logical.Drop {
				t.condition(x, r.Cond, r.Name)
			}
		}
	case *logical.Generate:
		if !slices.ContainsFunc(x.Args, func(e logical.Expr) bool { return !t.stays(e) }) {
			t.fix(x.Columns)
		}
	case *logical.Join:
		other, mine := x.Right, x.LeftKeys
		if in == x.Right {
			other, mine = x.Left, x.RightKeys
		}
		if t.joinStays(x, mine, other.Output()) {
			t.fix(other.Output())
		} else {
			t.rejoins = true
		}
		switch x.Type {
		case logical.InnerJoin, logical.CrossJoin, logical.SemiJoin, logical.AntiJoin:
			for _, e := range mine {
				t.condition(x, e, "")
			}
			t.condition(x, x.Cond, "")
		}
	}
}

// joinStays reports whether a row of a group meets the same rows of a table as
// long as its group goes on.
func (t *rowTrace) joinStays(x *logical.Join, mine []logical.Expr, other []logical.Attr) bool {
	if slices.ContainsFunc(mine, func(e logical.Expr) bool { return !t.stays(e) }) {
		return false
	}
	if x.Cond == nil {
		return true
	}
	ids := columnsOf(x.Cond)
	for _, c := range other {
		delete(ids, c.ID)
	}
	return logical.Fixed(x.Cond) && within(ids, t.fixed)
}

func (t *rowTrace) condition(by logical.Node, e logical.Expr, expectation string) {
	for _, c := range logical.Conjuncts(e) {
		t.conditions = append(t.conditions, rowCondition{c, by, expectation})
	}
}

// stays reports whether an expression has one value as long as its group goes
// on.
func (t *rowTrace) stays(e logical.Expr) bool {
	if slices.Contains(t.texts, logical.Text(e)) {
		return true
	}
	return logical.Fixed(e) && within(columnsOf(e), t.fixed)
}

// lasting reports whether a condition that was true once stays true.
func (t *rowTrace) lasting(e logical.Expr) bool {
	if t.stays(e) {
		return true
	}
	lasting := func(es []logical.Expr) bool {
		return !slices.ContainsFunc(es, func(x logical.Expr) bool { return !t.lasting(x) })
	}
	switch x := e.(type) {
	case *logical.Common:
		return t.lasting(x.Input)
	case *logical.And:
		return lasting(x.Args)
	case *logical.Or:
		return lasting(x.Args)
	case *logical.Call:
		if x.Fn.Fn == nil {
			return false
		}
		name := x.Fn.Fn.Name
		if len(x.Args) == 1 {
			return name == "isnotnull" && t.direction(x.Args[0]) != 0
		}
		if len(x.Args) != 2 {
			return false
		}
		switch a, b := t.direction(x.Args[0]), t.direction(x.Args[1]); name {
		case ">", ">=":
			return a > 0 && t.stays(x.Args[1]) || b < 0 && t.stays(x.Args[0])
		case "<", "<=":
			return a < 0 && t.stays(x.Args[1]) || b > 0 && t.stays(x.Args[0])
		}
	}
	return false
}

// direction says whether an expression only becomes greater (1) or less (-1).
func (t *rowTrace) direction(e logical.Expr) int {
	switch x := e.(type) {
	case *logical.Common:
		return t.direction(x.Input)
	case *logical.Column:
		return t.grows[x.Attr.ID]
	case *logical.Cast:
		if from := x.Input.Type(); (from.IsInteger() || from.Kind == schema.Decimal) && x.To.IsNumeric() {
			return t.direction(x.Input)
		}
	}
	return 0
}
