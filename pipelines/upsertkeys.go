package pipelines

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
)

// tellApart refuses keys of a table kept by upsert that hold several rows of
// one epoch together: all but one of them would be lost without a word.
func (a *analyzer) tellApart(d *dataset, f *flow, keys []int) {
	missing := coarseKeys(f.plan.Node, keys)
	if len(missing) == 0 {
		return
	}
	var names, add, choose, take []string
	made := false
	for _, m := range missing {
		if m.column == "" {
			names, choose = append(names, m.name), append(choose, m.name)
		} else {
			names, add = append(names, m.column), append(add, m.column)
		}
		if m.group {
			take = append(take, m.name)
		}
		made = made || m.made
	}
	have := make([]string, len(d.keys))
	for i, w := range d.keys {
		have[i] = w.value
	}
	key := "(" + strings.Join(have, ", ") + ")"
	x := diag.AtSpan(d.file, d.keys[0].place, "MISSING_KEY", fmt.Sprintf("the query of %s gives several rows for one %s, which differ in %s: all but the last would be lost", d.shown(), key, strings.Join(names, ", ")))
	var hint []string
	if len(add) > 0 {
		hint = append(hint, "add "+strings.Join(add, ", ")+" to keys")
	}
	if len(choose) > 0 {
		hint = append(hint, "select "+strings.Join(choose, ", ")+" and add what you select to keys")
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
}

// coarseKeys returns what the rows of a query differ in while their keys are
// equal, if it is an aggregation or keeps the first rows of each partition. What
// follows from the keys (by a condition, or as the window of its start) is
// theirs; what they are merely computed from is not.
func coarseKeys(n logical.Node, keys []int) []missingKey {
	t := newKeyTrace(n, keys)
	for {
		switch x := n.(type) {
		case *logical.Project:
			t.below(x)
			n = x.Input
		case *logical.Filter:
			if _, rank, k := logical.RankLimit(x); k > 0 {
				t.rank, t.first = rank, k
			}
			n = x.Input
		case *logical.Expect:
			n = x.Input
		case *logical.Aggregate:
			return t.groups(x)
		case *logical.Window:
			return t.ranks(x)
		default:
			return nil
		}
	}
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
}

type idSet = map[logical.ColumnID]bool

func newKeyTrace(n logical.Node, keys []int) *keyTrace {
	t := &keyTrace{output: n.Output(), deps: logical.NewDependencies(n), keys: idSet{}}
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
		out = append(out, missingKey{g.Attr.Name, t.column(idSet{g.Attr.ID: true}), plain && !sets && !made && !t.deps.Window(g.Attr.ID), made})
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

// taken reports whether a group follows from a key that is the value of one of
// its rows (the window of max(ts)).
func (t *keyTrace) taken(x *logical.Aggregate, group logical.ColumnID) bool {
	for _, c := range x.Aggs {
		if !t.given[c.Attr.ID] || c.Filter != nil || c.Fn.Fn == nil || len(c.Args) == 0 || !slices.Contains([]string{"max", "min", "first", "last", "any_value"}, c.Fn.Fn.Name) {
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

// ranks are the columns of PARTITION BY and the rank that the keys do not give;
// none where a key is made from other columns, which may well tell rows apart.
func (t *keyTrace) ranks(x *logical.Window) []missingKey {
	if t.first == 0 {
		return nil
	}
	parts := idSet{t.rank: true}
	for _, p := range x.PartitionBy {
		logical.Columns(p, parts)
	}
	for id := range t.from {
		if !parts[id] {
			return nil
		}
	}
	var out []missingKey
	for _, p := range x.PartitionBy {
		if ids := columnsOf(p); !within(ids, t.given) {
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
