package parse

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// FuzzParse: no text makes the parser panic or hang, places lie inside the text,
// and what parses prints to a text that parses to an equal tree.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob(conformance + "/sql/*.txt")
	for _, file := range files {
		for i, b := range blocksOf(file) {
			if i%40 == 0 {
				f.Add(b.sql)
			}
		}
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		start := time.Now()
		ss, errs := Statements(diag.NewText("f", sql))
		if d := time.Since(start); d > 15*time.Second && len(sql) < 10000 {
			t.Errorf("%v for %d bytes", d, len(sql))
		}
		for _, e := range errs {
			if e.Message == "" || e.Code == "" || e.Span.Start.Offset > len(sql) {
				t.Errorf("bad diagnostic %+v", e)
			}
		}
		if errs.HasErrors() || strings.ContainsRune(sql, '\uFFFD') || !validText(sql) {
			return
		}
		for _, s := range ss {
			if r := s.Range(); r.Start < 0 || r.End > len(sql) || r.Start > r.End {
				t.Errorf("bad range %v", r)
			}
			text := ast.String(s)
			again, errs := Statement(diag.NewText("printed", text))
			if errs.HasErrors() {
				t.Fatalf("printed text does not parse\n sql: %s\n printed: %s\n error: %s", sql, text, errs[0].Message)
			}
			if d := cmp.Diff(s, again, noSpans); d != "" {
				t.Fatalf("printed text reads differently\n sql: %s\n printed: %s\n%s", sql, text, d)
			}
		}
	})
}

func validText(s string) bool { return strings.ToValidUTF8(s, "") == s }

var seeds = []string{
	"SELECT 'a;b', 'x -- y', 'it''s /* no */', \"q;q\" FROM t -- it's; fine\n;/* ; ' */ SELECT 1;",
	"SELECT a[1].b:c.d[0]['x']::int, -x, - 1, ~1 >> 2 >>> 3 FROM t",
	"CREATE OR REFRESH STREAMING TABLE t (a INT, CONSTRAINT c EXPECT (a > 0) ON VIOLATION DROP ROW) AS SELECT * FROM STREAM read_files('p', format => 'json')",
	"CREATE FLOW f AS AUTO CDC INTO t FROM STREAM(s) KEYS (a) APPLY AS DELETE WHEN op = 'D' SEQUENCE BY x COLUMNS * EXCEPT (op) STORED AS SCD TYPE 2",
	"FROM t |> WHERE a |> AGGREGATE count(*) AS n GROUP BY b |> ORDER BY n |> LIMIT 1",
	"WITH RECURSIVE r(n) MAX RECURSION LEVEL 5 AS (VALUES (1) UNION ALL SELECT n+1 FROM r) SELECT * FROM r",
	"SELECT * FROM a PIVOT (sum(x) AS s FOR (y, z) IN ((1,2) AS p)) UNPIVOT INCLUDE NULLS ((v,w) FOR n IN ((a,b) AS c))",
	"SELECT INTERVAL '1-2' YEAR TO MONTH, INTERVAL -1 DAY 2 HOURS, INTERVAL '3 weeks', INTERVAL '1 02:03:04.5' DAY TO SECOND",
	"SELECT trim(BOTH 'x' FROM y), extract(day FROM d), position('a' IN b), overlay(a PLACING b FROM 1 FOR 2), substring(a FROM 1)",
	"INSERT INTO t PARTITION (a=1) BY NAME SELECT 1; SET a.b=c d; SET `x`=`y;z`; RESET; SHOW TABLES LIKE 'x*'; DECLARE v INT = 1",
	"SELECT (SELECT 1) IN ((SELECT 2), 3) OR a NOT LIKE ALL ('x','y') AND NOT EXISTS (SELECT 1) IS NOT TRUE",
	"SELECT /*+ BROADCAST(a), x */ DISTINCT a.* EXCEPT (b), `c``d` FROM (a JOIN b USING (x)) AS z, LATERAL (SELECT 1), VALUES (1) AS v(q)",
	"-- Databricks notebook source\nSELECT 1\n-- COMMAND ----------\n-- MAGIC %python x\n-- COMMAND ----------\nSELECT 2",
	"SELECT f(x -> x+1, (a,b) -> a), IDENTIFIER('a.b')(1), IDENTIFIER(:x) FROM IDENTIFIER('t' || 'u')",
	"SELECT sum(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d DESC NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), first(x IGNORE NULLS) OVER w FROM t WINDOW w AS (ORDER BY 1) QUALIFY x",
	"SELECT 1 from a WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS x LEFT SEMI JOIN STREAM b ON a.k <=> b.k GROUP BY a, GROUPING SETS ((a), (), CUBE (a, b)), ROLLUP (a, (b, c))",
}
