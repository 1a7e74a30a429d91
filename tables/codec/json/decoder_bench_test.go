package json

import (
	"os"
	"syscall"
	"testing"
	"time"

	"pipelines/tables/column"
)

const nexmarkDDL = `event_id BIGINT, event_type INT,
person STRUCT<id: BIGINT, name: STRING, emailAddress: STRING, creditCard: STRING, city: STRING, state: STRING, dateTime: TIMESTAMP, extra: STRING>,
auction STRUCT<id: BIGINT, itemName: STRING, description: STRING, initialBid: BIGINT, reserve: BIGINT, dateTime: TIMESTAMP, expires: TIMESTAMP, seller: BIGINT, category: BIGINT, extra: STRING>,
bid STRUCT<auction: BIGINT, bidder: BIGINT, price: BIGINT, channel: STRING, url: STRING, dateTime: TIMESTAMP, extra: STRING>`

// BenchmarkNexmark needs the generator's output in /tmp/nexmark100k
// (`go run . -n 100000 -files 1 -out /tmp/nexmark100k`).
func BenchmarkNexmark(b *testing.B) {
	data, err := os.ReadFile("/tmp/nexmark100k/part-00000.json")
	if err != nil {
		b.Skip(err)
	}
	for name, ddl := range map[string]string{
		"all":   nexmarkDDL,
		"bid":   `event_id BIGINT, event_type INT, bid STRUCT<auction: BIGINT, bidder: BIGINT, price: BIGINT, channel: STRING, url: STRING, dateTime: TIMESTAMP, extra: STRING>`,
		"price": `event_id BIGINT, bid STRUCT<price: BIGINT>`,
		"count": `event_type INT`,
	} {
		b.Run(name, func(b *testing.B) {
			t := parseDDL(ddl)
			d, err := NewDecoder(t, DefaultOptions())
			if err != nil {
				b.Fatal(err)
			}
			pool := column.NewPool()
			end := len(data)
			buf := append(append([]byte{}, data...), make([]byte, Padding)...)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			begin, n := cpuTime(), 0
			for b.Loop() {
				n++
				rows := 0
				for at := 0; at < end; {
					cols := make([]*column.Vector, len(t.Fields))
					for i, f := range t.Fields {
						cols[i] = pool.Vector(f.Type)
					}
					d.BindColumns(cols)
					if at, err = d.DecodeLines(buf, at, end, column.BatchRows); err != nil {
						b.Fatal(err)
					}
					d.Finish()
					rows += d.Rows()
					for _, c := range cols {
						c.Release()
					}
				}
				if rows != 100_000 {
					b.Fatal(rows)
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
