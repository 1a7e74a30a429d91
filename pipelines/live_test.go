package pipelines

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pipelines/pipelines/event"
)

// liveRun runs a project in virtual time for at most so long, and returns the
// result, how long the update took, and what was said, in order.
func liveRun(t *testing.T, dir string, most time.Duration, l event.Listener) (*Result, time.Duration, []event.FlowChanged) {
	t.Helper()
	var said []event.FlowChanged
	var mu sync.Mutex // guards said
	note := event.Listener{FlowChanged: func(e event.FlowChanged) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, e)
	}}
	ctx := t.Context()
	stop, end := context.WithTimeout(ctx, most)
	defer end()
	began := time.Now()
	p, list, err := Load(ctx, LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	res, list, err := p.Run(ctx, stop, RunOptions{Listener: event.Tee(note, l), Lanes: 1})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	return res, time.Since(began), said
}

func flowOf(t *testing.T, res *Result, name string) FlowResult {
	t.Helper()
	for _, f := range res.Flows {
		if f.Flow == name {
			return f
		}
	}
	t.Fatalf("no flow %s", name)
	return FlowResult{}
}

// TestMixedTriggers: beside a continuous flow, flows that end run in dependency
// order, also through views; what they read of endless flows is what is there
// (DESIGN §4, The graph).
func TestMixedTriggers(t *testing.T) {
	dir := project(t, map[string]string{
		"data/1.json": "{\"id\": 1}\n{\"id\": 2}\n",
		"pipeline.yml": `
name: mixed
storage: ./state
sources:
  - {name: ev, format: json, path: data, schema: "id BIGINT"}
streaming_tables:
  - {name: live, trigger: continuous, sql: "SELECT id FROM STREAM(ev)"}
  - {name: tail, trigger: continuous, sql: "SELECT id FROM STREAM(b)"}
  - {name: b, sql: "SELECT id FROM STREAM(ev)"}
  - {name: c, sql: "SELECT id FROM STREAM(b)"}
  - {name: d, trigger: triggered, sql: "SELECT c.id, m2.n FROM STREAM(c) AS c CROSS JOIN m2"}
  - name: first
    flows:
      - {name: once_c, once: true, trigger: continuous, sql: "SELECT n FROM m"}
materialized_views:
  - {name: m, sql: "SELECT count(*) AS n FROM c"}
  - {name: m2, sql: "SELECT n FROM m UNION ALL SELECT count(*) AS n FROM live WHERE id < 0"}
  - {name: last, sql: "SELECT count(*) AS n FROM d"}
`})
	synctest.Test(t, func(t *testing.T) {
		res, _, said := liveRun(t, dir, time.Minute, event.Listener{})
		want := map[string]event.State{"live": event.Stopped, "tail": event.Stopped}
		for _, f := range res.Flows {
			if s := want[f.Flow]; f.Err != nil || s != "" && f.State != s || s == "" && f.State != event.Completed {
				t.Errorf("%s: %s %v", f.Flow, f.State, f.Err)
			}
		}
		done := map[string]time.Duration{}
		for _, e := range said {
			if e.State == event.Completed && done[e.Flow] == 0 {
				done[e.Flow] = e.Time.Sub(res.Started)
			}
		}
		if done["d"] >= time.Second {
			t.Errorf("a flow waited for the interval of the views: %v", done)
		}
	})
	for name, want := range map[string]string{
		"live": "1 2", "tail": "1 2", "b": "1 2", "c": "1 2", "m": "2", "d": "1|0 1|2 2|0 2|2", "first": "2", "last": "4",
	} {
		if got := strings.Join(rowsOf(t, dir, name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestContinuousFailure: a flow that fails for good ends what reads it, also
// through views, and nothing else; when no flow is left the update ends at
// once, whatever the interval of the views.
func TestContinuousFailure(t *testing.T) {
	for _, other := range []bool{false, true} {
		doc := `
name: fails
storage: ./state
trigger: continuous
sources:
  - {name: ev, format: json, path: data, schema: "id BIGINT, k STRING", options: {maxFilesPerTrigger: "1"}}
streaming_tables:
  - {name: a, sql: "SELECT id, CAST(k AS INT) AS n FROM STREAM(ev)"}
  - {name: b, sql: "SELECT n FROM STREAM(a)"}
  - {name: c, sql: "SELECT n FROM STREAM(b)"}
  - {name: d, sql: "SELECT c.n FROM STREAM(c) AS c CROSS JOIN m"}
  - {name: e, trigger: available_now, sql: "SELECT x.n FROM STREAM(late) AS x CROSS JOIN m"}
  - {name: late, trigger: available_now, sql: "SELECT CAST(k AS INT) AS n FROM STREAM(ev)"}
`
		if other {
			doc += "  - {name: well, sql: \"SELECT id FROM STREAM(ev)\"}\n"
		}
		doc += `
materialized_views:
  - {name: m, sql: "SELECT count(*) AS n FROM a"}
  - {name: mw, sql: "SELECT 1 AS n"}
`
		dir := project(t, map[string]string{"data/1.json": "{\"id\": 1, \"k\": \"1\"}\n", "data/2.json": "{\"id\": 2, \"k\": \"x\"}\n", "pipeline.yml": doc})
		synctest.Test(t, func(t *testing.T) {
			res, took, said := liveRun(t, dir, time.Minute, event.Listener{})
			for name, want := range map[string]event.State{
				"a": event.Failed, "b": event.Stopped, "c": event.Stopped, "d": event.Stopped, "m": event.Skipped, "late": event.Failed, "e": event.Skipped, "mw": event.Completed,
			} {
				f := flowOf(t, res, name)
				if f.State != want || (f.Err != nil) != (want == event.Failed) || (want == event.Stopped || want == event.Skipped) && !strings.HasSuffix(f.Reason, " failed") {
					t.Errorf("%s: %s, want %s (%s, %v)", name, f.State, want, f.Reason, f.Err)
				}
			}
			ended := map[string]time.Duration{}
			for _, e := range said {
				if e.State == event.Stopped {
					ended[e.Flow] = e.Time.Sub(res.Started)
				}
			}
			if ended["c"] > 5*time.Second || ended["d"] > 5*time.Second {
				t.Errorf("ended after %v", ended)
			}
			if other {
				if f := flowOf(t, res, "well"); f.State != event.Stopped || f.OutputRows != 2 || took < time.Minute {
					t.Errorf("what reads nothing that failed: %+v after %s", f, took)
				}
			} else if took > 5*time.Second {
				t.Errorf("the update ended after %s", took)
			}
			if !res.Failed() {
				t.Error("the update did not fail")
			}
		})
	}
}

// TestEndedAtOnce: flows that were well when the update was ended at once are
// stopped, not failed.
func TestEndedAtOnce(t *testing.T) {
	for _, trigger := range []string{"continuous", "available_now"} {
		dir := project(t, map[string]string{"pipeline.yml": `
name: ended
storage: ./state
trigger: ` + trigger + `
sources:
  - {name: g, format: generate, schema: "id BIGINT, k BIGINT", options: {rows: "100000000", rowsPerEpoch: "1000"}}
streaming_tables:
  - {name: a, sql: "SELECT id FROM STREAM(g)"}
  - {name: b, output_mode: update, keys: [k], sql: "SELECT k, count(*) AS n FROM STREAM(g) GROUP BY k"}
materialized_views:
  - {name: m, sql: "SELECT count(*) AS n FROM a"}
`})
		ctx, kill := context.WithCancel(t.Context())
		p, list, err := Load(ctx, LoadOptions{Path: dir})
		if err != nil || list.HasErrors() {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		var last event.UpdateChanged
		res, _, err := p.Run(ctx, ctx, RunOptions{Listener: event.Listener{
			FlowProgress:  func(e event.FlowProgress) { kill() },
			UpdateChanged: func(e event.UpdateChanged) { last = e },
		}})
		kill()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for _, f := range res.Flows {
			if f.Err != nil || f.State == event.Failed {
				t.Errorf("%s: %s: %s %v", trigger, f.Flow, f.State, f.Err)
			}
		}
		if last.State != event.Stopped {
			t.Errorf("%s: the update is %s", trigger, last.State)
		}
	}
}

// TestLittleMemoryForKeys: a table kept by key gets the memory of its epoch
// from an operator that can spill, if need be by another attempt.
func TestLittleMemoryForKeys(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	for _, per := range []int{50_000, 65_000} {
		dir := project(t, map[string]string{"pipeline.yml": fmt.Sprintf(`
name: little
storage: ./state
memory: 24 MiB
sources:
  - {name: g, format: generate, schema: "id BIGINT, k BIGINT", options: {rows: "250000", rowsPerEpoch: "%d"}}
streaming_tables:
  - {name: t, output_mode: update, keys: [k], sql: "SELECT id %% 200000 AS k, count(*) AS n, max(id) AS m FROM STREAM(g) GROUP BY id %% 200000"}
`, per)})
		synctest.Test(t, func(t *testing.T) {
			res, _, _ := liveRun(t, dir, time.Hour, event.Listener{})
			if f := flowOf(t, res, "t"); f.Err != nil || f.State != event.Completed {
				t.Errorf("%d rows an epoch: %s %v", per, f.State, f.Err)
			}
		})
		if n := len(rowsOf(t, dir, "t")); n != 200_000 {
			t.Errorf("%d rows an epoch: %d keys", per, n)
		}
	}
}

// TestStoppedWhileWaiting: flows that wait for others when the update is
// stopped end once each, as stopped.
func TestStoppedWhileWaiting(t *testing.T) {
	dir := project(t, map[string]string{"data/1.json": "{\"id\": 1}\n", "pipeline.yml": `
name: waits
storage: ./state
sources:
  - {name: ev, format: json, path: data, schema: "id BIGINT"}
  - {name: g, format: generate, schema: "id BIGINT", options: {rows: "100000000", rowsPerEpoch: "1000"}}
streaming_tables:
  - {name: live, trigger: continuous, sql: "SELECT id FROM STREAM(ev)"}
  - {name: a, sql: "SELECT id FROM STREAM(g)"}
  - {name: b, sql: "SELECT id FROM STREAM(a)"}
  - {name: c, sql: "SELECT id FROM STREAM(b)"}
  - {name: d, sql: "SELECT c.id FROM STREAM(c) AS c CROSS JOIN m"}
materialized_views:
  - {name: m, sql: "SELECT count(*) AS n FROM b"}
`})
	ctx := t.Context()
	stop, end := context.WithCancel(ctx)
	defer end()
	p, list, err := Load(ctx, LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	ended := map[string]int{}
	res, _, err := p.Run(ctx, stop, RunOptions{Listener: event.Listener{
		FlowProgress: func(e event.FlowProgress) {
			if e.Flow == "a" {
				end()
			}
		},
		FlowChanged: func(e event.FlowChanged) {
			if e.State == event.Stopped {
				ended[e.Flow]++
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Flows {
		if f.Err != nil || f.Flow != "m" && (f.State != event.Stopped || ended[f.Flow] != 1) {
			t.Errorf("%s: %s %d times, %v", f.Flow, f.State, ended[f.Flow], f.Err)
		}
	}
}
