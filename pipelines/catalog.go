package pipelines

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/graph"
	"pipelines/runtime/connector"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/spec/option"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/stores"
	"pipelines/tables/schema"
)

// catalogOf resolves the names that the queries of one dataset mention.
type catalogOf struct {
	a      *analyzer
	reader *dataset // nil in the SQL shell
	space  space
	views  *viewsRead // collects; nil when each view keeps its settings
}

// fullName completes a name with the catalog and database in force.
func (c *catalogOf) fullName(parts []string) []string {
	return fullName(c.a.project.spec, parts, c.space)
}

// handle is what a relation of a plan stands for; exactly one of the first
// three is set.
type handle struct {
	dataset  *dataset
	external *external       // a table of another pipeline in the storage
	source   *sourceRelation // a declared source, a path, a table function
	// limits bound what an epoch takes of a table that is read as a stream.
	limits builtin.TableLimits
}

// sourceRelation is something outside, opened when a plan runs.
type sourceRelation struct {
	name    string
	factory *connector.SourceFactory
	config  connector.SourceConfig
	spec    *spec.Source // nil for paths in SQL
	opened  *connector.Opened
}

// Resolve implements sqlplan.Catalog.
func (c *catalogOf) Resolve(r sqlplan.Request) (sqlplan.Answer, error) {
	if r.Function {
		return c.function(r)
	}
	if ans, err := c.byName(r); !isNotFound(err) {
		return ans, err
	}
	if len(r.Parts) == 2 {
		if f := builtin.Source(r.Parts[0]); f != nil && f.NeedsPath {
			return c.path(f, r.Parts[1], r)
		}
	}
	ans, err := c.external(r)
	if !isNotFound(err) {
		return ans, err
	}
	if own := c.a.project.spec.Catalog.Value; len(r.Parts) == 3 && !c.knows(c.fullName(r.Parts)[0]) {
		return ans, classError("REQUIRES_SINGLE_PART_NAMESPACE", fmt.Sprintf("there is no catalog %s, and `%s` requires a single-part namespace, but got `%s`.`%s`", r.Parts[0], own, r.Parts[0], r.Parts[1]))
	}
	return ans, &sqlplan.NotFound{Names: c.names()}
}

// knows reports whether anything stands in a catalog.
func (c *catalogOf) knows(name string) bool {
	p := c.a.project
	return strings.EqualFold(name, p.spec.Catalog.Value) || slices.ContainsFunc(p.datasets, func(d *dataset) bool {
		return len(d.name) == 3 && strings.EqualFold(d.name[0], name)
	})
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*sqlplan.NotFound](err)
	return ok
}

func (c *catalogOf) names() []string {
	var out []string
	for _, d := range c.a.project.datasets {
		if d.kind != graph.Sink {
			out = append(out, d.shown())
		}
	}
	for _, s := range c.a.project.spec.Sources {
		out = append(out, s.Name.Parts[0])
	}
	return out
}

// byName finds what the project itself defines: temporary views first, then
// sources, then tables.
func (c *catalogOf) byName(r sqlplan.Request) (sqlplan.Answer, error) {
	p := c.a.project
	parts := r.Parts
	if strings.EqualFold(parts[0], "live") && len(parts) == 2 && p.byID[strings.ToLower(strings.Join(c.fullName(parts), "."))] == nil {
		parts = parts[1:] // the older LIVE.name
	}
	if len(parts) == 1 {
		if d := p.byID[strings.ToLower(parts[0])]; d != nil && d.kind == graph.TemporaryView {
			return c.view(d, r)
		}
		if s := p.sources[strings.ToLower(parts[0])]; s != nil {
			return c.source(s, r)
		}
	}
	d := p.byID[strings.ToLower(strings.Join(c.fullName(parts), "."))]
	if d == nil || d.kind == graph.Sink {
		return sqlplan.Answer{}, &sqlplan.NotFound{}
	}
	if d.kind == graph.PersistedView {
		return c.view(d, r)
	}
	return c.table(d, r)
}

