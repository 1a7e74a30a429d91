package operator_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

var (
	i64 = schema.Of(schema.Int64)
	i32 = schema.Of(schema.Int32)
	str = schema.Of(schema.String)
	f64 = schema.Of(schema.Float64)
)

// table is a scan of (k BIGINT, s STRING, v BIGINT) with columns 1, 2, 3.
func table(id string, first logical.ColumnID) *logical.Scan {
	return optest.Scan(id, false, optest.Columns(first, optest.Field("k", i64), optest.Field("s", str), optest.Field("v", i64)))
}

func randomRows(seed uint64, n, keys int) []optest.Row {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]optest.Row, n)
	for i := range out {
		var k, s, v any = int64(rng.IntN(keys)), fmt.Sprintf("s%d", rng.IntN(keys)), int64(rng.IntN(100))
		if rng.IntN(8) == 0 {
			k = nil
		}
		if rng.IntN(8) == 0 {
			s = nil
		}
		if rng.IntN(8) == 0 {
			v = nil
		}
		out[i] = optest.Row{k, s, v}
	}
	return out
}

func ref(s *logical.Scan, i int) logical.Expr { return s.Columns[i].Ref() }

func TestFilterProject(t *testing.T) {
	s := table("t", 1)
	f := &logical.Filter{Input: s, Cond: optest.Call(">", ref(s, 2), optest.Int(50))}
	p := &logical.Project{Input: f, Exprs: []logical.Alias{
		optest.Named(10, "w", optest.Call("+", ref(s, 2), optest.Int(1))), optest.Named(11, "s", ref(s, 1)),
	}}
	in := randomRows(1, 100, 5)
	var want []optest.Row
	for _, r := range in {
		if v, ok := r[2].(int64); ok && v > 50 {
			want = append(want, optest.Row{v + 1, r[1]})
		}
	}
	optest.Matrix(t, p, optest.Input{"t": in}, want, true)
}

func aggregateModel(in []optest.Row, key func(optest.Row) []any, v int) []optest.Row {
	type acc struct {
		key      []any
		n, sum   int64
		any      bool
		distinct map[any]bool
	}
	var order []string
	m := map[string]*acc{}
	for _, r := range in {
		k := fmt.Sprintf("%#v", key(r))
		a := m[k]
		if a == nil {
			a = &acc{key: key(r), distinct: map[any]bool{}}
			m[k] = a
			order = append(order, k)
		}
		a.n++
		if x, ok := r[v].(int64); ok {
			a.sum, a.any = a.sum+x, true
			a.distinct[x] = true
		}
	}
	var out []optest.Row
	for _, k := range order {
		a := m[k]
		var sum any
		if a.any {
			sum = a.sum
		}
		out = append(out, append(append(optest.Row{}, a.key...), a.n, sum, int64(len(a.distinct))))
	}
	return out
}

func TestAggregate(t *testing.T) {
	for _, keys := range [][]int{{0}, {1}, {0, 1}, {0, 2}, {}} {
		s := table("t", 1)
		a := &logical.Aggregate{Input: s}
		for i, k := range keys {
			a.Groups = append(a.Groups, optest.Named(logical.ColumnID(10+i), "g", ref(s, k)))
		}
		d := optest.Count(22, ref(s, 2))
		d.Distinct = true
		a.Aggs = []logical.AggCall{optest.Count(20), optest.Sum(21, ref(s, 2)), d}
		in := randomRows(uint64(len(keys)), 300, 10)
		want := aggregateModel(in, func(r optest.Row) []any {
			var out []any
			for _, k := range keys {
				out = append(out, r[k])
			}
			return out
		}, 2)
		optest.Matrix(t, a, optest.Input{"t": in}, want, true)
	}
}

func TestGlobalAggregateOfNothing(t *testing.T) {
	s := table("t", 1)
	a := &logical.Aggregate{Input: s, Aggs: []logical.AggCall{optest.Count(20), optest.Sum(21, ref(s, 2))}}
	optest.Matrix(t, a, optest.Input{}, []optest.Row{{int64(0), nil}}, true)
}

func compareValues(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	switch x := a.(type) {
	case int64:
		return int(x - b.(int64))
	case string:
		if x < b.(string) {
			return -1
		} else if x > b.(string) {
			return 1
		}
	}
	return 0
}

