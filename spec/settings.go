package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"pipelines/spec/diag"
)

// configure reads the configuration ahead of all else, since ${key} may stand
// anywhere. Its faults are reported when the record is walked.
func (w *walker) configure(root *yaml.Node, extra map[string]string) {
	w.conf = &configuration{}
	var pairs []pair
	var broken []string
	if root.Kind == yaml.MappingNode {
		quiet := &walker{file: w.file, form: w.form}
		for _, e := range quiet.entries(root) {
			if e.key.Value != "configuration" {
				continue
			}
			v := &value{}
			if !quiet.settings(pipelineObject.find("configuration"), resolve(e.val), v) {
				continue
			}
			pairs = v.pairs
			for _, x := range quiet.entries(resolve(e.val)) {
				if !slices.ContainsFunc(pairs, func(p pair) bool { return p.name == x.key.Value }) {
					broken = append(broken, x.key.Value)
				}
			}
		}
	}
	w.confPairs = w.resolveConfiguration(pairs, broken, extra)
}

// configurationOf returns the resolved configuration of the document.
func (w *walker) configurationOf(r *record) []Setting {
	var out []Setting
	for _, p := range w.confPairs {
		out = append(out, Setting{Key: String{Value: p.name, Span: p.nameSpan}, Value: p.val.str()})
	}
	return out
}

var parameterType = regexp.MustCompile(`^(string|boolean|tinyint|byte|smallint|short|int|integer|bigint|long|float|real|double|date|timestamp|timestamp_ntz|timestamp_ltz|interval|(decimal|dec|numeric)(\s*\(\s*\d{1,2}\s*(,\s*\d{1,2}\s*)?\))?)$`)

// parameters takes the typed parameters and the values given by the caller.
func (w *walker) parameters(p *Pipeline, r *record, given map[string]string) {
	v := r.get("parameters")
	var names []string
	seen := map[string]diag.Span{}
	if v != nil {
		for _, pr := range v.pairs {
			names = append(names, pr.name)
			if first, twice := seen[strings.ToLower(pr.name)]; twice {
				w.add(w.errorf(pr.nameSpan, "DUPLICATE_KEY", "the parameter %q stands here twice; names ignore case", pr.name).WithRelated(first, "the first one"))
				continue
			}
			seen[strings.ToLower(pr.name)] = pr.nameSpan
			if out := w.parameter(pr, given); out != nil {
				p.Parameters = append(p.Parameters, out)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := seen[strings.ToLower(name)]; !known && !r.said("parameters") || !known && v != nil {
			w.add(w.errorf(r.span, "UNKNOWN_PARAMETER", "the pipeline has no parameter %q", name).WithHint(diag.DidYouMean(name, names)))
		}
	}
}

func (w *walker) parameter(pr pair, given map[string]string) *Parameter {
	rec := pr.val.rec
	out := &Parameter{Name: String{Value: pr.name, Span: pr.nameSpan}, Type: rec.str("type")}
	if !wordPattern.MatchString(pr.name) {
		w.add(w.errorf(pr.nameSpan, "INVALID_NAME", "%q is no name of a parameter", pr.name).WithHint("use letters, digits and `_`"))
		return nil
	}
	if !rec.has("type") {
		return nil
	}
	out.Type.Value = strings.ToLower(strings.TrimSpace(out.Type.Value))
	if !parameterType.MatchString(out.Type.Value) {
		w.add(w.errorf(out.Type.Span, "UNSUPPORTED_DATATYPE", "a parameter cannot have the type %q", out.Type.Value).
			WithHint("use string, int, bigint, double, decimal(p,s), boolean, date, timestamp or interval"))
		return nil
	}
	if rec.has("default") {
		d := rec.str("default")
		out.Default, out.Value, out.HasValue = &d, d.Value, true
		if err := checkParameter(out.Type.Value, d.Value); err != nil {
			w.add(w.errorf(d.Span, "INVALID_VALUE", "the default of %s: %v", pr.name, err))
			out.Faulty = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !strings.EqualFold(name, pr.name) {
			continue
		}
		text := given[name]
		out.Value, out.HasValue = text, true
		if err := checkParameter(out.Type.Value, text); err != nil {
			w.add(w.errorf(out.Name.Span, "INVALID_VALUE", "the value given for %s: %v", pr.name, err))
			out.Faulty = true
		}
	}
	if !out.HasValue && !rec.said("default") {
		out.Faulty = true
		w.add(w.errorf(out.Name.Span, "MISSING_PARAMETER", "the parameter %s has no value", pr.name).WithHint("add a default, or give --param " + pr.name + "=…"))
	}
	return out
}

var wordPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkParameter refuses texts that the type surely cannot take. The SQL side
// converts the text for good.
func checkParameter(typ, text string) error {
	t := strings.TrimSpace(text)
	bits := map[string]int{"tinyint": 8, "byte": 8, "smallint": 16, "short": 16, "int": 32, "integer": 32, "bigint": 64, "long": 64}[typ]
	var err error
	switch {
	case bits > 0:
		_, err = strconv.ParseInt(t, 10, bits)
	case typ == "float", typ == "real", typ == "double", strings.HasPrefix(typ, "dec"), strings.HasPrefix(typ, "numeric"):
		_, err = strconv.ParseFloat(t, 64)
	case typ == "boolean":
		if l := strings.ToLower(t); l != "true" && l != "false" {
			err = strconv.ErrSyntax
		}
	case typ == "date" && !dateText.MatchString(t), strings.HasPrefix(typ, "timestamp") && !timestampText.MatchString(t):
		err = strconv.ErrSyntax
	}
	if err != nil {
		return fmt.Errorf("%q is no %s", text, typ)
	}
	return nil
}

var (
	dateText      = regexp.MustCompile(`^[+-]?\d{4,7}(-\d{1,2}(-\d{1,2})?)?$`)
	timestampText = regexp.MustCompile(`^[+-]?\d{4,7}(-\d{1,2}(-\d{1,2}([T ].*)?)?)?$`)
)

// checkConfiguration warns about keys of Spark's namespace that mean nothing
// here.
func (w *walker) checkConfiguration(list []Setting) {
	for _, s := range list {
		if hint, unknown := UnknownSetting(s.Key.Value, w.confKnown); unknown {
			d := w.errorf(s.Key.Span, "UNKNOWN_CONFIGURATION_KEY", "the configuration key %q has no effect here", s.Key.Value).Warn()
			w.add(d.WithHint(hint))
		}
	}
}
