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
	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/format"
)

// updates makes rows of a key and a text of 50 bytes: each key once, in an
// order that is none, then the same keys again with greater texts. An epoch
// begins a second after the one before at the earliest.
type updates struct {
	*generate.Source
	keys int64
	// given is when the flow took a batch; longest is for how long at most it was
	// not back for the next, within an epoch and from one to the next.
	mu      sync.Mutex
	given   time.Time
	longest [2]time.Duration
	began   time.Time // the epoch
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
	if at := &r.of.longest[1-r.more]; !r.of.given.IsZero() {
		*at = max(*at, time.Since(r.of.given))
	}
	if r.more == 0 {
		time.Sleep(time.Until(r.of.began.Add(time.Second)))
		r.of.began = time.Now()
	}
	r.more = 1
	b, err := r.Reader.Next()
	if err == io.EOF {
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
	r.of.given = time.Now()
	return b, nil
}

// BenchmarkStateUpdates gives b.N thousand keys a text of 50 bytes, and then
// all of them a greater one, 500,000 an epoch, an epoch a second, each prepared
// on disk. It takes `-benchtime 10000x` for ten million keys.
func BenchmarkStateUpdates(b *testing.B) {
	keys := int64(b.N) * 1000
	if keys < 100_000 {
		return // the first try of go test
	}
	dir, pool := b.TempDir(), column.NewPool()
	scan := (&rig{}).scan()
	plan := &logical.Aggregate{
		Input: scan, Groups: []logical.Alias{optest.Named(10, "id", scan.Columns[0].Ref())},
		Aggs:  []logical.AggCall{greatest(b, 11, scan.Columns[1])},
		State: &logical.StateInfo{ID: "agg", EventTime: -1, Mode: logical.Update},
	}
	run := func(rows int64) (cpu, opened time.Duration, heap uint64, longest [2]time.Duration) {
		db, err := openDB(checkpoint.Settings{}, dir, "a")
		if err != nil {
			b.Fatal(err)
		}
		gen := &updates{Source: generate.New(generate.Options{Schema: testSchema, Rows: rows, RowsPerEpoch: 500_000, Step: 1000, Partitions: 1}), keys: keys}
		o := keeping(plan, gen, db, pool)
		o.Mode = logical.Update
		o.At = func(point string) error {
			if point == PlanBefore && opened == 0 {
				opened = cpuTime(b)
			}
			return nil
		}
		e, err := New(o)
		if err != nil {
			b.Fatal(err)
		}
		before := cpuTime(b)
		if _, err := e.Run(context.Background(), context.Background()); err != nil {
			b.Fatal(err)
		}
		cpu, opened = cpuTime(b)-opened, opened-before
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.Close()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		return cpu, opened, m.HeapAlloc, gen.longest
	}
	report := func(what string, rows int64) {
		cpu, opened, heap, longest := run(rows)
		fmt.Printf("%-8s %.2f M keys/CPU s after %.2f to open, %.0f bytes of heap a key beyond key and value, longest push %d ms, longest pause between epochs %d ms\n", what,
			float64(keys)/cpu.Seconds()/1e6, opened.Seconds(), float64(heap)/float64(keys)-58, longest[0].Milliseconds(), longest[1].Milliseconds())
	}
	report("new", keys)
	report("updates", 2*keys)
	start := time.Now()
	_, opened, _, _ := run(2 * keys)
	fmt.Printf("restart  %.2f s, %.2f CPU s\n", time.Since(start).Seconds(), opened.Seconds())
}
