package simtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pipelines/pipelines"
)

// chain is a project of a stateful table, two that follow it, and a view.
func chain(first, firstFrom, flow, flowFrom string) string {
	from := func(key, name string) string {
		if name == "" {
			return ""
		}
		return key + name
	}
	return "streaming_tables:\n  - name: " + first + from("\n    moved_from: ", firstFrom) + `
    deduplicate: {keys: [v]}
    sql: SELECT v FROM STREAM(raw)
  - name: counted
    output_mode: update
    keys: [k]
    sql: SELECT v % 2 AS k, count(*) AS n FROM STREAM(` + first + `) GROUP BY v % 2
  - name: merged
    flows:
      - name: ` + flow + from("\n        moved_from: ", flowFrom) + "\n        sql: SELECT v FROM STREAM(" + first + `)
      - {name: more, sql: "SELECT v + 100 AS v FROM STREAM(raw)"}
materialized_views:
  - {name: total, sql: "SELECT count(*) AS n FROM ` + first + `"}
`
}

func chainRows(t *testing.T, dir, first, flow string) string {
	t.Helper()
	out := ""
	for _, name := range []string{first, "counted", "merged", "total"} {
		out += fmt.Sprintln(rows(t, dir, name))
	}
	return out
}

// movedProject has read two files under the old names; a third waits for the
// new ones. Rows 1 and 2 come again: only the kept state knows them.
func movedProject(t *testing.T) string {
	dir := project(t, "v BIGINT", chain("a", "", "live", ""))
	put(t, dir, "landing/1.json", "{\"v\":1}\n{\"v\":2}\n")
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/2.json", "{\"v\":2}\n{\"v\":3}\n")
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/3.json", "{\"v\":1}\n{\"v\":2}\n{\"v\":4}\n")
	return dir
}

const movedRows = "[1 2 3 4]\n[0 2 1 2]\n[1 101 101 102 102 102 103 104 2 3 4]\n[4]\n"

// TestMovedFrom renames a table that others follow, and a flow.
func TestMovedFrom(t *testing.T) {
	dir := movedProject(t)
	document(t, dir, "v BIGINT", chain("b", "a", "fresh", "live"))
	steps := dryRun(t, dir)
	if !strings.Contains(steps, "b append 1 [moved from main.default.a") || !strings.Contains(steps, "flow fresh: moved from live") || !strings.Contains(steps, "2 epochs are committed") {
		t.Error(steps)
	}
	if exists(dir, "catalog/main/default/b.json") || !exists(dir, "checkpoints/main/default/a") {
		t.Error("the dry run has written")
	}
	for range 2 {
		run(t, dir, pipelines.RunOptions{})
		if got := chainRows(t, dir, "a", "fresh"); got != movedRows { // the data stays in its folder
			t.Fatal(got)
		}
	}
	if exists(dir, "catalog/main/default/a.json") || exists(dir, "checkpoints/main/default/a") || exists(dir, "checkpoints/main/default/merged/live") {
		t.Error("something of the old name is left")
	}
	if steps := dryRun(t, dir); strings.Contains(steps, "moved") {
		t.Error(steps)
	}
	document(t, dir, "v BIGINT", chain("b", "", "fresh", "")) // the keys may go
	put(t, dir, "landing/4.json", "{\"v\":3}\n{\"v\":5}\n")
	run(t, dir, pipelines.RunOptions{Trigger: "triggered"})
	if got := fmt.Sprint(rows(t, dir, "a"), rows(t, dir, "counted")); got != "[1 2 3 4 5] [0 2 1 3]" {
		t.Error(got)
	}
	document(t, dir, "v BIGINT", chain("c", "b", "fresh", "")) // and once more
	put(t, dir, "landing/5.json", "{\"v\":3}\n{\"v\":6}\n")
	run(t, dir, pipelines.RunOptions{Refresh: []string{"c"}})
	run(t, dir, pipelines.RunOptions{})
	if got := fmt.Sprint(rows(t, dir, "a"), rows(t, dir, "counted")); got != "[1 2 3 4 5 6] [0 3 1 3]" {
		t.Error(got)
	}
	// A full refresh forgets the old names; the old table's name is free.
	run(t, dir, pipelines.RunOptions{FullRefresh: []string{"c"}, Cascade: true})
	put(t, dir, "landing/6.json", "{\"v\":6}\n{\"v\":7}\n")
	run(t, dir, pipelines.RunOptions{})
	if got := fmt.Sprint(rows(t, dir, "a"), rows(t, dir, "counted")); got != "[1 2 3 4 5 6 7] [0 3 1 4]" {
		t.Error(got)
	}
	document(t, dir, "v BIGINT", chain("c", "", "fresh", "")+"  - {name: a, sql: \"SELECT 1 AS one\"}\n")
	run(t, dir, pipelines.RunOptions{})
	if got := fmt.Sprint(rows(t, dir, "a")); got != "[1 2 3 4 5 6 7]" || !exists(dir, "tables/main/default/a~2/_delta_log") {
		t.Error(got)
	}
}

