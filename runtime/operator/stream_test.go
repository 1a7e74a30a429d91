package operator_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var ts = schema.Of(schema.Timestamp)

const sec = int64(1e6)

// driver plays the flow's part: watermarks and epochs without data.
type driver struct {
	t           *testing.T
	r           *optest.Runner
	delay       map[string]int64
	seen        map[string]int64
	late, evict int64
	epoch       int64
	noData      bool
	now         int64
}

func drive(t *testing.T, root logical.Node, o optest.Options, delays map[string]int64) *driver {
	return &driver{t: t, r: optest.NewRunner(t, root, o), delay: delays, seen: map[string]int64{}, noData: true}
}

func (d *driver) step(in optest.Input) []optest.Row {
	d.t.Helper()
	out, err := d.r.Step(stream.Step{Epoch: d.epoch, Late: d.late, Evict: d.evict, Now: d.now}, in)
	if err != nil {
		d.t.Fatal(err)
	}
	d.epoch++
	for id, x := range d.r.Times {
		if old, ok := d.seen[id]; !ok || x > old {
			d.seen[id] = x
		}
	}
	w := int64(1 << 62)
	for id, delay := range d.delay {
		x, ok := d.seen[id]
		if !ok {
			w = 0
			break
		}
		w = min(w, x-delay)
	}
	d.late, d.evict = d.evict, max(d.evict, w)
	return out
}

// batch runs the rows and then epochs without data while the watermark moves.
func (d *driver) batch(in optest.Input, want ...optest.Row) {
	d.t.Helper()
	out := d.step(in)
	for d.noData && d.evict > d.late {
		out = append(out, d.step(nil)...)
	}
	if s := optest.Diff(out, want, false); s != "" {
		d.t.Fatalf("epoch %d: %s", d.epoch, s)
	}
}

func resumes() []optest.Options {
	return []optest.Options{
		{}, {BatchSize: 1}, {Resume: true}, {Resume: true, Snapshots: true, BatchSize: 2}, {Resume: true, Lanes: 2, BatchSize: 1, Noise: true},
		{Resume: true, LaneCounts: []int{1, 5, 2, 3}}, {Resume: true, LaneCounts: []int{4, 1, 7}, Snapshots: true, Concurrent: true, BatchSize: 1},
		{Dictionary: true, Resume: true}, {BatchSize: 1, Lanes: 3, Concurrent: true},
	}
}

// events is a stream of (ts, k, v).
func events(id string, first logical.ColumnID, delay int64) (*logical.Watermark, []logical.Attr) {
	cols := optest.Columns(first, optest.Field("ts", ts), optest.Field("k", str), optest.Field("v", i64))
	w := &logical.Watermark{Input: optest.Scan(id, true, cols), Column: first, Delay: delay, ID: id}
	return w, w.Output()
}

func ev(sec0 float64, k string) optest.Row { return optest.Row{int64(sec0 * 1e6), k, int64(1)} }

func evs(k string, secs ...float64) optest.Input {
	var rows []optest.Row
	for _, s := range secs {
		rows = append(rows, ev(s, k))
	}
	return optest.Input{"e": rows}
}

func windowType() schema.Type {
	return schema.StructOf(schema.Field{Name: "start", Type: ts}, schema.Field{Name: "end", Type: ts})
}

// counts is count(*) per window of size seconds over in's time column.
func counts(in logical.Node, time logical.Expr, first logical.ColumnID, size int64, mode logical.OutputMode) *logical.Aggregate {
	win := logical.Attr{ID: first, Name: "window", Type: windowType(), Watermark: 0}
	tw := &logical.TimeWindow{Input: in, Time: time, Size: size * sec, Slide: size * sec, Column: win}
	return &logical.Aggregate{
		Input: tw, Groups: []logical.Alias{{Expr: win.Ref(), Attr: win}}, Aggs: []logical.AggCall{optest.Count(first + 1)},
		State: &logical.StateInfo{ID: fmt.Sprintf("agg-%d", first), EventTime: first, IsWindow: true, Mode: mode},
	}
}

func win(a, b int64, n int64) optest.Row { return optest.Row{[]any{a * sec, b * sec}, n} }

func TestWindowCountsAppend(t *testing.T) { // W-50
	for _, o := range resumes() {
		e, cols := events("e", 1, 10*sec)
		d := drive(t, counts(e, cols[0].Ref(), 10, 5, logical.Append), o, map[string]int64{"e": 10 * sec})
		d.batch(evs("a", 10, 11, 12, 13, 14, 15))
		d.batch(evs("a", 25), win(10, 15, 5))
		d.batch(evs("a", 10))
		d.batch(evs("a", 40), win(15, 20, 1), win(25, 30, 1))
		d.r.Close()
	}
}

