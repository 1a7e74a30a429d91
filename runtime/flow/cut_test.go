package flow

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
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
	lanes  int                        // 0: two
	hot    bool                       // few of the keys change, in many epochs
	wait   func(stop context.Context) // between epochs; nil: they follow each other
}

const (
	maximaKeys   = 80_000
	maximaEpochs = 4

	hotKeys   = 2000
	hotRows   = 40_000
	hotEpochs = 40
)

func (m *maxima) run(at func(string) error) error {
	m.t.Helper()
	db, err := openDB(checkpoint.Settings{NoSync: true}, m.dir, "a")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // test
	scan, pool := (&rig{}).scan(), column.NewPool()
	id := scan.Columns[0].Ref()
	made := generate.Options{Schema: testSchema, Rows: maximaKeys * maximaEpochs, RowsPerEpoch: maximaKeys, Step: 1000, Partitions: 3}
	key := optest.Call("%", id, optest.Int(maximaKeys))
	if m.hot {
		made.Rows, made.RowsPerEpoch = hotRows, hotRows/hotEpochs
		key = optest.Call("least", id, optest.Call("+", optest.Call("%", id, optest.Int(hotKeys/4)), optest.Int(hotKeys*3/4)))
	}
	gen := generate.New(made)
	o := keeping(&logical.Aggregate{
		Input: scan, Groups: []logical.Alias{optest.Named(10, "key", key)},
		Aggs:  []logical.AggCall{greatest(m.t, 11, scan.Columns[1]), optest.Count(12), optest.Sum(13, scan.Columns[0].Ref())},
		State: &logical.StateInfo{ID: "agg", EventTime: -1, Mode: logical.Update},
	}, gen, db, pool)
	if m.lanes > 0 {
		o.Lanes = m.lanes
	}
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

// chain is that of the newest prepared epoch.
func (m *maxima) chain() []state.Ref {
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
	if snap.Prepared == nil {
		return nil
	}
	return snap.Prepared.State
}

// stored is the state that the checkpoint holds.
func (m *maxima) stored() map[string]string {
	m.t.Helper()
	out := map[string]string{}
	err := state.Open(filepath.Join(m.dir, stateFolder)).Restore(m.chain(), func(e state.Entry) error {
		out[string(e.Key)] = string(e.Value)
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

// TestRenewal: keys that do not change are handed out again and the oldest files
// dropped, without and with crashes; nothing is lost by it.
func TestRenewal(t *testing.T) {
	plain := &maxima{t: t, dir: t.TempDir(), beside: 1 << 40, hot: true}
	if err := plain.run(nil); err != nil {
		t.Fatal(err)
	}
	want := plain.stored()
	if len(want) != hotKeys {
		t.Fatalf("%d keys", len(want))
	}
	for n := 0; n < 900; n += 111 {
		m := &maxima{t: t, dir: t.TempDir(), beside: 1, hot: true, lanes: 1 + n%4}
		for at, _ := nth(n); n > 0; at, _ = nth(n + 100) { // and again
			if err := m.run(at); err == nil {
				break
			} else if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			if got := m.stored(); len(got) > hotKeys {
				t.Fatalf("crash %d: %d keys", n, len(got))
			}
		}
		if err := m.run(nil); err != nil {
			t.Fatal(err)
		}
		if got := m.stored(); !maps.Equal(got, want) {
			t.Fatalf("crash %d: the state of %d keys differs from that of %d", n, len(got), len(want))
		}
		if n > 0 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(m.dir, stateFolder))
		if err != nil {
			t.Fatal(err)
		}
		entries, first := int64(0), ""
		for _, r := range m.chain() {
			entries += r.Entries
			first = cmp.Or(first, r.Name)
		}
		if entries > hotKeys*5/2+2*hotRows/hotEpochs || strings.HasPrefix(first, "000000000000") || len(files) > len(m.chain())+4 {
			t.Errorf("%d entries of %d keys in %d files, the first is %s", entries, hotKeys, len(files), first)
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
