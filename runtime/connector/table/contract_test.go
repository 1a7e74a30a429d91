package table_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/connectortest"
	"pipelines/runtime/connector/table"
	"pipelines/runtime/stream"
	"pipelines/stores/memory"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format/parquet"
	"pipelines/tables/schema"
)

// place is a table in a memory store.
type place struct {
	t     *testing.T
	store *memory.Store
	def   tables.Definition
	epoch int64
}

func newPlace(t *testing.T, partition ...string) *place {
	return &place{t: t, store: memory.New(memory.Options{}), def: tables.Definition{Schema: connectortest.SinkSchema(), PartitionColumns: partition}}
}

func (p *place) table() *tables.Table {
	p.t.Helper()
	tb, err := tables.OpenOrCreate(p.t.Context(), tables.Options{Store: p.store, Folder: "t"}, p.def)
	if err != nil {
		p.t.Fatal(err)
	}
	return tb
}

func (p *place) sink() connector.Sink {
	return table.NewSink(table.SinkOptions{
		Table: p.table(), Format: parquet.New(), Extension: ".parquet", Schema: p.def.Schema,
		PartitionColumns: p.def.PartitionColumns, Location: time.UTC, Pool: column.NewPool(),
	})
}

func spec() connector.ScanSpec {
	return connector.ScanSpec{Columns: connectortest.SinkSchema(), Fields: []int{0, 1}, Location: time.UTC}
}

// rows reads the newest version.
func (p *place) rows() (out []string) {
	p.t.Helper()
	w := &table.Whole{Reader: table.Reader{Table: p.table(), Format: parquet.New()}}
	splits, _, err := w.Whole(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return p.read(w, splits)
}

func (p *place) read(o connector.Opener, splits []connector.Split) (out []string) {
	p.t.Helper()
	for _, s := range splits {
		got, err := connectortest.ReadSplit(o, s, spec())
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, got...)
	}
	return out
}

