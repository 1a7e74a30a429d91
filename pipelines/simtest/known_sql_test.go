package simtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pipelines/pipelines"
)

// More of the list of known failures: text, names and times.

// refused wants that the project cannot even be loaded and that the findings
// hold all the words.
func refused(t testing.TB, dir string, words ...string) string {
	t.Helper()
	_, list, err := pipelines.Load(t.Context(), pipelines.LoadOptions{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	text := list.Render()
	if !list.HasErrors() {
		t.Fatalf("nothing is refused: %s", text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in:\n%.2000s", w, text)
		}
	}
	return text
}

func TestB02(t *testing.T) {
	newSteps(t, "s STRING", zone("US/Pacific", streaming("SELECT CAST(CAST(s AS TIMESTAMP) AS BIGINT) AS at FROM STREAM(raw)"))).
		take(`{"s":"2024-03-10 02:00:00"}`, `{"s":"2024-03-10 02:30:00"}`).
		want("1710064800", "1710066600") // 10:00Z and 10:30Z
}

func TestB05(t *testing.T) {
	doc := func(delay string) string {
		return "    watermark: {column: ts, delay: \"" + delay + "\"}\n" + zone("America/New_York",
			streaming("SELECT CAST(window.start AS BIGINT) AS s, count(*) AS n FROM STREAM(src) GROUP BY window(ts, '1 hour')"))
	}
	const src = "  - name: src\n    format: json\n    path: landing\n    schema: \"ts TIMESTAMP\"\n"
	// The clocks jump on 8 March: seven days stay 168 hours.
	s := newSteps(t, "ts TIMESTAMP", src+doc("7 days"))
	s.take(`{"ts":"2026-03-03T10:30:00Z"}`).want()
	s.take(`{"ts":"2026-03-10T10:59:59Z"}`).want()
	s.take(`{"ts":"2026-03-10T11:00:00Z"}`).want("1772532000 1")
	for _, delay := range []string{"1 month", "-5 minutes", "P1D", "5", "abc"} {
		refused(t, project(t, "ts TIMESTAMP", src+doc(delay)), "pipeline.yml:", delay)
	}
}

func TestB12(t *testing.T) {
	dir := project(t, "v BIGINT, op STRING, seq BIGINT", `  - {name: left_raw, format: json, path: left, schema: "v BIGINT"}
streaming_tables:
  - {name: t1, sql: "SELECT v FROM STREAM(left_raw)"}
  - name: t2
    auto_cdc: {source: raw, keys: [v], sequence_by: seq, except_columns: [op, seq], apply_as_deletes: "op = 'D'"}
materialized_views:
  - {name: out, sql: "SELECT t1.v AS a, t2.v AS b FROM t1 FULL OUTER JOIN t2 ON t1.v = t2.v"}
`)
	put(t, dir, "left/none.json", "")
	s := &steps{t: t, dir: dir}
	s.take(`{"v":3,"op":"I","seq":1}`).want("null 3").take(`{"v":3,"op":"D","seq":2}`).want()
	put(t, dir, "left/1.json", `{"v":3}`)
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "3 null")
}

func TestB15(t *testing.T) {
	for n := range 12 {
		dir := project(t, "o BIGINT, c BIGINT", `  - {name: customers, format: json, path: customers, schema: "c BIGINT"}
  - {name: lines, format: json, path: lines, schema: "o BIGINT"}
streaming_tables:
  - {name: orders, sql: "SELECT * FROM STREAM(raw)"}
  - {name: customer, sql: "SELECT * FROM STREAM(customers)"}
  - {name: lineitem, sql: "SELECT * FROM STREAM(lines)"}
materialized_views:
  - {name: out, sql: "SELECT l.o AS lo, o.o AS oo, o.c AS oc, k.c AS kc FROM lineitem l JOIN orders o ON l.o = o.o JOIN customer k ON o.c = k.c"}
`)
		put(t, dir, "customers/1.json", "{\"c\":1}\n{\"c\":14}\n{\"c\":15}\n")
		put(t, dir, "lines/1.json", `{"o":176}`)
		o := pipelines.RunOptions{Lanes: []int{1, 2, 8}[n%3]}
		run(t, dir, o)
		want(t, dir, "out")
		put(t, dir, "landing/1.json", `{"o":176,"c":14}`)
		run(t, dir, o)
		want(t, dir, "out", "176 176 14 14")
	}
}

func TestB17(t *testing.T) {
	s := newSteps(t, "id BIGINT, val BIGINT", view("SELECT id, sum(val) AS s FROM t GROUP BY id HAVING sum(val) > 0"))
	s.take(`{"id":1,"val":-5}`).want().take(`{"id":1,"val":6}`).want("1 1").take(`{"id":1,"val":-2}`).want().take(`{"id":1,"val":-1}`).want()
}

func TestB52(t *testing.T) {
	for _, nulls := range []int{1, 10} {
		dir := folder(t)
		put(t, dir, "landing/1.json", `{"test":{"one":1,"two":"2"}}`+"\n"+strings.Repeat(`{"test":null}`+"\n", nulls)+"{\"test\":{}}\n{}\n")
		put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: raw, format: json, path: landing}\n"+
			streaming("SELECT test IS NULL AS n, test.one + 1 AS one, test.two || '!' AS two, typeof(test) AS t FROM STREAM(raw)"))
		run(t, dir, pipelines.RunOptions{})
		const typ = ` "struct<one:bigint,two:string>"`
		rs := []string{`false 2 "2!"` + typ, `false null null` + typ, `true null null` + typ}
		for range nulls {
			rs = append(rs, `true null null`+typ)
		}
		want(t, dir, "out", rs...)
	}
}

