package operator_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// retractable is the sum with retraction.
func retractable(a logical.AggCall) logical.AggCall {
	fn := *a.Fn
	fn.Retract = func(_ *funcs.Ctx, st *funcs.States, groups, rows []int32, args []*column.Vector) {
		v := args[0]
		for k, g := range groups {
			if r := int(rows[k]); !v.IsNull(r) {
				st.Fixed[0].I64[g] -= v.I64[v.Row(r)]
				st.Fixed[1].I64[g]--
			}
		}
	}
	a.Fn = &fn
	return a
}

// largeRows are a few small partitions about a large one.
func largeRows(seed uint64, n int) []optest.Row {
	rng := rand.New(rand.NewPCG(seed, 2))
	var out []optest.Row
	for range n {
		r := optest.Row{int64(5), fmt.Sprint("s", rng.IntN(n)), int64(rng.IntN(n))}
		switch rng.IntN(12) {
		case 0:
			r[2] = nil
		case 1:
			r[1] = nil
		case 2:
			r[0] = int64(rng.IntN(11))
		}
		out = append(out, r)
	}
	return out
}

// largeWindow runs a window over a partition that memory does not hold.
func largeWindow(t *testing.T, w *logical.Window, in []optest.Row) {
	t.Helper()
	want, err := optest.Query(t, w, optest.Options{BatchSize: 500}, optest.Input{"t": in})
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{60 << 10, 120 << 10} {
		got, err := optest.Query(t, w, optest.Options{BatchSize: 100, Memory: memory, Spill: true}, optest.Input{"t": in})
		if err != nil {
			t.Fatal(err)
		}
		g, x := optest.Text(got, true), optest.Text(want, true)
		for i := range x {
			if i >= len(g) || g[i] != x[i] {
				t.Fatalf("%d bytes, row %d of %d (%d): %s, want %s", memory, i, len(x), len(g), g[min(i, len(g)-1)], x[i])
			}
		}
	}
}

func largeFrames() []logical.Frame {
	starts := func(n int64) []logical.FrameBound {
		return []logical.FrameBound{at(logical.UnboundedPreceding), by(logical.Preceding, n), at(logical.CurrentRow), by(logical.Following, n/2)}
	}
	ends := func(n int64) []logical.FrameBound {
		return []logical.FrameBound{by(logical.Preceding, n/2), at(logical.CurrentRow), by(logical.Following, n), at(logical.UnboundedFollowing)}
	}
	var out []logical.Frame
	for _, unit := range []logical.FrameUnit{logical.Rows, logical.Range} {
		for i, s := range starts(90) {
			for k, e := range ends(90) {
				if i >= 2 && k == 0 || i == 3 && k == 1 {
					continue // never has a row
				}
				out = append(out, frame(unit, s, e))
			}
		}
	}
	return out
}

func value(kind funcs.WindowKind, offset int, nulls bool, f logical.Frame, args ...logical.Expr) logical.WindowCall {
	return logical.WindowCall{Fn: &funcs.BoundWindow{Kind: kind, Offset: offset}, IgnoreNulls: nulls, Frame: f, Args: args}
}

func withAttrs(calls ...logical.WindowCall) []logical.WindowCall {
	for i := range calls {
		typ := i32
		switch {
		case calls[i].Agg != nil:
			typ = calls[i].Agg.Result
		case len(calls[i].Args) > 0:
			typ = calls[i].Args[0].Type()
		case calls[i].Fn.Kind == funcs.PercentRank, calls[i].Fn.Kind == funcs.CumeDist:
			typ = f64
		}
		calls[i].Attr = optest.Columns(logical.ColumnID(30+i), optest.Field(fmt.Sprint("c", i), typ))[0]
	}
	return calls
}