func TestWindowCountsUpdate(t *testing.T) { // W-51
	for _, o := range resumes() {
		e, cols := events("e", 1, 10*sec)
		d := drive(t, counts(e, cols[0].Ref(), 10, 5, logical.Update), o, map[string]int64{"e": 10 * sec})
		d.batch(evs("a", 10, 11, 12, 13, 14, 15), win(10, 15, 5), win(15, 20, 1))
		d.batch(evs("a", 25), win(25, 30, 1))
		d.batch(evs("a", 10, 25), win(25, 30, 2))
		d.r.Close()
	}
}

func TestChainedWindows(t *testing.T) { // W-53
	for _, o := range resumes() {
		e, cols := events("e", 1, 0)
		inner := counts(e, cols[0].Ref(), 10, 5, logical.Append)
		outer := counts(inner, inner.Groups[0].Attr.Ref(), 20, 10, logical.Append)
		outer.Aggs = append(outer.Aggs, optest.Sum(25, inner.Aggs[0].Attr.Ref()))
		d := drive(t, outer, o, map[string]int64{"e": 0})
		d.batch(evs("a", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21),
			append(win(0, 10, 2), int64(10)), append(win(10, 20, 2), int64(10)))
		d.batch(evs("a", 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29))
		d.batch(evs("a", 30, 31), append(win(20, 30, 2), int64(12)))
		d.r.Close()
	}
}

func TestDedupWithinWatermark(t *testing.T) { // W-62
	for _, o := range resumes() {
		e, _ := events("e", 1, 2*sec)
		n := &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{2}, WithinWatermark: true, State: &logical.StateInfo{ID: "dedup", EventTime: 1}}
		d := drive(t, n, o, map[string]int64{"e": 2 * sec})
		d.batch(optest.Input{"e": {ev(17, "a")}}, ev(17, "a"))
		d.batch(optest.Input{"e": {ev(16, "a")}})
		d.batch(optest.Input{"e": {ev(13, "a")}})
		d.batch(optest.Input{"e": {ev(22, "b"), ev(21, "c")}}, ev(22, "b"), ev(21, "c"))
		d.batch(optest.Input{"e": {ev(21, "a")}}, ev(21, "a"))
		d.batch(optest.Input{"e": {ev(25, "d")}}, ev(25, "d"))
		if c := d.r.Plan().Counters().Operators[0]; c.StateRows != 2 { // b and d
			t.Errorf("%d keys are kept", c.StateRows)
		}
		d.r.Close()
	}
}

func TestSessions(t *testing.T) { // O-27
	for _, o := range resumes() {
		e, cols := events("e", 1, 30*sec)
		sw := logical.Attr{ID: 10, Name: "session", Type: windowType()}
		n := &logical.Aggregate{
			Input:  &logical.SessionWindow{Input: e, Time: cols[0].Ref(), Gap: optest.Value(schema.Of(schema.DayTimeInterval), 10*sec), Column: sw},
			Groups: []logical.Alias{{Expr: sw.Ref(), Attr: sw}, {Expr: cols[1].Ref(), Attr: cols[1]}},
			Aggs:   []logical.AggCall{optest.Count(20)},
			State:  &logical.StateInfo{ID: "sessions", EventTime: 10, IsWindow: true},
		}
		dis := optest.Count(21, cols[0].Ref())
		dis.Distinct = true
		n.Aggs = append(n.Aggs, dis)
		d := drive(t, n, o, map[string]int64{"e": 30 * sec})
		words := func(at float64, ws ...string) []optest.Row {
			var out []optest.Row
			for _, w := range ws {
				out = append(out, ev(at, w))
			}
			return out
		}
		row := func(a, b int64, k string, c int64) optest.Row {
			return optest.Row{[]any{a * sec, b * sec}, k, c, c}
		}
		d.batch(optest.Input{"e": append(words(40, "hello", "world", "spark", "streaming"), words(41, "world", "hello", "structured", "streaming")...)})
		d.batch(optest.Input{"e": words(0, "spark", "streaming")})
		d.batch(optest.Input{"e": words(25, "spark", "streaming")})
		d.batch(optest.Input{"e": words(30, "spark", "streaming")})
		d.batch(optest.Input{"e": words(60, "hello", "apache", "spark")})
		d.batch(optest.Input{"e": words(90, "structured", "streaming")},
			row(25, 50, "spark", 3), row(25, 51, "streaming", 4), row(40, 51, "hello", 2), row(40, 51, "world", 2), row(41, 51, "structured", 1))
		d.r.Close()
	}
}

