package operator_test

import (
	"testing"

	"pipelines/runtime/budget"
	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// BenchmarkSortSpills sorts rows of three columns in memory and in little of it.
func BenchmarkSortSpills(b *testing.B) {
	const rows = 200_000
	for name, memory := range map[string]int64{"memory": 0, "spill": 4 << 20} {
		b.Run(name, func(b *testing.B) {
			s := table("t", 1)
			n := &logical.Sort{Input: s, Limit: -1, Keys: []logical.SortKey{{Expr: ref(s, 0)}}}
			pool := column.NewPool()
			plan, err := operator.Build(n, operator.Env{
				Pool: pool, Session: optest.Session(), Budget: budget.New(memory, 1), TempDir: b.TempDir(),
				Output: func(int, *column.Batch) error { return nil },
			})
			if err != nil {
				b.Fatal(err)
			}
			defer plan.Close()
			batch := pool.Batch()
			for _, c := range s.Columns {
				batch.Cols = append(batch.Cols, pool.Vector(c.Type))
			}
			defer batch.Release()
			b.SetBytes(rows)
			for range b.N {
				if err := plan.Begin(stream.Step{Bounded: true}); err != nil {
					b.Fatal(err)
				}
				for from := 0; from < rows; from += column.BatchRows {
					fillBatch(batch, from)
					if err := plan.Push(0, 0, batch); err != nil {
						b.Fatal(err)
					}
				}
				if err := plan.EndStep(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fillBatch makes rows from a number on.
func fillBatch(b *column.Batch, from int) {
	for _, v := range b.Cols {
		v.Truncate(0)
	}
	for i := range column.BatchRows {
		x := int64(from+i) * 7919 % 1_000_003
		b.Cols[0].I64 = append(b.Cols[0].I64, x)
		b.Cols[1].AppendStr([]byte("some text that is here"))
		b.Cols[2].I64 = append(b.Cols[2].I64, x)
	}
	b.Len = column.BatchRows
	b.Cols[0].Len, b.Cols[2].Len = b.Len, b.Len
}