// TestMovedFromCrash stops a run that renames at each border of the renaming.
func TestMovedFromCrash(t *testing.T) {
	for _, point := range []string{"move.recorded", "move.checkpoints", "move.readers", "move.removed", "move.done", "recover.begin", "prepared.after"} {
		for _, nth := range []int{1, 2} {
			dir := movedProject(t)
			document(t, dir, "v BIGINT", chain("b", "a", "fresh", "live"))
			var met atomic.Int32 // flows run side by side
			_, err := runIn(dir, pipelines.RunOptions{At: func(p string) error {
				if p == point && int(met.Add(1)) == nth {
					return errors.New("crash")
				}
				return nil
			}})
			if int(met.Load()) < nth {
				if nth == 1 {
					t.Errorf("%s was not met", point)
				}
				continue
			}
			if strings.HasPrefix(point, "move.") && err == nil {
				t.Errorf("%s: no crash", point)
			}
			dryRun(t, dir)
			run(t, dir, pipelines.RunOptions{})
			if got := chainRows(t, dir, "a", "fresh"); got != movedRows {
				t.Errorf("%s: %s", point, got)
			}
			run(t, dir, pipelines.RunOptions{})
			if got := chainRows(t, dir, "a", "fresh"); got != movedRows || exists(dir, "catalog/main/default/a.json") {
				t.Errorf("%s, again: %s", point, got)
			}
		}
	}
}

// TestMovedFromWrong has the names that cannot be.
func TestMovedFromWrong(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{chain("b", "aa", "live", ""), "MOVED_FROM_NOT_FOUND"},
		{chain("b", "counted", "live", ""), "INVALID_MOVED_FROM"},
		{chain("b", "b", "live", ""), "INVALID_MOVED_FROM"},
		{chain("b", "total", "live", "") + "  - {name: z, sql: SELECT 1 AS x}\n", "INVALID_MOVED_FROM"},
		{strings.Replace(chain("b", "total", "live", ""), "{name: total,", "{name: total2,", 1), "DATASET_KIND_CHANGED"},
		{chain("a", "", "fresh", "lve"), "MOVED_FROM_NOT_FOUND"},
		{chain("a", "", "fresh", "more"), "INVALID_MOVED_FROM"},
		{chain("a", "", "fresh", ""), "FLOW_RENAMED"},
	} {
		dir := movedProject(t)
		document(t, dir, "v BIGINT", c.doc)
		fails(t, dir, pipelines.RunOptions{}, c.want)
		if got := fmt.Sprint(rows(t, dir, "a"), rows(t, dir, "merged")); got != "[1 2 3] [1 101 102 102 103 2 3]" {
			t.Errorf("%s: %s", c.want, got)
		}
	}
	dir := movedProject(t)
	document(t, dir, "v BIGINT", chain("b", "aa", "fresh", "lve"))
	fails(t, dir, pipelines.RunOptions{}, `did you mean "main.default.a"?`, `did you mean "live"?`)
	// Where nothing was ever made there is nothing to move.
	dir = project(t, "v BIGINT", chain("b", "a", "fresh", "live"))
	put(t, dir, "landing/1.json", "{\"v\":1}\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "b", "1")
	// Both are there: which one is meant?
	dir = movedProject(t)
	document(t, dir, "v BIGINT", chain("b", "", "live", ""))
	if _, err := runIn(dir, pipelines.RunOptions{Refresh: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	document(t, dir, "v BIGINT", chain("b", "a", "live", ""))
	fails(t, dir, pipelines.RunOptions{}, "MOVED_FROM_CONFLICT")
}

// TestMovedFromSQL renames a table of a SQL file by its property.
func TestMovedFromSQL(t *testing.T) {
	dir := project(t, "v BIGINT", "libraries:\n  - glob: {include: x.sql}\n")
	script := func(text string) { put(t, dir, "x.sql", text) }
	script("CREATE STREAMING TABLE a AS SELECT v FROM STREAM(raw)")
	put(t, dir, "landing/1.json", "{\"v\":1}\n{\"v\":2}\n")
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/2.json", "{\"v\":3}\n")
	script("CREATE STREAMING TABLE db.b TBLPROPERTIES ('pipelines.Moved_From' = '`a`', 'x' = 'y') AS SELECT v FROM STREAM(raw)")
	for range 2 {
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "a", "1", "2", "3") // the data stays in its folder
	}
	if exists(dir, "catalog/main/default/a.json") || !exists(dir, "catalog/main/db/b.json") {
		t.Error("the old name is left")
	}
	for text, say := range map[string]string{
		"CREATE STREAMING TABLE db.b TBLPROPERTIES ('pipelines.moved_from' = 'a..b') AS SELECT v FROM STREAM(raw)": "x.sql:1:44",
		"CREATE TEMPORARY VIEW db TBLPROPERTIES ('pipelines.moved_from' = 'a') AS SELECT 1 AS one":                 "only tables are moved",
		"CREATE STREAMING TABLE db.c TBLPROPERTIES ('pipelines.moved_from' = 'dc.b') AS SELECT v FROM STREAM(raw)": "MOVED_FROM_NOT_FOUND",
	} {
		script(text)
		fails(t, dir, pipelines.RunOptions{}, say, "MOVED_FROM")
	}
}

// TestMovedSinkFlow renames a flow into a console, whose lines come once.
func TestMovedSinkFlow(t *testing.T) {
	doc := func(flow string) string {
		return "sinks:\n  - {name: out, format: console, options: {path: lines.json}}\nflows:\n  - {" + flow + ", target: out, sql: \"SELECT v FROM STREAM(raw)\"}\n"
	}
	dir := project(t, "v BIGINT", doc("name: a"))
	put(t, dir, "landing/1.json", "{\"v\":1}\n")
	run(t, dir, pipelines.RunOptions{})
	document(t, dir, "v BIGINT", doc("name: b, moved_from: a"))
	put(t, dir, "landing/2.json", "{\"v\":2}\n")
	for range 2 {
		run(t, dir, pipelines.RunOptions{})
	}
	text, err := os.ReadFile(filepath.Join(dir, "lines.json"))
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Errorf("%v\n%s", err, text)
	}
	document(t, dir, "v BIGINT", doc("name: c, moved_from: bb"))
	fails(t, dir, pipelines.RunOptions{}, `did you mean "b"?`)
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, "state", name))
	return err == nil
}