func TestLeftRangeJoin(t *testing.T) { // join-left-range
	for _, o := range resumes() {
		l, lc := events("imp", 1, 5*sec)
		r, rc := events("clk", 4, 10*sec)
		n := &logical.Join{Left: l, Right: r, Type: logical.LeftJoin,
			LeftKeys: []logical.Expr{lc[1].Ref()}, RightKeys: []logical.Expr{rc[1].Ref()}, NullSafe: []bool{false},
			Cond: &logical.And{Args: []logical.Expr{
				optest.Call(">=", rc[0].Ref(), lc[0].Ref()),
				notAfter(rc[0].Ref(), lc[0].Ref(), 20*sec),
			}},
			State: &logical.StateInfo{ID: "join"},
			Time:  &logical.TimeBounds{LeftTime: 1, RightTime: 4, LeftBound: true, LeftUntil: 20*sec + 1000, RightBound: true, RightUntil: 1000},
		}
		d := drive(t, n, o, map[string]int64{"imp": 5 * sec, "clk": 10 * sec})
		pair := func(a optest.Row, b ...any) optest.Row { return append(append(optest.Row{}, a...), b...) }
		none := []any{nil, nil, nil}
		d.batch(optest.Input{"imp": {ev(1000+0, "a"), ev(1000+1, "b"), ev(1000+2, "n")}, "clk": {ev(1000+5, "a")}}, pair(ev(1000+0, "a"), ev(1000+5, "a")...))
		d.batch(optest.Input{"clk": {ev(1000+20, "a"), ev(1000+20.001, "a"), ev(1000+21, "b")}}, pair(ev(1000+0, "a"), ev(1000+20, "a")...), pair(ev(1000+1, "b"), ev(1000+21, "b")...))
		d.batch(optest.Input{"imp": {ev(1000+40, "c")}, "clk": {ev(1000+45, "c"), ev(1000+46, "x")}}, pair(ev(1000+40, "c"), ev(1000+45, "c")...), pair(ev(1000+2, "n"), none...))
		if c := d.r.Plan().Counters().Operators[0]; c.StateRows != 3 {
			t.Errorf("%d rows are kept", c.StateRows)
		}
		d.batch(optest.Input{"imp": {ev(1000+80, "d")}, "clk": {ev(1000+90, "y")}})
		d.batch(optest.Input{"imp": {ev(1000+120, "e")}, "clk": {ev(1000+130, "y")}}, pair(ev(1000+80, "d"), none...))
		d.r.Close()
	}
}

// TestAntiRangeJoin is TestLeftRangeJoin with the rows that have no partner
// alone; Spark refuses it (streaming/err-join-anti).
func TestAntiRangeJoin(t *testing.T) {
	for _, o := range resumes() {
		l, lc := events("imp", 1, 5*sec)
		r, rc := events("clk", 4, 10*sec)
		n := &logical.Join{Left: l, Right: r, Type: logical.AntiJoin,
			LeftKeys: []logical.Expr{lc[1].Ref()}, RightKeys: []logical.Expr{rc[1].Ref()}, NullSafe: []bool{false},
			Cond: &logical.And{Args: []logical.Expr{
				optest.Call(">=", rc[0].Ref(), lc[0].Ref()),
				notAfter(rc[0].Ref(), lc[0].Ref(), 20*sec),
				optest.Call("<", lc[2].Ref(), optest.Int(5)),
			}},
			State: &logical.StateInfo{ID: "join"},
			Time:  &logical.TimeBounds{LeftTime: 1, RightTime: 4, LeftBound: true, LeftUntil: 20*sec + 1000, RightBound: true, RightUntil: 1000},
		}
		d := drive(t, n, o, map[string]int64{"imp": 5 * sec, "clk": 10 * sec})
		none, nine := optest.Row{int64(1003 * sec), nil, int64(1)}, optest.Row{int64(1003 * sec), "a", int64(9)}
		// J-06: the row that fails the condition on its own side comes at once.
		d.batch(optest.Input{"imp": {ev(1000, "a"), ev(1001, "b"), ev(1002, "n"), none, nine}, "clk": {ev(1005, "a")}}, nine)
		// b is met, its second partner finds it gone; a row that meets one at once is not kept.
		d.batch(optest.Input{"imp": {ev(1004, "a")}, "clk": {ev(1020, "a"), ev(1021, "b"), ev(1021, "b")}})
		if c := d.r.Plan().Counters().Operators[0]; c.StateRows != 6 {
			t.Errorf("%d rows are kept", c.StateRows) // n, the one without a key, four clicks
		}
		// J-08, J-13: what is left comes out when its time is over.
		d.batch(optest.Input{"imp": {ev(1040, "c")}, "clk": {ev(1045, "c"), ev(1046, "x")}}, ev(1002, "n"), none)
		// J-07: a late row does not come out.
		d.batch(optest.Input{"imp": {ev(1080, "d"), ev(1001, "late")}, "clk": {ev(1090, "y")}})
		d.batch(optest.Input{"imp": {ev(1120, "e")}, "clk": {ev(1130, "y")}}, ev(1080, "d"))
		d.r.Close()
	}
}

