package shell

import (
	"fmt"
	"strings"
	"testing"
)

// TestSubqueriesApart: a subquery that differs from another in one small thing
// gives beside it what it gives alone. Equal aggregates are computed once, and
// what counts as equal is told by the plans of the subqueries in them.
func TestSubqueriesApart(t *testing.T) {
	pairs := [][2]string{
		{`SELECT 1`, `SELECT 1L`},
		{`SELECT 1`, `SELECT 1.0`},
		{`SELECT 1.0`, `SELECT 1.00`},
		{`SELECT x FROM t ORDER BY x NULLS FIRST LIMIT 1`, `SELECT x FROM t ORDER BY x NULLS LAST LIMIT 1`},
		{`SELECT x FROM t ORDER BY x LIMIT 1`, `SELECT x FROM t ORDER BY x DESC LIMIT 1`},
		{`SELECT x FROM t ORDER BY x LIMIT 1`, `SELECT x FROM t ORDER BY x LIMIT 1 OFFSET 1`},
		{`SELECT count(x) FROM t`, `SELECT count(DISTINCT x) FROM t`},
		{`SELECT count(x) FROM t`, `SELECT count(x) FILTER (WHERE x>1) FROM t`},
		{`SELECT max(x) FROM t`, `SELECT max(y) FROM t`},
		{`SELECT max(x) FROM t INTERSECT SELECT 1`, `SELECT max(x) FROM t EXCEPT SELECT 1`},
		{`SELECT count(*) FROM t a JOIN t b ON a.x=b.x`, `SELECT count(*) FROM t a LEFT JOIN t b ON a.x=b.x`},
		{`SELECT count(*) FROM t a JOIN t b ON a.x=b.x`, `SELECT count(*) FROM t a JOIN t b ON a.x=b.y`},
		{`SELECT max(s) FROM (SELECT sum(x) OVER (ORDER BY x) s FROM t)`, `SELECT max(s) FROM (SELECT sum(x) OVER (ORDER BY x ROWS 1 PRECEDING) s FROM t)`},
		{`SELECT sum(s) FROM (SELECT lag(y) OVER (ORDER BY x,y) s FROM t)`, `SELECT sum(s) FROM (SELECT lag(y) IGNORE NULLS OVER (ORDER BY x,y) s FROM t)`},
		{`SELECT max(s) FROM (SELECT sum(x) OVER (PARTITION BY x ORDER BY x) s FROM t)`, `SELECT max(s) FROM (SELECT sum(x) OVER (PARTITION BY y ORDER BY x) s FROM t)`},
		{`SELECT max(id) FROM range(5)`, `SELECT max(id) FROM range(6)`},
		{`SELECT max(id) FROM range(0,10,2)`, `SELECT max(id) FROM range(0,10,3)`},
		{`SELECT max(c) FROM t LATERAL VIEW explode(array(1,2)) AS c`, `SELECT max(c) FROM t LATERAL VIEW explode(array(1,3)) AS c`},
		{`SELECT count(*) FROM t TABLESAMPLE (50 PERCENT) REPEATABLE (1)`, `SELECT count(*) FROM t TABLESAMPLE (50 PERCENT) REPEATABLE (2)`},
		{`SELECT max(x) FROM t WHERE x IN (1,2)`, `SELECT max(x) FROM t WHERE x NOT IN (1,2)`},
		{`SELECT max(x) FROM t WHERE x IN (SELECT y FROM t)`, `SELECT max(x) FROM t WHERE x IN (SELECT x FROM t)`},
		{`SELECT transform(array(1,2), a -> a + 1)[0]`, `SELECT transform(array(1,2), a -> a + 2)[0]`},
		{`SELECT aggregate(array(1,2), 0, (a,b) -> a + b)`, `SELECT aggregate(array(1,2), 0, (a,b) -> a - b)`},
		{`SELECT max_by(x,y) FROM t`, `SELECT min_by(x,y) FROM t`},
		{`SELECT listagg(x, ',') WITHIN GROUP (ORDER BY x) FROM t`, `SELECT listagg(x, ',') WITHIN GROUP (ORDER BY x DESC) FROM t`},
		{`SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY x) FROM t`, `SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY x DESC) FROM t`},
		{`SELECT first(x) FROM (SELECT * FROM t ORDER BY x)`, `SELECT first(x) IGNORE NULLS FROM (SELECT * FROM t ORDER BY x)`},
		{`SELECT interval '1' day`, `SELECT interval '24' hour`},
		{`SELECT date'2020-01-01'`, `SELECT '2020-01-01'`},
		{`SELECT max(x) FROM t`, `SELECT max(x) FROM u`},
		{`SELECT max(x) FROM VALUES (1) v(x)`, `SELECT max(x) FROM VALUES (2) v(x)`},
		{`SELECT 'a#1'`, `SELECT 'a#2'`},
		{`SELECT '"#1'`, `SELECT '"#2'`},
		{"SELECT `a#1` FROM VALUES (1,2) v(`a#1`,`a#2`)", "SELECT `a#2` FROM VALUES (1,2) v(`a#1`,`a#2`)"},
		{`SELECT cast(1.5 as int)`, `SELECT cast(1.5 as bigint)`},
		{`SELECT current_date()`, `SELECT current_date() - 1`},
	}
	s := session(t, 1)
	runScript(t, s, "CREATE TABLE t (x INT, y INT); CREATE TABLE u (x INT, y INT); INSERT INTO t VALUES (1, 2), (2, NULL), (NULL, 3), (2, 5), (7, 1), (9, 1);", CSV)
	wrap := func(q string) string {
		return fmt.Sprintf("max(to_json(named_struct('k', x, 'v', (%s), 't', typeof((%s)))))", q, q)
	}
	cell := func(sql string) string {
		out := strings.Split(strings.TrimSpace(runScript(t, s, sql, JSONStrings)), "\"rows\":")
		if len(out) != 2 {
			t.Fatalf("%s: %s", sql, out)
		}
		return strings.Trim(out[1], "[]}")
	}
	for _, p := range pairs {
		a, b := cell("SELECT "+wrap(p[0])+" FROM t"), cell("SELECT "+wrap(p[1])+" FROM t")
		if a == b {
			t.Errorf("%s and %s have the same value and show nothing: %s", p[0], p[1], a)
		}
		if both := cell("SELECT " + wrap(p[0]) + ", " + wrap(p[1]) + " FROM t"); both != a+","+b {
			t.Errorf("%s beside %s: %s, alone %s and %s", p[0], p[1], both, a, b)
		}
	}
}
