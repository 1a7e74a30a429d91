package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/runtime/checkpoint"
	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
	"pipelines/stores"
	"pipelines/tables/catalog"
)

// move is a rename by moved_from that is decided or begun. The record of the
// table keeps it until all is done: a crash in between is finished by the next
// run. A table's data stays in its folder.
type move struct {
	// From is the table's former name; nil when only flows are renamed.
	From *catalog.Name `json:"from,omitempty"`
	// Flows maps flows to their former names.
	Flows map[string]string `json:"flows,omitempty"`
}

const (
	// moving is where a record keeps a move that is under way.
	moving = "moving"
	// stateName is where a record keeps the name that the state of a moved table
	// was made under.
	stateName = "state_name"
)

// was is the former name of a flow.
func (m *move) was(flow string) string {
	if old, ok := m.Flows[flow]; ok {
		return old
	}
	return flow
}

// lookAtMove finds out whether a table or its flows still have to be renamed,
// and takes over the record of the former name.
func (u *update) lookAtMove(ctx context.Context, t *target) (diag.List, error) {
	if text := t.record.Extra[moving]; text != "" {
		t.move = &move{}
		if err := json.Unmarshal([]byte(text), t.move); err != nil {
			return nil, &stores.ClassError{Class: stores.Corrupt, Err: fmt.Errorf("catalog entry of %s: %w", t.record.Name, err)}
		}
		return nil, nil
	}
	var list diag.List
	if t.d.movedFrom != nil {
		more, err := u.movedTable(ctx, t)
		if err != nil || more.HasErrors() {
			return more, err
		}
		list = more
	}
	more := movedFlows(t.d, &t.record, &t.move)
	return append(list, more...), nil
}

func (u *update) movedTable(ctx context.Context, t *target) (diag.List, error) {
	d := t.d
	fail := func(code diag.Code, hint, format string, args ...any) (diag.List, error) {
		return diag.List{diag.AtSpan(d.file, d.movedAt, code, fmt.Sprintf(format, args...)).WithHint(hint)}, nil
	}
	old, found, err := u.st.record(ctx, u.formerName(d))
	switch {
	case err != nil:
		return nil, err
	case found && t.known:
		return fail("MOVED_FROM_CONFLICT", "remove moved_from and keep both, or take one of them out of the storage", "the storage holds both %s and %s: which rows are to be kept is not known", u.formerShown(d), d.shown())
	case t.known:
		return nil, nil // it was moved before
	case !found:
		return u.strayMove(ctx, d)
	case old.Owner != u.p.Name():
		return fail("TABLE_OWNED_BY_OTHER_PIPELINE", "move it in the pipeline "+old.Owner, "%s belongs to the pipeline %s", old.Name, old.Owner)
	case old.Extra[moving] != "":
		return fail("MOVED_FROM_CONFLICT", "undo the second renaming and run once, which finishes the first", "a run was stopped while it moved a table to %s: it has to be finished before the next renaming", old.Name)
	case old.Kind != kindOf(d.kind):
		return fail("DATASET_KIND_CHANGED", "keep the kind, or remove moved_from to make a new table", "%s was a %s and %s is a %s", old.Name, old.Kind, d.shown(), kindOf(d.kind))
	}
	from := old.Name
	t.record, t.known = old, true
	t.record.Name = u.recordName(d)
	t.move = &move{From: &from, Flows: map[string]string{}}
	if t.record.Extra == nil {
		t.record.Extra = map[string]string{}
	}
	if t.record.Extra[stateName] == "" {
		t.record.Extra[stateName] = from.Table
	}
	own := slices.ContainsFunc(d.flows, func(f *flow) bool { return f.name == d.shown() })
	named := slices.ContainsFunc(d.flows, func(f *flow) bool { return strings.EqualFold(f.name, from.Table) })
	if was := flowNamed(t.record, from.Table); was != "" && own && !named && t.record.Flows[d.shown()] == "" {
		renameFlow(&t.record, t.move, was, d.shown())
	}
	return nil, nil
}

// strayMove looks at a former name that the storage does not hold: nothing is
// wrong with it in a storage where the table was never made, but a wrong name
// would start it afresh.
func (u *update) strayMove(ctx context.Context, d *dataset) (diag.List, error) {
	names, err := u.leftTables(ctx)
	if d.kind == graph.Sink {
		names, err = u.leftSinks(ctx)
	}
	if err != nil || len(names) == 0 {
		return nil, err
	}
	was := u.formerShown(d)
	x := diag.AtSpan(d.file, d.movedAt, "MOVED_FROM_NOT_FOUND", fmt.Sprintf("the storage holds no %s %s that %s could be moved from", kindWord(d), was, d.shown()))
	return diag.List{x.WithHint(orHint(diag.DidYouMean(was, names), "the project no longer defines "+strings.Join(names, ", ")+"; remove moved_from if "+d.shown()+" is new"))}, nil
}

