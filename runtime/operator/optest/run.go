package optest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"sync"
	"testing"

	"pipelines/runtime/budget"
	"pipelines/runtime/operator"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Row is one row of values as column.At gives them.
type Row = []any

// Input has the rows of one scan, by relation id.
type Input map[string][]Row

// Options says how a plan is run.
type Options struct {
	// Session is what functions know; nil means Session().
	Session *funcs.Session
	// Lanes and BatchSize: 0 means 1 and column.BatchRows.
	Lanes, BatchSize int
	// LaneCounts are the numbers of lanes of one plan after the other (Resume);
	// when they are given Lanes does not count.
	LaneCounts []int
	// Noise adds unselected rows of other values to each batch.
	Noise bool
	// Concurrent pushes the lanes, and ends steps, from goroutines of their own.
	Concurrent bool
	// Dictionary and Constant turn columns into those forms where they can.
	Dictionary, Constant bool
	Seed                 uint64
	// Reuse keeps static inputs that a step does not give.
	Reuse bool
	// Memory is the size of Env.Budget; 0: no bound. Spill lets operators spill.
	Memory int64
	Spill  bool
	// Sizes are Env.Size by relation id; others are unknown.
	Sizes map[string]int64
	// Resume closes the plan after every step and goes on with a new one from
	// its state: changelogs, or snapshots when Snapshots is set.
	Resume, Snapshots bool
	// Bulk restores many entries at once, as a flow does.
	Bulk bool
}

// Columns makes attributes with fresh ids from first on; kinds alternate name
// and type.
func Columns(first logical.ColumnID, fields ...schema.Field) []logical.Attr {
	out := make([]logical.Attr, len(fields))
	for i, f := range fields {
		out[i] = logical.Attr{ID: first + logical.ColumnID(i), Name: f.Name, Type: f.Type, Nullable: true, Watermark: -1}
	}
	return out
}

// Field is a column's name and type.
func Field(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

// Scan reads the relation with the id.
func Scan(id string, streaming bool, cols []logical.Attr) *logical.Scan {
	return &logical.Scan{Relation: &logical.Relation{ID: id, Name: []string{id}, Streaming: streaming, Schema: logical.SchemaOf(cols)}, Columns: cols}
}

// Session is the session of all tests: ANSI, UTC.
func Session() *funcs.Session { return &funcs.Session{ANSI: true} }

// Query runs a bounded plan. As the static side of a stream runs once an epoch,
// the plan runs again: over a part of the rows, then over all, which must give
// the same rows.
func Query(t testing.TB, root logical.Node, o Options, in Input) ([]Row, error) {
	t.Helper()
	r := NewRunner(t, root, o)
	defer r.Close()
	out, err := r.Step(stream.Step{Bounded: true}, in)
	if err == nil && !o.Resume {
		r.again(in, out)
	}
	return out, err
}

// again demands that a bounded plan gives the rows of its first step once more.
func (r *Runner) again(in Input, want []Row) {
	r.t.Helper()
	part, n := Input{}, 0
	for id, rows := range in {
		n += len(rows)
		rows = slices.Clone(rows)
		slices.Reverse(rows)
		part[id] = rows[:len(rows)/2]
	}
	if n > 2000 { // it takes too long
		return
	}
	if _, err := r.Step(stream.Step{Bounded: true}, part); err != nil {
		return // the rows left out were needed
	}
	got, err := r.Step(stream.Step{Bounded: true}, in)
	if err != nil {
		r.t.Fatalf("%+v: the plan fails in a later step: %v", r.o, err)
	}
	if d := Diff(got, want, false); d != "" {
		r.t.Fatalf("%+v: a later step gives others: %s", r.o, d)
	}
}

// Runner drives one plan over several steps.
type Runner struct {
	t    testing.TB
	root logical.Node
	o    Options
	pool *column.Pool
	plan *operator.Plan
	temp string
	mu   sync.Mutex // guards out
	out  []Row
	rng  *rand.Rand
	// log is what a checkpoint would hold: entries by operator.
	log   map[string][]entry
	built int
	kept  map[int]bool // scans that are not read in this step
	// Largest is the number of rows of the largest batch that came out of the
	// last step.
	Largest int
	// Times are the event times of the last step.
	Times map[string]int64
	// Counts are those of the last step.
	Counts []operator.OperatorCount
}

// NewRunner builds the plan.
func NewRunner(t testing.TB, root logical.Node, o Options) *Runner {
	t.Helper()
	o.Lanes, o.BatchSize = max(o.Lanes, 1), max(o.BatchSize, 0)
	if o.BatchSize == 0 {
		o.BatchSize = column.BatchRows
	}
	r := &Runner{t: t, root: root, o: o, pool: column.NewPool(), rng: rand.New(rand.NewPCG(o.Seed, 1)), log: map[string][]entry{}}
	if o.Spill {
		r.temp = t.TempDir()
	}
	r.build()
	return r
}

func (r *Runner) build() {
	r.t.Helper()
	if n := len(r.o.LaneCounts); n > 0 {
		r.o.Lanes = r.o.LaneCounts[r.built%n]
	}
	r.built++
	env := operator.Env{
		Pool: r.pool, Session: cmp.Or(r.o.Session, Session()), Lanes: r.o.Lanes, Output: r.collect, Check: true,
		Budget: budget.New(r.o.Memory, 1), TempDir: r.temp, Size: r.size,
	}
	if r.o.Concurrent {
		env.Parallel = sideBySide
	}
	plan, err := operator.Build(r.root, env)
	if err != nil {
		r.t.Fatalf("build: %v", err)
	}
	r.plan = plan
	for _, s := range plan.State() {
		r.compact(s.ID())
		if r.o.Bulk {
			r.restoreAll(s)
			continue
		}
		for _, e := range r.log[s.ID()] {
			if err := s.Restore(e.key, e.value); err != nil {
				r.t.Fatalf("restore: %v", err)
			}
		}
	}
}

// compact leaves the newest entry of each key that lives, in order of the keys.
func (r *Runner) compact(id string) {
	newest := map[string][]byte{}
	for _, e := range r.log[id] {
		newest[string(e.key)] = e.value
	}
	r.log[id] = nil
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		if newest[key] != nil {
			r.log[id] = append(r.log[id], entry{[]byte(key), newest[key]})
		}
	}
}