// enter analyzes a dataset that is about to be read and notes the read; it
// reports a cycle.
func (c *catalogOf) enter(d *dataset, r sqlplan.Request) error {
	if c.reader != nil {
		c.a.project.graph.Link(c.reader.node, d.node, r.Stream, r.Place)
	}
	if d.done.state == active {
		i := slices.Index(c.a.stack, d)
		var ring []string
		for _, x := range c.a.stack[i:] {
			ring = append(ring, x.shown())
			x.done.broken = true
		}
		ring = append(ring, d.shown())
		return classError("PIPELINE_CIRCULAR_DEPENDENCY", fmt.Sprintf("circular dependency: %s", strings.Join(ring, " reads ")))
	}
	c.a.dataset(d)
	return nil
}

var brokenView = sqlplan.Answer{View: &sqlplan.View{Broken: true}}

func (c *catalogOf) view(d *dataset, r sqlplan.Request) (sqlplan.Answer, error) {
	if err := noOptions(r, "a view"); err != nil {
		return sqlplan.Answer{}, err
	}
	if err := c.enter(d, r); err != nil {
		return sqlplan.Answer{}, err
	}
	if d.done.broken {
		return brokenView, nil
	}
	if d.kind == graph.TemporaryView && c.reader != nil && c.reader.kind == graph.PersistedView {
		return sqlplan.Answer{}, classError("INVALID_TEMP_OBJ_REFERENCE", fmt.Sprintf("the view %s is stored and cannot read the temporary view %s", c.reader.shown(), d.shown()))
	}
	// The names inside mean what they mean where the view stands.
	v := &sqlplan.View{Name: d.name, Text: d.query.text, Dedup: d.dedup, Catalog: &catalogOf{a: c.a, reader: c.reader, space: d.space, views: c.views}}
	if c.views.add(d); c.views == nil && len(d.conf) > 0 {
		v.Session = c.a.session(d.conf)
	}
	if d.query.parsed != nil {
		v.Query = d.query.parsed
	} else {
		q, list := sqlplan.ParseQuery(c.a.session(d.conf), d.query.text)
		if list.HasErrors() {
			return brokenView, nil
		}
		v.Query = q
	}
	var list diag.List
	if v.Checks, list = sqlplan.ParseChecks(c.a.session(d.conf), d.checks()); list.HasErrors() {
		return brokenView, nil
	}
	v.DropErrors, v.Declared = d.dropErrors, d.declared
	return sqlplan.Answer{View: v}, nil
}

func (c *catalogOf) table(d *dataset, r sqlplan.Request) (sqlplan.Answer, error) {
	if err := c.enter(d, r); err != nil {
		return sqlplan.Answer{}, err
	}
	if d.done.broken {
		return brokenView, nil
	}
	if r.Stream && d.kind == graph.MaterializedView && c.reader != nil && c.reader.onReset == "" && c.a.project.spec.Form == spec.Native {
		return sqlplan.Answer{}, classError("STREAM_OF_MATERIALIZED_VIEW", fmt.Sprintf(
			"%s is a materialized view: each run replaces its rows, and a stream cannot take rows back; read it without STREAM, or set on_upstream_reset: reread or skip", d.shown()))
	}
	if r.Stream && c.reader != nil && c.reader.isTable() {
		c.a.streamOfKeyed(d, c.reader, r.Place)
	}
	limits, err := tableLimits(r)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	rel := &logical.Relation{ID: relationID(d.id(), r), Name: d.name, Schema: d.done.schema, Streaming: r.Stream, Handle: handle{dataset: d, limits: limits}}
	return sqlplan.Answer{Relation: rel}, nil
}

