package pipelines

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables"
	"pipelines/tables/schema"
)

// analysis is what is known of a dataset once its queries are compiled.
type analysis struct {
	state     analysisState
	schema    schema.Schema
	streaming bool // views
	broken    bool
}

type analysisState uint8

const (
	fresh analysisState = iota
	active
	finished
)

// analyzer compiles the queries of a project, each when it is first needed.
type analyzer struct {
	// with lends the caller's context: names are resolved by callbacks of the
	// binder, which knows none.
	with    func(func(ctx context.Context) error) error
	project *Project
	list    diag.List
	// stack holds the datasets being analyzed, for cycles.
	stack []*dataset
	// unchecked says what could not be checked offline.
	unchecked []string
	// broken is the first error of reading the storage since it was asked for:
	// it says nothing of the query.
	broken error
}

// newAnalyzer makes an analyzer that works on behalf of ctx.
func newAnalyzer(ctx context.Context, p *Project) *analyzer {
	return &analyzer{project: p, with: func(f func(context.Context) error) error { return f(ctx) }}
}

// analyze compiles every query of the project.
func (a *analyzer) analyze() {
	for _, d := range a.project.datasets {
		a.dataset(d)
	}
	a.idleTimeouts()
	a.cleanedSources()
	a.resettable()
	a.appendOnly()
	a.list.Sort()
}

// idleTimeouts warns about timeouts of sources over which no query has a
// watermark that they could hold back.
func (a *analyzer) idleTimeouts() {
	heeded := map[*spec.Source]bool{}
	for _, d := range a.project.datasets {
		for _, f := range d.flows {
			if f.plan == nil {
				return // what is not known cannot be missed
			}
			logical.WalkNode(f.plan.Node, func(n logical.Node) bool {
				if w, ok := n.(*logical.Watermark); ok {
					for _, r := range streamsBelow(w) {
						if h, ok := r.Handle.(handle); ok && h.source != nil {
							heeded[h.source.spec] = true
						}
					}
				}
				return true
			})
		}
	}
	for _, s := range a.project.spec.Sources {
		if s.IdleTimeout.IsSet() && !heeded[s] {
			a.list = append(a.list, diag.AtSpan(s.File, s.IdleTimeout.Span, "IDLE_TIMEOUT_WITHOUT_WATERMARK",
				fmt.Sprintf("no query has a watermark over the stream %s, so its idle_timeout has no effect", s.Name)).
				Warn().WithHint("give the source a watermark, or remove the timeout"))
		}
	}
}

// streamsBelow lists the streams that a node reads.
func streamsBelow(n logical.Node) []*logical.Relation {
	var out []*logical.Relation
	logical.WalkNode(n, func(x logical.Node) bool {
		if s, ok := x.(*logical.Scan); ok && s.Relation.Streaming {
			out = append(out, s.Relation)
		}
		return true
	})
	return out
}

// dataset analyzes one dataset unless it is done.
func (a *analyzer) dataset(d *dataset) {
	if d.done.state != fresh {
		return
	}
	d.done.state = active
	a.stack = append(a.stack, d)
	defer func() {
		a.stack = a.stack[:len(a.stack)-1]
		d.done.state = finished
	}()
	before := len(a.list)
	switch d.kind {
	case graph.TemporaryView, graph.PersistedView:
		a.view(d)
	default:
		for _, f := range d.flows {
			a.flow(d, f)
		}
		a.saidOnce(before)
		if len(d.flows) == 0 && d.isTable() {
			d.done.broken = true
		}
		known := !slices.ContainsFunc(d.flows, func(f *flow) bool { return f.plan == nil })
		if (!d.done.broken || len(d.flows) > 0) && known && d.kind != graph.Sink {
			a.tableSchema(d)
		}
		a.stateTTL(d)
	}
	if a.list[before:].HasErrors() {
		d.done.broken = true
	}
}

// saidOnce drops findings that are there before: the expectations of a table
// are compiled with each of its flows.
func (a *analyzer) saidOnce(from int) {
	for i := len(a.list) - 1; i > from; i-- {
		x := a.list[i]
		if slices.ContainsFunc(a.list[from:i], func(d diag.Diagnostic) bool { return d.Code == x.Code && d.Message == x.Message && d.Span == x.Span }) {
			a.list = slices.Delete(a.list, i, i+1)
		}
	}
}

