package simtest

import (
	"fmt"
	"strings"
	"testing"

	"pipelines/pipelines"
)

// steps runs a project, one file a run, and compares out after each.
type steps struct {
	t   testing.TB
	dir string
	n   int
}

func newSteps(t testing.TB, schema, rest string) *steps {
	t.Helper()
	return &steps{t: t, dir: project(t, schema, rest)}
}

// take adds a file of these lines and runs.
func (s *steps) take(lines ...string) *steps {
	s.t.Helper()
	s.n++
	put(s.t, s.dir, fmt.Sprintf("landing/%03d.json", s.n), strings.Join(lines, "\n")+"\n")
	run(s.t, s.dir, pipelines.RunOptions{Lanes: 1 + s.n%2, BatchRows: 1 + s.n})
	return s
}

func (s *steps) want(rs ...string) *steps {
	s.t.Helper()
	want(s.t, s.dir, "out", rs...)
	return s
}

func streaming(sql string) string {
	return "streaming_tables:\n  - name: out\n    sql: |\n      " + sql + "\n"
}

func view(sql string) string {
	return "streaming_tables:\n  - {name: t, sql: \"SELECT * FROM STREAM(raw)\"}\nmaterialized_views:\n  - name: out\n    sql: |\n      " + sql + "\n"
}

func zone(z, rest string) string {
	return "configuration: {spark.sql.session.timeZone: " + z + "}\n" + rest
}

func TestB01(t *testing.T) {
	s := newSteps(t, "ts TIMESTAMP, v BIGINT", zone("America/New_York", view("SELECT CAST(window.start AS BIGINT) AS s, CAST(window.end AS BIGINT) AS e, count(*) AS n, sum(v) AS t FROM t GROUP BY window(ts, '1 hour')")))
	s.take(`{"ts":"2026-03-08T01:30:00","v":1}`, `{"ts":"2026-03-08T03:30:00","v":2}`)
	s.want("1772949600 1772953200 1 1", "1772953200 1772956800 1 2")
	s.take(`{"ts":"2026-11-01T01:30:00-04:00","v":1}`, `{"ts":"2026-11-01T01:30:00-05:00","v":2}`)
	s.want("1772949600 1772953200 1 1", "1772953200 1772956800 1 2", "1793509200 1793512800 1 1", "1793512800 1793516400 1 2")
}

func TestB03(t *testing.T) {
	newSteps(t, "ts TIMESTAMP, v BIGINT", view("SELECT window.start AS s, sum(v) AS t FROM t GROUP BY window(ts, '10 seconds', '10 seconds', '5 seconds')")).
		take(`{"ts":"1969-12-31T00:00:02Z","v":1}`, `{"ts":"1969-12-31T00:00:12Z","v":2}`).
		want(`"1969-12-30T23:59:55.000Z" 1`, `"1969-12-31T00:00:05.000Z" 2`)
}

func TestB04(t *testing.T) {
	newSteps(t, "ts TIMESTAMP", zone("Europe/Berlin", view("SELECT CAST(date_trunc('DAY', ts) AS STRING) AS d, count(*) AS n FROM t GROUP BY 1"))).
		take(`{"ts":"2023-02-14T23:30:00Z"}`, `{"ts":"2023-02-15T12:00:00Z"}`, `{"ts":"2023-02-15T22:30:00Z"}`).
		want(`"2023-02-15 00:00:00" 3`)
}

