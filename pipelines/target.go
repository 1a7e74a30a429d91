package pipelines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/catalog"
	"pipelines/tables/schema"
)

// target is a table as this update finds and leaves it.
type target struct {
	d      *dataset
	record catalog.Record
	known  bool // the catalog had a record
	found  bool // there was none, but the table is there
	table  *tables.Table
	schema schema.Schema // what the table will have
	merged bool          // the schema changes
	about  tableChange   // of the comment and the properties
	move   *move         // a rename that is not done yet
}

// materialise looks at every selected table in the storage and decides what
// changes; findings stop the update before anything is written.
func (u *update) materialise(ctx context.Context) (diag.List, error) {
	var list diag.List
	for _, d := range u.p.datasets {
		if d.kind == graph.Sink {
			more, err := u.lookAtSink(ctx, d)
			list = append(list, more...)
			if err != nil {
				return list, &EnvironmentError{err}
			}
			continue
		}
		if d.kind == graph.TemporaryView {
			continue
		}
		t, more, err := u.lookAt(ctx, d)
		list = append(list, more...)
		if err != nil {
			return list, &EnvironmentError{u.unusable(t, err)}
		}
		u.tables[d] = t
	}
	for _, d := range u.p.datasets {
		if u.selected[d] {
			list = append(list, u.missingUpstream(d)...)
			list = append(list, u.statesFit(ctx, d)...)
		}
	}
	return list, nil
}

// unusable is the error of a table whose record or log cannot be read.
func (u *update) unusable(t *target, err error) error {
	folder := t.record.Folder
	if folder == "" {
		folder = nameOf(t.d.name).DataFolder()
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(u.st.root, filepath.FromSlash(folder))
	}
	return fmt.Errorf("%s cannot be used: %w; restore its catalog record %s and its folder %s from copies of one moment, or remove both and run with --full-refresh %s",
		t.d.shown(), err, u.st.recordPath(nameOf(t.d.name)), folder, t.d.typed())
}

// missingUpstream refuses to read tables that do not exist and are not made.
func (u *update) missingUpstream(d *dataset) diag.List {
	var list diag.List
	seen := map[*graph.Node]bool{}
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		for _, r := range n.Reads() {
			x := u.p.byID[r.From.ID]
			if x == nil || seen[r.From] {
				continue
			}
			seen[r.From] = true
			switch {
			case x.kind == graph.TemporaryView || x.kind == graph.PersistedView:
				walk(r.From)
			case !u.selected[x] && u.tables[x] != nil && u.tables[x].table == nil:
				y := diag.AtSpan(d.file, r.Place, "TABLE_OR_VIEW_NOT_FOUND", fmt.Sprintf("%s reads %s, which was never made and is not part of this update", d.shown(), x.shown()))
				list = append(list, y.WithHint("add "+x.shown()+" to --refresh"))
			}
		}
	}
	walk(d.node)
	return list
}

// lookAt finds a table in the storage and compares it with its definition.
func (u *update) lookAt(ctx context.Context, d *dataset) (*target, diag.List, error) {
	t := &target{d: d, schema: d.done.schema}
	var err error
	t.record, t.known, err = u.st.record(ctx, d.name)
	if err != nil {
		return t, nil, err
	}
	list, err := u.lookAtMove(ctx, t)
	if err != nil || list.HasErrors() {
		return t, list, err
	}
	if t.known && t.record.Owner != u.p.Name() && u.selected[d] {
		msg := (&catalog.OwnerError{Name: nameOf(d.name), Owner: t.record.Owner, Wanted: u.p.Name()}).Error()
		return t, diag.List{diag.AtSpan(d.file, d.place, "TABLE_OWNED_BY_OTHER_PIPELINE", msg).WithHint("rename the table, or read the other one")}, nil
	}
	if d.kind == graph.PersistedView {
		return t, nil, nil
	}
	if list := u.refreshOfCleaned(t); list != nil {
		return t, list, nil
	}
	if !t.known || t.record.Folder == "" {
		more, err := u.withoutRecord(ctx, t)
		if err == nil && !t.known && !more.HasErrors() {
			list, err = u.renamedTable(ctx, d)
		}
		return t, append(list, more...), err
	}
	t.table, err = u.st.table(ctx, t.record.Folder)
	if errors.Is(err, stores.ErrNotExist) {
		t.table = nil
		return t, u.lostTable(t), nil
	}
	if err != nil {
		return t, nil, err
	}
	if !u.selected[d] {
		return t, nil, nil
	}
	list = append(u.compareTable(t), u.compareAbout(t)...)
	return t, append(list, u.renamedFlows(t)...), nil
}

