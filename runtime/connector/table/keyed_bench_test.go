package table_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/table"
	"pipelines/stores/memory"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format/parquet"
	"pipelines/tables/schema"
)

// loaded is an AUTO CDC sink of type 1 with a state in memory, and batches of
// changes for it.
type loaded struct {
	bench
	batches []*column.Batch
}

func newLoaded(tb testing.TB, rows, keys int) *loaded {
	l := &loaded{bench: bench{pool: column.NewPool(), state: map[string][]byte{}}}
	fields := []schema.Field{{Name: "k", Type: schema.Of(schema.Int64), Nullable: true}, {Name: "v", Type: schema.Of(schema.String), Nullable: true}}
	var err error
	l.table, err = tables.Create(tb.Context(), tables.Options{Store: memory.New(memory.Options{}), Folder: "t"}, tables.Definition{Schema: schema.Schema{Fields: fields}})
	if err != nil {
		tb.Fatal(err)
	}
	l.sink = table.NewKeyed(table.KeyedOptions{
		SinkOptions: table.SinkOptions{Table: l.table, Format: parquet.New(), Extension: ".parquet", Schema: schema.Schema{Fields: fields}, Location: time.UTC, Pool: l.pool},
		Name:        "t", Keys: []int{0}, Changes: &table.ChangeOptions{Sequence: schema.Of(schema.Int64), Meaning: "bench"},
	})
	if err := l.sink.(connector.Stateful).StartState(noState{}); err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for at := 0; at < rows; at += column.BatchRows {
		b := l.pool.Batch()
		for _, t := range []schema.Type{schema.Of(schema.Int64), schema.Of(schema.String), schema.Of(schema.Int64), schema.Of(schema.Int8)} {
			b.Cols = append(b.Cols, l.pool.Vector(t))
		}
		for i := at; i < min(at+column.BatchRows, rows); i++ {
			column.AppendValue(b.Cols[0], rng.IntN(keys))
			column.AppendValue(b.Cols[1], fmt.Sprintf("value-%d", rng.IntN(1<<30)))
			column.AppendValue(b.Cols[2], i)
			b.Cols[3].AppendNull()
			b.Len++
		}
		l.batches = append(l.batches, b)
	}
	return l
}

// noState is a state without entries.
type noState struct{}

func (noState) Prefixes([][]byte, func(int, []byte, []byte) error) error { return nil }

func (l *loaded) epoch(tb testing.TB, n int64) {
	info := connector.EpochInfo{AppID: "app", Epoch: n}
	ep, err := l.sink.Begin(tb.Context(), info)
	if err != nil {
		tb.Fatal(err)
	}
	for _, b := range l.batches {
		if err := ep.Write(0, b); err != nil {
			tb.Fatal(err)
		}
	}
	token, err := ep.Prepare(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if err := l.sink.Commit(tb.Context(), info, token); err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkChanges(b *testing.B) {
	const rows = 200_000
	l := newLoaded(b, rows, 120_000)
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		l.epoch(b, n)
		n++
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
