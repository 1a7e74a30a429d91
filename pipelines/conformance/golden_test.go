package conformance_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

var rewrite = flag.Bool("rewrite", false, "write the golden pipelines' results anew")

// variant is one way to run a golden pipeline. All give equal tables.
type variant struct {
	name string
	o    pipelines.RunOptions
	// lanes are the numbers of lanes of one run after the other.
	lanes []int
	// stop ends each run after one epoch of a flow and starts it again.
	stop bool
	// crash ends each run at its n-th border, for growing n.
	crash bool
}

var variants = []variant{
	{name: "straight"},
	{name: "one row a batch", o: pipelines.RunOptions{BatchRows: 1}},
	{name: "five lanes", o: pipelines.RunOptions{BatchRows: 2}, lanes: []int{5}},
	{name: "stop and resume", lanes: []int{2, 1, 5, 3}, stop: true},
	{name: "crash and resume", o: pipelines.RunOptions{Lanes: 1}, crash: true},
}

// TestGoldenPipelines runs each testdata/pipelines/*.txtar in every variant.
// An archive holds the project's files; step1/…, step2/…, … are copied into
// the project before each run; want/TABLE are the rows of a table after the
// last run, sorted, as JSON arrays behind a line of columns and types.
func TestGoldenPipelines(t *testing.T) {
	for _, path := range files(t, "../../testdata/pipelines/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			for i, v := range variants {
				t.Run(v.name, func(t *testing.T) { runGolden(t, path, v, *rewrite && i == 0) })
			}
		})
	}
}

func runGolden(t *testing.T, path string, v variant, write bool) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, work: t.TempDir(), spec: "pipeline.yml"}
	steps := place(t, a, p.work, "")
	for _, s := range steps {
		place(t, a, p.work, s)
		v.run(t, p.work)
	}
	for i, f := range a.Files {
		name, ok := strings.CutPrefix(f.Name, "want/")
		if !ok {
			continue
		}
		got := show(t, p, name)
		if write {
			a.Files[i].Data = []byte(got)
		} else if got != string(f.Data) {
			t.Errorf("table %s:\ngot\n%swant\n%s", name, got, f.Data)
		}
	}
	if write {
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// place writes the files of one step ("" for those of the project) and lists
// the steps.
func place(t *testing.T, a *txtar.Archive, dir, step string) (steps []string) {
	t.Helper()
	for _, f := range a.Files {
		first, rest, _ := strings.Cut(f.Name, "/")
		if first == "want" {
			continue
		}
		if isStep := strings.HasPrefix(first, "step"); isStep {
			if !slices.Contains(steps, first) {
				steps = append(steps, first)
			}
			if first != step {
				continue
			}
		} else if rest = f.Name; step != "" {
			continue
		}
		to := filepath.Join(dir, rest)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return steps
}

// run brings the project to rest.
func (v variant) run(t *testing.T, dir string) {
	t.Helper()
	for n := 1; ; n++ {
		o := v.o
		if len(v.lanes) > 0 {
			o.Lanes = v.lanes[n%len(v.lanes)]
		}
		ctx := context.Background()
		stop, end := context.WithCancel(ctx)
		var reached atomic.Bool
		if v.crash {
			var borders atomic.Int64
			o.At = func(string) error {
				if borders.Add(1) < int64(n) {
					return nil
				}
				reached.Store(true)
				return errLost
			}
		}
		if v.stop {
			o.Listener = event.Listener{FlowProgress: func(event.FlowProgress) { reached.Store(true); end() }}
		}
		p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: dir})
		if err != nil || list.HasErrors() {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		res, list, err := p.Run(ctx, stop, o)
		end()
		if list.HasErrors() || err != nil && !v.crash {
			t.Fatalf("%v\n%s", err, list.Render())
		}
		if !reached.Load() {
			if err != nil || res.Failed() {
				t.Fatalf("run %d: %v %+v", n, err, res)
			}
			return
		}
		if n > 400 {
			t.Fatal("the project does not come to rest")
		}
	}
}

// show prints a table's columns and sorted rows.
func show(t *testing.T, p *project, name string) string {
	t.Helper()
	q, why := p.table(name)
	if q == nil {
		return why + "\n"
	}
	var head, rows []string
	for _, c := range q.Columns {
		head = append(head, c.Name+" "+c.Type)
	}
	for _, r := range q.Rows {
		rows = append(rows, canonical(r))
	}
	slices.Sort(rows)
	return strings.Join(head, ", ") + "\n" + strings.Join(append(rows, ""), "\n")
}
