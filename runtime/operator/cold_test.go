package operator_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// coldPlans are stateful plans whose keys can leave memory, over the streams e and r
// of (ts, k, v).
func coldPlans() map[string]func() logical.Node {
	out := map[string]func() logical.Node{
		"dedup": func() logical.Node {
			e, _ := events("e", 1, 20*sec)
			return &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{2}, WithinWatermark: true, State: &logical.StateInfo{ID: "s", EventTime: 1}}
		},
		"dedup by time": func() logical.Node {
			e, _ := events("e", 1, 20*sec)
			return &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{1, 3}, State: &logical.StateInfo{ID: "s", EventTime: 1}}
		},
		"dedup for ever": func() logical.Node {
			e, _ := events("e", 1, 20*sec)
			return &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{3}, State: &logical.StateInfo{ID: "s", EventTime: -1}}
		},
		"dedup with a ttl": func() logical.Node {
			e, _ := events("e", 1, 20*sec)
			return &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{1, 3}, State: &logical.StateInfo{ID: "s", EventTime: 1, TTL: 25 * sec}}
		},
		"windows of a number":         func() logical.Node { return coldWindows(2, logical.Append, 0) },
		"windows of a text":           func() logical.Node { return coldWindows(1, logical.Append, 0) },
		"windows with a ttl":          func() logical.Node { return coldWindows(1, logical.Append, 25*sec) },
		"updated windows of a number": func() logical.Node { return coldWindows(2, logical.Update, 0) },
		"updated windows of a text":   func() logical.Node { return coldWindows(1, logical.Update, 0) },
		"updated windows with a ttl":  func() logical.Node { return coldWindows(2, logical.Update, 25*sec) },
		"updated keys":                func() logical.Node { return coldKeys(logical.Update, 0, false) },
		"updated keys with a ttl":     func() logical.Node { return coldKeys(logical.Update, 25*sec, false) },
		"updated sets":                func() logical.Node { return coldKeys(logical.Update, 0, true) },
		"updated sets with a ttl":     func() logical.Node { return coldKeys(logical.Update, 25*sec, true) },
		"one set": func() logical.Node {
			a := coldKeys(logical.Update, 0, true).(*logical.Aggregate)
			a.Groups = nil
			return a
		},
		"one set, complete": func() logical.Node {
			a := coldKeys(logical.Complete, 0, true).(*logical.Aggregate)
			a.Groups = nil
			return a
		},
		"all keys": func() logical.Node { return coldKeys(logical.Complete, 0, false) },
		"all sets": func() logical.Node { return coldKeys(logical.Complete, 0, true) },
		"windows of sets": func() logical.Node {
			a := coldWindows(1, logical.Append, 0)
			d := optest.Count(26, a.Input.(*logical.TimeWindow).Input.Output()[2].Ref())
			d.Distinct = true
			a.Aggs = append(a.Aggs, d)
			return a
		},
		"panes of a text":   func() logical.Node { return coldPanes(1) },
		"panes of a number": func() logical.Node { return coldPanes(2) },
	}
	for _, typ := range []logical.JoinType{logical.InnerJoin, logical.LeftJoin, logical.RightJoin, logical.FullJoin, logical.SemiJoin, logical.AntiJoin} {
		out[fmt.Sprint("join ", typ)] = func() logical.Node { return coldJoin(typ, true, 0) }
	}
	out["join without bounds"] = func() logical.Node { return coldJoin(logical.InnerJoin, false, 0) }
	for _, typ := range []logical.JoinType{logical.FullJoin, logical.AntiJoin} {
		out[fmt.Sprint("join of one key ", typ)] = func() logical.Node { return oneKeyJoin(typ) }
	}
	out["join with a ttl"] = func() logical.Node { return coldJoin(logical.InnerJoin, false, 25*sec) }
	out["first rows"] = func() logical.Node { return coldTop(false, 1, logical.Append, 0) }
	out["last rows"] = func() logical.Node { return coldTop(true, 1, logical.Update, 0) }
	out["top three"] = func() logical.Node { return coldTop(false, 3, logical.Update, 0) }
	out["top three with a ttl"] = func() logical.Node { return coldTop(true, 3, logical.Update, 25*sec) }
	out["first rows with a ttl"] = func() logical.Node { return coldTop(false, 1, logical.Append, 25*sec) }
	out["sessions"] = func() logical.Node { return coldSessions(logical.Append, true, 0) }
	out["sessions with a ttl"] = func() logical.Node { return coldSessions(logical.Append, true, 12*sec) }
	out["all sessions"] = func() logical.Node { return coldSessions(logical.Complete, true, 0) }
	return out
}

