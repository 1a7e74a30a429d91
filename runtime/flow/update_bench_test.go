//go:build unix

package flow

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/runtime/connector/generate"
	"pipelines/runtime/connector/noop"
	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// updates makes rows of a key and a text of 50 bytes: each key once, in an
// order that is none, then the same keys again with greater texts. An epoch
// begins a second after the one before at the earliest.
type updates struct {
	*generate.Source
	keys int64
	// moved is when the flow took a batch or gave one; longest is for how long at
	// most it did neither, within an epoch and from one to the next.
	mu      sync.Mutex
	moved   time.Time
	longest [2]time.Duration
	between bool      // the epoch's input has ended
	began   time.Time // the epoch
}

// move notes that rows moved.
func (u *updates) move() {
	at := &u.longest[0]
	if u.between {
		at = &u.longest[1]
	}
	if !u.moved.IsZero() {
		*at = max(*at, time.Since(u.moved))
	}
	u.moved = time.Now()
}

// movedSink drops rows and notes when they came.
type movedSink struct {
	noop.Sink
	of *updates
}

type movedEpoch struct {
	connector.Epoch
	of *updates
}

// Begin implements connector.Sink.
func (s movedSink) Begin(ctx context.Context, info connector.EpochInfo) (connector.Epoch, error) {
	e, err := s.Sink.Begin(ctx, info)
	return movedEpoch{e, s.of}, err
}

// Write implements connector.Epoch.
func (e movedEpoch) Write(lane int, b *column.Batch) error {
	e.of.mu.Lock()
	e.of.move()
	e.of.mu.Unlock()
	return e.Epoch.Write(lane, b)
}

// Open implements connector.Opener.
func (u *updates) Open(ctx context.Context, s connector.Split, spec connector.ScanSpec) (connector.Reader, error) {
	spec.Fields, spec.Columns.Fields = spec.Fields[:1], spec.Columns.Fields[:1] // the texts are ours
	r, err := u.Source.Open(ctx, s, spec)
	return &updateReader{Reader: r, of: u, pool: spec.Pool}, err
}

type updateReader struct {
	connector.Reader
	of   *updates
	pool *column.Pool
	more int // 0: the epoch's first batch
}

// Counts implements connector.Reader.
func (r *updateReader) Counts() format.Counts { return r.Reader.Counts() }

// Next implements connector.Reader: the numbers of rows become keys.
func (r *updateReader) Next() (*column.Batch, error) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.move()
	if r.more == 0 {
		time.Sleep(time.Until(r.of.began.Add(time.Second)))
		r.of.began, r.of.between = time.Now(), false
		r.of.moved = r.of.began
	}
	r.more = 1
	b, err := r.Reader.Next()
	if err == io.EOF {
		r.of.between = true
		return b, err
	}
	if err != nil {
		return nil, err
	}
	ids, texts := b.Cols[0], r.pool.Vector(testSchema.Fields[1].Type)
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
	var text [50]byte
	for i, n := range ids.I64 {
		key := n % r.of.keys * 7_368_787 % r.of.keys
		ids.I64[i] = key
		text = [50]byte{byte('a' + n/r.of.keys), byte(key), byte(key >> 8), byte(key >> 16)}
		for k := range 3 {
			text[1+k] = 'a' + text[1+k]%26
		}
		copy(text[4:], digits)
		texts.Bytes = append(texts.Bytes, text[:]...)
		if len(texts.Offsets) == 0 {
			texts.Offsets = append(texts.Offsets, 0)
		}
		texts.Offsets = append(texts.Offsets, int32(len(texts.Bytes)))
		texts.Len++
	}
	b.Cols = append(b.Cols[:1], texts)
	r.of.moved = time.Now()
	return b, nil
}

// BenchmarkStateUpdates gives b.N thousand keys a text of 50 bytes, and then
// four times all of them a greater one, in epochs of at least a second that are
// prepared on disk each: with three tenths of the keys an epoch (as many as two
// cores change in that time) and with a twentieth. It takes `-benchtime 10000x`
// for ten million keys.
func BenchmarkStateUpdates(b *testing.B) {
	b.Run("full", func(b *testing.B) { updateState(b, 300) })
	b.Run("part", func(b *testing.B) { updateState(b, 50) })
}

