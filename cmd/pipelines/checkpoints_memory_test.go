package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"pipelines/pipelines"
)

// lastEvents let all windows end.
const lastEvents = `{"k":"d","v":8,"t":"2026-01-01T00:01:42Z"}
{"k":"b","v":2,"t":"2026-01-01T00:01:43Z"}
{"k":null,"v":1,"t":"2026-01-01T00:01:44Z"}
{"k":"z","v":1,"t":"2026-01-01T03:00:00Z"}
`

// tight runs have state leave memory at every second chance, of which there are
// a few megabytes, in other numbers of lanes one after another.
var tight = [][2]pipelines.RunOptions{
	{{Lanes: 1, SpillEagerly: true, BatchRows: 1}, {Lanes: 4, SpillEagerly: true, BatchRows: 2}},
	{{Lanes: 5, SpillEagerly: true, Beside: 1}, {Lanes: 2, SpillEagerly: true}},
	{{Lanes: 3, SpillEagerly: true, BatchRows: 2}, {Lanes: 1}},
}

// TestGoldenCheckpointsInLittleMemory goes on from checkpoints that earlier
// versions wrote while state leaves memory and the number of lanes changes: the
// rows are those of plain runs.
func TestGoldenCheckpointsInLittleMemory(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	shapes, err := filepath.Glob(filepath.Join(goldenCheckpoints, "*", "*"))
	if err != nil || len(shapes) < 2*len(stateShapes)-4 {
		t.Fatal(len(shapes), err)
	}
	for n, shape := range shapes {
		t.Run(filepath.Base(filepath.Dir(shape))+"/"+filepath.Base(shape), func(t *testing.T) {
			want := goOn(t, shape, "", [2]pipelines.RunOptions{})
			file, err := os.ReadFile(filepath.Join(shape, "want.csv"))
			if err != nil || want[0] != string(file) {
				t.Fatalf("rows %s, want %s (%v)", want[0], file, err)
			}
			for i, o := range tight {
				if i == n%len(tight) {
					continue // two for each will do
				}
				for k, got := range goOn(t, shape, "memory: 2 MiB\n", o) {
					if got != want[k] {
						t.Errorf("variant %d, run %d: rows:\n%s\nwant:\n%s", i, k, got, want[k])
					}
				}
			}
		})
	}
}

// goOn runs a copy of a golden checkpoint twice, with one more file each time,
// and gives the rows after each run.
func goOn(t *testing.T, shape, head string, o [2]pipelines.RunOptions) (out [2]string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(shape)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(shape, "pipeline.yml"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "pipeline.yml"), head+string(text), 1)
	put(t, filepath.Join(dir, "in", "1.json"), firstEvents, 1)
	for i, events := range []string{nextEvents, lastEvents} {
		put(t, filepath.Join(dir, "in", fmt.Sprintf("%d.json", i+2)), events, i+2)
		runWith(t, dir, o[i])
		out[i] = rows(t, dir)
	}
	if out[0] == out[1] && !strings.Contains(shape, "forever") {
		t.Error("the last file changes nothing")
	}
	return out
}

func runWith(t *testing.T, dir string, o pipelines.RunOptions) {
	t.Helper()
	ctx := context.Background()
	p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	res, list, err := p.Run(ctx, ctx, o)
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	for _, f := range res.Flows {
		if f.Err != nil {
			t.Fatalf("%s: %v", f.Dataset, f.Err)
		}
	}
}
