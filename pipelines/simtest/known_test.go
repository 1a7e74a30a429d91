package simtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/flow"
)

// The tests here are named by their numbers in the list of known failures of
// other systems.

// project writes a document over one JSON source raw and returns its folder.
func project(t testing.TB, schema, rest string) string {
	t.Helper()
	dir := folder(t)
	document(t, dir, schema, rest)
	return dir
}

func document(t testing.TB, dir, schema, rest string) {
	t.Helper()
	put(t, dir, "pipeline.yml", fmt.Sprintf("name: p\nstorage: ./state\nsources:\n  - {name: raw, format: json, path: landing, schema: %q}\n%s", schema, rest))
	if err := os.MkdirAll(filepath.Join(dir, "landing"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, dir, table string, rs ...string) {
	t.Helper()
	compare(t, table, rows(t, dir, table), rs)
}

func TestB08(t *testing.T) {
	dir := project(t, "ts TIMESTAMP", `streaming_tables:
  - name: out
    sql: |
      SELECT date_format(window.start, 'HH:mm:ss') AS s, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 10 SECONDS
      GROUP BY window(ts, '10 seconds')
`)
	results := [][]string{nil, {`"10:00:00" 1`}, {`"10:00:00" 1`, `"10:00:20" 1`}}
	for i, sec := range []string{"05", "20", "45"} {
		put(t, dir, "landing/"+sec+".json", `{"ts":"2026-01-01T10:00:`+sec+`Z"}`)
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", results[i]...)
	}
}

func TestB09(t *testing.T) {
	dir := project(t, "v BIGINT", `  - {name: b, format: json, path: other, schema: "v BIGINT"}
streaming_tables:
  - name: out
    sql: SELECT v FROM STREAM(raw) UNION ALL SELECT v FROM STREAM(b)
`)
	put(t, dir, "landing/1.json", "{\"v\":1}\n{\"v\":2}\n")
	put(t, dir, "other/1.json", "{\"v\":10}\n")
	if !child(t, order{Dir: dir, Point: "commit.after", Nth: 1}) {
		t.Error("not killed")
	}
	put(t, dir, "landing/2.json", "{\"v\":3}\n")
	run(t, dir, pipelines.RunOptions{})
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2", "10", "3")
}

func TestB19(t *testing.T) {
	dir := project(t, "a BIGINT, b BIGINT", "streaming_tables:\n  - name: out\n    deduplicate: {keys: [a, b]}\n    sql: SELECT a, b FROM STREAM(raw)\n")
	put(t, dir, "landing/0.json", `{"a":1,"b":2}`)
	for n := range 12 {
		run(t, dir, pipelines.RunOptions{Lanes: 1 + n%3})
		put(t, dir, fmt.Sprintf("landing/x%d.json", n), "{\"a\":1,\"b\":2}\n{\"a\":2,\"b\":1}\n")
	}
	want(t, dir, "out", "1 2", "2 1")
}

// checkpointFile finds the one checkpoint of a table's flow.
func checkpointFile(t testing.TB, dir, table string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "state/checkpoints/main/default", table, "*/*/flow.db"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	return found[0]
}

func three(t testing.TB) string {
	t.Helper()
	dir := project(t, "v BIGINT", "streaming_tables:\n  - name: out\n    sql: SELECT v FROM STREAM(raw)\n")
	for n := range 3 {
		put(t, dir, fmt.Sprintf("landing/%d.json", n), fmt.Sprintf(`{"v":%d}`, n))
		run(t, dir, pipelines.RunOptions{})
	}
	return dir
}

func TestB20Checkpoint(t *testing.T) {
	dir := three(t)
	db := checkpointFile(t, dir, "out")
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	fails(t, dir, pipelines.RunOptions{}, db, "missing", "--full-refresh out")
	want(t, dir, "out", "0", "1", "2")
	if err := os.RemoveAll(filepath.Join(dir, "state/checkpoints")); err != nil {
		t.Fatal(err)
	}
	fails(t, dir, pipelines.RunOptions{}, db, "missing", "--full-refresh out")
	want(t, dir, "out", "0", "1", "2")
	run(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}}) // the way out
	want(t, dir, "out", "0", "1", "2")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "0", "1", "2")
}

