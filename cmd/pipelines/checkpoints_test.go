package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var writeCheckpoints = flag.Bool("checkpoints", false, "write the golden checkpoints of shapes that have none")

// goldenCheckpoints has a folder a checkpoint format, with one a state shape:
// a project that has run over its first file, the next file, and the rows that
// the table must have after it. They are never written again. Those of version 3
// have files of many changes (made with pipelines.RunOptions.Beside 1, by which
// few are many).
const goldenCheckpoints = "../../testdata/checkpoints"

const (
	firstEvents = `{"k":"a","v":1,"t":"2026-01-01T00:00:01Z"}
{"k":"a","v":5,"t":"2026-01-01T00:00:03Z"}
{"k":"b","v":2,"t":"2026-01-01T00:00:04Z"}
{"k":null,"v":7,"t":"2026-01-01T00:00:05Z"}
{"k":"a","v":5,"t":"2026-01-01T00:00:06Z"}
{"k":"c","v":null,"t":"2026-01-01T00:00:07Z"}
`
	nextEvents = `{"k":"a","v":3,"t":"2026-01-01T00:00:08Z"}
{"k":"b","v":2,"t":"2026-01-01T00:00:08Z"}
{"k":null,"v":9,"t":"2026-01-01T00:00:09Z"}
{"k":"c","v":4,"t":"2026-01-01T00:00:12Z"}
{"k":"d","v":4,"t":"2026-01-01T00:01:40Z"}
`
	eventsOf = "STREAM(e) WATERMARK t DELAY OF INTERVAL 10 SECONDS"
	soonOf   = "STREAM(e) WATERMARK t DELAY OF INTERVAL 1 SECOND" // much has gone after the first file
)

// stateShapes are the queries whose states differ in form.
var stateShapes = map[string]string{
	"window":          "sql: SELECT k, count(*) AS n, sum(v) AS s, max(v) AS m, window.start AS w FROM " + eventsOf + " GROUP BY k, window(t, '10 seconds')",
	"sliding":         "sql: SELECT k, avg(v) AS a, window.end AS w FROM " + eventsOf + " GROUP BY k, window(t, '10 seconds', '5 seconds')",
	"collected":       "sql: SELECT window.start AS w, sort_array(collect_list(v)) AS l, percentile(v, 0.5) AS p, max_by(k, v) AS b FROM " + eventsOf + " GROUP BY window(t, '10 seconds')",
	"session":         "sql: SELECT k, count(*) AS n, session_window.start AS w FROM " + eventsOf + " GROUP BY k, session_window(t, '4 seconds')",
	"distinct":        "sql: SELECT DISTINCT k, t FROM " + eventsOf,
	"dedup":           "deduplicate: {keys: [k], within_watermark: true}\n    sql: SELECT * FROM " + eventsOf,
	"dedup-forever":   "deduplicate: {keys: [k, v]}\n    sql: SELECT * FROM STREAM(e)",
	"join":            "sql: SELECT a.k, a.v, b.v AS bv FROM STREAM(e) WATERMARK t DELAY OF INTERVAL 10 SECONDS a JOIN STREAM(f) WATERMARK t DELAY OF INTERVAL 10 SECONDS b ON a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 5 SECONDS",
	"join-left":       "sql: SELECT a.k, a.v, b.v AS bv FROM STREAM(e) WATERMARK t DELAY OF INTERVAL 10 SECONDS a LEFT JOIN STREAM(f) WATERMARK t DELAY OF INTERVAL 10 SECONDS b ON a.k = b.k AND b.v = a.v + 1 AND b.t BETWEEN a.t AND a.t + INTERVAL 5 SECONDS",
	"join-anti":       "sql: SELECT a.k, a.v FROM " + eventsOf + " a LEFT ANTI JOIN STREAM(f) WATERMARK t DELAY OF INTERVAL 10 SECONDS b ON a.k = b.k AND b.v > a.v AND b.t BETWEEN a.t AND a.t + INTERVAL 5 SECONDS",
	"first-of-a-key":  "sql: SELECT k, v, t FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY t) AS r FROM " + eventsOf + ") WHERE r = 1",
	"window-gone":     "sql: SELECT v, count(*) AS n, window.start AS w FROM " + soonOf + " GROUP BY v, window(t, '2 seconds')",
	"dedup-gone":      "deduplicate: {keys: [k, t], within_watermark: true}\n    sql: SELECT * FROM " + soonOf,
	"join-gone":       "sql: SELECT a.k, a.v, b.v AS bv FROM " + soonOf + " a JOIN STREAM(f) WATERMARK t DELAY OF INTERVAL 1 SECOND b ON a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 2 SECONDS",
	"window-of-pairs": "sql: SELECT struct(k, v) AS kv, count(*) AS n, window.start AS w FROM " + eventsOf + " GROUP BY struct(k, v), window(t, '10 seconds')",
}

func shapeProject(name, table string) string {
	return `name: ` + name + `
storage: ./state
sources:
  - {name: e, format: json, path: in, schema: "k STRING, v BIGINT, t TIMESTAMP", options: {maxFilesPerTrigger: "1"}}
  - {name: f, format: json, path: in, schema: "k STRING, v BIGINT, t TIMESTAMP", options: {maxFilesPerTrigger: "1"}}
streaming_tables:
  - name: out
    ` + table + "\n"
}

func put(t *testing.T, path, text string, day int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func call(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := realMain(args, &out, &errs); code != 0 {
		t.Fatalf("%s: exit %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

func rows(t *testing.T, dir string) string {
	t.Helper()
	return call(t, "sql", "--spec", dir, "--output", "csv", "-c", "SELECT * FROM out ORDER BY ALL")
}

// TestGoldenCheckpoints goes on from checkpoints that earlier versions wrote.
func TestGoldenCheckpoints(t *testing.T) {
	if *writeCheckpoints {
		for name, table := range stateShapes {
			writeShape(t, filepath.Join(goldenCheckpoints, "2", name), shapeProject(name, table))
		}
	}
	shapes, err := filepath.Glob(filepath.Join(goldenCheckpoints, "*", "*"))
	if err != nil || len(shapes) < 2*len(stateShapes)-4 {
		t.Fatal(len(shapes), err)
	}
	for _, shape := range shapes {
		t.Run(filepath.Base(filepath.Dir(shape))+"/"+filepath.Base(shape), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(shape)); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "in", "1.json"), firstEvents, 1)
			put(t, filepath.Join(dir, "in", "2.json"), nextEvents, 2)
			call(t, "run", "--spec", dir)
			want, err := os.ReadFile(filepath.Join(shape, "want.csv"))
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(t, dir); got != string(want) {
				t.Errorf("rows:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// writeShape makes a golden checkpoint, and its rows by a run of its own over
// both files.
func writeShape(t *testing.T, shape, project string) {
	if _, err := os.Stat(shape); err == nil {
		return
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pipeline.yml"), project, 1)
	put(t, filepath.Join(dir, "in", "1.json"), firstEvents, 1)
	put(t, filepath.Join(dir, "in", "2.json"), nextEvents, 2)
	call(t, "run", "--spec", dir)
	want := rows(t, dir)
	put(t, filepath.Join(shape, "pipeline.yml"), project, 1)
	put(t, filepath.Join(shape, "in", "1.json"), firstEvents, 1)
	call(t, "run", "--spec", shape)
	put(t, filepath.Join(shape, "want.csv"), want, 1)
	for _, gone := range []string{"events", "locks"} {
		if err := os.RemoveAll(filepath.Join(shape, "state", gone)); err != nil {
			t.Fatal(err)
		}
	}
}
