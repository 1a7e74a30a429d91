package sqlplan_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// ruleBenches are plans with the rule that should pay for each. The tables
// are big (k, g, s, v), mid and dim (k, g, s, v, fewer rows).
var ruleBenches = []struct{ rule, sql string }{
	{"common subexpressions", "SELECT upper(s) || '-' || g AS a, length(upper(s) || '-' || g) AS n, upper(s) || '-' || g || 'x' AS b FROM big"},
	{"window top-n", "SELECT * FROM (SELECT k, v, row_number() OVER (PARTITION BY g ORDER BY v DESC) AS n FROM big) WHERE n <= 3"},
	{"top-n", "SELECT k, v FROM big ORDER BY v, k LIMIT 10"},
	{"limits", "SELECT b.k, m.v FROM big b, mid m LIMIT 100"},
	{"inference", "SELECT count(*) FROM mid m JOIN big b ON m.k = b.k WHERE m.k < 20"},
	{"distinct", "SELECT DISTINCT k, n FROM (SELECT k, count(*) AS n FROM big GROUP BY k)"},
	{"distinct", "SELECT g, count(DISTINCT k) AS n FROM big GROUP BY g"},
	{"distinct", "SELECT count(*) FROM mid WHERE k IN (SELECT DISTINCT k FROM big)"},
	{"join order", "SELECT count(*) FROM big b JOIN mid m ON b.k = m.k JOIN dim d ON m.v = d.v JOIN dim e ON m.g = e.k WHERE e.k < 3"},
}

// facts are the sizes of the tables.
func (t benchTables) facts() logical.Facts {
	return logical.Facts{Bytes: func(name string) int64 { return int64(len(t[name])) * column.BatchRows * 40 }}
}

type benchTables map[string][]*column.Batch

var benchFields = []schema.Field{nullableField("k", schema.Int32), nullableField("g", schema.Int32), nullableField("s", schema.String), nullableField("v", schema.Int64)}

func newBenchTables(pool *column.Pool) benchTables {
	out := benchTables{}
	r := rand.New(rand.NewPCG(1, 2))
	for name, n := range map[string]int{"big": 256, "mid": 16, "dim": 1} {
		for range n {
			b := pool.Batch()
			for _, f := range benchFields {
				b.Cols = append(b.Cols, pool.Vector(f.Type))
			}
			for range column.BatchRows {
				b.Cols[0].I32 = append(b.Cols[0].I32, int32(r.IntN(n*column.BatchRows/8)))
				b.Cols[1].I32 = append(b.Cols[1].I32, int32(r.IntN(100)))
				b.Cols[2].AppendStr(fmt.Appendf(nil, "item-%d", r.IntN(1000)))
				b.Cols[3].I64 = append(b.Cols[3].I64, r.Int64N(1e9))
			}
			for _, v := range b.Cols {
				v.Len = column.BatchRows
			}
			b.Len = column.BatchRows
			out[name] = append(out[name], b)
		}
	}
	return out
}

// Resolve implements sqlplan.Catalog.
func (t benchTables) Resolve(r sqlplan.Request) (sqlplan.Answer, error) {
	if t[r.Parts[0]] == nil {
		return sqlplan.Answer{}, &sqlplan.NotFound{}
	}
	return sqlplan.Answer{Relation: &logical.Relation{ID: r.Parts[0], Name: r.Parts, Schema: schema.Schema{Fields: benchFields}}}, nil
}

// run runs a plan once and counts its rows.
func (t benchTables) run(p *operator.Plan, pool *column.Pool) error {
	if err := p.Begin(stream.Step{Bounded: true}); err != nil {
		return err
	}
	for phase, left := 0, len(p.Scans()); left > 0; phase++ {
		for i, s := range p.Scans() {
			if s.Phase != phase {
				continue
			}
			left--
			for _, b := range t[s.Scan.Relation.ID] {
				if !p.Wants(i) {
					break
				}
				nb := pool.Batch()
				for _, f := range s.Scan.Fields {
					nb.Cols = append(nb.Cols, b.Cols[f].Retain())
				}
				nb.Len = b.Len
				err := p.Push(0, i, nb)
				nb.Release()
				if err != nil {
					return err
				}
			}
			if err := p.EndScan(i); err != nil {
				return err
			}
		}
	}
	return p.EndStep()
}

// BenchmarkRules runs each plan with its rule and without, in CPU time.
func BenchmarkRules(b *testing.B) {
	pool := column.NewPool()
	tables := newBenchTables(pool)
	for i, q := range ruleBenches {
		for _, off := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d/%s/on=%t", i, strings.ReplaceAll(q.rule, " ", "_"), !off), func(b *testing.B) {
				plan, diags := sqlplan.Compile(diag.NewText("q.sql", q.sql), tables, sqlplan.Options{Rules: map[string]bool{q.rule: off}})
				if plan == nil {
					b.Fatal(report(diags))
				}
				p, err := operator.Build(plan.Refine(tables.facts()), operator.Env{Pool: pool, Session: optest.Session(), Output: func(int, *column.Batch) error { return nil }})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				start := cpuTime(b)
				for b.Loop() {
					if err := tables.run(p, pool); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpuTime(b)-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