// limitFields are the options of a table that is read as a stream.
var limitFields = connector.SourceFactory{Name: "table", Fields: []option.Field{
	{Name: "maxFilesPerTrigger", Type: option.TypeInt, Min: 1, Doc: "at most this many files an epoch"},
	{Name: "maxBytesPerTrigger", Type: option.TypeBytes, Min: 1, Doc: "take files until their sum passes this; at least one"},
}}

// tableLimits reads the options of STREAM(t) WITH (...).
func tableLimits(r sqlplan.Request) (l builtin.TableLimits, err error) {
	if !r.Stream {
		return l, noOptions(r, "a table that is not read as a stream")
	}
	vals, err := decodePath(&limitFields, r.Options)
	if err != nil {
		return l, err
	}
	return builtin.TableLimits{Files: int(vals.Int("maxFilesPerTrigger")), Bytes: vals.Int("maxBytesPerTrigger")}, nil
}

// noOptions refuses WITH (...) where it has no meaning.
func noOptions(r sqlplan.Request, what string) error {
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		return optionError(k, "INVALID_OPTION", what+" takes no options in SQL")
	}
	return nil
}

// relationID tells a stream of a thing from the thing read whole: in one flow
// both may stand.
func relationID(id string, r sqlplan.Request) string {
	if r.Version != "" {
		id += "@" + r.Version
	}
	if !r.Stream {
		id = "batch:" + id
	}
	return id
}

// source answers with a declared source.
func (c *catalogOf) source(s *spec.Source, r sqlplan.Request) (sqlplan.Answer, error) {
	if err := noOptions(r, "a declared source (set them there)"); err != nil {
		return sqlplan.Answer{}, err
	}
	p := c.a.project
	name := s.Name.Parts[0]
	rel, list, err := p.declaredSource(s)
	c.a.list = append(c.a.list, list...)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	if list.HasErrors() || rel == nil {
		return brokenView, nil
	}
	if c.reader != nil {
		c.a.project.graph.Link(c.reader.node, p.sourceNode(name, s.Span), r.Stream, r.Place)
	}
	return c.answer(rel, "source:"+strings.ToLower(name), r)
}

// path answers with a format path (json.`p`).
func (c *catalogOf) path(f *connector.SourceFactory, path string, r sqlplan.Request) (sqlplan.Answer, error) {
	texts := map[string]string{}
	for k, v := range r.Options {
		texts[strings.ToLower(k)] = v
	}
	cfg := connector.SourceConfig{Name: path, Path: c.a.project.path(path), Texts: texts}
	if ddl, ok := texts["schema"]; ok {
		s, list := sqlplan.ParseColumns(c.a.project.session, diag.NewText("schema", ddl))
		if list.HasErrors() {
			return sqlplan.Answer{}, optionError("schema", string(list[0].Code), "the schema option: "+list[0].Message)
		}
		if err := checkRescued(texts, s); err != nil {
			return sqlplan.Answer{}, optionError(rescuedOption, "INVALID_OPTION", badOption(f, rescuedOption, err))
		}
		cfg.Schema = &s
		delete(texts, "schema")
	}
	vals, err := decodePath(f, texts)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	cfg.Options = vals
	if !strings.Contains(path, "://") {
		path = filepath.Clean(path) // another spelling is the same stream
	}
	rel := &sourceRelation{name: f.Name + ".`" + path + "`", factory: f, config: cfg}
	if why := c.a.project.readsStorage(rel); why != "" && c.reader != nil {
		return sqlplan.Answer{}, classError("SOURCE_READS_STORAGE", why+"; "+storageHint)
	}
	h := fnv.New64a()
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		fmt.Fprintf(h, "%s=%s\x00", k, r.Options[k])
	}
	id := fmt.Sprintf("path:%s:%s:%x", f.Name, path, h.Sum64())
	if c.reader != nil {
		c.a.project.graph.Link(c.reader.node, c.a.project.sourceNode(rel.name, diag.Span{}), r.Stream, r.Place)
	}
	return c.answer(rel, id, r)
}