// TestB06 keeps Spark's rule (DESIGN §4): with a delay of zero, a row at the
// greatest time seen is late in the next epoch; with a delay above zero it is
// not, and a window ends when its end is reached.
func TestB06(t *testing.T) {
	doc := func(delay string) string {
		return "streaming_tables:\n  - name: out\n    deduplicate: {keys: [id], within_watermark: true}\n    sql: SELECT id, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL " + delay + "\n"
	}
	const one, two = `{"id":1,"ts":"2026-01-01T10:00:00Z"}`, `{"id":2,"ts":"2026-01-01T10:00:00Z"}`
	const r1, r2 = `1 "2026-01-01T10:00:00.000Z"`, `2 "2026-01-01T10:00:00.000Z"`
	newSteps(t, "id BIGINT, ts TIMESTAMP", doc("0 SECONDS")).take(one).want(r1).take(two).want(r1)
	newSteps(t, "id BIGINT, ts TIMESTAMP", doc("1 SECOND")).take(one).want(r1).take(two).want(r1, r2)
	s := newSteps(t, "ts TIMESTAMP", streaming("SELECT window.start AS s, count(*) AS n FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 10 SECONDS GROUP BY window(ts, '10 seconds')"))
	s.take(`{"ts":"2026-01-01T09:59:55Z"}`, `{"ts":"2026-01-01T10:00:10Z"}`).want(`"2026-01-01T09:59:50.000Z" 1`)
}

func TestB10(t *testing.T) {
	s := newSteps(t, "k STRING, ts TIMESTAMP, v BIGINT", streaming("SELECT window.start AS s, sum(v) AS t FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS GROUP BY window(ts, '60 seconds', '30 seconds'), k"))
	s.take(`{"k":"MSFT","ts":"1970-01-01T00:01:40Z","v":100}`)
	s.take(`{"k":"MSFT","ts":"1970-01-01T00:03:20Z","v":1}`)
	s.want(`"1970-01-01T00:01:00.000Z" 100`, `"1970-01-01T00:01:30.000Z" 100`)
	s.take(`{"k":"MSFT","ts":"1970-01-01T00:00:50Z","v":9999}`)
	s.take(`{"k":"MSFT","ts":"1970-01-01T00:10:00Z","v":1}`)
	for _, r := range rows(t, s.dir, "out") {
		if strings.Contains(r, "9999") {
			t.Errorf("%s", r)
		}
	}
}

func TestB11(t *testing.T) {
	s := newSteps(t, "side STRING, id BIGINT, ts TIMESTAMP", streaming(`SELECT a.id AS a, b.id AS b FROM
      (SELECT id, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS WHERE side = 'A') a
      LEFT JOIN (SELECT id, ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS WHERE side = 'B') b
      ON a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS`))
	s.take(`{"side":"A","id":1,"ts":"2026-01-01T10:00:00Z"}`, `{"side":"B","id":1,"ts":"2026-01-01T10:00:00Z"}`)
	s.take(`{"side":"B","id":7,"ts":"2026-01-01T10:01:00Z"}`)
	s.take(`{"side":"A","id":8,"ts":"2026-01-01T10:01:00Z"}`)
	s.take(`{"side":"A","id":9,"ts":"2026-01-01T10:02:00Z"}`, `{"side":"B","id":10,"ts":"2026-01-01T10:02:00Z"}`)
	s.take(`{"side":"A","id":11,"ts":"2026-01-01T10:02:01Z"}`)
	got := strings.Join(rows(t, s.dir, "out"), ", ")
	if !strings.HasPrefix(got, "1 1") || strings.Contains(got, "1 null") && strings.HasPrefix(got, "1 null") {
		t.Errorf("%s", got)
	}
	for _, r := range rows(t, s.dir, "out") {
		if r == "1 null" {
			t.Errorf("%s", got)
		}
	}
}

func TestB13(t *testing.T) {
	dir := project(t, "id1 BIGINT, a1 BIGINT", "  - {name: version, format: json, path: static, schema: \"id2 BIGINT, a2 BIGINT\"}\n"+
		streaming("SELECT id1, a1, id2, a2 FROM STREAM(raw) LEFT JOIN version ON id1 = id2 AND a1 > a2"))
	put(t, dir, "static/v.json", `{"id2":1,"a2":11}`)
	s := &steps{t: t, dir: dir}
	s.take(`{"id1":1,"a1":10}`).want("1 10 null null").take(`{"id1":1,"a1":12}`).want("1 10 null null", "1 12 1 11")
}