func TestSort(t *testing.T) {
	for _, limit := range []int64{-1, 0, 5, 40} {
		s := table("t", 1)
		n := &logical.Sort{Input: s, Limit: limit, Keys: []logical.SortKey{{Expr: ref(s, 1)}, {Expr: ref(s, 0), Descending: true, NullsLast: true}}}
		in := randomRows(5, 200, 6)
		want := slices.Clone(in)
		slices.SortStableFunc(want, func(a, b optest.Row) int {
			if d := compareValues(a[1], b[1]); d != 0 {
				return d
			}
			return -compareValues(a[0], b[0])
		})
		if limit >= 0 {
			want = want[:limit]
		}
		for _, o := range optest.Variations() {
			if o.Lanes > 1 {
				continue
			}
			got, err := optest.Query(t, n, o, optest.Input{"t": in})
			if err != nil {
				t.Fatal(err)
			}
			if d := optest.Diff(got, want, true); d != "" {
				t.Fatalf("limit %d %+v: %s", limit, o, d)
			}
		}
	}
}

func joinModel(l, r []optest.Row, jt logical.JoinType, cond bool) []optest.Row {
	var out []optest.Row
	nulls := optest.Row{nil, nil, nil}
	hitR := make([]bool, len(r))
	for _, a := range l {
		hits := 0
		for i, b := range r {
			if jt != logical.CrossJoin && (a[0] == nil || a[0] != b[0]) {
				continue
			}
			if cond && (a[2] == nil || b[2] == nil || a[2].(int64) >= b[2].(int64)) {
				continue
			}
			hits++
			hitR[i] = true
			switch jt {
			case logical.InnerJoin, logical.LeftJoin, logical.RightJoin, logical.FullJoin, logical.CrossJoin:
				out = append(out, slices.Concat(a, b))
			}
		}
		switch {
		case hits == 0 && (jt == logical.LeftJoin || jt == logical.FullJoin):
			out = append(out, slices.Concat(a, nulls))
		case hits > 0 && jt == logical.SemiJoin, hits == 0 && jt == logical.AntiJoin:
			out = append(out, a)
		case jt == logical.MarkJoin:
			out = append(out, slices.Concat(a, optest.Row{hits > 0}))
		}
	}
	for i, b := range r {
		if !hitR[i] && (jt == logical.RightJoin || jt == logical.FullJoin) {
			out = append(out, slices.Concat(nulls, b))
		}
	}
	return out
}

func TestJoin(t *testing.T) {
	types := []logical.JoinType{logical.InnerJoin, logical.LeftJoin, logical.RightJoin, logical.FullJoin, logical.SemiJoin, logical.AntiJoin, logical.CrossJoin, logical.MarkJoin}
	for _, jt := range types {
		for _, cond := range []bool{false, true} {
			l, r := table("l", 1), table("r", 4)
			j := &logical.Join{Left: l, Right: r, Type: jt, Mark: optest.Columns(9, optest.Field("m", schema.Of(schema.Boolean)))[0]}
			if jt != logical.CrossJoin {
				j.LeftKeys, j.RightKeys, j.NullSafe = []logical.Expr{ref(l, 0)}, []logical.Expr{ref(r, 0)}, []bool{false}
			}
			if cond {
				j.Cond = optest.Call("<", ref(l, 2), ref(r, 2))
			}
			lr, rr := randomRows(11, 60, 8), randomRows(12, 40, 12)
			optest.Matrix(t, j, optest.Input{"l": lr, "r": rr}, joinModel(lr, rr, jt, cond), false)
		}
	}
}

func TestNotIn(t *testing.T) {
	l, r := table("l", 1), table("r", 4)
	j := &logical.Join{Left: l, Right: r, Type: logical.AntiJoin, NullAware: true, LeftKeys: []logical.Expr{ref(l, 0)}, RightKeys: []logical.Expr{ref(r, 0)}, NullSafe: []bool{false}}
	lr := []optest.Row{{int64(1), "a", nil}, {int64(2), "b", nil}, {nil, "c", nil}}
	optest.Matrix(t, j, optest.Input{"l": lr}, lr, true)
	optest.Matrix(t, j, optest.Input{"l": lr, "r": {{int64(1), nil, nil}}}, lr[1:2], true)
	optest.Matrix(t, j, optest.Input{"l": lr, "r": {{int64(1), nil, nil}, {nil, nil, nil}}}, nil, true)
}