// coldSessions counts by sessions of a tenth of the number.
func coldSessions(mode logical.OutputMode, stream bool, ttl int64) *logical.Aggregate {
	var e logical.Node
	e, cols := events("e", 1, 5*sec)
	if !stream {
		cols = optest.Columns(1, optest.Field("ts", ts), optest.Field("k", str), optest.Field("v", i64))
		e = optest.Scan("e", false, cols)
	}
	sw := logical.Attr{ID: 10, Name: "session", Type: windowType()}
	d := optest.Count(21, cols[2].Ref())
	d.Distinct = true
	n := &logical.Aggregate{
		Input:  &logical.SessionWindow{Input: e, Time: cols[0].Ref(), Gap: optest.Value(schema.Of(schema.DayTimeInterval), 4*sec), Column: sw},
		Groups: []logical.Alias{{Expr: sw.Ref(), Attr: sw}, optest.Named(15, "key", optest.Call("div", cols[2].Ref(), optest.Int(10)))},
		Aggs:   []logical.AggCall{optest.Count(20), d, optest.Sum(22, cols[2].Ref())},
	}
	if stream {
		n.State = &logical.StateInfo{ID: "s", EventTime: 10, IsWindow: true, Mode: mode, TTL: ttl}
	}
	return n
}

// coldTop keeps the first rows by a tenth of the number.
func coldTop(descending bool, n int64, mode logical.OutputMode, ttl int64) logical.Node {
	e, cols := events("e", 1, 5*sec)
	f := rowNumber(e, cols, descending, n, mode).(*logical.Filter)
	w := f.Input.(*logical.Window)
	w.State.TTL = ttl
	w.PartitionBy = []logical.Expr{optest.Call("div", cols[2].Ref(), optest.Int(10))}
	return f
}

// coldJoin joins e and r by the number, null being equal to null, near in time.
func coldJoin(typ logical.JoinType, bound bool, ttl int64) logical.Node {
	e, ec := events("e", 1, 5*sec)
	r, rc := events("r", 4, 8*sec)
	n := &logical.Join{Left: e, Right: r, Type: typ, LeftKeys: []logical.Expr{optest.Call("div", ec[2].Ref(), optest.Int(7))}, NullSafe: []bool{true},
		RightKeys: []logical.Expr{optest.Call("div", rc[2].Ref(), optest.Int(7))},
		State:     &logical.StateInfo{ID: "join", TTL: ttl}, Time: &logical.TimeBounds{LeftTime: -1, RightTime: -1}}
	if bound {
		n.Cond = &logical.And{Args: []logical.Expr{notAfter(rc[0].Ref(), ec[0].Ref(), 5*sec), notAfter(ec[0].Ref(), rc[0].Ref(), 3*sec)}}
		n.Time = &logical.TimeBounds{LeftTime: 1, RightTime: 4, LeftBound: true, LeftUntil: 5*sec + 1000, RightBound: true, RightUntil: 3*sec + 1000}
	}
	return n
}

