package pipelines

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"pipelines/pipelines/event"
	"pipelines/pipelines/graph"
	exec "pipelines/runtime/flow"
	"pipelines/sqlplan"
	"pipelines/stores"
)

// task is one flow of the update.
type task struct {
	d      *dataset
	f      *flow
	waits  int // unfinished tasks that it depends on
	next   []*task
	result FlowResult
	// blocked names the failed dataset that this one reads.
	blocked string
	// What follows is for continuous updates, see live. An endless flow goes on
	// until it is stopped; end stops it alone. A view has started when it was
	// made from all that its inputs will bring by themselves. lost is blocked,
	// met after the start.
	endless, started bool
	end              context.CancelFunc
	rung             chan struct{} // by the tables that it reads, see hear
	lost             string
}

// tasks lists the selected flows and what each waits for.
func (u *update) tasks() []*task {
	var out []*task
	byDataset := map[*dataset][]*task{}
	for _, d := range u.p.datasets {
		for _, f := range d.flows {
			state := event.Queued
			if !u.selected[d] {
				state = event.Excluded
			}
			t := &task{d: d, f: f, result: FlowResult{Dataset: d.shown(), Flow: f.name, State: state}}
			u.flowChanged(t, 0)
			if state == event.Queued {
				out = append(out, t)
				byDataset[d] = append(byDataset[d], t)
			}
		}
	}
	for _, t := range out {
		for _, up := range u.upstreamTables(t.d) {
			for _, w := range byDataset[up] {
				w.next = append(w.next, t)
				t.waits++
			}
		}
	}
	return out
}

// upstreamTables lists the tables that a dataset reads, also through views.
func (u *update) upstreamTables(d *dataset) []*dataset {
	var out []*dataset
	seen := map[*graph.Node]bool{d.node: true}
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		for _, r := range n.Reads() {
			if seen[r.From] {
				continue
			}
			seen[r.From] = true
			x := u.p.byID[r.From.ID]
			switch {
			case x == nil:
			case x.isTable():
				out = append(out, x)
			default:
				walk(r.From)
			}
		}
	}
	walk(d.node)
	return out
}

// runGraph runs the tasks in dependency order, at most so many at once.
func (u *update) runGraph(ctx, stop context.Context) {
	tasks := u.tasks()
	limit := u.p.flowsAtOnce()
	var mu sync.Mutex // guards the tasks' states and the listener
	var wg sync.WaitGroup
	slots := make(chan struct{}, limit)
	var start func(t *task)
	finish := func(t *task) {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range t.next {
			if t.result.State == event.Failed || t.result.State == event.Skipped {
				n.blocked = t.d.shown()
			}
			if n.waits--; n.waits == 0 {
				start(n)
			}
		}
	}
	start = func(t *task) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			u.runTask(ctx, stop, t, &mu)
			finish(t)
		}()
	}
	mu.Lock()
	for _, t := range tasks {
		if t.waits == 0 {
			start(t)
		}
	}
	mu.Unlock()
	wg.Wait()
	for _, t := range tasks {
		u.result.Flows = append(u.result.Flows, t.result)
		u.result.Rows += t.result.InputRows
	}
}

// runTask runs one flow to its end and tells it. A panic of ours, be it of a
// listener, fails the flow.
func (u *update) runTask(ctx, stop context.Context, t *task, mu *sync.Mutex) {
	guard := func(f func()) {
		if err := exec.Guard(func() error { f(); return nil }); err != nil {
			mu.Lock()
			defer mu.Unlock()
			t.result.State, t.result.Err = event.Failed, err
		}
	}
	guard(func() { u.attempts(ctx, stop, t, mu) })
	guard(func() {
		mu.Lock()
		defer mu.Unlock()
		if t.lost != "" && t.result.State == event.Stopped {
			t.result.Reason = t.lost + " failed"
		}
		u.flowChanged(t, 0)
	})
}

// attempts runs one flow with retries.
func (u *update) attempts(ctx, stop context.Context, t *task, mu *sync.Mutex) {
	set := func(s event.State, attempt int) {
		mu.Lock()
		defer mu.Unlock()
		t.result.State = s
		if s == event.Running {
			t.result.Err, t.result.Reason = nil, ""
		}
		u.flowChanged(t, attempt)
	}
	switch {
	case t.blocked != "":
		t.result.State, t.result.Err, t.result.Reason = event.Skipped, nil, t.blocked+" failed"
		return
	case u.unfit[t.d] != nil:
		t.result.State, t.result.Err = event.Failed, u.unfit[t.d]
		return
	case stop.Err() != nil || ctx.Err() != nil:
		t.result.State = event.Stopped
		return
	}
	attempts := 1 + u.retries()
	for n := 1; ; n++ {
		set(event.Running, n)
		err := u.runFlow(ctx, stop, t, mu)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			// The flow was well when it was told to end at once.
			t.result.State = event.Stopped
			return
		}
		t.result.Err = err
		t.result.violated(err)
		if err == nil {
			t.result.State = event.Completed
			if stop.Err() != nil {
				t.result.State = event.Stopped
			}
			return
		}
		if u.metNewColumns(t, err) {
			return
		}
		t.result.State = event.Failed
		endless := u.endless(t.f) && t.d.kind != graph.MaterializedView // the next wave makes a view
		if n >= attempts && !endless || stores.Classify(err) != stores.Retryable || ctx.Err() != nil {
			return
		}
		set(event.Failed, n)
		if !sleep(stop, backoff(n)) {
			return
		}
	}
}

func backoff(n int) time.Duration { return min(time.Second<<min(n, 6), 30*time.Second) }

// sleep waits unless the update is stopped first.
func sleep(stop context.Context, d time.Duration) bool {
	if d <= 0 {
		return stop.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop.Done():
		return false
	}
}

func (u *update) retries() int {
	n, err := strconv.Atoi(u.p.conf["spark.sql.pipelines.maxFlowRetryAttempts"])
	if err != nil || n < 0 {
		return 2
	}
	return n
}

func (u *update) flowChanged(t *task, attempt int) {
	e := event.FlowChanged{
		Time: u.p.now(), Update: u.id, Dataset: t.result.Dataset, Flow: t.result.Flow, State: t.result.State,
		Attempt: attempt, Error: failure(t.result.Err), Reason: t.result.Reason,
	}
	if e.State == event.Failed {
		e.Expectations = t.result.Expectations
	}
	u.listen.OnFlow(e)
}

// runFlow runs one attempt; a bug in the engine ends the flow, not the
// program.
func (u *update) runFlow(ctx, stop context.Context, t *task, mu *sync.Mutex) error {
	return placed(exec.Guard(func() error {
		if t.d.kind == graph.MaterializedView {
			return u.runView(ctx, t, mu)
		}
		return u.runStream(ctx, stop, t, mu)
	}))
}

// placed says ahead of an error of a query's rows where in the project the
// expression stands.
func placed(err error) error {
	e, ok := errors.AsType[*sqlplan.Error](err)
	if !ok || e.Span.File == "" || !e.Span.IsValid() {
		return err
	}
	return fmt.Errorf("%s:%d:%d: %w", e.Span.File, e.Span.Start.Line, e.Span.Start.Column, err)
}

// flowsAtOnce is how many flows may run at once: the document's key, else
// Spark's setting.
func (p *Project) flowsAtOnce() int {
	limit := int(p.spec.MaxConcurrentFlows.Value)
	if n, err := strconv.Atoi(p.conf["spark.sql.pipelines.execution.maxConcurrentFlows"]); err == nil && !p.spec.MaxConcurrentFlows.IsSet() {
		limit = n
	}
	return max(1, limit)
}