// notAfter is a <= b + distance for two times.
func notAfter(a, b logical.Expr, distance int64) logical.Expr {
	fn := &funcs.Bound{
		Fn: &funcs.Function{Name: "not_after"}, Args: []schema.Type{ts, ts}, Result: schema.Of(schema.Boolean), Nullable: true,
		Kernel: func(c *funcs.Ctx, args []*column.Vector, out *column.Vector) {
			nulls := out.Nulls
			out.Resize(c.Rows)
			out.Nulls = nulls
			for i := range c.Rows {
				out.Bool[i] = args[0].I64[args[0].Row(i)] <= args[1].I64[args[1].Row(i)]+distance
			}
		},
	}
	return &logical.Call{Fn: fn, Args: []logical.Expr{a, b}}
}

// rowNumber is row_number() over k, filtered to the first n rows.
func rowNumber(in logical.Node, cols []logical.Attr, descending bool, n int64, mode logical.OutputMode) logical.Node {
	rn := logical.Attr{ID: 30, Name: "rn", Type: i32}
	w := &logical.Window{
		Input: in, PartitionBy: []logical.Expr{cols[1].Ref()}, OrderBy: []logical.SortKey{{Expr: cols[0].Ref(), Descending: descending}},
		Calls: []logical.WindowCall{{Fn: &funcs.BoundWindow{Fn: &funcs.WindowFunction{Name: "row_number"}, Kind: funcs.RowNumber, Result: i32, FixedFrame: true}, Attr: rn}},
		State: &logical.StateInfo{ID: "rn", EventTime: 1, Mode: mode},
	}
	return &logical.Filter{Input: w, Cond: optest.Call("<=", rn.Ref(), optest.Value(i32, int32(n)))}
}

func ranked(r optest.Row, rank int32) optest.Row { return append(append(optest.Row{}, r...), rank) }

func TestTopNUpdate(t *testing.T) {
	for _, o := range resumes() {
		e, cols := events("e", 1, 0)
		d := drive(t, rowNumber(e, cols, true, 2, logical.Update), o, nil)
		d.batch(optest.Input{"e": {ev(1, "a"), ev(2, "a"), ev(3, "b")}}, ranked(ev(2, "a"), 1), ranked(ev(1, "a"), 2), ranked(ev(3, "b"), 1))
		d.batch(optest.Input{"e": {ev(1.5, "a")}}, ranked(ev(1.5, "a"), 2))
		d.batch(optest.Input{"e": {ev(1, "a"), ev(1.2, "b")}}, ranked(ev(1.2, "b"), 2))
		d.batch(optest.Input{"e": {ev(9, "a")}}, ranked(ev(9, "a"), 1), ranked(ev(2, "a"), 2))
		d.r.Close()
	}
}

// Entries with more rows of a partition than are kept are no damage: a
// checkpoint of an earlier version does not say how many it holds.
func TestTopNOfOtherNumber(t *testing.T) {
	e, cols := events("e", 1, 0)
	d := drive(t, rowNumber(e, cols, true, 3, logical.Update), optest.Options{}, nil)
	d.step(optest.Input{"e": {ev(1, "a"), ev(2, "a"), ev(3, "a"), ev(1, "b"), ev(2, "b")}})
	less := optest.NewRunner(t, rowNumber(e, cols, true, 2, logical.Update), optest.Options{})
	defer d.r.Close()
	defer less.Close()
	was, now := d.r.Plan().State()[0], less.Plan().State()[0]
	a, b := was.(operator.LaidOut).Layout(), now.(operator.LaidOut).Layout()
	if was.Meaning() != now.Meaning() || !strings.HasPrefix(a, "first 3 rows of ") || !strings.HasPrefix(b, "first 2 rows of ") {
		t.Errorf("%s\n%s", a, b)
	}
	var errs []string
	was.Snapshot(func(k, v []byte) {
		if err := now.Restore(k, v); err != nil {
			errs = append(errs, err.Error())
		}
	})
	if len(errs) != 1 || !strings.Contains(errs[0], "more than the first 2 rows of a partition") {
		t.Error(errs)
	}
}

