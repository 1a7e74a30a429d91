package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"pipelines/pipelines/event"
	"pipelines/pipelines/graph"
	"pipelines/runtime/budget"
	exec "pipelines/runtime/flow"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/tables"
	"pipelines/tables/catalog"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// RunOptions says what an update does.
type RunOptions struct {
	// Trigger overrides the project's ("", "available_now", "triggered").
	Trigger string
	// Refresh limits the update to these datasets; FullRefresh makes these
	// anew; FullRefreshAll everything. Cascade adds the streaming readers of
	// what is made anew.
	Refresh, FullRefresh []string
	FullRefreshAll       bool
	Cascade              bool
	// Lanes is the number of lanes of a flow; 0: the number of cores.
	Lanes int
	// BatchRows is the greatest number of rows of a batch; 0: the default.
	BatchRows int
	// SpillEagerly makes keyed state leave memory without need, for tests.
	SpillEagerly bool
	// Beside is how many bytes of state an epoch changes at least to be committed
	// beside the next one, for tests; see flow.Options.Beside.
	Beside   int
	Listener event.Listener
	// Out receives what console sinks write.
	Out io.Writer
	// At is called at each border of every epoch; see flow.Options.At.
	At func(point string) error
}

// Result is what an update did.
type Result struct {
	Update   string
	Rows     int64 // rows read from streams and written by views
	Started  time.Time
	Finished time.Time
	Flows    []FlowResult
}

// FlowResult is what one flow did.
type FlowResult struct {
	Dataset, Flow string
	State         event.State
	InputRows     int64
	OutputRows    int64
	Epochs        int64
	// CorruptRows could not be decoded fully, DroppedRows were left out for it.
	CorruptRows, DroppedRows int64
	// LateRows were dropped: they came after the watermark.
	LateRows     int64
	Expectations []event.Expectation
	Err          error
	Reason       string
}

// violated counts the rows whose violation ended the flow: their epoch, which
// was not committed, has reported nothing.
func (r *FlowResult) violated(err error) {
	v, ok := errors.AsType[*exec.ExpectationError](err)
	if !ok {
		return
	}
	at := slices.IndexFunc(r.Expectations, func(x event.Expectation) bool { return x.Name == v.Name && x.Dataset == v.Dataset })
	if at < 0 {
		at = len(r.Expectations)
		r.Expectations = append(r.Expectations, event.Expectation{Name: v.Name, Dataset: v.Dataset, Action: "fail"})
	}
	r.Expectations = slices.Clone(r.Expectations)
	r.Expectations[at].Failed += int64(v.Rows)
}

// Failed reports whether a flow failed.
func (r *Result) Failed() bool {
	return slices.ContainsFunc(r.Flows, func(f FlowResult) bool { return f.State == event.Failed })
}

// EnvironmentError says that nothing could start: the storage cannot be
// written or is locked.
type EnvironmentError struct{ Err error }

func (e *EnvironmentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *EnvironmentError) Unwrap() error { return e.Err }

// update is one run of the graph.
type update struct {
	p       *Project
	o       RunOptions
	id      string
	st      *storage
	pool    *column.Pool
	budget  *budget.Budget
	listen  event.Listener
	started time.Time

	selected map[*dataset]bool
	fresh    map[*dataset]bool // to be made anew
	tables   map[*dataset]*target
	sinks    map[*dataset]*target
	// unfit are the targets whose flow cannot take a new column of a source.
	unfit    map[*dataset]error
	held     error      // of a checkpoint that another process has
	recordMu sync.Mutex // guards the records of targets while flows run
	result   Result
	pinMu    sync.Mutex                   // guards pins; held for memory work only
	pins     map[*target]*tables.Snapshot // see pin
	// pass counts the runs of the graph in this update, from 0; endPass ends it
	// after the running epochs.
	pass    int
	next    *update
	endPass context.CancelFunc
	widerMu sync.Mutex               // guards wider; held for memory work only
	wider   map[string]schema.Schema // by source, see metNewColumns
	// left caches leftTables.
	left []string
	// bell wakes waiting flows, in a continuous update.
	bell   bell
	status *statusFile
}

