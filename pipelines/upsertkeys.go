package pipelines

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
)

// tellApart refuses keys of a table kept by upsert that hold several rows of
// one epoch together: all but one of them would be lost without a word.
func (a *analyzer) tellApart(d *dataset, f *flow, keys []int) {
	var missing []missingKey
	for _, n := range branches(f.plan.Node) {
		if missing = coarseKeys(n, keys); len(missing) > 0 {
			break
		}
	}
	if len(missing) == 0 {
		return
	}
	var names, add, choose, take []string
	made, join := false, ""
	for _, m := range missing {
		if m.table {
			names, join = append(names, m.name), "add a column of the joined table to keys, or join with a query that has one row of each value (GROUP BY the joined columns)"
		} else if m.column == "" {
			names, choose = append(names, m.name), append(choose, m.name)
		} else {
			names, add = append(names, m.column), append(add, m.column)
		}
		if m.group {
			take = append(take, m.name)
		}
		made = made || m.made
	}
	key := "(" + keyNames(d) + ")"
	x := diag.AtSpan(d.file, d.keys[0].place, "MISSING_KEY", fmt.Sprintf("the query of %s gives several rows for one %s, which differ in %s: all but the last would be lost", d.shown(), key, strings.Join(names, ", ")))
	var hint []string
	if len(add) > 0 {
		hint = append(hint, "add "+strings.Join(add, ", ")+" to keys")
	}
	if len(choose) > 0 {
		hint = append(hint, "select "+strings.Join(choose, ", ")+" and add what you select to keys")
	}
	if join != "" {
		hint = append(hint, join)
	}
	if made {
		hint = append(hint, "or group by "+key+" instead")
	}
	if len(take) > 0 {
		hint = append(hint, fmt.Sprintf("or, if each %s has one %s, do not group by it: select any_value(%s)", key, strings.Join(take, ", "), strings.Join(take, "), any_value(")))
	}
	a.list = append(a.list, x.WithHint(strings.Join(hint, "; ")))
	d.done.broken = true
}

// missingKey tells rows of one key apart: a group, a column of PARTITION BY or
// a rank. The column of the query is one that gives it, or "".
type missingKey struct {
	name, column string
	group        bool // a column of GROUP BY, which an aggregate could stand for
	made         bool // a key is made from it, and does not tell it
	table        bool // the rows of a joined table
}

// coarseKeys returns what the rows of a query differ in while their keys are
// equal, if it is an aggregation, DISTINCT or keeps the first rows of each
// partition. What follows from the keys (by a condition, or as the window of its
// start) is theirs; what they are merely computed from is not.
func coarseKeys(n logical.Node, keys []int) []missingKey {
	t := newKeyTrace(n, keys)
	for _, n := range rowPath(n) {
		switch x := n.(type) {
		case *logical.Project:
			t.below(x)
		case *logical.Filter:
			if _, rank, k := logical.RankLimit(x); k > 0 {
				t.rank, t.first = rank, k
			}
		case *logical.Generate:
			t.generated(x)
		case *logical.Join:
			t.joined(x)
		case *logical.Aggregate:
			return append(t.groups(x), t.several...)
		case *logical.Window:
			return append(t.ranks(x), t.several...)
		case *logical.Distinct:
			return append(t.distinct(x), t.several...)
		}
	}
	return nil
}

// generated notes the rows that explode makes of one: a key of its columns may
// tell them apart.
func (t *keyTrace) generated(x *logical.Generate) {
	for _, c := range x.Columns {
		if t.from[c.ID] {
			return
		}
	}
	for _, c := range x.Columns {
		if !t.given[c.ID] {
			t.several = append(t.several, missingKey{name: c.Name, column: t.column(idSet{c.ID: true})})
			return
		}
	}
}

// joined notes the rows that a join with a table makes of one: a key of the
// table's columns may tell them apart.
func (t *keyTrace) joined(x *logical.Join) {
	other, by := x.Right, x.RightKeys
	if other.Streaming() {
		other, by = x.Left, x.LeftKeys
	}
	switch x.Type {
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
		return
	}
	out := other.Output()
	if slices.ContainsFunc(out, func(c logical.Attr) bool { return t.from[c.ID] }) {
		return
	}
	ids := idSet{}
	for _, e := range by {
		if x, ok := e.(*logical.Cast); ok && x.Input.Type().IsInteger() && x.To.IsInteger() {
			e = x.Input // the joined types differ
		}
		if c, ok := e.(*logical.Column); ok {
			ids[c.Attr.ID] = true
		}
	}
	ids = logical.DependenciesOfEpoch(other).Closure(ids)
	if oneRow(other, ids) {
		return
	}
	m := missingKey{name: "the rows of the joined table", table: true}
	logical.WalkNode(other, func(n logical.Node) bool {
		if s, ok := n.(*logical.Scan); ok {
			m.name = "the rows of " + s.Relation.Name[len(s.Relation.Name)-1]
		}
		return true
	})
	t.several = append(t.several, m)
}

