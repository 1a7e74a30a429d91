package simtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pipelines/pipelines"
)

// damages are ways in which a file can be wrong. gentle ones may leave the
// content whole.
var damages = []struct {
	name   string
	gentle bool
	do     func(path string, text, other []byte) error
}{
	{"missing", false, func(path string, _, _ []byte) error { return os.Remove(path) }},
	{"empty", false, func(path string, _, _ []byte) error { return os.WriteFile(path, nil, 0o600) }},
	{"half", false, func(path string, text, _ []byte) error { return os.WriteFile(path, text[:len(text)/2], 0o600) }},
	{"cut", false, func(path string, text, _ []byte) error { return os.WriteFile(path, text[:len(text)-1], 0o600) }},
	{"flipped", false, func(path string, text, _ []byte) error {
		text = bytes.Clone(text)
		text[len(text)/2] ^= 4
		return os.WriteFile(path, text, 0o600)
	}},
	{"zeros", false, func(path string, text, _ []byte) error { return os.WriteFile(path, make([]byte, len(text)), 0o600) }},
	{"longer", true, func(path string, text, _ []byte) error {
		return os.WriteFile(path, slices.Concat(text, text), 0o600)
	}},
	{"swapped", false, func(path string, _, other []byte) error { return os.WriteFile(path, other, 0o600) }},
}

// manyKeys makes files with enough keys for state files of their own.
func manyKeys(files, rows int) (out []string) {
	for f := range files {
		var b strings.Builder
		for i := range rows {
			n := f*rows + i
			fmt.Fprintf(&b, `{"id":%d,"k":"k%d","v":%d,"ts":"2026-01-01T10:%02d:%02d.%03dZ"}`+"\n", n, n, n%10, f, i*50/rows, n%1000)
		}
		out = append(out, b.String())
	}
	return out
}

// stateFiles finds the files of a flow's state.
func stateFiles(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(checkpointFile(t, dir, "out")), "state", "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no state files: %v", err)
	}
	return found
}

// TestDamagedState: with a state file that is gone, cut, changed or another's,
// a run gives the right rows or a clear refusal, and the copy put back works.
func TestDamagedState(t *testing.T) {
	tried := 0
	for _, p := range statefulPlans {
		if !slices.Contains([]string{"window", "session", "dedup", "keyed"}, p.name) {
			continue
		}
		each := map[string]int{"dedup": 8000}[p.name]
		s := &statefulCase{p.doc, manyKeys(3, max(each, 2500))}
		base := s.build(t)
		run(t, base, pipelines.RunOptions{Lanes: 1})
		put(t, base, "landing/more.json", manyKeys(4, 20)[3])
		before := rows(t, base, "out")
		copied := func() string {
			dir := filepath.Join(folder(t), "copy")
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			return dir
		}
		whole := copied()
		run(t, whole, pipelines.RunOptions{})
		right := rows(t, whole, "out")
		files := stateFiles(t, base)
		for i, file := range files {
			if i > 0 && i < len(files)-1 && os.Getenv("PIPELINES_KILLS") != "all" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			other := bytes.Repeat([]byte("x"), len(text))
			if len(files) > 1 {
				if other, err = os.ReadFile(files[(i+1)%len(files)]); err != nil {
					t.Fatal(err)
				}
			}
			for _, d := range damages {
				tried++
				what := fmt.Sprintf("%s, file %d of %d %s", p.name, i+1, len(files), d.name)
				dir := copied()
				path := filepath.Join(dir, strings.TrimPrefix(file, base))
				if err := d.do(path, text, other); err != nil {
					t.Fatal(err)
				}
				found := verified(t, dir, d.name)
				res, err := runIn(dir, pipelines.RunOptions{})
				if err == nil {
					err = failures(res)
				}
				switch {
				case (err == nil) != (found == "ok"):
					t.Errorf("%s: verified: %s, run: %v", what, found, err)
				case err == nil && !d.gentle:
					t.Errorf("%s: it ran", what)
				case err == nil:
					compare(t, what, rows(t, dir, "out"), right)
					continue
				case !strings.Contains(err.Error(), "--full-refresh out") || !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "no such file"):
					t.Errorf("%s: %v", what, err)
				}
				compare(t, what, rows(t, dir, "out"), before)
				put(t, dir, strings.TrimPrefix(file, base+"/"), string(text))
				run(t, dir, pipelines.RunOptions{})
				compare(t, what+", put back", rows(t, dir, "out"), right)
			}
		}
	}
	t.Logf("%d damaged files", tried)
}

// verified is what "checkpoint verify" says of the checkpoint of "out"; a dry
// run sees damages of the lengths of files.
func verified(t *testing.T, dir, damage string) string {
	t.Helper()
	steps := dryRun(t, dir)
	if damage != "swapped" && slices.Contains([]string{"missing", "empty", "half", "cut"}, damage) != strings.Contains(steps, "--full-refresh out") {
		t.Errorf("%s: dry run: %s", damage, steps)
	}
	r, list, err := pipelines.OpenReader(t.Context(), pipelines.LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatal(err, list.Render())
	}
	infos, err := r.Checkpoints(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range infos {
		if strings.HasSuffix(c.Dataset, ".out") {
			return c.State
		}
	}
	return "not listed"
}

// TestTableLost has a table whose folder is gone while its checkpoint is there:
// nothing is made in its place, so that it can be restored.
func TestTableLost(t *testing.T) {
	dir := cleaned(t, "", oneReader)
	put(t, dir, "landing/a.json", `{"v":1}`)
	run(t, dir, pipelines.RunOptions{})
	place, copied := filepath.Join(dir, "state/tables/main/default/out"), filepath.Join(dir, "copied")
	if err := os.Rename(place, copied); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "landing/b.json", `{"v":2}`)
	fails(t, dir, pipelines.RunOptions{}, "TABLE_LOST", "epoch 0 is committed")
	if err := os.Rename(copied, place); err != nil {
		t.Fatal(err)
	}
	run(t, dir, pipelines.RunOptions{})
	want(t, dir, "out", "1", "2")
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	run(t, dir, pipelines.RunOptions{FullRefresh: []string{"out"}})
	want(t, dir, "out", "1", "2")
}
