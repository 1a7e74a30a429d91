package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pipelines/pipelines/builtin"
	"pipelines/pipelines/graph"
	"pipelines/runtime/connector"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/spec/option"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/catalog"
	"pipelines/tables/schema"
)

// Reader reads the tables of a project, or files and Delta tables without one,
// for ad-hoc queries. It takes no lock and writes nothing. It is used by one
// goroutine.
type Reader struct {
	p  *Project
	a  *analyzer
	st *storage // nil while nothing is stored
}

// OpenReader opens a project for reading. Its queries are not checked: a view
// is when it is read. The list holds findings of the document.
func OpenReader(ctx context.Context, o LoadOptions) (*Reader, diag.List, error) {
	sp, list, err := spec.Load(o.Path, spec.Options{Parameters: o.Parameters, Settings: sqlSettings()})
	if err != nil || sp == nil || list.HasErrors() {
		return nil, list, err
	}
	p := &Project{spec: sp, graph: graph.New(), now: o.Now, env: o.Env, declared: map[*spec.Source]*sourceRelation{}}
	list = append(list, p.settings()...)
	d := define(p, list.HasErrors())
	list = append(list, d.list...)
	p.datasets, p.byID, p.sources = d.datasets, d.byID, d.sources
	for _, x := range p.datasets {
		x.node, _ = p.graph.Add(&graph.Node{ID: x.id(), Name: x.shown(), Kind: x.kind, Place: x.place})
	}
	r, err := newReader(ctx, p)
	return r, list, err
}

// BareReader reads files and tables by path, without a project. Relative paths
// start at dir.
func BareReader(ctx context.Context, dir string, now func() time.Time) (*Reader, error) {
	sp := &spec.Pipeline{Dir: dir}
	sp.Catalog.Value, sp.Database.Value = "main", "default"
	p := &Project{spec: sp, graph: graph.New(), now: now, declared: map[*spec.Source]*sourceRelation{}, byID: map[string]*dataset{}}
	p.conf = map[string]string{}
	p.session, _ = newSession(p.conf, sp)
	return newReader(ctx, p)
}

func newReader(ctx context.Context, p *Project) (*Reader, error) {
	if p.now == nil {
		p.now = time.Now
	}
	r := &Reader{p: p, a: newAnalyzer(ctx, p)}
	if !p.spec.Storage.IsSet() {
		return r, nil
	}
	root := p.spec.StorageDir()
	if err := checkStorage(root); err != nil {
		return nil, &EnvironmentError{err}
	}
	if _, err := os.Stat(root); err != nil {
		return r, nil // nothing was stored yet
	}
	st, err := openStorage(root, false, p.now)
	if err != nil {
		return nil, &EnvironmentError{err}
	}
	r.st = st
	return r, nil
}

// Conf returns the settings of the project's configuration.
func (r *Reader) Conf() map[string]string { return r.p.conf }

// Params returns the values of the project's parameters.
func (r *Reader) Params() map[string]*sqlplan.Literal { return r.p.params }

// Namespace returns the catalog and database that short names stand in.
func (r *Reader) Namespace() (catalogName, database string) {
	return r.p.spec.Catalog.Value, r.p.spec.Database.Value
}

// Resolve finds a stored table, a view, a source or a path. The relation's
// Handle is for Open.
func (r *Reader) Resolve(req sqlplan.Request) (sqlplan.Answer, error) { return r.resolve(req, space{}) }

// insideView finds the names in the text of a view.
type insideView struct {
	r     *Reader
	space space
}

func (v insideView) Resolve(req sqlplan.Request) (sqlplan.Answer, error) {
	return v.r.resolve(req, v.space)
}

// Broken returns what was wrong with the storage itself since the last call, nil
// if nothing: findings that come of it say nothing of a query.
func (r *Reader) Broken() error {
	err := r.a.broken
	r.a.broken = nil
	return err
}

func (r *Reader) resolve(req sqlplan.Request, in space) (sqlplan.Answer, error) {
	c := &catalogOf{a: r.a, space: in}
	if req.Function {
		return c.function(req)
	}
	full := c.fullName(req.Parts)
	d := r.p.byID[strings.ToLower(strings.Join(full, "."))]
	if x := r.p.byID[strings.ToLower(req.Parts[0])]; x != nil && len(req.Parts) == 1 {
		d = x
	}
	if d != nil && d.isTable() && d.kind != graph.Sink {
		return r.stored(d.name, req, d.shown())
	}
	if d == nil && len(req.Parts) <= 3 && r.st != nil {
		ans, err := r.stored(full, req, "")
		if !isNotFound(err) {
			return ans, err
		}
	}
	before := len(r.a.list)
	ans, err := c.Resolve(req)
	if err == nil && ans.View != nil {
		if x, ok := ans.View.Catalog.(*catalogOf); ok {
			ans.View.Catalog = insideView{r, x.space}
		}
	}
	if err == nil && ans.View != nil && ans.View.Broken && r.a.list[before:].HasErrors() {
		for _, x := range r.a.list[before:] {
			if x.Severity == diag.Error {
				return ans, sqlplan.NewError(string(x.Code), x.Message)
			}
		}
	}
	return ans, err
}

