package simtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// drifting is a project whose source has no declared schema.
func drifting(t testing.TB, format, mode, options, rest string) string {
	t.Helper()
	dir := folder(t)
	put(t, dir, "pipeline.yml", fmt.Sprintf("name: p\nstorage: ./state\nsources:\n  - {name: raw, format: %s, path: landing, on_new_columns: %s, options: {%s}}\n%s", format, mode, options, rest))
	return dir
}

const copyAll = `streaming_tables:
  - {name: out, sql: "SELECT * FROM STREAM(raw)"}
  - {name: next, sql: "SELECT * FROM STREAM(out)"}
materialized_views:
  - {name: total, sql: "SELECT count(*) AS n FROM next"}
`

func columns(t testing.TB, dir, table string) string {
	t.Helper()
	snap, err := openTable(t, dir, table).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(snap.Schema().DDL(), "\n", " ")
}

// TestNewColumnsAdd: new columns, also inside of structs, end the epoch; the
// schema is pinned and merged, and the same run goes on through all tables.
func TestNewColumnsAdd(t *testing.T) {
	for _, limit := range []string{"", `maxFilesPerTrigger: "1"`} {
		dir := drifting(t, "json", "add", limit, copyAll)
		put(t, dir, "landing/1.json", `{"a":1,"s":{"x":1}}`)
		run(t, dir, pipelines.RunOptions{})
		put(t, dir, "landing/2.json", `{"a":2,"b":"two","s":{"x":2,"y":2.5}}`)
		put(t, dir, "landing/3.json", `{"a":3,"s":{"x":3},"c":[{"d":true}]}`+"\n{\"damaged\":1,")
		res := run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", `1 {"x":1,"y":null} null null`, `2 {"x":2,"y":2.5} "two" null`, `3 {"x":3,"y":null} null [{"d":true}]`, `null null null null`)
		want(t, dir, "total", "4")
		if got := columns(t, dir, "next"); got != columns(t, dir, "out") || !strings.Contains(got, "c ARRAY<STRUCT<d: BOOLEAN>>") {
			t.Error(got)
		}
		lock, err := os.ReadFile(filepath.Join(dir, "schemas.lock.yml"))
		if err != nil || !strings.Contains(string(lock), "b STRING") || strings.Contains(string(lock), "damaged") {
			t.Errorf("%v\n%s", err, lock)
		}
		for _, f := range res.Flows {
			if f.Flow == "out" && f.InputRows != 3 || f.State != event.Completed {
				t.Errorf("%+v", f)
			}
		}
		before := len(openTable(t, dir, "out").Known().Schema().Fields)
		if res = run(t, dir, pipelines.RunOptions{}); res.Rows != 0 || before != 4 {
			t.Errorf("%d rows again, %d columns", res.Rows, before)
		}
	}
}