// oneRow reports whether a table has at most one row of each value of ids.
func oneRow(n logical.Node, ids idSet) bool {
	all := func(attrs []logical.Attr) bool {
		return !slices.ContainsFunc(attrs, func(c logical.Attr) bool { return !ids[c.ID] })
	}
	switch x := n.(type) {
	case *logical.Project:
		below := idSet{}
		for _, e := range x.Exprs {
			if c, ok := e.Expr.(*logical.Column); ok && ids[e.Attr.ID] {
				below[c.Attr.ID] = true
			}
		}
		return oneRow(x.Input, below)
	case *logical.Filter:
		return oneRow(x.Input, ids)
	case *logical.Expect:
		return oneRow(x.Input, ids)
	case *logical.Sort:
		return x.Limit == 1 || oneRow(x.Input, ids)
	case *logical.Limit:
		return x.Count == 1 || oneRow(x.Input, ids)
	case *logical.Values:
		return x.Rows < 2
	case *logical.Aggregate:
		return !slices.ContainsFunc(x.Groups, func(g logical.Alias) bool { return !ids[g.Attr.ID] })
	case *logical.Distinct:
		return all(x.Output())
	case *logical.Scan:
		return oneRowOf(x, ids)
	}
	return false
}

// oneRowOf looks at how a table is made: kept by key, or a query over batches.
func oneRowOf(x *logical.Scan, ids idSet) bool {
	h, ok := x.Relation.Handle.(handle)
	if !ok || h.dataset == nil || len(h.dataset.flows) == 0 {
		return false
	}
	by := func(name string) bool {
		return slices.ContainsFunc(x.Columns, func(c logical.Attr) bool { return ids[c.ID] && strings.EqualFold(c.Name, name) })
	}
	f := h.dataset.flows[0]
	switch {
	case f.plan == nil || h.dataset.kind == graph.StreamingTable && (f.keyed == nil || f.keyed.history):
		return false
	case f.keyed != nil:
		return !slices.ContainsFunc(f.keyed.keys, func(i int) bool { return !by(f.plan.Schema.Fields[i].Name) })
	}
	below := idSet{}
	for _, c := range f.plan.Node.Output() {
		if by(c.Name) {
			below[c.ID] = true
		}
	}
	return oneRow(f.plan.Node, below)
}

// keyTrace follows the keys of a query down to where its rows are made.
type keyTrace struct {
	output []logical.Attr
	deps   *logical.Dependencies
	keys   idSet
	given  idSet // what the keys give
	from   idSet // what the keys are made from
	rank   logical.ColumnID
	first  int64 // rows of each partition, 0: no rank is bounded
	// texts are the expressions that give keys.
	texts map[string]bool
	// several is what rows made of one row of a group differ in.
	several []missingKey
}

type idSet = map[logical.ColumnID]bool

func newKeyTrace(n logical.Node, keys []int) *keyTrace {
	t := &keyTrace{output: n.Output(), deps: logical.NewDependencies(n), keys: idSet{}, texts: map[string]bool{}}
	for _, i := range keys {
		t.keys[t.output[i].ID] = true
	}
	t.given, t.from = t.deps.Closure(t.keys), maps.Clone(t.keys)
	return t
}

func (t *keyTrace) below(p *logical.Project) {
	from := idSet{}
	for _, e := range p.Exprs {
		if t.from[e.Attr.ID] {
			logical.Columns(e.Expr, from)
		}
		if t.given[e.Attr.ID] {
			t.texts[logical.Text(e.Expr)] = true
		}
	}
	t.from = from
}

