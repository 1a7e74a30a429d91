package pipelines

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/graph"
	"pipelines/runtime/connector"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/spec/option"
	"pipelines/sqlplan"
)

// LoadOptions says how a project is loaded.
type LoadOptions struct {
	// Path is the document or its folder; "" finds the nearest one.
	Path string
	// Parameters are values for the document's parameters.
	Parameters map[string]string
	// Offline reads no data and no secret: what needs them is not checked.
	Offline bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Env finds secrets; nil means that none is set.
	Env func(name string) (string, bool)

	// wider overrides pinned schemas: those to which new columns are added.
	wider map[string]string
}

// Project is a loaded and checked project.
type Project struct {
	spec     *spec.Pipeline
	datasets []*dataset
	byID     map[string]*dataset
	sources  map[string]*spec.Source
	graph    *graph.Graph
	options  LoadOptions
	conf     map[string]string
	session  *sqlplan.Session
	params   map[string]*sqlplan.Literal
	offline  bool
	faulty   bool // has errors: may not be run
	now      clock
	env      func(string) (string, bool)
	declared map[*spec.Source]*sourceRelation
	// inferred holds the schemas that were found in data and are to be pinned,
	// by their name in the lock file.
	inferred map[string]string
	// Unchecked says what could not be checked offline.
	Unchecked []string
}

// Load reads and checks a project. The project is nil when its document cannot
// be read at all; it can be run only if the list has no errors.
func Load(ctx context.Context, o LoadOptions) (*Project, diag.List, error) {
	sp, list, err := spec.Load(o.Path, spec.Options{
		Parameters: o.Parameters, SourceFormats: sourceFormats(), SinkFormats: sinkFormats(), Settings: sqlSettings(),
	})
	if err != nil || sp == nil {
		return nil, list, err
	}
	p := &Project{spec: sp, graph: graph.New(), offline: o.Offline, now: o.Now, env: o.Env, options: o, inferred: maps.Clone(o.wider), declared: map[*spec.Source]*sourceRelation{}}
	if p.now == nil {
		p.now = time.Now
	}
	list = append(list, p.settings()...)
	d := define(p, list.HasErrors())
	list = append(list, d.list...)
	p.datasets, p.byID, p.sources = d.datasets, d.byID, d.sources
	for _, x := range p.datasets {
		x.node, _ = p.graph.Add(&graph.Node{ID: x.id(), Name: x.shown(), Kind: x.kind, Place: x.place})
		for _, f := range x.flows {
			x.node.Flows = append(x.node.Flows, f.name)
		}
	}
	a := newAnalyzer(ctx, p)
	a.declarations()
	a.analyze()
	p.Unchecked = a.unchecked
	list = append(list, a.list...)
	list.Sort()
	p.faulty = list.HasErrors()
	return p, list, nil
}

// sqlSettings are the keys of the configuration that SQL depends on.
func sqlSettings() []string { return slices.Sorted(maps.Keys(sqlplan.Defaults())) }

// sourceFormats names what can be read, for the document's checks.
func sourceFormats() []spec.Format {
	var out []spec.Format
	for _, f := range builtin.Sources() {
		out = append(out, spec.Format{Name: f.Name, NoPath: !f.NeedsPath})
	}
	return out
}

func sinkFormats() []spec.Format {
	var out []spec.Format
	for _, f := range builtin.Sinks() {
		out = append(out, spec.Format{Name: f.Name})
	}
	return out
}

// Name is the pipeline's name.
func (p *Project) Name() string { return p.spec.Name.Value }

// Graph is who reads whom.
func (p *Project) Graph() *graph.Graph { return p.graph }

// Dir is the project folder.
func (p *Project) Dir() string { return p.spec.Dir }