func TestB25Checkpoint(t *testing.T) {
	dir := three(t)
	path := checkpointFile(t, dir, "out")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "landing/9.json", `{"v":9}`)
	for name, damage := range map[string][]byte{"empty": {}, "4 KiB": whole[:4096], "zeros": make([]byte, len(whole)), "cut": whole[:3*4096]} {
		if err := os.WriteFile(path, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		fails(t, dir, pipelines.RunOptions{}, path, "damaged", "restore it from a copy", "--full-refresh out")
		if t.Failed() {
			t.Fatal(name)
		}
		want(t, dir, "out", "0", "1", "2")
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "0", "1", "2", "9")
	// An old copy: the table is ahead.
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, dir, pipelines.RunOptions{}, path, "ahead", "--full-refresh out")
	want(t, dir, "out", "0", "1", "2", "9")
}

func TestB24(t *testing.T) {
	for _, trigger := range []string{"available_now", "triggered"} {
		dir := project(t, "v BIGINT", "streaming_tables:\n  - name: out\n    sql: SELECT v FROM STREAM(raw)\n")
		put(t, dir, "landing/1.json", "{\"v\":1}\n{\"v\":2}\n")
		if !child(t, order{Dir: dir, Trigger: trigger, Point: "intent.after", Nth: 1}) {
			t.Error("not killed")
		}
		put(t, dir, "landing/2.json", `{"v":3}`)
		run(t, dir, pipelines.RunOptions{Trigger: trigger})
		want(t, dir, "out", "1", "2", "3")
	}
}

func TestB28(t *testing.T) {
	dir := project(t, "id STRING, ts TIMESTAMP", `streaming_tables:
  - name: out
    deduplicate: {keys: [id], within_watermark: true}
    sql: SELECT id, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 10 MINUTES
`)
	for i, r := range []string{`"x" 10:00`, `"x" 10:09`, `"y" 10:30`, `"x" 10:31`} {
		id, at, _ := strings.Cut(r, " ")
		put(t, dir, fmt.Sprintf("landing/%d.json", i), fmt.Sprintf(`{"id":%s,"ts":"2026-01-01T%s:00Z"}`, id, at))
		run(t, dir, pipelines.RunOptions{})
	}
	want(t, dir, "out", `"x" "2026-01-01T10:00:00.000Z"`, `"y" "2026-01-01T10:30:00.000Z"`, `"x" "2026-01-01T10:31:00.000Z"`)
}

func TestB23(t *testing.T) {
	const schema = "k STRING, region STRING, v INT"
	complete := func(query string) string {
		return "sinks:\n  - {name: out, format: console, options: {path: out.jsonl}}\nflows:\n  - name: f\n    target: out\n    output_mode: complete\n    sql: " + query + "\n"
	}
	f := func(what, query, newSchema, newQuery string, ok bool) {
		t.Helper()
		dir := project(t, schema, complete(query))
		put(t, dir, "landing/1.json", `{"k":"a","region":"r","v":1}`)
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, newSchema, complete(newQuery))
		put(t, dir, "landing/2.json", `{"k":"a","region":"s","v":2}`)
		res, err := runIn(dir, pipelines.RunOptions{})
		if err == nil {
			err = failures(res)
		}
		switch {
		case ok && err != nil:
			t.Errorf("%s: %v", what, err)
		case !ok && (err == nil || !strings.Contains(err.Error(), "full")):
			t.Errorf("%s: %v", what, err)
		}
	}
	const sum = "SELECT k, sum(v) AS s FROM STREAM(raw) GROUP BY k"
	f("same", sum, schema, sum, true)
	f("alias", sum, schema, "SELECT k, sum(v) AS total FROM STREAM(raw) GROUP BY k", true)
	f("new unused column", sum, schema+", extra STRING", sum, true)
	f("type", sum, "k STRING, region STRING, v STRING", sum, false)
	f("more groups", sum, schema, "SELECT k, region, sum(v) AS s FROM STREAM(raw) GROUP BY k, region", false)
	f("another aggregate", sum, schema, "SELECT k, max(v) AS s FROM STREAM(raw) GROUP BY k", false)
	f("no group", sum, schema, "SELECT sum(v) AS s FROM STREAM(raw)", false)

	// Swapped aggregates keep their values or are refused.
	dir := project(t, schema, complete("SELECT k, min(v) AS lo, max(v) AS hi FROM STREAM(raw) GROUP BY k"))
	put(t, dir, "landing/1.json", `{"k":"a","v":1}`+"\n"+`{"k":"a","v":9}`)
	run(t, dir, pipelines.RunOptions{})
	document(t, dir, schema, complete("SELECT k, max(v) AS hi, min(v) AS lo FROM STREAM(raw) GROUP BY k"))
	put(t, dir, "landing/2.json", `{"k":"a","v":5}`)
	res, err := runIn(dir, pipelines.RunOptions{})
	if err == nil {
		err = failures(res)
	}
	if errors.Is(err, flow.ErrChanged) || err != nil && strings.Contains(err.Error(), "full-refresh") {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil || !strings.HasSuffix(string(text), `"row":{"k":"a","hi":9,"lo":1}}`+"\n") {
		t.Errorf("%v %s", err, text)
	}
}