func TestFirstRowAppend(t *testing.T) {
	for _, o := range resumes() {
		e, cols := events("e", 1, 5*sec)
		d := drive(t, rowNumber(e, cols, false, 1, logical.Append), o, map[string]int64{"e": 5 * sec})
		d.batch(optest.Input{"e": {ev(10, "a"), ev(12, "b")}})
		d.batch(optest.Input{"e": {ev(9, "a"), ev(13, "b")}})
		d.batch(optest.Input{"e": {ev(15, "c")}}, ranked(ev(9, "a"), 1))
		d.batch(optest.Input{"e": {ev(30, "a")}}, ranked(ev(12, "b"), 1), ranked(ev(15, "c"), 1))
		d.batch(optest.Input{"e": {ev(60, "b")}})
		d.r.Close()
	}
}

func TestStateTTL(t *testing.T) {
	for _, o := range resumes() {
		e, cols := events("e", 1, 0)
		a := &logical.Aggregate{Input: e, Groups: []logical.Alias{{Expr: cols[1].Ref(), Attr: cols[1]}}, Aggs: []logical.AggCall{optest.Count(20)},
			State: &logical.StateInfo{ID: "agg", EventTime: -1, Mode: logical.Update, TTL: 10 * sec}}
		d := drive(t, a, o, nil)
		row := func(k string, n int64) optest.Row { return optest.Row{k, n} }
		d.now = 100 * sec
		d.batch(optest.Input{"e": {ev(1, "a"), ev(1, "b")}}, row("a", 1), row("b", 1))
		d.now = 106 * sec
		d.batch(optest.Input{"e": {ev(1, "a")}}, row("a", 2))
		d.now = 112 * sec // b goes at the end of this step
		d.batch(optest.Input{"e": {ev(1, "a")}}, row("a", 3))
		d.batch(optest.Input{"e": {ev(1, "b")}}, row("b", 1))
		d.now = 125 * sec
		d.batch(nil)
		d.batch(optest.Input{"e": {ev(1, "a")}}, row("a", 1))
		d.now = 140 * sec // gone before the rows of the step (O-74)
		d.batch(optest.Input{"e": {ev(1, "a"), ev(1, "a")}}, row("a", 2))
		d.r.Close()
	}
}

func TestJoinTTL(t *testing.T) {
	for _, o := range resumes() {
		l, lc := events("l", 1, 0)
		r, rc := events("r", 4, 0)
		n := &logical.Join{Left: l, Right: r, LeftKeys: []logical.Expr{lc[1].Ref()}, RightKeys: []logical.Expr{rc[1].Ref()}, NullSafe: []bool{false},
			State: &logical.StateInfo{ID: "join", TTL: 10 * sec}, Time: &logical.TimeBounds{LeftTime: -1, RightTime: -1}}
		d := drive(t, n, o, nil)
		d.now = 100 * sec
		d.batch(optest.Input{"l": {ev(1, "a")}})
		d.now = 105 * sec
		d.batch(optest.Input{"l": {ev(2, "a")}, "r": {ev(3, "a")}}, append(ev(1, "a"), ev(3, "a")...), append(ev(2, "a"), ev(3, "a")...))
		d.now = 111 * sec
		d.batch(nil)
		d.batch(optest.Input{"r": {ev(4, "a")}}, append(ev(2, "a"), ev(4, "a")...))
		d.now = 130 * sec // all are gone before the rows of the step (O-74)
		d.batch(optest.Input{"r": {ev(5, "a")}, "l": {ev(6, "a")}}, append(ev(6, "a"), ev(5, "a")...))
		d.r.Close()
	}
}

