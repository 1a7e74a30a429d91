package simtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pipelines/pipelines"
	"pipelines/pipelines/builtin"
	"pipelines/pipelines/event"
	"pipelines/runtime/connector"
	"pipelines/tables"
	"pipelines/tables/catalog"
	"pipelines/tables/codec/display"
	"pipelines/tables/column"
)

// childEnv makes this binary run a project once instead of the tests.
const childEnv = "PIPELINES_SIMTEST_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		os.Exit(childMain(text))
	}
	os.Exit(m.Run())
}

// order is what a child is asked to do.
type order struct {
	Dir         string
	Trigger     string
	FullRefresh []string // with --cascade
	Lanes, Rows int
	Spill       bool // state leaves memory without need
	Beside      int
	// Point and Nth say at which border it kills itself; Wait makes it stand
	// still there until its standard input ends instead.
	Point string
	Nth   int
	Wait  bool
}

func childMain(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	var mu sync.Mutex
	count := 0
	at := func(point string) error {
		mu.Lock()
		defer mu.Unlock()
		if point != o.Point {
			return nil
		}
		if count++; count != o.Nth {
			return nil
		}
		if o.Wait {
			fmt.Println("waiting")
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	res, err := runIn(o.Dir, pipelines.RunOptions{Trigger: o.Trigger, FullRefresh: o.FullRefresh, Cascade: true, Lanes: o.Lanes, BatchRows: o.Rows, SpillEagerly: o.Spill, Beside: o.Beside, At: at})
	if err == nil {
		err = failures(res)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// child runs the order in another process and reports whether it was killed.
func child(t *testing.T, o order) (killed bool) {
	t.Helper()
	return childUntil(context.Background(), t, o)
}

// childUntil kills the child when ctx ends.
func childUntil(ctx context.Context, t *testing.T, o order) (killed bool) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	t.Fatalf("child %s: %v\n%s", text, err, out)
	return false
}

// folder makes a folder in memory where there is such a place: tests of
// crashes of the process need no disk.
func folder(t testing.TB) string {
	t.Helper()
	root := "/dev/shm"
	if st, err := os.Stat(root); err != nil || !st.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(root, "pipelines-simtest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

var mtimes struct {
	sync.Mutex
	n int64
}

// put writes a file whose time is later than that of every file before.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp~") // no source takes it
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	mtimes.Lock()
	mtimes.n++
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(mtimes.n) * time.Second)
	mtimes.Unlock()
	if err := errors.Join(os.Chtimes(tmp, at, at), os.Rename(tmp, path)); err != nil {
		t.Fatal(err)
	}
}

// runIn loads and runs the project in dir.
func runIn(dir string, o pipelines.RunOptions) (*pipelines.Result, error) {
	return runStop(context.Background(), context.Background(), dir, o)
}

func runStop(ctx, stop context.Context, dir string, o pipelines.RunOptions) (*pipelines.Result, error) {
	p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: dir})
	if err != nil {
		return nil, err
	}
	if list.HasErrors() {
		return nil, fmt.Errorf("findings:\n%s", list.Render())
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if os.Getenv("PIPELINES_BESIDE") == "0" {
		o.Beside = 0
	} else if os.Getenv("PIPELINES_BESIDE") != "" { // every epoch with state is committed beside the next
		o.Beside = 1
	}
	if at := o.At; at != nil { // flows run side by side; a test counts points without a lock
		var mu sync.Mutex
		o.At = func(point string) error {
			mu.Lock()
			defer mu.Unlock()
			return at(point)
		}
	}
	res, list, err := p.Run(ctx, stop, o)
	if err == nil && list.HasErrors() {
		err = fmt.Errorf("findings:\n%s", list.Render())
	}
	return res, err
}

// failures are the errors of the flows.
func failures(res *pipelines.Result) error {
	var out []error
	for _, f := range res.Flows {
		if f.State == event.Failed {
			out = append(out, fmt.Errorf("flow %s of %s: %w", f.Flow, f.Dataset, f.Err))
		}
	}
	return errors.Join(out...)
}

// run runs the project and wants it to be good.
func run(t testing.TB, dir string, o pipelines.RunOptions) *pipelines.Result {
	t.Helper()
	res, err := runIn(dir, o)
	if err == nil {
		err = failures(res)
	}
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// fails runs the project and wants a failure whose text holds all the words.
func fails(t testing.TB, dir string, o pipelines.RunOptions, words ...string) *pipelines.Result {
	t.Helper()
	res, err := runIn(dir, o)
	if err == nil {
		err = failures(res)
	}
	if err == nil {
		t.Fatal("it ran")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
	return res
}

func openTable(t testing.TB, dir, name string) *tables.Table {
	t.Helper()
	store, err := builtin.ViewStore(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	n := catalog.Name{Catalog: "main", Database: "default", Table: name}
	tb, err := tables.Open(context.Background(), tables.Options{Store: store, Folder: n.DataFolder()})
	if err != nil {
		t.Fatal(err)
	}
	return tb
}

// rows reads a table: each row as the JSON texts of its columns, sorted.
func rows(t testing.TB, dir, name string) []string {
	t.Helper()
	ctx := context.Background()
	tb := openTable(t, dir, name)
	snap, err := tb.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := builtin.TableWhole(tb, snap)
	splits, _, err := w.Whole(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pool := column.NewPool()
	spec := connector.ScanSpec{Columns: snap.Schema(), Location: time.UTC, Pool: pool}
	for i := range spec.Columns.Fields {
		spec.Fields = append(spec.Fields, i)
	}
	var out []string
	for _, s := range splits {
		r, err := w.Open(ctx, s, spec)
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, texts(b)...)
			b.Release()
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

func texts(b *column.Batch) []string {
	var out []string
	var line []byte
	for k := range b.Rows() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		line = line[:0]
		for c, v := range b.Cols {
			if c > 0 {
				line = append(line, ' ')
			}
			line = display.AppendJSON(line, v, i)
		}
		out = append(out, string(line))
	}
	return out
}

// consoleRows reads a console sink's file: rows by epoch, each epoch once; a
// repeated epoch must be equal to its first time.
func consoleRows(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	epochs := map[int64]map[string]int{}
	for line := range bytes.Lines(text) {
		var l struct {
			Epoch int64
			Row   json.RawMessage
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Errorf("line %q: %v", line, err)
			continue
		}
		if epochs[l.Epoch] == nil {
			epochs[l.Epoch] = map[string]int{}
		}
		epochs[l.Epoch][string(l.Row)]++
	}
	var out []string
	for e, lines := range epochs {
		times := 0
		for row, n := range lines {
			if times == 0 {
				times = n
			}
			if n != times { // rows are distinct inside an epoch
				t.Errorf("epoch %d: row %s is there %d times, another %d times", e, row, n, times)
			}
			out = append(out, row)
		}
	}
	slices.Sort(out)
	return out
}

// compare reports lost, doubled, invented rows.
func compare(t testing.TB, what string, got, want []string) {
	t.Helper()
	count := map[string]int{}
	for _, r := range want {
		count[r]--
	}
	for _, r := range got {
		count[r]++
	}
	bad := 0
	for _, r := range slices.Sorted(maps.Keys(count)) {
		if n := count[r]; n != 0 {
			if bad++; bad <= 5 {
				t.Errorf("%s: row %s: %+d", what, r, n)
			}
		}
	}
	if bad > 5 {
		t.Errorf("%s: and %d rows more", what, bad-5)
	}
}

func countLines(t testing.TB, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte{'\n'})
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
