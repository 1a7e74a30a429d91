package operator_test

import (
	"math/rand/v2"
	"testing"

	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// benchStream pushes epochs of (ts TIMESTAMP, k BIGINT, v BIGINT), 10,000 rows
// a second of event time, each epoch's watermark one behind.
func benchStream(b *testing.B, root logical.Node, keys int) {
	pool := column.NewPool()
	plan, err := operator.Build(root, operator.Env{Pool: pool, Session: optest.Session(), Output: func(int, *column.Batch) error { return nil }})
	if err != nil {
		b.Fatal(err)
	}
	defer plan.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	const batches = 32
	at, rows := int64(1e12), 0
	late, evict := int64(0), int64(0)
	var in []*column.Batch
	b.ResetTimer()
	for epoch := range b.N {
		b.StopTimer()
		in = in[:0]
		for range batches {
			x := pool.Batch()
			t, k, v := pool.Vector(ts), pool.Vector(i64), pool.Vector(i64)
			for range column.BatchRows {
				at += 100
				t.I64, k.I64, v.I64 = append(t.I64, at), append(k.I64, int64(rng.IntN(keys))), append(v.I64, int64(rng.IntN(1000)))
			}
			t.Len, k.Len, v.Len = len(t.I64), len(k.I64), len(v.I64)
			x.Cols, x.Len = append(x.Cols, t, k, v), column.BatchRows
			in = append(in, x)
		}
		b.StartTimer()
		if err := plan.Begin(stream.Step{Epoch: int64(epoch), Late: late, Evict: evict}); err != nil {
			b.Fatal(err)
		}
		for scan := range plan.Scans() {
			for _, x := range in {
				if err := plan.Push(0, scan, x); err != nil {
					b.Fatal(err)
				}
				rows += x.Len
			}
		}
		if err := plan.EndStep(); err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, s := range plan.State() {
			if err := s.Changes(func(k, v []byte) { n += len(k) + len(v) }); err != nil {
				b.Fatal(err)
			}
		}
		late, evict = evict, at-4e6
		for _, x := range in {
			x.Release()
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func benchEvents(id string, first logical.ColumnID) (logical.Node, []logical.Attr) {
	cols := optest.Columns(first, optest.Field("ts", ts), optest.Field("k", i64), optest.Field("v", i64))
	w := &logical.Watermark{Input: optest.Scan(id, true, cols), Column: first, Delay: 4 * sec, ID: id}
	return w, w.Output()
}

func BenchmarkTumbling(b *testing.B) {
	e, cols := benchEvents("e", 1)
	a := counts(e, cols[0].Ref(), 10, 10, logical.Append)
	a.Groups = append(a.Groups, logical.Alias{Expr: cols[1].Ref(), Attr: cols[1]})
	benchStream(b, a, 10000)
}

func benchSliding(b *testing.B, size, slide int64) {
	e, cols := benchEvents("e", 1)
	a := counts(e, cols[0].Ref(), 10, size, logical.Append)
	a.Input.(*logical.TimeWindow).Slide = slide * sec
	a.Groups = append(a.Groups, logical.Alias{Expr: cols[1].Ref(), Attr: cols[1]})
	benchStream(b, a, 1000)
}

func BenchmarkSliding5(b *testing.B)   { benchSliding(b, 10, 2) }
func BenchmarkSliding360(b *testing.B) { benchSliding(b, 3600, 10) }

func BenchmarkSessions(b *testing.B) {
	e, cols := benchEvents("e", 1)
	sw := logical.Attr{ID: 10, Name: "session", Type: windowType()}
	benchStream(b, &logical.Aggregate{
		Input:  &logical.SessionWindow{Input: e, Time: cols[0].Ref(), Gap: optest.Value(schema.Of(schema.DayTimeInterval), 1*sec), Column: sw},
		Groups: []logical.Alias{{Expr: sw.Ref(), Attr: sw}, {Expr: cols[1].Ref(), Attr: cols[1]}},
		Aggs:   []logical.AggCall{optest.Count(20)}, State: &logical.StateInfo{ID: "sessions", EventTime: 10, IsWindow: true},
	}, 5000)
}

func BenchmarkDedup(b *testing.B) {
	e, _ := benchEvents("e", 1)
	benchStream(b, &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{2}, WithinWatermark: true, State: &logical.StateInfo{ID: "dedup", EventTime: 1}}, 100000)
}

func BenchmarkStreamJoin(b *testing.B) {
	l, lc := benchEvents("l", 1)
	r, rc := benchEvents("r", 4)
	benchStream(b, &logical.Join{Left: l, Right: r, LeftKeys: []logical.Expr{lc[1].Ref()}, RightKeys: []logical.Expr{rc[1].Ref()}, NullSafe: []bool{false},
		Cond:  notAfter(rc[0].Ref(), lc[0].Ref(), sec),
		State: &logical.StateInfo{ID: "join"},
		Time:  &logical.TimeBounds{LeftTime: 1, RightTime: 4, LeftBound: true, LeftUntil: sec, RightBound: true}}, 100000)
}
