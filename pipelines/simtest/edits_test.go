package simtest

import (
	"fmt"
	"strings"
	"testing"

	"pipelines/pipelines"
)

// edit is a change of a deployed query.
type edit struct {
	what     string
	old, new string
	// want is a word of the refusal, "" for an edit that keeps the state; rows
	// are those of the table then, after the second file.
	want string
	rows []string
}

const (
	windowed = `  - name: out
    sql: SELECT date_format(window.start, 'mm:ss') AS s, k, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 10 SECONDS GROUP BY window(ts, '10 seconds'), k
`
	upserted = "  - name: out\n    output_mode: update\n    keys: [k]\n    sql: SELECT k, sum(v) AS s FROM STREAM(raw) GROUP BY k\n"
	kept     = "  - name: out\n    deduplicate: {keys: [k]}\n    sql: SELECT k, v FROM STREAM(raw)\n"
	topped   = "  - name: out\n    output_mode: update\n    keys: [k, rn]\n    sql: SELECT * FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM STREAM(raw)) WHERE rn <= 2\n"
	branches = "  - name: out\n    output_mode: update\n    keys: [b, k]\n    sql: SELECT 'x' AS b, k, count(*) AS n FROM STREAM(raw) WHERE v < 2 GROUP BY k UNION ALL SELECT 'y', k, count(*) FROM STREAM(raw) WHERE v >= 2 GROUP BY k\n"
	judged   = "  - name: out\n    output_mode: update\n    keys: [b, k]\n    sql: SELECT 'x' AS b, k, count(*) AS n FROM STREAM(low) GROUP BY k UNION ALL SELECT 'y', k, count(*) FROM STREAM(high) GROUP BY k\nviews:\n" +
		"  - {name: low, sql: SELECT * FROM STREAM(raw), expectations: [{name: e, expect: v < 2, on_violation: drop}]}\n  - {name: high, sql: SELECT * FROM STREAM(raw), expectations: [{name: e, expect: v >= 2, on_violation: drop}]}\n"
	joined = "  - name: out\n    sql: SELECT a.k, a.v AS x, b.v AS y FROM (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 1 SECOND WHERE v < 2) a JOIN (SELECT * FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 1 SECOND WHERE v >= 2) b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR\n"
)

