package files_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/connectortest"
	"pipelines/runtime/connector/files"
	"pipelines/runtime/stream"
	"pipelines/spec/option"
	"pipelines/stores"
	"pipelines/stores/local"
	"pipelines/tables/format/text"
	"pipelines/tables/schema"
)

var line = schema.Schema{Fields: []schema.Field{{Name: "value", Type: schema.Of(schema.String), Nullable: true}}}

// folder is a folder of text files; each file holds its own name as one line.
type folder struct {
	t     testing.TB
	dir   string
	clock int
}

func newFolder(t testing.TB) *folder { return &folder{t: t, dir: t.TempDir()} }

// put writes a file whose time is a second later than that of the one before.
func (f *folder) put(name string) string {
	f.t.Helper()
	f.clock++
	return f.putAt(name, time.Date(2026, 1, 1, 0, 0, f.clock, 0, time.UTC))
}

func (f *folder) putAt(name string, at time.Time) string {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(name+"\n"), 0o600)
	}
	if err := errors.Join(err, os.Chtimes(path, at, at)); err != nil {
		f.t.Fatal(err)
	}
	return `"` + name + `"`
}

func (f *folder) options(change func(o *files.Options)) files.Options {
	store, err := local.Open(f.dir, local.Options{ReadOnly: true})
	if err != nil {
		f.t.Fatal(err)
	}
	o := files.Options{Store: store, Root: f.dir, Format: text.New(), Data: line, MaxFileAge: 7 * 24 * time.Hour}
	if change != nil {
		change(&o)
	}
	return o
}

func spec() connector.ScanSpec {
	return connector.ScanSpec{Columns: line, Fields: []int{0}, Location: time.UTC}
}

func TestContract(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(o *files.Options)
		epochs int
	}{
		{"all at once", nil, 1},
		{"maxFilesPerTrigger 1", func(o *files.Options) { o.MaxFiles = 1 }, 5},
		{"maxFilesPerTrigger 2", func(o *files.Options) { o.MaxFiles = 2 }, 3},
		{"maxBytesPerTrigger", func(o *files.Options) { o.MaxBytes = 6 }, 2}, // the files have 2, 2, 6, 2 and 4 bytes
		{"latestFirst", func(o *files.Options) { o.MaxFiles, o.LatestFirst = 2, true }, 3},
		{"recursive", func(o *files.Options) { o.Recursive = true; o.MaxFiles = 3 }, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			want := []string{f.put("b"), f.put("a"), f.put("d=1/c"), f.put("e"), f.put("x.y")}
			connectortest.Source(t, connectortest.SourceCase{
				Open: func(*testing.T) connector.Source { return files.New(f.options(c.change)) },
				Spec: spec(), Rows: want, Epochs: c.epochs,
				Add: func(*testing.T) []string { return []string{f.put("A"), f.put("d=2/z")} },
			})
		})
	}
}

// follow runs epochs as a flow would; the ledger stays.
type follow struct {
	f      *folder
	change func(o *files.Options)
	ledger map[string][]byte
	at     string
	notes  []string
	epochs [][]string
}

func (f *folder) follow(change func(o *files.Options)) *follow {
	return &follow{f: f, change: change, ledger: map[string][]byte{}}
}

