package spec

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"pipelines/spec/diag"
)

// walker checks a document against the key table and collects what is wrong.
type walker struct {
	file   *diag.File
	form   Form
	conf   *configuration
	list   diag.List
	faults int // errors, also those over the limit of the list, and uses of values that are faulty where they stand

	confPairs []pair
	formats   map[*object][]string // what the caller can read and write
	pathless  map[string]bool      // sources that read no files
	confKnown []string             // further configuration keys that mean something
	verbatim  bool                 // ${key} is text
}

// record is a mapping of the document, checked against its object.
type record struct {
	object *object
	span   diag.Span
	vals   map[string]*value
	faulty map[string]diag.Span // keys that were given, but not well
	bad    bool                 // something in it is wrong
}

// value is one value that passed its checks. Which fields are set depends on
// the kind of its key.
type value struct {
	keySpan diag.Span
	span    diag.Span
	m       mapped // the text after substitution, with its map
	num     int64
	flag    bool
	dur     Duration
	parts   []string // of a name
	items   []*value
	rec     *record
	pairs   []pair
	given   int // entries of a list as written, faulty ones too
}

type pair struct {
	name     string
	nameSpan diag.Span
	val      *value
}

// entry is one key and value of a mapping, merges followed.
type entry struct {
	key, val *yaml.Node
}

// maxFaults bounds what is reported for one file.
const maxFaults = 1000

func (w *walker) add(d diag.Diagnostic) {
	if d.Severity == diag.Error {
		w.faults++
	}
	w.note(d)
}

// note reports what does not make the part around it faulty: the rest of it
// means what it says and is checked.
func (w *walker) note(d diag.Diagnostic) {
	switch len(w.list) {
	case maxFaults:
		w.list = append(w.list, w.errorf(d.Span, "TOO_MANY_FAULTS", "only the first %d faults of this file are shown", maxFaults))
	case maxFaults + 1:
	default:
		w.list = append(w.list, d)
	}
}

func (w *walker) errorf(s diag.Span, code diag.Code, format string, args ...any) diag.Diagnostic {
	return diag.AtSpan(w.file, s, code, fmt.Sprintf(format, args...))
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// spanOf returns the place of a node: all of a scalar, the first character of
// anything else.
func (w *walker) spanOf(n *yaml.Node) diag.Span {
	at := w.file.Offset(n.Line, n.Column)
	if n.Kind == yaml.ScalarNode {
		m := mapScalar(w.file, n)
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return spanOf(w.file, m.start, lineEnd(w.file.Src, m.start))
		}
		return spanOf(w.file, m.start, m.end)
	}
	at = skipProperties(w.file.Src, at)
	return spanOf(w.file, at, min(at+1, len(w.file.Src)))
}

// entries lists the keys of a mapping: its own, then those of its merges that
// it does not override. Double keys are reported.
func (w *walker) entries(n *yaml.Node) []entry {
	var own []entry
	var merges []*yaml.Node
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := resolve(n.Content[i]), n.Content[i+1]
		switch first := seen[k.Value]; {
		case k.Kind != yaml.ScalarNode:
			w.add(w.errorf(w.spanOf(k), "WRONG_TYPE", "a key is not a text").WithHint("quote keys that start with a bracket"))
		case k.Tag == "!!merge":
			merges = append(merges, v)
		case first != nil:
			w.add(w.errorf(w.spanOf(k), "DUPLICATE_KEY", "the key %q stands here twice", k.Value).
				WithHint("remove one of them").WithRelated(w.spanOf(first), "the first one"))
		default:
			seen[k.Value] = k
			own = append(own, entry{k, v})
		}
	}
	for _, m := range merges {
		own = w.merge(own, seen, m)
	}
	return own
}