func TestB32(t *testing.T) {
	dir := project(t, "v BIGINT", `sinks:
  - {name: unused, format: console}
streaming_tables:
  - {name: a, sql: "SELECT v FROM STREAM(raw)"}
  - {name: b, sql: "SELECT v + 1 AS v FROM STREAM(a)"}
  - {name: c, sql: "SELECT v + 1 AS v FROM STREAM(b)"}
`)
	put(t, dir, "landing/1.json", `{"v":1}`)
	check := func() {
		t.Helper()
		want(t, dir, "a", "1")
		want(t, dir, "b", "2")
		want(t, dir, "c", "3")
	}
	run(t, dir, pipelines.RunOptions{})
	check()
	run(t, dir, pipelines.RunOptions{FullRefreshAll: true})
	check()
	fails(t, dir, pipelines.RunOptions{FullRefresh: []string{"b"}}, "STREAMING_SOURCE_RESET", "--cascade")
	check()
	run(t, dir, pipelines.RunOptions{FullRefresh: []string{"b"}, Cascade: true})
	check()
	run(t, dir, pipelines.RunOptions{})
	check()
}

func TestB33(t *testing.T) {
	doc := `  - {name: b, format: json, path: other, schema: "v BIGINT"}
streaming_tables:
  - {name: out, sql: "SELECT v FROM STREAM(raw)%s"}
  - {name: healthy, sql: "SELECT v FROM STREAM(raw)"}
`
	dir := project(t, "v BIGINT", fmt.Sprintf(doc, ""))
	put(t, dir, "landing/1.json", `{"v":1}`)
	put(t, dir, "other/1.json", `{"v":10}`)
	run(t, dir, pipelines.RunOptions{})
	document(t, dir, "v BIGINT", fmt.Sprintf(doc, " UNION ALL SELECT v FROM STREAM(b)"))
	put(t, dir, "landing/2.json", `{"v":2}`)
	attempts := 0
	o := pipelines.RunOptions{Listener: event.Listener{FlowChanged: func(e event.FlowChanged) {
		if e.Dataset == "out" && e.State == event.Running {
			attempts++
		}
	}}}
	// DESIGN §4: refused before anything runs; what is healthy runs when it is
	// asked for alone.
	fails(t, dir, o, "sources", "flow out", "changed", "added", "b", "full")
	if attempts > 1 {
		t.Errorf("%d attempts", attempts)
	}
	want(t, dir, "out", "1")
	if res, err := runIn(dir, pipelines.RunOptions{Refresh: []string{"healthy"}}); err != nil || res.Failed() {
		t.Errorf("%v", err)
	}
	want(t, dir, "healthy", "1", "2")
}

func TestB68(t *testing.T) {
	dir := project(t, "v BIGINT, s STRING", `streaming_tables:
  - {name: a, sql: "SELECT v FROM STREAM(raw)"}
  - {name: b, sql: "SELECT CAST(s AS INT) AS s FROM STREAM(raw)"}
  - {name: c, sql: "SELECT v FROM STREAM(a)"}
  - {name: d, sql: "SELECT s FROM STREAM(b)"}
`)
	put(t, dir, "landing/1.json", `{"v":1,"s":"5"}`)
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/2.json", `{"v":2,"s":"7"}`+"\n"+`{"v":3,"s":"seven"}`)
	res := fails(t, dir, pipelines.RunOptions{}, "flow b of b", "CAST_INVALID_INPUT", "landing/2.json", "records 1 to 2")
	want(t, dir, "a", "1", "2", "3")
	want(t, dir, "b", "5")
	want(t, dir, "c", "1", "2", "3")
	want(t, dir, "d", "5")
	for _, f := range res.Flows {
		if f.Dataset == "d" && (f.State != event.Skipped || !strings.Contains(f.Reason, "b failed")) {
			t.Errorf("%+v", f)
		}
	}
	// B75: the offset of the failed epoch is not kept; once the query takes the
	// row, all three are there once.
	document(t, dir, "v BIGINT, s STRING", `streaming_tables:
  - {name: a, sql: "SELECT v FROM STREAM(raw)"}
  - {name: b, sql: "SELECT try_cast(s AS INT) AS s FROM STREAM(raw)"}
`)
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "a", "1", "2", "3")
	want(t, dir, "b", "5", "7", "null")
}