// lostTable refuses to make a table anew in the place of one whose flows have
// committed epochs: nothing may stand where a copy is to be restored to.
func (u *update) lostTable(t *target) diag.List {
	d := t.d
	if !u.selected[d] || d.kind != graph.StreamingTable || u.fresh[d] {
		return nil
	}
	for _, f := range slices.Sorted(maps.Keys(t.record.Flows)) {
		c := CheckpointInfo{Path: u.checkpointOf(t, f)}
		if !exists(c.Path) || c.read() != nil || c.Epochs == 0 {
			continue // what cannot be read is reported when the flow opens it
		}
		x := diag.AtSpan(d.file, d.place, "TABLE_LOST", fmt.Sprintf("the table %s is not in %s, and the checkpoint of its flow %s says that epoch %d is committed to it", d.shown(), t.record.Folder, f, c.Epochs-1))
		return diag.List{x.WithHint("restore the table from a copy that is as new as the checkpoint, or run with --full-refresh " + d.typed())}
	}
	return nil
}

// withoutRecord looks whether a table's data is there although the catalog does
// not know it: its record was lost, and with it which epochs the table holds.
func (u *update) withoutRecord(ctx context.Context, t *target) (diag.List, error) {
	d := t.d
	table, err := u.unclaimed(ctx, t)
	if err != nil || table == nil {
		return nil, err
	}
	snap := table.Known()
	if snap.Version() == 0 && snap.NumFiles() == 0 {
		return nil, nil // a crash came between making the table and recording it
	}
	if u.selected[d] && d.kind == graph.StreamingTable && !u.fresh[d] {
		x := diag.AtSpan(d.file, d.place, "TABLE_WITHOUT_RECORD", fmt.Sprintf("the storage holds rows of %s (version %d) and the catalog knows nothing of them: which epochs they are from is lost", d.shown(), snap.Version()))
		return diag.List{x.WithHint("restore the catalog folder from a copy, or run with --full-refresh " + d.typed())}, nil
	}
	t.table, t.found = table, true
	t.merged = d.kind == graph.MaterializedView && !t.schema.Equal(snap.Schema())
	if !u.selected[d] {
		return nil, nil
	}
	return u.compareAbout(t), nil
}