// updateState runs with so many rows an epoch for each thousand keys.
func updateState(b *testing.B, rows int64) {
	u := updating{b: b, keys: int64(b.N) * 1000, epoch: int64(b.N) * rows, dir: b.TempDir(), pool: column.NewPool()}
	if u.keys < 100_000 {
		return // the first try of go test
	}
	fmt.Printf("%d rows an epoch\n", u.epoch)
	source := u.source()
	u.report("new", u.keys, u.keys, source)
	u.report("updates", 3*u.keys, 2*u.keys, source) // until as much is kept as ever will be
	u.report("updates", 5*u.keys, 2*u.keys, source)
	start := time.Now()
	r := u.run(5 * u.keys)
	fmt.Printf("restart  %.2f s, %.2f CPU s\n", time.Since(start).Seconds(), r.opened.Seconds())
}

// updating is a run of BenchmarkStateUpdates.
type updating struct {
	b           *testing.B
	keys, epoch int64
	dir         string
	pool        *column.Pool
}

// updated is what a run took: to work and, before, to open the checkpoint.
type updated struct {
	cpu, opened time.Duration
	heap        uint64
	longest     [2]time.Duration
}

func (u *updating) report(what string, rows, of int64, source float64) {
	r := u.run(rows)
	each := float64(r.cpu.Nanoseconds()) / float64(of)
	fmt.Printf("%-8s %.2f M keys/CPU s, %.2f without the source's %.0f ns a row, after %.2f s to open, %.0f bytes of heap a key beyond key and value, no row moved for %d ms within an epoch and %d ms between epochs at most\n", what,
		1e3/each, 1e3/(each-source), source, r.opened.Seconds(), float64(r.heap)/float64(u.keys)-58, r.longest[0].Milliseconds(), r.longest[1].Milliseconds())
}

func (u *updating) generator(rows int64) *updates {
	return &updates{Source: generate.New(generate.Options{Schema: testSchema, Rows: rows, RowsPerEpoch: u.epoch, Step: 1000, Partitions: 1}), keys: u.keys}
}

// source is what the rows take by themselves, in nanoseconds a row.
func (u *updating) source() float64 {
	plan := &logical.Filter{Input: (&rig{}).scan(), Cond: optest.Value(schema.Of(schema.Boolean), false)}
	db, err := openDB(checkpoint.Settings{}, u.b.TempDir(), "a")
	if err != nil {
		u.b.Fatal(err)
	}
	before := cpuTime(u.b)
	u.work(keeping(plan, u.generator(2*u.keys), db, u.pool))
	each := float64((cpuTime(u.b) - before).Nanoseconds()) / float64(2*u.keys)
	if err := db.Close(); err != nil {
		u.b.Fatal(err)
	}
	return each
}

// work runs a flow to its end and returns its heap.
func (u *updating) work(o Options) uint64 {
	e, err := New(o)
	if err != nil {
		u.b.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Run(context.Background(), context.Background()); err != nil {
		u.b.Fatal(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// run goes on to so many rows.
func (u *updating) run(rows int64) (r updated) {
	scan := (&rig{}).scan()
	plan := &logical.Aggregate{
		Input: scan, Groups: []logical.Alias{optest.Named(10, "id", scan.Columns[0].Ref())},
		Aggs:  []logical.AggCall{greatest(u.b, 11, scan.Columns[1])},
		State: &logical.StateInfo{ID: "agg", EventTime: -1, Mode: logical.Update},
	}
	db, err := openDB(checkpoint.Settings{}, u.dir, "a")
	if err != nil {
		u.b.Fatal(err)
	}
	gen := u.generator(rows)
	o := keeping(plan, gen, db, u.pool)
	o.Mode, o.Sink = logical.Update, movedSink{of: gen}
	begin := cpuTime(u.b)
	o.At = func(point string) error {
		if point == PlanBefore && r.opened == 0 {
			r.opened = cpuTime(u.b) - begin
		}
		return nil
	}
	r.heap = u.work(o)
	r.cpu = cpuTime(u.b) - begin - r.opened
	if err := db.Close(); err != nil {
		u.b.Fatal(err)
	}
	r.longest = gen.longest
	return r
}
