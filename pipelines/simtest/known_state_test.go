package simtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pipelines/pipelines"
)

// TestB27: whatever the moment at which a copy of the storage is taken, all
// files that its checkpoint needs are in it: state files are removed only when
// no record names them any more.
func TestB27(t *testing.T) {
	s := &statefulCase{statefulPlans[4].doc, manyKeys(12, 3000)}
	dir := s.build(t)
	copies := folder(t)
	var taken []string
	points := map[string]int{}
	run(t, dir, pipelines.RunOptions{Lanes: 1, At: func(point string) error {
		points[point]++
		if n := points[point]; (point != "commit.after" || n%2 > 0) && (n+len(point))%23 != 0 {
			return nil
		}
		to := filepath.Join(copies, fmt.Sprintf("%03d-%s", len(taken), point))
		taken = append(taken, to)
		return os.CopyFS(to, os.DirFS(dir))
	}})
	wanted := rows(t, dir, "out")
	if len(taken) < 10 || len(wanted) != 12*3000 {
		t.Fatalf("%d copies, %d rows", len(taken), len(wanted))
	}
	files := map[string]bool{}
	for _, from := range taken {
		found, err := filepath.Glob(filepath.Join(from, "state/checkpoints/main/default/out/*/*/state/*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files[filepath.Base(f)] = true
		}
		run(t, from, pipelines.RunOptions{Lanes: 2})
		compare(t, filepath.Base(from), rows(t, from, "out"), wanted)
		if t.Failed() {
			return
		}
	}
	for _, f := range stateFiles(t, dir) {
		delete(files, filepath.Base(f))
	}
	removed := len(files)
	if removed < 3 {
		t.Errorf("only %d state files were removed", removed)
	}
	t.Logf("%d copies; %d state files were removed in the meantime", len(taken), removed)
}
