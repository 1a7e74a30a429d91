package operator_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
)

// scales demands that four times as much takes less than nine times the time:
// quadratic work takes sixteen times. Others use the machine too, so that one of
// five measurements is enough.
func scales(t *testing.T, n int, run func(n int) time.Duration) {
	t.Helper()
	var small, large time.Duration
	for range 5 {
		small, large = run(n), run(4*n)
		if large < 9*small {
			return
		}
	}
	t.Errorf("%d take %v, %d take %v", n, small, 4*n, large)
}

// TestManyGroupsGo ends a pane of many groups.
func TestManyGroupsGo(t *testing.T) {
	scales(t, 10000, func(n int) time.Duration {
		d := drive(t, growthPlans()["sliding"], optest.Options{}, map[string]int64{"e": 5 * sec})
		defer d.r.Close()
		rows := make([]optest.Row, n)
		for i := range rows {
			rows[i] = ev(101, fmt.Sprint(i))
		}
		d.step(optest.Input{"e": rows})
		d.step(evs("a", 1000))
		from := time.Now()
		d.step(nil)
		if c := d.r.Counts[0]; c.StateRows != 1 {
			t.Fatalf("%d groups are left", c.StateRows)
		}
		return time.Since(from)
	})
}

// TestManyPanes has many panes that come from the last to the first.
func TestManyPanes(t *testing.T) {
	cols := optest.Columns(1, optest.Field("ts", ts), optest.Field("k", str), optest.Field("v", i64))
	a := counts(optest.Scan("e", false, cols), cols[0].Ref(), 10, 5, logical.Append)
	a.State, a.Input.(*logical.TimeWindow).Slide = nil, sec
	scales(t, 10000, func(n int) time.Duration {
		rows := make([]optest.Row, n)
		for i := range rows {
			rows[i] = ev(float64(n-i), "a")
		}
		r := optest.NewRunner(t, a, optest.Options{})
		defer r.Close()
		from := time.Now()
		out, err := r.Step(stream.Step{Bounded: true}, optest.Input{"e": rows})
		if err != nil || len(out) != n+4 {
			t.Fatalf("%d windows, want %d: %v", len(out), n+4, err)
		}
		return time.Since(from)
	})
}

// TestManyFirstRowsGo forgets partitions whose row has not come out (state_ttl).
func TestManyFirstRowsGo(t *testing.T) {
	scales(t, 10000, func(n int) time.Duration {
		d := drive(t, coldTop(false, 1, logical.Append, 10*sec), optest.Options{}, map[string]int64{"e": 5 * sec})
		defer d.r.Close()
		rows := make([]optest.Row, n)
		for i := range rows {
			rows[i] = optest.Row{100 * sec, "a", int64(10 * i)}
		}
		d.now = 1000 * sec
		d.step(optest.Input{"e": rows})
		d.now += 20 * sec
		from := time.Now()
		d.step(nil)
		if c := d.r.Counts[0]; c.StateRows != 0 {
			t.Fatalf("%d rows are left", c.StateRows)
		}
		return time.Since(from)
	})
}

// TestHotKeyOfGoneRows joins rows with a key of which many rows have gone, while
// most rows of the join have not.
func TestHotKeyOfGoneRows(t *testing.T) {
	e, ec := events("e", 1, 5*sec)
	r, rc := events("r", 4, 5*sec)
	plan := &logical.Join{Left: e, Right: r, Type: logical.SemiJoin, LeftKeys: []logical.Expr{ec[1].Ref()}, RightKeys: []logical.Expr{rc[1].Ref()}, NullSafe: []bool{false},
		Cond: notAfter(ec[0].Ref(), rc[0].Ref(), 0), State: &logical.StateInfo{ID: "join"}, Time: &logical.TimeBounds{LeftTime: -1, RightTime: -1}}
	scales(t, 5000, func(n int) time.Duration {
		d := drive(t, plan, optest.Options{}, nil)
		defer d.r.Close()
		left := []optest.Row{ev(1000, "a")} // the only one of its key that stays
		right := []optest.Row{ev(20, "a")}
		for i := range n {
			left = append(left, ev(10, "a"), ev(10, fmt.Sprint(i)))
			right = append(right, ev(20, "a"))
		}
		d.step(optest.Input{"e": left, "r": right[:1]})
		from := time.Now()
		d.step(optest.Input{"r": right[1:]})
		if c := d.r.Counts[0]; c.StateRows != int64(2*n+2) {
			t.Fatalf("%d rows are left", c.StateRows)
		}
		return time.Since(from)
	})
}

// TestManySessionsOfAKey has many open sessions of one key, which come in any
// order; every third row connects two others.
func TestManySessionsOfAKey(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		plan := coldSessions(logical.Append, false, 0)
		if ordered {
			list := optest.Collect(23, plan.Groups[1].Expr)
			list.OrderBy = []logical.SortKey{{Expr: plan.Groups[1].Expr}}
			plan.Aggs = append(plan.Aggs, list)
		}
		scales(t, 12000, func(n int) time.Duration {
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			rows := make([]optest.Row, n)
			for i, at := range rng.Perm(n) {
				rows[i] = optest.Row{int64(at/3*20+at%3*3) * sec, "a", int64(1)}
			}
			r := optest.NewRunner(t, plan, optest.Options{})
			defer r.Close()
			from := time.Now()
			out, err := r.Step(stream.Step{Bounded: true}, optest.Input{"e": rows})
			if err != nil || len(out) != n/3 {
				t.Fatalf("%d sessions, want %d: %v", len(out), n/3, err)
			}
			return time.Since(from)
		})
	}
}