// stored answers with a table of the storage at the version that is asked for.
// A defined table that was never made is said by its name.
func (r *Reader) stored(name []string, req sqlplan.Request, defined string) (sqlplan.Answer, error) {
	var t *tables.Table
	if r.st != nil {
		rec, ok, err := r.a.record(r.st, name)
		if err != nil {
			return sqlplan.Answer{}, err
		}
		if ok && rec.Kind == catalog.View && rec.Query != "" && defined == "" {
			return storedView(name, rec.Query)
		}
		if ok && rec.Folder != "" {
			if t, err = r.a.table(r.st, rec.Folder); err != nil && !errors.Is(err, stores.ErrNotExist) {
				return sqlplan.Answer{}, err
			}
		}
	}
	if t == nil {
		if defined != "" {
			return sqlplan.Answer{}, sqlplan.NewError("TABLE_OR_VIEW_NOT_FOUND", fmt.Sprintf("The table `%s` is defined and was not made yet: use `pipelines run` first.", defined))
		}
		return sqlplan.Answer{}, &sqlplan.NotFound{Names: r.names()}
	}
	snap, err := r.snapshot(t, req)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	id := fmt.Sprintf("stored:%s@%d", strings.ToLower(strings.Join(name, ".")), snap.Version())
	rel := &logical.Relation{ID: id, Name: name, Schema: snap.Schema(), Streaming: req.Stream, Handle: storedTable{t, snap}}
	return sqlplan.Answer{Relation: rel}, nil
}

// storedView answers with a view that another pipeline has stored.
func storedView(name []string, query string) (sqlplan.Answer, error) {
	text := diag.NewText("view "+name[2], query)
	q, list := sqlplan.ParseQuery(&sqlplan.Session{}, text)
	if list.HasErrors() {
		return sqlplan.Answer{}, sqlplan.NewError(string(list[0].Code), "the stored view "+name[2]+": "+list[0].Message)
	}
	return sqlplan.Answer{View: &sqlplan.View{Name: name, Text: text, Query: q}}, nil
}

// storedTable is the handle of a table at one version.
type storedTable struct {
	table *tables.Table
	at    *tables.Snapshot
}

func (r *Reader) snapshot(t *tables.Table, req sqlplan.Request) (*tables.Snapshot, error) {
	if req.Timestamp != "" {
		return nil, sqlplan.NewError("FEATURE_NOT_AVAILABLE", "TIMESTAMP AS OF is not available yet; use VERSION AS OF")
	}
	if req.Version == "" {
		return r.a.snapshot(t, -1)
	}
	v, err := strconv.ParseInt(strings.Trim(req.Version, "'\""), 10, 64)
	if err != nil {
		return nil, sqlplan.NewError("INVALID_TIME_TRAVEL_SPEC", "a version is a whole number, not "+req.Version)
	}
	return r.a.snapshot(t, v)
}

// Open returns the rows of a relation that Resolve gave.
func (r *Reader) Open(rel *logical.Relation) (connector.Bounded, error) {
	switch h := rel.Handle.(type) {
	case storedTable:
		return builtin.TableWhole(h.table, h.at), nil
	case handle:
		switch {
		case h.source != nil && h.source.opened != nil && h.source.opened.Table != nil:
			return h.source.opened.Table, nil
		case h.external != nil:
			st, err := openStorage(r.p.spec.StorageDir(), false, r.p.now)
			if err != nil {
				return nil, err
			}
			t, err := r.a.table(st, h.external.folder)
			if err != nil {
				return nil, err
			}
			return builtin.TableWhole(t, nil), nil
		}
	}
	return nil, fmt.Errorf("%s cannot be read as a whole", strings.Join(rel.Name, "."))
}

// File answers a file format and path with options, as CREATE TEMPORARY VIEW …
// USING has them. Options may hold "path"; columns may be nil.
func (r *Reader) File(format string, options map[string]string, columns *schema.Schema) (sqlplan.Answer, error) {
	f := builtin.Source(format)
	if f == nil {
		return sqlplan.Answer{}, sqlplan.NewError("DATA_SOURCE_NOT_FOUND", fmt.Sprintf("Failed to find the data source: %s.", format))
	}
	path, opts := "", map[string]string{}
	for k, v := range options {
		if strings.EqualFold(k, "path") {
			path = v
			continue
		}
		opts[k] = v
	}
	if columns != nil {
		opts["schema"] = columns.DDL()
	}
	if path == "" && f.NeedsPath {
		return sqlplan.Answer{}, sqlplan.NewError("MISSING_OPTION", "USING "+format+" needs the option path")
	}
	c := &catalogOf{a: r.a}
	return c.path(f, path, sqlplan.Request{Parts: []string{format, path}, Options: opts})
}

