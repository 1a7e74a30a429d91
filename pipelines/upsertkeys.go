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
	var names, add, choose []string
	for _, m := range missing {
		if m.column == "" {
			names, choose = append(names, m.name), append(choose, m.name)
		} else {
			names, add = append(names, m.column), append(add, m.column)
		}
	}
	have := make([]string, len(d.keys))
	for i, w := range d.keys {
		have[i] = w.value
	}
	x := diag.AtSpan(d.file, d.keys[0].place, "MISSING_KEY", fmt.Sprintf("the query of %s gives several rows for one (%s), which differ in %s: all but the last would be lost", d.shown(), strings.Join(have, ", "), strings.Join(names, ", ")))
	var hint []string
	if len(add) > 0 {
		hint = append(hint, "add "+strings.Join(add, ", ")+" to keys")
	}
	if len(choose) > 0 {
		hint = append(hint, "select "+strings.Join(choose, ", ")+" and add what you select to keys")
	}
	a.list = append(a.list, x.WithHint(strings.Join(hint, "; ")))
	d.done.broken = true
}

// missingKey tells rows of one key apart: a group, a column of PARTITION BY or
// a rank. The column of the query is one that is made from it, or "".
type missingKey struct {
	name, column string
}

// coarseKeys returns what the rows of a query differ in while their keys are
// equal, if it is an aggregation or keeps the first rows of each partition. A
// key that is computed from a group (the start of a window) is taken for it.
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
			fixedBy(x.Cond, t.fixed)
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

// keyTrace follows the columns of a query down to where its rows are made.
type keyTrace struct {
	names []string
	from  []map[logical.ColumnID]bool // by column of the query: what it is made from
	keys  map[logical.ColumnID]bool   // what the keys are made from
	fixed map[logical.ColumnID]bool   // columns of one value
	rank  logical.ColumnID
	first int64 // rows of each partition, 0: no rank is bounded
}

func newKeyTrace(n logical.Node, keys []int) *keyTrace {
	t := &keyTrace{keys: map[logical.ColumnID]bool{}, fixed: map[logical.ColumnID]bool{}}
	for i, c := range n.Output() {
		t.names = append(t.names, c.Name)
		t.from = append(t.from, map[logical.ColumnID]bool{c.ID: true})
		if slices.Contains(keys, i) {
			t.keys[c.ID] = true
		}
	}
	return t
}

func (t *keyTrace) below(p *logical.Project) {
	made := map[logical.ColumnID]map[logical.ColumnID]bool{}
	for _, e := range p.Exprs {
		made[e.Attr.ID] = map[logical.ColumnID]bool{}
		logical.Columns(e.Expr, made[e.Attr.ID])
	}
	step := func(ids map[logical.ColumnID]bool) map[logical.ColumnID]bool {
		out := map[logical.ColumnID]bool{}
		for id := range ids {
			for c := range made[id] {
				out[c] = true
			}
		}
		return out
	}
	t.keys, t.fixed = step(t.keys), step(t.fixed)
	for i, ids := range t.from {
		t.from[i] = step(ids)
	}
}

// groups are the groups of an aggregation that no key is made from.
func (t *keyTrace) groups(x *logical.Aggregate) []missingKey {
	in := map[logical.ColumnID]bool{} // columns below that the keys are made from
	for _, g := range x.Groups {
		if c, ok := g.Expr.(*logical.Column); ok && t.keys[g.Attr.ID] {
			in[c.Attr.ID] = true
		}
	}
	for _, c := range x.Aggs {
		for _, arg := range c.Args {
			if t.keys[c.Attr.ID] {
				logical.Columns(arg, in)
			}
		}
	}
	for n := x.Input; ; n = n.Inputs()[0] {
		if f, ok := n.(*logical.Filter); ok {
			fixedBy(f.Cond, in)
		}
		if len(n.Inputs()) != 1 {
			break
		}
	}
	_, sets := x.Input.(*logical.Expand) // their id differs where the groups do
	var out []missingKey
	for i, g := range x.Groups {
		if !t.keys[g.Attr.ID] && !t.fixed[g.Attr.ID] && !within(g.Expr, in) && !(sets && i == len(x.Groups)-1) {
			out = append(out, missingKey{g.Attr.Name, t.column(map[logical.ColumnID]bool{g.Attr.ID: true})})
		}
	}
	return out
}

// ranks are the columns of PARTITION BY and the rank that no key is made from;
// none where a key is of other columns, which may well tell rows apart.
func (t *keyTrace) ranks(x *logical.Window) []missingKey {
	if t.first == 0 {
		return nil
	}
	parts := map[logical.ColumnID]bool{t.rank: true}
	for _, p := range x.PartitionBy {
		logical.Columns(p, parts)
	}
	in := maps.Clone(t.fixed)
	for id := range t.keys {
		if !parts[id] {
			return nil
		}
		in[id] = true
	}
	var out []missingKey
	for _, p := range x.PartitionBy {
		if !within(p, in) {
			ids := map[logical.ColumnID]bool{}
			logical.Columns(p, ids)
			out = append(out, missingKey{partitionName(p), t.column(ids)})
		}
	}
	if t.first > 1 && !t.keys[t.rank] {
		name := "the rank"
		for _, c := range x.Calls {
			if c.Attr.ID == t.rank {
				name = c.Attr.Name
			}
		}
		out = append(out, missingKey{name, t.column(map[logical.ColumnID]bool{t.rank: true})})
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

// column is the first column of the query that is made from these alone.
func (t *keyTrace) column(ids map[logical.ColumnID]bool) string {
	for i, from := range t.from {
		same := len(from) > 0
		for id := range from {
			same = same && ids[id]
		}
		if same {
			return t.names[i]
		}
	}
	return ""
}

// within reports whether e reads no other columns than those of ids.
func within(e logical.Expr, ids map[logical.ColumnID]bool) bool {
	read := map[logical.ColumnID]bool{}
	logical.Columns(e, read)
	for id := range read {
		if !ids[id] {
			return false
		}
	}
	return true
}

// fixedBy adds the columns that a condition holds to one value.
func fixedBy(cond logical.Expr, ids map[logical.ColumnID]bool) {
	for _, c := range logical.Conjuncts(cond) {
		call, ok := c.(*logical.Call)
		if !ok || len(call.Args) != 2 || call.Fn.Fn == nil || call.Fn.Fn.Name != "=" && call.Fn.Fn.Name != "==" {
			continue
		}
		a, b := call.Args[0], call.Args[1]
		if _, ok := a.(*logical.Literal); ok {
			a, b = b, a
		}
		col, ok := a.(*logical.Column)
		if _, lit := b.(*logical.Literal); ok && lit {
			ids[col.Attr.ID] = true
		}
	}
}
