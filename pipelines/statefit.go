package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/graph"
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
	exec "pipelines/runtime/flow"
	"pipelines/spec"
	"pipelines/spec/diag"
)

// statesFit compares the flows of a streaming table or sink with what their checkpoints
// were written for, before anything runs. A checkpoint that cannot be read is
// left to the flow, which says more about it.
func (u *update) statesFit(ctx context.Context, d *dataset) diag.List {
	t := u.tables[d]
	if d.kind == graph.Sink {
		t = u.sinks[d]
	}
	if d.kind != graph.StreamingTable && d.kind != graph.Sink || t == nil || !t.known || u.fresh[d] {
		return nil
	}
	var list diag.List
	for _, f := range d.flows {
		if ctx.Err() != nil || f.plan == nil {
			continue
		}
		path := u.checkpointOf(t, f.name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		db, err := checkpoint.View(path)
		if errors.Is(err, checkpoint.ErrLocked) && u.held == nil {
			u.held = checkpointError(d, err)
		}
		if err != nil {
			continue
		}
		snap, err := db.Load()
		unfit := u.sinkFits(t, f, db)
		if errors.Join(err, db.Close()) != nil {
			continue
		}
		snap.RenameSources(u.movedSources(f))
		c, err := exec.Compare(statePlan(f, t.record), f.session, modes[f.mode], snap)
		at := f.place
		if err == nil && c == nil && unfit != nil {
			c, at = &exec.Change{What: exec.State, Detail: unfit.What}, columnsPlace(f)
		}
		if err != nil || c == nil {
			continue
		}
		if err := u.newColumnsUnfit(d, f, c, snap); err != nil {
			u.unfit[d] = err
			continue
		}
		x := diag.AtSpan(f.file, at, changeClasses[c.What], fmt.Sprintf("flow %s of %s cannot go on from its checkpoint: %s", f.name, d.shown(), c))
		list = append(list, x.WithHint("run with --full-refresh "+d.typed()+" to read everything again, or undo the change"))
	}
	return list
}

// sinkFits compares the columns of AUTO CDC with those of the changes that it
// keeps; nil where they fit or cannot be read.
func (u *update) sinkFits(t *target, f *flow, db *checkpoint.DB) *connector.StateError {
	if t.table == nil || f.keyed == nil || f.keyed.changes == nil || len(keyedDrift(t)) > 0 {
		return nil // or said elsewhere
	}
	sink := u.keyedSink(&task{d: t.d, f: f}, builtin.TableSinkOptions{Table: t.table, Schema: f.plan.Schema})
	x, _ := errors.AsType[*connector.StateError](exec.SinkFits(sink, db))
	return x
}

// columnsPlace is where a flow of AUTO CDC chooses its columns, or the flow.
func columnsPlace(f *flow) diag.Span {
	for _, ws := range [][]spec.String{f.cdc.Columns, f.cdc.ExceptColumns} {
		if len(ws) > 0 {
			return diag.Span{File: ws[0].Span.File, Start: ws[0].Span.Start, End: ws[len(ws)-1].Span.End}
		}
	}
	return f.place
}

// changeClasses are the classes of the changes that exec.Compare finds.
var changeClasses = map[exec.What]diag.Code{
	exec.Sources:   "STREAMING_SOURCES_CHANGED",
	exec.Operators: "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
	exec.State:     "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",

	exec.OutputMode: "OUTPUT_MODE_CHANGED",
}
