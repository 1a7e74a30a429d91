package operator_test

import (
	"slices"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

func frame(unit logical.FrameUnit, start, end logical.FrameBound) logical.Frame {
	return logical.Frame{Unit: unit, Start: start, End: end}
}

func at(k logical.BoundKind) logical.FrameBound { return logical.FrameBound{Kind: k} }

func by(k logical.BoundKind, n int64) logical.FrameBound {
	return logical.FrameBound{Kind: k, Offset: optest.Int(n)}
}

// inFrame is the obvious definition: is row j of the sorted partition in the
// frame of row i (key v, ascending, nulls first)?
func inFrame(f logical.Frame, part []optest.Row, i, j int) bool {
	pos := func(b logical.FrameBound, start bool) bool {
		sign := int64(1)
		if b.Kind == logical.Preceding {
			sign = -1
		}
		switch b.Kind {
		case logical.UnboundedPreceding, logical.UnboundedFollowing:
			return true
		}
		if f.Unit == logical.Rows {
			k := int64(i)
			if b.Offset != nil {
				k += sign * b.Offset.(*logical.Literal).Value.I64[0]
			}
			return start && int64(j) >= k || !start && int64(j) <= k
		}
		a, c := part[i][2], part[j][2]
		if b.Offset == nil || a == nil {
			d := compareValues(c, a)
			return start && d >= 0 || !start && d <= 0
		}
		if c == nil {
			return false
		}
		k := a.(int64) + sign*b.Offset.(*logical.Literal).Value.I64[0]
		return start && c.(int64) >= k || !start && c.(int64) <= k
	}
	return pos(f.Start, true) && pos(f.End, false)
}

func TestWindowFrames(t *testing.T) {
	frames := []logical.Frame{
		frame(logical.Rows, at(logical.UnboundedPreceding), at(logical.UnboundedFollowing)),
		frame(logical.Range, at(logical.UnboundedPreceding), at(logical.CurrentRow)),
		frame(logical.Rows, at(logical.UnboundedPreceding), at(logical.CurrentRow)),
		frame(logical.Rows, by(logical.Preceding, 2), at(logical.CurrentRow)),
		frame(logical.Rows, by(logical.Preceding, 100), by(logical.Following, 50)),
		frame(logical.Rows, by(logical.Following, 1), by(logical.Following, 3)),
		frame(logical.Rows, by(logical.Preceding, 3), by(logical.Preceding, 1)),
		frame(logical.Rows, at(logical.CurrentRow), at(logical.UnboundedFollowing)),
		frame(logical.Range, by(logical.Preceding, 10), by(logical.Following, 5)),
		frame(logical.Range, at(logical.CurrentRow), by(logical.Following, 5)),
		frame(logical.Range, by(logical.Preceding, 40), by(logical.Preceding, 3)),
	}
	in := randomRows(3, 600, 3)
	for fi, f := range frames {
		s := table("t", 1)
		count, sum, list := optest.Count(20), optest.Sum(21, ref(s, 2)), optest.Collect(22, ref(s, 2))
		call := func(a logical.AggCall) logical.WindowCall {
			return logical.WindowCall{Agg: a.Fn, Args: a.Args, Frame: f, Attr: a.Attr}
		}
		n := &logical.Window{Input: s, PartitionBy: []logical.Expr{ref(s, 0)}, OrderBy: []logical.SortKey{{Expr: ref(s, 2)}},
			Calls: []logical.WindowCall{call(count), call(sum), call(list)}}
		sorted := slices.Clone(in)
		slices.SortStableFunc(sorted, func(a, b optest.Row) int {
			if d := compareValues(a[0], b[0]); d != 0 {
				return d
			}
			return compareValues(a[2], b[2])
		})
		var want []optest.Row
		for from := 0; from < len(sorted); {
			to := from
			for to < len(sorted) && sorted[to][0] == sorted[from][0] {
				to++
			}
			part := sorted[from:to]
			for i := range part {
				var c int64
				var sum any
				list := []any{}
				for j := range part {
					if !inFrame(f, part, i, j) {
						continue
					}
					c++
					if v, ok := part[j][2].(int64); ok {
						if sum == nil {
							sum = int64(0)
						}
						sum = sum.(int64) + v
						list = append(list, v)
					}
				}
				want = append(want, append(slices.Clone(part[i]), c, sum, list))
			}
			from = to
		}
		got, err := optest.Query(t, n, optest.Options{BatchSize: 50, Noise: true}, optest.Input{"t": in})
		if err != nil {
			t.Fatal(err)
		}
		if d := optest.Diff(got, want, true); d != "" {
			t.Fatalf("frame %d: %s", fi, d[:min(len(d), 2000)])
		}
	}
}

func TestRanking(t *testing.T) {
	s := table("t", 1)
	int32T := schema.Of(schema.Int32)
	call := func(id logical.ColumnID, k funcs.WindowKind, typ schema.Type, offset int, args ...logical.Expr) logical.WindowCall {
		return logical.WindowCall{Fn: &funcs.BoundWindow{Fn: &funcs.WindowFunction{}, Kind: k, Result: typ, Offset: offset, FixedFrame: true}, Args: args,
			Attr:  logical.Attr{ID: id, Type: typ},
			Frame: frame(logical.Range, at(logical.UnboundedPreceding), at(logical.CurrentRow))}
	}
	n := &logical.Window{Input: s, PartitionBy: []logical.Expr{ref(s, 1)}, OrderBy: []logical.SortKey{{Expr: ref(s, 0)}}, Calls: []logical.WindowCall{
		call(10, funcs.RowNumber, int32T, 0), call(11, funcs.Rank, int32T, 0), call(12, funcs.DenseRank, int32T, 0),
		call(13, funcs.PercentRank, f64, 0), call(14, funcs.CumeDist, f64, 0), call(15, funcs.NTile, int32T, 2),
		call(16, funcs.Lag, i64, 1, ref(s, 2)), call(17, funcs.Lead, i64, 2, ref(s, 2), optest.Int(2), optest.Int(-1)),
		call(18, funcs.LastValue, i64, 0, ref(s, 2)), call(19, funcs.NthValue, i64, 2, ref(s, 2)),
	}}
	in := optest.Input{"t": {
		{int64(1), "a", int64(10)}, {int64(2), "a", int64(20)}, {int64(2), "a", int64(30)}, {int64(5), "a", int64(40)}, {int64(7), "b", int64(50)},
	}}
	f := func(x int32) any { return x }
	want := []optest.Row{
		{int64(1), "a", int64(10), f(1), f(1), f(1), 0.0, 0.25, f(1), nil, int64(30), int64(10), nil},
		{int64(2), "a", int64(20), f(2), f(2), f(2), 1.0 / 3, 0.75, f(1), int64(10), int64(40), int64(30), int64(20)},
		{int64(2), "a", int64(30), f(3), f(2), f(2), 1.0 / 3, 0.75, f(2), int64(20), int64(-1), int64(30), int64(20)},
		{int64(5), "a", int64(40), f(4), f(4), f(3), 1.0, 1.0, f(2), int64(30), int64(-1), int64(40), int64(20)},
		{int64(7), "b", int64(50), f(1), f(1), f(1), 0.0, 1.0, f(1), nil, int64(-1), int64(50), nil},
	}
	for _, o := range optest.Variations() {
		if o.Lanes > 1 {
			continue
		}
		got, err := optest.Query(t, n, o, in)
		if err != nil {
			t.Fatal(err)
		}
		if d := optest.Diff(got, want, true); d != "" {
			t.Fatal(d)
		}
	}
}

// TestFirstRows compares a window that leaves out rows beyond the first of each
// partition with one that does not, under the filter that keeps those.
func TestFirstRows(t *testing.T) {
	in := optest.Input{"t": randomRows(11, 700, 5)}
	slices.SortFunc(in["t"][:200], func(a, b optest.Row) int { return -compareValues(a[2], b[2]) })
	s := table("t", 1)
	kinds := []funcs.WindowKind{funcs.RowNumber, funcs.Rank, funcs.DenseRank}
	for _, parts := range [][]logical.Expr{nil, {ref(s, 0)}, {ref(s, 0), ref(s, 1)}} {
		for i, kind := range kinds {
			for _, first := range []int64{1, 3, 40} {
				n := &logical.Window{Input: s, PartitionBy: parts, OrderBy: []logical.SortKey{{Expr: ref(s, 2), Descending: i == 1}}}
				for k, kind := range kinds {
					n.Calls = append(n.Calls, logical.WindowCall{
						Fn:   &funcs.BoundWindow{Fn: &funcs.WindowFunction{}, Kind: kind, Result: schema.Of(schema.Int32), FixedFrame: true},
						Attr: logical.Attr{ID: logical.ColumnID(10 + k), Type: schema.Of(schema.Int32)}, Frame: frame(logical.Range, at(logical.UnboundedPreceding), at(logical.CurrentRow)),
					})
				}
				marked := *n
				marked.First, marked.FirstBy = first, logical.ColumnID(10+kind)
				over := func(w *logical.Window) logical.Node {
					return &logical.Filter{Input: w, Cond: optest.Call("<=", n.Calls[i].Attr.Ref(), optest.Value(schema.Of(schema.Int32), int32(first)))}
				}
				want, err := optest.Query(t, over(n), optest.Options{}, in)
				if err != nil || len(want) == 0 {
					t.Fatal(err)
				}
				for _, o := range []optest.Options{{}, {BatchSize: 7, Noise: true}, {BatchSize: 16, Memory: 12000, Spill: true}} {
					got, err := optest.Query(t, over(&marked), o, in)
					if err != nil {
						t.Fatal(err)
					}
					if d := optest.Diff(got, want, true); d != "" {
						t.Fatalf("%d parts, kind %d, first %d, %+v: %s", len(parts), kind, first, o, d[:min(len(d), 1500)])
					}
				}
			}
		}
	}
}
