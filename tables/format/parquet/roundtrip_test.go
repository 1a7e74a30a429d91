package parquet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

var allowPair = cmp.AllowUnexported(pair{})

func genRows(t *rapid.T, s schema.Schema, atMost int) [][]any {
	var rows [][]any
	for range rapid.IntRange(0, atMost).Draw(t, "rows") {
		row := make([]any, len(s.Fields))
		for i, f := range s.Fields {
			row[i] = genValue(t, f.Type, true)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestWriteRandom writes random batches and reads them with parquet-go's rows
// and with our reader.
func TestWriteRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := schema.Schema{Fields: genFields(rt, 2, "c")}
		o := map[string]string{
			"compression":        rapid.SampledFrom([]string{"snappy", "zstd", "none", "gzip"}).Draw(rt, "codec"),
			"parquet.block.size": rapid.SampledFrom([]string{"1", "500", "1000000"}).Draw(rt, "group"),
		}
		var want [][]any
		var batches []*column.Batch
		for range rapid.IntRange(1, 3).Draw(rt, "batches") {
			rows := genRows(rt, s, 20)
			b := batchOf(s, rows)
			if rapid.Bool().Draw(rt, "select") {
				sel := []int32{}
				var kept [][]any
				for i := range rows {
					if rapid.Bool().Draw(rt, "keep") {
						sel, kept = append(sel, int32(i)), append(kept, rows[i])
					}
				}
				b.Sel, rows = sel, kept
			}
			want = append(want, rows...)
			batches = append(batches, b)
		}
		data, stats := writeAll(rt, s, o, batches...)
		if int(stats.Rows) != len(want) {
			rt.Fatalf("%d rows, want %d", stats.Rows, len(want))
		}
		if d := cmp.Diff(want, refRead(rt, s, data), allowPair); d != "" {
			rt.Fatalf("parquet-go reads %s: %s", s.DDL(), d)
		}
		pool := column.NewPool()
		got, err := readAll(data, format.ReadSpec{Declared: s, Columns: s, Pool: pool, BatchRows: rapid.IntRange(1, 30).Draw(rt, "batch")})
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(want, got, allowPair); d != "" {
			rt.Fatalf("our reader: %s: %s", s.DDL(), d)
		}
		checkDescribed(rt, s, data, want)
		if v, b := pool.Live(); v != 0 || b != 0 {
			rt.Fatalf("%d vectors, %d batches leak", v, b)
		}
	})
}

// TestReadRandom reads what parquet-go wrote, in several forms.
func TestReadRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := schema.Schema{Fields: genFields(rt, 2, "c")}
		rows := genRows(rt, s, 40)
		o := []pq.WriterOption{
			pq.DataPageVersion(rapid.IntRange(1, 2).Draw(rt, "page")),
			pq.PageBufferSize(rapid.SampledFrom([]int{20, 200, 100000}).Draw(rt, "size")),
			[]pq.WriterOption{pq.Compression(&pq.Snappy), pq.Compression(&pq.Zstd), pq.Compression(&pq.Uncompressed),
				pq.Compression(&pq.Gzip), pq.Compression(&pq.Brotli), pq.Compression(&pq.Lz4Raw)}[rapid.IntRange(0, 5).Draw(rt, "codec")],
			pq.MaxRowsPerRowGroup(rapid.SampledFrom([]int64{7, 1000}).Draw(rt, "group")),
		}
		switch rapid.IntRange(0, 3).Draw(rt, "encoding") {
		case 1:
			o = append(o, pq.DefaultEncoding(&pq.RLEDictionary))
		case 2:
			o = append(o, pq.DefaultEncodingFor(pq.ByteArray, &pq.DeltaByteArray), pq.DefaultEncodingFor(pq.Int64, &pq.DeltaBinaryPacked),
				pq.DefaultEncodingFor(pq.FixedLenByteArray, &pq.DeltaByteArray), pq.DefaultEncodingFor(pq.Boolean, &pq.RLE))
		case 3:
			o = append(o, pq.DefaultEncodingFor(pq.ByteArray, &pq.Plain), pq.DefaultEncodingFor(pq.Double, &pq.ByteStreamSplit),
				pq.DefaultEncodingFor(pq.Int32, &pq.ByteStreamSplit), pq.DefaultEncodingFor(pq.FixedLenByteArray, &pq.ByteStreamSplit))
		}
		data := refWrite(rt, s, rows, o...)
		pool := column.NewPool()
		got, err := readAll(data, format.ReadSpec{Declared: s, Columns: s, Pool: pool, BatchRows: rapid.IntRange(1, 30).Draw(rt, "batch")})
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(rows, got, allowPair); d != "" {
			rt.Fatalf("our reader: %s: %s", s.DDL(), d)
		}
		checkDescribed(rt, s, data, rows)
		if v, b := pool.Live(); v != 0 || b != 0 {
			rt.Fatalf("%d vectors, %d batches leak", v, b)
		}
	})
}

// TestBids writes and reads a file of several row groups and many pages.
func TestBids(t *testing.T) {
	s := bidSchema()
	batches := bidBatches(30, 2048)
	data, _ := writeAll(t, s, map[string]string{"parquet.block.size": "1500000"}, batches...)
	got, err := readAll(data, format.ReadSpec{Columns: s, Pool: column.NewPool(), BatchRows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for _, b := range batches {
		for i := range b.Len {
			for c, v := range b.Cols {
				if x := at(v, i); row >= len(got) || got[row][c] != x {
					t.Fatalf("row %d of %d, column %d: want %v", row, len(got), c, x)
				}
			}
			row++
		}
	}
	if row != len(got) {
		t.Errorf("%d rows, want %d", len(got), row)
	}
}
