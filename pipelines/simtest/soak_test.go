package simtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// soakTime is how long the tests here run for real: "10m" in `make long`.
func soakTime(t *testing.T, short time.Duration) (d time.Duration, long bool) {
	t.Helper()
	text := os.Getenv("PIPELINES_SOAK")
	if text == "" {
		return short, false
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d, true
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestIdleCost: an idle continuous pipeline of ten flows costs less than 1 % of
// a core; the short form, which a busy machine disturbs, allows 5.
func TestIdleCost(t *testing.T) {
	wall, long := soakTime(t, time.Second)
	wall = min(wall, time.Minute)
	dir := folder(t)
	var doc, tables strings.Builder
	for i := range 5 {
		fmt.Fprintf(&doc, "  - {name: s%d, format: json, path: in%d, schema: \"v BIGINT\"}\n", i, i)
		fmt.Fprintf(&tables, "  - {name: a%d, sql: \"SELECT v FROM STREAM(s%d)\"}\n  - {name: b%d, sql: \"SELECT v FROM STREAM(a%d)\"}\n", i, i, i, i)
		for n := range 200 {
			put(t, dir, fmt.Sprintf("in%d/%d.json", i, n), `{"v":1}`)
		}
	}
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n"+doc.String()+"streaming_tables:\n"+tables.String())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	var mu sync.Mutex
	busy := map[string]bool{}
	ready := make(chan struct{})
	go func() {
		res, err := runStop(ctx, stop, dir, pipelines.RunOptions{Trigger: "continuous", Listener: event.Listener{FlowProgress: func(e event.FlowProgress) {
			mu.Lock()
			defer mu.Unlock()
			if busy[e.Flow] = true; len(busy) == 10 && e.NumInputRows > 0 {
				select {
				case <-ready:
				default:
					close(ready)
				}
			}
		}}})
		if err == nil {
			err = failures(res)
		}
		done <- err
	}()
	<-ready
	time.Sleep(time.Second)
	before := cpuTime(t)
	time.Sleep(wall)
	share := 100 * float64(cpuTime(t)-before) / float64(wall)
	end()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	limit := 5.0
	if long {
		limit = 1
	}
	if t.Logf("%.2f %% of a core over %v", share, wall); share > limit {
		t.Errorf("ten idle flows cost %.2f %% of a core", share)
	}
}

// TestSoak runs a continuous pipeline of windows, deduplication, a chain and a
// view for real, with keys that move on, and wants flat memory, state that dies
// with its watermark, and at the end the right rows.
func TestSoak(t *testing.T) {
	wall, long := soakTime(t, 1500*time.Millisecond)
	dir := project(t, "id BIGINT, k BIGINT, ts TIMESTAMP", `streaming_tables:
  - name: once
    deduplicate: {keys: [id], within_watermark: true}
    sql: SELECT id, k, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 5 SECONDS
  - name: windows
    sql: SELECT window.start AS s, k, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 5 SECONDS GROUP BY window(ts, '10 seconds'), k
  - {name: next, sql: "SELECT id FROM STREAM(once)"}
materialized_views:
  - {name: total, sql: "SELECT count(*) AS n, count(DISTINCT id) AS d FROM next"}
configuration: {pipelines.commit.interval: 200 milliseconds, pipelines.trigger.interval: 2 seconds}
`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	var mu sync.Mutex
	state := map[string]int64{} // greatest number of state rows by operator
	go func() {
		res, err := runStop(ctx, stop, dir, pipelines.RunOptions{Trigger: "continuous", Listener: event.Listener{FlowProgress: func(e event.FlowProgress) {
			mu.Lock()
			defer mu.Unlock()
			for _, o := range e.Operators {
				state[o.Name] = max(state[o.Name], o.Total)
			}
		}}})
		if err == nil {
			err = failures(res)
		}
		done <- err
	}()
	const perFile = 200
	files, first, began := 0, uint64(0), time.Now()
	for time.Since(began) < wall {
		put(t, dir, fmt.Sprintf("landing/%06d.json", files), soakFile(files, perFile))
		files++
		time.Sleep(100 * time.Millisecond)
		if old := filepath.Join(dir, fmt.Sprintf("landing/%06d.json", files-300)); files > 300 {
			if err := os.Remove(old); err != nil { // it was read long ago
				t.Fatal(err)
			}
		}
		if first == 0 && time.Since(began) > wall/4 {
			first = heap()
		}
	}
	last := heap()
	time.Sleep(time.Second)
	end()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	run(t, dir, pipelines.RunOptions{})
	n := files * perFile
	want(t, dir, "total", fmt.Sprintf("%d %d", n, n))
	mu.Lock()
	defer mu.Unlock()
	for op, rows := range state {
		if rows > 40*perFile { // one file is one second of event time
			t.Errorf("%s held %d rows", op, rows)
		}
	}
	if t.Logf("%d rows in %v, heap %d to %d KiB, state %v", n, wall, first>>10, last>>10, state); long && last > first+first/2+16<<20 {
		t.Errorf("the heap grew from %d to %d KiB", first>>10, last>>10)
	}
}

// soakFile is one second of event time with keys of its own; every second row
// stands in it twice.
func soakFile(file, rows int) string {
	var b strings.Builder
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(file) * time.Second).Format(time.RFC3339)
	for i := range rows {
		line := fmt.Sprintf("{\"id\":%d,\"k\":%d,\"ts\":%q}\n", file*rows+i, file/10*7+i%7, at)
		b.WriteString(line)
		if i%2 == 0 {
			b.WriteString(line)
		}
	}
	return b.String()
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