func TestB69(t *testing.T) {
	dir := three(t)
	fails(t, dir, pipelines.RunOptions{Refresh: []string{"ot"}}, `"ot"`, "out")
	fails(t, dir, pipelines.RunOptions{Refresh: []string{"out"}, FullRefresh: []string{"out"}}, "CONFLICTING")
	want(t, dir, "out", "0", "1", "2")
}

func TestB72(t *testing.T) {
	dir := project(t, "v BIGINT", "streaming_tables:\n  - {name: out, sql: \"SELECT v, _metadata.file_name AS f FROM STREAM(raw)\"}\n"+
		"  - {name: twice, sql: \"SELECT v FROM STREAM(raw) UNION ALL SELECT -v FROM STREAM(raw)\"}\n")
	for n := range 5 {
		put(t, dir, fmt.Sprintf("landing/%d.json", n), fmt.Sprintf("{\"v\":%d}\n{\"v\":%d}\n", 2*n, 2*n+1))
	}
	for _, f := range run(t, dir, pipelines.RunOptions{}).Flows {
		if f.InputRows != 10 {
			t.Errorf("%s: %d input rows", f.Dataset, f.InputRows)
		}
	}
	if got := rows(t, dir, "twice"); len(got) != 20 {
		t.Errorf("%v", got)
	}
}

func TestB73(t *testing.T) {
	dir := three(t)
	put(t, dir, "landing/7.json", `{"v":7}`)
	if !child(t, order{Dir: dir, Point: "commit.logged", Nth: 1}) {
		t.Error("not killed")
	}
	want(t, dir, "out", "0", "1", "2", "7")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "0", "1", "2", "7")
	if v := openTable(t, dir, "out").Known().Version(); v != 4 {
		t.Errorf("version %d", v)
	}
}

func TestForeignCheckpoint(t *testing.T) {
	dir := project(t, "v BIGINT", "streaming_tables:\n  - {name: a, sql: \"SELECT v FROM STREAM(raw)\"}\n  - {name: b, sql: \"SELECT v FROM STREAM(raw)\"}\n")
	put(t, dir, "landing/1.json", `{"v":1}`)
	run(t, dir, pipelines.RunOptions{})
	a, b := checkpointFile(t, dir, "a"), checkpointFile(t, dir, "b")
	if err := errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b)); err != nil {
		t.Fatal(err)
	}
	res, err := runIn(dir, pipelines.RunOptions{})
	if err == nil {
		err = failures(res)
	}
	if !errors.Is(err, checkpoint.ErrForeign) {
		t.Errorf("%v", err)
	}
	want(t, dir, "a", "1")
	want(t, dir, "b", "1")
}

// TestB33Rename: a renamed flow is not started from zero silently.
func TestB33Rename(t *testing.T) {
	doc := func(flows ...string) string {
		out := "streaming_tables:\n  - name: out\n    flows:\n"
		for _, f := range flows {
			out += "      - {name: " + f + ", sql: \"SELECT v FROM STREAM(raw)\"}\n"
		}
		return out
	}
	dir := project(t, "v BIGINT", doc("a"))
	put(t, dir, "landing/1.json", `{"v":1}`)
	run(t, dir, pipelines.RunOptions{})
	document(t, dir, "v BIGINT", doc("b"))
	put(t, dir, "landing/2.json", `{"v":2}`)
	fails(t, dir, pipelines.RunOptions{}, "checkpoint", "flow a", "b")
	want(t, dir, "out", "1")
	document(t, dir, "v BIGINT", doc("a"))
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2")
	document(t, dir, "v BIGINT", doc("a", "c")) // a flow more is fine
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2", "1", "2")
	document(t, dir, "v BIGINT", doc("c")) // one less too
	put(t, dir, "landing/3.json", `{"v":3}`)
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2", "1", "2", "3")
}