// dryRun says what a run would do.
func dryRun(t *testing.T, dir string) string {
	t.Helper()
	p, list, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	steps, list, err := p.DryRun(t.Context(), pipelines.RunOptions{})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	out := ""
	for _, s := range steps {
		out += fmt.Sprintln(s.Dataset, s.Action, s.Waiting, s.Details, strings.Join(s.Errors, "; "))
	}
	return out
}

// TestMovedKeyed renames tables that are kept by key: what was deleted stays
// deleted when an older change comes late.
func TestMovedKeyed(t *testing.T) {
	for _, c := range []struct{ kind, want string }{
		{"scd_type: 1", `[2 "y" 5]`},
		{"scd_type: 2", `[1 "a" 1 1 3 2 "x" 2 2 5 2 "y" 5 5 null]`},
	} {
		doc := func(name string) string {
			return "streaming_tables:\n  - name: " + name + "\n    auto_cdc: {source: raw, keys: [id], sequence_by: seq, apply_as_deletes: \"op = 'D'\", except_columns: [op], " + c.kind + "}\n"
		}
		const columns = "id BIGINT, v STRING, seq BIGINT, op STRING"
		dir := project(t, columns, doc("a"))
		put(t, dir, "landing/1.json", "{\"id\":1,\"v\":\"a\",\"seq\":1,\"op\":\"U\"}\n{\"id\":1,\"seq\":3,\"op\":\"D\"}\n{\"id\":2,\"v\":\"x\",\"seq\":2,\"op\":\"U\"}\n")
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, strings.Replace(doc("b"), "\n    auto", "\n    moved_from: a\n    auto", 1))
		put(t, dir, "landing/2.json", "{\"id\":2,\"v\":\"y\",\"seq\":5,\"op\":\"U\"}\n")
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, doc("b"))
		if c.kind == "scd_type: 1" {
			put(t, dir, "landing/3.json", "{\"id\":1,\"v\":\"late\",\"seq\":2,\"op\":\"U\"}\n")
		}
		run(t, dir, pipelines.RunOptions{})
		if got := fmt.Sprint(rows(t, dir, "a")); got != c.want {
			t.Errorf("%s: %s", c.kind, got)
		}
	}
}