// stateTTL says where the key state_ttl does nothing.
func (a *analyzer) stateTTL(d *dataset) {
	if !d.stateTTL.IsSet() || d.done.broken {
		return
	}
	changes := false
	for _, f := range d.flows {
		if f.plan != nil && logical.HasState(f.plan.Node) {
			return
		}
		changes = changes || f.cdc != nil
	}
	if changes {
		a.fail(d.file, d.stateTTL.Span, "FEATURE_NOT_AVAILABLE", "state_ttl is of queries that keep state; what AUTO CDC keeps is in the table: deletes go by the table property pipelines.cdc.tombstoneGCThresholdInSeconds")
		return
	}
	keeps := "no state"
	if slices.ContainsFunc(d.flows, func(f *flow) bool { return f.plan != nil && countsRows(f.plan.Node) }) {
		keeps = "the number of rows that its LIMIT has passed, which does not age"
	}
	a.list = append(a.list, diag.AtSpan(d.file, d.stateTTL.Span, "NOT_MEANINGFUL_HERE", "state_ttl has no effect: "+d.shown()+" keeps "+keeps).Warn())
}

// countsRows reports a LIMIT over a stream.
func countsRows(n logical.Node) bool {
	found := false
	logical.WalkNode(n, func(n logical.Node) bool {
		l, ok := n.(*logical.Limit)
		found = found || ok && l.Streaming()
		return !found
	})
	return found
}

func (a *analyzer) view(d *dataset) {
	o := a.compileOptions(d, d.conf, logical.Append, d.dedup)
	if d.kind == graph.PersistedView {
		x := diag.AtSpan(d.file, d.place, "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_PERSISTED_VIEW",
			fmt.Sprintf("the view %s reads a stream; use a temporary view or a streaming table", d.shown()))
		o.NoStream = &x
	}
	before := len(a.list)
	r := reading{dataset: d, flow: "the view " + d.shown(), conf: d.conf, in: d.space, file: d.file, place: d.place, o: &o}
	plan := a.compile(r, d.query)
	if plan == nil {
		d.done.broken = true
		plan = a.withoutChecks(r, d.query)
		a.saidOnce(before)
	}
	if plan == nil {
		return
	}
	d.done.schema, d.done.streaming = plan.Schema, plan.Streaming
	if d.declared != nil {
		a.declaredView(d)
	}
}

// declaredView holds the columns of a view's query against the declared ones,
// by the rules of tables.
func (a *analyzer) declaredView(d *dataset) {
	seen := map[string]bool{}
	given := schema.Schema{Fields: slices.Clone(d.done.schema.Fields)}
	for i, f := range given.Fields {
		if seen[strings.ToLower(f.Name)] {
			a.fail(d.file, d.place, "COLUMN_ALREADY_EXISTS", "the query of %s gives two columns named %s", d.shown(), f.Name)
			return
		}
		seen[strings.ToLower(f.Name)] = true
		given.Fields[i].Type = asNullable(f.Type)
	}
	if err := compatible(*d.declared, given); err != nil {
		a.fail(d.file, d.place, "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE", "the declared columns of %s do not fit its query: %s", d.shown(), err)
		return
	}
	d.done.schema = *d.declared
}

func (a *analyzer) compileOptions(d *dataset, conf map[string]string, mode logical.OutputMode, dd *sqlplan.Dedup) sqlplan.Options {
	return sqlplan.Options{Session: a.session(conf), Params: a.project.params, Mode: mode, Name: d.shown(), Deduplicate: dd,
		Checks: d.checks(), DropErrors: d.dropErrors, StateTTL: d.stateTTL.Value.Microseconds()}
}

// checks are the dataset's expectations.
func (d *dataset) checks() []sqlplan.Check {
	var out []sqlplan.Check
	for _, e := range d.expectations {
		action := [...]logical.OnViolation{spec.Warn: logical.Warn, spec.Quarantine: logical.Warn, spec.Drop: logical.Drop, spec.Fail: logical.FailFlow}[e.action]
		text := e.cond
		if e.parsed != nil {
			text = e.text
		}
		out = append(out, sqlplan.Check{Name: e.name, Cond: e.parsed, Text: text, Action: action})
	}
	return out
}

