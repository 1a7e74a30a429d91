package sqlplan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// facts describe the generator's tables: a is small and b is large, each of two
// files.
func (g *generator) facts() logical.Facts {
	return logical.Facts{
		Bytes: func(name string) int64 { return map[string]int64{"a": 3e6, "b": 1e9}[name] },
		Files: func(name string) []logical.FileFacts {
			rows := g.tables[name]
			half := len(rows) / 2
			return []logical.FileFacts{fileFacts(name, rows[:half]), fileFacts(name, rows[half:])}
		},
	}
}

func fileFacts(table string, rows []tuple) logical.FileFacts {
	return logical.FileFacts{Rows: int64(len(rows)), Column: func(name string) logical.ColumnFacts {
		i := slices.IndexFunc(randomSchemas[table].Fields, func(f schema.Field) bool { return f.Name == name })
		t := randomSchemas[table].Fields[i].Type
		var out logical.ColumnFacts
		var low, high any
		for _, r := range rows {
			switch v := r[i]; {
			case v == nil:
				out.Nulls++
			default:
				if low == nil || order(v, low) < 0 {
					low = v
				}
				if high == nil || order(v, high) > 0 {
					high = v
				}
			}
		}
		if low != nil {
			out.Min, out.Max = oneValue(t, low), oneValue(t, high)
		}
		return out
	}}
}

func oneValue(t schema.Type, v any) *column.Vector {
	if n, ok := v.(int64); ok {
		return column.Constant(t, 1, int32(n))
	}
	return column.Constant(t, 1, v)
}

// TestStatistics answers aggregates from the files' statistics and compares
// them with a fold over the rows.
func TestStatistics(t *testing.T) {
	for seed := range uint64(40) {
		g := newGenerator(seed)
		rows := g.tables["a"]
		want := tuple{int64(len(rows))}
		for i, name := range []string{"x", "y"} {
			x := scalar{name, func(t tuple) any { return t[i] }}
			want = append(want, fold("count", x, rows), fold("min", x, rows), fold("max", x, rows))
		}
		const sql = "SELECT count(*), count(x), min(x), max(x), count(y), min(y), max(y) FROM a"
		if got := g.result(t, sql, optest.Options{}, sqlplan.Options{}); got[0] != fmt.Sprint([]any(want)) {
			t.Fatalf("seed %d: got %s, want %v", seed, got[0], want)
		}
		without := sqlplan.Options{Rules: map[string]bool{"statistics": true}}
		const words = "SELECT min(s), max(s), count(s) FROM (SELECT * FROM b)"
		if got, want := g.result(t, words, optest.Options{}, sqlplan.Options{}), g.result(t, words, optest.Options{}, without); !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
		plan := g.compile(t, sql, sqlplan.Options{})
		if text := logical.Explain(plan.Refine(g.facts())); strings.Contains(text, "Scan") {
			t.Fatalf("the table is read:\n%s", text)
		}
	}
}