func (w *follow) source() *files.Source {
	w.f.t.Helper()
	s := files.New(w.f.options(w.change))
	err := s.Start(context.Background(), "", func(fn func(k, v []byte) error) error {
		for k, v := range w.ledger {
			if err := fn([]byte(k), v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.f.t.Fatal(err)
	}
	return s
}

// run takes what is there and returns the rows in order.
func (w *follow) run() (out []string) {
	w.f.t.Helper()
	ctx := context.Background()
	s := w.source()
	if err := s.Pin(ctx); err != nil {
		w.f.t.Fatal(err)
	}
	w.notes, w.epochs = nil, nil
	for {
		from := stream.Offset(w.at)
		p, err := s.Plan(ctx, from, connector.PlanOptions{Pinned: true})
		if err != nil {
			w.f.t.Fatal(err)
		}
		w.notes = append(w.notes, p.Notes...)
		if p.Splits == 0 {
			return out
		}
		for _, e := range p.Entries {
			w.ledger[string(e.Key)] = slices.Clone(e.Value)
		}
		splits, err := s.Splits(ctx, from, p.To)
		if err != nil {
			w.f.t.Fatal(err)
		}
		var rows []string
		for _, sp := range splits {
			got, err := connectortest.ReadSplit(s, sp, spec())
			if err != nil {
				w.f.t.Fatal(err)
			}
			rows = append(rows, got...)
		}
		w.epochs = append(w.epochs, rows)
		out = append(out, rows...)
		w.at = string(p.To)
	}
}

func (w *follow) want(rows ...string) {
	w.f.t.Helper()
	if got := w.run(); !slices.Equal(got, rows) {
		w.f.t.Errorf("got %q, want %q", got, rows)
	}
}

func (w *follow) said(words ...string) {
	w.f.t.Helper()
	all := strings.Join(w.notes, "\n")
	if len(words) != len(w.notes) {
		w.f.t.Errorf("notes: %q", all)
	}
	for _, x := range words {
		if !strings.Contains(all, x) {
			w.f.t.Errorf("%q is not in %q", x, all)
		}
	}
}

func TestOrder(t *testing.T) { // F-02
	f := newFolder(t)
	w := f.follow(nil)
	c, a := f.put("c"), f.put("a")
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	z, y := f.putAt("z", at), f.putAt("y", at)
	w.want(c, a, y, z)
	w.want()
	l := f.follow(func(o *files.Options) { o.LatestFirst, o.MaxFiles = true, 2 })
	l.want(y, z, a, c)
}

func TestHiddenAndOdd(t *testing.T) {
	f := newFolder(t)
	a := f.put("a")
	for _, n := range []string{"_x", ".x", "x._COPYING_", "_sub/x", ".sub/x", "sub/x"} {
		f.put(n)
	}
	p := f.put("_k=1/x")
	if err := errors.Join(os.Symlink("nowhere", filepath.Join(f.dir, "dangling")), syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	f.follow(nil).want(a, p)
	r := f.follow(func(o *files.Options) { o.Recursive = true })
	r.want(a, `"sub/x"`, p)
}

func TestGlobs(t *testing.T) {
	f := newFolder(t)
	a, b, c := f.put("a.json"), f.put("b.csv"), f.put("2026/c.json")
	d := f.put("2026/k=1/d.json")
	f.follow(func(o *files.Options) { o.NameGlob = "*.json" }).want(a)
	f.follow(func(o *files.Options) { o.NameGlob, o.Recursive = "*.{json,csv}", true }).want(a, b, c, d)
	f.follow(func(o *files.Options) { o.Pattern = "[ab].*" }).want(a, b)
	f.follow(func(o *files.Options) { o.Pattern = "20*" }).want(c, d)
	f.follow(func(o *files.Options) { o.Pattern = "20??/*.json" }).want(c)
	f.follow(func(o *files.Options) { o.Pattern = "[!a]*.csv" }).want(b)
}

func (f *folder) remove(names ...string) {
	f.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
			f.t.Fatal(err)
		}
	}
}

func TestMaxFileAge(t *testing.T) {
	f := newFolder(t)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	w := f.follow(nil)
	w.want(f.putAt("first", day(1)), f.putAt("late", day(30))) // the first epoch takes everything
	f.putAt("old", day(22))
	young := f.putAt("young", day(24))
	w.want(young)
	w.said("1 file in")
	w.want(f.putAt("future", time.Now().AddDate(50, 0, 0)))
	w.want(f.putAt("after", day(25))) // a time ahead of the clock leaves out nothing
	f.putAt("old too", day(21))
	w.want()
	f.remove("future", "after", "old too")
	n := f.follow(func(o *files.Options) { o.LatestFirst, o.MaxFiles = true, 10 })
	n.want(`"late"`, `"young"`, `"old"`, `"first"`)
	older := f.putAt("older", day(2))
	n.want(older) // ignored with latestFirst and a limit
}

func TestNameOnly(t *testing.T) {
	f := newFolder(t)
	w := f.follow(func(o *files.Options) { o.NameOnly, o.Recursive = true, true })
	first := f.put("a/x")
	f.put("b/x") // the same file by its name
	w.want(first)
	f.put("c/x")
	y := f.put("c/y")
	w.want(y)
	s := w.source() // replayed by another process
	splits, err := s.Splits(t.Context(), "", `{"log":1}`)
	if err != nil || len(splits) != 2 || !strings.HasSuffix(splits[0].Name, "/a/x") || !strings.HasSuffix(splits[1].Name, "/c/y") {
		t.Errorf("%v %v", splits, err)
	}
}

func TestChanged(t *testing.T) { // F-03
	f := newFolder(t)
	w := f.follow(nil)
	a, b := f.put("a"), f.put("b")
	w.want(a, b)
	w.said()
	if err := os.WriteFile(filepath.Join(f.dir, "a"), []byte("a\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.put("tmp")
	if err := os.Rename(filepath.Join(f.dir, "tmp"), filepath.Join(f.dir, "b")); err != nil {
		t.Fatal(err)
	}
	w.want()
	w.said("/a changed after it was read", "/b changed after it was read")
}

func TestSoftBytes(t *testing.T) {
	f := newFolder(t)
	w := f.follow(func(o *files.Options) { o.MaxBytes = 1 })
	w.want(f.put("long-name"), f.put("b"))
	if len(w.epochs) != 2 {
		t.Errorf("%q", w.epochs)
	}
}

func TestPartitions(t *testing.T) {
	f := newFolder(t)
	f.put("day=2026-01-02/k=a%20b/x")
	f.put("day=2026-01-03/k=__HIVE_DEFAULT_PARTITION__/y")
	parts := []schema.Field{{Name: "day", Type: schema.Of(schema.Date), Nullable: true}, {Name: "k", Type: schema.Of(schema.String), Nullable: true}}
	s := files.New(f.options(func(o *files.Options) { o.Partition = parts }))
	splits, _, err := s.Whole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	meta := schema.Field{Name: "file_name", Type: schema.Of(schema.String)}
	sp := connector.ScanSpec{
		Columns: schema.Schema{Fields: []schema.Field{parts[1], line.Fields[0], parts[0], meta}}, Fields: []int{2, 0, 1, -1},
		Metadata: map[int]string{3: "file_name"}, Location: time.UTC,
	}
	var got []string
	for _, x := range splits {
		rows, err := connectortest.ReadSplit(s, x, sp)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rows...)
	}
	want := []string{`"a b" "day=2026-01-02/k=a%20b/x" "2026-01-02" "x"`, `null "day=2026-01-03/k=__HIVE_DEFAULT_PARTITION__/y" "2026-01-03" "y"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	f.put("day=tomorrow/k=c/z")
	splits, _, err = s.Whole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = connectortest.ReadSplit(s, splits[2], sp)
	if err == nil || !strings.Contains(err.Error(), "day=tomorrow") {
		t.Errorf("%v", err)
	}
}

// TestPartitionsAppear: folders are found where there are any, and a folder of
// files alone has none.
func TestPartitionsAppear(t *testing.T) {
	columns := func(f *folder) string {
		t.Helper()
		fac := files.Factory(text.New(), func(root string) (stores.Reader, error) { return local.Open(root, local.Options{ReadOnly: true}) })
		vals, list := option.NewSet("text", fac.Fields...).Decode(nil, option.Context{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		o, err := fac.Open(t.Context(), connector.SourceConfig{Path: f.dir, Schema: &line, Options: vals, Texts: map[string]string{}, Location: time.UTC})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(o.Schema.Names(), " ")
	}
	f := newFolder(t)
	if got := columns(f); got != "value" {
		t.Errorf("empty: %s", got)
	}
	f.put("a")
	if got := columns(f); got != "value" {
		t.Errorf("files: %s", got)
	}
	f.put("day=1/b")
	if got := columns(f); got != "value day" {
		t.Errorf("folders: %s", got)
	}
}

// TestLatePartition: a partition folder that comes later is said.
func TestLatePartition(t *testing.T) {
	f := newFolder(t)
	w := f.follow(nil)
	w.want(f.put("a"))
	w.said()
	b := f.put("day=2/b")
	w.want(b)
	w.said("day=2/b is in a partition folder")
}

// counted counts the looks at single files.
type counted struct {
	stores.Reader
	stats int
}

func (c *counted) Stat(ctx context.Context, key string) (stores.ObjectInfo, error) {
	c.stats++
	return c.Reader.Stat(ctx, key)
}

func many(t testing.TB, n int) (f *folder, ledger map[string][]byte) {
	f = newFolder(t)
	for i := range n {
		path := filepath.Join(f.dir, fmt.Sprintf("events-%08d.json", i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := f.follow(nil)
	s := w.source()
	if err := s.Pin(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(t.Context(), "", connector.PlanOptions{Pinned: true})
	if err != nil || p.Splits != n {
		t.Fatal(p.Splits, err)
	}
	for _, e := range p.Entries {
		w.ledger[string(e.Key)] = e.Value
	}
	return f, w.ledger
}

// TestIdleLooks: a known name costs no stat once there are many.
func TestIdleLooks(t *testing.T) {
	f, ledger := many(t, 1500)
	f.putAt("new", time.Now())
	c := &counted{}
	w := f.follow(func(o *files.Options) {
		c.Reader = o.Store
		o.Store = c
	})
	w.ledger, w.at = ledger, `{"log":0}`
	w.want(`"new"`)
	if c.stats != 1 {
		t.Errorf("%d stats", c.stats)
	}
}

// BenchmarkIdle100000 is a trigger that finds nothing new among 10⁵ known
// files, with the load of the ledger at the start of a run.
func BenchmarkIdle100000(b *testing.B) {
	f, ledger := many(b, 100000)
	w := f.follow(nil)
	w.ledger = ledger
	s := w.source()
	keys := slices.Sorted(maps.Keys(ledger))
	values := make([][]byte, len(keys))
	for i, k := range keys {
		values[i] = ledger[k]
	}
	// A folder that has been quiet for an hour, and one that changes all the
	// time, or is seen for the first time in a run: then a trigger lists it.
	for _, c := range []struct {
		name string
		age  time.Duration
	}{{"quiet", time.Hour}, {"list", -time.Hour}} {
		changed := time.Now().Add(-c.age)
		if err := os.Chtimes(f.dir, changed, changed); err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			cpu := cpuTime(b)
			for b.Loop() {
				if p, err := s.Plan(b.Context(), `{"log":0}`, connector.PlanOptions{}); err != nil || p.Splits != 0 {
					b.Fatal(p, err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
	b.Run("start", func(b *testing.B) {
		cpu := cpuTime(b)
		for b.Loop() {
			s := files.New(w.f.options(nil))
			err := s.Start(b.Context(), "", func(fn func(k, v []byte) error) error {
				for i, k := range keys {
					if err := fn([]byte(k), values[i]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
	})
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestQuietFolder: a folder that did not change is not listed again, and one
// that did is.
func TestQuietFolder(t *testing.T) {
	f, ledger := many(t, 3)
	w := f.follow(nil)
	w.ledger = ledger
	s := w.source()
	if err := s.Start(t.Context(), `{"log":0}`, func(fn func(k, v []byte) error) error {
		for k, v := range ledger {
			if err := fn([]byte(k), v); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	plan := func(want int) {
		t.Helper()
		p, err := s.Plan(t.Context(), `{"log":0}`, connector.PlanOptions{})
		if err != nil || p.Splits != want {
			t.Fatalf("%d splits, want %d: %v", p.Splits, want, err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(f.dir, old, old); err != nil {
		t.Fatal(err)
	}
	plan(0)
	plan(0)
	f.putAt("new", time.Now())
	plan(1)
	plan(0)
	if err := os.Mkdir(filepath.Join(f.dir, "k=1"), 0o755); err != nil {
		t.Fatal(err)
	}
	plan(0)
	f.putAt("newer", time.Now())
	plan(1)
}

// TestNameNotText: a file whose name is no UTF-8 is left out of a stream with one
// note, and is an error of a whole read; once renamed it is read.
func TestNameNotText(t *testing.T) {
	f := newFolder(t)
	f.put("a")
	odd := filepath.Join(f.dir, "b\xff\xc3")
	if err := os.WriteFile(odd, []byte("b\n"), 0o644); err != nil {
		t.Skip("this file system takes only text: ", err)
	}
	w := f.follow(nil)
	if got := w.run(); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if len(w.notes) != 1 || !strings.Contains(w.notes[0], `"b\xff\xc3"`) || !strings.Contains(w.notes[0], "not UTF-8") {
		t.Errorf("notes %q", w.notes)
	}
	if _, _, err := w.source().Whole(t.Context()); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Error(err)
	}
	if err := os.Rename(odd, filepath.Join(f.dir, "b")); err != nil {
		t.Fatal(err)
	}
	if got := w.run(); len(got) != 1 || len(w.notes) != 0 {
		t.Errorf("got %v, notes %q", got, w.notes)
	}
}
