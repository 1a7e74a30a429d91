package simtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// TestPropertiesKilled changes the comment and the properties of tables while
// an epoch is open in every way, kills the run that brings the change around
// its commit, and compares rows: those of appends, of keyed tables and of the
// stream that reads the table across the version without rows.
func TestPropertiesKilled(t *testing.T) {
	text := func(about string) string {
		return "streaming_tables:\n" +
			"  - name: out\n" + about + "    sql: SELECT k, v FROM STREAM(raw)\n" +
			"  - name: next\n    sql: SELECT * FROM STREAM(out)\n" +
			"  - name: sums\n    output_mode: update\n    keys: [k]\n" + about + "    sql: SELECT k, sum(v) AS s FROM STREAM(raw) GROUP BY k\n" +
			"materialized_views:\n  - name: total\n" + about + "    sql: SELECT count(*) AS n FROM next\n"
	}
	const columns = "k STRING, v BIGINT"
	for i, open := range []string{"", "read.after", "prepared.after", "commit.logged", "view.staged"} {
		for j, point := range []string{"properties.begin", "properties.done"} {
			dir := project(t, columns, text(""))
			put(t, dir, "landing/1.json", `{"k":"a","v":1}`+"\n"+`{"k":"b","v":2}`)
			run(t, dir, pipelines.RunOptions{})
			put(t, dir, "landing/2.json", `{"k":"a","v":3}`)
			nth := 1 + j%2
			if open == "view.staged" { // there is one view
				nth = 1
			}
			if open != "" && !child(t, order{Dir: dir, Point: open, Nth: nth}) {
				t.Fatalf("%s was not met", open)
			}
			document(t, dir, columns, text("    comment: now\n    properties: {env: prod}\n"))
			if !child(t, order{Dir: dir, Point: point, Nth: 1 + (i+j)%3}) {
				t.Fatalf("%s was not met", point)
			}
			put(t, dir, "landing/3.json", `{"k":"b","v":4}`)
			run(t, dir, pipelines.RunOptions{})
			all := []string{`"a" 1`, `"a" 3`, `"b" 2`, `"b" 4`}
			want(t, dir, "out", all...)
			want(t, dir, "next", all...)
			want(t, dir, "sums", `"a" 4`, `"b" 6`)
			want(t, dir, "total", "4")
			versions := map[string]int64{}
			for _, name := range []string{"out", "sums", "total"} {
				snap, err := openTable(t, dir, name).Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				versions[name] = snap.Version()
				if snap.Description() != "now" || snap.Properties()["env"] != "prod" {
					t.Errorf("%s after %s and %s: %q %v", name, open, point, snap.Description(), snap.Properties())
				}
			}
			var notes []string
			run(t, dir, pipelines.RunOptions{Listener: event.Listener{Note: func(n event.Note) { notes = append(notes, n.Message) }}})
			if slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, "env") }) {
				t.Errorf("said twice: %v", notes)
			}
			for name, v := range versions {
				if snap, err := openTable(t, dir, name).Snapshot(t.Context()); err != nil || snap.Version() != v {
					t.Errorf("%s: a run without changes made a version: %v", name, err)
				}
			}
		}
	}
}

// TestAppendOnlyRefresh: no refresh begins, and none goes on, that would take
// rows out of an append-only table; rows are those of one reading each time.
func TestAppendOnlyRefresh(t *testing.T) {
	text := func(value string) string {
		return "streaming_tables:\n  - name: out\n    properties: {" + value + "}\n    sql: SELECT v FROM STREAM(raw)\n"
	}
	refused := func(dir string, o pipelines.RunOptions) {
		t.Helper()
		if _, err := runIn(dir, o); err == nil || !strings.Contains(err.Error(), "TABLE_NOT_RESETTABLE") {
			t.Errorf("got %v", err)
		}
		want(t, dir, "out", "1", "2")
	}
	fresh := pipelines.RunOptions{FullRefresh: []string{"out"}}
	t.Run("refresh goes on", func(t *testing.T) {
		dir := project(t, "v BIGINT", text("a: b"))
		put(t, dir, "landing/1.json", `{"v":1}`+"\n"+`{"v":2}`)
		run(t, dir, pipelines.RunOptions{})
		if !child(t, order{Dir: dir, Point: "refresh.recorded", Nth: 1, FullRefresh: fresh.FullRefresh}) {
			t.Fatal("not killed")
		}
		document(t, dir, "v BIGINT", text("delta.appendOnly: 'true'"))
		refused(dir, pipelines.RunOptions{})
		document(t, dir, "v BIGINT", text("delta.appendOnly: 'false'"))
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "1", "2")
	})
	t.Run("without record", func(t *testing.T) {
		dir := project(t, "v BIGINT", text("delta.appendOnly: 'true'"))
		put(t, dir, "landing/1.json", `{"v":1}`+"\n"+`{"v":2}`)
		run(t, dir, pipelines.RunOptions{})
		refused(dir, fresh)
		if err := os.RemoveAll(filepath.Join(dir, "state", "catalog")); err != nil {
			t.Fatal(err)
		}
		document(t, dir, "v BIGINT", text("a: b"))
		refused(dir, fresh)
		document(t, dir, "v BIGINT", text("delta.appendOnly: 'false'"))
		run(t, dir, fresh)
		want(t, dir, "out", "1", "2")
	})
}