// oneKeyJoin is a coldJoin whose rows all have the same key, which does not fit
// the memory, but few partners.
func oneKeyJoin(typ logical.JoinType) logical.Node {
	n := coldJoin(typ, true, 0).(*logical.Join)
	l, r := n.Left.Output(), n.Right.Output()
	n.LeftKeys, n.RightKeys = []logical.Expr{optest.Call("div", l[2].Ref(), optest.Int(1<<20))}, []logical.Expr{optest.Call("div", r[2].Ref(), optest.Int(1<<20))}
	n.Cond = &logical.And{Args: []logical.Expr{notAfter(r[0].Ref(), l[0].Ref(), sec/50), notAfter(l[0].Ref(), r[0].Ref(), 0)}}
	n.Time.LeftUntil, n.Time.RightUntil = sec/50+1000, 1000
	return n
}

// coldKeys counts by key, of the few texts where values are in sets.
func coldKeys(mode logical.OutputMode, ttl int64, distinct bool) logical.Node {
	e, cols := events("e", 1, 5*sec)
	d := optest.Count(22, cols[2].Ref())
	d.Distinct = distinct
	key := logical.Alias{Expr: cols[1].Ref(), Attr: cols[1]}
	if distinct {
		key = optest.Named(15, "few", optest.Call("substring", cols[1].Ref(), optest.Value(i32, int32(1)), optest.Value(i32, int32(6))))
	}
	return &logical.Aggregate{
		Input: e, Groups: []logical.Alias{key}, Aggs: []logical.AggCall{optest.Count(20), d, optest.Sum(21, cols[2].Ref())},
		State: &logical.StateInfo{ID: "s", EventTime: -1, Mode: mode, TTL: ttl},
	}
}

// coldWindows counts by window and column i.
func coldWindows(i int, mode logical.OutputMode, ttl int64) *logical.Aggregate {
	e, cols := events("e", 1, 5*sec)
	a := counts(e, cols[0].Ref(), 10, 10, mode)
	a.State.TTL = ttl
	a.Groups = append(a.Groups, logical.Alias{Expr: cols[i].Ref(), Attr: cols[i]})
	a.Aggs = append(a.Aggs, optest.Sum(25, cols[2].Ref()))
	return a
}

// coldPanes counts by sliding windows and column i.
func coldPanes(i int) logical.Node {
	a := coldWindows(i, logical.Append, 0)
	a.Input.(*logical.TimeWindow).Slide = 2 * sec
	return a
}

// coldInput is the input of an epoch: times move on, some come late.
func coldInput(rng *rand.Rand, at *float64) optest.Input {
	in := optest.Input{}
	for range 1300 {
		*at += rng.Float64() / 100
		r := optest.Row{int64((*at - 30*rng.Float64()) * 1e6), fmt.Sprintf("key %d", rng.IntN(30000)), int64(rng.IntN(30000))}
		for i := range r {
			if rng.IntN(100) == 0 {
				r[i] = nil
			}
		}
		id := "e"
		if rng.IntN(2) == 0 {
			id = "r"
		}
		in["e"], in[id] = append(in["e"], r), append(in[id], r)
	}
	in["r"] = in["r"][:len(in["r"])/2]
	return in
}

// coldRun runs a plan over five epochs, and one without data.
func coldRun(t *testing.T, plan logical.Node, o optest.Options, seed uint64) (out [][]optest.Row, counts []string, bytes int64) {
	delays := map[string]int64{"e": 20 * sec}
	logical.WalkNode(plan, func(n logical.Node) bool {
		if w, ok := n.(*logical.Watermark); ok {
			delays[w.ID] = w.Delay
		}
		return true
	})
	d := drive(t, plan, o, delays)
	defer d.r.Close()
	rng := rand.New(rand.NewPCG(seed, 3))
	at := 100.0
	for epoch := range 6 {
		d.now = int64(1000+10*epoch) * sec
		in := coldInput(rng, &at)
		if epoch == 5 {
			in = nil
		}
		rows := d.step(in)
		c := d.r.Counts[0]
		bytes = max(bytes, c.StateBytes)
		c.StateBytes = 0
		out, counts = append(out, rows), append(counts, fmt.Sprintf("%+v", c))
	}
	return out, counts, bytes
}