// decodePath reads the options of a path, each on its own so that the faulty
// one is known, then together.
func decodePath(f *connector.SourceFactory, texts map[string]string) (*option.Values, error) {
	set := option.NewSet(f.Name, f.Fields...)
	for _, e := range option.FromMap(texts) {
		_, list := set.Decode([]option.Entry{e}, option.Context{})
		for _, d := range list {
			if d.Severity == diag.Error && d.Code != "MISSING_OPTION" {
				return nil, optionError(e.Name, string(d.Code), d.Message)
			}
		}
	}
	vals, list := set.Decode(option.FromMap(texts), option.Context{})
	if list.HasErrors() {
		return nil, classError(string(list[0].Code), list[0].Message)
	}
	if f.Check != nil {
		if name, err := f.Check(texts); err != nil {
			return nil, optionError(name, "INVALID_OPTION", badOption(f, name, err))
		}
	}
	return vals, nil
}

// badOption words what a connector says of an option, by its proper name.
func badOption(f *connector.SourceFactory, name string, err error) string {
	for _, x := range f.Fields {
		if strings.EqualFold(x.Name, name) {
			name = x.Name
		}
	}
	return "the option " + name + ": " + err.Error()
}

func optionError(name, class, msg string) error {
	return &sqlplan.OptionError{Option: name, Err: sqlplan.NewError(class, msg)}
}

// function answers a table function that reads files.
func (c *catalogOf) function(r sqlplan.Request) (sqlplan.Answer, error) {
	name := strings.ToLower(r.Parts[len(r.Parts)-1])
	if name != "read_files" && name != "cloud_files" {
		return sqlplan.Answer{}, classError("UNRESOLVABLE_TABLE_VALUED_FUNCTION", fmt.Sprintf("could not resolve `%s` to a table-valued function", name))
	}
	opts := maps.Clone(r.Options)
	path, format := "", ""
	for k, v := range r.Options {
		switch strings.ToLower(k) {
		case "path":
			path = v
			delete(opts, k)
		case "format":
			format = v
			delete(opts, k)
		}
	}
	if path == "" {
		return sqlplan.Answer{}, classError("MISSING_OPTION", name+" needs a path")
	}
	if format == "" {
		format = formatOf(path)
	}
	f := builtin.Source(format)
	if f == nil || !f.NeedsPath {
		return sqlplan.Answer{}, classError("DATA_SOURCE_NOT_FOUND", fmt.Sprintf("there is no file format %q", format))
	}
	r.Options = opts
	return c.path(f, path, r)
}

// formatOf guesses a format from a file name.
func formatOf(path string) string {
	ext := strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")), ".")
	if ext == "jsonl" || ext == "ndjson" {
		return "json"
	}
	return ext
}

// answer opens the source if its schema is not known and makes the relation.
func (c *catalogOf) answer(rel *sourceRelation, id string, r sqlplan.Request) (sqlplan.Answer, error) {
	s, known, err := c.a.schemaOf(rel, r.Stream)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	if !known {
		c.a.unchecked = append(c.a.unchecked, fmt.Sprintf("%s: its columns are inferred from data, which validate does not read; declare schema, or run `pipelines schema pull`", rel.name))
		return brokenView, nil
	}
	out := &logical.Relation{ID: relationID(id, r), Name: []string{rel.name}, Schema: s, Streaming: r.Stream, Handle: handle{source: rel}}
	ans := sqlplan.Answer{Relation: out, Metadata: rel.factory.Metadata}
	if rel.spec != nil && r.Stream {
		out.IdleTimeout = rel.spec.IdleTimeout.Value.Microseconds()
	}
	if rel.spec != nil && rel.spec.Watermark != nil {
		w := rel.spec.Watermark
		ans.EventTime = &sqlplan.EventTime{Column: w.Column.Value, Delay: w.Delay.Value.Microseconds(), MaxFuture: maxFuture(w)}
	}
	return ans, nil
}