// groups are the groups of an aggregation that the keys do not give.
func (t *keyTrace) groups(x *logical.Aggregate) []missingKey {
	expand, sets := x.Input.(*logical.Expand)
	var out []missingKey
	for i, g := range x.Groups {
		if t.given[g.Attr.ID] || t.taken(x, g.Attr.ID) {
			continue
		}
		if sets && i == len(x.Groups)-1 { // the number of the grouping set
			if !t.from[g.Attr.ID] && ambiguous(expand) {
				out = append(out, missingKey{name: "grouping_id()", column: t.column(idSet{g.Attr.ID: true})})
			}
			continue
		}
		_, plain := g.Expr.(*logical.Column)
		made := t.from[g.Attr.ID]
		out = append(out, missingKey{name: g.Attr.Name, column: t.column(idSet{g.Attr.ID: true}), group: plain && !sets && !made && !t.deps.Window(g.Attr.ID), made: made})
	}
	return out
}

// ambiguous reports whether the NULL of a grouping set that leaves a column out
// may be one of the column too.
func ambiguous(x *logical.Expand) bool {
	deps := logical.NewDependencies(x.Input)
	for i := range x.Columns {
		left, null := false, false
		for _, p := range x.Projections {
			l, ok := p[i].(*logical.Literal)
			ok = ok && l.Value.IsNull(0)
			left, null = left || ok, null || !ok && !deps.Filled(p[i])
		}
		if left && null {
			return true
		}
	}
	return false
}

// oneOfItsRows are aggregates that give a value of one of a group's rows.
var oneOfItsRows = []string{"max", "min", "first", "last", "any_value"}

// taken reports whether a group follows from a key that is the value of one of
// its rows (the window of max(ts)).
func (t *keyTrace) taken(x *logical.Aggregate, group logical.ColumnID) bool {
	for _, c := range x.Aggs {
		if !t.given[c.Attr.ID] || c.Filter != nil || c.Fn.Fn == nil || len(c.Args) == 0 || !slices.Contains(oneOfItsRows, c.Fn.Fn.Name) {
			continue
		}
		if col, ok := c.Args[0].(*logical.Column); ok {
			ids := maps.Clone(t.given)
			ids[col.Attr.ID] = true
			if t.deps.Closure(ids)[group] {
				return true
			}
		}
	}
	return false
}

// distinct are the columns of DISTINCT that the keys do not give.
func (t *keyTrace) distinct(x *logical.Distinct) []missingKey {
	var out []missingKey
	for _, c := range x.Output() {
		if !t.given[c.ID] {
			out = append(out, missingKey{name: c.Name, column: t.column(idSet{c.ID: true}), made: t.from[c.ID]})
		}
	}
	return out
}

// ranks are the columns of PARTITION BY and the rank that the keys do not give.
func (t *keyTrace) ranks(x *logical.Window) []missingKey {
	if t.first == 0 {
		return nil
	}
	var out []missingKey
	for _, p := range x.PartitionBy {
		ids, text := columnsOf(p), logical.Text(p)
		switch {
		case t.texts[text]:
		case !logical.Fixed(p) && len(ids) == 0: // the clock
			out = append(out, missingKey{name: text})
		case !logical.Fixed(p):
			out = append(out, missingKey{name: partitionName(p)})
		case !within(ids, t.given):
			out = append(out, missingKey{name: partitionName(p), column: t.column(ids)})
		}
	}
	if t.first > 1 && !t.given[t.rank] {
		name := "the rank"
		for _, c := range x.Calls {
			if c.Attr.ID == t.rank {
				name = c.Attr.Name
			}
		}
		out = append(out, missingKey{name: name, column: t.column(idSet{t.rank: true})})
	}
	return out
}

// partitionName names an expression of PARTITION BY.
func partitionName(p logical.Expr) string {
	var read []string
	logical.WalkExpr(p, func(x logical.Expr) bool {
		if c, ok := x.(*logical.Column); ok && !slices.Contains(read, c.Attr.Name) {
			read = append(read, c.Attr.Name)
		}
		return true
	})
	if c, ok := p.(*logical.Column); ok {
		return c.Attr.Name
	}
	return "what PARTITION BY makes of " + strings.Join(read, " and ")
}

// column is the first column of the query that gives these to whoever knows the
// keys.
func (t *keyTrace) column(ids idSet) string {
	for _, c := range t.output {
		more := maps.Clone(t.keys)
		more[c.ID] = true
		if within(ids, t.deps.Closure(more)) {
			return c.Name
		}
	}
	return ""
}

func columnsOf(e logical.Expr) idSet {
	ids := idSet{}
	logical.Columns(e, ids)
	return ids
}

// within reports whether set has all ids.
func within(ids, set idSet) bool {
	for id := range ids {
		if !set[id] {
			return false
		}
	}
	return true
}