func TestB62(t *testing.T) {
	const query = "SELECT 'a;b' AS a, 'x -- y' AS b, 'it''s /* no */' AS c, `q;q` AS d FROM (SELECT v AS `q;q` FROM STREAM(raw)) -- it's; fine\n      /* ; ' /* nested ' ; */ */"
	for _, end := range []string{"", ";", " ; -- it's the end;"} {
		newSteps(t, "v BIGINT", streaming(query+end)).take(`{"v":1}`).want(`"a;b" "x -- y" "it's /* no */" 1`)
	}
	refused(t, project(t, "v BIGINT", streaming("SELECT v FROM STREAM(raw); SELECT 1")), "pipeline.yml:", "statement")
}

func TestB63(t *testing.T) {
	views := func(reads ...string) string {
		out := "materialized_views:\n"
		for _, r := range reads {
			name, query, _ := strings.Cut(r, ": ")
			out += fmt.Sprintf("  - {name: %s, sql: \"%s\"}\n", name, query)
		}
		return out
	}
	text := refused(t, project(t, "v BIGINT", views("a: SELECT * FROM b", "b: SELECT * FROM a", "healthy: SELECT 1 AS v", "below: SELECT * FROM a")), "pipeline.yml:", "a reads b reads a")
	if strings.Contains(text, "healthy") || strings.Count(text, "CIRCULAR") != 1 {
		t.Errorf("%s", text)
	}
	refused(t, project(t, "v BIGINT", views("a: SELECT * FROM a")), "a reads a")
	refused(t, project(t, "v BIGINT", "views:\n  - {name: w, sql: \"SELECT * FROM a\"}\n"+views("a: SELECT * FROM w")), "a reads w reads a")
	var long []string
	for i := range 200 {
		long = append(long, fmt.Sprintf("m%d: SELECT * FROM m%d", i, (i+1)%200))
	}
	refused(t, project(t, "v BIGINT", views(long...)), "m0 reads m1 reads", "m199 reads m0")
	dir := project(t, "v BIGINT", views("a: SELECT * FROM out", "out: WITH a AS (SELECT 1 AS v) SELECT * FROM a"))
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "a", "1")
}

func TestB64(t *testing.T) {
	dir := folder(t)
	put(t, dir, "landing/1.json", `{"ID":1,"orderId":2,"Straße":3,"a b":4,"a.b":5,"日本":6}`)
	put(t, dir, "pipeline.yml", "name: p\nstorage: ./state\nsources:\n  - {name: raw, format: json, path: landing}\nstreaming_tables:\n"+
		"  - {name: all, sql: \"SELECT * EXCEPT (`a b`), `A B` AS ab FROM STREAM(raw)\"}\n"+
		"materialized_views:\n  - {name: out, sql: \"SELECT id, ORDERID, `straße`, ab, `a.b`, `日本` FROM all\"}\n")
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1 2 3 4 5 6")
	spelling := map[string]bool{}
	for _, f := range openTable(t, dir, "all").Known().Schema().Fields {
		spelling[f.Name] = true
	}
	for _, n := range []string{"ID", "orderId", "Straße", "a.b", "日本"} {
		if !spelling[n] {
			t.Errorf("%q is not in %v", n, spelling)
		}
	}
	refused(t, project(t, "ID BIGINT, id BIGINT", streaming("SELECT * FROM STREAM(raw)")), "COLUMN_ALREADY_EXISTS", "column `id`")
}