// renamedTable warns where a new table may be a renamed one.
func (u *update) renamedTable(ctx context.Context, d *dataset) (diag.List, error) {
	if d.kind != graph.StreamingTable || d.movedFrom != nil || !u.selected[d] {
		return nil, nil
	}
	names, err := u.leftTables(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	x := diag.AtSpan(d.file, d.place, "TABLE_LEFT", fmt.Sprintf("%s is new, and the storage holds %s, which the project no longer defines", d.shown(), strings.Join(names, ", ")))
	return diag.List{x.Warn().WithHint("if it was renamed, say moved_from: " + names[0] + " to keep its rows and its state; otherwise it reads everything from the start")}, nil
}

// leftTables names the tables of the pipeline in the storage that the project
// does not define.
func (u *update) leftTables(ctx context.Context) ([]string, error) {
	if u.left != nil {
		return u.left, nil
	}
	out := []string{}
	err := u.st.catalog.List(ctx, func(r catalog.Record, err error) bool {
		if err != nil || r.Owner != u.p.Name() || r.Name.Catalog == sinkCatalog || r.Kind == catalog.View {
			return true
		}
		if u.p.byID[strings.ToLower(r.Name.String())] == nil {
			out = append(out, r.Name.String())
		}
		return true
	})
	u.left = out
	return out, err
}

// movedFlows renames the flows of a record that say where they come from.
func movedFlows(d *dataset, rec *catalog.Record, m **move) diag.List {
	var list diag.List
	for _, f := range d.flows {
		if f.movedFrom.value == "" || rec.Flows == nil {
			continue
		}
		fail := func(code diag.Code, hint, format string, args ...any) {
			list = append(list, diag.AtSpan(f.file, f.movedFrom.place, code, fmt.Sprintf(format, args...)).WithHint(hint))
		}
		was := flowNamed(*rec, f.movedFrom.value)
		switch {
		case was != "" && rec.Flows[f.name] != "":
			fail("MOVED_FROM_CONFLICT", "remove moved_from", "both the flow %s and %s have written into %s: they cannot become one", f.name, was, d.shown())
		case was != "":
			if *m == nil {
				*m = &move{Flows: map[string]string{}}
			}
			renameFlow(rec, *m, was, f.name)
		case rec.Flows[f.name] == "":
			if left := leftFlows(d, rec); len(left) > 0 {
				fail("MOVED_FROM_NOT_FOUND", orHint(diag.DidYouMean(f.movedFrom.value, left), "remove moved_from if "+f.name+" is new"), "%s has no flow %s that %s could be moved from", d.shown(), f.movedFrom.value, f.name)
			}
		}
	}
	return list
}

// leftFlows names the flows that only the record knows.
func leftFlows(d *dataset, rec *catalog.Record) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(rec.Flows)) {
		if !slices.ContainsFunc(d.flows, func(f *flow) bool { return strings.EqualFold(f.name, name) }) {
			out = append(out, name)
		}
	}
	return out
}

// flowNamed finds a flow of a record whatever its case.
func flowNamed(rec catalog.Record, name string) string {
	for _, k := range slices.Sorted(maps.Keys(rec.Flows)) {
		if strings.EqualFold(k, name) {
			return k
		}
	}
	return ""
}

func renameFlow(rec *catalog.Record, m *move, was, now string) {
	rec.Flows[now] = rec.Flows[was]
	delete(rec.Flows, was)
	delete(rec.Extra, retired+was)
	if rec.Extra[made+was] != "" {
		rec.Extra[made+now] = rec.Extra[made+was]
		delete(rec.Extra, made+was)
	}
	m.Flows[now] = was
	if text := rec.Extra[keyedKey]; text != "" {
		rec.Extra[keyedKey] = keyedBy(text, was, now)
	}
}

// keyedBy is the text of a keyedRecord after its flow was renamed.
func keyedBy(text, was, now string) string {
	var keyed keyedRecord
	if json.Unmarshal([]byte(text), &keyed) != nil || keyed.Flow != was {
		return text
	}
	keyed.Flow = now
	return keyed.text()
}

// details says in a dry run what is moved.
func (m *move) details() []string {
	if m == nil {
		return nil
	}
	var out []string
	if m.From != nil && m.From.Catalog == sinkCatalog {
		out = append(out, fmt.Sprintf("moved from %s: its checkpoints are kept", m.From.Table))
	} else if m.From != nil {
		out = append(out, fmt.Sprintf("moved from %s: rows, state and checkpoints are kept; the data stays in its folder", m.From))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Flows)) {
		out = append(out, fmt.Sprintf("flow %s: moved from %s", name, m.Flows[name]))
	}
	return out
}

// doMoves carries out the renames, before anything else is written.
func (u *update) doMoves(ctx context.Context) error {
	for _, d := range u.p.datasets {
		t := u.tables[d]
		if d.kind == graph.Sink {
			t = u.sinks[d]
		}
		if t != nil && t.move != nil {
			if err := u.doMove(ctx, t); err != nil {
				return fmt.Errorf("move %s: %w", d.shown(), err)
			}
		}
	}
	return nil
}

