package flow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pipelines/runtime/budget"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/state"
)

// TestStateCrashAnywhere crashes a flow with state at every border, a second
// time while it recovers, and compares the state with the rows.
func TestStateCrashAnywhere(t *testing.T) {
	for _, beside := range []bool{false, true} {
		for n := 1; crashAt(t, n, beside); n++ {
		}
	}
}

// nth gives errCrash at the nth border and from then on: a process that is gone
// does nothing any more.
func nth(n int) (at func(string) error, crashed *atomic.Bool) {
	count := new(atomic.Int64)
	crashed = new(atomic.Bool)
	return func(string) error {
		if count.Add(1) >= int64(n) {
			crashed.Store(true)
			return errCrash
		}
		return nil
	}, crashed
}

func crashAt(t *testing.T, n int, beside bool) bool {
	r := newRig(t, 650)
	r.dedup, r.beside = true, beside
	at, crashed := nth(n)
	if _, err := r.run(at); err != nil && !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	at, _ = nth(n%7 + 1)
	if _, err := r.run(at); err != nil && !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	if _, err := r.run(nil); err != nil {
		t.Fatal(err)
	}
	r.check()
	if keys, files := r.state(); keys != 650 || files > 6 {
		t.Fatalf("crash %d: %d keys in %d files", n, keys, files)
	}
	return crashed.Load()
}

// state counts the keys and files of the newest prepared epoch.
func (r *rig) state() (keys, files int) {
	r.t.Helper()
	db, err := checkpoint.View(filepath.Join(r.dir, "flow.db"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // read only
	snap, err := db.Load()
	if err != nil {
		r.t.Fatal(err)
	}
	err = state.Open(filepath.Join(r.dir, stateFolder)).Restore(snap.Prepared.State, func(state.Entry) error {
		keys++
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return keys, len(snap.Prepared.State)
}

// TestStateFiles writes epochs that are too large for the checkpoint's file,
// and refuses files that are missing, cut, changed or swapped.
func TestStateFiles(t *testing.T) {
	r := newRig(t, 60_000)
	r.dedup, r.perEpoch = true, 10_000
	if _, err := r.run(nil); err != nil {
		t.Fatal(err)
	}
	if keys, _ := r.state(); keys != 60_000 {
		t.Fatalf("%d keys", keys)
	}
	names, err := filepath.Glob(filepath.Join(r.dir, stateFolder, "*"))
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	refused := func(what string) {
		t.Helper()
		_, err := r.run(nil)
		if err == nil || !strings.Contains(err.Error(), "--full-refresh") {
			t.Errorf("%s: %v", what, err)
		}
	}
	newest := names[len(names)-1]
	good, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{
		"cut": good[:len(good)-1], "empty": nil, "swapped": other, "changed": append(append([]byte{}, good[:900]...), append([]byte{good[900] ^ 1}, good[901:]...)...),
	} {
		if err := os.WriteFile(newest, data, 0o644); err != nil {
			t.Fatal(err)
		}
		refused(what)
	}
	if err := os.Remove(newest); err != nil {
		t.Fatal(err)
	}
	refused("missing")
	if err := os.WriteFile(newest, good, 0o644); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(r.dir, stateFolder, "000000000099.log.tmp")
	if err := os.WriteFile(stray, good, 0o644); err != nil {
		t.Fatal(err)
	}
	r.rows = 61_000
	if _, err := r.run(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stray); err == nil {
		t.Error("a file that no record names is still there")
	}
	if keys, _ := r.state(); keys != 61_000 {
		t.Fatalf("%d keys", keys)
	}
}

// TestBesideMemory: without memory for what waits for its commit, an epoch is
// committed before the next is planned; with it some are not.
func TestBesideMemory(t *testing.T) {
	for _, full := range []bool{false, true} {
		r := newRig(t, 900)
		r.dedup, r.beside, r.room = true, true, budget.New(1<<20, 1)
		other := r.room.Reserve("another")
		if full {
			if err := other.Need(1 << 20); err != nil {
				t.Fatal(err)
			}
		}
		var committed atomic.Int64
		planned, early := int64(0), 0
		_, err := r.run(func(point string) error {
			switch point {
			case StateAfter:
				time.Sleep(2 * time.Millisecond) // a slow disk
			case CommitAfter:
				committed.Add(1)
			case PlanAfter:
				if committed.Load() < planned {
					early++
				}
				planned++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.check()
		if planned != 9 || full != (early == 0) {
			t.Errorf("full %v: %d epochs, %d planned before the one before was committed", full, planned, early)
		}
		if other.Release(); r.room.Used() != 0 {
			t.Errorf("%d bytes are still reserved", r.room.Used())
		}
	}
}

// TestStateNoStrays: after epochs whose files are merged at once, the folder holds
// files only that the two newest records name.
func TestStateNoStrays(t *testing.T) {
	for _, beside := range []bool{false, true} {
		r := newRig(t, 120_000)
		r.dedup, r.perEpoch, r.beside = true, 8_000, beside
		if _, err := r.run(nil); err != nil {
			t.Fatal(err)
		}
		r.strays()
	}
}

// strays fails if the state folder holds a file that no record names.
func (r *rig) strays() {
	r.t.Helper()
	db, err := checkpoint.View(filepath.Join(r.dir, "flow.db"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // read only
	snap, err := db.Load()
	if err != nil {
		r.t.Fatal(err)
	}
	before, err := db.LoadPrepared(snap.Prepared.Epoch - 1)
	if err != nil {
		r.t.Fatal(err)
	}
	named := map[string]bool{}
	for _, ref := range append(append([]state.Ref{}, before.State...), snap.Prepared.State...) {
		named[ref.Name] = true
	}
	files, err := os.ReadDir(filepath.Join(r.dir, stateFolder))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range files {
		if !named[f.Name()] {
			r.t.Errorf("no record names %s", f.Name())
		}
	}
}