// edits are the changes of issue 5 B and of streaming-semantics §7, and those
// that Spark does not see (streaming-measured §1). The first file holds (a, 1)
// at 00:05, (b, 2) at 00:06; the second (a, 3) at 00:08, (c, 4) at 01:00.
var edits = []edit{
	{"nothing", upserted, upserted, "", []string{`"a" 4`, `"b" 2`, `"c" 4`}},
	{"a filter above", windowed, windowed + "    expectations: [{name: e, expect: k <> 'b', on_violation: drop}]\n", "", []string{`"00:00" "a" 2`}},
	{"HAVING", upserted, strings.Replace(upserted, "GROUP BY k", "GROUP BY k HAVING sum(v) > 3", 1), "", []string{`"a" 4`, `"b" 2`, `"c" 4`}},
	{"a filter below", upserted, strings.Replace(upserted, "GROUP BY k", "WHERE v < 4 GROUP BY k", 1), "", []string{`"a" 4`, `"b" 2`}},
	{"a filter less", strings.Replace(upserted, "GROUP BY k", "WHERE v < 4 GROUP BY k", 1), upserted, "", []string{`"a" 4`, `"b" 2`, `"c" 4`}},
	{"an output column without state", upserted, strings.Replace(upserted, "AS s", "AS s, upper(k) AS u", 1), "", []string{`"a" 4 "A"`, `"b" 2 null`, `"c" 4 "C"`}},
	{"another name below", upserted, strings.ReplaceAll(strings.Replace(upserted, "STREAM(raw)", "(SELECT k, v AS w FROM STREAM(raw))", 1), "sum(v)", "sum(w)"), "the state", nil},
	{"the watermark's delay", windowed, strings.Replace(windowed, "INTERVAL 10", "INTERVAL 40", 1), "", []string{`"00:00" "a" 2`, `"00:00" "b" 1`}},
	{"another order of keys", windowed, strings.Replace(windowed, "window(ts, '10 seconds'), k", "k, window(ts, '10 seconds')", 1), "the stateful operators changed", nil},
	{"another order of keys: the way out", windowed, strings.Replace(windowed, "window(ts, '10 seconds'), k", "k, window(ts, '10 seconds')", 1), "list them as they were", nil},
	{"another order of aggregates", strings.Replace(upserted, "AS s", "AS s, max(v) AS m", 1), strings.Replace(upserted, "sum(v) AS s", "max(v) AS m, sum(v) AS s", 1), "list them as they were", nil},
	{"another order of keys of a deduplication", strings.Replace(kept, "[k]", "[k, v]", 1), strings.Replace(kept, "[k]", "[v, k]", 1), "list them as they were", nil},
	{"a changed aggregate", upserted, strings.Replace(upserted, "sum(v)", "max(v)", 1), "the state", nil},
	{"aggregates in a subquery in another order", strings.Replace(upserted, "AS s", "AS s, max(v) AS m", 1), strings.Replace(upserted, "sum(v) AS s FROM STREAM(raw) GROUP BY k", "m, s FROM (SELECT k, sum(v) AS s, max(v) AS m FROM STREAM(raw) GROUP BY k)", 1), "", []string{`"a" 4 3`, `"b" 2 2`, `"c" 4 4`}},
	{"a changed argument", upserted, strings.Replace(upserted, "sum(v)", "sum(v + 1)", 1), "the state", nil},
	{"one aggregate more", upserted, strings.Replace(upserted, "AS s", "AS s, count(*) AS n", 1), "the state", nil},
	{"a filter of an aggregate", upserted, strings.Replace(upserted, "sum(v)", "sum(v) FILTER (WHERE v > 1)", 1), "the state", nil},
	{"changed keys", windowed, strings.Replace(strings.Replace(windowed, "'10 seconds'), k", "'10 seconds'), k, v", 1), "AS n", "AS n, v", 1), "stateful operators", nil},
	{"a key less", windowed, strings.Replace(strings.Replace(windowed, "'10 seconds'), k", "'10 seconds')", 1), "k, count", "count", 1), "stateful operators", nil},
	{"the window's size", windowed, strings.Replace(windowed, "'10 seconds')", "'20 seconds')", 1), "the state", nil},
	{"the window's slide", windowed, strings.Replace(windowed, "'10 seconds')", "'10 seconds', '5 seconds')", 1), "the state", nil},
	{"another kind of window", windowed, strings.ReplaceAll(strings.Replace(windowed, "window(ts", "session_window(ts", 1), "window.start", "session_window.start"), "stateful operators", nil},
	{"a deduplication's keys", kept, strings.Replace(kept, "[k]", "[k, v]", 1), "stateful operators", nil},
	{"a deduplication taken away", kept, "  - {name: out, sql: \"SELECT k, v FROM STREAM(raw)\"}\n", "stateful operators", nil},
	{"a deduplication added", "  - {name: out, sql: \"SELECT k, v FROM STREAM(raw)\"}\n", kept, "stateful operators", nil},
	{"within the watermark", "  - name: out\n    deduplicate: {keys: [k]}\n    sql: SELECT k, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 1 SECOND\n",
		"  - name: out\n    deduplicate: {keys: [k], within_watermark: true}\n    sql: SELECT k, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 1 SECOND\n", "stateful operators", nil},
	{"more first rows", topped, strings.Replace(topped, "<= 2", "< 4", 1), "the first 2 rows of each partition and would have to hold the first 3", nil},
	{"fewer first rows", topped, strings.Replace(topped, "<= 2", "= 1", 1), "the first 2 rows of each partition and would have to hold the first 1", nil},
	{"as many first rows", topped, strings.Replace(topped, "<= 2", "< 3", 1), "", []string{`"a" 1 1`, `"a" 3 2`, `"b" 2 1`, `"c" 4 1`}},
	{"branches swapped", branches, strings.NewReplacer("'x'", "'y'", "'y'", "'x'", "< 2", ">= 2", ">= 2", "< 2").Replace(branches), "out/aggregate(k)#1 and out/aggregate(k)#2 have changed places", nil},
	{"views swapped", judged, strings.NewReplacer("(low)", "(high)", "(high)", "(low)").Replace(judged), "out/aggregate(k)#1 and out/aggregate(k)#2 have changed places", nil},
	{"the filter of a branch", branches, strings.Replace(branches, ">= 2", ">= 3", 1), "", []string{`"x" "a" 1`, `"y" "a" 1`, `"y" "b" 1`, `"y" "c" 1`}},
	{"a join's type", joined, strings.Replace(joined, "a JOIN", "a LEFT JOIN", 1), "the state", nil},
	{"a join's bound", joined, strings.Replace(joined, "1 HOUR", "2 HOURS", 1), "the state", nil},
	{"a join's keys", joined, strings.Replace(joined, "a.k = b.k", "a.k = b.k AND a.v = b.v", 1), "stateful operators", nil},
	{"a join's other source", joined, strings.Replace(joined, "STREAM(raw) WATERMARK ts DELAY OF INTERVAL 1 SECOND WHERE v >= 2", "STREAM(other) WATERMARK ts DELAY OF INTERVAL 1 SECOND WHERE v >= 2", 1), "the sources", nil},
	{"a source more", upserted, strings.Replace(upserted, "STREAM(raw)", "(SELECT * FROM STREAM(raw) UNION ALL SELECT * FROM STREAM(other))", 1), "the sources", nil},
}

