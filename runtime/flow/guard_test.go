package flow

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"pipelines/runtime/budget"
	"pipelines/runtime/state"
)

// panics gives a function for Options.At that panics at the nth border, and from
// then on if always is set; none may be met after the run has returned.
func panics(t *testing.T, n int64, always bool) (at func(string) error, met, over *atomic.Bool) {
	count := new(atomic.Int64)
	met, over = new(atomic.Bool), new(atomic.Bool)
	return func(point string) error {
		if over.Load() {
			t.Errorf("border %s is met after the end of the run", point)
		}
		if k := count.Add(1); k == n || k > n && always {
			met.Store(true)
			panic("bug: test: at " + point)
		}
		return nil
	}, met, over
}

// TestPanicAnywhere panics at every border, on whichever goroutine meets it: the
// run ends with our error when all its goroutines have ended, what it had
// reserved is given back, and the next run goes on from the checkpoint.
func TestPanicAnywhere(t *testing.T) {
	for _, always := range []bool{false, true} {
		for _, beside := range []bool{false, true} {
			for n := int64(1); panicAt(t, n, beside, always); n++ {
			}
		}
	}
}

func panicAt(t *testing.T, n int64, beside, always bool) bool {
	t.Helper()
	r := newRig(t, 250)
	r.dedup, r.beside, r.room = true, beside, budget.New(1<<20, 1)
	at, met, over := panics(t, n, always)
	_, err := r.run(at)
	over.Store(true)
	bug, ok := errors.AsType[*Bug](err)
	if ok != met.Load() || ok && !strings.Contains(string(bug.Stack), "guard_test.go") {
		t.Fatalf("border %d: %v", n, err)
	}
	if used := r.room.Used(); used != 0 {
		t.Errorf("border %d: %d bytes are still reserved", n, used)
	}
	if _, err := r.run(nil); err != nil {
		t.Fatalf("after border %d: %v", n, err)
	}
	r.check()
	if keys, _ := r.state(); keys != 250 {
		t.Errorf("border %d: %d keys", n, keys)
	}
	return ok && !t.Failed()
}

// TestPanicInLane panics in one of several lanes, in the middle of a run.
func TestPanicInLane(t *testing.T) {
	for _, beside := range []bool{false, true} {
		r := newRig(t, 80_000)
		r.dedup, r.perEpoch, r.lanes, r.beside = true, 40_000, 3, beside
		var splits atomic.Int64
		_, err := r.run(func(point string) error {
			if point == ReadSplit && splits.Add(1) == 5 {
				panic("bug: test: lane")
			}
			return nil
		})
		if _, ok := errors.AsType[*Bug](err); !ok {
			t.Fatal(err)
		}
		if _, err := r.run(nil); err != nil {
			t.Fatal(err)
		}
		r.check()
		if keys, _ := r.state(); keys != 80_000 {
			t.Errorf("%d keys", keys)
		}
	}
}

// TestPanicSideBySide: parts of operators, and of a restore.
func TestPanicSideBySide(t *testing.T) {
	err := parallel(3, func(i int) error {
		if i == 1 {
			panic("bug: test: part")
		}
		return nil
	})
	if _, ok := errors.AsType[*Bug](err); !ok {
		t.Error(err)
	}
}

// TestPanicInMerge: the merge in the background.
func TestPanicInMerge(t *testing.T) {
	var s stateFiles // whose store is missing
	chain := make([]state.Ref, 40)
	for i := range chain {
		chain[i] = state.Ref{Bytes: state.SmallMerge}
	}
	if err := s.prepared(chain); err != nil || s.job == nil {
		t.Fatal("no merge is due", err)
	}
	_, err := s.merged(true)
	if _, ok := errors.AsType[*Bug](err); !ok {
		t.Error(err)
	}
}
