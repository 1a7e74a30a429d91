package simtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// sinkProject has written one row into out.jsonl by the flow a of the sink
// "out"; a second row waits.
func sinkProject(t *testing.T) (dir string) {
	dir = project(t, "v BIGINT", sinkDocument("out", "", "a", ""))
	put(t, dir, "landing/1.json", `{"v":1}`)
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/2.json", `{"v":2}`)
	return dir
}

func sinkDocument(sink, was, flow, flowWas string) string {
	return `sinks:
  - {name: ` + sink + was + `, format: console, options: {path: out.jsonl}}
flows:
  - {name: ` + flow + flowWas + `, target: ` + sink + `, sql: "SELECT v FROM STREAM(raw)"}
`
}

// TestSinkNotStartedAfresh is known failure B33 for sinks: what is lost or
// renamed is said, and nothing is written twice.
func TestSinkNotStartedAfresh(t *testing.T) {
	table := "streaming_tables:\n  - {name: t, sql: \"SELECT v FROM STREAM(raw)\"}\n"
	for _, c := range []struct {
		name, remove, doc, want, full string
	}{
		{"folder lost", "state/checkpoints/__sinks", "", "is gone", "out"},
		{"version lost", "state/checkpoints/__sinks/p/out/a/0", "", "is gone", "out"},
		{"record lost", "state/catalog/__sinks", "", "belongs to transaction id", "out"},
		{"sink renamed", "", sinkDocument("out2", "", "a", ""), "SINK_RENAMED", "out2"},
		{"flow renamed", "", sinkDocument("out", "", "b", ""), "FLOW_RENAMED", "out"},
		{"both renamed", "", sinkDocument("out2", "", "b", ""), "SINK_RENAMED", "out2"},
		{"to a second sink", "", "sinks:\n  - {name: out, format: console, options: {path: out.jsonl}}" + strings.TrimPrefix(sinkDocument("out2", "", "a", ""), "sinks:"), "SINK_RENAMED", "out2"},
	} {
		dir := sinkProject(t)
		if c.remove != "" {
			if err := os.RemoveAll(filepath.Join(dir, c.remove)); err != nil {
				t.Fatal(err)
			}
		}
		if c.doc != "" {
			document(t, dir, "v BIGINT", c.doc)
		}
		for range 2 {
			fails(t, dir, pipelines.RunOptions{}, c.want, "--full-refresh "+c.full)
			if n := countLines(t, filepath.Join(dir, "out.jsonl")); n != 1 {
				t.Fatalf("%s: %d lines", c.name, n)
			}
		}
		// An update of something else forgets nothing.
		if c.doc != "" {
			document(t, dir, "v BIGINT", c.doc+table)
			run(t, dir, pipelines.RunOptions{Refresh: []string{"t"}})
			fails(t, dir, pipelines.RunOptions{}, c.want)
			document(t, dir, "v BIGINT", c.doc)
		}
		run(t, dir, pipelines.RunOptions{FullRefresh: []string{c.full}})
		run(t, dir, pipelines.RunOptions{})
		if n := countLines(t, filepath.Join(dir, "out.jsonl")); n != 3 {
			t.Errorf("%s: %d lines after the refresh", c.name, n)
		}
	}
}

func haveLines(t *testing.T, dir, what string, want int) {
	t.Helper()
	if n := countLines(t, filepath.Join(dir, "out.jsonl")); n != want {
		t.Errorf("%s: %d lines, want %d", what, n, want)
	}
}

// TestSinkTakenOut: a flow that was out of the project for a run is no renamed
// one, and goes on where it was when it comes back.
func TestSinkTakenOut(t *testing.T) {
	dir := sinkProject(t)
	document(t, dir, "v BIGINT", "streaming_tables:\n  - {name: t, sql: \"SELECT v FROM STREAM(raw)\"}\n")
	run(t, dir, pipelines.RunOptions{})
	document(t, dir, "v BIGINT", sinkDocument("out2", "", "a", ""))
	run(t, dir, pipelines.RunOptions{})
	haveLines(t, dir, "another sink", 3)
	document(t, dir, "v BIGINT", "streaming_tables:\n  - {name: t, sql: \"SELECT v FROM STREAM(raw)\"}\n")
	run(t, dir, pipelines.RunOptions{})
	document(t, dir, "v BIGINT", sinkDocument("out", "", "a", ""))
	run(t, dir, pipelines.RunOptions{})
	haveLines(t, dir, "the first one again", 4)
}

// TestMovedSink renames a sink and its flow, stopped at each border.
func TestMovedSink(t *testing.T) {
	for _, point := range []string{"", "move.recorded", "move.checkpoints", "move.readers", "move.removed", "move.done"} {
		dir := sinkProject(t)
		document(t, dir, "v BIGINT", sinkDocument("out2", ", moved_from: out", "b", ", moved_from: a"))
		if steps := dryRun(t, dir); !strings.Contains(steps, "moved from out: its checkpoints are kept") || !strings.Contains(steps, "1 file of raw is waiting") {
			t.Error(steps)
		}
		if point != "" {
			if _, err := runIn(dir, pipelines.RunOptions{At: func(p string) error {
				if p == point {
					return errors.New("crash")
				}
				return nil
			}}); err == nil {
				t.Errorf("%s: no crash", point)
			}
		}
		for range 2 {
			run(t, dir, pipelines.RunOptions{})
			haveLines(t, dir, point, 2)
		}
		document(t, dir, "v BIGINT", sinkDocument("out2", "", "b", ""))
		put(t, dir, "landing/3.json", `{"v":3}`)
		run(t, dir, pipelines.RunOptions{})
		haveLines(t, dir, point+", without the keys", 3)
	}
	dir := sinkProject(t)
	document(t, dir, "v BIGINT", sinkDocument("out2", ", moved_from: uot", "a", ""))
	fails(t, dir, pipelines.RunOptions{}, "MOVED_FROM_NOT_FOUND", `did you mean "out"?`)
}