// compile compiles a query, or returns nil.
func (a *analyzer) compile(r reading, q query) *sqlplan.Plan {
	if !q.isSet() {
		return nil
	}
	var plan *sqlplan.Plan
	run := func(cat sqlplan.Catalog, o sqlplan.Options) (list diag.List) {
		if q.parsed != nil {
			plan, list = sqlplan.CompileQuery(q.parsed, q.text, cat, o)
		} else {
			plan, list = sqlplan.Compile(q.text, cat, o)
		}
		return list
	}
	list := a.compiled(r, run)
	if !r.dataset.isTable() && r.dataset.kind != graph.Sink { // a view has no mode and keeps no state itself: each flow that reads it says what its state is
		list = a.inAnyMode(r, list, run)
		list = slices.DeleteFunc(list, func(x diag.Diagnostic) bool { return x.Code == "UNBOUNDED_STATE" })
	}
	a.list = append(a.list, list...)
	if list.HasErrors() {
		return nil
	}
	return plan
}

// inAnyMode compiles a view that one output mode does not allow under the others:
// the flows that read it are held to theirs. It returns the fewest faults.
func (a *analyzer) inAnyMode(r reading, list diag.List, run func(sqlplan.Catalog, sqlplan.Options) diag.List) diag.List {
	of := func(x diag.Diagnostic) bool {
		return x.Code == "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION" || x.Code == "_LEGACY_ERROR_TEMP_3102"
	}
	for _, m := range []logical.OutputMode{logical.Update, logical.Complete} {
		if !slices.ContainsFunc(list, of) {
			break
		}
		known := len(a.list)
		r.o.Mode = m
		if other := a.compiled(r, run); !other.HasErrors() || len(other) < len(list) {
			list = other
		}
		a.saidOnce(known)
	}
	return list
}

// withoutChecks compiles a query that is broken without its expectations, so that
// their faults hide no others; nil if they are not what is wrong.
func (a *analyzer) withoutChecks(r reading, q query) *sqlplan.Plan {
	if len(r.o.Checks) == 0 || !q.isSet() {
		return nil
	}
	r.o.Checks = nil
	return a.compile(r, q) // what it says again is dropped
}

var modes = [...]logical.OutputMode{spec.DefaultMode: logical.Append, spec.Append: logical.Append, spec.Update: logical.Update, spec.Complete: logical.Complete}

func (a *analyzer) flow(d *dataset, f *flow) {
	if f.cdc != nil {
		a.changeFlow(d, f)
		return
	}
	if d.kind == graph.StreamingTable && f.mode == spec.Complete {
		a.fail(f.file, f.place, "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", "output_mode complete is for sinks; make %s a materialized view", d.shown())
		f.broken, d.done.broken = true, true
		return
	}
	dd := f.dedup
	if dd == nil {
		dd = d.dedup
	}
	o := a.compileOptions(d, f.conf, modes[f.mode], dd)
	o.NoStream = a.noStream(d, f)
	plan := a.compile(f.reading(d, &o), f.query)
	if plan == nil {
		f.broken, d.done.broken = true, true
		if plan = a.withoutChecks(f.reading(d, &o), f.query); plan == nil {
			return
		}
	}
	f.plan, f.session = plan, o.Session
	switch {
	case d.kind != graph.StreamingTable:
	case f.mode == spec.Update:
		a.upsertFlow(d, f)
	case len(d.keys) > 0:
		a.appendsToKeyed(d, f)
	}
	switch {
	case d.kind != graph.MaterializedView && !f.once && !plan.Streaming && len(d.flows) > 1:
		a.fail(f.file, f.place, "MATERIALIZED_VIEW_WITH_MULTIPLE_QUERIES",
			"flow %s reads no stream, and %s has several flows: a table of batch queries has one; read a stream, or set once: true", f.name, d.shown())
	case d.kind != graph.MaterializedView && !f.once && !plan.Streaming:
		a.batchFlow(d, f)
	}
}