// Names lists the tables, views and sources that a query may name.
func (r *Reader) Names() []string { return r.names() }

func (r *Reader) names() []string {
	return (&catalogOf{a: r.a}).names()
}

// TableInfo describes a table, view or source of a project.
type TableInfo struct {
	Name    []string // catalog, database, name; sources and temporary views one part
	Kind    string   // "streaming table", "materialized view", "view", "temporary view", "source"
	Comment string
	Owner   string
	// The rest is set for stored tables.
	Stored   bool
	Version  int64
	Rows     int64 // -1 when not known
	Files    int
	Bytes    int64
	Path     string // folder of the data
	Modified time.Time
	Schema   schema.Schema
}

// Tables lists what the project defines and what its storage holds, by name.
func (r *Reader) Tables(ctx context.Context) ([]TableInfo, error) {
	var out []TableInfo
	seen := map[string]bool{}
	for _, d := range r.p.datasets {
		if d.kind == graph.Sink {
			continue
		}
		info := TableInfo{Name: d.name, Kind: d.kind.String(), Comment: d.comment, Owner: r.p.Name(), Rows: -1}
		if d.isTable() && r.st != nil {
			if err := r.describe(ctx, &info); err != nil {
				return nil, err
			}
		}
		seen[d.id()] = true
		out = append(out, info)
	}
	if r.st != nil {
		var failed error
		err := r.st.catalog.List(ctx, func(rec catalog.Record, err error) bool {
			name := []string{rec.Name.Catalog, rec.Name.Database, rec.Name.Table}
			if err != nil || seen[strings.ToLower(strings.Join(name, "."))] {
				failed = errors.Join(failed, err)
				return true
			}
			info := TableInfo{Name: name, Kind: kindWords(string(rec.Kind)), Comment: rec.Comment, Owner: rec.Owner, Rows: -1}
			failed = errors.Join(failed, r.describe(ctx, &info))
			out = append(out, info)
			return true
		})
		if err := errors.Join(err, failed); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b TableInfo) int { return strings.Compare(strings.Join(a.Name, "."), strings.Join(b.Name, ".")) })
	return out, nil
}

func kindWords(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", " ")) }

// describe fills in what the storage knows of a table.
func (r *Reader) describe(ctx context.Context, info *TableInfo) error {
	rec, ok, err := r.st.record(ctx, info.Name)
	if err != nil || !ok || rec.Folder == "" {
		return err
	}
	t, err := r.st.table(ctx, rec.Folder)
	if errors.Is(err, stores.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s := t.Known()
	info.Stored, info.Version, info.Files, info.Bytes, info.Schema = true, s.Version(), s.NumFiles(), s.Bytes(), s.Schema()
	if n, known := s.Rows(); known {
		info.Rows = n
	}
	for _, f := range s.Files() {
		if f.ModTime.After(info.Modified) {
			info.Modified = f.ModTime
		}
	}
	info.Path = r.st.root + "/" + rec.Folder
	return nil
}

// Sources lists the declared sources by name.
func (r *Reader) Sources() []string {
	var out []string
	for _, s := range r.p.spec.Sources {
		out = append(out, s.Name.Parts[0])
	}
	slices.Sort(out)
	return out
}

// FindDocument returns the path of the project's document: that of --spec, or
// the nearest one above the current folder when path is "". Without one the
// list says so.
func FindDocument(path string) (string, diag.List) {
	if path != "" {
		if _, err := os.Stat(path); err != nil {
			d := diag.AtSpan(nil, diag.Span{File: path}, "PIPELINE_SPEC_FILE_NOT_FOUND", "there is no such file or folder")
			return "", diag.List{d}
		}
		return path, nil
	}
	return spec.Find(".")
}

// Status is what the last or running update did, nil if none ran.
func (r *Reader) Status() (*Status, error) { return r.p.ReadStatus() }

// Name is the pipeline's name.
func (r *Reader) Name() string { return r.p.Name() }

// JSONSchema is the JSON Schema of pipeline.yml with the options of all
// formats.
func JSONSchema() []byte {
	sources, sinks := map[string]*option.Set{}, map[string]*option.Set{}
	for _, f := range builtin.Sources() {
		sources[f.Name] = option.NewSet(f.Name, f.Fields...)
	}
	for _, f := range builtin.Sinks() {
		sinks[f.Name] = option.NewSet(f.Name, f.Fields...)
	}
	return spec.JSONSchemaWith(sources, sinks)
}

// Document is the path of the project's document.
func (p *Project) Document() string { return p.spec.File.Name }

// Triggers lists the words that RunOptions.Trigger takes.
func Triggers() []string { return []string{"available_now", "triggered", "continuous"} }
