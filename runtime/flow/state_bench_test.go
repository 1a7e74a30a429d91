//go:build unix

package flow

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector/generate"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// BenchmarkState keeps b.N thousand keys that never go, 500,000 an epoch, each
// epoch prepared on disk, and opens the checkpoint again. It takes `-benchtime
// 10000x` for ten million keys.
func BenchmarkState(b *testing.B) {
	total := int64(b.N) * 1000
	dir, pool := b.TempDir(), column.NewPool()
	scan := (&rig{}).scan()
	plan := &logical.Deduplicate{Input: scan, Keys: []logical.ColumnID{1}, State: &logical.StateInfo{ID: "dedup", EventTime: -1}}
	open := func() (*Execution, func() error) {
		db, err := openDB(checkpoint.Settings{}, dir, "a")
		if err != nil {
			b.Fatal(err)
		}
		gen := generate.New(generate.Options{Schema: testSchema, Rows: total, RowsPerEpoch: 500_000, Step: 1000, Partitions: 1})
		e, err := New(keeping(plan, gen, db, pool))
		if err != nil {
			b.Fatal(err)
		}
		return e, db.Close
	}
	run := func() (cpu time.Duration, heap uint64) {
		e, done := open()
		before := cpuTime(b)
		if _, err := e.Run(context.Background(), context.Background()); err != nil {
			b.Fatal(err)
		}
		cpu = cpuTime(b) - before
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.Close()
		if err := done(); err != nil {
			b.Fatal(err)
		}
		return cpu, m.HeapAlloc
	}
	cpu, heap := run()
	b.ReportMetric(float64(total)/cpu.Seconds()/1e6, "Mkeys/cpu-s")
	b.ReportMetric(float64(heap)/float64(total), "heap-B/key")
	start := time.Now()
	cpu, _ = run()
	b.ReportMetric(cpu.Seconds(), "restart-cpu-s")
	b.ReportMetric(time.Since(start).Seconds(), "restart-s")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