// Run runs the graph once. The list holds findings about the request (unknown
// names, streams that would be reset); with errors in it nothing ran. ctx ends
// flows at once, stop after their running epoch.
func (p *Project) Run(ctx, stop context.Context, o RunOptions) (*Result, diag.List, error) {
	if p.faulty {
		return nil, nil, errors.New("the project has errors (see Load) and cannot be run")
	}
	u := newUpdate(p, o)
	u.id = fmt.Sprintf("%s-%x", u.started.UTC().Format("20060102T150405"), sha256.Sum256(fmt.Append(nil, u.started.UnixNano(), os.Getpid())))[:24]
	if list := u.selection(); list.HasErrors() {
		return nil, list, nil
	}
	var err error
	if u.st, err = openStorage(p.spec.StorageDir(), true, p.now); err != nil {
		return nil, nil, &EnvironmentError{err}
	}
	lock, err := catalog.Acquire(u.st.lockPath(p.Name()), "run of pipeline "+p.Name())
	if err != nil {
		return nil, nil, &EnvironmentError{err}
	}
	defer func() { _ = lock.Release() }() // the process' end releases it as well
	return u.passes(ctx, stop)
}

func newUpdate(p *Project, o RunOptions) *update {
	u := &update{p: p, o: o, started: p.now(), selected: map[*dataset]bool{}, fresh: map[*dataset]bool{}, tables: map[*dataset]*target{}, sinks: map[*dataset]*target{}, unfit: map[*dataset]error{}}
	if u.o.Lanes <= 0 {
		u.o.Lanes = runtime.GOMAXPROCS(0)
	}
	return u
}

// passes runs the graph, and again whenever a source has got new columns which
// are to be added.
func (u *update) passes(ctx, stop context.Context) (*Result, diag.List, error) {
	var all diag.List
	var before *Result
	for {
		res, list, err := u.locked(ctx, stop)
		all = append(all, list...)
		if before != nil && res != nil {
			res.add(before)
		}
		if u.next == nil {
			if failed := u.status.close(err); failed != nil {
				err = errors.Join(err, failed)
			}
			return res, all, err
		}
		u.next.status = u.status
		u, before = u.next, res
	}
}

// locked is the part of Run that holds the lock.
func (u *update) locked(ctx, stop context.Context) (*Result, diag.List, error) {
	list, err := u.materialise(ctx)
	if err == nil && u.held != nil {
		err = &EnvironmentError{u.held}
	}
	if err != nil || list.HasErrors() {
		return nil, list, err
	}
	if _, err := u.p.Pin(); err != nil {
		return nil, list, &EnvironmentError{err}
	}
	if err := u.clearSpill(); err != nil {
		return nil, list, &EnvironmentError{err}
	}
	log, err := u.openLog()
	if err != nil {
		return nil, nil, &EnvironmentError{err}
	}
	waiting := stop
	stop, u.endPass = context.WithCancel(stop)
	defer u.endPass()
	u.pool = column.NewPool()
	u.budget = newBudget(u.p.spec.Memory, u.o.Lanes)
	if u.o.SpillEagerly {
		u.budget.Tighten()
	}
	u.result = Result{Update: u.id, Started: u.started}
	if u.pass == 0 {
		u.changed(event.Running, nil)
	}
	err = u.makeTables(ctx)
	if err == nil {
		if u.continuous() {
			u.runContinuous(ctx, stop)
		} else {
			u.runGraph(ctx, stop)
		}
	}
	u.result.Finished = u.p.now()
	if err == nil && len(u.wider) > 0 && waiting.Err() == nil && ctx.Err() == nil {
		u.nextPass(ctx)
	}
	final, told := event.Completed, err
	switch {
	case u.next != nil:
		final = event.Running
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		final, told = event.Stopped, nil
	case err != nil || u.result.Failed():
		final = event.Failed
	case waiting.Err() != nil || ctx.Err() != nil:
		final = event.Stopped
	}
	if final != event.Running {
		u.changed(final, told)
	}
	err = errors.Join(err, log(), u.clearSpill())
	return &u.result, list, err
}

func (u *update) changed(s event.State, err error) {
	u.listen.OnUpdate(event.UpdateChanged{Time: u.p.now(), Update: u.id, Pipeline: u.p.Name(), State: s, Error: failure(err)})
}

