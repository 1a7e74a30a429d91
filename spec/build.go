package spec

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// Accessors: a key that is absent or faulty gives an unset value.

func (r *record) get(name string) *value {
	if r.object.find(name) == nil {
		panic("bug: " + r.object.name + " has no key " + name)
	}
	return r.vals[name]
}

func (r *record) has(name string) bool { return r.get(name) != nil }

func (r *record) str(name string) String {
	if v := r.get(name); v != nil {
		return v.str()
	}
	return String{Value: r.object.find(name).def}
}

func (v *value) str() String { return String{Value: v.m.body, Span: v.span} }

func (r *record) boolean(name string) Bool {
	if v := r.get(name); v != nil {
		return Bool{Value: v.flag, Span: v.span}
	}
	return Bool{}
}

func (r *record) duration(name string) Duration {
	if v := r.get(name); v != nil {
		return v.dur
	}
	return Duration{}
}

func (r *record) name(name string) Name {
	if v := r.get(name); v != nil {
		return Name{Parts: v.parts, Span: v.span}
	}
	return Name{}
}

// strs returns a list of texts; of columns without their backticks.
func (r *record) strs(name string) []String {
	v := r.get(name)
	if v == nil {
		return nil
	}
	out := make([]String, len(v.items))
	for i, it := range v.items {
		out[i] = it.str()
		if len(it.parts) == 1 {
			out[i].Value = it.parts[0]
		}
	}
	return out
}

func (w *walker) sqlText(r *record, name string) *diag.Text {
	if v := r.get(name); v != nil {
		return v.m.text(w.file)
	}
	return nil
}

func (r *record) settings(name string) []Setting {
	v := r.get(name)
	if v == nil {
		return nil
	}
	out := make([]Setting, len(v.pairs))
	for i, p := range v.pairs {
		out[i] = Setting{Key: String{Value: p.name, Span: p.nameSpan}, Value: p.val.str()}
	}
	return out
}

func (r *record) options(name string) []option.Entry {
	v := r.get(name)
	if v == nil {
		return nil
	}
	out := make([]option.Entry, len(v.pairs))
	for i, p := range v.pairs {
		out[i] = option.Entry{Name: p.name, NameSpan: p.nameSpan, Value: option.ParseValue(p.val.m.body), Span: p.val.span}
	}
	return out
}

func (r *record) records(name string) []*record {
	v := r.get(name)
	if v == nil {
		return nil
	}
	out := make([]*record, len(v.items))
	for i, it := range v.items {
		out[i] = it.rec
	}
	return out
}

// keySpan returns the place of a key.
func (r *record) keySpan(name string) diag.Span { return r.get(name).keySpan }

// sections adds what the sections of a document or fragment declare.
func (w *walker) sections(p *Pipeline, r *record) {
	for _, s := range r.records("sources") {
		before := w.faults
		x := w.source(s)
		if x.Faulty = s.bad || w.faults > before; x.Name.IsSet() {
			p.Sources = append(p.Sources, x)
		}
	}
	for _, s := range r.records("streaming_tables") {
		before := w.faults
		w.keep(p, w.streamingTable(s), s.bad || w.faults > before)
	}
	for _, s := range r.records("materialized_views") {
		before := w.faults
		w.keep(p, w.dataset(MaterializedView, s), s.bad || w.faults > before)
	}
	for _, s := range r.records("views") {
		before := w.faults
		w.keep(p, w.dataset(View, s), s.bad || w.faults > before)
	}
	for _, s := range r.records("flows") {
		f := w.flow(s)
		if f.Target = s.name("target"); f.Name.IsSet() && f.Target.IsSet() {
			p.Flows = append(p.Flows, f)
		}
	}
	for _, s := range r.records("sinks") {
		before := w.faults
		x := w.sink(s)
		if x.Faulty = s.bad || w.faults > before; x.Name.IsSet() {
			p.Sinks = append(p.Sinks, x)
		}
	}
}

// keep adds a dataset. What has no name cannot be spoken of and is left out;
// what is faulty stays, so that its readers find it.
func (w *walker) keep(p *Pipeline, d *Dataset, faulty bool) {
	if d.Faulty = faulty; d.Name.IsSet() {
		p.Datasets = append(p.Datasets, d)
	}
}

func (w *walker) source(r *record) *Source {
	s := &Source{
		Name: w.simpleName(r, "INVALID_NAME"), Format: r.str("format"), Path: r.str("path"),
		Schema: w.sqlText(r, "schema"), Options: r.options("options"), OnNewColumns: r.str("on_new_columns"),
		IdleTimeout: r.duration("idle_timeout"), Version: r.str("version"), File: w.file, Span: r.span,
	}
	if v := r.get("watermark"); v != nil {
		wm := v.rec
		s.Watermark = &Watermark{
			Column: wm.column("column"), Delay: wm.duration("delay"),
			PerPartition: wm.boolean("per_partition"), MaxFuture: wm.duration("max_future"), Span: wm.span,
		}
	}
	w.sourcePath(r, s)
	return s
}

// pathless are the formats of this program that read no files.
var pathless = map[string]bool{"rate": true, "generate": true, "kafka": true}

