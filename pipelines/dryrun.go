package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
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
		for _, f := range d.flows {
			u.lookAtFlow(ctx, d, f, &s)
		}
		steps = append(steps, s)
	}
	return steps, list, nil
}

func (u *update) step(d *dataset) Step {
	s := Step{Dataset: d.shown(), Kind: d.kind.String(), Waiting: -1}
	t := u.tables[d]
	if t != nil {
		s.Details = t.move.details()
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

// lookAtFlow adds what a flow would read and its plan.
func (u *update) lookAtFlow(ctx context.Context, d *dataset, f *flow, s *Step) {
	s.Plan += logical.Explain(f.plan.Node)
	if d.kind == graph.MaterializedView {
		return
	}
	offsets, ledger, state := u.deployed(d, f)
	if state != "" {
		s.Details = append(s.Details, "flow "+f.name+": "+state)
	}
	for _, r := range f.plan.Reads {
		h := r.Handle.(handle)
		if !r.Streaming || h.source == nil {
			continue
		}
		out := u.newRelations(d, false)
		if err := out.openSource(ctx, r, h.source); err != nil {
			s.Details = append(s.Details, fmt.Sprintf("flow %s: %s cannot be read: %v", f.name, r.Name[0], err))
			continue
		}
		src := out.streams[r.ID]
		if err := errors.Join(src.Start(ctx, offsets[r.ID], ledger(r.ID)), src.Pin(ctx)); err != nil {
			s.Details = append(s.Details, fmt.Sprintf("flow %s: %v", f.name, err))
			continue
		}
		plan, err := src.Plan(ctx, offsets[r.ID], connector.PlanOptions{Unlimited: true, Pinned: true})
		if err != nil {
			s.Details = append(s.Details, fmt.Sprintf("flow %s: %v", f.name, err))
			continue
		}
		s.Waiting = max(s.Waiting, 0) + plan.Splits
		s.Details = append(s.Details, fmt.Sprintf("flow %s: %s waiting", f.name, areMany(plan.Splits, "file", " of "+r.Name[0])))
		s.Details = append(s.Details, plan.Notes...)
	}
}

// deployed reads what a flow's checkpoint holds, without waiting for a running
// update.
func (u *update) deployed(d *dataset, f *flow) (map[string]stream.Offset, func(string) connector.Ledger, string) {
	none := func(string) connector.Ledger {
		return func(func(k, v []byte) error) error { return nil }
	}
	t := u.tables[d]
	if t == nil || !t.known || u.fresh[d] {
		return nil, none, ""
	}
	path := u.checkpointOf(t, f.name)
	if _, err := os.Stat(path); err != nil {
		return nil, none, "starts from the beginning"
	}
	db, err := checkpoint.View(path)
	if err != nil {
		if errors.Is(err, checkpoint.ErrLocked) {
			return nil, none, "is running now"
		}
		return nil, none, strings.TrimSpace(err.Error())
	}
	// The snapshot is taken whole, so that the file is not held open.
	ledgers := map[string][]connector.Entry{}
	snap, err := db.Load()
	for _, r := range f.plan.Reads {
		if err == nil {
			err = db.ReadLedger(r.ID, func(k, v []byte) error {
				ledgers[r.ID] = append(ledgers[r.ID], connector.Entry{Key: append([]byte(nil), k...), Value: append([]byte(nil), v...)})
				return nil
			})
		}
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, none, err.Error()
	}
	read := func(id string) connector.Ledger {
		return func(fn func(k, v []byte) error) error {
			for _, e := range ledgers[id] {
				if err := fn(e.Key, e.Value); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if snap.Intent == nil {
		return nil, read, ""
	}
	snap.RenameSources(u.movedSources(f))
	return snap.Intent.To, read, areMany(int(snap.Marked+1), "epoch", "") + " committed"
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
