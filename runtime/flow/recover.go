package flow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
)

// recover brings the flow to the point where a new epoch may be planned.
func (e *Execution) recover(ctx context.Context) error {
	if err := e.at(RecoverBegin); err != nil {
		return err
	}
	snap, err := e.o.DB.Load()
	if err != nil {
		return err
	}
	held, err := e.o.Sink.Held(ctx, e.o.DB.Identity().AppID)
	if err != nil {
		return fmt.Errorf("look at %s: %w", e.o.Dataset, err)
	}
	d, err := decide(e.o.Dataset, e.o.Flow, e.o.DB.Path(), snap, held)
	if err != nil {
		return err
	}
	c := changes(snap, e.o.Streams, e.meanings(), layouts(e.plan))
	if c == nil {
		c = swapped(snap, e.o.Plan)
	}
	if c == nil {
		c = modeChange(snap, len(e.plan.State()) > 0, e.o.Mode)
	}
	if c != nil {
		return fmt.Errorf("%w: %w of flow %s; a full refresh is needed: --full-refresh %s", ErrChanged, c, e.o.Flow, e.o.Dataset)
	}
	if d.Action == checkpoint.Start || d.Action == checkpoint.Rerun {
		// What a crashed attempt staged is not needed: nothing is prepared.
		if err := e.o.Sink.Clean(ctx, e.o.DB.Identity().AppID); err != nil {
			return fmt.Errorf("clean %s: %w", e.o.Dataset, err)
		}
		if err := e.at(RecoverCleaned); err != nil {
			return err
		}
	}
	if err := e.restore(ctx, snap, d); err != nil {
		return err
	}
	if err := e.at(recoverPrefix + d.Action.String()); err != nil {
		return err
	}
	switch d.Action {
	case checkpoint.Finish:
		if err := e.o.Sink.Commit(ctx, e.info(*snap.Intent), snap.Prepared.Token); err != nil {
			return fmt.Errorf("finish epoch %d of %s: %w", d.Epoch, e.o.Dataset, err)
		}
		if err := e.at(RecoverFinished); err != nil {
			return err
		}
		e.advance(*snap.Intent)
		return e.writeMark(ctx)
	case checkpoint.Mark:
		e.advance(*snap.Intent)
		return e.writeMark(ctx)
	case checkpoint.Rerun, checkpoint.Discard:
		return e.runEpoch(ctx, *snap.Intent)
	}
	return nil
}

// decide is what recovery does first, or an error with the way out.
func decide(dataset, flow, path string, snap checkpoint.Snapshot, held connector.Held) (checkpoint.Decision, error) {
	f := checkpoint.Facts{Intent: -1, Prepared: -1, Marked: snap.Marked, SinkEpoch: held.Epoch, SinkKnows: held.Knows}
	if snap.Intent != nil {
		f.Intent = snap.Intent.Epoch
	}
	if snap.Prepared != nil {
		f.Prepared = snap.Prepared.Epoch
	}
	d := checkpoint.Decide(f)
	switch d.Action {
	case checkpoint.RefuseAhead:
		return d, fmt.Errorf("%w: %s holds epoch %d of flow %s, the checkpoint %s ends at epoch %d; restore the checkpoint from a copy, or run with --full-refresh %s",
			ErrAhead, dataset, d.Epoch, flow, path, f.Intent, dataset)
	case checkpoint.RefuseDamaged:
		if f.SinkKnows && f.SinkEpoch < f.Marked && f.Marked <= f.Intent {
			return d, fmt.Errorf("%w: %s holds flow %s up to epoch %d, its checkpoint says that %d is committed: the table was lost or is an older copy; restore both from copies of one moment, or run with --full-refresh %s",
				ErrBehind, dataset, flow, f.SinkEpoch, f.Marked, dataset)
		}
		return d, fmt.Errorf("%w: %s: intent %d, prepared %d, committed %d, the table holds %d; restore it from a copy, or run with --full-refresh %s",
			checkpoint.ErrDamaged, path, f.Intent, f.Prepared, f.Marked, f.SinkEpoch, dataset)
	}
	return d, nil
}

// restore sets offsets, watermarks and state to what they were before the
// decision's epoch.
func (e *Execution) restore(ctx context.Context, snap checkpoint.Snapshot, d checkpoint.Decision) error {
	planned := map[string]stream.Offset{}
	e.epoch, e.marked = d.Epoch, snap.Marked
	if snap.Intent != nil {
		maps.Copy(planned, snap.Intent.To)
		if d.Action == checkpoint.Start {
			maps.Copy(e.offsets, snap.Intent.To)
			e.marks.committed(snap.Intent.Late, snap.Intent.Evict)
		} else {
			maps.Copy(e.offsets, snap.Intent.From)
		}
	}
	from := snap.Prepared
	if d.Action == checkpoint.Discard { // to what the epoch before led to
		var err error
		if from, err = e.o.DB.LoadPrepared(snap.Prepared.Epoch - 1); err != nil {
			return err
		}
	}
	if from != nil {
		e.marks.restore(from.EventTimes, from.Heard)
	}
	for _, id := range e.streamIDs() {
		ledger := connector.Ledger(func(fn func(k, v []byte) error) error { return e.o.DB.ReadLedger(id, fn) })
		if err := e.o.Streams[id].Start(ctx, planned[id], ledger); err != nil {
			return fmt.Errorf("start source %s: %w", id, err)
		}
	}
	return e.restoreState(snap.Prepared, from)
}

// differences says which keys were added to or removed from old.
func differences[A, B any](old map[string]A, now map[string]B) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(now)) {
		if _, ok := old[k]; !ok {
			out = append(out, "added "+k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(old)) {
		if _, ok := now[k]; !ok {
			out = append(out, "removed "+k)
		}
	}
	return strings.Join(out, ", ")
}
