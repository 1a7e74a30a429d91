package flow

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector/generate"
	"pipelines/runtime/operator/optest"
	"pipelines/runtime/state"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// maxima is a flow of the greatest text, the count and a sum of each key, all of
// whose keys change in each of its epochs: much of an epoch's state is written while the next
// changes the same keys.
type maxima struct {
	t      *testing.T
	dir    string
	beside int
	wait   func(stop context.Context) // between epochs; nil: they follow each other
}

const (
	maximaKeys   = 80_000
	maximaEpochs = 4
)

func (m *maxima) run(at func(string) error) error {
	m.t.Helper()
	db, err := openDB(checkpoint.Settings{NoSync: true}, m.dir, "a")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // test
	scan, pool := (&rig{}).scan(), column.NewPool()
	gen := generate.New(generate.Options{Schema: testSchema, Rows: maximaKeys * maximaEpochs, RowsPerEpoch: maximaKeys, Step: 1000, Partitions: 3})
	o := keeping(&logical.Aggregate{
		Input: scan, Groups: []logical.Alias{optest.Named(10, "key", optest.Call("%", scan.Columns[0].Ref(), optest.Int(maximaKeys)))},
		Aggs:  []logical.AggCall{greatest(m.t, 11, scan.Columns[1]), optest.Count(12), optest.Sum(13, scan.Columns[0].Ref())},
		State: &logical.StateInfo{ID: "agg", EventTime: -1, Mode: logical.Update},
	}, gen, db, pool)
	o.Mode, o.Beside, o.Trigger, o.At = logical.Update, m.beside, AvailableNow, at
	if m.wait != nil {
		o.Trigger = Continuous
		o.Wait = func(stop context.Context, _ bool, _ time.Duration) bool { m.wait(stop); return stop.Err() == nil }
	}
	e, err := New(o)
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Run(context.Background(), context.Background())
	return err
}

// stored is the state that the checkpoint holds.
func (m *maxima) stored() map[string]string {
	m.t.Helper()
	db, err := checkpoint.View(filepath.Join(m.dir, "flow.db"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // read only
	snap, err := db.Load()
	if err != nil {
		m.t.Fatal(err)
	}
	out := map[string]string{}
	err = state.Open(filepath.Join(m.dir, stateFolder)).Restore(snap.Prepared.State, func(_ string, key, value []byte) error {
		out[string(key)] = string(value)
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// TestCutBeside compares the state of epochs that are written beside the next
// with that of epochs that are not, without and with crashes.
func TestCutBeside(t *testing.T) {
	plain := &maxima{t: t, dir: t.TempDir(), beside: 1 << 40}
	if err := plain.run(nil); err != nil {
		t.Fatal(err)
	}
	want := plain.stored()
	if len(want) != maximaKeys {
		t.Fatalf("%d keys", len(want))
	}
	for _, n := range []int{0, 22, 30, 38} {
		m := &maxima{t: t, dir: t.TempDir(), beside: 1}
		at, _ := nth(n)
		if n == 0 {
			at = func(string) error { return nil }
		}
		if err := m.run(late(at)); err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		if err := m.run(nil); err != nil {
			t.Fatal(err)
		}
		if got := m.stored(); !maps.Equal(got, want) {
			t.Fatalf("crash %d: the state of %d keys differs from that of %d", n, len(got), len(want))
		}
	}
}

// TestCommitFailsInWait: a commit that fails while the flow waits for its trigger
// ends the wait.
func TestCommitFailsInWait(t *testing.T) {
	waits := make(chan struct{}, 1)
	m := &maxima{t: t, dir: t.TempDir(), beside: 1, wait: func(stop context.Context) {
		waits <- struct{}{}
		select {
		case <-stop.Done():
		case <-time.After(time.Minute):
			t.Error("it waited for its trigger")
		}
	}}
	err := m.run(func(point string) error {
		if point == StageAfter {
			<-waits
			return errCrash
		}
		return nil
	})
	if !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
}

// late holds the writing of an epoch's state back until the next epoch has read
// a split, if there is one.
func late(at func(string) error) func(string) error {
	split := make(chan struct{}, 100)
	return func(point string) error {
		switch point {
		case ReadSplit:
			split <- struct{}{}
		case StageAfter:
			for len(split) > 0 {
				<-split
			}
			select {
			case <-split:
			case <-time.After(100 * time.Millisecond):
			}
		}
		return at(point)
	}
}

// greatest is max of a column.
func greatest(tb testing.TB, id logical.ColumnID, of logical.Attr) logical.AggCall {
	fn, err := funcs.LookupAggregate("max").Bind(optest.Session(), []funcs.Arg{{Type: of.Type, Nullable: true}})
	if err != nil {
		tb.Fatal(err)
	}
	return logical.AggCall{Fn: fn, Args: []logical.Expr{of.Ref()}, Attr: logical.Attr{ID: id, Name: "max", Type: of.Type, Nullable: true, Watermark: -1}}
}
