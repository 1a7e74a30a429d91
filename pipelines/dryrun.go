package pipelines

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"pipelines/pipelines/graph"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	exec "pipelines/runtime/flow"
	"pipelines/runtime/stream"
	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
)

// Step is what an update would do with one dataset.
type Step struct {
	Dataset string   `json:"dataset"`
	Kind    string   `json:"kind"`
	Action  string   `json:"action"` // create, append, replace, refresh, change columns, none
	Details []string `json:"details,omitempty"`
	// Errors are why Run would fail here.
	Errors []string `json:"errors,omitempty"`
	// Waiting is the number of splits (files, versions) that wait, -1 unknown.
	Waiting int    `json:"waiting"`
	Plan    string `json:"plan,omitempty"`
}

// DryRun looks at the world and says what Run would do. It writes nothing.
func (p *Project) DryRun(ctx context.Context, o RunOptions) ([]Step, diag.List, error) {
	u := newUpdate(p, o)
	list := u.selection()
	if list.HasErrors() {
		return nil, list, nil
	}
	var err error
	if u.st, err = openStorage(p.spec.StorageDir(), false, p.now); err != nil {
		return nil, list, &EnvironmentError{err}
	}
	more, err := u.materialise(ctx)
	list = append(list, more...)
	if err != nil || list.HasErrors() {
		return nil, list, err
	}
	var steps []Step
	for _, n := range p.graph.Order() {
		d := p.byID[n.ID]
		if d == nil || !u.selected[d] {
			continue
		}
		s := u.step(d)
		known := true
		for _, f := range d.flows {
			known = u.lookAtFlow(ctx, d, f, &s) && known
		}
		if !known {
			s.Waiting = -1
		}
		steps = append(steps, s)
	}
	return steps, list, nil
}

func (u *update) step(d *dataset) Step {
	s := Step{Dataset: d.shown(), Kind: d.kind.String(), Waiting: -1}
	t := u.tables[d]
	if d.kind == graph.Sink {
		s.Details = u.sinks[d].move.details()
	}
	if t != nil {
		s.Details = append(t.move.details(), t.about.details()...)
	}
	switch {
	case d.kind == graph.Sink:
		s.Action = "write"
	case d.kind == graph.PersistedView:
		s.Action = "define"
	case t.table == nil:
		s.Action = "create"
		s.Details = append(s.Details, "columns: "+ddlName(t.schema))
	case u.fresh[d] && d.kind == graph.StreamingTable:
		s.Action = "refresh"
		s.Details = append(s.Details, "all rows are removed and read again")
	case t.merged:
		s.Action = "change columns"
		s.Details = append(s.Details, "columns: "+ddlName(t.schema))
	case d.kind == graph.MaterializedView:
		s.Action = "replace"
	default:
		s.Action = "append"
		if keyedText(d) != "" {
			s.Action = "update"
		}
	}
	s.Details = append(s.Details, keyedDetails(d)...)
	return s
}

// lookAtFlow adds what a flow would read and its plan, and returns whether its
// position is known: that of a flow at work is not.
func (u *update) lookAtFlow(ctx context.Context, d *dataset, f *flow, s *Step) bool {
	s.Plan += logical.Explain(f.plan.Node)
	if err := u.unfit[d]; err != nil {
		s.Action, s.Errors = "none", append(s.Errors, fmt.Sprintf("flow %s: %v", f.name, err))
		return false
	}
	fail := func(err error) { s.Errors = append(s.Errors, fmt.Sprintf("flow %s: %v", f.name, err)) }
	at := position{}
	if d.kind != graph.MaterializedView {
		at = u.deployed(ctx, d, f)
	}
	if at.note != "" {
		s.Details = append(s.Details, "flow "+f.name+": "+at.note)
	}
	if at.err != nil {
		fail(at.err)
		return false
	}
	for _, r := range f.plan.Reads {
		h := r.Handle.(handle)
		if h.source == nil {
			continue
		}
		out := u.newRelations(d, false)
		if err := out.openSource(ctx, r, h.source); err != nil {
			fail(fmt.Errorf("%s cannot be read: %w", r.Name[0], err))
			continue
		}
		if !r.Streaming || at.unknown {
			continue
		}
		src := out.streams[r.ID]
		if err := errors.Join(src.Start(ctx, at.offsets[r.ID], at.ledger(r.ID)), src.Pin(ctx)); err != nil {
			fail(err)
			continue
		}
		plan, err := src.Plan(ctx, at.offsets[r.ID], connector.PlanOptions{Unlimited: true, Pinned: true})
		if err != nil {
			fail(err)
			continue
		}
		s.Waiting = max(s.Waiting, 0) + plan.Splits
		s.Details = append(s.Details, fmt.Sprintf("flow %s: %s waiting", f.name, areMany(plan.Splits, "file", " of "+r.Name[0])))
		s.Details = append(s.Details, plan.Notes...)
	}
	return !at.unknown && len(s.Errors) == 0
}