// sourcePath settles where a source reads: the key path or Spark's option of
// that name.
func (w *walker) sourcePath(r *record, s *Source) {
	for i, o := range s.Options {
		if !strings.EqualFold(o.Name, "path") {
			continue
		}
		text, plain := o.Value.Text()
		switch {
		case s.Path.IsSet():
			w.add(w.errorf(o.NameSpan, "CONFLICTING_KEYS", "the source has both a path and the option path").WithHint("remove one of them"))
		case plain && !w.pathless[s.Format.Value]:
			s.Path = String{Value: text, Span: o.Span}
			s.Options = append(s.Options[:i:i], s.Options[i+1:]...)
		}
		break
	}
	hasPath := s.Path.IsSet() || r.said("path") || r.said("options") && !r.has("options")
	switch {
	case !r.has("format"):
	case w.pathless[s.Format.Value] && r.has("path"):
		w.add(w.errorf(r.keySpan("path"), "CONFLICTING_KEYS", "the format %s reads no path", s.Format.Value).WithHint("remove the path"))
	case s.Path.IsSet() && strings.TrimSpace(s.Path.Value) == "":
		w.add(w.errorf(s.Path.Span, "INVALID_VALUE", "the path is empty").WithHint("name a folder, file or glob; `.` is the project folder"))
	case !w.pathless[s.Format.Value] && !hasPath:
		w.add(w.errorf(r.span, "MISSING_KEY", "a source of the format %s needs the key \"path\"", s.Format.Value).WithHint("add `path: …`: a folder, file or glob"))
	}
	w.insideProject(s.Path)
}

func (r *record) column(name string) String {
	s := r.str(name)
	if v := r.get(name); v != nil && len(v.parts) == 1 {
		s.Value = v.parts[0]
	}
	return s
}

// simpleName returns a name that must have one part.
func (w *walker) simpleName(r *record, code diag.Code) Name {
	n := r.name("name")
	if len(n.Parts) > 1 {
		w.add(w.errorf(n.Span, code, "the name of %s has one part, not %d", r.object.a(), len(n.Parts)).
			WithHint("write it without dots, or put a name that holds a dot in backticks"))
		return Name{}
	}
	return n
}

func (w *walker) sink(r *record) *Sink {
	s := &Sink{Name: w.simpleName(r, "INVALID_NAME"), Format: r.str("format"), Options: r.options("options"), MovedFrom: r.name("moved_from"), File: w.file, Span: r.span}
	for _, o := range s.Options {
		if text, plain := o.Value.Text(); plain && strings.EqualFold(o.Name, "path") {
			w.insideProject(String{Value: text, Span: o.Span})
		}
	}
	return s
}

func (w *walker) dataset(kind DatasetKind, r *record) *Dataset {
	d := &Dataset{
		Kind: kind, Comment: r.str("comment"), SQL: w.sqlText(r, "sql"), SQLFile: r.str("sql_file"),
		Schema: w.sqlText(r, "schema"), Deduplicate: w.deduplicate(r), OnError: onErrors[r.str("on_error").Value],
		File: w.file, Span: r.span,
	}
	if kind == View {
		d.Name = w.simpleName(r, "INVALID_TEMP_OBJ_QUALIFIER")
	} else {
		d.Name = r.name("name")
		d.Properties = r.settings("properties")
		d.PartitionedBy = r.strs("partitioned_by")
		if n := r.name("moved_from"); n.IsSet() {
			d.MovedFrom = &n
		}
	}
	d.Expectations = w.expectations(r)
	w.insideProject(d.SQLFile)
	if r.has("sql") && r.has("sql_file") {
		w.conflict(r, "sql", "sql_file")
	}
	if kind != StreamingTable && !r.said("sql") && !r.said("sql_file") && d.Name.IsSet() {
		w.add(w.errorf(d.Name.Span, "MISSING_KEY", "the %s %s has no query", kind, d.Name).WithHint("add `sql: |` with a query, or `sql_file`"))
	}
	return d
}

// said reports whether the document gives a key, even with a faulty value.
func (r *record) said(name string) bool {
	if r.get(name) != nil {
		return true
	}
	_, faulty := r.faulty[name]
	return faulty
}

var onErrors = map[string]OnError{"fail": FailFlow, "drop": DropRow, "quarantine": QuarantineRow}
var actions = map[string]ExpectationAction{"warn": Warn, "drop": Drop, "fail": Fail, "quarantine": Quarantine}
var outputModes = map[string]OutputMode{"append": Append, "update": Update, "complete": Complete}

func (w *walker) expectations(r *record) []*Expectation {
	var out []*Expectation
	seen := map[string]diag.Span{}
	for _, e := range r.records("expectations") {
		x := &Expectation{Name: e.str("name"), Expect: w.sqlText(e, "expect"), OnViolation: actions[e.str("on_violation").Value], Span: e.span}
		if x.Name.IsSet() {
			low := strings.ToLower(x.Name.Value)
			if first, twice := seen[low]; twice {
				w.add(w.errorf(x.Name.Span, "DUPLICATE_EXPECTATION", "two expectations have the name %q", x.Name.Value).WithRelated(first, "the first one"))
				continue
			}
			seen[low] = x.Name.Span
		}
		if x.Name.IsSet() && x.Expect != nil {
			out = append(out, x)
		}
	}
	return out
}

