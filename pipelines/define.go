package pipelines

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
)

// definer collects what the document and the SQL files define, in one
// namespace.
type definer struct {
	p        *spec.Pipeline
	session  *sqlplan.Session
	list     diag.List
	datasets []*dataset
	byID     map[string]*dataset
	sources  map[string]*spec.Source // by lower-case name
	flows    []pending
	names    map[string]*flow // flow names in use, lower case
}

// pending is a flow whose target is not looked up yet.
type pending struct {
	flow     *flow
	target   []string
	place    diag.Span
	resolved *dataset
}

// define puts the definitions of a project together; faulty says that its
// document has errors, so that some may be missing.
func define(p *Project, faulty bool) *definer {
	d := &definer{p: p.spec, session: p.session, byID: map[string]*dataset{}, sources: map[string]*spec.Source{}, names: map[string]*flow{}}
	for _, s := range p.spec.Sources {
		d.sources[strings.ToLower(s.Name.Parts[0])] = s
	}
	for _, s := range p.spec.Sinks {
		x := &dataset{kind: graph.Sink, name: s.Name.Parts, place: s.Span, file: s.File, sink: s}
		if len(s.MovedFrom.Parts) == 1 {
			x.movedFrom, x.movedAt = s.MovedFrom.Parts, s.MovedFrom.Span
		}
		d.add(x)
	}
	for _, x := range p.spec.Datasets {
		d.fromSpec(x)
		if x.Faulty && d.byID[d.specID(x)] != nil {
			d.byID[d.specID(x)].done = analysis{state: finished, broken: true}
		}
	}
	for _, f := range p.spec.Flows {
		d.flowFromSpec(f, nil, nil)
	}
	for _, f := range p.spec.SQLFiles {
		script, list := sqlplan.ParseScript(f.Text, p.conf)
		d.list = append(d.list, list...)
		for _, x := range script.Settings {
			d.checkSetting(f.Text, x)
		}
		for i := range script.Definitions {
			d.fromSQL(&script.Definitions[i])
		}
	}
	d.link()
	d.check(faulty)
	return d
}

// checkSetting warns about a SET of a key that means nothing here.
func (d *definer) checkSetting(text *diag.Text, x sqlplan.Setting) {
	if hint, unknown := spec.UnknownSetting(x.Key, sqlSettings()); unknown {
		w := diag.At(text, x.At, "UNKNOWN_CONFIGURATION_KEY", fmt.Sprintf("the configuration key %q has no effect here", x.Key))
		d.list = append(d.list, w.WithHint(hint).Warn())
	}
}

func (d *definer) fail(file *diag.File, at diag.Span, code diag.Code, format string, args ...any) {
	d.list = append(d.list, diag.AtSpan(file, at, code, fmt.Sprintf(format, args...)))
}

// fullName completes a name with the catalog and database in force.
func (d *definer) fullName(parts []string, catalog, database string) []string {
	return fullName(d.p, parts, space{catalog, database})
}

// fullName completes a name with what USE said, else with the project's
// catalog and database. Spark's name of its own catalog is the project's when
// the document names none.
func fullName(p *spec.Pipeline, parts []string, in space) []string {
	if len(parts) > 3 {
		return parts
	}
	full := []string{in.catalog, in.database, ""}
	copy(full[3-len(parts):], parts)
	if full[0] == "" || strings.EqualFold(full[0], sparkCatalog) && p.Catalog.Span == (diag.Span{}) {
		full[0] = p.Catalog.Value
	}
	if full[1] == "" {
		full[1] = p.Database.Value
	}
	return full
}

// sparkCatalog is the catalog of a Spark session that sets none.
const sparkCatalog = "spark_catalog"