func TestB14(t *testing.T) {
	newSteps(t, "v BIGINT", "streaming_tables:\n  - {name: t, sql: \"SELECT * FROM STREAM(raw)\"}\n  - {name: out, sql: \"SELECT a.v AS x, b.v AS y FROM STREAM(t) a JOIN STREAM(t) b ON a.v % 5 = b.v % 5\"}\n").
		take(`{"v":1}`, `{"v":6}`).take(`{"v":2}`).
		want("1 1", "1 6", "6 1", "6 6", "2 2")
}

func TestB16(t *testing.T) {
	newSteps(t, "k STRING, v BIGINT", view("SELECT k, count(*) AS n, count(v) AS c, sum(v) AS s FROM t GROUP BY k")).
		take(`{"k":null,"v":1}`, `{"v":2}`, `{"k":"a","v":null}`).
		want("null 2 2 3", `"a" 1 0 null`)
}

func TestB18(t *testing.T) {
	newSteps(t, "ts BIGINT, v BIGINT", view("SELECT ts, sum(v) OVER (ORDER BY ts RANGE BETWEEN 3 PRECEDING AND 2 PRECEDING) AS s FROM t")).
		take(`{"ts":0,"v":1}`, `{"ts":10,"v":2}`, `{"ts":-9223372036854775808,"v":5}`).
		want("0 null", "10 null", "-9223372036854775808 null")
}

func TestB31(t *testing.T) {
	dir := project(t, "value BIGINT", `streaming_tables:
  - name: out
    flows:
      - {name: a, sql: "SELECT value FROM STREAM(raw)"}
      - {name: b, sql: "SELECT value + 1 AS Value FROM STREAM(raw)"}
materialized_views:
  - {name: sums, sql: "SELECT sum(VALUE) AS s FROM out"}
`)
	s := &steps{t: t, dir: dir}
	s.take(`{"value":1}`).want("1", "2")
	want(t, dir, "sums", "3")
}

func TestB54(t *testing.T) {
	const n = "0.60000000000000000000000000000000000000"
	s := newSteps(t, "v DECIMAL(38,38)", view("SELECT sum(v) AS s FROM t"))
	s.take(`{"v":`+n+`}`, `{"v":`+n+`}`, `{"v":-`+n+`}`)
	got := rows(t, s.dir, "out")
	other := newSteps(t, "v DECIMAL(38,38)", view("SELECT sum(v) AS s FROM t"))
	put(t, other.dir, "landing/a.json", `{"v":`+n+`}`)
	put(t, other.dir, "landing/b.json", `{"v":`+n+`}`)
	put(t, other.dir, "landing/c.json", `{"v":-`+n+`}`)
	run(t, other.dir, pipelines.RunOptions{BatchRows: 1})
	again := rows(t, other.dir, "out")
	if len(got) != 1 || !strings.Contains(got[0], n) || len(again) != 1 || again[0] != got[0] {
		t.Errorf("%v %v", got, again)
	}
}

func TestB55(t *testing.T) {
	for typ, v := range map[string]string{"DECIMAL(38,18)": "10000000000000000000", "DECIMAL(38,0)": "90000000000000000000000000000000000000"} {
		dir := project(t, "v "+typ, view("SELECT sum(v) AS s FROM t"))
		put(t, dir, "landing/a.json", strings.Repeat(`{"v":`+v+"}\n", 12))
		fails(t, dir, pipelines.RunOptions{}, "flow out")
		want(t, dir, "out")
		document(t, dir, "v "+typ, view("SELECT try_sum(v) AS s FROM t"))
		run(t, dir, pipelines.RunOptions{})
		want(t, dir, "out", "null")
	}
}

func TestB56(t *testing.T) {
	s := newSteps(t, "a INT, b INT", streaming("SELECT CASE 1 WHEN 2 THEN 42/0 END AS c, CASE WHEN b <> 0 THEN a / b ELSE 0 END AS d, CASE WHEN b <> 0 THEN a / b ELSE 0 END AS e FROM STREAM(raw) WHERE CASE WHEN b <> 0 THEN a / b ELSE 0 END >= 0"))
	s.take(`{"a":1,"b":0}`, `{"a":4,"b":2}`)
	if got := strings.Join(rows(t, s.dir, "out"), ", "); got != "null 0.0 0.0, null 2.0 2.0" {
		t.Errorf("%s", got)
	}
	document(t, s.dir, "a INT, b INT", streaming("SELECT CAST(NULL AS DOUBLE) AS c, a / b AS d, 1.0D AS e FROM STREAM(raw)"))
	put(t, s.dir, "landing/zero.json", `{"a":1,"b":0}`)
	fails(t, s.dir, pipelines.RunOptions{}, "DIVIDE_BY_ZERO")
}

