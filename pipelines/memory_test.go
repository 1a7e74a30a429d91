package pipelines_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"pipelines/pipelines"
	"pipelines/pipelines/shell"
	"pipelines/spec/diag"
)

// A project in very little memory gives the rows that it gives in plenty.
func TestLittleMemory(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	var want string
	for _, memory := range []string{"2 GiB", "1 MiB"} {
		dir := t.TempDir()
		err := os.WriteFile(filepath.Join(dir, "pipeline.yml"), []byte(`
name: little
storage: state
memory: `+memory+`
materialized_views:
  - name: numbers
    sql: SELECT id, id * 7919 % 100003 AS k, concat('text of ', id) AS s FROM range(0, 60000) ORDER BY k
  - name: groups
    sql: SELECT k % 30011 AS g, s, count(*) AS n, count(DISTINCT k) AS d, max(s) AS m FROM numbers GROUP BY 1, 2
  - name: pairs
    sql: SELECT a.id AS a, b.id AS b, a.s FROM numbers a LEFT JOIN numbers b ON a.k = b.id
  - name: ranks
    sql: SELECT id, row_number() OVER (PARTITION BY k % 1000 ORDER BY s) AS r FROM numbers
  - name: odd
    sql: SELECT k FROM numbers EXCEPT SELECT id * 2 FROM numbers
`), 0o644)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: dir})
		if err != nil || list.HasErrors() {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		res, list, err := p.Run(ctx, ctx, pipelines.RunOptions{Lanes: 2})
		if err != nil || list.HasErrors() {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		for _, f := range res.Flows {
			if f.Err != nil {
				t.Fatalf("%s of memory: %s: %v", memory, f.Dataset, f.Err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "state", "checkpoints", "+spill")); !os.IsNotExist(err) {
			t.Errorf("the spill folder is still there: %v", err)
		}
		got := queryText(t, dir, `SELECT * FROM
			(SELECT count(*), sum(k), sum(hash(s)) FROM numbers),
			(SELECT count(*), sum(g * n), sum(d), max(m) FROM groups),
			(SELECT count(*), sum(a), sum(b), sum(hash(s, a)) FROM pairs),
			(SELECT sum(id * r), max(r) FROM ranks), (SELECT count(*), sum(k) FROM odd)`)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s of memory: got %s want %s", memory, got, want)
		}
	}
}

// queryText runs one query on a project.
func queryText(t *testing.T, dir, sql string) string {
	t.Helper()
	ctx := context.Background()
	r, list, err := pipelines.OpenReader(ctx, pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	s, err := shell.New(shell.Options{Reader: r, Lanes: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := diag.NewText("-c", sql)
	var buf bytes.Buffer
	out, err := shell.NewPrinter(shell.JSON, &buf, &buf)
	if err != nil {
		t.Fatal(err)
	}
	st := s.Parse(text)[0]
	out.Begin(1, 1, s.Settings())
	if f := s.Run(ctx, &st, text, out); f != nil {
		t.Fatal(f)
	}
	if err := out.End(nil); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}