// restoreAll hands the entries that are left over together.
func (r *Runner) restoreAll(s operator.StateHandle) {
	var all operator.Entries
	last := -1
	flush := func() {
		if err := s.RestoreAll(&all); err != nil {
			r.t.Fatalf("restore: %v", err)
		}
		all.Reset()
	}
	for _, e := range r.log[s.ID()] {
		if int(e.key[0]) != last || all.Len() == 1000 {
			flush()
		}
		last = int(e.key[0])
		all.Add(e.key, e.value)
	}
	flush()
}

// sideBySide is Env.Parallel.
func sideBySide(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (r *Runner) size(id string) int64 {
	if n, ok := r.o.Sizes[id]; ok {
		return n
	}
	return -1
}

// Plan is the running plan.
func (r *Runner) Plan() *operator.Plan { return r.plan }

func (r *Runner) collect(_ int, b *column.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Largest = max(r.Largest, b.Rows())
	for i := range b.Len {
		if b.Sel != nil && !selected(b.Sel, i) {
			continue
		}
		row := make(Row, len(b.Cols))
		for c, v := range b.Cols {
			row[c] = column.At(v, i)
		}
		r.out = append(r.out, row)
	}
	return nil
}

func selected(sel []int32, i int) bool {
	k := sort.Search(len(sel), func(k int) bool { return int(sel[k]) >= i })
	return k < len(sel) && int(sel[k]) == i
}

// Step runs one step and returns its rows.
func (r *Runner) Step(s stream.Step, in Input) ([]Row, error) {
	r.out, r.Largest = nil, 0
	if err := r.run(s, in); err != nil {
		return nil, err
	}
	r.Times, r.Counts = r.plan.EventTimes(), r.plan.Counters().Operators
	r.save()
	if r.o.Resume {
		r.Close()
		r.build()
	}
	return r.out, nil
}

func (r *Runner) save() {
	for _, s := range r.plan.State() {
		put := func(key, value []byte) {
			r.log[s.ID()] = append(r.log[s.ID()], entry{bytes.Clone(key), bytes.Clone(value)})
		}
		if r.o.Snapshots {
			r.log[s.ID()] = nil
			s.Snapshot(put)
			continue
		}
		x := s.Expiry()
		if err := s.Changes(put); err != nil {
			r.t.Fatalf("changes: %v", err)
		}
		r.log[s.ID()] = slices.DeleteFunc(r.log[s.ID()], func(e entry) bool { return e.gone(x) })
	}
}

// gone says whether the entry has gone by itself.
func (e entry) gone(x operator.Expiry) bool {
	b := e.value
	if x.InKey {
		b = e.key
	}
	return x.At >= 0 && e.value != nil && len(b) >= x.At+8 && int64(binary.LittleEndian.Uint64(b[x.At:])) <= x.Passed
}

type entry struct{ key, value []byte }

func (r *Runner) run(s stream.Step, in Input) error {
	s.Wide = r.o.Lanes > 1
	r.kept = map[int]bool{}
	for i, sc := range r.plan.Scans() {
		_, given := in[sc.Scan.Relation.ID]
		r.kept[i] = r.o.Reuse && !given && !sc.Scan.Relation.Streaming && r.plan.Reuse(i)
	}
	if err := r.plan.Begin(s); err != nil {
		return err
	}
	scans := r.plan.Scans()
	last := 0
	for _, sc := range scans {
		last = max(last, sc.Phase)
	}
	for phase := 0; phase <= last; phase++ {
		for i, sc := range scans {
			if sc.Phase != phase || r.kept[i] {
				continue
			}
			if err := r.feed(i, sc.Scan, in[sc.Scan.Relation.ID]); err != nil {
				return err
			}
		}
	}
	return r.plan.EndStep()
}

func (r *Runner) feed(scan int, n *logical.Scan, rows []Row) error {
	lanes := make([][]*column.Batch, r.o.Lanes)
	for lane := 0; len(rows) > 0; lane = (lane + 1) % r.o.Lanes {
		k := min(r.o.BatchSize, len(rows))
		b := r.batch(n.Columns, rows[:k])
		rows = rows[k:]
		if r.o.Concurrent {
			lanes[lane] = append(lanes[lane], b)
			continue
		}
		err := r.plan.Push(lane, scan, b)
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := r.pushAll(scan, lanes); err != nil {
		return err
	}
	return r.plan.EndScan(scan)
}

// pushAll pushes each lane's batches from a goroutine of its own.
func (r *Runner) pushAll(scan int, lanes [][]*column.Batch) error {
	errs := make([]error, len(lanes))
	var wg sync.WaitGroup
	for lane, batches := range lanes {
		wg.Go(func() {
			for _, b := range batches {
				if errs[lane] == nil {
					errs[lane] = r.plan.Push(lane, scan, b)
				}
				b.Release()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// batch makes a batch in the forms that the options ask for.
func (r *Runner) batch(cols []logical.Attr, rows []Row) *column.Batch {
	b := r.pool.Batch()
	var all []Row
	var sel []int32
	for _, row := range rows {
		for r.o.Noise && r.rng.IntN(3) == 0 {
			all = append(all, rows[r.rng.IntN(len(rows))])
		}
		sel = append(sel, int32(len(all)))
		all = append(all, row)
	}
	for c, a := range cols {
		v := r.pool.Vector(a.Type)
		for _, row := range all {
			column.AppendValue(v, row[c])
		}
		b.Cols = append(b.Cols, r.form(v, all, c))
	}
	b.Len = len(all)
	if r.o.Noise {
		b.Sel = append(b.SelBuffer(), sel...)
	}
	return b
}

func (r *Runner) form(v *column.Vector, all []Row, c int) *column.Vector {
	if r.o.Constant && same(all, c) {
		k := r.pool.Vector(v.Type)
		column.AppendRow(k, v, 0)
		k.SetConst(v.Len)
		v.Release()
		return k
	}
	if !r.o.Dictionary || v.Len == 0 {
		return v
	}
	d := r.pool.Vector(v.Type)
	d.Len, d.Dict = v.Len, v
	for i := range v.Len {
		d.Index = append(d.Index, int32(i))
		if v.IsNull(i) {
			d.SetNull(i)
		}
	}
	return d
}

func same(all []Row, c int) bool {
	for _, row := range all {
		if fmt.Sprint(row[c]) != fmt.Sprint(all[0][c]) {
			return false
		}
	}
	return len(all) > 0
}

// Close closes the plan and fails the test when something leaks.
func (r *Runner) Close() {
	r.plan.Close()
	if r.temp != "" {
		if left, err := os.ReadDir(r.temp); err != nil || len(left) > 0 {
			r.t.Errorf("leak: %d spill files (%v)", len(left), err)
		}
	}
	if v, b := r.pool.Live(); v != 0 || b != 0 {
		r.t.Errorf("leak: %d vectors and %d batches are not released", v, b)
	}
}

// Text renders rows for comparison, sorted unless ordered.
func Text(rows []Row, ordered bool) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = fmt.Sprintf("%v", r)
	}
	if !ordered {
		sort.Strings(out)
	}
	return out
}
