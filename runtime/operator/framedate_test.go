package operator_test

import (
	"math"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// TestDateFrames counts in RANGE frames over dates, also over those at the ends
// of DATE and by offsets that reach beyond 64 bits of microseconds.
func TestDateFrames(t *testing.T) {
	date, months, span := schema.Of(schema.Date), schema.Of(schema.YearMonthInterval), schema.Of(schema.DayTimeInterval)
	s := optest.Scan("t", false, optest.Columns(1, optest.Field("d", date)))
	days := []int64{math.MinInt32, math.MinInt32 + 3, -200000000, -106751992, -106751991, -40, -1, 0, 1, 30, 31, 62, 106751991, 106751992,
		200000000, math.MaxInt32 - 31, math.MaxInt32 - 30, math.MaxInt32 - 29, math.MaxInt32}
	in := optest.Input{}
	for _, d := range days {
		in["t"] = append(in["t"], optest.Row{int32(d)})
	}
	run := func(start, end logical.FrameBound, descending bool, want func(day, other int64) bool, input optest.Input) {
		t.Helper()
		c := optest.Count(20)
		n := &logical.Window{Input: s, OrderBy: []logical.SortKey{{Expr: s.Columns[0].Ref(), Descending: descending}},
			Calls: []logical.WindowCall{{Agg: c.Fn, Frame: frame(logical.Range, start, end), Attr: c.Attr}}}
		got, err := optest.Query(t, n, optest.Options{}, input)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			count, day := int64(0), int64(r[0].(int32))
			for _, other := range input["t"] {
				if want(day, int64(other[0].(int32))) {
					count++
				}
			}
			if r[1] != count {
				t.Errorf("from %v to %v, descending %v: day %d counts %v, want %d", start.Offset, end.Offset, descending, day, r[1], count)
			}
		}
	}
	for _, n := range []int64{0, 1, 31, 106751991, 106751992, 213503983, 300000000, math.MaxInt32} {
		offset := optest.Value(schema.Of(schema.Int32), int32(n))
		back, on := logical.FrameBound{Kind: logical.Preceding, Offset: offset}, logical.FrameBound{Kind: logical.Following, Offset: offset}
		run(back, at(logical.CurrentRow), false, func(day, x int64) bool { return x >= day-n && x <= day }, in)
		run(at(logical.CurrentRow), on, false, func(day, x int64) bool { return x >= day && x <= day+n }, in)
		run(back, on, true, func(day, x int64) bool { return x >= day-n && x <= day+n }, in)
	}
	interval := func(t schema.Type, x any) logical.FrameBound {
		return logical.FrameBound{Kind: logical.Preceding, Offset: optest.Value(t, x)}
	}
	micros := int64(math.MaxInt64) // the longest interval: 106751991 days and a part of one
	run(interval(span, micros), at(logical.CurrentRow), false, func(day, x int64) bool { return x >= day-106751991 && x <= day }, in)
	all := int32(math.MaxInt32) // 178956970 years
	run(interval(months, all), at(logical.CurrentRow), false, func(day, x int64) bool { return x <= day }, in)
	last := optest.Input{"t": {{int32(math.MaxInt32 - 31)}, {int32(math.MaxInt32 - 30)}, {int32(math.MaxInt32 - 29)}, {int32(math.MaxInt32)}}}
	run(interval(months, int32(1)), at(logical.CurrentRow), false, func(day, x int64) bool { // June has 30 days, and May 31
		return x <= day && (x >= day-30 && day == math.MaxInt32 || x >= day-31 && day < math.MaxInt32)
	}, last)
}
