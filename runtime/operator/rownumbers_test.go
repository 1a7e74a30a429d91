package operator_test

import (
	"testing"

	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// failing are plans that use 1 div v of each row of e (ts, k, v) once.
func failing() map[string]func(in logical.Node, cols []logical.Attr) logical.Node {
	interval := schema.Of(schema.DayTimeInterval)
	col := func(i logical.ColumnID, t schema.Type) logical.Attr {
		return logical.Attr{ID: i, Name: "x", Type: t, Nullable: true}
	}
	// Half of the rows, and the one that fails.
	odd := func(cols []logical.Attr) logical.Expr {
		return optest.Call("=", optest.Call("%", optest.Call("div", optest.Int(6), cols[2].Ref()), optest.Int(2)), optest.Int(1))
	}
	// null, or the row's time.
	time := func(cols []logical.Attr) logical.Expr {
		return &logical.Case{Branches: []logical.Branch{{When: odd(cols), Then: cols[0].Ref()}}, T: ts}
	}
	windows := func(slide int64) func(in logical.Node, cols []logical.Attr) logical.Node {
		return func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.TimeWindow{Input: in, Time: time(cols), Size: 10 * sec, Slide: slide * sec, Column: col(20, windowType())}
		}
	}
	keyed := func(in logical.Node, cols []logical.Attr) *logical.Join {
		r := table("r", 30)
		return &logical.Join{Left: in, Right: r, Type: logical.LeftJoin, LeftKeys: []logical.Expr{cols[1].Ref()}, RightKeys: []logical.Expr{ref(r, 1)}, NullSafe: []bool{false}}
	}
	return map[string]func(in logical.Node, cols []logical.Attr) logical.Node{
		"filter": func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.Filter{Input: in, Cond: odd(cols)}
		},
		"project": func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.Project{Input: in, Exprs: []logical.Alias{optest.Named(20, "x", odd(cols))}}
		},
		"tumbling": windows(10), "sliding": windows(5),
		"session": func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.SessionWindow{Input: in, Time: time(cols), Gap: optest.Value(interval, 3*sec), Column: col(20, windowType())}
		},
		"join": func(in logical.Node, cols []logical.Attr) logical.Node {
			j := keyed(in, cols)
			j.Cond = odd(cols)
			return j
		},
		"join by keys": func(in logical.Node, cols []logical.Attr) logical.Node {
			j := keyed(in, cols)
			j.LeftKeys = []logical.Expr{optest.Call("div", optest.Int(6), cols[2].Ref())}
			j.RightKeys = []logical.Expr{j.Right.Output()[0].Ref()}
			return j
		},
		"sort": func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.Sort{Input: in, Keys: []logical.SortKey{{Expr: odd(cols)}}, Limit: -1}
		},
		"first sorted": func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.Sort{Input: in, Keys: []logical.SortKey{{Expr: odd(cols)}}, Limit: 5}
		},
		"distinct": func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.Distinct{Input: &logical.Project{Input: in, Exprs: []logical.Alias{optest.Named(20, "x", odd(cols))}}}
		},
		"groups": func(in logical.Node, cols []logical.Attr) logical.Node {
			return &logical.Aggregate{Input: in, Groups: []logical.Alias{optest.Named(20, "x", odd(cols))}, Aggs: []logical.AggCall{optest.Count(21)}}
		},
		"window": func(in logical.Node, cols []logical.Attr) logical.Node {
			w := rowNumber(in, cols, false, 1, logical.Append).(*logical.Filter).Input.(*logical.Window)
			w.PartitionBy, w.State = []logical.Expr{odd(cols)}, nil
			return w
		},
	}
}

// TestLaterRowErrors has one failing row in each place of a later batch, after
// batches of which an operator passes some rows: the step fails, or the row is
// dropped and counted (ANSI: no row's failure is lost).
func TestLaterRowErrors(t *testing.T) {
	for name, plan := range failing() {
		t.Run(name, func(t *testing.T) { laterRowErrors(t, plan) })
	}
}

func laterRowErrors(t *testing.T, plan func(in logical.Node, cols []logical.Attr) logical.Node) {
	cols := optest.Columns(1, optest.Field("ts", ts), optest.Field("k", str), optest.Field("v", i64))
	scan := optest.Scan("e", false, cols)
	for at := range 24 {
		rows := make([]optest.Row, 48)
		for i := range rows {
			rows[i] = optest.Row{int64(i) * sec, "a", int64(1 + (i+at)%2*5)} // 6 or 1
		}
		rows[24+at][2] = int64(0)
		in := optest.Input{"e": rows, "r": {{int64(6), "a", nil}, {int64(1), "b", nil}}}
		for _, o := range []optest.Options{{BatchSize: 12}, {BatchSize: 12, Noise: true, Seed: uint64(at)}} {
			_, err := optest.Query(t, plan(scan, cols), o, in)
			if _, ok := err.(*operator.RowError); !ok {
				t.Fatalf("row %d fails, %+v: %v", at, o, err)
			}
			r := optest.NewRunner(t, &logical.Expect{Input: plan(scan, cols), DropErrors: true}, o)
			if _, err := r.Step(stream.Step{Bounded: true}, in); err != nil {
				t.Fatalf("row %d fails, %+v: %v", at, o, err)
			}
			if c := r.Plan().Counters(); c.DroppedErrors != 1 {
				t.Fatalf("row %d fails, %+v: %d rows are dropped", at, o, c.DroppedErrors)
			}
			r.Close()
		}
	}
}