// noStream is what is said when a flow that runs over whole inputs reads a
// stream; nil for other flows.
func (a *analyzer) noStream(d *dataset, f *flow) *diag.Diagnostic {
	var x diag.Diagnostic
	switch {
	case d.kind == graph.MaterializedView:
		x = diag.AtSpan(f.file, a.queryPlace(f), "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_MATERIALIZED_VIEW",
			fmt.Sprintf("the materialized view %s reads a stream; leave STREAM out, or make it a streaming table", d.shown()))
	case d.kind == graph.StreamingTable && f.once:
		x = diag.AtSpan(f.file, a.queryPlace(f), "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_ONCE_FLOW",
			fmt.Sprintf("the once flow %s reads a stream; leave STREAM out, or leave once out", f.name))
	default:
		return nil
	}
	return &x
}

func (a *analyzer) batchFlow(d *dataset, f *flow) {
	what := "streaming table"
	if d.kind == graph.Sink {
		what = "sink"
	}
	x := diag.AtSpan(f.file, a.queryPlace(f), "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE",
		fmt.Sprintf("the query of the %s %s reads no stream", what, d.shown()))
	a.list = append(a.list, x.WithHint("read a source or table with STREAM(name), set once: true on the flow, or make it a materialized view"))
}

func (a *analyzer) queryPlace(f *flow) diag.Span {
	if f.query.parsed == nil && f.query.text != nil {
		return f.place
	}
	return f.place
}

// tableSchema finds the columns of a table from its flows and its declaration.
func (a *analyzer) tableSchema(d *dataset) {
	var s schema.Schema
	for i, f := range d.flows {
		if i == 0 {
			s = f.plan.Schema
			continue
		}
		merged, err := mergeFlows(s, f.plan.Schema)
		if err != nil {
			a.fail(f.file, f.place, "UNABLE_TO_INFER_PIPELINE_TABLE_SCHEMA", "the flows of %s give different columns: %s", d.shown(), err)
			return
		}
		s = merged
	}
	for i := range s.Fields {
		s.Fields[i].Type = asNullable(s.Fields[i].Type)
	}
	given := schema.Schema{Fields: slices.Clone(s.Fields)}
	for i := range s.Fields {
		s.Fields[i].Nullable = true
	}
	if d.declared != nil && len(d.flows) > 0 {
		if err := compatible(*d.declared, given); err != nil {
			a.fail(d.file, d.place, "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE", "the declared columns of %s do not fit its query: %s", d.shown(), err)
			return
		}
		s = *d.declared
	}
	a.checkStored(d, s)
	d.done.schema = s
}

// checkStored refuses what a table cannot hold.
func (a *analyzer) checkStored(d *dataset, s schema.Schema) {
	var parts []string
	for _, c := range d.partitionedBy {
		i := s.Index(c.value)
		if i < 0 {
			x := diag.AtSpan(d.file, c.place, "UNRESOLVED_COLUMN.WITH_SUGGESTION", fmt.Sprintf("%s has no column %s to partition by", d.shown(), c.value))
			a.list = append(a.list, x.WithHint(diag.DidYouMean(c.value, s.Names())))
			continue
		}
		parts = append(parts, s.Fields[i].Name)
	}
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if low := strings.ToLower(f.Name); seen[low] {
			a.fail(d.file, d.place, "COLUMN_ALREADY_EXISTS", "the query of %s gives two columns named %s", d.shown(), f.Name)
		} else {
			seen[low] = true
		}
	}
	for _, e := range tables.CheckSchema(s, parts) {
		what := e.Reason
		if e.Column != "" {
			what = "column " + e.Column + " " + e.Reason
		}
		x := diag.AtSpan(d.file, d.storedPlace(e), diag.Code(e.Class), d.shown()+" cannot be stored: "+what)
		a.list = append(a.list, x.WithHint(e.Hint))
	}
}

// storedPlace is where a column that cannot be stored is named: the word of
// partitioned_by for what is wrong with partitions.
func (d *dataset) storedPlace(e *tables.ColumnError) diag.Span {
	for _, c := range d.partitionedBy {
		if e.Column == "" || e.Partition && strings.EqualFold(c.value, e.Column) {
			return c.place
		}
	}
	return d.place
}

func (a *analyzer) fail(file *diag.File, at diag.Span, code diag.Code, format string, args ...any) {
	a.list = append(a.list, diag.AtSpan(file, at, code, fmt.Sprintf(format, args...)))
}
