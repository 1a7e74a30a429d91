package connectortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
	"pipelines/tables/codec/display"
	"pipelines/tables/column"
)

// SourceCase is a source to be tested.
type SourceCase struct {
	// Open returns a new instance over the same data, as a restart does.
	Open func(t *testing.T) connector.Source
	// Spec says what is read; its Pool is set by the suite.
	Spec connector.ScanSpec
	// Rows is what there is to read at first, in any order, each row as the
	// JSON texts of its columns with a blank between.
	Rows []string
	// Add makes more rows and returns them; nil where nothing can be added.
	Add func(t *testing.T) []string
	// Epochs is how many epochs the limits make of Rows; 0: not checked.
	Epochs int
}

// epoch is one planned range with its rows.
type epoch struct {
	from, to stream.Offset
	splits   []string
	rows     []string
}

// ledger is what a checkpoint would hold for the source.
type ledger map[string][]byte

func (l ledger) read(fn func(key, value []byte) error) error {
	for _, k := range sortedKeys(l) {
		if err := fn([]byte(k), l[k]); err != nil {
			return err
		}
	}
	return nil
}

func (l ledger) clone() ledger {
	out := ledger{}
	for k, v := range l {
		out[k] = v
	}
	return out
}

func sortedKeys(l ledger) []string {
	var out []string
	for k := range l {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// run is a source with what was recorded of it.
type run struct {
	t      *testing.T
	c      SourceCase
	src    connector.Source
	at     stream.Offset
	ledger ledger
}

func start(t *testing.T, c SourceCase, at stream.Offset, l ledger) *run {
	t.Helper()
	r := &run{t: t, c: c, src: c.Open(t), at: at, ledger: l.clone()}
	if err := r.src.Start(context.Background(), at, r.ledger.read); err != nil {
		t.Fatalf("start at %q: %v", at, err)
	}
	return r
}

// next plans and reads one epoch, nil when there is nothing new.
func (r *run) next(opts connector.PlanOptions) *epoch {
	r.t.Helper()
	p, err := r.src.Plan(context.Background(), r.at, opts)
	if err != nil {
		r.t.Fatalf("plan after %q: %v", r.at, err)
	}
	if p.Splits == 0 {
		return nil
	}
	for _, e := range p.Entries {
		if e.Value == nil {
			delete(r.ledger, string(e.Key))
		} else {
			r.ledger[string(e.Key)] = slices.Clone(e.Value)
		}
	}
	out := &epoch{from: r.at, to: p.To}
	out.splits, out.rows = r.read(r.at, p.To, r.c.Spec)
	r.at = p.To
	return out
}

func (r *run) rest(opts connector.PlanOptions) []*epoch {
	r.t.Helper()
	var out []*epoch
	for range 10000 {
		e := r.next(opts)
		if e == nil {
			return out
		}
		out = append(out, e)
	}
	r.t.Fatal("there is no end of epochs")
	return nil
}

func (r *run) pin() {
	r.t.Helper()
	if err := r.src.Pin(context.Background()); err != nil {
		r.t.Fatalf("pin: %v", err)
	}
}

// read reads a range, split by split.
func (r *run) read(from, to stream.Offset, spec connector.ScanSpec) (names, rows []string) {
	r.t.Helper()
	splits, err := r.src.Splits(context.Background(), from, to)
	if err != nil {
		r.t.Fatalf("splits of (%q, %q]: %v", from, to, err)
	}
	for _, s := range splits {
		names = append(names, s.Name)
		got, err := ReadSplit(r.src, s, spec)
		if err != nil {
			r.t.Fatalf("read %s: %v", s.Name, err)
		}
		rows = append(rows, got...)
	}
	return names, rows
}

// ReadSplit reads a split to its end, each row as the JSON texts of its
// columns with a blank between, and checks that every batch is given back.
func ReadSplit(o connector.Opener, s connector.Split, spec connector.ScanSpec) (rows []string, err error) {
	if spec.Pool == nil {
		spec.Pool = column.NewPool()
	}
	rd, err := o.Open(context.Background(), s, spec)
	if err != nil {
		return nil, err
	}
	for {
		b, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, rd.Close())
		}
		if spec.BatchRows > 0 && b.Len > spec.BatchRows {
			return nil, fmt.Errorf("a batch of %d rows, at most %d wanted", b.Len, spec.BatchRows)
		}
		rows = append(rows, Texts(b)...)
		b.Release()
	}
	if err := rd.Close(); err != nil {
		return nil, err
	}
	if v, b := spec.Pool.Live(); v != 0 || b != 0 {
		return nil, fmt.Errorf("%d vectors and %d batches are not given back", v, b)
	}
	return rows, nil
}