// settings reads configuration and parameters.
func (p *Project) settings() diag.List {
	p.conf = map[string]string{}
	for _, s := range p.spec.Configuration {
		p.conf[s.Key.Value] = s.Value.Value
	}
	var list diag.List
	p.session, list = newSession(p.conf, p.spec)
	p.params = map[string]*sqlplan.Literal{}
	for _, q := range p.spec.Parameters {
		if !q.HasValue && !q.Faulty {
			continue
		}
		t, more := sqlplan.ParseType(p.session, diag.NewText(p.spec.File.Name, q.Type.Value))
		if more.HasErrors() {
			list = append(list, diag.AtSpan(p.spec.File, q.Type.Span, more[0].Code, more[0].Message))
			continue
		}
		lit, err := sqlplan.ParseLiteral(p.session, t, q.Value)
		if err != nil && !q.Faulty {
			list = append(list, diag.AtSpan(p.spec.File, q.Name.Span, "INVALID_PARAMETER_VALUE", fmt.Sprintf("parameter %s: %v", q.Name.Value, err)))
		}
		if err != nil { // queries are checked all the same
			lit = sqlplan.NullLiteral(t)
		}
		p.params[q.Name.Value] = lit
	}
	return list
}

// newSession makes the settings that queries see. A bad value is reported at
// its place in the configuration and taken out of conf.
func newSession(conf map[string]string, sp *spec.Pipeline) (*sqlplan.Session, diag.List) {
	var list diag.List
	for _, key := range slices.Sorted(maps.Keys(conf)) {
		err := sqlplan.CheckSetting(key, conf[key])
		if err == nil {
			continue
		}
		delete(conf, key)
		at := sp.Name.Span
		for _, c := range sp.Configuration {
			if c.Key.Value == key {
				at = c.Value.Span
			}
		}
		list = append(list, diag.AtSpan(sp.File, at, diag.Code(err.Class), err.Message))
	}
	s, err := sqlplan.NewSession(sqlplan.Settings{Conf: conf, Catalog: sp.Catalog.Value, Database: sp.Database.Value})
	if err != nil {
		panic("bug: pipelines: default session: " + err.Error())
	}
	return s, list
}

// fullName completes a name with the project's catalog and database.
func (p *Project) fullName(parts []string) []string { return fullName(p.spec, parts, space{}) }

// path resolves a path that SQL names.
func (p *Project) path(s string) string {
	if p.spec.Dir == "" && !filepath.IsAbs(s) {
		return s
	}
	return p.spec.Path(s)
}

// sourceNode is the graph's node of a source or path.
func (p *Project) sourceNode(name string, place diag.Span) *graph.Node {
	n, _ := p.graph.Add(&graph.Node{ID: "source:" + strings.ToLower(name), Name: name, Kind: graph.Source, Place: place})
	return n
}

// declarations checks the sources and sinks that the document declares, read
// or not.
func (a *analyzer) declarations() {
	for _, s := range a.project.spec.Sources {
		_, list, err := a.project.declaredSource(s)
		a.list = append(a.list, list...)
		if err != nil {
			a.fail(s.File, s.Format.Span, "INVALID_SOURCE", "%s", err)
		}
		if s.Version.IsSet() && !strings.EqualFold(s.Format.Value, "delta") {
			a.fail(s.File, s.Version.Span, "INVALID_SOURCE", "version pins delta sources only")
		}
	}
	for _, s := range a.project.spec.Sinks {
		f := builtin.Sink(s.Format.Value)
		if s.Faulty || f == nil {
			continue
		}
		_, list := option.NewSet(f.Name+" sink", f.Fields...).Decode(s.Options, a.project.optionContext(s.File, s.Span))
		a.list = append(a.list, list...)
	}
}

func (p *Project) optionContext(file *diag.File, at diag.Span) option.Context {
	c := option.Context{File: file, Span: at}
	if !p.offline {
		c.Resolver = p.resolver()
	}
	return c
}

func (p *Project) resolver() *option.Resolver {
	return &option.Resolver{Env: p.env, File: func(path string) ([]byte, error) { return os.ReadFile(p.spec.Path(path)) }}
}