func TestB65(t *testing.T) {
	dir := project(t, "`order` BIGINT, `group` BIGINT, `window` BIGINT, `timestamp` STRING, `date` STRING, `values` BIGINT, `end` BIGINT", `streaming_tables:
  - name: grant
    partitioned_by: [end]
    expectations:
      - {name: select, expect: "`+"`values` > 0 AND `group` > 0"+`", on_violation: drop}
    sql: SELECT * FROM STREAM(raw)
  - name: order
    deduplicate: {keys: [order, group]}
    sql: SELECT `+"`order`, `group`, `window` FROM STREAM(`grant`)"+`
materialized_views:
  - {name: table, sql: "SELECT `+"`order`.`order`, `table`.`values`, sum(`table`.`end`) AS `select` FROM `order` JOIN `grant` AS `table` ON `order`.`group` = `table`.`group` GROUP BY `order`.`order`, `table`.`values` ORDER BY `order`"+`"}
`)
	s := &steps{t: t, dir: dir}
	s.take(`{"order":1,"group":2,"window":3,"timestamp":"x","date":"y","values":4,"end":5}`, `{"order":1,"group":2,"values":0}`)
	want(t, dir, "grant", `1 2 3 "x" "y" 4 5`)
	want(t, dir, "order", "1 2 3")
	want(t, dir, "table", "1 4 5")
	refused(t, project(t, "`order` BIGINT", streaming("SELECT `order` FROM STREAM(raw) WHERE order = from")), "pipeline.yml:", "back quotes: `from`")
}

func TestB66(t *testing.T) {
	within := func(limit time.Duration, what string, do func()) {
		t.Helper()
		start := time.Now()
		do()
		if d := time.Since(start); d > limit {
			t.Errorf("%s: %v", what, d)
		}
	}
	list := func(n int, f func(i int) string, sep string) string {
		var out []string
		for i := range n {
			out = append(out, f(i))
		}
		return strings.Join(out, sep)
	}
	works := map[string]string{
		"IN list":  "SELECT v FROM STREAM(raw) WHERE v IN (" + list(100_000, func(i int) string { return fmt.Sprint(i) }, ",") + ")",
		"columns":  "SELECT v FROM (SELECT v, " + list(2000, func(i int) string { return fmt.Sprintf("v + %d AS c%d", i, i) }, ",") + " FROM STREAM(raw)) WHERE c1999 > 0",
		"literal":  "SELECT v FROM STREAM(raw) WHERE length('" + strings.Repeat("x", 1_000_000) + "') > v",
		"OR chain": "SELECT v FROM STREAM(raw) WHERE " + list(10_000, func(i int) string { return fmt.Sprintf("v = %d", i) }, " OR "),
	}
	for what, query := range works {
		s := newSteps(t, "v BIGINT", streaming(query))
		within(time.Minute, what, func() { s.take(`{"v":1}`).want("1") }) // against quadratic work, not a measurement: the race detector and other tests slow it
	}
	deep := map[string]string{
		"parentheses": strings.Repeat("(", 5000) + "v" + strings.Repeat(")", 5000),
		"calls":       strings.Repeat("abs(", 5000) + "v" + strings.Repeat(")", 5000),
	}
	for what, expr := range deep {
		dir := project(t, "v BIGINT", streaming("SELECT "+expr+" AS v FROM STREAM(raw)"))
		within(time.Minute, what, func() { refused(t, dir, "too deeply") })
	}
	chain := "WITH c0 AS (SELECT 1 AS v), " + list(8000, func(i int) string { return fmt.Sprintf("c%d AS (SELECT * FROM c%d)", i+1, i) }, ", ") + " SELECT * FROM c8000"
	dir := project(t, "v BIGINT", view(chain))
	within(time.Minute, "CTE chain", func() { refused(t, dir, "deep") })
}
