package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// spilled runs a plan in memory and with budgets that force spilling: the rows
// must be the same. At the least budget it must not work without spilling.
func spilled(t *testing.T, root logical.Node, in optest.Input, ordered bool) {
	t.Helper()
	want, err := optest.Query(t, root, optest.Options{BatchSize: 100}, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{1, 15 << 10, 60 << 10} {
		for i, o := range []optest.Options{{BatchSize: 100}, {BatchSize: 33, Noise: true, Dictionary: true, Lanes: 3, Concurrent: true, Seed: 1}} {
			if i == 1 && memory == 1 {
				continue
			}
			o.Memory, o.Spill = memory, true
			got, err := optest.Query(t, root, o, in)
			if err != nil {
				t.Fatalf("%d bytes: %v", memory, err)
			}
			if d := optest.Diff(got, want, ordered && o.Lanes == 0); d != "" {
				t.Fatalf("%d bytes, %d rows for %d: %.2000s", memory, len(got), len(want), d)
			}
		}
	}
	if _, err := optest.Query(t, root, optest.Options{BatchSize: 100, Memory: 1}, in); err == nil || !strings.Contains(err.Error(), "raise memory") {
		t.Fatalf("without spilling: %v", err)
	}
}

func TestSortSpills(t *testing.T) {
	s := table("t", 1)
	for _, limit := range []int64{-1, 700, 1999} {
		n := &logical.Sort{Input: s, Limit: limit, Keys: []logical.SortKey{{Expr: ref(s, 1)}, {Expr: ref(s, 0), Descending: true, NullsLast: true}, {Expr: ref(s, 2)}}}
		spilled(t, n, optest.Input{"t": randomRows(21, 2000, 40)}, true)
	}
}

func TestAggregateSpills(t *testing.T) {
	s := table("t", 1)
	distinct := optest.Count(22, ref(s, 2))
	distinct.Distinct = true
	calls := map[string][]logical.AggCall{
		"fixed":    {optest.Count(20), optest.Sum(21, ref(s, 2))},
		"distinct": {optest.Count(20), distinct},
		"none":     nil,
	}
	for name, aggs := range calls {
		for _, keys := range [][]int{{0}, {1}, {0, 1}, {2, 0}} {
			a := &logical.Aggregate{Input: s, Aggs: aggs}
			for i, k := range keys {
				a.Groups = append(a.Groups, optest.Named(logical.ColumnID(10+i), "g", ref(s, k)))
			}
			t.Run(fmt.Sprint(name, keys), func(t *testing.T) {
				spilled(t, a, optest.Input{"t": randomRows(uint64(len(keys)), 2500, 1200)}, false)
			})
		}
	}
}

// The sets of one group, or of few, are spilled alone.
func TestAggregateSpillsSets(t *testing.T) {
	s := table("t", 1)
	distinct := optest.Count(22, ref(s, 2), ref(s, 1), ref(s, 0))
	distinct.Distinct = true
	for _, groups := range [][]logical.Alias{nil, {optest.Named(10, "g", optest.Call("div", ref(s, 2), optest.Int(60)))}} {
		a := &logical.Aggregate{Input: s, Groups: groups, Aggs: []logical.AggCall{optest.Count(20), distinct}}
		spilled(t, a, optest.Input{"t": randomRows(8, 3000, 2000)}, false)
	}
}

// The lists of few groups grow until the groups themselves are spilled.
func TestAggregateSpillsStates(t *testing.T) {
	s := table("t", 1)
	rows := randomRows(3, 6000, 50)
	a := &logical.Aggregate{Input: s, Groups: []logical.Alias{optest.Named(10, "g", ref(s, 0))}, Aggs: []logical.AggCall{optest.Collect(20, ref(s, 2)), optest.Count(21)}}
	want, err := optest.Query(t, a, optest.Options{BatchSize: 100}, optest.Input{"t": rows})
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{30 << 10, 45 << 10, 60 << 10} {
		got, err := optest.Query(t, a, optest.Options{BatchSize: 100, Memory: memory, Spill: true}, optest.Input{"t": rows})
		if err != nil {
			t.Fatal(err)
		}
		if d := optest.Diff(got, want, false); d != "" {
			t.Fatalf("%d bytes: %.2000s", memory, d)
		}
	}
}

func TestJoinSpills(t *testing.T) {
	types := []logical.JoinType{logical.InnerJoin, logical.LeftJoin, logical.RightJoin, logical.FullJoin, logical.SemiJoin, logical.AntiJoin, logical.CrossJoin, logical.MarkJoin}
	for _, jt := range types {
		for _, keys := range []int{1, 8, 600} {
			for _, cond := range []bool{false, true} {
				l, r := table("l", 1), table("r", 4)
				j := &logical.Join{Left: l, Right: r, Type: jt, Mark: optest.Columns(9, optest.Field("m", schema.Of(schema.Boolean)))[0]}
				nl, nr := 400, 700
				if jt != logical.CrossJoin {
					j.LeftKeys, j.RightKeys, j.NullSafe = []logical.Expr{ref(l, 0)}, []logical.Expr{ref(r, 0)}, []bool{false}
				} else if keys > 1 {
					continue
				}
				if keys < 100 {
					nl, nr = 20, 300
				}
				if cond {
					j.Cond = optest.Call("<", ref(l, 2), ref(r, 2))
				}
				t.Run(fmt.Sprint(jt, keys, cond), func(t *testing.T) {
					in := optest.Input{"l": randomRows(11, nl, keys), "r": randomRows(12, nr, keys)}
					spilled(t, j, in, false)
					small := optest.Options{BatchSize: 50, Memory: 1, Spill: true}
					if keys < 100 {
						got, err := optest.Query(t, j, small, in)
						if err != nil {
							t.Fatal(err)
						}
						if d := optest.Diff(got, joinModel(in["l"], in["r"], jt, cond), false); d != "" {
							t.Fatalf("%.2000s", d)
						}
					}
				})
			}
		}
	}
}

func TestNotInSpills(t *testing.T) {
	for _, cond := range []bool{false, true} {
		for _, null := range []bool{false, true} {
			l, r := table("l", 1), table("r", 4)
			j := &logical.Join{Left: l, Right: r, Type: logical.AntiJoin, NullAware: true, LeftKeys: []logical.Expr{ref(l, 0)}, RightKeys: []logical.Expr{ref(r, 0)}, NullSafe: []bool{false}}
			if cond {
				j.Cond = optest.Call("<", ref(l, 2), ref(r, 2))
			}
			right := randomRows(6, 900, 700)
			if !null {
				right = slices.DeleteFunc(right, func(r optest.Row) bool { return r[0] == nil })
			}
			spilled(t, j, optest.Input{"l": randomRows(5, 300, 900), "r": right}, false)
		}
	}
}

func TestSetOperationsSpill(t *testing.T) {
	project := func(s *logical.Scan, first logical.ColumnID) logical.Node {
		return &logical.Project{Input: s, Exprs: []logical.Alias{optest.Named(first, "k", ref(s, 0)), optest.Named(first+1, "s", ref(s, 1))}}
	}
	in := optest.Input{"l": randomRows(1, 1500, 40), "r": randomRows(2, 1500, 45)}
	for _, op := range []logical.SetOpType{logical.Intersect, logical.Except} {
		for _, all := range []bool{false, true} {
			l, r := project(table("l", 1), 20), project(table("r", 4), 30)
			spilled(t, &logical.SetOp{Left: l, Right: r, Op: op, All: all, Columns: l.Output()}, in, false)
		}
	}
	spilled(t, &logical.Distinct{Input: project(table("l", 1), 20)}, in, false)
}

func TestWindowSpills(t *testing.T) {
	s := table("t", 1)
	sum := optest.Sum(0, ref(s, 2))
	w := &logical.Window{
		Input: s, PartitionBy: []logical.Expr{ref(s, 0)}, OrderBy: []logical.SortKey{{Expr: ref(s, 2)}, {Expr: ref(s, 1)}},
		Calls: []logical.WindowCall{
			{Fn: &funcs.BoundWindow{Kind: funcs.Rank}, Attr: optest.Columns(30, optest.Field("r", i32))[0]},
			{Agg: sum.Fn, Args: sum.Args, Frame: frame(logical.Range, at(logical.UnboundedPreceding), at(logical.CurrentRow)), Attr: optest.Columns(31, optest.Field("s", i64))[0]},
			{Fn: &funcs.BoundWindow{Kind: funcs.DenseRank}, Attr: optest.Columns(32, optest.Field("d", i32))[0]},
		},
	}
	in := optest.Input{"t": randomRows(7, 5000, 400)}
	want, err := optest.Query(t, w, optest.Options{BatchSize: 100}, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{200 << 10, 400 << 10} {
		got, err := optest.Query(t, w, optest.Options{BatchSize: 100, Memory: memory, Spill: true}, in)
		if err != nil {
			t.Fatal(err)
		}
		if d := optest.Diff(got, want, true); d != "" {
			t.Fatalf("%.2000s", d)
		}
	}
}

// Ranks need no partition in memory.
func TestRanksSpill(t *testing.T) {
	s := table("t", 1)
	for _, parts := range [][]logical.Expr{nil, {ref(s, 0)}} {
		w := &logical.Window{
			Input: s, PartitionBy: parts, OrderBy: []logical.SortKey{{Expr: ref(s, 2)}, {Expr: ref(s, 1), Descending: true}},
			Calls: []logical.WindowCall{
				{Fn: &funcs.BoundWindow{Kind: funcs.Rank}, Attr: optest.Columns(30, optest.Field("r", i32))[0]},
				{Fn: &funcs.BoundWindow{Kind: funcs.DenseRank}, Attr: optest.Columns(31, optest.Field("d", i32))[0]},
			},
		}
		spilled(t, w, optest.Input{"t": randomRows(7, 3000, 30)}, false)
		w.Calls = append(w.Calls, logical.WindowCall{Fn: &funcs.BoundWindow{Kind: funcs.RowNumber}, Attr: optest.Columns(32, optest.Field("n", i32))[0]})
		in := optest.Input{"t": randomRows(9, 3000, 30)}
		want, err := optest.Query(t, w, optest.Options{}, in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := optest.Query(t, w, optest.Options{Memory: 20 << 10, Spill: true, BatchSize: 100}, in)
		if err != nil {
			t.Fatal(err)
		}
		if d := optest.Diff(got, want, true); d != "" {
			t.Fatalf("%.2000s", d)
		}
	}
}

// Rows whose unused values failed stay failed, and harmless, through a spill.
func TestSpillKeepsErrors(t *testing.T) {
	s := table("t", 1)
	div := optest.Call("div", ref(s, 2), ref(s, 0))
	p := &logical.Project{Input: s, Exprs: []logical.Alias{optest.Named(10, "q", div), optest.Named(11, "v", ref(s, 2)), optest.Named(12, "k", ref(s, 0))}}
	n := &logical.Sort{Input: p, Limit: -1, Keys: []logical.SortKey{{Expr: p.Exprs[1].Attr.Ref()}, {Expr: p.Exprs[2].Attr.Ref()}}}
	guarded := &logical.Filter{Input: n, Cond: optest.Call("<>", p.Exprs[2].Attr.Ref(), optest.Int(0))}
	in := optest.Input{"t": randomRows(4, 1000, 3)}
	spilled(t, guarded, in, true)
	if _, err := optest.Query(t, n, optest.Options{Memory: 1, Spill: true}, in); err == nil || !strings.Contains(err.Error(), "zero") {
		t.Fatalf("got %v", err)
	}
}

func TestSpillProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, keys := rapid.IntRange(0, 1500).Draw(rt, "rows"), rapid.IntRange(1, 1500).Draw(rt, "keys")
		in := optest.Input{"l": randomRows(rapid.Uint64().Draw(rt, "left"), n, keys), "r": randomRows(rapid.Uint64().Draw(rt, "right"), 1500-n, keys)}
		l, r := table("l", 1), table("r", 4)
		jt := rapid.SampledFrom([]logical.JoinType{logical.InnerJoin, logical.FullJoin, logical.AntiJoin}).Draw(rt, "type")
		if n*(1500-n)/keys > 30_000 {
			jt = logical.AntiJoin
		}
		j := &logical.Join{Left: l, Right: r, Type: jt, LeftKeys: []logical.Expr{ref(l, 0)}, RightKeys: []logical.Expr{ref(r, 0)}, NullSafe: []bool{rapid.Bool().Draw(rt, "null safe")}}
		a := &logical.Aggregate{Input: j, Groups: []logical.Alias{optest.Named(40, "g", ref(l, 1)), optest.Named(41, "h", ref(l, 2))}, Aggs: []logical.AggCall{optest.Count(42)}}
		root := &logical.Sort{Input: a, Limit: -1, Keys: []logical.SortKey{{Expr: a.Groups[0].Attr.Ref()}, {Expr: a.Groups[1].Attr.Ref()}}}
		want, err := optest.Query(t, root, optest.Options{}, in)
		if err != nil {
			rt.Fatal(err)
		}
		o := optest.Options{Memory: rapid.Int64Range(1, 100<<10).Draw(rt, "memory"), Spill: true, BatchSize: rapid.IntRange(20, 300).Draw(rt, "batch")}
		got, err := optest.Query(t, root, o, in)
		if err != nil {
			rt.Fatal(err)
		}
		if d := optest.Diff(got, want, true); d != "" {
			rt.Fatalf("%.2000s", d)
		}
	})
}
