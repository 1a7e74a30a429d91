package simtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
	"pipelines/stores"
)

// The tests here run continuous updates in virtual time: hours of waiting cost
// nothing, and what the clock decides is exact.

// live is a continuous update in a bubble of virtual time.
type live struct {
	testing.TB
	dir      string
	mu       sync.Mutex
	progress []event.FlowProgress
	states   []event.FlowChanged
	points   map[string]int
	out      *gate
	stop     context.CancelFunc
	kill     context.CancelFunc
	done     chan error
}

// gate is a console that can be shut, or made to fail.
type gate struct {
	mu    sync.Mutex
	shut  chan struct{} // nil: open
	fails error
	lines int
}

func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	shut, err := g.shut, g.fails
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
	if err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines += strings.Count(string(b), "\n")
	return len(b), nil
}

func (g *gate) set(shut chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.fails = shut, err
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lines
}

// start begins the update; it must be called in a bubble.
func start(t testing.TB, dir string) *live {
	t.Helper()
	l := &live{TB: t, dir: dir, points: map[string]int{}, out: &gate{}, done: make(chan error, 1)}
	ctx, kill := context.WithCancel(context.Background())
	stop, end := context.WithCancel(ctx)
	l.kill, l.stop = kill, end
	o := pipelines.RunOptions{Trigger: "continuous", Out: l.out, Lanes: 2, At: func(point string) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.points[point]++
		return nil
	}, Listener: event.Listener{FlowProgress: func(e event.FlowProgress) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.progress = append(l.progress, e)
	}, FlowChanged: func(e event.FlowChanged) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.states = append(l.states, e)
	}}}
	go func() {
		res, err := runStop(ctx, stop, dir, o)
		if err == nil {
			err = failures(res)
		}
		l.done <- err
	}()
	return l
}

// end stops the update after its running epochs.
func (l *live) end() {
	l.Helper()
	l.stop()
	if err := <-l.done; err != nil {
		l.Error(err)
	}
	l.kill()
}

// epochs are the times, in seconds from a moment, at which a flow's epochs
// with rows were reported.
func (l *live) epochs(flow string, from time.Time) (at []float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.progress {
		if e.Flow == flow && e.NumInputRows > 0 {
			at = append(at, e.Time.Sub(from).Seconds())
		}
	}
	return at
}

func (l *live) seen(point string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.points[point]
}

const liveDoc = `streaming_tables:
  - {name: a, sql: "SELECT v FROM STREAM(raw)"}
  - {name: b, sql: "SELECT v FROM STREAM(a)"}
  - {name: c, sql: "SELECT v FROM STREAM(b)"}
`

// TestVirtualWake: flows over our own tables are woken by commits and never
// look by themselves; folders are looked at once a second.
func TestVirtualWake(t *testing.T) {
	dir := project(t, "v BIGINT", liveDoc)
	put(t, dir, "landing/1.json", `{"v":1}`)
	synctest.Test(t, func(t *testing.T) {
		l := start(t, dir)
		time.Sleep(time.Minute)
		before := l.seen("plan.before")
		time.Sleep(time.Hour)
		if looks := l.seen("plan.before") - before; looks < 3590 || looks > 3610 {
			t.Errorf("%d looks in an idle hour, want one a second for the folder alone", looks)
		}
		from := time.Now()
		put(t, dir, "landing/2.json", `{"v":2}`)
		time.Sleep(10 * time.Second)
		for _, flow := range []string{"a", "b", "c"} {
			at := l.epochs(flow, from)
			if last := at[len(at)-1]; len(at) != 2 || last < 0 || last > 1.1 { // at the next look, then at once
				t.Errorf("%s: epochs at %v", flow, at)
			}
		}
		l.end()
	})
	want(t, dir, "c", "1", "2")
}