// add commits n files of two rows each in one version.
func (p *place) add(n int, overwrite bool) (out []string) {
	p.t.Helper()
	ctx := p.t.Context()
	sink := p.sink()
	in := connector.EpochInfo{AppID: "writer", Epoch: p.epoch, Overwrite: overwrite}
	ep, err := sink.Begin(ctx, in)
	if err != nil {
		p.t.Fatal(err)
	}
	pool := column.NewPool()
	for lane := range n {
		b := pool.Batch()
		id, k := pool.Vector(schema.Of(schema.Int64)), pool.Vector(schema.Of(schema.String))
		id.Resize(2)
		for i := range 2 {
			x := p.epoch*100 + int64(lane*2+i)
			id.I64[i] = x
			k.AppendStr([]byte("k"))
			out = append(out, fmt.Sprintf(`%d "k"`, x))
		}
		b.Len, b.Cols = 2, append(b.Cols, id, k)
		if err := ep.Write(lane, b); err != nil {
			p.t.Fatal(err)
		}
		b.Release()
	}
	token, err := ep.Prepare(ctx)
	if err == nil {
		err = sink.Commit(ctx, in, token)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.epoch++
	return out
}

func TestSinkContract(t *testing.T) {
	for _, part := range [][]string{nil, {"k"}, {"id"}} {
		p := newPlace(t, part...)
		connectortest.Sink(t, connectortest.SinkCase{
			Open: func(*testing.T) connector.Sink { return p.sink() },
			Read: func(*testing.T) []string { return p.rows() }, Overwrites: true,
		})
	}
}

func (p *place) stream(o table.StreamOptions) *table.Stream {
	o.Table, o.Format, o.Name = p.table(), parquet.New(), "t"
	return table.NewStream(o)
}

func TestStreamContract(t *testing.T) {
	for _, c := range []struct {
		files, epochs int
		bytes         int64
	}{{0, 1, 0}, {1, 9, 0}, {2, 5, 0}, {4, 3, 0}, {0, 9, 1}} {
		p := newPlace(t)
		var want []string
		for _, n := range []int{2, 4, 3} { // the first two become the snapshot at the start
			want = append(want, p.add(n, false)...)
		}
		o := table.StreamOptions{StartingVersion: -1, MaxFiles: c.files, MaxBytes: c.bytes}
		connectortest.Source(t, connectortest.SourceCase{
			Open: func(*testing.T) connector.Source { return p.stream(o) },
			Spec: spec(), Rows: want, Epochs: c.epochs,
			Add: func(*testing.T) []string { return append(p.add(3, false), p.add(2, false)...) },
		})
	}
}

// follow is a stream that goes on by what it remembered.
type follow struct {
	p  *place
	o  table.StreamOptions
	at stream.Offset
}

func (f *follow) next() ([]string, error) {
	f.p.t.Helper()
	ctx := context.Background()
	s := f.p.stream(f.o)
	if err := s.Start(ctx, f.at, func(func(k, v []byte) error) error { return nil }); err != nil {
		return nil, err
	}
	if err := s.Pin(ctx); err != nil {
		return nil, err
	}
	var out []string
	for {
		p, err := s.Plan(ctx, f.at, connector.PlanOptions{Pinned: true})
		if err != nil {
			return out, err
		}
		if p.Splits == 0 {
			return out, nil
		}
		splits, err := s.Splits(ctx, f.at, p.To)
		if err != nil {
			return out, err
		}
		out = append(out, f.p.read(s, splits)...)
		f.at = p.To
	}
}

func (f *follow) want(rows ...[]string) {
	f.p.t.Helper()
	got, err := f.next()
	if err != nil {
		f.p.t.Fatal(err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, r...)
	}
	slices.Sort(got) // files of one version come in the order of their names
	slices.Sort(all)
	if strings.Join(got, "|") != strings.Join(all, "|") {
		f.p.t.Errorf("got %q, want %q", got, all)
	}
}

func TestStartingVersion(t *testing.T) {
	p := newPlace(t)
	p.add(1, false) // version 1
	two := p.add(2, false)
	three := p.add(1, false)
	f := &follow{p: p, o: table.StreamOptions{StartingVersion: 2}}
	f.want(two, three)
	f.want()
	latest := &follow{p: p, o: table.StreamOptions{StartingVersion: 4}}
	latest.want()
	f.want()
	four := p.add(1, false)
	f.want(four)
	latest.want(four)
}

func TestReset(t *testing.T) {
	for _, c := range []table.OnReset{table.Refuse, table.Reread, table.Skip} {
		p := newPlace(t)
		first := p.add(2, false)
		f := &follow{p: p, o: table.StreamOptions{StartingVersion: -1, OnReset: c, MaxFiles: 1}}
		f.want(first)
		second := p.add(1, false)
		again := p.add(3, true)
		after := p.add(1, false)
		switch c {
		case table.Refuse:
			got, err := f.next()
			if _, ok := errors.AsType[*table.ResetError](err); !ok || !strings.Contains(err.Error(), "version 3") {
				t.Errorf("%v", err)
			}
			if len(got) > 0 {
				t.Errorf("before the refusal: %q", got)
			}
		case table.Reread:
			f.want(again, after) // what was written before the reset is gone
			p.add(2, true)
			p.add(1, false)
			f.want(p.add(3, true), p.add(1, false)) // of several resets the last one
		case table.Skip: // the commit that replaced the rows is left out, no other
			f.want(second, after)
		}
		if c != table.Refuse {
			f.want(p.add(2, false))
		}
	}
}

func TestChangeCommits(t *testing.T) {
	p := newPlace(t)
	first := p.add(2, false)
	skips := &follow{p: p, o: table.StreamOptions{StartingVersion: -1, SkipChangeCommits: true}}
	strict := &follow{p: p, o: table.StreamOptions{StartingVersion: -1, OnReset: table.Reread}}
	skips.want(first)
	strict.want(first)
	change := func(operation string, keeps bool) {
		tb := p.table()
		tx, err := tb.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		files := tx.Snapshot().Files()
		tx.RemoveFiles(files[0])
		if keeps {
			tx.KeepsData()
			tx.AddFiles(tables.NewFile{Key: "copy-of-" + files[0].Key, Size: files[0].Size, ModTime: time.Now(), Stats: files[0].Stats})
		}
		tx.SetOperation(operation, nil)
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	change("OPTIMIZE", true)
	second := p.add(1, false)
	skips.want(second)
	strict.want(second)
	change("DELETE", false)
	third := p.add(1, false)
	skips.want(third)
	if _, err := strict.next(); err == nil || !strings.Contains(err.Error(), "DELETE") {
		t.Errorf("%v", err)
	}
}

// TestMadeAnew: another table under the same name is never read on.
func TestMadeAnew(t *testing.T) {
	p := newPlace(t)
	f := &follow{p: p, o: table.StreamOptions{StartingVersion: -1}}
	f.want(p.add(2, false))
	p.store, p.epoch = memory.New(memory.Options{}), 0
	p.add(3, false)
	if _, err := f.next(); err == nil || !strings.Contains(err.Error(), "made anew") {
		t.Errorf("%v", err)
	}
}
