package pipelines

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// project writes files into a new folder and loads it.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir string, o RunOptions) *Result {
	t.Helper()
	ctx := context.Background()
	p, list, err := Load(ctx, LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	res, list, err := p.Run(ctx, ctx, o)
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	return res
}

func TestGenerateToTables(t *testing.T) {
	dir := project(t, map[string]string{"pipeline.yml": `
name: gen
storage: ./state
sources:
  - name: raw
    format: generate
    schema: "id BIGINT, k BIGINT, ts TIMESTAMP"
    options: {rows: "1000", keys: "10"}
streaming_tables:
  - name: events
    sql: SELECT id, k, ts, id + 1 AS next FROM STREAM(raw) WHERE id % 2 = 0
materialized_views:
  - name: by_key
    sql: SELECT k, count(*) AS n, sum(id) AS total FROM events GROUP BY k
`})
	res := run(t, dir, RunOptions{})
	for _, f := range res.Flows {
		if f.Err != nil {
			t.Errorf("%s: %v", f.Flow, f.Err)
		}
	}
	if res.Flows[0].OutputRows != 500 || res.Flows[1].OutputRows != 10 {
		t.Errorf("%+v", res.Flows)
	}
	res = run(t, dir, RunOptions{})
	if res.Flows[0].OutputRows != 0 || res.Flows[1].Reason != "nothing changed" {
		t.Errorf("%+v", res.Flows)
	}
	res = run(t, dir, RunOptions{FullRefresh: []string{"events"}})
	if res.Flows[0].OutputRows != 500 {
		t.Errorf("%+v", res.Flows)
	}
	res = run(t, dir, RunOptions{})
	if res.Flows[1].OutputRows != 10 {
		t.Errorf("%+v", res.Flows)
	}
}
