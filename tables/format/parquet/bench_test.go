package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

func bidSchema() schema.Schema {
	f := func(n string, t schema.Type) schema.Field { return schema.Field{Name: n, Type: t, Nullable: true} }
	i64 := schema.Of(schema.Int64)
	return schema.Schema{Fields: []schema.Field{f("event_id", i64), f("auction", i64), f("bidder", i64), f("price", i64),
		f("price_eur", schema.DecimalOf(23, 3)), f("channel", schema.Of(schema.String)), f("url", schema.Of(schema.String)),
		f("date_time", schema.Of(schema.Timestamp)), f("extra", schema.Of(schema.String)), f("dt", schema.Of(schema.Date)),
		f("hr", schema.Of(schema.Int32)), f("big", schema.Of(schema.Boolean))}}
}

// bidBatches makes n batches of rows like Nexmark's bids.
func bidBatches(n, rows int) []*column.Batch {
	s := bidSchema()
	rnd := rand.New(rand.NewPCG(1, 2))
	hot := []string{"Google", "Facebook", "Baidu", "Apple"}
	letters := []byte("abcdefghijklmnopqrstuvwxyz")
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[rnd.IntN(26)]
		}
		return string(b)
	}
	urls := make([]string, 10_004)
	for i := range urls {
		urls[i] = "https://www.nexmark.com/" + word(4) + "/" + word(5) + "/" + word(4) + "/item.htm?query=1&channel_id=" + fmt.Sprint(rnd.IntN(1<<30))
	}
	var out []*column.Batch
	id := int64(0)
	for range n {
		b := &column.Batch{Len: rows}
		for _, f := range s.Fields {
			v := column.New(f.Type)
			v.Len = rows
			b.Cols = append(b.Cols, v)
		}
		c := b.Cols
		for range rows {
			price := int64(rnd.ExpFloat64() * 1e6)
			ch := rnd.IntN(10_000)
			name := fmt.Sprintf("channel-%d", ch)
			if rnd.IntN(2) == 0 {
				ch = 10_000 + rnd.IntN(4)
				name = hot[ch-10_000]
			}
			c[0].I64 = append(c[0].I64, id)
			c[1].I64 = append(c[1].I64, 1000+id/50+int64(rnd.IntN(100)))
			c[2].I64 = append(c[2].I64, 1000+id/40+int64(rnd.IntN(1000)))
			c[3].I64 = append(c[3].I64, price)
			c[4].I128 = append(c[4].I128, column.FromInt64(price*908))
			c[5].AppendStr([]byte(name))
			c[6].AppendStr([]byte(urls[ch]))
			c[7].I64 = append(c[7].I64, 1_700_000_000_000_000+id*100/1000*1000)
			c[8].AppendStr([]byte(word(20 + rnd.IntN(20))))
			c[9].I32 = append(c[9].I32, 19675)
			c[10].I32 = append(c[10].I32, int32(id/3_600_000%24))
			c[11].Bool = append(c[11].Bool, price > 1_000_000)
			id++
		}
		out = append(out, b)
	}
	return out
}

func benchWrite(b *testing.B, codec string) {
	batches := bidBatches(100, 2048)
	s := bidSchema()
	f := New()
	rows, size := int64(0), int64(0)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		w, err := f.Create(io.Discard, format.WriteSpec{Schema: s, StatsColumns: 32, Options: map[string]string{"compression": codec}})
		if err != nil {
			b.Fatal(err)
		}
		for _, x := range batches {
			if err := w.Write(x); err != nil {
				b.Fatal(err)
			}
		}
		st, err := w.Close()
		if err != nil {
			b.Fatal(err)
		}
		rows += st.Rows
		size += st.Bytes
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(size)/float64(rows), "bytes/row")
}

func BenchmarkWriteSnappy(b *testing.B) { benchWrite(b, "snappy") }
func BenchmarkWriteZstd(b *testing.B)   { benchWrite(b, "zstd") }

func BenchmarkWriteSmall(b *testing.B) {
	batches := bidBatches(1, 1000)
	f := New()
	b.ReportAllocs()
	for range b.N {
		w, err := f.Create(io.Discard, format.WriteSpec{Schema: bidSchema(), StatsColumns: 32})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Write(batches[0]); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	s := bidSchema()
	var out bytes.Buffer
	w, _ := New().Create(&out, format.WriteSpec{Schema: s})
	for _, x := range bidBatches(100, 2048) {
		if err := w.Write(x); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		b.Fatal(err)
	}
	pool := column.NewPool()
	rows := 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		sc, err := New().Open(b.Context(), format.Input{Object: memFile(out.Bytes())}, format.ReadSpec{Declared: s, Columns: s, Pool: pool})
		if err != nil {
			b.Fatal(err)
		}
		for {
			x, err := sc.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += x.Len
			x.Release()
		}
		sc.Close()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkReadLate reads all columns under a filter that lets few rows pass,
// with the other columns read late and not. The pages' bounds do not help: the
// value may be in each.
func BenchmarkReadLate(b *testing.B) {
	batches := bidBatches(100, 2048)
	s := bidSchema()
	var buf bytes.Buffer
	w, err := New().Create(&buf, format.WriteSpec{Schema: s, StatsColumns: -1})
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range batches {
		if err := w.Write(x); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		b.Fatal(err)
	}
	for _, over := range []int64{12_000_000, 7_000_000, 1_000_000} {
		value := column.Constant(schema.Of(schema.Int64), 1, over)
		for _, late := range []bool{false, true} {
			b.Run(fmt.Sprintf("price>%d/late=%t", over, late), func(b *testing.B) {
				pool := column.NewPool()
				var start, end syscall.Rusage
				if err := syscall.Getrusage(syscall.RUSAGE_SELF, &start); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					spec := format.ReadSpec{Declared: s, Columns: s, Pool: pool, Late: late, Terms: []format.Term{{Path: []string{"price"}, Op: format.Greater, Value: value}}}
					sc, err := New().Open(b.Context(), format.Input{Object: memFile(buf.Bytes())}, spec)
					if err != nil {
						b.Fatal(err)
					}
					for {
						x, err := sc.Next()
						if err != nil {
							break
						}
						x.Release()
					}
					if err := sc.Close(); err != nil {
						b.Fatal(err)
					}
				}
				if err := syscall.Getrusage(syscall.RUSAGE_SELF, &end); err != nil {
					b.Fatal(err)
				}
				cpu := end.Utime.Nano() + end.Stime.Nano() - start.Utime.Nano() - start.Stime.Nano()
				b.ReportMetric(float64(cpu)/1e6/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