// TestVirtualIntervals: tables commit at most once a second, views are made
// anew at most every ten, and both reach the newest rows.
func TestVirtualIntervals(t *testing.T) {
	dir := project(t, "v BIGINT", liveDoc+"materialized_views:\n  - {name: m, sql: \"SELECT count(*) AS n, sum(v) AS s FROM c\"}\n")
	put(t, dir, "landing/0.json", `{"v":0}`)
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		l := start(t, dir)
		for n := range 300 {
			put(t, dir, fmt.Sprintf("landing/x%d.json", n), fmt.Sprintf(`{"v":%d}`, n+1))
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(30 * time.Second)
		for flow, least := range map[string]float64{"a": 1, "b": 1, "c": 1, "m": 10} {
			at := l.epochs(flow, from)
			if len(at) < int(30/least)-2 {
				t.Errorf("%s: %d epochs in 30 s of rows", flow, len(at))
			}
			for i := 1; i < len(at); i++ {
				if at[i]-at[i-1] < least-0.01 {
					t.Errorf("%s: epochs at %.3f and %.3f", flow, at[i-1], at[i])
				}
			}
		}
		l.end()
	})
	want(t, dir, "m", "301 45150")
}

// TestVirtualStalledSink: a sink that takes nothing holds up its own flow,
// which reads nothing ahead, and no other.
func TestVirtualStalledSink(t *testing.T) {
	dir := project(t, "v BIGINT", liveDoc+"sinks:\n  - {name: screen, format: console}\nflows:\n  - {name: s, target: screen, sql: \"SELECT v FROM STREAM(a)\"}\n")
	put(t, dir, "landing/0.json", `{"v":0}`)
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		shut := make(chan struct{})
		l := start(t, dir)
		time.Sleep(5 * time.Second)
		l.out.set(shut, nil)
		splits := 0
		for n := range 60 {
			put(t, dir, fmt.Sprintf("landing/x%d.json", n), fmt.Sprintf(`{"v":%d}`, n+1))
			time.Sleep(time.Second)
			if n == 10 {
				splits = l.seen("read.split")
			}
		}
		if got := l.out.count(); got != 1 || len(l.epochs("s", from)) != 1 {
			t.Errorf("%d lines went through a shut sink", got)
		}
		if n := len(l.epochs("c", from)); n < 30 {
			t.Errorf("the other flows had %d epochs in a minute", n)
		}
		// a, b and c read a split each for each file; the stalled flow none.
		if more := l.seen("read.split") - splits; more > 3*50 {
			t.Errorf("%d splits were read behind the stalled sink", more)
		}
		l.out.set(nil, nil)
		close(shut)
		time.Sleep(5 * time.Second)
		if got := l.out.count(); got != 61 {
			t.Errorf("%d lines, want 61", got)
		}
		l.end()
	})
}

// TestVirtualRetry: a flow that fails for now is tried again, with growing
// pauses and without end, beside flows that go on.
func TestVirtualRetry(t *testing.T) {
	dir := project(t, "v BIGINT", liveDoc+"sinks:\n  - {name: screen, format: console}\nflows:\n  - {name: s, target: screen, sql: \"SELECT v FROM STREAM(a)\"}\n")
	put(t, dir, "landing/0.json", `{"v":0}`)
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		l := start(t, dir)
		time.Sleep(5 * time.Second)
		l.out.set(nil, &stores.ClassError{Class: stores.Retryable, Err: errors.New("the screen is busy")})
		for n := range 300 {
			put(t, dir, fmt.Sprintf("landing/x%d.json", n), fmt.Sprintf(`{"v":%d}`, n+1))
			time.Sleep(time.Second)
		}
		l.out.set(nil, nil)
		time.Sleep(time.Minute)
		if n := len(l.epochs("c", from)); n < 150 {
			t.Errorf("the other flows had %d epochs in five minutes", n)
		}
		if got := l.out.count(); got != 301 {
			t.Errorf("%d lines, want 301", got)
		}
		l.mu.Lock()
		var tries []float64
		for _, s := range l.states {
			if s.Flow == "s" && s.State == event.Running {
				tries = append(tries, s.Time.Sub(from).Seconds())
			}
		}
		l.mu.Unlock()
		if n := len(tries); n < 8 || n > 20 || tries[n-1]-tries[n-2] < 29 {
			t.Errorf("tries at %v", tries)
		}
		l.end()
	})
}

