package pipelines

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/graph"
	"pipelines/runtime/connector"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// keyedFlow is what a flow needs to know of a table that it keeps by key.
type keyedFlow struct {
	keys    []int // places in the plan's schema
	changes *sqlplan.ChangesPlan
	history bool
	// tracked says which columns open a new version, keepOld in which NULL keeps
	// the value before, as it was written.
	tracked, keepOld string
	// retention is how long deletes keep older changes out; 0 is for ever.
	retention time.Duration
}

// retentionProperty is the table property that bounds how long deletes are
// remembered, Databricks' name.
const retentionProperty = "pipelines.cdc.tombstoneGCThresholdInSeconds"

// retention reads the property of a table.
func (a *analyzer) retention(d *dataset) time.Duration {
	for k, v := range d.properties {
		if !strings.EqualFold(k, retentionProperty) {
			continue
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/int64(time.Second) {
			a.fail(d.file, d.place, "INVALID_VALUE", "the property %s of %s is %q; a number of seconds is wanted", k, d.shown(), v)
			return 0
		}
		return time.Duration(n) * time.Second
	}
	return 0
}

// changeFlow compiles AUTO CDC.
func (a *analyzer) changeFlow(d *dataset, f *flow) {
	f.broken = true
	if d.kind != graph.StreamingTable {
		d.done.broken = true
		a.fail(f.file, f.place, "AUTOCDC_TARGET_DOES_NOT_SUPPORT_MERGE", "flow %s applies changes to the %s %s; only a streaming table can be changed row by row", f.name, d.kind, d.shown())
		return
	}
	if c := f.cdc; len(c.Keys) == 0 || len(c.Source.Parts) == 0 || c.SequenceBy == nil && (f.cdcSQL == nil || f.cdcSQL.SequenceBy == nil) {
		d.done.broken = true // reported where it was read
		return
	}
	o := a.compileOptions(d, f.conf, logical.Append, f.dedup)
	plan := a.compileChanges(d, f, &o)
	f.broken = plan == nil
	if plan == nil {
		d.done.broken = true
		if len(o.Checks) == 0 {
			return
		}
		o.Checks = nil // their faults hide no others
		if plan = a.compileChanges(d, f, &o); plan == nil {
			return
		}
	}
	f.session = o.Session
	k := &keyedFlow{keys: plan.Keys, changes: plan, history: f.cdc.SCDType.Value == 2, tracked: trackedText(f), keepOld: keepOldText(f), retention: a.retention(d)}
	out := *plan.Plan
	if k.history {
		at := schema.Field{Type: plan.Sequence, Nullable: true}
		start, end := at, at
		start.Name, end.Name = builtin.StartColumn, builtin.EndColumn
		out.Schema.Fields = append(slices.Clone(out.Schema.Fields), start, end)
		declareHistory(d, start, end)
	}
	f.plan, f.keyed = &out, k
}

// compileChanges compiles a flow of AUTO CDC, or returns nil.
func (a *analyzer) compileChanges(d *dataset, f *flow, o *sqlplan.Options) *sqlplan.ChangesPlan {
	before := len(a.list)
	var plan *sqlplan.ChangesPlan
	list := a.compiled(f.reading(d, o), func(cat sqlplan.Catalog, o sqlplan.Options) (list diag.List) {
		plan, list = sqlplan.CompileChanges(changesOf(f), cat, o)
		return list
	})
	if a.list = append(a.list, list...); a.list[before:].HasErrors() {
		return nil
	}
	return plan
}

// declareHistory adds the columns of SCD type 2 to declared ones that leave
// them out.
func declareHistory(d *dataset, fields ...schema.Field) {
	if d.declared == nil {
		return
	}
	all := schema.Schema{Fields: slices.Clone(d.declared.Fields)}
	for _, f := range fields {
		if all.Index(f.Name) < 0 {
			f.Type = asNullable(f.Type)
			all.Fields = append(all.Fields, f)
		}
	}
	d.declared = &all
}

// changesOf brings a declared AUTO CDC into the form that is compiled.
func changesOf(f *flow) sqlplan.Changes {
	c := f.cdc
	out := sqlplan.Changes{
		Source: c.Source.Parts, File: f.file, Place: c.Source.Span, Keys: columnWords(c.Keys),
		Columns: columnWords(c.Columns), Except: columnWords(c.ExceptColumns), History: c.SCDType.Value == 2,
		HasTracked: c.HasTrackHistory, Tracked: columnWords(c.TrackHistory), TrackedExcept: columnWords(c.TrackHistoryExcept),
		KeepOld:  c.IgnoreNullUpdates.Value,
		Sequence: sqlplan.Term{Text: c.SequenceBy}, Delete: sqlplan.Term{Text: c.ApplyAsDeletes}, Truncate: sqlplan.Term{Text: c.ApplyAsTruncates},
	}
	if s := f.cdcSQL; s != nil {
		term := func(e sqlplan.Expr) sqlplan.Term {
			if e == nil {
				return sqlplan.Term{}
			}
			return sqlplan.Term{Text: f.cdcText, Expr: e}
		}
		words := func(ws []sqlplan.Word) []sqlplan.ColumnWord {
			var out []sqlplan.ColumnWord
			for _, w := range ws {
				out = append(out, sqlplan.ColumnWord{Name: w.Value, Place: f.cdcText.Span(w.At)})
			}
			return out
		}
		out.Query, out.Text = s.Query, f.cdcText
		out.Sequence, out.Delete, out.Truncate = term(s.SequenceBy), term(s.DeleteWhen), term(s.TruncateWhen)
		out.KeepOld, out.KeepColumns, out.KeepExcept = s.IgnoreNulls, words(s.IgnoreNullColumns), words(s.IgnoreNullExcept)
	}
	return out
}

func columnWords(in []spec.String) []sqlplan.ColumnWord {
	var out []sqlplan.ColumnWord
	for _, s := range in {
		out = append(out, sqlplan.ColumnWord{Name: s.Value, Place: s.Span})
	}
	return out
}

// trackedText is the choice of tracked columns as it was written.
func trackedText(f *flow) string {
	if f.cdc.SCDType.Value != 2 {
		return ""
	}
	return choiceText(f.cdc.HasTrackHistory, columnWords(f.cdc.TrackHistory), columnWords(f.cdc.TrackHistoryExcept))
}

// keepOldText is the choice of columns in which NULL keeps the value before, ""
// if it does so in none.
func keepOldText(f *flow) string {
	c := changesOf(f)
	if !c.KeepOld {
		return ""
	}
	return choiceText(len(c.KeepColumns) > 0, c.KeepColumns, c.KeepExcept)
}

func choiceText(listed bool, list, except []sqlplan.ColumnWord) string {
	text := func(ws []sqlplan.ColumnWord) string {
		var out []string
		for _, w := range ws {
			out = append(out, strings.ToLower(w.Name))
		}
		slices.Sort(out)
		return "(" + strings.Join(out, ", ") + ")"
	}
	switch {
	case listed:
		return "only " + text(list)
	case len(except) > 0:
		return "all except " + text(except)
	}
	return "all"
}

// upsertFlow checks the keys of a table that is kept by upsert.
func (a *analyzer) upsertFlow(d *dataset, f *flow) {
	k := &keyedFlow{}
	if len(d.keys) == 0 {
		x := diag.AtSpan(f.file, f.place, "MISSING_KEY", fmt.Sprintf("output_mode update of flow %s needs keys on the table %s", f.name, d.shown()))
		a.list = append(a.list, x.WithHint("add output_mode: update and keys: [column, …] to the table"))
		d.done.broken = true
		return
	}
	known := len(a.list)
	for _, w := range d.keys {
		i := f.plan.Schema.Index(w.value)
		if i < 0 {
			x := diag.AtSpan(d.file, w.place, "UNRESOLVED_COLUMN.WITH_SUGGESTION", fmt.Sprintf("the query of %s gives no column %s for a key", d.shown(), w.value))
			a.list = append(a.list, x.WithHint(diag.DidYouMean(w.value, f.plan.Schema.Names())))
			d.done.broken = true
			continue
		}
		if t := f.plan.Schema.Fields[i].Type; t.Kind == schema.Map || t.Kind == schema.Variant {
			a.fail(d.file, w.place, "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE", "the key %s has the type %s, whose values cannot be compared", w.value, t.SQL())
			d.done.broken = true
		}
		if !slices.Contains(k.keys, i) {
			k.keys = append(k.keys, i)
		}
	}
	f.keyed = k
	if len(a.list) == known {
		a.tellApart(d, f, k.keys)
		a.rowsStay(d, f, k.keys)
	}
}

// streamOfKeyed warns of a stream that ends when its table replaces a row.
func (a *analyzer) streamOfKeyed(d, reader *dataset, at diag.Span) {
	if keyedText(d) == "" || reader.onReset == "skip" {
		return
	}
	file := reader.file
	if file != nil && file.Name != at.File {
		file = nil // it stands in a view of another file
	}
	x := diag.AtSpan(file, at, "STREAM_OF_KEYED_TABLE", fmt.Sprintf("%s replaces rows by key: the stream of %s ends at the first row that is replaced", d.shown(), reader.shown()))
	a.list = append(a.list, x.WithHint("read it without STREAM in a materialized view, or set on_upstream_reset: skip to leave out each commit that changes rows, with the rows that it adds").Warn())
}

// keyedSink opens the target of a flow that keeps it by key.
func (u *update) keyedSink(t *task, o builtin.TableSinkOptions) connector.Sink {
	k := t.f.keyed
	out := builtin.KeyedSinkOptions{TableSinkOptions: o, Name: t.d.shown(), Typed: t.d.typed(), Keys: k.keys, Budget: u.budget}
	for i, f := range out.Schema.Fields {
		out.Schema.Fields[i].Type = asNullable(f.Type)
	}
	if c := k.changes; c != nil {
		out.Changes = &builtin.ChangeOptions{
			Sequence: asNullable(c.Sequence), History: k.history, Tracked: c.Tracked, KeepOld: c.KeepOld, Retention: k.retention, Meaning: keyedOf(t.f).meaning(),
		}
	}
	return builtin.KeyedSink(out)
}

// lanes is the number of lanes of a flow: of rows that replace each other, the
// last one counts, so their order has to be kept.
func (u *update) lanes(t *task) int {
	if k := t.f.keyed; k == nil || k.changes != nil || onePerKey(t.f.plan.Node, k.keys) {
		return u.o.Lanes
	}
	return 1
}

// onePerKey reports whether a plan gives at most one row of each key in an
// epoch: those of an aggregation whose groups are all among the keys.
func onePerKey(n logical.Node, keys []int) bool {
	ids := map[logical.ColumnID]bool{}
	out := n.Output()
	for _, k := range keys {
		ids[out[k].ID] = true
	}
	for {
		switch x := n.(type) {
		case *logical.Project:
			below := map[logical.ColumnID]bool{}
			for _, e := range x.Exprs {
				if c, ok := e.Expr.(*logical.Column); ok && ids[e.Attr.ID] {
					below[c.Attr.ID] = true
				}
			}
			n, ids = x.Input, below
		case *logical.Filter:
			n = x.Input
		case *logical.Expect:
			n = x.Input
		case *logical.Aggregate:
			return len(x.Groups) > 0 && !slices.ContainsFunc(x.Groups, func(g logical.Alias) bool { return !ids[g.Attr.ID] })
		default:
			return false
		}
	}
}

// keyedDetails says how a table is kept by key, and what bounds its state.
func keyedDetails(d *dataset) []string {
	for _, f := range d.flows {
		r := keyedOf(f)
		if r == nil {
			continue
		}
		keys := strings.Join(r.Keys, ", ")
		if r.SCD == 0 {
			return []string{"kept by upsert: the last row of each (" + keys + "); no state"}
		}
		kept, deletes := "the newest change of each key", "for ever"
		switch {
		case r.SCD == 2:
			kept = "all changes of each key"
		case r.KeepOld:
			kept = "of each key the changes that give a value, at most one a column"
		}
		if f.keyed.retention > 0 {
			deletes = "for " + f.keyed.retention.String()
		}
		return []string{
			fmt.Sprintf("kept by AUTO CDC of SCD type %d: keys (%s), sequence %s", r.SCD, keys, r.Sequence),
			fmt.Sprintf("state: %s; deletes of keys without rows %s (property %s)", kept, deletes, retentionProperty),
		}
	}
	return nil
}
