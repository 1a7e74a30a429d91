package pipelines

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"pipelines/pipelines/event"
	"pipelines/pipelines/graph"
	exec "pipelines/runtime/flow"
	"pipelines/spec"
	"pipelines/spec/option"
	"pipelines/tables"
)

// Defaults of a continuous update (DESIGN §6): tables commit at most once a
// second, views are made anew at most every ten; folders are looked at once a
// second.
const (
	commitInterval = time.Second
	viewInterval   = 10 * time.Second
	pollInterval   = time.Second
)

// bell wakes the flows that wait for a table's commit. Its zero value wakes
// nobody.
type bell struct {
	mu    sync.Mutex // guards all below; held for memory work only
	flows map[*dataset][]chan struct{}
	views chan struct{} // rung by every commit
}

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is ringing already
	}
}

// continuous reports whether a selected flow goes on until it is stopped.
func (u *update) continuous() bool {
	for _, d := range u.p.datasets {
		if !u.selected[d] || d.kind == graph.MaterializedView {
			continue
		}
		for _, f := range d.flows {
			if mode, _ := u.triggerOf(f); mode == spec.Continuous.String() || mode == spec.ProcessingTime.String() {
				return true
			}
		}
	}
	return false
}

// wake tells the readers of a table that it has new rows.
func (u *update) wake(d *dataset) {
	u.bell.mu.Lock()
	defer u.bell.mu.Unlock()
	if u.bell.views == nil {
		return
	}
	ring(u.bell.views)
	for _, c := range u.bell.flows[d] {
		ring(c)
	}
}

// waiter returns how a continuous flow waits: for a commit upstream, for the
// next look at a folder, and never less than the interval between epochs.
func (u *update) waiter(t *task) func(stop context.Context, idle bool, within time.Duration) bool {
	mode, interval := u.triggerOf(t.f)
	if mode != spec.Continuous.String() && mode != spec.ProcessingTime.String() {
		return nil
	}
	if interval == 0 && t.d.kind != graph.Sink {
		interval = u.setting("pipelines.commit.interval", commitInterval)
	}
	rung := make(chan struct{}, 1)
	u.bell.mu.Lock()
	for _, up := range u.upstreamTables(t.d) {
		u.bell.flows[up] = append(u.bell.flows[up], rung)
	}
	u.bell.mu.Unlock()
	poll := u.polls(t)
	began := u.p.now()     // of the look that may have led to an epoch
	var earliest time.Time // of the next one
	return func(stop context.Context, idle bool, within time.Duration) bool {
		defer func() { began = u.p.now() }()
		if !idle {
			earliest = began.Add(interval)
		}
		after := poll
		if within > 0 && (poll == 0 || within < poll) {
			after = within
		}
		if idle && !waitFor(stop, rung, after) {
			return false
		}
		return sleep(stop, earliest.Sub(u.p.now()))
	}
}

// polls returns how often a flow has to look for new rows by itself, 0 for
// never: our own tables announce their commits.
func (u *update) polls(t *task) time.Duration {
	for _, r := range t.f.plan.Reads {
		if h, ok := r.Handle.(handle); ok && r.Streaming && h.dataset == nil {
			return pollInterval
		}
	}
	return 0
}

// waitFor waits for the bell or the time, and returns false when stopped.
func waitFor(stop context.Context, rung chan struct{}, after time.Duration) bool {
	var due <-chan time.Time
	if after > 0 {
		timer := time.NewTimer(after)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-rung:
	case <-due:
	case <-stop.Done():
		return false
	}
	return true
}

func (u *update) setting(key string, fallback time.Duration) time.Duration {
	if d, err := option.ParseDuration(u.p.conf[key]); err == nil {
		return d
	}
	return fallback
}

// runContinuous runs all streaming flows at once and makes the views anew in
// waves, until it is stopped or every flow has ended.
func (u *update) runContinuous(ctx, stop context.Context) {
	var mu sync.Mutex // guards the tasks' results and the listener
	var flows, views []*task
	u.bell.flows, u.bell.views = map[*dataset][]chan struct{}{}, make(chan struct{}, 1)
	for _, t := range u.tasks() {
		if t.d.kind == graph.MaterializedView {
			views = append(views, t)
		} else {
			flows = append(flows, t)
		}
	}
	var wg sync.WaitGroup
	for _, t := range flows {
		wg.Add(1)
		go func() {
			defer wg.Done()
			u.runTask(ctx, stop, t, &mu)
			u.wake(t.d)
		}()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wg.Wait()
	}()
	u.waves(ctx, stop, u.inOrder(views), ended, &mu)
	<-ended
	for _, t := range append(flows, views...) {
		u.result.Flows = append(u.result.Flows, t.result)
		u.result.Rows += t.result.InputRows
	}
}

// inOrder sorts views so that each stands behind those it reads.
func (u *update) inOrder(views []*task) []*task {
	var out []*task
	for _, n := range u.p.graph.Order() {
		for _, t := range views {
			if t.d.node == n {
				out = append(out, t)
			}
		}
	}
	return out
}

// waves makes the views anew whenever tables have changed, at most once an
// interval, and once more when all flows have ended by themselves.
func (u *update) waves(ctx, stop context.Context, views []*task, ended chan struct{}, mu *sync.Mutex) {
	interval := u.setting("pipelines.trigger.interval", viewInterval)
	for stop.Err() == nil && ctx.Err() == nil {
		u.wave(ctx, stop, views, mu)
		select {
		case <-ended:
			u.wave(ctx, stop, views, mu)
			return
		case <-stop.Done():
			return
		case <-u.bell.views:
		}
		if !sleep(stop, interval) {
			return
		}
	}
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

// wave makes the views anew over one version of each table.
func (u *update) wave(ctx, stop context.Context, views []*task, mu *sync.Mutex) {
	if len(views) == 0 {
		return
	}
	pins, behind, err := u.pinAll(ctx)
	if err != nil {
		mu.Lock()
		defer mu.Unlock()
		u.listen.OnNote(event.Note{Time: u.p.now(), Update: u.id, Dataset: behind, Message: fmt.Sprintf("views are not refreshed: %v", err)})
		return
	}
	u.pinMu.Lock()
	u.pins = pins
	u.pinMu.Unlock()
	failed := map[*dataset]bool{}
	for _, t := range views {
		t.blocked = ""
		for _, up := range u.upstreamTables(t.d) {
			if failed[up] {
				t.blocked = up.shown()
			}
		}
		t.result.Reason = ""
		u.runTask(ctx, stop, t, mu)
		failed[t.d] = t.result.State == event.Failed || t.result.State == event.Skipped
	}
}