// selection finds out what runs.
func (u *update) selection() diag.List {
	var list diag.List
	find := func(flag, name string) *dataset {
		d := u.p.find(name)
		if d == nil || d.kind == graph.TemporaryView {
			x := diag.AtSpan(nil, diag.Span{File: flag}, "TABLE_OR_VIEW_NOT_FOUND", fmt.Sprintf("there is no table %q in the project", name))
			list = append(list, x.WithHint(diag.DidYouMean(name, u.p.tableNames())))
			return nil
		}
		return d
	}
	if u.o.FullRefreshAll && len(u.o.Refresh)+len(u.o.FullRefresh) > 0 {
		x := diag.AtSpan(nil, diag.Span{File: "--full-refresh-all"}, "CONFLICTING_PIPELINE_REFRESH_OPTIONS", "--full-refresh-all excludes --refresh and --full-refresh")
		return diag.List{x.WithHint("leave one of them out")}
	}
	for _, n := range u.o.FullRefresh {
		if d := find("--full-refresh", n); d != nil {
			u.selected[d], u.fresh[d] = true, true
		}
	}
	for _, n := range u.o.Refresh {
		if d := find("--refresh", n); d != nil {
			if u.fresh[d] {
				list = append(list, diag.AtSpan(nil, diag.Span{File: "--refresh"}, "CONFLICTING_PIPELINE_REFRESH_OPTIONS", fmt.Sprintf("%s stands in --refresh and in --full-refresh", n)))
			}
			u.selected[d] = true
		}
	}
	all := len(u.o.Refresh)+len(u.o.FullRefresh) == 0
	for _, d := range u.p.datasets {
		if d.kind == graph.TemporaryView {
			continue
		}
		if all {
			u.selected[d] = true
			u.fresh[d] = u.o.FullRefreshAll
		}
	}
	return append(list, u.resets()...)
}

// resets looks at tables that are made anew: those that forbid it, and the
// streams that read them.
func (u *update) resets() diag.List {
	var list diag.List
	for changed := true; changed; {
		changed = false
		for _, d := range u.p.datasets {
			if !u.fresh[d] || d.kind != graph.StreamingTable {
				continue
			}
			if why := resetForbidden(d); why != "" {
				if u.o.FullRefreshAll {
					u.fresh[d] = false
					continue
				}
				list = append(list, diag.AtSpan(d.file, d.place, "TABLE_NOT_RESETTABLE", fmt.Sprintf("%s has %s and cannot be refreshed fully", d.shown(), why)))
				u.fresh[d] = false
				continue
			}
			for _, r := range u.streamReaders(d) {
				if u.fresh[r] || r.onReset != "" || u.p.spec.Form == spec.Spark {
					continue
				}
				if u.o.Cascade {
					u.fresh[r], u.selected[r], changed = true, true, true
					continue
				}
				x := diag.AtSpan(r.file, r.place, "STREAMING_SOURCE_RESET", fmt.Sprintf("%s reads %s as a stream and would get all its rows again", r.shown(), d.shown()))
				list = append(list, x.WithHint("add --cascade to refresh it too, or set on_upstream_reset: reread or skip on it"))
				u.fresh[r] = true // reported once
			}
		}
	}
	return list
}

// resetForbidden returns the property that forbids full refreshes, or "".
func resetForbidden(d *dataset) string {
	switch {
	case !resetAllowed(d):
		return resetProperty + " = false"
	case d.appendOnly != (diag.Span{}):
		return tables.PropAppendOnly + " = true"
	}
	return ""
}

func resetAllowed(d *dataset) bool {
	for k, v := range d.properties {
		if strings.EqualFold(k, resetProperty) {
			return !strings.EqualFold(v, "false")
		}
	}
	return true
}

// streamReaders lists the tables that follow d as a stream, also through
// temporary views.
func (u *update) streamReaders(d *dataset) []*dataset {
	var out []*dataset
	seen := map[*graph.Node]bool{}
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		for _, r := range u.p.graph.Readers(n) {
			if seen[r] {
				continue
			}
			streams := slices.ContainsFunc(r.Reads(), func(x graph.Read) bool { return x.From == n && x.Stream })
			x := u.p.byID[r.ID]
			if x == nil || !streams {
				continue
			}
			seen[r] = true
			if x.kind == graph.TemporaryView {
				walk(r)
			} else {
				out = append(out, x)
			}
		}
	}
	walk(d.node)
	return out
}

// find looks a dataset up by a name of one to three parts.
func (p *Project) find(name string) *dataset {
	parts, err := spec.SplitName(name)
	if err != nil {
		parts = []string{name}
	}
	if d := p.byID[strings.ToLower(parts[0])]; d != nil && len(parts) == 1 {
		return d
	}
	return p.byID[strings.ToLower(strings.Join(p.fullName(parts), "."))]
}

func (p *Project) tableNames() []string {
	var out []string
	for _, d := range p.datasets {
		if d.kind != graph.TemporaryView {
			out = append(out, strings.Trim(d.typed(), "'"))
		}
	}
	return out
}

// failure turns an error into what events hold.
func failure(err error) *event.Failure {
	if err == nil {
		return nil
	}
	f := &event.Failure{Message: err.Error()}
	f.Class, f.SQLState = classOf(err)
	return f
}

// hash is a short stable hash of a definition.
func hash(parts ...string) string {
	text, err := json.Marshal(parts)
	if err != nil {
		panic("bug: pipelines: hash: " + err.Error())
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:32]
}