// typedName writes a name for a command line.
func typedName(p *spec.Pipeline, name []string) string {
	own := []string{p.Catalog.Value, p.Database.Value}
	for len(name) > 1 && strings.EqualFold(name[0], own[0]) {
		name, own = name[1:], own[1:]
		if len(own) == 0 {
			break
		}
	}
	plain := true
	var parts []string
	for _, part := range name {
		if strings.ContainsFunc(part, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			plain = false
			part = "`" + strings.ReplaceAll(part, "`", "``") + "`"
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ".")
	if plain {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// add puts a dataset into the namespace.
func (d *definer) add(x *dataset) bool {
	x.asTyped = typedName(d.p, x.name)
	old, taken := d.byID[x.id()]
	if !taken {
		d.byID[x.id()] = x
		d.datasets = append(d.datasets, x)
		return true
	}
	msg := fmt.Sprintf("%s is defined twice", strings.Join(x.name, "."))
	if old.shown() != x.shown() {
		msg = fmt.Sprintf("%s and %s differ only in case, and names ignore case", old.shown(), x.shown())
	}
	d.list = append(d.list, diag.AtSpan(x.file, x.place, "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT", msg).
		WithHint("rename or remove one of them").WithRelated(old.place, "the first definition"))
	return false
}

func (d *definer) fromSpec(x *spec.Dataset) {
	out := &dataset{
		place: x.Name.Span, file: x.File, comment: x.Comment.Value, declaredText: x.Schema, properties: map[string]string{},
		dropErrors: x.OnError == spec.DropRow, onReset: x.OnUpstreamReset.Value, mode: x.OutputMode,
		stateTTL: x.StateTTL,
	}
	switch x.Kind {
	case spec.StreamingTable:
		out.kind, out.name = graph.StreamingTable, d.fullName(x.Name.Parts, "", "")
	case spec.MaterializedView:
		out.kind, out.name = graph.MaterializedView, d.fullName(x.Name.Parts, "", "")
	default:
		out.kind, out.name = graph.TemporaryView, x.Name.Parts
		out.query = query{text: x.SQL}
	}
	for _, s := range x.Properties {
		d.property(out, property{word{s.Key.Value, s.Key.Span}, word{s.Value.Value, s.Value.Span}})
	}
	for _, c := range x.PartitionedBy {
		out.partitionedBy = append(out.partitionedBy, word{c.Value, c.Span})
	}
	for _, e := range x.Expectations {
		out.expectations = append(out.expectations, expectation{name: e.Name.Value, cond: e.Expect, action: e.OnViolation, place: e.Span})
	}
	out.dedup = dedupOf(x.Deduplicate, x.File)
	for _, k := range x.Keys {
		out.keys = append(out.keys, word{k.Value, k.Span})
	}
	if x.MovedFrom != nil {
		out.movedFrom, out.movedAt = d.fullName(x.MovedFrom.Parts, "", ""), x.MovedFrom.Span
	}
	if !d.add(out) {
		return
	}
	if x.Schema != nil {
		s, list := sqlplan.ParseColumns(d.session, x.Schema)
		d.list = append(d.list, list...)
		out.declared = &s
		if slices.ContainsFunc(list, func(x diag.Diagnostic) bool { return x.Code == "COLUMN_ALREADY_EXISTS" }) {
			out.done = analysis{state: finished, broken: true}
		}
	}
	d.ownFlows(out, x)
}

// specID is the id of a dataset of the document.
func (d *definer) specID(x *spec.Dataset) string {
	if x.Kind == spec.View {
		return strings.ToLower(strings.Join(x.Name.Parts, "."))
	}
	return strings.ToLower(strings.Join(d.fullName(x.Name.Parts, "", ""), "."))
}

func dedupOf(x *spec.Deduplicate, file *diag.File) *sqlplan.Dedup {
	if x == nil {
		return nil
	}
	out := &sqlplan.Dedup{File: file, Within: x.WithinWatermark.Value}
	for _, k := range x.Keys {
		out.Keys, out.KeysAt = append(out.Keys, k.Value), append(out.KeysAt, k.Span)
	}
	return out
}

// ownFlows makes the flows that a table defines itself.
func (d *definer) ownFlows(out *dataset, x *spec.Dataset) {
	if out.kind == graph.TemporaryView {
		return
	}
	if x.SQL != nil || x.AutoCDC != nil {
		f := &flow{name: out.name[len(out.name)-1], place: x.Name.Span, file: x.File, query: query{text: x.SQL}, cdc: x.AutoCDC, mode: x.OutputMode, trigger: x.Trigger}
		d.addFlow(f, pending{flow: f, place: x.Name.Span, resolved: out})
	}
	for _, f := range x.Flows {
		d.flowFromSpec(f, out, x.Trigger)
	}
}

func (d *definer) flowFromSpec(f *spec.Flow, target *dataset, trigger *spec.Trigger) {
	if f.Trigger != nil {
		trigger = f.Trigger
	}
	out := &flow{
		name: f.Name.Parts[0], place: f.Name.Span, file: f.File, query: query{text: f.SQL}, once: f.Once.Value,
		mode: f.OutputMode, dedup: dedupOf(f.Deduplicate, f.File), cdc: f.AutoCDC, trigger: trigger,
	}
	if len(f.MovedFrom.Parts) == 1 {
		out.movedFrom = word{f.MovedFrom.Parts[0], f.MovedFrom.Span}
	}
	if out.mode == spec.DefaultMode && target != nil {
		out.mode = target.mode
	}
	d.addFlow(out, pending{flow: out, target: f.Target.Parts, place: f.Target.Span, resolved: target})
}

func (d *definer) addFlow(f *flow, p pending) {
	// A table's own flow has the table's full name, any other stands in the
	// current database.
	key := strings.ToLower(strings.Join(d.fullName([]string{f.name}, f.space.catalog, f.space.database), "."))
	if p.resolved != nil && f.name == p.resolved.shown() {
		key = p.resolved.id()
	}
	if old, taken := d.names[key]; taken {
		d.list = append(d.list, diag.AtSpan(f.file, f.place, "PIPELINE_DUPLICATE_IDENTIFIERS.FLOW", fmt.Sprintf("flow %s is defined twice", f.name)).
			WithHint("rename one of them").WithRelated(old.place, "the first definition"))
		return
	}
	d.names[key] = f
	d.flows = append(d.flows, p)
}

// link finds the targets of the flows.
func (d *definer) link() {
	for _, p := range d.flows {
		target := p.resolved
		if target == nil {
			target = d.target(p.target, p.flow.space)
		}
		if target == nil {
			x := diag.AtSpan(p.flow.file, p.place, "UNSUPPORTED_FLOW_DESTINATION", fmt.Sprintf("flow %s writes into %s, which is not defined", p.flow.name, strings.Join(p.target, ".")))
			d.list = append(d.list, x.WithHint(orHint(diag.DidYouMean(strings.Join(p.target, "."), d.tableNames()), "define the streaming table or sink")))
			continue
		}
		if target.kind != graph.StreamingTable && target.kind != graph.Sink {
			if target.kind != graph.MaterializedView || p.resolved == nil {
				code := diag.Code("UNSUPPORTED_FLOW_DESTINATION")
				if target.kind == graph.MaterializedView {
					code = "MATERIALIZED_VIEW_WITH_MULTIPLE_QUERIES"
				}
				d.fail(p.flow.file, p.place, code, "flow %s writes into the %s %s; only streaming tables and sinks take flows", p.flow.name, target.kind, target.shown())
				continue
			}
		}
		p.flow.target = target
		target.flows = append(target.flows, p.flow)
	}
}

func orHint(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (d *definer) target(parts []string, in space) *dataset {
	if len(parts) == 1 {
		if x := d.byID[strings.ToLower(parts[0])]; x != nil && x.kind == graph.Sink {
			return x
		}
	}
	x := d.byID[strings.ToLower(strings.Join(fullName(d.p, parts, in), "."))]
	if x == nil && len(parts) == 2 && strings.EqualFold(parts[0], "live") {
		return d.target(parts[1:], in) // the older LIVE.name
	}
	return x
}

func (d *definer) tableNames() []string {
	var out []string
	for _, x := range d.datasets {
		if x.isTable() || x.kind == graph.Sink {
			out = append(out, x.shown())
		}
	}
	return out
}

// check finds what is wrong whatever the queries say.
func (d *definer) check(faulty bool) {
	for _, x := range d.datasets {
		if x.kind == graph.StreamingTable && len(x.flows) == 0 && !x.done.broken && !slices.ContainsFunc(d.flows, func(p pending) bool { return p.resolved == x }) {
			d.list = append(d.list, diag.AtSpan(x.file, x.place, "PIPELINE_DATASET_WITHOUT_FLOW", fmt.Sprintf("streaming table %s has no query and no flow", x.shown())).
				WithHint("give it sql, flows, or a flow with this target"))
		}
		if x.kind == graph.StreamingTable && len(x.flows) > 1 {
			for _, f := range x.flows {
				if f.cdc != nil || f.cdcText != nil {
					d.fail(f.file, f.place, "AUTOCDC_MULTIPLE_FLOWS_TO_TARGET", "%s is kept by AUTO CDC and has more than one flow", x.shown())
				}
			}
		}
	}
	d.checkMoves()
	if !slices.ContainsFunc(d.datasets, func(x *dataset) bool {
		return x.kind != graph.TemporaryView && (x.kind != graph.Sink || len(x.flows) > 0)
	}) && !faulty && !slices.ContainsFunc(d.list, func(x diag.Diagnostic) bool {
		return x.Severity == diag.Error && x.Code != "UNSUPPORTED_FLOW_DESTINATION" // flows alone make no pipeline
	}) {
		d.list = append(d.list, diag.AtSpan(d.p.File, d.p.Name.Span, "RUN_EMPTY_PIPELINE", "the project defines no table and no view").
			WithHint("define a streaming table or a materialized view, or check the globs of libraries"))
	}
}

// checkMoves looks at former names that the document itself shows to be wrong.
func (d *definer) checkMoves() {
	tables := map[string]*dataset{}
	for _, x := range d.datasets {
		flows := map[string]bool{}
		for _, f := range x.flows {
			was := strings.ToLower(f.movedFrom.value)
			switch {
			case was == "":
				continue
			case flows[was]:
				d.fail(f.file, f.movedFrom.place, "INVALID_MOVED_FROM", "two flows of %s are moved from %s", x.shown(), f.movedFrom.value)
			case slices.ContainsFunc(x.flows, func(o *flow) bool { return strings.EqualFold(o.name, was) }):
				d.fail(f.file, f.movedFrom.place, "INVALID_MOVED_FROM", "%s still has the flow %s, so %s cannot be moved from it", x.shown(), f.movedFrom.value, f.name)
			}
			flows[was] = true
		}
		if x.movedFrom == nil {
			continue
		}
		was := strings.ToLower(strings.Join(x.movedFrom, "."))
		other := tables[was] // sinks have one part, tables three
		switch {
		case other != nil:
			d.list = append(d.list, diag.AtSpan(x.file, x.movedAt, "INVALID_MOVED_FROM", fmt.Sprintf("%s and %s are both moved from %s", other.shown(), x.shown(), was)).
				WithRelated(other.movedAt, "the first one"))
		case d.byID[was] != nil:
			d.list = append(d.list, diag.AtSpan(x.file, x.movedAt, "INVALID_MOVED_FROM", fmt.Sprintf("the project still defines %s, so %s cannot be moved from it", d.byID[was].shown(), x.shown())).
				WithHint("moved_from is the former name of a table that is renamed; names that change places are moved in two runs").WithRelated(d.byID[was].place, "its definition"))
		}
		tables[was] = x
	}
}

// fromSQL takes one definition of a SQL file.
func (d *definer) fromSQL(x *sqlplan.Definition) {
	conf := maps.Clone(x.Conf)
	in := space{x.Catalog, x.Database}
	place := x.Text.Span(x.At)
	file := x.Text.File()
	if x.Kind == sqlplan.DefineFlow {
		f := &flow{name: x.Name[len(x.Name)-1], place: place, file: file, once: x.Once, conf: conf, space: in, query: query{text: x.Text, parsed: x.Query}}
		if x.CDC != nil {
			f.cdc, f.cdcText, f.cdcSQL = cdcFromSQL(x), x.Text, x.CDC
		}
		d.addFlow(f, pending{flow: f, target: x.Target, place: x.Text.Span(x.TargetAt)})
		return
	}
	out := &dataset{place: place, file: file, comment: x.Comment, declared: x.Columns, properties: map[string]string{}, conf: conf, space: in}
	out.name = d.fullName(x.Name, x.Catalog, x.Database)
	switch x.Kind {
	case sqlplan.DefineStreamingTable:
		out.kind = graph.StreamingTable
	case sqlplan.DefineMaterializedView:
		out.kind = graph.MaterializedView
	case sqlplan.DefineTemporaryView:
		out.kind, out.name = graph.TemporaryView, x.Name
		out.query = query{text: x.Text, parsed: x.Query}
	default:
		out.kind = graph.PersistedView
		out.query = query{text: x.Text, parsed: x.Query}
	}
	for _, s := range x.Properties {
		at := x.Text.Span(s.At)
		d.property(out, property{word{s.Key, at}, word{s.Value, at}})
	}
	if x.MovedFrom != nil {
		if !out.isTable() {
			d.fail(file, x.Text.Span(x.MovedFromAt), "INVALID_MOVED_FROM", "only tables are moved; %s is a %s", out.shown(), out.kind)
		}
		out.movedFrom, out.movedAt = d.fullName(x.MovedFrom, x.Catalog, x.Database), x.Text.Span(x.MovedFromAt)
	}
	for _, w := range x.PartitionedBy {
		out.partitionedBy = append(out.partitionedBy, word{w.Value, x.Text.Span(w.At)})
	}
	for _, e := range x.Expectations {
		action := [...]spec.ExpectationAction{sqlplan.ExpectWarn: spec.Warn, sqlplan.ExpectDrop: spec.Drop, sqlplan.ExpectFail: spec.Fail}[e.Action]
		out.expectations = append(out.expectations, expectation{name: e.Name, parsed: e.Cond, text: x.Text, action: action, place: x.Text.Span(e.At)})
	}
	if !d.add(out) || !out.isTable() || x.Query == nil && x.CDC == nil {
		return
	}
	f := &flow{name: out.shown(), place: place, file: file, conf: conf, space: in, query: query{text: x.Text, parsed: x.Query}}
	if x.CDC != nil {
		f.cdc, f.cdcText, f.cdcSQL = cdcFromSQL(x), x.Text, x.CDC
	}
	d.addFlow(f, pending{flow: f, place: place, resolved: out})
}

// cdcFromSQL brings AUTO CDC of a SQL file into the document's form.
func cdcFromSQL(x *sqlplan.Definition) *spec.AutoCDC {
	c := x.CDC
	words := func(ws []sqlplan.Word) []spec.String {
		var out []spec.String
		for _, w := range ws {
			out = append(out, spec.String{Value: w.Value, Span: x.Text.Span(w.At)})
		}
		return out
	}
	return &spec.AutoCDC{
		Source: spec.Name{Parts: c.Source, Span: x.Text.Span(c.SourceAt)}, Keys: words(c.Keys),
		Columns: words(c.Columns), ExceptColumns: words(c.Except), SCDType: spec.Int{Value: int64(c.SCDType)},
		TrackHistory: words(c.TrackHistory), TrackHistoryExcept: words(c.TrackHistoryExcept), HasTrackHistory: c.HasTrackHistory,
		Span: x.Text.Span(x.At),
	}
}