func TestSetOperations(t *testing.T) {
	row := func(x int64) optest.Row { return optest.Row{x, "x", nil} }
	l := []optest.Row{row(1), row(1), row(1), row(2), row(3)}
	r := []optest.Row{row(1), row(1), row(3), row(4)}
	f := func(op logical.SetOpType, all bool, want ...optest.Row) {
		t.Helper()
		a, b := table("l", 1), table("r", 4)
		n := &logical.SetOp{Left: a, Right: b, Op: op, All: all, Columns: a.Columns}
		optest.Matrix(t, n, optest.Input{"l": l, "r": r}, want, false)
	}
	f(logical.Intersect, false, row(1), row(3))
	f(logical.Intersect, true, row(1), row(1), row(3))
	f(logical.Except, false, row(2))
	f(logical.Except, true, row(1), row(2))
}

func TestUnionDistinctLimit(t *testing.T) {
	a, b := table("l", 1), table("r", 4)
	u := &logical.Union{Children: []logical.Node{a, b}, Columns: a.Columns}
	in := optest.Input{"l": {{int64(1), "a", nil}, {int64(1), "a", nil}}, "r": {{int64(2), "b", nil}, {int64(1), "a", nil}}}
	want := []optest.Row{{int64(1), "a", nil}, {int64(2), "b", nil}}
	optest.Matrix(t, &logical.Distinct{Input: u}, in, want, true)
	for _, o := range optest.Variations() {
		got, err := optest.Query(t, &logical.Limit{Input: u, Count: 2, Offset: 1}, o, in)
		if err != nil || len(got) != 2 {
			t.Fatalf("%v %v", got, err)
		}
	}
}

func TestRowErrors(t *testing.T) {
	s := table("t", 1)
	div := optest.Call("div", ref(s, 2), ref(s, 0))
	p := &logical.Project{Input: s, Exprs: []logical.Alias{optest.Named(10, "q", div), optest.Named(11, "v", ref(s, 2))}}
	in := optest.Input{"t": {{int64(1), "a", int64(7)}, {int64(0), "b", int64(8)}, {int64(2), "c", int64(9)}}}
	if _, err := optest.Query(t, p, optest.Options{}, in); err == nil {
		t.Fatal("division by zero must fail the plan")
	} else if _, ok := err.(*operator.RowError); !ok {
		t.Fatalf("got %T", err)
	}
	pruned := &logical.Project{Input: p, Exprs: []logical.Alias{optest.Named(12, "v", p.Exprs[1].Attr.Ref())}}
	optest.Matrix(t, pruned, in, []optest.Row{{int64(7)}, {int64(8)}, {int64(9)}}, true)
	guarded := &logical.Filter{Input: p, Cond: optest.Call("<>", p.Exprs[1].Attr.Ref(), optest.Int(8))}
	optest.Matrix(t, guarded, in, []optest.Row{{int64(7), int64(7)}, {int64(4), int64(9)}}, true)
	dropped := &logical.Expect{Input: p, DropErrors: true}
	optest.Matrix(t, dropped, in, []optest.Row{{int64(7), int64(7)}, {int64(4), int64(9)}}, true)
}

func TestMemoryBound(t *testing.T) {
	s := table("t", 1)
	in := optest.Input{"t": randomRows(9, 5000, 5000)}
	for name, n := range map[string]logical.Node{
		"sort":      &logical.Sort{Input: s, Keys: []logical.SortKey{{Expr: ref(s, 0)}}, Limit: -1},
		"aggregate": &logical.Aggregate{Input: s, Groups: []logical.Alias{{Expr: ref(s, 1), Attr: s.Columns[1]}, {Expr: ref(s, 2), Attr: s.Columns[2]}}},
		"distinct":  &logical.Distinct{Input: s},
	} {
		_, err := optest.Query(t, n, optest.Options{Memory: 10000, BatchSize: 50}, in)
		if err == nil || !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