// Texts writes a batch's selected rows.
func Texts(b *column.Batch) []string {
	var out []string
	for k := range b.Rows() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		var line []byte
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

func sorted(rows []string) []string {
	out := slices.Clone(rows)
	slices.Sort(out)
	return out
}

func rowsOf(es []*epoch) (out []string) {
	for _, e := range es {
		out = append(out, e.rows...)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

var pinned = connector.PlanOptions{Pinned: true}

// Source runs the contract.
func Source(t *testing.T, c SourceCase) {
	first := start(t, c, "", nil)
	first.pin()
	all := first.rest(pinned)
	same(t, "all rows", sorted(rowsOf(all)), sorted(c.Rows))
	if c.Epochs > 0 && len(all) != c.Epochs {
		t.Errorf("%d epochs, want %d", len(all), c.Epochs)
	}
	replay(t, c, first, all)
	restarts(t, c, all)
	shapes(t, c, first, all)
	arrivals(t, c, first)
}

// replay reads every range again, here and in a new instance.
func replay(t *testing.T, c SourceCase, first *run, all []*epoch) {
	for _, r := range []*run{first, start(t, c, first.at, first.ledger)} {
		for i, e := range all {
			names, rows := r.read(e.from, e.to, c.Spec)
			same(t, fmt.Sprintf("splits of epoch %d again", i), names, e.splits)
			same(t, fmt.Sprintf("rows of epoch %d again", i), rows, e.rows)
		}
	}
}

// restarts goes on in a new instance after each epoch.
func restarts(t *testing.T, c SourceCase, all []*epoch) {
	for k := range len(all) + 1 {
		a := start(t, c, "", nil)
		a.pin()
		for range k {
			if a.next(pinned) == nil {
				t.Fatalf("epoch %d is gone", k)
			}
		}
		b := start(t, c, a.at, a.ledger)
		b.pin()
		rest := b.rest(pinned)
		same(t, fmt.Sprintf("after a restart behind epoch %d", k), sorted(rowsOf(rest)), sorted(rowsOf(all[k:])))
	}
	once := start(t, c, "", nil)
	once.pin()
	es := once.rest(connector.PlanOptions{Pinned: true, Unlimited: true})
	if len(es) > 1 {
		t.Errorf("without limits there are %d epochs", len(es))
	}
	same(t, "without limits", sorted(rowsOf(es)), sorted(c.Rows))
}

// shapes changes batch sizes, columns and concurrency.
func shapes(t *testing.T, c SourceCase, r *run, all []*epoch) {
	for i, e := range all {
		for _, n := range []int{1, 3, 4096} {
			spec := c.Spec
			spec.BatchRows = n
			_, rows := r.read(e.from, e.to, spec)
			same(t, fmt.Sprintf("epoch %d in batches of %d", i, n), rows, e.rows)
		}
		spec := c.Spec
		spec.Fields, spec.Columns.Fields = c.Spec.Fields[:1], c.Spec.Columns.Fields[:1]
		_, rows := r.read(e.from, e.to, spec)
		if len(rows) != len(e.rows) {
			t.Errorf("epoch %d has %d rows, its first column %d", i, len(e.rows), len(rows))
		}
		splits, err := r.src.Splits(context.Background(), e.from, e.to)
		if err != nil {
			t.Fatal(err)
		}
		parts := make([][]string, len(splits))
		errs := make([]error, len(splits))
		var wg sync.WaitGroup
		for n, s := range splits {
			wg.Go(func() { parts[n], errs[n] = ReadSplit(r.src, s, c.Spec) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("epoch %d, all splits at once", i), slices.Concat(parts...), e.rows)
	}
}

// arrivals adds rows behind a pin.
func arrivals(t *testing.T, c SourceCase, r *run) {
	if c.Add == nil {
		return
	}
	added := c.Add(t)
	if e := r.next(pinned); e != nil {
		t.Errorf("rows that came after the pin: %q", e.rows)
	}
	other := start(t, c, r.at, r.ledger)
	for _, x := range []*run{r, other} {
		x.pin()
		same(t, "what was added", sorted(rowsOf(x.rest(pinned))), sorted(added))
		if e := x.next(connector.PlanOptions{}); e != nil {
			t.Errorf("nothing was added, and there is %q", e.rows)
		}
	}
}