// unclaimed decides the folder of a table that the catalog does not know: its
// own, unless a table that was moved has kept its data there. It returns what
// stands in the folder, nil for nothing.
func (u *update) unclaimed(ctx context.Context, t *target) (*tables.Table, error) {
	own := nameOf(t.d.name).DataFolder()
	t.record.Folder = own
	for n := 2; ; n++ {
		table, err := u.st.table(ctx, t.record.Folder)
		if errors.Is(err, stores.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		claimed := false
		if err := u.st.catalog.List(ctx, func(r catalog.Record, err error) bool {
			claimed = err == nil && r.Folder == t.record.Folder
			return !claimed
		}); err != nil {
			return nil, err
		}
		if !claimed {
			return table, nil
		}
		t.record.Folder = fmt.Sprintf("%s~%d", own, n) // no name encodes to it
	}
}

// compareTable checks a changed definition against the stored table.
func (u *update) compareTable(t *target) diag.List {
	d := t.d
	snap := t.table.Known()
	fail := func(code diag.Code, hint, format string, args ...any) diag.List {
		return diag.List{diag.AtSpan(d.file, d.place, code, fmt.Sprintf(format, args...)).WithHint(hint)}
	}
	kind := kindOf(d.kind)
	if t.record.Kind != kind && !u.fresh[d] {
		return fail("DATASET_KIND_CHANGED", "run with --full-refresh "+d.typed()+" to make it anew", "%s was a %s and is now a %s", d.shown(), t.record.Kind, kind)
	}
	var parts []string
	for _, p := range d.partitionedBy {
		parts = append(parts, t.schema.Fields[t.schema.Index(p.value)].Name)
	}
	repartitioned := !slices.Equal(parts, snap.PartitionColumns())
	if u.fresh[d] || d.kind == graph.MaterializedView {
		if repartitioned && !u.fresh[d] && u.p.spec.Form == spec.Spark {
			return fail("CANNOT_UPDATE_PARTITION_COLUMNS", "run with --full-refresh "+d.typed(), "%s is partitioned by %v in the storage and by %v in the project", d.shown(), snap.PartitionColumns(), parts)
		}
		t.schema = keepOrder(snap.Schema(), t.schema)
		t.merged = !t.schema.Equal(snap.Schema()) || repartitioned
		return nil
	}
	if list := keyedDrift(t); list != nil {
		return list
	}
	if repartitioned {
		return fail("CANNOT_UPDATE_PARTITION_COLUMNS", "run with --full-refresh "+d.typed(), "%s is partitioned by %v in the storage and by %v in the project", d.shown(), snap.PartitionColumns(), parts)
	}
	merged, err := schema.Merge(snap.Schema(), t.schema)
	if err != nil {
		return fail("CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", "keep the type with a cast, or run with --full-refresh "+d.typed(), "the columns of %s do not fit the stored table: %v", d.shown(), err)
	}
	t.merged = !merged.Equal(snap.Schema())
	t.schema = merged
	return nil
}

func kindOf(k graph.Kind) catalog.Kind {
	switch k {
	case graph.MaterializedView:
		return catalog.MaterializedView
	case graph.PersistedView:
		return catalog.View
	case graph.Sink:
		return sinkKind
	}
	return catalog.StreamingTable
}

// makeTables makes what does not exist, changes schemas, and empties what is
// made anew: all before any flow starts.
func (u *update) makeTables(ctx context.Context) error {
	if err := u.doMoves(ctx); err != nil {
		return err
	}
	if err := u.recordRefreshes(ctx); err != nil {
		return err
	}
	if err := u.retireSinks(ctx); err != nil {
		return err
	}
	for _, d := range u.p.datasets {
		t := u.tables[d]
		if t == nil || !u.selected[d] || u.unfit[d] != nil {
			continue
		}
		if err := u.makeTable(ctx, t); err != nil {
			return fmt.Errorf("make %s: %w", d.shown(), err)
		}
	}
	return nil
}

// recordRefreshes notes in the catalog what is made anew, readers before what
// they read: a crash in between leaves no reader behind whose upstream is
// emptied.
func (u *update) recordRefreshes(ctx context.Context) error {
	done := map[*dataset]bool{}
	var visit func(d *dataset) error
	visit = func(d *dataset) error {
		if done[d] {
			return nil
		}
		done[d] = true
		for _, r := range u.streamReaders(d) {
			if err := visit(r); err != nil {
				return err
			}
		}
		t := u.tables[d]
		switch {
		case !u.selected[d]:
			return nil
		case d.kind == graph.Sink:
			return u.recordSink(ctx, u.sinks[d])
		case t == nil || !u.fresh[d] || d.kind != graph.StreamingTable || !t.known:
			return nil
		}
		if err := u.startAgain(ctx, t); err != nil {
			return err
		}
		return u.st.catalog.Put(ctx, t.record)
	}
	for _, d := range u.p.datasets {
		if err := visit(d); err != nil {
			return fmt.Errorf("refresh %s: %w", d.shown(), err)
		}
	}
	return nil
}

func (u *update) makeTable(ctx context.Context, t *target) error {
	d := t.d
	if t.record.Flows == nil {
		t.record.Flows = map[string]string{}
	}
	if t.record.Extra == nil {
		t.record.Extra = map[string]string{}
	}
	t.record.Name, t.record.Kind, t.record.Owner = nameOf(d.name), kindOf(d.kind), u.p.Name()
	commented := t.record.Comment != d.comment && (d.comment != "" || !d.isTable())
	if commented {
		t.record.Comment = d.comment
	}
	before := maps.Clone(t.record.Flows)
	if d.kind == graph.PersistedView {
		t.record.Query = d.query.text.Body
		return u.st.catalog.Put(ctx, t.record)
	}
	if t.record.Folder == "" {
		t.record.Folder = nameOf(d.name).DataFolder()
	}
	if t.table == nil {
		if err := u.createTable(ctx, t); err != nil {
			return err
		}
	} else if err := u.changeAbout(ctx, t); err != nil {
		return err
	}
	refresh := u.fresh[d] && d.kind == graph.StreamingTable && (t.known || t.found) || t.record.Extra[refreshing] != ""
	if refresh {
		if err := u.startAgain(ctx, t); err != nil {
			return err
		}
	}
	// A checkpoint without a record belongs to one that was lost.
	for u.fresh[d] && !t.known && !refresh && u.hasCheckpoint(t) {
		t.record.CheckpointVersion++
	}
	for _, f := range d.flows {
		if t.record.Flows[f.name] == "" {
			t.record.Flows[f.name] = newAppID()
		}
	}
	gone := noteRetired(t)
	if noteKeyed(t) || gone || commented || !t.known || !maps.Equal(before, t.record.Flows) || refresh {
		if err := u.st.catalog.Put(ctx, t.record); err != nil {
			return err
		}
	}
	if refresh {
		if err := u.at("refresh.recorded"); err != nil {
			return err
		}
		return u.empty(ctx, t)
	}
	if t.merged && d.kind == graph.StreamingTable {
		return u.changeSchema(ctx, t)
	}
	return nil
}

func (u *update) createTable(ctx context.Context, t *target) error {
	d := t.d
	def := tables.Definition{Schema: t.schema, Name: d.shown(), Description: d.comment, Properties: map[string]string{}}
	if d.kind == graph.StreamingTable {
		def.Properties[tables.PropIsolation] = "WriteSerializable" // unless the definition says another
	}
	maps.Copy(def.Properties, d.properties)
	for _, p := range d.partitionedBy {
		def.PartitionColumns = append(def.PartitionColumns, p.value)
	}
	table, err := tables.OpenOrCreate(ctx, u.st.options(t.record.Folder), def)
	if err != nil {
		return err
	}
	u.st.keep(t.record.Folder, table)
	t.table = table
	return nil
}

// hasCheckpoint reports whether a flow of the table has a checkpoint of the
// record's version.
func (u *update) hasCheckpoint(t *target) bool {
	name := u.recordName(t.d)
	return slices.ContainsFunc(t.d.flows, func(f *flow) bool {
		return exists(u.checkpointPath(name.CheckpointFolder(f.name, t.record.CheckpointVersion)))
	})
}

// refreshing marks a record whose table still has to be emptied; its value is
// the application id of the commit that does it.
const refreshing = "refreshing"

// refreshedKey is where a record keeps the application ids of the flows that
// began again with the last full refresh: a flow that came later has read
// nothing before.
const refreshedKey = "refreshed"

// startAgain gives every flow a new checkpoint; the record says that the table
// has to be emptied, so that a crash in between is finished by the next run.
func (u *update) startAgain(_ context.Context, t *target) error {
	if t.record.Extra[refreshing] != "" {
		return nil // a crashed refresh goes on
	}
	if t.record.Extra == nil {
		t.record.Extra = map[string]string{}
	}
	if t.record.Flows == nil {
		t.record.Flows = map[string]string{}
	}
	// A version whose checkpoint is there belongs to a record that was lost.
	for t.record.CheckpointVersion++; u.hasCheckpoint(t); t.record.CheckpointVersion++ {
	}
	for name := range t.record.Flows {
		t.record.Flows[name] = ""
	}
	for _, f := range t.d.flows {
		t.record.Flows[f.name] = newAppID()
	}
	maps.DeleteFunc(t.record.Flows, func(_, id string) bool { return id == "" })
	forgetMade(t.record.Extra)
	delete(t.record.Extra, stateName)
	t.record.Extra[refreshing] = newAppID()
	t.record.Extra[refreshedKey] = strings.Join(slices.Sorted(maps.Values(t.record.Flows)), " ")
	return nil
}

// empty removes all rows in one overwrite commit, which also sets the schema.
func (u *update) empty(ctx context.Context, t *target) error {
	if err := u.at("refresh.begin"); err != nil {
		return err
	}
	id := t.record.Extra[refreshing]
	tx, err := t.table.Begin(ctx)
	if err != nil {
		return err
	}
	tx.Overwrite()
	tx.SetTxn(id, 0)
	tx.SetSchema(t.schema)
	var parts []string
	for _, p := range t.d.partitionedBy {
		parts = append(parts, t.schema.Fields[t.schema.Index(p.value)].Name)
	}
	tx.SetPartitionColumns(parts)
	if _, err := tx.Commit(ctx); err != nil {
		if _, done := errors.AsType[*tables.CommittedError](err); !done {
			return err
		}
	}
	if err := u.at("refresh.emptied"); err != nil {
		return err
	}
	delete(t.record.Extra, refreshing)
	if err := u.st.catalog.Put(ctx, t.record); err != nil {
		return err
	}
	if err := u.dropGone(t.record); err != nil {
		return err
	}
	return u.at("refresh.done")
}

func (u *update) changeSchema(ctx context.Context, t *target) error {
	tx, err := t.table.Begin(ctx)
	if err != nil {
		return err
	}
	tx.SetSchema(t.schema)
	tx.SetOperation("ADD COLUMNS", nil)
	_, err = tx.Commit(ctx)
	return err
}

func (u *update) at(point string) error {
	if u.o.At == nil {
		return nil
	}
	return u.o.At(point)
}
