package pipelines

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/event"
	"pipelines/pipelines/graph"
	"pipelines/runtime/connector"
	exec "pipelines/runtime/flow"
	"pipelines/runtime/stream"
	"pipelines/spec"
	"pipelines/sqlplan/logical"
	"pipelines/tables"
)

// newAppID mints a transaction id: 32 random hex digits under a prefix that
// nobody types.
func newAppID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("bug: pipelines: no random numbers: " + err.Error())
	}
	return fmt.Sprintf("pipelines-%x", b)
}

// relations are the connectors of one plan of dataset d.
type relations struct {
	u *update
	d *dataset
	// pin fixes the version of tables that are read whole.
	pin     bool
	streams map[string]connector.Source
	tables  map[string]connector.Bounded
}

func (u *update) newRelations(d *dataset, pin bool) relations {
	return relations{u: u, d: d, pin: pin, streams: map[string]connector.Source{}, tables: map[string]connector.Bounded{}}
}

// open opens everything a plan reads. Batch reads of tables are pinned for
// views and read anew for streams.
func (u *update) open(ctx context.Context, t *task, pin bool) (relations, error) {
	out, least := u.newRelations(t.d, pin), limits(t.f.plan.Node)
	for _, r := range t.f.plan.Reads {
		h, ok := r.Handle.(handle)
		if !ok {
			panic("bug: pipelines: relation without a handle: " + r.ID)
		}
		var err error
		switch {
		case h.dataset != nil:
			err = out.openTable(ctx, r, u.tables[h.dataset], least[r.ID])
		case h.external != nil:
			err = out.openExternal(ctx, r, h.external, least[r.ID])
		default:
			err = out.openSource(ctx, r, h.source)
		}
		if err != nil {
			return out, fmt.Errorf("open %s: %w", r.Name[len(r.Name)-1], err)
		}
	}
	return out, nil
}

// limits are the strictest that a plan gives for each table, which it may
// mention several times and reads as one stream.
func limits(n logical.Node) map[string]builtin.TableLimits {
	out := map[string]builtin.TableLimits{}
	var walk func(n logical.Node)
	walk = func(n logical.Node) {
		if s, ok := n.(*logical.Scan); ok {
			if h, ok := s.Relation.Handle.(handle); ok {
				out[s.Relation.ID] = out[s.Relation.ID].Least(h.limits)
			}
		}
		for _, c := range n.Inputs() {
			walk(c)
		}
	}
	walk(n)
	return out
}

func (out *relations) openTable(ctx context.Context, r *logical.Relation, t *target, l builtin.TableLimits) error {
	if r.Streaming {
		out.streams[r.ID] = builtin.TableStream(builtin.TableStreamOptions{Table: t.table, Name: t.d.shown(), OnReset: out.u.onReset(out.d), Limits: l})
		return nil
	}
	if !out.pin {
		out.tables[r.ID] = builtin.TableWhole(t.table, nil)
		return nil
	}
	snap, err := out.u.pin(ctx, t)
	if err != nil {
		return err
	}
	out.tables[r.ID] = builtin.TableWhole(t.table, snap)
	return nil
}

// pin returns the version of a table that every view of the update, or of the
// wave, reads: the one that its first reader finds, which is after all flows
// into the table have ended.
func (u *update) pin(ctx context.Context, t *target) (*tables.Snapshot, error) {
	snap, err := t.table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	u.pinMu.Lock()
	defer u.pinMu.Unlock()
	if u.pins == nil {
		u.pins = map[*target]*tables.Snapshot{}
	}
	if u.pins[t] == nil {
		u.pins[t] = snap
	}
	return u.pins[t], nil
}

func (u *update) onReset(d *dataset) builtin.OnReset {
	switch {
	case d.onReset == "reread":
		return builtin.RereadReset
	case d.onReset == "skip":
		return builtin.SkipReset
	case u.p.spec.Form == spec.Spark:
		return builtin.RereadReset
	}
	return builtin.RefuseReset
}

func (out *relations) openExternal(ctx context.Context, r *logical.Relation, x *external, l builtin.TableLimits) error {
	t, err := out.u.st.table(ctx, x.folder)
	if err != nil {
		return err
	}
	if r.Streaming {
		out.streams[r.ID] = builtin.TableStream(builtin.TableStreamOptions{Table: t, Name: x.name[2], OnReset: out.u.onReset(out.d), Limits: l})
		return nil
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	out.tables[r.ID] = builtin.TableWhole(t, snap)
	return nil
}

func (out *relations) openSource(ctx context.Context, r *logical.Relation, s *sourceRelation) error {
	fresh := *s
	schema := r.Schema
	fresh.config.Schema = &schema
	o, err := out.u.p.openSource(ctx, &fresh)
	if err != nil {
		return err
	}
	if r.Streaming {
		out.streams[r.ID] = o.Stream
	} else {
		out.tables[r.ID] = o.Table
	}
	return nil
}

// runStream runs a streaming or once flow to the end of its trigger.
func (u *update) runStream(ctx, stop context.Context, t *task, mu *sync.Mutex) (err error) {
	rel, err := u.open(ctx, t, false)
	if err != nil {
		return err
	}
	sink, tg, err := u.sinkOf(ctx, t)
	if err != nil {
		return err
	}
	rec := u.recordOf(tg)
	db, err := u.checkpoint(ctx, t, tg, sink)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	lanes := u.budget.Take(u.lanes(t))
	defer u.budget.Give(lanes)
	e, err := exec.New(exec.Options{
		Dataset: t.d.typed(), Flow: t.f.name, Plan: statePlan(t.f, rec), Session: t.f.session, Streams: rel.streams, Tables: rel.tables,
		Sink: sink, DB: db, Refreshed: slices.Contains(strings.Fields(rec.Extra[refreshedKey]), rec.Flows[t.f.name]), Mode: modes[t.f.mode], Trigger: u.trigger(t), Lanes: lanes, Pool: u.pool, Budget: u.budget, TempDir: u.spillDir(), BatchRows: u.o.BatchRows,
		Beside: u.o.Beside, Now: u.p.now, At: u.o.At, Wait: u.waiter(t),
		OnEpoch: func(p exec.Progress) {
			u.progress(t, p, mu)
			u.wake(t.d)
		},
		OnNote: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			u.listen.OnNote(event.Note{Time: u.p.now(), Update: u.id, Dataset: t.d.shown(), Flow: t.f.name, Message: text})
		},
	})
	if err != nil {
		return err
	}
	defer e.Close()
	_, err = e.Run(ctx, stop)
	return err
}