// TestNewColumnsAddCrash stops at each border of the run that adds a column.
func TestNewColumnsAddCrash(t *testing.T) {
	for n := 1; ; n++ {
		dir := drifting(t, "json", "add", `maxFilesPerTrigger: "1"`, copyAll)
		put(t, dir, "landing/1.json", `{"a":1}`)
		run(t, dir, pipelines.RunOptions{})
		put(t, dir, "landing/2.json", `{"a":2}`)
		put(t, dir, "landing/3.json", `{"a":3,"b":3}`)
		count, stopped := 0, false
		_, err := runIn(dir, pipelines.RunOptions{Lanes: 1, At: func(string) error {
			if count++; count == n {
				stopped = true
				return errors.New("crash")
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err) // flows fail, the run does not
		}
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "1 null", "2 null", "3 3")
		want(t, dir, "next", "1 null", "2 null", "3 3")
		want(t, dir, "total", "3")
		if !stopped {
			if n < 40 {
				t.Errorf("only %d borders", n)
			}
			return
		}
		if n > 12 {
			n += 6 // a sample of the later ones
		}
	}
}

// TestNewColumnsContinuous adds a column while the pipeline runs.
func TestNewColumnsContinuous(t *testing.T) {
	dir := drifting(t, "json", "add", "", copyAll+"configuration: {pipelines.commit.interval: 1 millisecond, pipelines.trigger.interval: 1 millisecond}\n")
	put(t, dir, "landing/1.json", `{"a":1}`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop, end := context.WithCancel(ctx)
	rows := 0
	res, err := runStop(ctx, stop, dir, pipelines.RunOptions{Trigger: "continuous", Listener: event.Listener{FlowProgress: func(e event.FlowProgress) {
		if e.Flow != "next" {
			return
		}
		if rows += int(e.NumOutputRows); rows < 4 {
			put(t, dir, fmt.Sprintf("landing/%d.json", rows+1), fmt.Sprintf(`{"a":%d,"b%d":true}`, rows+1, rows+1))
		} else {
			end()
		}
	}}})
	if err == nil {
		err = failures(res)
	}
	if err != nil {
		t.Fatal(err)
	}
	want(t, dir, "next", "1 null null null", "2 true null null", "3 null true null", "4 null null true")
}

// TestNewColumnsFail names file and column, for each format, and reads nothing
// of the file.
func TestNewColumnsFail(t *testing.T) {
	for _, c := range []struct{ format, options, one, two, column string }{
		{"json", "", `{"a":1}`, "{\"a\":2}\n{\"a\":3,\"b\":4}", "b"},
		{"json", "", `{"s":{"x":1}}`, `{"s":{"y":1}}`, "s.y"},
		{"csv", `header: "true"`, "a,b\n1,2\n", "a,b,c\n1,2,3\n", "c"},
	} {
		dir := drifting(t, c.format, "fail", c.options, copyAll)
		put(t, dir, "landing/1."+c.format, c.one)
		run(t, dir, pipelines.RunOptions{})
		before := rows(t, dir, "out")
		put(t, dir, "landing/2."+c.format, c.two)
		fails(t, dir, pipelines.RunOptions{}, "landing/2."+c.format, "the column "+c.column+",", "source raw", "on_new_columns")
		compare(t, c.format, rows(t, dir, "out"), before)
	}
	// A declared schema is held as well; names differ by more than case.
	dir := folder(t)
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: raw, format: json, path: landing, on_new_columns: fail, schema: \"a INT, day DATE\"}\nstreaming_tables:\n  - {name: out, sql: \"SELECT a FROM STREAM(raw)\"}\n")
	put(t, dir, "landing/day=2026-01-01/1.json", `{"A":1,"DAY":"2026-01-01"}`)
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/day=2026-01-01/2.json", `{"z":null}`)
	fails(t, dir, pipelines.RunOptions{}, "2.json", "the column z,")
}

// TestNewColumnsParquet takes its files from the tables of other projects.
func TestNewColumnsParquet(t *testing.T) {
	dir := drifting(t, "parquet", "add", "", copyAll)
	for i, query := range []string{"SELECT 1 AS a", "SELECT 2 AS a, named_struct('x', 2) AS s", "SELECT 3 AS a, named_struct('x', 3, 'y', 'three') AS s"} {
		made := folder(t)
		put(t, made, "pipeline.yml", "name: q\nstorage: ./state\nmaterialized_views:\n  - {name: v, sql: \""+query+"\"}\n")
		run(t, made, pipelines.RunOptions{})
		found, err := filepath.Glob(filepath.Join(made, "state/tables/main/default/v/*.parquet"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, fmt.Sprintf("landing/%d.parquet", i), string(data))
		run(t, dir, pipelines.RunOptions{})
	}
	want(t, dir, "next", "1 null", `2 {"x":2,"y":null}`, `3 {"x":3,"y":"three"}`)
}

// TestNewColumnsCSV: columns of CSV are found by the names in the header,
// unless the schema is enforced.
func TestNewColumnsCSV(t *testing.T) {
	dir := drifting(t, "csv", "add", `header: "true", inferSchema: "true"`, copyAll)
	put(t, dir, "landing/1.csv", "a,b\n1,2\n")
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/2.csv", "a,b,c\n3,4,x\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "next", "1 2 null", `3 4 "x"`)
	put(t, dir, "landing/3.csv", "a,z,b,c\n5,0,6,y\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "next", "1 2 null null", `3 4 "x" null`, `5 6 "y" 0`)
	dir = drifting(t, "csv", "add", `header: "true", enforceSchema: "true"`, copyAll)
	put(t, dir, "landing/1.csv", "a,b\n1,2\n")
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/2.csv", "a,z,b\n3,0,4\n")
	fails(t, dir, pipelines.RunOptions{}, "2.csv", "z", "behind the known ones")
}

// TestHeaderNames: files whose header has the columns in another order, fewer
// of them or others.
func TestHeaderNames(t *testing.T) {
	files := []string{"a,b\n1,2\n", "b,a\n4,3\n", "c\n5\n", "x,y\n6,7\n", "B,x,A\n9,z,8\n", "a\n10\n", "b,a\n12,11,13\n"}
	for _, c := range []struct {
		mode, options string
		want          []string
	}{
		{"rescue", "", []string{`"1" "2" null`, `"3" "4" null`, `null null "{\"c\":\"5\"}"`, `null null "{\"x\":\"6\",\"y\":\"7\"}"`, `"8" "9" "{\"x\":\"z\"}"`, `"10" null null`, `"11" "12" "{\"_c2\":\"13\"}"`}},
		{"ignore", "", []string{`"1" "2"`, `"3" "4"`, `null null`, `null null`, `"8" "9"`, `"10" null`, `"11" "12"`}},
		{"ignore", `, enforceSchema: "true"`, []string{`"1" "2"`, `"4" "3"`, `"5" null`, `"6" "7"`, `"9" "z"`, `"10" null`, `"12" "11"`}},
	} {
		dir := drifting(t, "csv", c.mode, `header: "true"`+c.options, copyAll)
		for i, text := range files {
			put(t, dir, fmt.Sprintf("landing/%d.csv", i), text)
			run(t, dir, pipelines.RunOptions{})
		}
		var got []string
		for _, row := range rows(t, dir, "out") {
			if i := strings.Index(row, `,\"_file_path`); i > 0 {
				row = row[:i] + `}"`
			}
			got = append(got, row)
		}
		slices.Sort(c.want)
		compare(t, c.mode+c.options, got, c.want)
	}
}

// TestNewColumnsRefused: a flow whose state holds whole rows fails alone.
func TestNewColumnsRefused(t *testing.T) {
	dir := drifting(t, "json", "add", "", "streaming_tables:\n  - {name: out, deduplicate: {keys: []}, sql: \"SELECT * FROM STREAM(raw)\"}\n  - {name: beside, sql: \"SELECT 1 AS x, a FROM STREAM(raw)\"}\n")
	put(t, dir, "landing/1.json", `{"a":1}`)
	run(t, dir, pipelines.RunOptions{})
	put(t, dir, "landing/2.json", `{"a":1,"b":2}`)
	fails(t, dir, pipelines.RunOptions{}, "flow out of out: the source raw has got the new column b", "--full-refresh out")
	lock, err := os.ReadFile(filepath.Join(dir, "schemas.lock.yml"))
	if err != nil || !strings.Contains(string(lock), "b BIGINT") {
		t.Errorf("%v\n%s", err, lock)
	}
	want(t, dir, "out", "1")
	want(t, dir, "beside", "1 1", "1 1")
	for _, c := range []string{"{name: raw, format: json, path: landing, schema: \"a INT\", on_new_columns: add}", "{name: raw, format: text, path: landing, on_new_columns: fail}", "{name: raw, format: rate, on_new_columns: rescue}", "{name: raw, format: parquet, path: landing, on_new_columns: rescue}"} {
		put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - "+c+"\nstreaming_tables:\n  - {name: z, sql: \"SELECT 1 AS x FROM STREAM(raw)\"}\n")
		fails(t, dir, pipelines.RunOptions{}, "CONFLICTING_KEYS")
	}
}

// TestNewColumnsRescue: without a declared schema what the columns do not take
// is kept as text, in JSON and in CSV.
func TestNewColumnsRescue(t *testing.T) {
	for _, c := range []struct {
		format, options, one, two string
		corrupt                   int64 // records with a value that does not fit
		want                      []string
	}{
		{"json", "", `{"a":1}`, "{\"a\":2,\"b\":\"x\"}\n{\"a\":\"y\"}\n", 1, []string{`1 null`, `2 {"b":"x"}`, `null {"a":"y"}`}},
		{"csv", `header: "true", inferSchema: "true"`, "a,b\n1,2\n", "a,b,c,d\n3,4,x\"y,\n5,z,6,7\n", 1, []string{`1 2 null`, `3 4 {"c":"x\"y"}`, `5 null {"b":"z","c":"6","d":"7"}`}},
		{"csv", `header: "false", inferSchema: "true"`, "1\n", "2,3\n", 0, []string{`1 null`, `2 {"_c1":"3"}`}},
	} {
		dir := drifting(t, c.format, "rescue", c.options, copyAll)
		put(t, dir, "landing/1."+c.format, c.one)
		run(t, dir, pipelines.RunOptions{})
		put(t, dir, "landing/2."+c.format, c.two)
		corrupt := int64(0)
		run(t, dir, pipelines.RunOptions{Listener: event.Listener{FlowProgress: func(e event.FlowProgress) { corrupt += e.CorruptRows }}})
		var got []string
		for _, r := range rows(t, dir, "out") {
			r = strings.ReplaceAll(r, `\\\"`, `\"`)
			if i := strings.Index(r, `,\"_file_path\"`); i > 0 {
				r = r[:i] + "}"
			}
			r = strings.ReplaceAll(strings.ReplaceAll(r, `"{`, `{`), `\"`, `"`)
			got = append(got, r)
		}
		for i, w := range c.want {
			c.want[i] = strings.ReplaceAll(w, `x\"y`, `x"y`)
		}
		compare(t, c.format+" "+c.options, got, c.want)
		if corrupt != c.corrupt {
			t.Errorf("%s: %d corrupt rows", c.format, corrupt)
		}
	}
}
