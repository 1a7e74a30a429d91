package pipelines_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"pipelines/pipelines"
)

// Streams whose state does not fit the memory give the rows that they give in
// plenty, also when they go on from a checkpoint.
func TestLittleMemoryForState(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	var want string
	for _, memory := range []string{"2 GiB", "4 MiB"} {
		dir := t.TempDir()
		err := os.WriteFile(filepath.Join(dir, "pipeline.yml"), []byte(`
name: little
storage: state
memory: `+memory+`
sources:
  - {name: e, format: json, path: in, schema: "id BIGINT, k STRING, t TIMESTAMP", options: {maxFilesPerTrigger: "1"}}
streaming_tables:
  - name: firsts
    deduplicate: {keys: [k], within_watermark: true}
    sql: SELECT * FROM STREAM(e) WATERMARK t DELAY OF INTERVAL 1 HOUR
  - name: counts
    sql: SELECT k, window.start AS w, count(*) AS n, max(id) AS m FROM STREAM(e) WATERMARK t DELAY OF INTERVAL 1 HOUR GROUP BY k, window(t, '2 hours')
`), 0o644)
		if err != nil {
			t.Fatal(err)
		}
		for file := range 3 {
			var b bytes.Buffer
			for i := range 40_000 {
				id := file*40_000 + i
				fmt.Fprintf(&b, `{"id":%d,"k":"key %d","t":"2026-01-01T%02d:%02d:%02dZ"}`+"\n", id, id*7919%60_013, 2+2*file+i/36_000, i/600%60, i/10%60)
			}
			if err := os.MkdirAll(filepath.Join(dir, "in"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "in", fmt.Sprintf("%d.json", file)), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			runLittle(t, dir)
		}
		got := queryText(t, dir, `SELECT * FROM (SELECT count(*), sum(id), sum(hash(k)) FROM firsts), (SELECT count(*), sum(n), sum(m), sum(hash(k, w)) FROM counts)`)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s of memory: got %s want %s", memory, got, want)
		}
	}
}

func runLittle(t *testing.T, dir string) {
	t.Helper()
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
			t.Fatalf("%s: %v", f.Dataset, f.Err)
		}
	}
}
