package parse

import (
	"strings"
	"testing"
	"time"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// Deep and long texts: an error in time or a tree, never an overflow.
//
//tidy:allow-long a table of cases
func TestLimits(t *testing.T) {
	rep := strings.Repeat
	ctes := func(n int) string {
		var b strings.Builder
		b.WriteString("WITH c0 AS (SELECT 1)")
		for i := 1; i < n; i++ {
			b.WriteString(", c" + itoa(i) + " AS (SELECT * FROM c" + itoa(i-1) + ")")
		}
		return b.String() + " SELECT * FROM c1"
	}
	tests := []struct {
		name, sql string
		ok        bool
	}{
		{"parentheses 900", "SELECT " + rep("(", 900) + "1" + rep(")", 900), true},
		{"parentheses 5000", "SELECT " + rep("(", 5000) + "1" + rep(")", 5000), false},
		{"parentheses 200000", "SELECT " + rep("(", 200000) + "1" + rep(")", 200000), false},
		{"open parentheses", "SELECT " + rep("(", 100000), false},
		{"subqueries", rep("SELECT * FROM (", 5000) + "SELECT 1" + rep(")", 5000), false},
		{"nested queries", rep("(", 100000) + "SELECT 1" + rep(")", 100000), false},
		{"or 10000", "SELECT a" + rep(" OR a", 10000), true},
		{"and or 10000", "SELECT a" + rep(" OR a AND b", 10000), true},
		{"plus 10000", "SELECT a" + rep(" + 1", 10000), true},
		{"plus 100000", "SELECT a" + rep(" + 1", 100000), false},
		{"calls 900", "SELECT " + rep("f(", 900) + "1" + rep(")", 900), true},
		{"calls 5000", "SELECT " + rep("f(", 5000) + "1" + rep(")", 5000), false},
		{"in list", "SELECT a IN (1" + rep(", 1", 100000) + ")", true},
		{"ctes", ctes(8000), true},
		{"columns", "SELECT a" + rep(", a", 2000), true},
		{"literal", "SELECT '" + rep("x", 1<<20) + "'", true},
		{"not", "SELECT " + rep("NOT ", 100000) + "a", false},
		{"minus", "SELECT " + rep("- ", 100000) + "a", false},
		{"types", "SELECT CAST(a AS " + rep("array<", 100000) + "int" + rep(">", 100000) + ")", false},
		{"cast chain", "SELECT a" + rep("::int", 20000), true},
		{"fields", "SELECT a" + rep(".b", 20000), true},
		{"unions", "SELECT 1" + rep(" UNION ALL SELECT 1", 5000), true},
		{"joins", "SELECT 1 FROM a" + rep(" JOIN a ON x", 5000), true},
		{"commas", "SELECT 1 FROM a" + rep(", a", 5000), true},
		{"pipes", "FROM a" + rep(" |> WHERE x", 5000), true},
		{"case", "SELECT " + rep("CASE WHEN a THEN ", 5000) + "1" + rep(" END", 5000), false},
		{"lambdas", "SELECT f(" + rep("x -> ", 50000) + "1)", false},
		{"grouping", "SELECT 1 GROUP BY GROUPING SETS (" + rep("GROUPING SETS (", 5000) + "a" + rep(")", 5001), false},
		{"relations", "SELECT 1 FROM " + rep("(", 5000) + "a" + rep(")", 5000), false},
		{"stars", "SELECT " + rep("*", 50000), false},
		{"explains", rep("EXPLAIN ", 50000) + "SELECT 1", false},
		{"comments", rep("/* ", 50000) + rep("*/ ", 50000) + "SELECT 1", true},
		{"open comments", rep("/* ", 50000), false},
		{"brackets", "SELECT " + rep("a[", 5000) + "1" + rep("]", 5000), false},
		{"interval", "SELECT INTERVAL" + rep(" 1 DAY", 20000), true},
		{"selects", "FROM a " + rep("SELECT 1 ", 1000), true},
		{"strings", "SELECT " + rep("'a' ", 20000), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			ss, errs := Statements(diag.NewText("x", tt.sql))
			if d := time.Since(start); d > 15*time.Second {
				t.Errorf("took %v", d)
			}
			if errs.HasErrors() == tt.ok {
				t.Fatalf("ok = %v, errors %v", !tt.ok, len(errs))
			}
			if !tt.ok && len(errs) > 50 {
				t.Errorf("%d errors", len(errs))
			}
			if tt.ok {
				for _, s := range ss {
					_ = ast.String(s)
					ast.Walk(s, func(ast.Node) bool { return true })
				}
			}
		})
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
