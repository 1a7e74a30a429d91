package sqlplan_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/rewrite"
)

// randomQueries is how many queries each test but TestRandom makes.
const randomQueries = 250

// result runs a query over the generator's tables; its rows come back as
// sorted texts.
func (g *generator) result(t *testing.T, sql string, o optest.Options, opts sqlplan.Options) []string {
	t.Helper()
	p := g.compile(t, sql, opts)
	in := optest.Input{}
	scans := 0
	node := logical.MapNode(p.Refine(g.facts()), func(n logical.Node) logical.Node {
		old, ok := n.(*logical.Scan)
		if !ok {
			return n
		}
		scan, rel := *old, *old.Relation // rewriting may repeat a scan: each has its input
		rel.ID = fmt.Sprint("scan", scans)
		scan.Relation = &rel
		scans++
		for _, r := range g.tables[rel.Name[0]] {
			var out optest.Row
			for _, f := range scan.Fields {
				v := r[f]
				if n, ok := v.(int64); ok {
					v = int32(n)
				}
				out = append(out, v)
			}
			in[rel.ID] = append(in[rel.ID], out)
		}
		return &scan
	})
	rows, err := optest.Query(t, node, o, in)
	if err != nil {
		t.Fatalf("%s\n%v", sql, err)
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint([]any(r)))
	}
	slices.Sort(out)
	return out
}

func (g *generator) compile(t *testing.T, sql string, opts sqlplan.Options) *sqlplan.Plan {
	t.Helper()
	opts.Name = "t"
	p, diags := sqlplan.Compile(diag.NewText("q.sql", sql), g, opts)
	if p == nil {
		t.Fatalf("%s\n%s", sql, report(diags))
	}
	return p
}

// queryCount is PIPELINES_QUERIES, or n.
func queryCount(t *testing.T, n uint64) uint64 {
	s := os.Getenv("PIPELINES_QUERIES")
	if s == "" {
		return n
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func texts(rows []tuple) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint([]any(r)))
	}
	slices.Sort(out)
	return out
}

// queriesOut writes the queries of TestRandom to the file that
// PIPELINES_QUERIES_OUT names, each with its tables inside and on one line, for
// the oracles of docs/integration.
func queriesOut(t *testing.T) func(g *generator, q query) {
	name := os.Getenv("PIPELINES_QUERIES_OUT")
	if name == "" {
		return func(*generator, query) {}
	}
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(g *generator, q query) {
		if _, err := fmt.Fprintf(file, "WITH %s, %s %s\n", g.inlined("a"), g.inlined("b"), q.sql); err != nil {
			t.Fatal(err)
		}
	}
}

// inlined is a table as a common table expression.
func (g *generator) inlined(name string) string {
	types, columns := []string{"INT", "INT", "STRING"}, []string(nil)
	for _, f := range randomSchemas[name].Fields {
		columns = append(columns, f.Name)
	}
	rows := []string{"SELECT CAST(NULL AS INT), CAST(NULL AS INT), CAST(NULL AS STRING) WHERE false"}
	for _, r := range g.tables[name] {
		cells := make([]string, len(r))
		for i, v := range r {
			switch v := v.(type) {
			case nil:
				cells[i] = "NULL"
			case string:
				cells[i] = "'" + v + "'"
			default:
				cells[i] = fmt.Sprint(v)
			}
			cells[i] = "CAST(" + cells[i] + " AS " + types[i] + ")"
		}
		rows = append(rows, "SELECT "+strings.Join(cells, ", "))
	}
	return name + "(" + strings.Join(columns, ", ") + ") AS (" + strings.Join(rows, " UNION ALL ") + ")"
}

// TestRandom compares random queries with an evaluation row by row, under
// several sizes of batches: 500, or as many as PIPELINES_QUERIES says.
func TestRandom(t *testing.T) {
	out := queriesOut(t)
	for seed := range queryCount(t, 500) {
		g := newGenerator(seed)
		q := g.query()
		out(g, q)
		for _, o := range []optest.Options{{BatchSize: 1}, {BatchSize: 3, Noise: true, Seed: seed}, {Dictionary: true}} {
			if got, want := g.result(t, q.sql, o, sqlplan.Options{}), texts(q.rows); !slices.Equal(got, want) {
				t.Fatalf("seed %d %+v\n%s\na %v\nb %v\ngot  %v\nwant %v", seed, o, q.sql, g.tables["a"], g.tables["b"], got, want)
			}
		}
	}
}

