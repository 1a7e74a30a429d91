package simtest

import (
	"fmt"
	"path/filepath"
	"testing"

	"pipelines/pipelines"
)

// TestSinkRefresh: a sink of several flows is refreshed as one, its flows keep
// one checkpoint version, and the next run goes on.
func TestSinkRefresh(t *testing.T) {
	dir := project(t, "v BIGINT", `sinks:
  - {name: out, format: console, options: {path: out.jsonl}}
flows:
  - {name: a, target: out, sql: "SELECT v FROM STREAM(raw)"}
  - {name: b, target: out, sql: "SELECT -v AS v FROM STREAM(raw)"}
`)
	lines := func() int {
		t.Helper()
		got := 0
		for _, f := range []string{"out.jsonl"} {
			got += countLines(t, filepath.Join(dir, f))
		}
		return got
	}
	want := 0
	for n, o := range []pipelines.RunOptions{{}, {}, {FullRefresh: []string{"out"}}, {}, {FullRefreshAll: true}, {}} {
		put(t, dir, fmt.Sprintf("landing/%d.json", n), fmt.Sprintf(`{"v":%d}`, n+1))
		run(t, dir, o)
		want += 2
		if o.FullRefresh != nil || o.FullRefreshAll {
			want += 2 * n // all files again
		}
		if got := lines(); got != want {
			t.Fatalf("run %d: %d lines, want %d", n, got, want)
		}
	}
}

// TestSinkCheckpointLost: a sink that does not know its epochs is still not
// written anew when its checkpoint is gone.
func TestSinkCheckpointLost(t *testing.T) {
	dir := project(t, "v BIGINT", `sinks:
  - {name: out, format: console, options: {path: out.jsonl}}
flows:
  - {name: a, target: out, sql: "SELECT v FROM STREAM(raw)"}
`)
	put(t, dir, "landing/1.json", `{"v":1}`)
	run(t, dir, pipelines.RunOptions{})
	found, err := filepath.Glob(filepath.Join(dir, "state/checkpoints/__sinks/p/out/a/*/flow.db"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	remove(t, found[0])
	fails(t, dir, pipelines.RunOptions{}, found[0], "--full-refresh out")
	if n := countLines(t, filepath.Join(dir, "out.jsonl")); n != 1 {
		t.Errorf("%d lines", n)
	}
	run(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}})
	if n := countLines(t, filepath.Join(dir, "out.jsonl")); n != 2 {
		t.Errorf("%d lines", n)
	}
}
