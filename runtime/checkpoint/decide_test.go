package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// world is what is durable: the records and the sink.
type world struct {
	f       Facts
	commits [5]int // how often the sink took each epoch; it knows epochs
}

// next lists the worlds that a run can leave behind when it starts in w: one
// for each write that it comes to before it crashes.
func (w world) next(epochs int64) []world {
	var out []world
	step := func(change func(w *world)) {
		change(&w)
		out = append(out, w)
	}
	commit := func(w *world) {
		e := w.f.Prepared
		if w.f.SinkEpoch < e || !w.f.SinkKnows { // a sink that knows takes it once
			w.commits[e]++
		}
		w.f.SinkEpoch = max(w.f.SinkEpoch, e)
	}
	attempt := func(e int64) {
		step(func(w *world) { w.f.Prepared = e })
		step(commit)
	}
	d := Decide(w.f.seen())
	switch d.Action {
	case RefuseAhead, RefuseDamaged:
		return nil
	case Mark:
		step(func(w *world) { w.f.Marked = d.Epoch })
	case Finish:
		step(commit)
		step(func(w *world) { w.f.Marked = d.Epoch })
	case Rerun, Discard:
		attempt(d.Epoch)
	}
	e := d.Epoch + 1
	if d.Action == Start {
		e = d.Epoch
	}
	for ; e < epochs; e++ {
		step(func(w *world) { w.f.Intent, w.f.Marked = e, e-1 })
		attempt(e)
	}
	if w.f.Marked < w.f.Intent {
		step(func(w *world) { w.f.Marked = w.f.Intent })
	}
	return out
}

// seen is what recovery sees: an at-least-once sink says nothing.
func (f Facts) seen() Facts {
	if !f.SinkKnows {
		f.SinkEpoch = -1
	}
	return f
}

// reachable explores every crash, and crashes of every recovery.
func reachable(t *testing.T, knows bool) map[Facts]bool {
	t.Helper()
	const epochs = 3
	start := world{f: Facts{Intent: -1, Prepared: -1, Marked: -1, SinkEpoch: -1, SinkKnows: knows}}
	seen := map[world]bool{start: true}
	facts := map[Facts]bool{start.f.seen(): true}
	for todo := []world{start}; len(todo) > 0; todo = todo[1:] {
		w := todo[0]
		if d := Decide(w.f.seen()); d.Action >= RefuseAhead {
			t.Fatalf("%+v can occur and is refused", w)
		}
		next := w.next(epochs)
		if len(next) == 0 && w.f.Marked != epochs-1 {
			t.Fatalf("%+v goes nowhere", w)
		}
		for _, n := range next {
			for e, c := range n.commits {
				if int64(e) <= n.f.Marked && c == 0 || knows && c > 1 {
					t.Fatalf("epoch %d was taken %d times: %+v", e, c, n)
				}
			}
			// Without end an at-least-once sink could be asked again and again.
			if n.commits[0] > 3 || n.commits[1] > 3 || n.commits[2] > 3 || seen[n] {
				continue
			}
			seen[n] = true
			facts[n.f.seen()] = true
			todo = append(todo, n)
		}
	}
	return facts
}

// TestDecide compares every combination of facts with the table in testdata;
// a star marks those that crashes can lead to.
func TestDecide(t *testing.T) {
	occurs := reachable(t, true)
	for f := range reachable(t, false) {
		occurs[f] = true
	}
	datadriven.RunTest(t, "testdata/decide", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		knows := d.HasArg("knows")
		void := d.HasArg("void")
		for n := range int64(3 * 3 * 3 * 4) {
			f := Facts{Intent: n%3 - 1, Prepared: n/3%3 - 1, Marked: n/9%3 - 1, SinkEpoch: n/27 - 1, SinkKnows: knows, TokenVoid: void}
			if !knows && f.SinkEpoch >= 0 {
				continue
			}
			got := Decide(f)
			star := " "
			if f.TokenVoid = false; occurs[f] {
				star = "*"
			}
			fmt.Fprintf(&b, "%s intent %s prepared %s marked %s sink %s: %s %d\n", star, num(f.Intent), num(f.Prepared), num(f.Marked), num(f.SinkEpoch), got.Action, got.Epoch)
		}
		return b.String()
	})
}

func num(n int64) string {
	if n < 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}
