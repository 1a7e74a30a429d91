package operator_test

import (
	"fmt"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// growthPlans are stateful plans whose state dies with the watermark.
func growthPlans() map[string]logical.Node {
	e, cols := events("e", 1, 5*sec)
	tumbling := counts(e, cols[0].Ref(), 10, 5, logical.Append)
	tumbling.Groups = append(tumbling.Groups, logical.Alias{Expr: cols[1].Ref(), Attr: cols[1]})
	d := optest.Count(21, cols[2].Ref())
	d.Distinct = true
	tumbling.Aggs = append(tumbling.Aggs, d)
	sliding := counts(e, cols[0].Ref(), 10, 30, logical.Append)
	sliding.Input.(*logical.TimeWindow).Slide = 5 * sec
	sliding.Groups = append(sliding.Groups, logical.Alias{Expr: cols[1].Ref(), Attr: cols[1]})
	sw := logical.Attr{ID: 10, Name: "session", Type: windowType()}
	r, rc := events("e", 4, 5*sec)
	return map[string]logical.Node{
		"tumbling": tumbling, "sliding": sliding,
		"sessions": &logical.Aggregate{
			Input:  &logical.SessionWindow{Input: e, Time: cols[0].Ref(), Gap: optest.Value(schema.Of(schema.DayTimeInterval), 3*sec), Column: sw},
			Groups: []logical.Alias{{Expr: sw.Ref(), Attr: sw}, {Expr: cols[1].Ref(), Attr: cols[1]}},
			Aggs:   []logical.AggCall{optest.Count(20)}, State: &logical.StateInfo{ID: "s", EventTime: 10, IsWindow: true},
		},
		"dedup": &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{2}, WithinWatermark: true, State: &logical.StateInfo{ID: "d", EventTime: 1}},
		"join": &logical.Join{Left: e, Right: r, LeftKeys: []logical.Expr{cols[1].Ref()}, RightKeys: []logical.Expr{rc[1].Ref()}, NullSafe: []bool{false}, Type: logical.LeftJoin,
			State: &logical.StateInfo{ID: "j"}, Time: &logical.TimeBounds{LeftTime: 1, RightTime: 4, LeftBound: true, LeftUntil: sec, RightBound: true}},
	}
}

// TestStateStaysFlat moves through many keys: what is kept must not grow.
func TestStateStaysFlat(t *testing.T) {
	for name, plan := range growthPlans() {
		d := drive(t, plan, optest.Options{}, map[string]int64{"e": 5 * sec})
		d.noData = false
		var rows, bytes [2]int64
		out := 0
		for epoch := range 120 {
			var in []optest.Row
			for k := range 400 {
				in = append(in, ev(1000+float64(epoch)*2+float64(k)/200, fmt.Sprintf("key-%d-%d", epoch, k/2)))
			}
			out += len(d.step(optest.Input{"e": in}))
			for i, at := range []int{60, 119} {
				if epoch == at {
					c := d.r.Plan().Counters().Operators[0]
					rows[i], bytes[i] = c.StateRows, c.StateBytes
				}
			}
		}
		if out == 0 || rows[0] == 0 || rows[1] > rows[0]*5/4 || bytes[1] > bytes[0]*3/2 {
			t.Errorf("%s: %d rows out, kept rows %v, bytes %v", name, out, rows, bytes)
		}
		d.r.Close()
	}
}

// TestBoundedPanes compares panes with single windows in a bounded query.
func TestBoundedPanes(t *testing.T) {
	cols := optest.Columns(1, optest.Field("ts", ts), optest.Field("k", str), optest.Field("v", i64))
	plan := func(merge bool) logical.Node {
		a := counts(optest.Scan("e", false, cols), cols[0].Ref(), 10, 60, logical.Append)
		a.State, a.Input.(*logical.TimeWindow).Slide = nil, 10*sec
		a.Groups = append([]logical.Alias{{Expr: cols[1].Ref(), Attr: cols[1]}}, a.Groups...)
		a.Aggs = append(a.Aggs, optest.Sum(22, cols[2].Ref()))
		if !merge {
			for i := range a.Aggs {
				fn := *a.Aggs[i].Fn
				fn.Merge = nil
				a.Aggs[i].Fn = &fn
			}
		}
		return a
	}
	var in []optest.Row
	for i := range 500 {
		in = append(in, ev(float64((i*7919)%3000)-500, string(rune('a'+i%3))))
	}
	want, err := optest.Query(t, plan(false), optest.Options{}, optest.Input{"e": in})
	if err != nil {
		t.Fatal(err)
	}
	optest.Matrix(t, plan(true), optest.Input{"e": in}, want, false)
}
