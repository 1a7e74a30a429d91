package csv

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func BenchmarkLines(b *testing.B) {
	var plain, quoted strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&plain, "%d,name of %d,%d.25,2026-01-02 03:04:05.%03d,some longer text without anything\n", i, i, i, i%1000)
		fmt.Fprintf(&quoted, "%d,\"name, of %d\",%d.25,2026-01-02 03:04:05.%03d,\"some \\\"longer\\\" text\"\n", i, i, i, i%1000)
	}
	s := schema.Schema{}
	for _, k := range []schema.Kind{schema.Int64, schema.String, schema.Float64, schema.Timestamp, schema.String} {
		s.Fields = append(s.Fields, schema.Field{Name: fmt.Sprint("c", len(s.Fields)), Type: schema.Of(k), Nullable: true})
	}
	for name, data := range map[string]string{"plain": plain.String(), "quoted": quoted.String()} {
		b.Run(name, func(b *testing.B) {
			d, err := NewDecoder(s, s, DefaultOptions())
			if err != nil {
				b.Fatal(err)
			}
			pool := column.NewPool()
			buf := []byte(data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			begin, n := cpuTime(), 0
			for b.Loop() {
				n++
				for at := 0; at < len(buf); {
					var cols [5]*column.Vector
					for i, f := range s.Fields {
						cols[i] = pool.Vector(f.Type)
					}
					d.BindColumns(cols[:])
					if at, err = d.DecodeLines(buf, at, len(buf), column.BatchRows); err != nil {
						b.Fatal(err)
					}
					d.Finish()
					for _, c := range cols {
						c.Release()
					}
				}
			}
			b.ReportMetric(float64(len(data))*float64(n)/1e6/(cpuTime()-begin).Seconds(), "MB/cpu-s")
		})
	}
}

// cpuTime is what the process has used so far: on a busy machine the clock
// says little.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