func TestB57(t *testing.T) {
	for action, wanted := range map[string][]string{"warn": {"5", "null", "-1"}, "drop": {"5"}, "fail": nil} {
		dir := project(t, "amount BIGINT", "streaming_tables:\n  - name: out\n    expectations:\n      - {name: positive, expect: \"amount > 0\", on_violation: "+action+"}\n    sql: SELECT amount FROM STREAM(raw)\n")
		put(t, dir, "landing/a.json", "{\"amount\":5}\n{\"amount\":null}\n{\"amount\":-1}\n")
		if action == "fail" {
			fails(t, dir, pipelines.RunOptions{}, "positive")
		} else {
			res := run(t, dir, pipelines.RunOptions{})
			if x := res.Flows[0].Expectations; len(x) != 1 || x[0].Failed != 2 || x[0].Passed != 1 {
				t.Errorf("%s: %+v", action, x)
			}
		}
		want(t, dir, "out", wanted...)
	}
}

// TestStreamSubqueries: EXISTS, IN and their opposites over a stream, also below
// AUTO CDC, are joins: what has a partner comes out with it, what has none when
// its time is over.
func TestStreamSubqueries(t *testing.T) {
	const schema, right = "side STRING, id BIGINT, ts TIMESTAMP", "FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS AS b WHERE b.side = 'B' AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS"
	const left = "SELECT a.id, a.ts FROM STREAM(raw) WATERMARK ts DELAY OF INTERVAL 0 SECONDS AS a WHERE a.side = 'A' AND "
	table := func(where string) string { return streaming(left + where) }
	changes := func(where string) string {
		return "views:\n  - {name: v, sql: \"" + left + where + "\"}\nstreaming_tables:\n  - name: out\n    auto_cdc: {source: v, keys: [id], sequence_by: ts}\n"
	}
	for _, c := range []struct{ doc, met, alone string }{
		{table("EXISTS (SELECT 1 " + right + " AND a.id = b.id)"), "met", ""},
		{table("a.id IN (SELECT b.id " + right + ")"), "met", ""},
		{table("NOT EXISTS (SELECT 1 " + right + " AND a.id = b.id)"), "", "alone"},
		{table("coalesce(a.id, 0) NOT IN (SELECT coalesce(b.id, 0) " + right + ")"), "", "alone"},
		{changes("NOT EXISTS (SELECT 1 " + right + " AND a.id = b.id)"), "", "alone"},
	} {
		s := newSteps(t, schema, c.doc)
		some := func(rs ...string) (out []string) {
			for _, r := range rs {
				if r != "" {
					out = append(out, map[string]string{"met": `1 "2026-01-01T10:00:00.000Z"`, "alone": `2 "2026-01-01T10:00:01.000Z"`}[r])
				}
			}
			return out
		}
		s.take(`{"side":"A","id":1,"ts":"2026-01-01T10:00:00Z"}`, `{"side":"A","id":2,"ts":"2026-01-01T10:00:01Z"}`, `{"side":"B","id":2,"ts":"2026-01-01T10:00:00Z"}`).want()
		s.take(`{"side":"B","id":1,"ts":"2026-01-01T10:00:05Z"}`, `{"side":"B","id":1,"ts":"2026-01-01T10:00:05Z"}`).want(some(c.met)...)
		s.take(`{"side":"A","id":3,"ts":"2026-01-01T10:01:00Z"}`, `{"side":"B","id":3,"ts":"2026-01-01T10:01:00Z"}`)
		if met := some(c.met, c.alone); c.met != "" {
			s.want(append(met, `3 "2026-01-01T10:01:00.000Z"`)...)
		} else {
			s.want(met...)
		}
	}
}