// declaredSource turns a declared source into one that can be opened, nil when
// it has errors. Its findings are reported once.
func (p *Project) declaredSource(s *spec.Source) (*sourceRelation, diag.List, error) {
	if rel, ok := p.declared[s]; ok {
		return rel, nil, nil
	}
	p.declared[s] = nil
	var list diag.List
	f := builtin.Source(s.Format.Value)
	if s.Faulty || f == nil {
		return nil, nil, nil
	}
	vals, more := option.NewSet(f.Name, f.Fields...).Decode(s.Options, p.optionContext(s.File, s.Name.Span))
	list = append(list, more...)
	rel := &sourceRelation{name: s.Name.Parts[0], factory: f, spec: s}
	rel.config = connector.SourceConfig{Name: s.Name.Parts[0], Options: vals, Texts: map[string]string{}, Version: s.Version.Value, Dir: p.spec.Dir}
	if s.Path.IsSet() {
		rel.config.Path, rel.config.Declared = p.spec.Path(s.Path.Value), s.Path.Value
	}
	for _, e := range s.Options {
		if text, ok := e.Value.Text(); ok {
			rel.config.Texts[strings.ToLower(e.Name)] = text
		}
	}
	list = append(list, checkTexts(rel, more)...)
	if why := p.readsStorage(rel); why != "" && !more.HasErrors() {
		list = append(list, diag.AtSpan(s.File, s.Path.Span, "SOURCE_READS_STORAGE", why).WithHint(storageHint))
	}
	list = append(list, checkNewColumns(s)...)
	rel.config.NewColumns = s.NewColumns()
	rel.config.ByName = s.OnNewColumns.IsSet() || s.Schema == nil
	if s.Schema != nil {
		sch, more := sqlplan.ParseColumns(p.session, s.Schema)
		list = append(list, more...)
		rel.config.Schema = &sch
		if err := checkRescued(rel.config.Texts, sch); err != nil && !more.HasErrors() {
			i := slices.IndexFunc(s.Options, func(e option.Entry) bool { return strings.EqualFold(e.Name, rescuedOption) })
			list = append(list, diag.AtSpan(s.File, s.Options[i].Span, "INVALID_OPTION", badOption(f, rescuedOption, err)))
		}
	}
	list = append(list, p.checkClean(s, rel)...)
	if s.Watermark != nil {
		list = append(list, p.checkWatermark(s, rel)...)
	}
	if !list.HasErrors() {
		p.declared[s] = rel
	}
	return rel, list, nil
}

// checkTexts refuses, each at its place, options that the connector would
// refuse when it opens; reported are those that were found faulty before.
func checkTexts(rel *sourceRelation, reported diag.List) diag.List {
	if rel.factory.Check == nil {
		return nil
	}
	var list diag.List
	texts := maps.Clone(rel.config.Texts)
	for {
		name, err := rel.factory.Check(texts)
		if err == nil {
			return list
		}
		at := rel.spec.Name.Span
		i := slices.IndexFunc(rel.spec.Options, func(e option.Entry) bool { return strings.EqualFold(e.Name, name) })
		if i >= 0 {
			at = rel.spec.Options[i].Span
		}
		if !slices.ContainsFunc(reported, func(d diag.Diagnostic) bool { return d.Span == at }) {
			list = append(list, diag.AtSpan(rel.spec.File, at, "INVALID_OPTION", badOption(rel.factory, name, err)))
		}
		if i < 0 {
			return list
		}
		delete(texts, strings.ToLower(name))
	}
}

func (p *Project) checkWatermark(s *spec.Source, rel *sourceRelation) diag.List {
	if rel.config.Schema == nil {
		return nil
	}
	if i := rel.config.Schema.Index(s.Watermark.Column.Value); i < 0 {
		x := diag.AtSpan(s.File, s.Watermark.Column.Span, "UNRESOLVED_COLUMN.WITH_SUGGESTION", fmt.Sprintf("the source has no column %s", s.Watermark.Column.Value))
		return diag.List{x.WithHint(diag.DidYouMean(s.Watermark.Column.Value, rel.config.Schema.Names()))}
	}
	return nil
}

func classError(class, msg string) error { return sqlplan.NewError(class, msg) }