// triggerOf returns the trigger of a flow: the run's, its own, or the
// project's.
func (u *update) triggerOf(f *flow) (mode string, interval time.Duration) {
	switch {
	case u.o.Trigger != "":
		return u.o.Trigger, 0
	case f.trigger != nil:
		return f.trigger.Mode.String(), f.trigger.Interval.Value
	case u.p.spec.Trigger != nil:
		return u.p.spec.Trigger.Mode.String(), u.p.spec.Trigger.Interval.Value
	}
	return spec.AvailableNow.String(), 0
}

func (u *update) trigger(t *task) exec.Trigger {
	switch mode, _ := u.triggerOf(t.f); mode {
	case spec.Triggered.String():
		return exec.Once
	case spec.Continuous.String(), spec.ProcessingTime.String():
		return exec.Continuous
	}
	return exec.AvailableNow
}

// sinkOf opens the target of a flow.
func (u *update) sinkOf(ctx context.Context, t *task) (connector.Sink, *target, error) {
	if t.d.kind == graph.Sink {
		s, err := u.outsideSink(ctx, t)
		return s, u.sinks[t.d], err
	}
	tg := u.tables[t.d]
	o := builtin.TableSinkOptions{
		Table: tg.table, Schema: t.f.plan.Schema, PartitionColumns: tg.table.Known().PartitionColumns(),
		Location: t.f.session.Location, Pool: u.pool, At: u.o.At,
	}
	if t.f.keyed != nil {
		return u.keyedSink(t, o), tg, nil
	}
	return builtin.TableSink(o), tg, nil
}

// progress reports a committed epoch.
func (u *update) progress(t *task, p exec.Progress, mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	r := &t.result
	r.InputRows += p.InputRows
	r.OutputRows += p.OutputRows
	r.CorruptRows += p.Corrupt
	r.DroppedRows += p.Dropped
	r.Epochs++
	r.Expectations = expectations(p)
	e := event.FlowProgress{
		Time: u.p.now(), Update: u.id, Dataset: t.d.shown(), Flow: t.f.name, BatchID: p.Epoch, Timestamp: p.Timestamp.UTC(),
		NumInputRows: p.InputRows, NumOutputRows: p.OutputRows, CorruptRows: p.Corrupt, DroppedRows: p.Dropped,
		DurationMs: map[string]int64{
			"triggerExecution": (p.Planning + p.Run + p.Commit).Milliseconds(), "queryPlanning": p.Planning.Milliseconds(),
			"addBatch": p.Run.Milliseconds(), "commitOffsets": p.Commit.Milliseconds(),
		},
		Expectations: r.Expectations,
	}
	if p.Watermark != stream.NoWatermark {
		e.Watermark = time.UnixMicro(p.Watermark).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	for _, id := range sortedIDs(p.To) {
		s := event.Source{Description: id, StartOffset: string(p.From[id]), EndOffset: string(p.To[id]), NumInputRows: p.SourceRows[id]}
		if sec := p.Run.Seconds(); sec > 0 {
			s.RowsPerSecond = int64(float64(s.NumInputRows) / sec)
		}
		e.Sources = append(e.Sources, s)
	}
	for _, o := range p.Counters.Operators {
		r.LateRows += o.LateRows
		e.Operators = append(e.Operators, event.Operator{Name: o.ID, Total: o.StateRows, Updated: o.Updated, Removed: o.Removed, Late: o.LateRows, StateSize: o.StateBytes})
	}
	u.listen.OnProgress(e)
}

func sortedIDs(m map[string]stream.Offset) []string {
	var out []string
	for id := range m {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// expectations turns the plan's counters, which grow over a run, into records.
func expectations(p exec.Progress) []event.Expectation {
	var out []event.Expectation
	for _, x := range p.Counters.Expectations {
		action := [...]string{logical.Warn: "warn", logical.Drop: "drop", logical.FailFlow: "fail"}[x.Action]
		out = append(out, event.Expectation{Name: x.Name, Dataset: x.Dataset, Action: action, Passed: x.Passed, Failed: x.Failed})
	}
	return out
}
