package spec

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// value checks the value of a key. It returns nil after a fault.
func (w *walker) value(o *object, k *key, n *yaml.Node) *value {
	n = resolve(n)
	v := &value{span: w.spanOf(n)}
	ok := false
	switch k.kind {
	case kindObject:
		v.rec = w.record(k.object, n)
		ok = v.rec != nil
	case kindObjects:
		ok = w.objects(k, n, v)
	case kindNamed:
		ok = w.named(k, n, v)
	case kindTexts, kindColumns:
		ok = w.texts(o, k, n, v)
	case kindSettings, kindOptions:
		ok = w.settings(k, n, v)
	case kindTrigger:
		ok = w.trigger(o, k, n, v)
	case kindBool:
		ok = w.boolean(k, n, v)
	case kindInt:
		ok = w.integer(k, n, v)
	case kindAny:
		ok = true
	default:
		ok = w.scalar(o, k, n, v)
	}
	if !ok {
		return nil
	}
	return v
}

// scalar checks the kinds that are written as one text.
func (w *walker) scalar(o *object, k *key, n *yaml.Node, v *value) bool {
	if !w.textNode("`"+k.name+"`", n, k.kind == kindScalar) {
		return false
	}
	m := mapScalar(w.file, n)
	sql := k.kind == kindSQL || k.kind == kindDDL || k.kind == kindExpr
	if at := m.commentAfter(w.file.Src); sql && at >= 0 && isPlain(n) {
		w.add(w.errorf(spanOf(w.file, at, lineEnd(w.file.Src, at)), "YAML_TEXT_CUT", "YAML takes the rest of the line behind ` #` as a comment and drops it from %q", k.name).
			WithHint("write the text in quotes or as a block after `|`; a YAML comment goes on a line of its own"))
		return false
	}
	var ok bool
	if v.m, ok = w.substitute(m, false); !ok {
		return false
	}
	if strings.TrimSpace(v.m.body) == "" && k.kind != kindText && !(w.form == Spark && o == sparkObject) {
		w.add(w.errorf(v.span, "WRONG_TYPE", "%q is empty", k.name).WithHint("give it a value or remove the key"))
		return false
	}
	switch k.kind {
	case kindName, kindQualified, kindColumn:
		return w.identifier(o, k, v)
	case kindDuration:
		return w.duration(k, v)
	}
	return w.enum(o, k, v)
}

// enum checks the words of a key that takes certain words only, and whether
// the word is available.
func (w *walker) enum(o *object, k *key, v *value) bool {
	if what, found := findLater(o.name, k.name, v.m.body); found {
		w.add(w.notAvailable(v.span, what))
		return false
	}
	words := k.values
	if k.name == "format" && w.formats[o] != nil {
		words = w.formats[o]
	}
	if len(words) == 0 {
		return true
	}
	i := slices.IndexFunc(words, func(s string) bool { return strings.EqualFold(s, v.m.body) })
	if i < 0 {
		code := diag.Code("INVALID_VALUE")
		if k.name == "format" {
			code = "DATA_SOURCE_NOT_FOUND"
		}
		hint := diag.DidYouMean(v.m.body, words)
		if hint == "" {
			hint = "use one of: " + strings.Join(words, ", ")
		}
		w.add(w.errorf(v.span, code, "%q is no %s of %s", v.m.body, k.name, o.a()).WithHint(hint))
		return false
	}
	v.m.body = words[i]
	return true
}

// textNode checks that a node is one text. With any, every single value is
// taken as it is written.
func (w *walker) textNode(subject string, n *yaml.Node, any bool) bool {
	if n.Kind != yaml.ScalarNode {
		d := w.wrongType(n, subject, "a text")
		if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 {
			d = d.WithHint("text that starts with `{` must be quoted")
		}
		w.add(d)
		return false
	}
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		hint := `give it a value, remove the key, or write "" for an empty text`
		if at := (mapped{end: w.file.Offset(n.Line, n.Column)}).commentAfter(w.file.Src); at >= 0 && n.Value == "" {
			hint = "`#` starts a comment: write text that starts with it in quotes"
		}
		w.add(w.errorf(w.spanOf(n), "WRONG_TYPE", "%s has no value", subject).WithHint(hint))
		return false
	case tag == "!!str":
		if !any && isPlain(n) && yaml11Bool[strings.ToLower(n.Value)] {
			w.add(w.errorf(w.spanOf(n), "AMBIGUOUS_TEXT", "unquoted %s is a truth value to many YAML readers; it is taken as text here", n.Value).
				WithHint(`quote it: "` + n.Value + `"`).Warn())
		}
		return true
	case tag == "!!timestamp" || any && (tag == "!!int" || tag == "!!float" || tag == "!!bool"):
		return true
	case tag == "!!int" || tag == "!!float" || tag == "!!bool":
		w.add(w.wrongType(n, subject, "a text").WithHint(`quote it: "` + n.Value + `"`))
		return false
	default:
		w.add(w.errorf(w.spanOf(n), "WRONG_TYPE", "%s has the tag %s, which means nothing here", subject, tag))
		return false
	}
}