// TestRulesOff demands the same rows with each rule that can be switched off.
func TestRulesOff(t *testing.T) {
	for seed := range uint64(randomQueries / 2) {
		g := newGenerator(seed)
		q := g.query()
		for _, r := range rewrite.Rules() {
			off := sqlplan.Options{Rules: map[string]bool{r: true}}
			if got, want := g.result(t, q.sql, optest.Options{}, off), texts(q.rows); !slices.Equal(got, want) {
				t.Fatalf("seed %d without %s\n%s\ngot  %v\nwant %v", seed, r, q.sql, got, want)
			}
		}
	}
}

// TestSplit splits a query at a condition into the rows for which it is true,
// false and unknown: together they are all rows.
func TestSplit(t *testing.T) {
	for seed := range uint64(randomQueries / 2) {
		g := newGenerator(seed)
		g.twoValued = true
		s := g.from()
		c := g.cond(s, 2).sql
		all := "SELECT " + strings.Join(s.names, ", ") + " FROM " + s.sql
		split := fmt.Sprintf("%s WHERE %s UNION ALL %s WHERE NOT %s UNION ALL %s WHERE (%s) IS NULL", all, c, all, c, all, c)
		same(t, g, seed, all, split)
		same(t, g, seed, all+" WHERE "+c, all+" WHERE "+c+" AND coalesce(1 = 1, true)")
		same(t, g, seed, all+" WHERE "+c, "SELECT * FROM ("+all+") q WHERE true AND EXISTS (SELECT 1)"+" INTERSECT ALL ("+all+" WHERE "+c+")")
	}
}

// TestSwap swaps the sides of joins.
func TestSwap(t *testing.T) {
	swapped := map[string]string{"JOIN": "JOIN", "LEFT JOIN": "RIGHT JOIN", "RIGHT JOIN": "LEFT JOIN", "FULL JOIN": "FULL JOIN"}
	for seed := range uint64(randomQueries / 2) {
		g := newGenerator(seed)
		l, r := g.table("t"), g.table("u")
		both := source{names: append(append([]string(nil), l.names...), r.names...), text: map[int]bool{2: true, 5: true}}
		on := g.joinCond(both).sql
		list := strings.Join(both.names, ", ")
		for kind, other := range swapped {
			same(t, g, seed, "SELECT "+list+" FROM "+l.sql+" "+kind+" "+r.sql+" ON "+on, "SELECT "+list+" FROM "+r.sql+" "+other+" "+l.sql+" ON "+on)
		}
	}
}

// TestOrderOfRows shuffles the tables.
func TestOrderOfRows(t *testing.T) {
	for seed := range uint64(randomQueries / 2) {
		g := newGenerator(seed)
		q := g.query()
		for _, rows := range g.tables {
			rand.New(rand.NewPCG(seed, 3)).Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		}
		if got, want := g.result(t, q.sql, optest.Options{BatchSize: 2, Lanes: 2}, sqlplan.Options{}), texts(q.rows); !slices.Equal(got, want) {
			t.Fatalf("seed %d\n%s\ngot  %v\nwant %v", seed, q.sql, got, want)
		}
	}
}

func same(t *testing.T, g *generator, seed uint64, a, b string) {
	t.Helper()
	x, y := g.result(t, a, optest.Options{}, sqlplan.Options{}), g.result(t, b, optest.Options{}, sqlplan.Options{})
	if !slices.Equal(x, y) {
		t.Fatalf("seed %d\n%s\n%v\n%s\n%v", seed, a, x, b, y)
	}
}

// TestRecursion compares the paths of a random graph without cycles, found by
// a recursive query, with a plain loop.
func TestRecursion(t *testing.T) {
	const sql = "WITH RECURSIVE p(x, y) AS (SELECT x, y FROM a WHERE x < y UNION ALL SELECT p.x, a.y FROM p JOIN a ON p.y = a.x WHERE a.x < a.y) SELECT x, y FROM p"
	for seed := range uint64(40) {
		g := newGenerator(seed)
		var edges, want []tuple
		for _, r := range g.tables["a"] {
			if r[0] != nil && r[1] != nil && r[0].(int64) < r[1].(int64) {
				edges = append(edges, tuple{r[0], r[1]})
			}
		}
		for now := edges; len(now) > 0; {
			want = append(want, now...)
			var next []tuple
			for _, p := range now {
				for _, e := range edges {
					if p[1] == e[0] {
						next = append(next, tuple{p[0], e[1]})
					}
				}
			}
			now = next
		}
		for _, o := range []optest.Options{{}, {BatchSize: 1}, {BatchSize: 2, Lanes: 2}} {
			if got := g.result(t, sql, o, sqlplan.Options{}); !slices.Equal(got, texts(want)) {
				t.Fatalf("seed %d %+v\na %v\ngot  %v\nwant %v", seed, o, g.tables["a"], got, texts(want))
			}
		}
	}
}