// TestColdState runs over little memory what has all the memory there is: the
// rows and counts are the same, also over restarts with other numbers of lanes.
func TestColdState(t *testing.T) {
	const memory = 100 << 10
	for name, plan := range coldPlans() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, counts, bytes := coldRun(t, plan(), optest.Options{BatchSize: 500}, 1)
			if bytes < memory*3/2 {
				t.Errorf("%d bytes of state are too few to tell", bytes)
			}
			for i, o := range []optest.Options{
				{BatchSize: 500},
				{BatchSize: 500, Resume: true, Snapshots: true, Bulk: true},
				{BatchSize: 400, Resume: true, LaneCounts: []int{1, 3, 2}},
			} {
				o.Memory, o.Spill = memory, true
				got, its, _ := coldRun(t, plan(), o, 1)
				for epoch := range want {
					if s := optest.Diff(got[epoch], want[epoch], false); s != "" {
						t.Fatalf("options %d, epoch %d: %d rows, want %d: %.2000s", i, epoch, len(got[epoch]), len(want[epoch]), s)
					}
					if its[epoch] != counts[epoch] {
						t.Fatalf("options %d, epoch %d: %s, want %s", i, epoch, its[epoch], counts[epoch])
					}
				}
			}
		})
	}
}

// TestColdBatch runs sessions and sliding windows of a bounded query over little memory.
func TestColdBatch(t *testing.T) {
	rng, at := rand.New(rand.NewPCG(4, 4)), 100.0
	in := optest.Input{"e": coldInput(rng, &at)["e"]}
	coldBatch(t, coldSessions(logical.Append, false, 0), in)
	cols := optest.Columns(1, optest.Field("ts", ts), optest.Field("k", str), optest.Field("v", i64))
	a := counts(optest.Scan("e", false, cols), cols[0].Ref(), 10, 10, logical.Append)
	a.State, a.Input.(*logical.TimeWindow).Slide = nil, 2*sec
	a.Groups = append(a.Groups, logical.Alias{Expr: cols[2].Ref(), Attr: cols[2]})
	coldBatch(t, a, in)
}

func coldBatch(t *testing.T, plan logical.Node, in optest.Input) {
	t.Helper()
	want, err := optest.Query(t, plan, optest.Options{BatchSize: 500}, in)
	if err != nil || len(want) < 300 {
		t.Fatal(len(want), err)
	}
	if _, err := optest.Query(t, plan, optest.Options{BatchSize: 100, Memory: 70 << 10}, in); err == nil || !strings.Contains(err.Error(), "raise memory") {
		t.Fatalf("without spilling: %v", err)
	}
	for _, lanes := range []int{1, 2} {
		got, err := optest.Query(t, plan, optest.Options{BatchSize: 20, Memory: 70 << 10, Spill: true, Lanes: lanes}, in)
		if err != nil {
			t.Fatal(err)
		}
		if s := optest.Diff(got, want, false); s != "" {
			t.Fatalf("%.2000s", s)
		}
	}
}

// TestColdAllGone: where all groups of an epoch go in the next, the memory that
// they took is given up whatever there is of it.
func TestColdAllGone(t *testing.T) {
	run := func(memory int64) (out [][]optest.Row) {
		plan := coldPlans()["windows of sets"]()
		d := drive(t, plan, optest.Options{BatchSize: 500, Memory: memory, Spill: memory > 0, Lanes: 2}, map[string]int64{"e": 5 * sec})
		defer d.r.Close()
		rng := rand.New(rand.NewPCG(8, 3))
		for epoch := range 6 {
			at := float64(1000 * epoch)
			in := optest.Input{}
			for range 1 + 3*(epoch%2) {
				in["e"] = append(in["e"], coldInput(rng, &at)["e"]...)
			}
			out = append(out, d.step(in))
		}
		return out
	}
	want := run(0)
	for memory := int64(140 << 10); memory < 1<<20; memory = memory * 2 {
		for epoch, got := range run(memory) {
			if s := optest.Diff(got, want[epoch], false); s != "" {
				t.Fatalf("%d bytes, epoch %d: %.2000s", memory, epoch, s)
			}
		}
	}
}