var yaml11Bool = map[string]bool{"yes": true, "no": true, "on": true, "off": true}

func (w *walker) boolean(k *key, n *yaml.Node, v *value) bool {
	if n.Kind == yaml.ScalarNode && isPlain(n) {
		switch strings.ToLower(n.Value) {
		case "true":
			v.flag = true
			return true
		case "false":
			return true
		}
	}
	w.add(w.wrongType(n, "`"+k.name+"`", "true or false").WithHint("write true or false, without quotes"))
	return false
}

func (w *walker) integer(k *key, n *yaml.Node, v *value) bool {
	i, err := strconv.ParseInt(n.Value, 10, 64)
	switch {
	case n.Kind != yaml.ScalarNode || !isPlain(n) || err != nil:
		w.add(w.wrongType(n, "`"+k.name+"`", "a whole number"))
		return false
	case i < k.min || i > k.max:
		w.add(w.errorf(v.span, "INVALID_VALUE", "%q must be from %d to %d", k.name, k.min, k.max))
		return false
	}
	v.num = i
	return true
}

func (w *walker) duration(k *key, v *value) bool {
	iv, err := option.ParseInterval(v.m.body)
	if err != nil {
		w.add(w.errorf(v.span, "INVALID_VALUE", "%s: %v", k.name, err).WithHint("write a length of time such as `10 seconds` or `5 minutes`"))
		return false
	}
	d, ok := iv.Duration()
	if !ok && iv.Months == 0 {
		w.add(w.errorf(v.span, "INVALID_VALUE", "%s: no length of time above 292 years fits", k.name).WithHint("write a shorter time, such as `365 days`"))
		return false
	}
	if !ok {
		w.add(w.errorf(v.span, "INVALID_VALUE", "%s: months and years have no fixed length", k.name).WithHint("write it in days"))
		return false
	}
	if d < 0 || d == 0 && k.name != "delay" && k.name != "max_future" {
		w.add(w.errorf(v.span, "INVALID_VALUE", "%s must be longer than nothing", k.name))
		return false
	}
	v.dur = Duration{Value: d, Span: v.span}
	return true
}

// identifier splits a name into its parts.
func (w *walker) identifier(o *object, k *key, v *value) bool {
	parts, err := SplitName(v.m.body)
	limit := 3
	if k.kind != kindQualified {
		limit = 1
	}
	bad, multi := diag.Code("INVALID_NAME"), diag.Code("INVALID_NAME")
	if o == autoCDCObject && k.kind == kindColumn {
		bad, multi = "AUTOCDC_NON_COLUMN_IDENTIFIER", "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER"
	}
	isColumn := k.kind == kindColumn
	switch {
	case err != nil:
		w.add(w.errorf(v.span, bad, "%q is no name: %v", v.m.body, err))
		return false
	case isColumn && strings.Contains(v.m.body, "(") && !strings.HasPrefix(v.m.body, "`"):
		w.add(w.errorf(v.span, bad, "%q is an expression, not a column", v.m.body).WithHint("compute the column in the query; a name that holds brackets stands in backticks"))
		return false
	case isColumn && len(parts) > limit:
		w.add(w.errorf(v.span, multi, "%q is no column name", v.m.body).WithHint("only whole columns; a name that holds a dot stands in backticks"))
		return false
	case len(parts) > limit:
		v.parts = parts // the caller says it in its own words
		return true
	}
	v.parts = parts
	return true
}

func (w *walker) objects(k *key, n *yaml.Node, v *value) bool {
	if n.Kind != yaml.SequenceNode {
		hint := "start each " + k.object.name + " with `- `"
		w.add(w.wrongType(n, "`"+k.name+"`", "a list").WithHint(hint))
		return false
	}
	for _, c := range n.Content {
		if rec := w.record(k.object, c); rec != nil {
			v.items = append(v.items, &value{span: rec.span, rec: rec})
		}
	}
	return true
}

