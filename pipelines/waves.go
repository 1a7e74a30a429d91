package pipelines

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pipelines/pipelines/event"
	"pipelines/pipelines/graph"
	exec "pipelines/runtime/flow"
	"pipelines/stores"
	"pipelines/tables"
)

// waves makes the views anew whenever tables have changed, at most once an
// interval, and once more when all flows have ended by themselves.
func (l *live) waves(ctx, stop context.Context) {
	interval := l.u.setting("pipelines.trigger.interval", viewInterval)
	for {
		over := closed(l.ended)
		if stop.Err() != nil || ctx.Err() != nil {
			return
		}
		again := l.wave(ctx, stop)
		if over {
			return
		}
		l.rest(stop, interval, again)
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// rest waits until the views are to be made anew: an interval after a commit,
// or (again) after the last wave; at once when flows wait for a view, or when
// none is left.
func (l *live) rest(stop context.Context, interval time.Duration, again bool) {
	if !again {
		select {
		case <-l.ended:
			return
		case <-l.due:
			return
		case <-stop.Done():
			return
		case <-l.u.bell.views:
		}
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-l.ended:
	case <-l.due:
	case <-stop.Done():
	case <-timer.C:
	}
}

// wave makes the views anew over one version of each table. It returns true
// when one could not be made for a reason that may pass by itself.
func (l *live) wave(ctx, stop context.Context) (again bool) {
	if len(l.views) == 0 {
		return false
	}
	u := l.u
	whole := l.whole()
	pins, behind, err := u.pinAll(ctx)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		u.listen.OnNote(event.Note{Time: u.p.now(), Update: u.id, Dataset: behind, Message: fmt.Sprintf("views are not refreshed: %v", err)})
		return true
	}
	u.pinMu.Lock()
	u.pins = pins
	u.pinMu.Unlock()
	failed := map[*dataset]bool{}
	for _, t := range l.views {
		if l.block(t, failed); t.blocked == "" || t.result.State != event.Skipped {
			t.result.Reason = ""
			u.runTask(ctx, stop, t, &l.mu)
		}
		failed[t.d] = t.result.State == event.Failed || t.result.State == event.Skipped
		again = again || t.result.State == event.Failed && stores.Classify(t.result.Err) == stores.Retryable
		if whole[t] {
			l.settle(ctx, stop, t, whole)
		}
	}
	return again
}

// block finds out whether a view cannot be made in this wave.
func (l *live) block(t *task, failed map[*dataset]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.blocked = t.lost
	for _, up := range l.u.upstreamTables(t.d) {
		if failed[up] {
			t.blocked = up.shown()
		}
	}
}

// whole are the views for which flows have waited, and all of whose inputs are
// there when the views before them have been made.
func (l *live) whole() map[*task]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[*task]bool{}
	made := map[*task]int{} // inputs that this wave makes
	for _, t := range l.views {
		if t.started || t.waits > made[t] {
			continue
		}
		out[t] = true
		for _, n := range t.next {
			made[n]++
		}
	}
	return out
}

// settle lets the flows go on that have waited for a view.
func (l *live) settle(ctx, stop context.Context, t *task, whole map[*task]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.started = true
	if s := t.result.State; s == event.Failed || s == event.Skipped {
		for _, n := range t.next {
			// Endless flows read what the next wave makes; views are made by it.
			if !n.endless && n.d.kind != graph.MaterializedView {
				l.lose(n, t.d)
			}
		}
	}
	l.release(ctx, stop, t, whole)
}

// pinAll takes one version of each table, or says which has none to give.
func (u *update) pinAll(ctx context.Context) (pins map[*target]*tables.Snapshot, failed string, err error) {
	pins = map[*target]*tables.Snapshot{}
	// Readers before what they read: no table is pinned behind a table that was
	// made from it.
	order := u.p.graph.Order()
	for _, n := range slices.Backward(order) {
		t := u.tables[u.p.byID[n.ID]]
		if t == nil || t.table == nil || t.d.kind != graph.StreamingTable {
			continue
		}
		err := exec.Guard(func() (err error) { pins[t], err = t.table.Snapshot(ctx); return err })
		if err != nil {
			return nil, t.d.shown(), err
		}
	}
	return pins, "", nil
}