// TestEdits deploys each query, edits it, and looks at what dry-run and run
// say; a refused edit has run nothing, and the old query goes on.
func TestEdits(t *testing.T) {
	for _, e := range edits {
		const columns = "k STRING, v BIGINT, ts TIMESTAMP"
		doc := func(table string) string {
			return fmt.Sprintf("  - {name: other, format: json, path: other, schema: %q}\nstreaming_tables:\n  - {name: before, sql: \"SELECT v FROM STREAM(raw)\"}\n%s", columns, table)
		}
		dir := project(t, columns, doc(e.old))
		put(t, dir, "other/1.json", "")
		put(t, dir, "landing/1.json", "{\"k\":\"a\",\"v\":1,\"ts\":\"2026-01-01T00:00:05Z\"}\n{\"k\":\"b\",\"v\":2,\"ts\":\"2026-01-01T00:00:06Z\"}\n")
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, doc(e.new))
		put(t, dir, "landing/2.json", "{\"k\":\"a\",\"v\":3,\"ts\":\"2026-01-01T00:00:08Z\"}\n{\"k\":\"c\",\"v\":4,\"ts\":\"2026-01-01T00:01:00Z\"}\n")
		if e.want == "" {
			dryRun(t, dir)
			run(t, dir, pipelines.RunOptions{})
			compare(t, e.what, rows(t, dir, "out"), e.rows)
			continue
		}
		p, list, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir})
		if err != nil || list.HasErrors() {
			t.Errorf("%s: %v\n%s", e.what, err, list.Render())
			continue
		}
		_, list, err = p.DryRun(t.Context(), pipelines.RunOptions{})
		if text := list.Render(); err != nil || !list.HasErrors() || !strings.Contains(text, e.want) || !strings.Contains(text, "--full-refresh out") {
			t.Errorf("%s: the dry run says %v\n%s", e.what, err, text)
		}
		fails(t, dir, pipelines.RunOptions{}, e.want)
		if got := fmt.Sprint(rows(t, dir, "before")); got != "[1 2]" {
			t.Errorf("%s: something ran: %s", e.what, got)
		}
		if t.Failed() {
			t.Log(e.what)
		}
		document(t, dir, columns, doc(e.old))
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, doc(e.new))
		run(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}})
	}
}

