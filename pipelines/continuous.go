package pipelines

import (
	"context"
	"slices"
	"sync"
	"time"

	"pipelines/pipelines/event"
	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/option"
	"pipelines/sqlplan/logical"
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
			if u.endless(f) {
				return true
			}
		}
	}
	return false
}

// endless reports whether a flow goes on until it is stopped, by its trigger.
func (u *update) endless(f *flow) bool {
	mode, _ := u.triggerOf(f)
	return mode == spec.Continuous.String() || mode == spec.ProcessingTime.String()
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
	if !u.endless(t.f) {
		return nil
	}
	_, interval := u.triggerOf(t.f)
	if interval == 0 && t.d.kind != graph.Sink {
		interval = u.setting("pipelines.commit.interval", commitInterval)
	}
	u.hear(t)
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
		if idle && !waitFor(stop, t.rung, after) {
			return false
		}
		return sleep(stop, earliest.Sub(u.p.now()))
	}
}

// hear lets the tables that a flow reads ring for it, in all its attempts.
func (u *update) hear(t *task) {
	u.bell.mu.Lock()
	defer u.bell.mu.Unlock()
	if t.rung != nil {
		return
	}
	t.rung = make(chan struct{}, 1)
	for _, up := range u.upstreamTables(t.d) {
		u.bell.flows[up] = append(u.bell.flows[up], t.rung)
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

// live is a continuous update while it runs.
type live struct {
	u     *update
	mu    sync.Mutex // guards the tasks, left and the listener
	left  int        // flows that have not ended
	views []*task    // each behind those it reads
	slots chan struct{}
	ended chan struct{} // closed when no flow is left
	due   chan struct{} // rung when a view can be made that flows wait for
}

// runContinuous runs the flows and makes the views anew in waves, until it is
// stopped or every flow has ended. Flows that go on start at once; those that
// end wait for the end of what they read, as in any other update, and take of
// endless flows what is there.
func (u *update) runContinuous(ctx, stop context.Context) {
	l := &live{u: u, slots: make(chan struct{}, u.p.flowsAtOnce()), ended: make(chan struct{}), due: make(chan struct{}, 1)}
	u.bell.flows, u.bell.views = map[*dataset][]chan struct{}{}, make(chan struct{}, 1)
	tasks := u.tasks()
	var flows []*task
	for _, t := range tasks {
		t.waits = 0
		t.endless = u.endless(t.f) && t.streams()
		if t.d.kind == graph.MaterializedView {
			l.views = append(l.views, t)
		} else {
			flows = append(flows, t)
		}
	}
	for _, t := range tasks {
		for _, n := range t.next {
			if !t.endless && !n.endless {
				n.waits++
			}
		}
	}
	l.views, l.left = u.inOrder(l.views), len(flows)
	l.mu.Lock()
	for _, t := range flows {
		if t.waits == 0 {
			l.start(ctx, stop, t)
		}
	}
	if l.left == 0 {
		close(l.ended)
	}
	l.mu.Unlock()
	l.waves(ctx, stop)
	l.abandon(ctx, stop, flows)
	<-l.ended
	for _, t := range append(flows, l.views...) {
		u.result.Flows = append(u.result.Flows, t.result)
		u.result.Rows += t.result.InputRows
	}
}

// start runs a flow beside the others. The lock is held.
func (l *live) start(ctx, stop context.Context, t *task) {
	t.started = true
	t.blocked = t.lost
	mine, end := context.WithCancel(stop)
	t.end = end
	go func() {
		defer end()
		if !t.endless {
			l.slots <- struct{}{}
			defer func() { <-l.slots }()
		}
		l.u.runTask(ctx, mine, t, &l.mu)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.finish(ctx, stop, t)
	}()
}

// finish takes note of a flow's end: what reads it starts, or ends with it.
// The lock is held.
func (l *live) finish(ctx, stop context.Context, t *task) {
	if s := t.result.State; s == event.Failed || s == event.Skipped || t.lost != "" && s == event.Stopped {
		for _, n := range t.next {
			l.lose(n, t.d)
		}
	}
	l.release(ctx, stop, t, nil)
	l.u.wake(t.d)
	if l.left--; l.left == 0 {
		close(l.ended)
	}
}

// lose ends what reads a dataset that has failed for good, after the running
// epoch. The lock is held.
func (l *live) lose(t *task, of *dataset) {
	if t.lost != "" {
		return
	}
	t.lost = of.shown()
	if t.end != nil {
		t.end()
	}
	if t.d.kind == graph.MaterializedView {
		for _, n := range t.next {
			l.lose(n, t.d)
		}
	}
}

// release lets those go on that have waited for t; the running wave makes the
// views in whole. The lock is held.
func (l *live) release(ctx, stop context.Context, t *task, whole map[*task]bool) {
	if t.endless {
		return
	}
	for _, n := range t.next {
		if n.endless {
			continue
		}
		switch n.waits--; {
		case n.waits > 0:
		case n.d.kind != graph.MaterializedView && n.started: // see abandon
		case n.d.kind != graph.MaterializedView:
			l.start(ctx, stop, n)
		case !whole[n] && n.awaited():
			ring(l.due)
		}
	}
}

// awaited reports whether flows wait for a view.
func (t *task) awaited() bool {
	return slices.ContainsFunc(t.next, func(n *task) bool {
		return !n.endless && (n.d.kind != graph.MaterializedView || n.awaited())
	})
}

// streams reports whether the flow follows something: one that only reads what
// is there (once flows, views) ends whatever its trigger.
func (t *task) streams() bool {
	return slices.ContainsFunc(t.f.plan.Reads, func(r *logical.Relation) bool { return r.Streaming })
}

// abandon ends the flows that have not begun when the update is stopped.
func (l *live) abandon(ctx, stop context.Context, flows []*task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range flows {
		if !t.started {
			l.start(ctx, stop, t)
		}
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
