package sqlplan_test

import (
	"path/filepath"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// FuzzCompile demands that any text gives a plan or an error, never a panic,
// and that the plan prints.
func FuzzCompile(f *testing.F) {
	for _, file := range []string{"queries", "joins", "windows", "names_errors"} {
		path := filepath.Join("..", "testdata", "conformance", "sql", file+".txt")
		for _, b := range blocks(f, path) {
			f.Add(b.sql)
		}
	}
	f.Add("SELECT (SELECT m) FROM o")
	f.Add("SELECT (SELECT max(id) FROM t1 WHERE t1.m['a'] > o.m['a']) FROM o")
	o, _ := sqlplan.ParseSchema(nil, diag.NewText("ddl", "id INT, who STRING, amt INT, d DATE, ts TIMESTAMP, st STRUCT<x: INT, y: STRING>, xs ARRAY<INT>, m MAP<STRING, INT>"))
	cat := &fixture{tables: map[string]schema.Schema{"o": o, "t1": o, "l": o, "w": o, "s": o}, streams: map[string]bool{"s": true}}
	f.Fuzz(func(t *testing.T, sql string) {
		if len(sql) > 2000 {
			return
		}
		for _, mode := range []logical.OutputMode{logical.Append, logical.Complete} {
			p, diags := sqlplan.Compile(diag.NewText("q", sql), cat, sqlplan.Options{Mode: mode})
			if p == nil && !diags.HasErrors() {
				t.Fatalf("no plan and no error: %s", sql)
			}
			if p != nil {
				logical.Explain(p.Node)
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	o, _ := sqlplan.ParseSchema(nil, diag.NewText("ddl", "id INT, who STRING, amt INT, d DATE, ts TIMESTAMP, st STRUCT<x: INT, y: STRING>"))
	cat := &fixture{tables: map[string]schema.Schema{"o": o, "c": o}}
	sql := "SELECT o.who, date(o.ts) AS day, sum(o.amt * 2) AS total, count(*) AS n FROM o JOIN c ON o.id = c.id WHERE o.st.x > 3 AND c.who IS NOT NULL GROUP BY o.who, day HAVING n > 1 ORDER BY total DESC LIMIT 10"
	for b.Loop() {
		if _, diags := sqlplan.Compile(diag.NewText("q", sql), cat, sqlplan.Options{}); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}