// maxFuture is the bound in microseconds, 0 for none; times count in
// milliseconds, so that the least bound is as good as nothing.
func maxFuture(w *spec.Watermark) int64 {
	if !w.MaxFuture.IsSet() {
		return 0
	}
	return max(1, w.MaxFuture.Value.Microseconds())
}

// schemaOf returns the schema of a source: declared, fixed, pinned or (unless
// offline) inferred.
func (a *analyzer) schemaOf(rel *sourceRelation, stream bool) (s schema.Schema, known bool, err error) {
	p := a.project
	pinned := ""
	if (stream || rel.spec != nil) && rel.infers() {
		pinned = rel.lockName()
		ddl := p.spec.Lock.Schema(pinned)
		if text, ok := p.options.wider[pinned]; ok {
			ddl = diag.NewText(spec.LockFile, text)
		}
		if err := rel.usePinned(ddl); err != nil {
			return s, false, err
		}
	}
	if rel.opened == nil && !p.offline {
		o, err := a.openInferred(rel, pinned)
		if err != nil {
			return s, false, err
		}
		rel.opened = &o
	}
	switch {
	case rel.opened != nil:
		if stream && rel.opened.Stream == nil {
			return s, false, classError("UNSUPPORTED_STREAMING_SOURCE", rel.name+" cannot be read as a stream")
		}
		if !stream && rel.opened.Table == nil {
			return s, false, classError("UNSUPPORTED_BATCH_SOURCE", rel.name+" can only be read as a stream")
		}
		return rel.opened.Schema, true, nil
	case rel.factory.Schema != nil:
		return *rel.factory.Schema, true, nil
	case rel.config.Schema != nil:
		return *rel.config.Schema, true, nil
	}
	return s, false, nil
}

// openInferred opens a source; the schema that it finds is kept for the lock
// file under the name pinned, if that is one.
func (a *analyzer) openInferred(rel *sourceRelation, pinned string) (o connector.Opened, err error) {
	open := func() error {
		return a.with(func(ctx context.Context) (err error) {
			o, err = a.project.openSource(ctx, rel)
			return err
		})
	}
	if err := open(); err != nil || pinned == "" || rel.config.Schema != nil {
		return o, err
	}
	if o.Columnless {
		return o, classError("UNABLE_TO_INFER_SCHEMA", "the files of "+rel.name+" have no column, so its schema cannot be inferred; declare it with schema, or run again when there is data")
	}
	if name := rel.config.Texts[rescuedOption]; name != "" && o.Schema.Index(name) >= 0 {
		return o, classError("COLUMN_ALREADY_EXISTS", "the data of "+rel.name+" has a column `"+name+"`, which rescuedDataColumn names: name another one")
	}
	if s := rel.rescue(o.Schema); len(s.Fields) > len(o.Schema.Fields) {
		// The connector says where the column stands: ahead of those of folders.
		rel.config.Schema = &s
		if err := open(); err != nil {
			return o, err
		}
	}
	if a.project.inferred == nil {
		a.project.inferred = map[string]string{}
	}
	a.project.inferred[pinned] = o.Schema.DDL()
	return o, nil
}

// openSource opens a source with the project's settings.
func (p *Project) openSource(ctx context.Context, rel *sourceRelation) (connector.Opened, error) {
	cfg := rel.config
	cfg.Location, cfg.CaseSensitive, cfg.Now = p.session.Location, p.session.CaseSensitive, p.now
	o, err := rel.factory.Open(ctx, cfg)
	if pe, ok := errors.AsType[*connector.PathError](err); ok {
		return o, classError("PATH_NOT_FOUND", "path does not exist: "+pe.Path)
	}
	if err != nil && stores.Classify(err) == stores.Permanent && strings.HasPrefix(err.Error(), "[") {
		class, rest, _ := strings.Cut(strings.TrimPrefix(err.Error(), "["), "] ")
		return o, classError(class, rest)
	}
	return o, err
}