// position is how far a flow has come.
type position struct {
	offsets map[string]stream.Offset
	ledgers map[string][]connector.Entry
	note    string
	unknown bool  // another process has the checkpoint
	err     error // what Run would fail with
}

func (p position) ledger(id string) connector.Ledger {
	return func(fn func(k, v []byte) error) error {
		for _, e := range p.ledgers[id] {
			if err := fn(e.Key, e.Value); err != nil {
				return err
			}
		}
		return nil
	}
}

// deployed reads what a flow's checkpoint holds, without waiting for a running
// update.
func (u *update) deployed(ctx context.Context, d *dataset, f *flow) position {
	t := u.tables[d]
	if d.kind == graph.Sink {
		t = u.sinks[d]
	}
	if t == nil || u.fresh[d] {
		return position{}
	}
	path := u.checkpointPath(u.recordName(d).CheckpointFolder(f.name, 0))
	if t.known {
		path = u.checkpointOf(t, f.name)
	} else if !exists(path) {
		return position{}
	}
	db, err := checkpoint.View(path)
	switch {
	case errors.Is(err, checkpoint.ErrMissing):
		return u.missing(t, f.name, path)
	case errors.Is(err, checkpoint.ErrLocked):
		return position{note: "is running now, so how much waits is not known", unknown: true}
	case err != nil:
		return position{err: checkpointError(d, err)}
	}
	// The snapshot is taken whole, so that the file is not held open.
	out := position{ledgers: map[string][]connector.Entry{}}
	snap, err := db.Load()
	for _, r := range f.plan.Reads {
		if err == nil {
			err = db.ReadLedger(r.ID, func(k, v []byte) error {
				out.ledgers[r.ID] = append(out.ledgers[r.ID], connector.Entry{Key: append([]byte(nil), k...), Value: append([]byte(nil), v...)})
				return nil
			})
		}
	}
	if err == nil && db.Identity().AppID != t.record.Flows[f.name] {
		err = otherID(d, path, db.Identity().AppID, t.record.Flows[f.name])
	} else if err != nil {
		err = checkpointError(d, err)
	}
	err = errors.Join(err, db.Close())
	if err == nil && snap.Prepared != nil {
		if err = exec.StateThere(path, snap.Prepared); err != nil {
			err = fmt.Errorf("%w; restore the checkpoint %s with its folder from a copy, or run with --full-refresh %s", err, filepath.Dir(path), d.typed())
		}
	}
	if err != nil {
		return position{err: err}
	}
	if err := ofOneMoment(ctx, t, f, path, snap); err != nil {
		if db, again := checkpoint.View(path); again == nil {
			now, _ := db.Load()
			if db.Close() == nil && (now.Intent == nil) == (snap.Intent == nil) && (now.Intent == nil || now.Intent.Epoch == snap.Intent.Epoch) && now.Marked == snap.Marked {
				return position{err: err}
			}
		}
		return position{note: "is running now, so how much waits is not known", unknown: true}
	}
	if snap.Intent == nil {
		return out
	}
	snap.RenameSources(u.movedSources(f))
	out.offsets, out.note = snap.Intent.To, areMany(int(snap.Marked+1), "epoch", "")+" committed"
	if snap.Intent.Epoch > snap.Marked {
		out.note += fmt.Sprintf("; epoch %d is begun and will be finished first", snap.Intent.Epoch)
	}
	return out
}

// ofOneMoment says why a flow cannot go on from its checkpoint for what the
// table holds.
func ofOneMoment(ctx context.Context, t *target, f *flow, path string, snap checkpoint.Snapshot) error {
	if t.table == nil {
		return nil
	}
	now, err := t.table.Snapshot(ctx)
	if err != nil {
		return err
	}
	held := connector.Held{Knows: true, Epoch: -1}
	if epoch, ok := now.Txn(t.record.Flows[f.name]); ok {
		held.Epoch = epoch
	}
	return exec.Refusal(exec.Options{Dataset: t.d.typed(), Flow: f.name}, path, snap, held)
}

// missing is the position of a flow without a checkpoint: the start, unless
// there was one.
func (u *update) missing(t *target, flow, path string) position {
	if t.table != nil {
		if epoch, ok := t.table.Known().Txn(t.record.Flows[flow]); ok {
			return position{err: aheadError(t.d, flow, path, epoch)}
		}
	}
	if t.record.Extra[made+flow] != "" || exists(path+".made") {
		return position{err: lostError(t.d, flow, path)}
	}
	return position{note: "starts from the beginning"}
}

func (u *update) checkpointPath(folder string) string {
	return filepath.Join(u.p.spec.CheckpointDir(), filepath.FromSlash(folder), "flow.db")
}

// areMany writes how many there are: "1 file of a is", "2 files of a are".
func areMany(n int, noun, of string) string {
	if n == 1 {
		return "1 " + noun + of + " is"
	}
	return fmt.Sprintf("%d %ss%s are", n, noun, of)
}
