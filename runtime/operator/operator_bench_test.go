package operator_test

import (
	"math/rand/v2"
	"testing"

	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// benchBatches makes batches of (k BIGINT, s STRING, v BIGINT) without nulls.
func benchBatches(pool *column.Pool, n, keys int) []*column.Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []*column.Batch
	for range n {
		b := pool.Batch()
		k, s, v := pool.Vector(i64), pool.Vector(str), pool.Vector(i64)
		for range column.BatchRows {
			x := rng.IntN(keys)
			k.I64 = append(k.I64, int64(x))
			s.AppendStr([]byte("key-" + string(rune('a'+x%26)) + string(rune('a'+x/26%26)) + string(rune('a'+x/676%26))))
			v.I64 = append(v.I64, int64(rng.IntN(1000)))
		}
		k.Len, v.Len = len(k.I64), len(v.I64)
		b.Cols, b.Len = append(b.Cols, k, s, v), column.BatchRows
		out = append(out, b)
	}
	return out
}

func benchPlan(b *testing.B, root logical.Node, batches int, keys int, step stream.Step) {
	pool := column.NewPool()
	in := benchBatches(pool, batches, keys)
	plan, err := operator.Build(root, operator.Env{Pool: pool, Session: optest.Session(), Output: func(int, *column.Batch) error { return nil }})
	if err != nil {
		b.Fatal(err)
	}
	defer plan.Close()
	rows := 0
	b.ResetTimer()
	for range b.N {
		if err := plan.Begin(step); err != nil {
			b.Fatal(err)
		}
		for scan := range plan.Scans() {
			for _, x := range in {
				if err := plan.Push(0, scan, x); err != nil {
					b.Fatal(err)
				}
				rows += x.Len
			}
			if err := plan.EndScan(scan); err != nil {
				b.Fatal(err)
			}
		}
		if err := plan.EndStep(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkProject(b *testing.B) {
	s := table("t", 1)
	f := &logical.Filter{Input: s, Cond: optest.Call(">", ref(s, 2), optest.Int(100))}
	p := &logical.Project{Input: f, Exprs: []logical.Alias{optest.Named(10, "a", optest.Call("+", ref(s, 2), ref(s, 0))), optest.Named(11, "s", ref(s, 1))}}
	benchPlan(b, p, 64, 10000, stream.Step{Bounded: true})
}

func benchAggregate(b *testing.B, keys int, cols ...int) {
	s := table("t", 1)
	a := &logical.Aggregate{Input: s, Aggs: []logical.AggCall{optest.Count(20), optest.Sum(21, ref(s, 2))}}
	for i, c := range cols {
		a.Groups = append(a.Groups, optest.Named(logical.ColumnID(10+i), "g", ref(s, c)))
	}
	benchPlan(b, a, 512, keys, stream.Step{Bounded: true})
}

func BenchmarkAggregateInt(b *testing.B)     { benchAggregate(b, 10000, 0) }
func BenchmarkAggregateInt1M(b *testing.B)   { benchAggregate(b, 1000000, 0) }
func BenchmarkAggregateTwoInts(b *testing.B) { benchAggregate(b, 100, 0, 2) }
func BenchmarkAggregateText(b *testing.B)    { benchAggregate(b, 10000, 1) }
func BenchmarkAggregateIntText(b *testing.B) { benchAggregate(b, 10000, 0, 1) }

func BenchmarkJoin(b *testing.B) {
	l, r := table("l", 1), table("r", 4)
	j := &logical.Join{Left: l, Right: &logical.Aggregate{Input: r, Groups: []logical.Alias{{Expr: ref(r, 0), Attr: r.Columns[0]}}, Aggs: []logical.AggCall{optest.Count(20)}},
		LeftKeys: []logical.Expr{ref(l, 0)}, RightKeys: []logical.Expr{ref(r, 0)}, NullSafe: []bool{false}}
	benchPlan(b, j, 256, 10000, stream.Step{Bounded: true})
}

func BenchmarkSort(b *testing.B) {
	s := table("t", 1)
	benchPlan(b, &logical.Sort{Input: s, Keys: []logical.SortKey{{Expr: ref(s, 2)}, {Expr: ref(s, 1)}}, Limit: -1}, 64, 10000, stream.Step{Bounded: true})
}

func BenchmarkTopN(b *testing.B) {
	s := table("t", 1)
	benchPlan(b, &logical.Sort{Input: s, Keys: []logical.SortKey{{Expr: ref(s, 0)}}, Limit: 100}, 64, 1000000, stream.Step{Bounded: true})
}
