package simtest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pipelines/pipelines"
)

// BenchmarkIdleRun is a whole run, with loading the project, that finds
// nothing new among 10⁵ known files.
func BenchmarkIdleRun(b *testing.B) {
	dir := project(b, "v BIGINT", "streaming_tables:\n  - name: out\n    sql: SELECT v FROM STREAM(raw)\n")
	for i := range 100_000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("landing/events-%08d.json", i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	run(b, dir, pipelines.RunOptions{})
	start := processTime(b)
	for b.Loop() {
		run(b, dir, pipelines.RunOptions{})
	}
	b.ReportMetric(float64((processTime(b)-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
