package pipelines

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/graph"
	"pipelines/runtime/connector"
	"pipelines/spec/diag"
	"pipelines/tables/catalog"
)

const (
	// sinkCatalog is where the checkpoints of sinks are recorded.
	sinkCatalog = "__sinks"
	// sinkKind is the kind of their records.
	sinkKind catalog.Kind = "sink"
	// sinkTarget is where a record keeps a hash of what a sink writes to: a sink
	// knows no epochs, so only this tells that a renamed one would write again.
	sinkTarget = "target"
)

// sinkName is the name of the record of a sink.
func (u *update) sinkName(name string) []string { return []string{sinkCatalog, u.p.Name(), name} }

// recordName is the catalog's name of a table or sink.
func (u *update) recordName(d *dataset) catalog.Name {
	if d.kind == graph.Sink {
		return nameOf(u.sinkName(d.shown()))
	}
	return nameOf(d.name)
}

// formerName is the catalog's name of what a table or sink is moved from.
func (u *update) formerName(d *dataset) []string {
	if d.kind == graph.Sink {
		return u.sinkName(d.movedFrom[0])
	}
	return d.movedFrom
}

// formerShown is that name in messages.
func (u *update) formerShown(d *dataset) string {
	if d.kind == graph.Sink {
		return d.movedFrom[0]
	}
	return nameOf(d.movedFrom).String()
}

// kindWord is what is moved, in messages.
func kindWord(d *dataset) string {
	if d.kind == graph.Sink {
		return "sink"
	}
	return "table"
}

// outsideSink opens a sink for a flow.
func (u *update) outsideSink(ctx context.Context, t *task) (connector.Sink, error) {
	f := builtin.Sink(t.d.sink.Format.Value)
	vals, list := decodeOptions(f.Name+" sink", f.Fields, t.d.sink, u.p)
	if list.HasErrors() {
		return nil, fmt.Errorf("sink %s: %s", t.d.shown(), list[0].Message)
	}
	return f.Open(ctx, connector.SinkConfig{Name: t.d.shown(), Dir: u.p.spec.Dir, Schema: t.f.plan.Schema, Options: vals, Out: u.o.Out})
}

// targetOf is a hash of what a sink writes to, "" if nothing is kept of it.
func (u *update) targetOf(d *dataset) string {
	f := builtin.Sink(d.sink.Format.Value)
	if f == nil || f.Target == nil {
		return ""
	}
	vals, list := decodeOptions(f.Name+" sink", f.Fields, d.sink, u.p)
	if list.HasErrors() {
		return ""
	}
	where := f.Target(connector.SinkConfig{Name: d.shown(), Dir: u.p.spec.Dir, Options: vals})
	if where == "" {
		return ""
	}
	return hash(f.Name, where) // it may hold a secret
}

// lookAtSink finds the record of a sink's checkpoints and compares it with the
// definition.
func (u *update) lookAtSink(ctx context.Context, d *dataset) (diag.List, error) {
	t := &target{d: d}
	u.sinks[d] = t
	var err error
	var list diag.List
	name := u.recordName(d)
	t.record, t.known, err = u.st.record(ctx, u.sinkName(d.shown()))
	if err == nil {
		list, err = u.lookAtMove(ctx, t)
	}
	t.record.Name, t.record.Kind, t.record.Owner = name, sinkKind, u.p.Name()
	if err == nil && !list.HasErrors() && u.selected[d] && !u.fresh[d] {
		list = append(list, u.renamedFlows(t)...)
		var more diag.List
		more, err = u.renamedSink(ctx, t)
		list = append(list, more...)
	}
	if err != nil {
		return list, fmt.Errorf("sink %s cannot be used: %w; restore the record %s from a copy, or remove it and run with --full-refresh %s", d.shown(), err, u.st.recordPath(name), d.typed())
	}
	return list, nil
}

// renamedSink refuses flows that are new in a sink while others that have
// written to the same target are gone: most likely something was renamed, and
// all rows would be written again.
func (u *update) renamedSink(ctx context.Context, t *target) (diag.List, error) {
	d := t.d
	fresh, _ := flowChanges(t)
	if len(fresh) == 0 {
		return nil, nil
	}
	records, err := u.sinkRecords(ctx)
	if err != nil {
		return nil, err
	}
	where := u.targetOf(d)
	var left []string
	for _, r := range records {
		if r.Name.Equal(t.record.Name) || t.move != nil && t.move.From != nil && r.Name.Equal(*t.move.From) {
			continue
		}
		gone := u.goneFrom(r)
		same := where != "" && r.Extra[sinkTarget] == where
		switch {
		case len(gone) == 0:
		case r.Owner != u.p.Name():
			if same && !t.known && strings.EqualFold(r.Name.Table, d.shown()) {
				x := diag.AtSpan(d.file, d.place, "SINK_RENAMED", fmt.Sprintf("the pipeline %s has written to the target of %s by a sink of that name: under the name %s all rows would be written again", r.Owner, d.shown(), u.p.Name()))
				return diag.List{x.WithHint("give the pipeline its former name; or, to write everything again, run with --full-refresh " + d.typed())}, nil
			}
		case same:
			return diag.List{u.writtenBefore(t, r, fresh, gone)}, nil
		case u.sinkNamed(r) == nil:
			left = append(left, r.Name.Table)
		}
	}
	if len(left) == 0 || t.known || d.movedFrom != nil {
		return nil, nil
	}
	x := diag.AtSpan(d.file, d.place, "SINK_LEFT", fmt.Sprintf("the sink %s is new, and the storage holds the checkpoints of %s, which the project no longer defines", d.shown(), strings.Join(left, ", ")))
	return diag.List{x.Warn().WithHint("if it was renamed, say moved_from: " + left[0] + " to go on from its checkpoints; otherwise it writes everything from the start")}, nil
}

