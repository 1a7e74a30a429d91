package sqlplan_test

import (
	"strings"
	"testing"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/parse"
)

func TestReferences(t *testing.T) {
	f := func(sql, want string) {
		t.Helper()
		q, diags := parse.Query(diag.NewText("q", sql))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var got []string
		for _, r := range sqlplan.References(q) {
			s := strings.Join(r.Parts, ".")
			if r.Stream {
				s = "STREAM " + s
			}
			if r.Function {
				s += "()"
			}
			got = append(got, s)
		}
		if g := strings.Join(got, ", "); g != want {
			t.Errorf("%s: got %s, want %s", sql, g, want)
		}
	}
	f("SELECT * FROM a JOIN db.b ON a.x = b.x WHERE a.y IN (SELECT y FROM c)", "a, db.b, c")
	f("WITH w AS (SELECT * FROM STREAM(s)), v AS (SELECT * FROM w) SELECT * FROM v, t ORDER BY (SELECT max(x) FROM u)", "STREAM s, t, u")
	f("SELECT * FROM STREAM json.`/data/x` UNION ALL TABLE q", "STREAM json./data/x, q")
	f("WITH a AS (SELECT * FROM a) SELECT * FROM a", "a")
	f("SELECT * FROM STREAM read_files('x', format => 'json'), range(3), explode(array(1))", "STREAM read_files()")
	f("FROM a |> JOIN b USING (k) |> WHERE EXISTS (SELECT 1 FROM c)", "a, b, c")
}
