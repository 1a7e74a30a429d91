package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"

	"pipelines/pipelines/graph"
	"pipelines/runtime/checkpoint"
	exec "pipelines/runtime/flow"
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
		if err != nil {
			continue
		}
		snap, err := db.Load()
		if errors.Join(err, db.Close()) != nil {
			continue
		}
		snap.RenameSources(u.movedSources(f))
		c, err := exec.Compare(statePlan(f, t.record), f.session, modes[f.mode], snap)
		if err != nil || c == nil {
			continue
		}
		x := diag.AtSpan(f.file, f.place, changeClasses[c.What], fmt.Sprintf("flow %s of %s cannot go on from its checkpoint: %s", f.name, d.shown(), c))
		list = append(list, x.WithHint("run with --full-refresh "+d.shown()+" to read everything again, or undo the change"))
	}
	return list
}

// changeClasses are the classes of the changes that exec.Compare finds.
var changeClasses = map[exec.What]diag.Code{
	exec.Sources:   "STREAMING_SOURCES_CHANGED",
	exec.Operators: "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
	exec.State:     "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",

	exec.OutputMode: "OUTPUT_MODE_CHANGED",
}