func (w *walker) merge(own []entry, seen map[string]*yaml.Node, from *yaml.Node) []entry {
	r := resolve(from)
	switch r.Kind {
	case yaml.MappingNode:
		for _, e := range w.entries(r) {
			if seen[e.key.Value] == nil {
				seen[e.key.Value] = e.key
				own = append(own, e)
			}
		}
	case yaml.SequenceNode:
		for _, item := range r.Content {
			if resolve(item).Kind != yaml.MappingNode {
				w.add(w.errorf(w.spanOf(item), "WRONG_TYPE", "`<<` merges mappings only"))
				continue
			}
			own = w.merge(own, seen, item)
		}
	default:
		w.add(w.errorf(w.spanOf(from), "WRONG_TYPE", "`<<` merges mappings only"))
	}
	return own
}

// record checks a mapping. It returns nil if n is none.
func (w *walker) record(o *object, n *yaml.Node) *record {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		var keys []string
		for _, k := range o.keys {
			keys = append(keys, k.name)
		}
		example := "such as {" + keys[0] + ": …}"
		if o == libraryObject {
			example = "such as {glob: {include: transformations/**}}"
		}
		w.add(w.wrongType(n, o.a(), "keys and values").WithHint("write keys and values, " + example + "; its keys: " + strings.Join(keys[:min(len(keys), 8)], ", ")))
		return nil
	}
	r := &record{object: o, span: w.spanOf(n), vals: map[string]*value{}}
	before := w.faults
	entries := w.entries(n)
	cut := w.cutTexts(o, n, entries)
	used := map[string]diag.Span{}
	meants := map[string]diag.Span{} // what unknown keys were meant to be
	for i, e := range entries {
		if cut[i] != cutNone {
			if cut[i] == cutOwner {
				used[o.find(e.key.Value).name] = w.spanOf(e.key)
			}
			continue
		}
		k := o.find(e.key.Value)
		if k == nil {
			if meant := w.unknownKey(o, e.key); meant != "" {
				meants[meant] = w.spanOf(e.key)
			}
			continue
		}
		keySpan := w.spanOf(e.key)
		if first, twice := used[k.name]; twice {
			w.add(w.errorf(keySpan, "DUPLICATE_KEY", "%q and %q are the same key", k.name, e.key.Value).
				WithHint("remove one of them").WithRelated(first, "the first one"))
			continue
		}
		used[k.name] = keySpan
		if what, found := findLater(o.name, k.name, ""); found {
			w.report(o, k.name, w.notAvailable(keySpan, what))
			continue
		}
		if n := resolve(e.val); o == sparkObject && k.kind == kindScalar && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
			continue // Spark takes an empty value as none
		}
		if v := w.value(o, k, e.val); v != nil {
			v.keySpan = keySpan
			r.vals[k.name] = v
		}
	}
	for name, span := range meants {
		if _, given := used[name]; !given {
			used[name] = span
		}
	}
	w.missingKeys(r, used)
	for name, span := range used {
		if r.vals[name] == nil {
			if r.faulty == nil {
				r.faulty = map[string]diag.Span{}
			}
			r.faulty[name] = span
		}
	}
	r.bad = w.faults > before
	return r
}

func (w *walker) notAvailable(s diag.Span, what string) diag.Diagnostic {
	return w.errorf(s, "FEATURE_NOT_AVAILABLE", "not available yet: %s", what)
}

// apart are the keys that say nothing of what a query may read or give.
var apart = map[string]bool{
	"": true, "comment": true, "properties": true, "tags": true, "partitioned_by": true, "cluster_by": true, "location": true, "moved_from": true,
	"depends_on": true, "expectations": true, "state_ttl": true, "trigger": true, "idle_timeout": true, "bad_records": true, "max_concurrent_flows": true,
	"memory": true, "notifications": true, "targets": true, "alerts": true, "schedule": true,
}

// report reports a fault of a key that is meant to be name; "" is like none.
func (w *walker) report(o *object, name string, d diag.Diagnostic) {
	if apart[name] || name == "schema" && o != sourceObject {
		w.note(d)
		return
	}
	w.add(d)
}