// TestPanes compares windows by panes with the same windows one by one.
func TestPanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, o := range resumes() {
		plan := func(slide int64, panes bool) logical.Node {
			e, cols := events("e", 1, 5*sec)
			a := counts(e, cols[0].Ref(), 10, 20*slide, logical.Append)
			a.Input.(*logical.TimeWindow).Size, a.Input.(*logical.TimeWindow).Slide = 20*slide*sec, slide*sec
			if !panes { // an aggregate that cannot be merged
				fn := *a.Aggs[0].Fn
				fn.Merge = nil
				a.Aggs[0].Fn = &fn
			}
			a.Groups = append(a.Groups, logical.Alias{Expr: cols[1].Ref(), Attr: cols[1]})
			return a
		}
		fast, slow := drive(t, plan(3, true), o, map[string]int64{"e": 5 * sec}), drive(t, plan(3, false), o, map[string]int64{"e": 5 * sec})
		base := 1000.0
		for range 25 {
			var rows []optest.Row
			for range rng.IntN(12) {
				rows = append(rows, ev(base+float64(rng.IntN(4000))/100-25, string(rune('a'+rng.IntN(3)))))
			}
			base += float64(rng.IntN(30))
			if rng.IntN(8) == 0 {
				base += 500
			}
			a, b := fast.step(optest.Input{"e": rows}), slow.step(optest.Input{"e": rows})
			if d := optest.Diff(a, b, false); d != "" {
				t.Fatalf("%+v epoch %d: %s", o, fast.epoch, d)
			}
		}
		fast.r.Close()
		slow.r.Close()
	}
}

func TestStaticJoin(t *testing.T) {
	for _, o := range []optest.Options{{}, {Reuse: true}, {Reuse: true, Lanes: 2, BatchSize: 1}} {
		e, cols := events("e", 1, 0)
		s := table("s", 5)
		j := &logical.Join{Left: e, Right: s, Type: logical.LeftJoin, LeftKeys: []logical.Expr{cols[1].Ref()}, RightKeys: []logical.Expr{ref(s, 1)}, NullSafe: []bool{false}}
		d := drive(t, j, o, nil)
		one := optest.Row{int64(1), "a", nil}
		none := optest.Row{nil, nil, nil}
		d.batch(optest.Input{"e": {ev(1, "a")}, "s": {one}}, append(ev(1, "a"), one...))
		if o.Reuse {
			d.batch(optest.Input{"e": {ev(2, "a"), ev(3, "b")}}, append(ev(2, "a"), one...), append(ev(3, "b"), none...))
			d.batch(optest.Input{"e": {ev(2, "a")}}, append(ev(2, "a"), one...))
		} else {
			d.batch(optest.Input{"e": {ev(2, "a")}}, append(ev(2, "a"), none...))
		}
		d.batch(optest.Input{"e": {ev(4, "b")}, "s": {{int64(2), "b", nil}}}, append(ev(4, "b"), int64(2), "b", nil))
		d.r.Close()
	}
}

// TestGroupsWithoutTime keeps groups whose event time is null while others go
// with the watermark, over restarts.
func TestGroupsWithoutTime(t *testing.T) {
	for _, o := range resumes() {
		for _, both := range []bool{true, false} {
			e, cols := events("e", 1, 0)
			a := &logical.Aggregate{
				Input: e, Groups: []logical.Alias{{Expr: cols[0].Ref(), Attr: cols[0]}}, Aggs: []logical.AggCall{optest.Count(20)},
				State: &logical.StateInfo{ID: "agg", EventTime: 1, Mode: logical.Update},
			}
			row := func(at any, n int64) optest.Row { return optest.Row{at, n} }
			if both {
				a.Groups = append(a.Groups, logical.Alias{Expr: cols[2].Ref(), Attr: cols[2]})
				row = func(at any, n int64) optest.Row { return optest.Row{at, int64(1), n} }
			}
			none := optest.Row{nil, "a", int64(1)}
			d := drive(t, a, o, map[string]int64{"e": 0})
			d.batch(optest.Input{"e": {none, ev(5, "a"), ev(5, "a"), ev(7, "a")}}, row(nil, 1), row(5*sec, 2), row(7*sec, 1))
			d.batch(optest.Input{"e": {none, ev(9, "a")}}, row(nil, 2), row(9*sec, 1))
			d.batch(optest.Input{"e": {ev(7, "a"), ev(20, "a")}}, row(20*sec, 1)) // 7 is late
			d.batch(optest.Input{"e": {none}}, row(nil, 3))
			if c := d.r.Plan().Counters().Operators[0]; c.StateRows != 1 {
				t.Errorf("%d groups are kept", c.StateRows)
			}
			d.r.Close()
		}
	}
}