func (u *update) doMove(ctx context.Context, t *target) error {
	m := t.move
	if err := u.begin(ctx, &t.record, m); err != nil {
		return err
	}
	if m.From != nil {
		if err := u.moveReaders(ctx); err != nil {
			return err
		}
		if err := u.at("move.readers"); err != nil {
			return err
		}
		if err := u.st.catalog.Delete(ctx, *m.From, u.p.Name()); err != nil {
			return err
		}
		if err := u.at("move.removed"); err != nil {
			return err
		}
	}
	t.move = nil
	delete(t.record.Extra, moving)
	if err := u.st.catalog.Put(ctx, t.record); err != nil {
		return err
	}
	return u.at("move.done")
}

// begin notes a move in the record, which decides it, and moves the
// checkpoints.
func (u *update) begin(ctx context.Context, rec *catalog.Record, m *move) error {
	for _, name := range slices.Sorted(maps.Keys(rec.Flows)) {
		was, now := u.flowFolders(rec, m, name)
		if was == now {
			continue
		}
		if exists(was) && exists(now) {
			return fmt.Errorf("the folder %s is in the way of the checkpoint %s: remove the one that is not needed", now, was)
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if rec.Extra == nil {
		rec.Extra = map[string]string{}
	}
	rec.Extra[moving] = string(text)
	if err := u.st.catalog.Put(ctx, *rec); err != nil {
		return err
	}
	if err := u.at("move.recorded"); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(rec.Flows)) {
		was, now := u.flowFolders(rec, m, name)
		if err := moveFolder(was, now); err != nil {
			return err
		}
		path := u.checkpointPath(rec.Name.CheckpointFolder(name, rec.CheckpointVersion))
		if !exists(path) {
			continue
		}
		if err := checkpoint.Rename(path, checkpoint.Renaming{Dataset: rec.Name.String(), Flow: name, Sink: func(meaning string) string { return keyedBy(meaning, m.was(name), name) }}); err != nil {
			return err
		}
	}
	return u.at("move.checkpoints")
}

// flowFolders are the folders of a flow's checkpoints before and after a move.
func (u *update) flowFolders(rec *catalog.Record, m *move, flow string) (was, now string) {
	from := rec.Name
	if m.From != nil {
		from = *m.From
	}
	folder := func(n catalog.Name, flow string) string {
		return filepath.Dir(filepath.Dir(u.checkpointPath(n.CheckpointFolder(flow, 0))))
	}
	return folder(from, m.was(flow)), folder(rec.Name, flow)
}

// moveFolder renames a folder unless that was done before.
func moveFolder(was, now string) error {
	if was == now || !exists(was) {
		return nil
	}
	if err := stores.MakeFolder(filepath.Dir(now), 0o755); err != nil {
		return err
	}
	if err := os.Rename(was, now); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(was)) // if nothing else is in it
	return stores.SyncFolder(filepath.Dir(now))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkpointOf finds the checkpoint of a table's flow, also while it is still
// under the former name.
func (u *update) checkpointOf(t *target, flow string) string {
	path := u.checkpointPath(t.record.Name.CheckpointFolder(flow, t.record.CheckpointVersion))
	if t.move == nil || exists(path) {
		return path
	}
	was, _ := u.flowFolders(&t.record, t.move, flow)
	return filepath.Join(was, fmt.Sprint(t.record.CheckpointVersion), "flow.db")
}

// movedSources lists what a flow's checkpoint calls the tables that are moved:
// former to present id.
func (u *update) movedSources(f *flow) map[string]string {
	out := map[string]string{}
	if f.plan == nil {
		return out
	}
	for _, r := range f.plan.Reads {
		h, ok := r.Handle.(handle)
		if !ok || h.dataset == nil {
			continue
		}
		if t := u.tables[h.dataset]; t != nil && t.move != nil && t.move.From != nil {
			out[strings.ToLower(t.move.From.String())] = h.dataset.id()
		}
	}
	return out
}

// moveReaders gives moved tables their new ids in the checkpoints of the flows
// that read them.
func (u *update) moveReaders(ctx context.Context) error {
	for _, d := range u.p.datasets {
		reader := u.tables[d]
		for _, f := range d.flows {
			ids := u.movedSources(f)
			if len(ids) == 0 {
				continue
			}
			if d.kind == graph.Sink {
				reader = u.sinks[d]
			}
			if reader == nil || !reader.known {
				continue
			}
			path := u.checkpointOf(reader, f.name)
			if !exists(path) {
				continue
			}
			if err := checkpoint.Rename(path, checkpoint.Renaming{Sources: ids}); err != nil {
				return err
			}
		}
	}
	return nil
}

// statePlan is a flow's plan with the names that its state was stored under.
func statePlan(f *flow, rec catalog.Record) logical.Node {
	if was := rec.Extra[stateName]; was != "" {
		return logical.RenameState(f.plan.Node, f.target.shown(), was)
	}
	return f.plan.Node
}