func (w *walker) named(k *key, n *yaml.Node, v *value) bool {
	if n.Kind != yaml.MappingNode {
		w.add(w.wrongType(n, "`"+k.name+"`", "names with a "+k.object.name+" each"))
		return false
	}
	for _, e := range w.entries(n) {
		if rec := w.record(k.object, e.val); rec != nil {
			v.pairs = append(v.pairs, pair{name: e.key.Value, nameSpan: w.spanOf(e.key), val: &value{span: rec.span, rec: rec}})
		}
	}
	return true
}

func (w *walker) texts(o *object, k *key, n *yaml.Node, v *value) bool {
	if n.Kind != yaml.SequenceNode {
		d := w.wrongType(n, "`"+k.name+"`", "a list")
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			d = d.WithHint("write [" + n.Value + "]")
		}
		w.add(d)
		return false
	}
	item := *k
	item.kind = kindText
	if k.kind == kindColumns {
		item.kind = kindColumn
	}
	seen := map[string]diag.Span{}
	v.given = len(n.Content)
	for _, c := range n.Content {
		iv := w.value(o, &item, c)
		if iv == nil {
			continue
		}
		low := strings.ToLower(iv.m.body)
		if first, twice := seen[low]; twice {
			w.add(w.errorf(iv.span, "DUPLICATE_VALUE", "%q stands in `%s` twice", iv.m.body, k.name).WithRelated(first, "the first one"))
			continue
		}
		seen[low] = iv.span
		v.items = append(v.items, iv)
	}
	return true
}

// settings checks a map of texts. In options secrets may stand.
func (w *walker) settings(k *key, n *yaml.Node, v *value) bool {
	spark := w.form == Spark && k.name == "configuration"
	if n.Kind != yaml.MappingNode {
		d := w.wrongType(n, "`"+k.name+"`", "names and texts")
		if spark {
			d.Code = "PIPELINE_SPEC_FIELD_NOT_DICT"
		}
		w.add(d)
		return false
	}
	entries := w.entries(n)
	cut := w.cutTexts(nil, n, entries)
	seen := map[string]diag.Span{}
	for i, e := range entries {
		if cut[i] != cutNone {
			continue
		}
		span := w.spanOf(e.key)
		if tag := e.key.ShortTag(); spark && tag != "!!str" {
			w.add(w.errorf(span, "PIPELINE_SPEC_DICT_KEY_NOT_STRING", "a key of `configuration` is not a text").WithHint(`quote it: "` + e.key.Value + `"`))
			continue
		}
		low := strings.ToLower(e.key.Value)
		if first, twice := seen[low]; twice && k.kind == kindOptions {
			w.add(w.errorf(span, "DUPLICATE_KEY", "the option %q stands here twice; names ignore case", e.key.Value).WithRelated(first, "the first one"))
			continue
		}
		seen[low] = span
		val := resolve(e.val)
		before := len(w.list)
		if !w.textNode("`"+e.key.Value+"`", val, false) {
			if spark && len(w.list) > before {
				w.list[before].Code = "PIPELINE_SPEC_DICT_VALUE_NOT_STRING"
			}
			continue
		}
		pv := &value{span: w.spanOf(val), m: mapScalar(w.file, val)}
		if k.name != "configuration" { // whose own values are resolved together
			var ok bool
			if pv.m, ok = w.substitute(pv.m, k.kind == kindOptions); !ok {
				continue
			}
		}
		v.pairs = append(v.pairs, pair{name: e.key.Value, nameSpan: span, val: pv})
	}
	return true
}

func (w *walker) trigger(o *object, k *key, n *yaml.Node, v *value) bool {
	if n.Kind != yaml.MappingNode {
		if n.Kind == yaml.ScalarNode && k.object.find(n.Value) != nil {
			w.add(w.errorf(v.span, "WRONG_TYPE", "the trigger %s needs an interval", n.Value).WithHint("write {" + n.Value + ": 10 seconds}"))
			return false
		}
		return w.scalar(o, k, n, v)
	}
	v.rec = w.record(k.object, n)
	if v.rec == nil {
		return false
	}
	if len(n.Content) != 2 {
		w.add(w.errorf(v.span, "WRONG_TYPE", "a trigger has exactly one key").WithHint("write {processing_time: 10 seconds}"))
		return false
	}
	return len(v.rec.vals) == 1
}
