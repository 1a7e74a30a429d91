package pipelines

import (
	"fmt"
	"testing"
)

// A reader that skips full refreshes takes no row twice and loses none that
// came later, wherever the refresh dies.
func TestSkippedRefreshDies(t *testing.T) {
	made := func() string {
		dir := project(t, map[string]string{"pipeline.yml": `
name: skips
storage: ./state
sources:
  - {name: a, format: json, path: data, schema: "id INT", options: {maxFilesPerTrigger: "1"}}
streaming_tables:
  - {name: base, sql: "SELECT * FROM STREAM(a)"}
  - {name: s, on_upstream_reset: skip, sql: "SELECT * FROM STREAM(base)"}
`})
		for i := range 3 {
			write(t, dir, fmt.Sprintf("data/%d.json", i), fmt.Sprintf(`{"id":%d}`, i))
		}
		good(t, dir, RunOptions{Lanes: 1})
		return dir
	}
	refresh := func(dir string, n int) int {
		points := 0
		load(t, dir, RunOptions{FullRefresh: []string{"base"}, Refresh: []string{"s"}, Lanes: 1, At: func(string) error {
			if points++; points == n {
				return errCrash
			}
			return nil
		}})
		return points
	}
	points := refresh(made(), 0)
	if points < 30 {
		t.Fatalf("%d points", points)
	}
	for n := 1; n <= points; n += 7 {
		dir := made()
		refresh(dir, n)
		good(t, dir, RunOptions{Lanes: 1})
		write(t, dir, "data/9.json", `{"id":9}`)
		good(t, dir, RunOptions{Lanes: 1})
		if wantRows(t, dir, "s", "0", "1", "2", "9"); t.Failed() {
			t.Fatalf("border %d", n)
		}
		wantRows(t, dir, "base", "0", "1", "2", "9")
	}
}

// load runs a project whatever comes of it.
func load(t *testing.T, dir string, o RunOptions) {
	t.Helper()
	p, list, err := Load(t.Context(), LoadOptions{Path: dir})
	if err != nil || list.HasErrors() {
		t.Fatalf("%v\n%s", err, list.Render())
	}
	_, _, _ = p.Run(t.Context(), t.Context(), o)
}