// TestEditedSink has the edits of a flow into a sink: its output mode too.
func TestEditedSink(t *testing.T) {
	doc := func(mode, query string) string {
		return "sinks:\n  - {name: out, format: console, options: {path: lines.json}}\nstreaming_tables:\n  - {name: before, sql: \"SELECT v FROM STREAM(raw)\"}\nflows:\n  - name: f\n    target: out\n    output_mode: " + mode + "\n    sql: " + query + "\n"
	}
	const (
		columns = "k STRING, v BIGINT, ts TIMESTAMP"
		window  = "SELECT window.start AS s, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 10 SECONDS GROUP BY window(ts, '10 seconds')"
		sum     = "SELECT k, sum(v) AS s FROM STREAM(raw) GROUP BY k"
	)
	for _, c := range []struct{ mode, query, newMode, newQuery, want string }{
		{"append", window, "update", window, "output mode"},
		{"update", window, "append", window, "output mode"},
		{"update", sum, "complete", sum, "output mode"},
		{"complete", sum, "update", sum, "output mode"},
		{"update", sum, "update", strings.Replace(sum, "sum", "max", 1), "the state"},
		{"append", window, "append", strings.Replace(window, "'10 seconds'", "'20 seconds'", 1), "the state"},
		{"append", window, "append", strings.Replace(window, "10 SECONDS", "20 SECONDS", 1), ""},
		{"append", "SELECT v FROM STREAM(raw)", "update", "SELECT v FROM STREAM(raw)", ""},
	} {
		dir := project(t, columns, doc(c.mode, c.query))
		put(t, dir, "landing/1.json", "{\"k\":\"a\",\"v\":1,\"ts\":\"2026-01-01T00:00:05Z\"}\n")
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, columns, doc(c.newMode, c.newQuery))
		put(t, dir, "landing/2.json", "{\"k\":\"a\",\"v\":1,\"ts\":\"2026-01-01T00:00:06Z\"}\n")
		if c.want == "" {
			dryRun(t, dir)
			run(t, dir, pipelines.RunOptions{})
			continue
		}
		p, list, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir})
		if err != nil || list.HasErrors() {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		_, list, err = p.DryRun(t.Context(), pipelines.RunOptions{})
		if text := list.Render(); err != nil || !strings.Contains(text, c.want) || !strings.Contains(text, "--full-refresh out") {
			t.Errorf("%v: the dry run says %v\n%s", c, err, text)
		}
		fails(t, dir, pipelines.RunOptions{}, c.want)
		want(t, dir, "before", "1")
		run(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}})
	}
}

// TestWidened: a widened type keeps state whose bytes do not show it, and is
// refused elsewhere.
func TestWidened(t *testing.T) {
	doc := func(query string) string {
		return "streaming_tables:\n  - name: out\n    output_mode: update\n    keys: [k]\n    sql: " + query + "\n"
	}
	for _, c := range []struct {
		query, old, new string
		want            string // the row of a, "" when it is refused
	}{
		{"SELECT k, sum(v) AS s, count(v) AS c, count(*) AS n FROM STREAM(raw) GROUP BY k", "INT", "BIGINT", `"a" 3000000001 2 2`},
		{"SELECT k, avg(v) AS s FROM STREAM(raw) GROUP BY k", "SMALLINT", "BIGINT", `"a" 1.5000000005E9`},
		{"SELECT k, cast(sum(v) AS STRING) AS s FROM STREAM(raw) GROUP BY k", "DECIMAL(9,2)", "DECIMAL(14,2)", `"a" "3000000001.00"`},
		{"SELECT k, sum(v) AS s FROM STREAM(raw) GROUP BY k", "BIGINT", "INT", ""},
		{"SELECT k, cast(max(v) AS BIGINT) AS s FROM STREAM(raw) GROUP BY k", "INT", "BIGINT", ""},
		{"SELECT cast(v AS STRING) AS k, count(*) AS n FROM STREAM(raw) GROUP BY v", "INT", "BIGINT", ""},
		{"SELECT k, cast(sum(v) AS STRING) AS s FROM STREAM(raw) GROUP BY k", "DECIMAL(9,2)", "DECIMAL(14,3)", ""},
		{"SELECT k, sum(v) AS s FROM STREAM(raw) GROUP BY k", "INT", "DOUBLE", ""},
	} {
		dir := project(t, "k STRING, v "+c.old, doc(c.query))
		put(t, dir, "landing/1.json", `{"k":"a","v":1}`)
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, "k STRING, v "+c.new, doc(c.query))
		put(t, dir, "landing/2.json", `{"k":"a","v":3000000000}`)
		if c.want == "" {
			fails(t, dir, pipelines.RunOptions{}, "the state", "--full-refresh out")
			continue
		}
		dryRun(t, dir)
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", c.want)
		run(t, dir, pipelines.RunOptions{})
		document(t, dir, "k STRING, v "+c.old, doc(c.query)) // and not back
		fails(t, dir, pipelines.RunOptions{}, "the state")
	}
}