func (w *walker) deduplicate(r *record) *Deduplicate {
	v := r.get("deduplicate")
	if v == nil {
		return nil
	}
	return &Deduplicate{Keys: v.rec.strs("keys"), WithinWatermark: v.rec.boolean("within_watermark"), Span: v.rec.span}
}

func (w *walker) outputMode(r *record) OutputMode {
	if !r.has("output_mode") {
		return DefaultMode
	}
	return outputModes[r.str("output_mode").Value]
}

func (w *walker) streamingTable(r *record) *Dataset {
	d := w.dataset(StreamingTable, r)
	d.OutputMode, d.StateTTL = w.outputMode(r), r.duration("state_ttl")
	d.Keys = r.strs("keys")
	d.OnUpstreamReset = r.str("on_upstream_reset")
	d.Trigger = w.triggerOf(r)
	d.AutoCDC = w.autoCDC(r)
	for _, f := range r.records("flows") {
		flow := w.flow(f)
		flow.Target = d.Name
		if flow.OutputMode == Complete {
			w.add(w.errorf(f.get("output_mode").span, "INVALID_VALUE", "output_mode complete writes into sinks only").WithHint("use a materialized view"))
		}
		if flow.Name.IsSet() {
			d.Flows = append(d.Flows, flow)
		}
	}
	for _, other := range []string{"sql", "sql_file"} {
		if r.has("auto_cdc") && r.has(other) {
			w.conflict(r, "auto_cdc", other)
		}
	}
	if r.has("deduplicate") && !r.said("sql") && !r.said("sql_file") {
		w.add(w.errorf(r.keySpan("deduplicate"), "CONFLICTING_KEYS", "`deduplicate` applies to the table's own query, and there is none").
			WithHint("put it into the flow"))
	}
	switch {
	case d.OutputMode == Update && !r.said("keys"):
		w.add(w.errorf(r.get("output_mode").span, "MISSING_KEY", "output_mode update needs `keys`").WithHint("add keys: [column, …]"))
	case d.OutputMode != Update && r.has("keys"):
		w.add(w.errorf(r.keySpan("keys"), "CONFLICTING_KEYS", "`keys` belongs to output_mode update").WithHint("add output_mode: update, or remove keys"))
	}
	return d
}

// conflict reports two keys that exclude each other, at the later one.
func (w *walker) conflict(r *record, a, b string) {
	x, y := r.keySpan(a), r.keySpan(b)
	if x.Start.Offset > y.Start.Offset {
		x, y, a, b = y, x, b, a
	}
	w.add(w.errorf(y, "CONFLICTING_KEYS", "%s has either %q or %q", r.object.a(), a, b).WithHint("remove one of them").WithRelated(x, "the other one"))
}

func (w *walker) flow(r *record) *Flow {
	before := w.faults
	f := &Flow{
		Name: w.simpleName(r, "MULTIPART_FLOW_NAME_NOT_SUPPORTED"), SQL: w.sqlText(r, "sql"), Once: r.boolean("once"),
		AutoCDC: w.autoCDC(r), OutputMode: w.outputMode(r), Deduplicate: w.deduplicate(r), Trigger: w.triggerOf(r),
		MovedFrom: r.name("moved_from"), File: w.file, Span: r.span,
	}
	switch {
	case r.has("sql") && r.has("auto_cdc"):
		w.conflict(r, "sql", "auto_cdc")
	case !r.said("sql") && !r.said("auto_cdc"):
		w.add(w.errorf(r.span, "MISSING_KEY", "the flow has no query").WithHint("add `sql` or `auto_cdc`"))
	}
	if f.Once.Value && r.has("auto_cdc") {
		w.conflict(r, "once", "auto_cdc")
	}
	f.Faulty = r.bad || w.faults > before
	return f
}

func (w *walker) triggerOf(r *record) *Trigger {
	v := r.get("trigger")
	if v == nil {
		return nil
	}
	t := &Trigger{Span: v.span}
	if v.rec == nil {
		for m, name := range triggerNames {
			if name == v.m.body {
				t.Mode = TriggerMode(m)
			}
		}
		return t
	}
	t.Mode, t.Interval = ProcessingTime, v.rec.duration("processing_time")
	if v.rec.has("real_time") {
		t.Mode, t.Interval = RealTime, v.rec.duration("real_time")
	}
	return t
}

// insideProject refuses relative paths that leave the project folder.
func (w *walker) insideProject(p String) {
	if !p.IsSet() || strings.HasPrefix(p.Value, "/") || strings.Contains(p.Value, "://") {
		return
	}
	depth := 0
	for _, part := range strings.Split(strings.ReplaceAll(p.Value, `\`, "/"), "/") {
		switch part {
		case "", ".":
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			w.add(w.errorf(p.Span, "PATH_OUTSIDE_PROJECT", "%q leaves the project folder", p.Value).WithHint("name it with an absolute path if that is meant"))
			return
		}
	}
}