// TestVirtualStop: the first stage ends after the running epochs, the second at
// once; both leave a state that the next run continues from.
func TestVirtualStop(t *testing.T) {
	for _, second := range []bool{false, true} {
		dir := project(t, "v BIGINT", liveDoc+"sinks:\n  - {name: screen, format: console}\nflows:\n  - {name: s, target: screen, sql: \"SELECT v FROM STREAM(a)\"}\n")
		put(t, dir, "landing/0.json", `{"v":0}`)
		synctest.Test(t, func(t *testing.T) {
			shut := make(chan struct{})
			l := start(t, dir)
			l.out.set(shut, nil)
			time.Sleep(5 * time.Second)
			l.stop() // s stands in its epoch
			time.Sleep(time.Minute)
			select {
			case err := <-l.done:
				t.Errorf("it ended in a running epoch: %v", err)
			default:
			}
			if second {
				l.kill()
			}
			put(t, dir, "landing/1.json", `{"v":1}`)
			close(shut)
			err := <-l.done
			if !second && err != nil {
				t.Error(err)
			}
			l.kill()
		})
		want(t, dir, "c", "0")
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "c", "0", "1")
	}
}

// TestVirtualIdleTimeout: a flow that waits for rows wakes by itself when a
// quiet source stops holding its watermark (B07), also where its sources are
// tables that announce their commits.
func TestVirtualIdleTimeout(t *testing.T) {
	c := partitions(t, "")
	put(t, c.dir, "a/1.json", stamp(0, 10)+stamp(2, 0))
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		l := start(t, c.dir)
		time.Sleep(4500 * time.Millisecond)
		if got := len(l.epochs("out", from)); got != 1 {
			t.Errorf("%d epochs", got)
		}
		c.rows()
		time.Sleep(2500 * time.Millisecond)
		c.rows(`"00" 1`)
		l.end()
	})
}

// TestVirtualWaves: the views of a wave see one version of each table, so that
// what they say of one table never differs.
func TestVirtualWaves(t *testing.T) {
	dir := project(t, "v BIGINT", `streaming_tables:
  - {name: a, sql: "SELECT v FROM STREAM(raw)"}
  - {name: b, sql: "SELECT v FROM STREAM(a)"}
materialized_views:
  - {name: low, sql: "SELECT count(*) AS n FROM a"}
  - {name: high, sql: "SELECT sum(v) AS n FROM a"}
  - {name: beside, sql: "SELECT count(*) AS n FROM b"}
  - {name: top, sql: "SELECT low.n AS l, high.n AS h, beside.n AS b FROM low, high, beside"}
configuration: {pipelines.commit.interval: 300 milliseconds, pipelines.trigger.interval: 1 second}
`)
	put(t, dir, "landing/0.json", `{"v":1}`)
	var seen []string
	synctest.Test(t, func(t *testing.T) {
		l := start(t, dir)
		for n := range 100 {
			put(t, dir, fmt.Sprintf("landing/x%d.json", n), "{\"v\":1}\n{\"v\":1}\n")
			time.Sleep(370 * time.Millisecond)
			if got := rowsIfAny(t, dir, "top"); len(got) > 0 && !slices.Contains(seen, got[0]) {
				seen = append(seen, got[0])
			}
		}
		time.Sleep(10 * time.Second)
		l.end()
	})
	for _, s := range seen {
		var low, high, beside int
		if s == "0 null 0" { // before the first row
			continue
		}
		if _, err := fmt.Sscan(s, &low, &high, &beside); err != nil || low != high || beside > low {
			t.Errorf("a view saw %s", s)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d waves", len(seen))
	}
	want(t, dir, "top", "201 201 201")
}

// rowsIfAny reads a table that may not be there yet.
func rowsIfAny(t *testing.T, dir, name string) []string {
	if _, err := os.Stat(filepath.Join(dir, "state/tables/main/default", name, "_delta_log")); err != nil {
		return nil
	}
	return rows(t, dir, name)
}
