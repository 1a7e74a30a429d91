package spec

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// Options are what a caller adds to the document.
type Options struct {
	// Parameters holds values given on the command line, by name.
	Parameters map[string]string
	// Configuration overrides configuration values of the document.
	Configuration map[string]string
	// SourceFormats and SinkFormats name what can be read and written. nil
	// means what this program ships.
	SourceFormats []Format
	SinkFormats   []Format
	// Settings names the configuration keys that SQL depends on; nil: keys of
	// Spark are not judged.
	Settings []string
}

// Format is a format or connector that a caller offers.
type Format struct {
	Name   string
	NoPath bool // a source that reads no files
}

// Parse reads one pipeline document from bytes. file names it in places; its
// base name decides the form (spark-pipeline.yml or our own). Fragments, SQL
// files and sql_file are not read: Load does that. The pipeline is never nil;
// it holds what is well even when the list has errors.
func Parse(file string, src []byte, opts Options) (*Pipeline, diag.List) {
	b := newBuilder(file, src, opts)
	b.main()
	b.checkNames()
	return b.p, b.finish()
}

// builder puts a project together from its files.
type builder struct {
	p    *Pipeline
	opts Options
	conf *configuration
	list diag.List

	shown string // the project folder as it stands in places
}

func newBuilder(file string, src []byte, opts Options) *builder {
	p := &Pipeline{
		File: newFile(file, src), Catalog: String{Value: "main"}, Database: String{Value: "default"},
		MaxConcurrentFlows: Int{Value: 16},
	}
	if base := path.Base(strings.ReplaceAll(file, `\`, "/")); base == "spark-pipeline.yml" || base == "spark-pipeline.yaml" {
		p.Form = Spark
	}
	return &builder{p: p, opts: opts, conf: &configuration{}}
}

// finish orders the list and drops what an anchor's users reported twice.
func (b *builder) finish() diag.List {
	b.list.Sort()
	type place struct {
		code diag.Code
		span diag.Span
		msg  string
	}
	seen := map[place]bool{}
	b.list = slices.DeleteFunc(b.list, func(d diag.Diagnostic) bool {
		p := place{d.Code, d.Span, d.Message}
		twice := seen[p]
		seen[p] = true
		return twice
	})
	return b.list
}

// walker returns a walker for one file of the project.
func (b *builder) walker(file *diag.File) *walker {
	w := &walker{file: file, form: b.p.Form, conf: b.conf, formats: map[*object][]string{}, pathless: pathless, confKnown: b.opts.Settings}
	if b.opts.SourceFormats != nil {
		w.pathless = map[string]bool{}
	}
	for _, f := range b.opts.SourceFormats {
		w.formats[sourceObject] = append(w.formats[sourceObject], f.Name)
		w.pathless[f.Name] = f.NoPath
	}
	for _, f := range b.opts.SinkFormats {
		w.formats[sinkObject] = append(w.formats[sinkObject], f.Name)
	}
	return w
}

// main reads the main document.
func (b *builder) main() {
	w := b.walker(b.p.File)
	o := pipelineObject
	if b.p.Form == Spark {
		o = sparkObject
	}
	root, list := readDocument(b.p.File)
	if list != nil {
		b.list = append(b.list, list...)
		return
	}
	if root == nil {
		at := spanOf(b.p.File, 0, 0)
		code := diag.Code("MISSING_KEY")
		if b.p.Form == Spark {
			code = "PIPELINE_SPEC_MISSING_REQUIRED_FIELD"
		}
		b.list = append(b.list, w.errorf(at, code, "the document is empty").WithHint("it needs at least `name` and `storage`"))
		return
	}
	w.configure(root, b.opts.Configuration)
	b.conf = w.conf
	r := w.record(o, root)
	if r != nil {
		w.settingsOf(b.p, r)
		if b.p.Form == Native {
			w.parameters(b.p, r, b.opts.Parameters)
			w.sections(b.p, r)
		}
	}
	b.list = append(b.list, w.list...)
}

// settingsOf takes the pipeline's own settings.
func (w *walker) settingsOf(p *Pipeline, r *record) {
	p.Name, p.Storage = r.str("name"), r.str("storage")
	w.storage(p.Storage)
	if s := r.str("catalog"); s.IsSet() {
		p.Catalog = s
	}
	if s := r.str("database"); s.IsSet() {
		p.Database = s
	} else if w.form == Spark && r.has("schema") {
		p.Database = r.str("schema")
	}
	for _, l := range r.records("libraries") {
		if g := l.get("glob"); g != nil && g.rec.has("include") {
			p.Libraries = append(p.Libraries, &Library{Include: g.rec.str("include"), Span: l.span})
		}
	}
	p.Configuration = w.configurationOf(r)
	w.checkConfiguration(p.Configuration)
	if w.form == Spark {
		return
	}
	p.Checkpoints = r.str("checkpoints")
	w.insideProject(p.Checkpoints)
	for _, l := range p.Libraries {
		w.insideProject(l.Include)
	}
	p.Trigger = w.triggerOf(r)
	if v := r.get("max_concurrent_flows"); v != nil {
		p.MaxConcurrentFlows = Int{Value: v.num, Span: v.span}
	}
	if v := r.get("memory"); v != nil {
		p.Memory = w.memory(v)
	}
}

// storage checks the form of the storage: a folder or a file URI.
func (w *walker) storage(s String) {
	scheme, rest, isURI := strings.Cut(s.Value, ":")
	switch {
	case !s.IsSet() || strings.Contains(scheme, "/") || !isURI:
		w.insideProject(s)
	case len(scheme) == 1: // a drive letter
	case scheme != "file":
		if what, found := findLater("pipeline", "storage", s.Value); found {
			w.add(w.notAvailable(s.Span, what))
			return
		}
		w.add(w.errorf(s.Span, "PIPELINE_STORAGE_ROOT_INVALID", "storage has the unknown scheme %q", scheme).WithHint("name a folder"))
	case !strings.HasPrefix(rest, "/"):
		w.add(w.errorf(s.Span, "PIPELINE_STORAGE_ROOT_INVALID", "a file: URI needs an absolute path").WithHint("write the folder without `file:`"))
	}
}

// memory reads a share: "50%", "0.5" or a size such as "2 GiB".
func (w *walker) memory(v *value) Memory {
	text := strings.TrimSpace(v.m.body)
	if number, isPercent := strings.CutSuffix(text, "%"); isPercent {
		if f, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && f > 0 && f <= 100 {
			return Memory{Percent: f, Span: v.span}
		}
	} else if n, err := option.ParseBytes(text); err == nil && n >= 1<<20 {
		return Memory{Bytes: n, Span: v.span}
	}
	w.add(w.errorf(v.span, "INVALID_VALUE", "memory is a share from 1%% to 100%%, or a size of at least 1 MiB, not %q", text).WithHint("write 50% or 2 GiB"))
	return Memory{}
}

// checkNames finds names that stand twice in the YAML files. Names ignore
// case; sources, tables, views and sinks share one namespace.
func (b *builder) checkNames() {
	seen := map[string]named{}
	for _, s := range b.p.Sources {
		b.unique(seen, named{"source", s.Name, s.File}, "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT")
	}
	for _, d := range b.p.Datasets {
		b.unique(seen, named{d.Kind.String(), d.Name, d.File}, "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT")
	}
	for _, s := range b.p.Sinks {
		b.unique(seen, named{"sink", s.Name, s.File}, "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT")
	}
	flows := map[string]named{}
	for _, d := range b.p.Datasets {
		for _, f := range d.Flows {
			b.unique(flows, named{"flow", f.Name, f.File}, "PIPELINE_DUPLICATE_IDENTIFIERS.FLOW")
		}
	}
	for _, f := range b.p.Flows {
		b.unique(flows, named{"flow", f.Name, f.File}, "PIPELINE_DUPLICATE_IDENTIFIERS.FLOW")
	}
}

type named struct {
	kind string
	name Name
	file *diag.File
}

// unique reports n when its qualified name was taken before.
func (b *builder) unique(seen map[string]named, n named, code diag.Code) {
	if !n.name.IsSet() || len(n.name.Parts) == 0 {
		return
	}
	parts := []string{b.p.Catalog.Value, b.p.Database.Value}
	parts = append(parts[:max(0, 3-len(n.name.Parts))], n.name.Parts...)
	key := strings.ToLower(strings.Join(parts, "\x00"))
	first, twice := seen[key]
	if !twice {
		seen[key] = n
		return
	}
	msg := fmt.Sprintf("the name %s is taken: a %s has it", n.name, first.kind)
	if first.name.String() != n.name.String() && strings.EqualFold(first.name.String(), n.name.String()) {
		msg = fmt.Sprintf("%s and %s differ only in case", n.name, first.name)
	}
	b.list = append(b.list, diag.AtSpan(n.file, n.name.Span, code, msg).
		WithHint("give one of them another name").WithRelated(first.name.Span, "the "+first.kind))
}