// unknownKey reports a key and returns the key that was meant, if any is like
// it, so that its absence is not reported as well.
func (w *walker) unknownKey(o *object, k *yaml.Node) (meant string) {
	code := diag.Code("UNKNOWN_KEY")
	if w.form == Spark && o == sparkObject {
		code = "PIPELINE_SPEC_UNEXPECTED_FIELD"
	}
	hint := ""
	if like := diag.Suggest(k.Value, o.names()); like != "" {
		meant = o.find(like).name
		hint = "did you mean \"" + like + "\"?"
	}
	severity := diag.Error
	switch {
	case o == libraryObject:
		meant, hint = "glob", "write `- glob: {include: …}`"
	case o == globObject && w.form == Spark:
		severity, hint = diag.Warning, "Spark ignores it; remove it"
	}
	if o == fragmentObject && pipelineObject.find(k.Value) != nil {
		hint = "it belongs into the pipeline document"
	}
	if hint == "" {
		hint = "allowed here: " + strings.Join(o.names(), ", ")
	}
	d := w.errorf(w.spanOf(k), code, "unknown key %q in %s", k.Value, o.a()).WithHint(hint)
	d.Severity = severity
	w.report(o, meant, d)
	if severity != diag.Error {
		return ""
	}
	return meant
}

func (w *walker) missingKeys(r *record, used map[string]diag.Span) {
	for _, k := range r.object.keys {
		if _, ok := used[k.name]; ok || !k.required {
			continue
		}
		code := diag.Code("MISSING_KEY")
		if w.form == Spark && r.object == sparkObject {
			code = "PIPELINE_SPEC_MISSING_REQUIRED_FIELD"
		}
		if c, ok := missingCDC[k.name]; ok && r.object == autoCDCObject {
			code = c
		}
		w.add(w.errorf(r.span, code, "%s needs the key %q", r.object.a(), k.name).WithHint("add `" + k.name + ": …`: " + k.doc))
	}
}

type cutKind uint8

const (
	cutNone  cutKind = iota
	cutOwner         // the value in front of the comma
	cutRest          // a key that is a piece of the text
)

// cutTexts finds text in a flow mapping that YAML cut at its commas: behind the
// value stand unknown keys without a value.
func (w *walker) cutTexts(o *object, n *yaml.Node, entries []entry) map[int]cutKind {
	if n.Style&yaml.FlowStyle == 0 {
		return nil
	}
	cut := map[int]cutKind{}
	owner := -1
	for i, e := range entries {
		k := (*key)(nil)
		if o != nil {
			k = o.find(e.key.Value)
		}
		switch {
		case k == nil && owner >= 0 && w.isPiece(e):
			if cut[owner] == cutNone {
				cut[owner] = cutOwner
				prev := mapScalar(w.file, resolve(entries[owner].val))
				at := spanOf(w.file, prev.start, mapScalar(w.file, e.key).end)
				w.add(w.errorf(at, "YAML_TEXT_CUT", "YAML cuts the text of %q at the comma", entries[owner].key.Value).
					WithHint("write it in quotes, or as a block after `|`"))
			}
			cut[i] = cutRest
		case (k != nil || o == nil) && isPlain(resolve(e.val)):
			owner = i
		case k != nil:
			owner = -1
		}
	}
	return cut
}

// isPiece reports whether a key of a flow mapping stands alone, without colon
// and value.
func (w *walker) isPiece(e entry) bool {
	if e.val.Kind != yaml.ScalarNode || e.val.Tag != "!!null" || e.val.Value != "" || e.key.Kind != yaml.ScalarNode {
		return false
	}
	rest := strings.TrimLeft(w.file.Src[mapScalar(w.file, e.key).end:], " \t\r\n")
	return !strings.HasPrefix(rest, ":")
}

func isPlain(n *yaml.Node) bool {
	const other = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Style&other == 0 && n.Value != ""
}

// wrongType says what n is and what is wanted.
func (w *walker) wrongType(n *yaml.Node, subject, wanted string) diag.Diagnostic {
	return w.errorf(w.spanOf(n), "WRONG_TYPE", "%s wants %s, not %s", subject, wanted, describe(n))
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a truth value"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a date"
	}
	return "a text"
}