// TestLargePartitions compares windows whose partition does not fit with the same
// in memory, for all frames.
func TestLargePartitions(t *testing.T) {
	s := table("t", 1)
	in := largeRows(1, 3000)
	for i, f := range largeFrames() {
		fold := func(a logical.AggCall) logical.WindowCall {
			return logical.WindowCall{Agg: a.Fn, Args: a.Args, Frame: f, Filter: optest.Call("<", optest.Int(100), ref(s, 2))}
		}
		calls := []logical.WindowCall{fold(retractable(optest.Sum(0, ref(s, 2))))}
		for _, nulls := range []bool{false, true} {
			for _, k := range []funcs.WindowKind{funcs.FirstValue, funcs.LastValue, funcs.NthValue} {
				calls = append(calls, value(k, 7, nulls, f, ref(s, 1)))
			}
		}
		if f.End.Kind != logical.UnboundedFollowing || f.Start.Kind == logical.UnboundedPreceding {
			calls = append(calls, fold(optest.Sum(0, ref(s, 2))), fold(optest.Count(0)))
		}
		w := &logical.Window{Input: s, OrderBy: []logical.SortKey{{Expr: ref(s, 2)}}, Calls: withAttrs(calls...)}
		if i%2 == 0 {
			w.PartitionBy = []logical.Expr{ref(s, 0)}
		}
		t.Run(fmt.Sprint(f), func(t *testing.T) { largeWindow(t, w, in) })
	}
}

// TestLargePartitionRanks is the same for ranks and for rows some way off.
func TestLargePartitionRanks(t *testing.T) {
	s := table("t", 1)
	var none logical.Frame
	var calls []logical.WindowCall
	for _, k := range []funcs.WindowKind{funcs.RowNumber, funcs.Rank, funcs.DenseRank, funcs.PercentRank, funcs.CumeDist, funcs.NTile} {
		calls = append(calls, value(k, 11, false, none))
	}
	for _, by := range []int{0, 1, 40, -3} {
		for _, nulls := range []bool{false, true} {
			calls = append(calls, value(funcs.Lag, by, nulls, none, ref(s, 1)), value(funcs.Lead, by, nulls, none, ref(s, 1), optest.Int(1), ref(s, 1)))
		}
	}
	for _, some := range [][]logical.WindowCall{calls, calls[:3], calls[6:], calls[4:5], calls[5:8], calls[5:]} {
		for _, order := range []int{2, 0} {
			if order == 0 && some[4%len(some)].Fn.Kind == funcs.CumeDist {
				continue // all rows are peers
			}
			w := &logical.Window{Input: s, PartitionBy: []logical.Expr{ref(s, 0)}, OrderBy: []logical.SortKey{{Expr: ref(s, order), Descending: true}}, Calls: withAttrs(some...)}
			largeWindow(t, w, largeRows(2, 3000))
		}
	}
	all := frame(logical.Range, at(logical.UnboundedPreceding), at(logical.CurrentRow))
	w := &logical.Window{Input: s, PartitionBy: []logical.Expr{ref(s, 0)}, Calls: withAttrs(
		logical.WindowCall{Agg: optest.Sum(0, ref(s, 2)).Fn, Args: []logical.Expr{ref(s, 2)}, Frame: all}, value(funcs.LastValue, 0, true, all, ref(s, 1)))}
	largeWindow(t, w, largeRows(3, 3000))
}

// TestLargePartitionFails: where each frame has nearly all rows that is said.
func TestLargePartitionFails(t *testing.T) {
	s := table("t", 1)
	sum := optest.Sum(0, ref(s, 2))
	w := &logical.Window{Input: s, OrderBy: []logical.SortKey{{Expr: ref(s, 2)}}, Calls: withAttrs(
		logical.WindowCall{Agg: sum.Fn, Args: sum.Args, Frame: frame(logical.Rows, at(logical.CurrentRow), at(logical.UnboundedFollowing))})}
	_, err := optest.Query(t, w, optest.Options{BatchSize: 100, Memory: 60 << 10, Spill: true}, optest.Input{"t": largeRows(1, 3000)})
	if err == nil || !strings.HasPrefix(err.Error(), "window:") {
		t.Fatalf("got %v", err)
	}
}