func (u *update) writtenBefore(t *target, r catalog.Record, fresh, gone []string) diag.Diagnostic {
	d := t.d
	x := diag.AtSpan(d.file, d.place, "SINK_RENAMED", fmt.Sprintf("flow %s of %s is new and would start without a checkpoint, while flow %s of %s, which has written to the same target, is gone: all its rows would be written again",
		strings.Join(fresh, ", "), d.shown(), strings.Join(gone, ", "), r.Name.Table))
	hint := fmt.Sprintf("if it is another flow, take the old one out in one run and add the new one in the next; to write everything again, run with --full-refresh %s", d.typed())
	if u.sinkNamed(r) == nil && !t.known {
		hint = fmt.Sprintf("say moved_from: %s in the sink to go on from its checkpoints; %s", r.Name.Table, hint)
	}
	return x.WithHint(hint)
}

// goneFrom names the flows that have written into the sink of a record and are
// no longer there, without those that were taken out in an earlier run.
func (u *update) goneFrom(r catalog.Record) []string {
	d := u.sinkNamed(r)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Flows)) {
		there := d != nil && slices.ContainsFunc(d.flows, func(f *flow) bool { return f.name == name || strings.EqualFold(f.movedFrom.value, name) })
		if !there && r.Extra[made+name] != "" && r.Extra[retired+name] == "" {
			out = append(out, name)
		}
	}
	return out
}

// sinkNamed is the sink that a record is of, nil if the project has none.
func (u *update) sinkNamed(r catalog.Record) *dataset {
	if r.Owner != u.p.Name() {
		return nil
	}
	d := u.p.byID[strings.ToLower(r.Name.Table)]
	if d == nil || d.kind != graph.Sink {
		return nil
	}
	return d
}

// sinkRecords lists the records of sinks of all pipelines.
func (u *update) sinkRecords(ctx context.Context) ([]catalog.Record, error) {
	var out []catalog.Record
	err := u.st.catalog.ListIn(ctx, sinkCatalog, func(r catalog.Record, err error) bool {
		if err == nil {
			out = append(out, r)
		}
		return true
	})
	return out, err
}

// leftSinks names the sinks that only the storage knows.
func (u *update) leftSinks(ctx context.Context) ([]string, error) {
	records, err := u.sinkRecords(ctx)
	var out []string
	for _, r := range records {
		if r.Owner == u.p.Name() && u.sinkNamed(r) == nil {
			out = append(out, r.Name.Table)
		}
	}
	return out, err
}

// retireSinks marks the flows of sinks that are out of the project, once no
// sink waits that could be one of them under a new name.
func (u *update) retireSinks(ctx context.Context) error {
	if !u.allSinks() {
		return nil
	}
	records, err := u.sinkRecords(ctx)
	if err != nil {
		return err
	}
	for _, r := range records {
		gone := u.goneFrom(r)
		if r.Owner != u.p.Name() || u.sinkNamed(r) != nil || len(gone) == 0 {
			continue
		}
		for _, name := range gone {
			r.Extra[retired+name] = "true"
		}
		if err := u.st.catalog.Put(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// allSinks reports whether no sink of the project is left out of the update.
func (u *update) allSinks() bool {
	return !slices.ContainsFunc(u.p.datasets, func(d *dataset) bool { return d.kind == graph.Sink && !u.selected[d] })
}

// recordSink brings the record that names the checkpoints of a sink's flows up
// to date.
func (u *update) recordSink(ctx context.Context, t *target) error {
	rec := &t.record
	changed := !t.known
	if rec.Flows == nil {
		rec.Flows = map[string]string{}
	}
	if rec.Extra == nil {
		rec.Extra = map[string]string{}
	}
	// A checkpoint without flows in the record belongs to a record that was lost.
	if u.fresh[t.d] && (len(rec.Flows) > 0 || u.hasCheckpoint(t)) {
		for rec.CheckpointVersion++; u.hasCheckpoint(t); rec.CheckpointVersion++ {
		}
		rec.Flows, changed = map[string]string{}, true
		forgetMade(rec.Extra)
		delete(rec.Extra, stateName)
	}
	for _, f := range t.d.flows {
		if rec.Flows[f.name] == "" {
			rec.Flows[f.name], changed = newAppID(), true
		}
	}
	if where := u.targetOf(t.d); rec.Extra[sinkTarget] != where {
		rec.Extra[sinkTarget], changed = where, true
	}
	if u.allSinks() && noteRetired(t) {
		changed = true
	}
	if !changed {
		return nil
	}
	if err := u.st.catalog.Put(ctx, *rec); err != nil || !u.fresh[t.d] {
		return err
	}
	return u.dropGone(*rec)
}
