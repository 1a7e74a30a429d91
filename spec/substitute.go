package spec

import (
	"regexp"
	"strings"

	"pipelines/spec/diag"
)

// configuration holds the values that ${key} takes, already resolved.
type configuration struct {
	values map[string]string
	names  []string
	broken map[string]bool // faulty values: reported where they stand, silent where used
}

// maxSubstituted bounds what a text may grow to.
const maxSubstituted = 4 << 20

var placeholder = regexp.MustCompile(`^(?:(?:spark|sparkconf|hiveconf|hivevar):)?([A-Za-z_][A-Za-z0-9_.\-]*)$`)

// reference is one ${…} of a text.
type reference struct {
	start, end int
	key        string // of the configuration
	secret     bool   // ${env:…} or ${file:…}
}

// references lists the ${…} of s. Others than keys and secrets stay text.
func references(s string) []reference {
	var out []reference
	for at := 0; ; {
		i := strings.Index(s[at:], "${")
		if i < 0 {
			return out
		}
		start := at + i
		n := strings.IndexByte(s[start:], '}')
		if n < 0 {
			return out
		}
		end := start + n + 1
		inner := strings.TrimSpace(s[start+2 : end-1])
		at = end
		if strings.HasPrefix(inner, "env:") || strings.HasPrefix(inner, "file:") {
			out = append(out, reference{start: start, end: end, secret: true})
		} else if m := placeholder.FindStringSubmatch(inner); m != nil {
			out = append(out, reference{start: start, end: end, key: m[1]})
		} else {
			at = start + 2
		}
	}
}

// substitute replaces ${key} in a text and keeps the map to the file: what was
// put in maps to the place of its ${key}.
func (w *walker) substitute(m mapped, secrets bool) (mapped, bool) {
	refs := references(m.body)
	if len(refs) == 0 || w.verbatim {
		return m, true
	}
	out := mapped{start: m.start, end: m.end, approx: m.approx}
	var b strings.Builder
	at, ok := 0, true
	for _, r := range refs {
		from, to := m.outer(r.start, r.end)
		if r.secret {
			if !secrets {
				w.add(w.errorf(spanOf(w.file, from, to), "SECRET_NOT_ALLOWED", "secrets may stand in options only").
					WithHint("put the secret into an option of a source or sink"))
				ok = false
			}
			continue
		}
		text, known := w.lookup(r.key, spanOf(w.file, from, to))
		if !known {
			ok = ok && w.form == Spark // where it stays as it is
			continue
		}
		out.copyFrom(m, &b, at, r.start)
		out.segments = append(out.segments, diag.Segment{Offset: b.Len(), FileOffset: from, FileEnd: to, Fixed: true})
		b.WriteString(text)
		at = r.end
		if b.Len() > maxSubstituted {
			w.add(w.errorf(spanOf(w.file, from, to), "DOCUMENT_TOO_LARGE", "the text grows over %d bytes here", maxSubstituted))
			return m, false
		}
	}
	if !ok {
		return m, false
	}
	out.copyFrom(m, &b, at, len(m.body))
	out.body = b.String()
	if m.approx || len(out.segments) == 0 {
		out.segments = m.segments
	}
	return out, true
}

// lookup finds the value of a key; a key that nobody set is an error.
func (w *walker) lookup(key string, at diag.Span) (string, bool) {
	if w.conf == nil {
		w.conf = &configuration{}
	}
	if w.conf.broken[key] {
		w.faults++ // whoever uses it is incomplete
		return "", false
	}
	text, ok := w.conf.values[key]
	if !ok {
		hint := diag.DidYouMean(key, w.conf.names)
		if hint == "" {
			hint = "set it under `configuration`"
		}
		d := w.errorf(at, "UNKNOWN_CONFIGURATION_KEY", "no configuration has the key %q", key).WithHint(hint)
		if w.form == Spark {
			d = d.Warn()
		}
		w.add(d)
	}
	return text, ok
}

// copyFrom appends m.body[from:to] with its part of the map.
func (out *mapped) copyFrom(m mapped, b *strings.Builder, from, to int) {
	if from >= to || m.approx {
		b.WriteString(m.body[from:to])
		return
	}
	base := b.Len()
	for i, s := range m.segments {
		end := len(m.body)
		if i+1 < len(m.segments) {
			end = m.segments[i+1].Offset
		}
		if end <= from || s.Offset >= to {
			continue
		}
		if s.Offset < from {
			if !s.Fixed {
				s.FileOffset += from - s.Offset
			}
			s.Offset = from
		}
		s.Offset += base - from
		out.segments = append(out.segments, s)
	}
	b.WriteString(m.body[from:to])
}

// resolveConfiguration replaces ${key} inside the configuration's own values.
// broken names the keys whose values are faulty in themselves.
func (w *walker) resolveConfiguration(pairs []pair, broken []string, extra map[string]string) []pair {
	r := resolver{w: w, pairs: map[string]*value{}, state: map[string]int8{}}
	w.conf = &configuration{values: map[string]string{}, broken: map[string]bool{}}
	for _, p := range pairs {
		r.pairs[p.name] = p.val
		w.conf.names = append(w.conf.names, p.name)
	}
	for _, k := range broken {
		w.conf.broken[k] = true
	}
	for k, v := range extra {
		w.conf.values[k] = v
		w.conf.names = append(w.conf.names, k)
	}
	var good []pair
	for _, p := range pairs {
		if text, set := extra[p.name]; set {
			p.val.m = mapped{body: text, start: p.val.m.start, end: p.val.m.end, approx: true}
			good = append(good, p)
			continue
		}
		if r.resolve(p.name) {
			good = append(good, p)
		}
	}
	return good
}

// resolver resolves values that refer to each other, depth first.
type resolver struct {
	w     *walker
	pairs map[string]*value
	state map[string]int8 // 1 being resolved, 2 done
}

func (r *resolver) resolve(name string) bool {
	v := r.pairs[name]
	conf := r.w.conf
	switch r.state[name] {
	case 1:
		r.w.add(r.w.errorf(v.span, "CONFIGURATION_CYCLE", "the value of %q refers to itself", name))
		conf.broken[name] = true
		return false
	case 2:
		return !conf.broken[name]
	}
	r.state[name] = 1
	for _, ref := range references(v.m.body) {
		if _, set := conf.values[ref.key]; !set && r.pairs[ref.key] != nil {
			if !r.resolve(ref.key) {
				conf.broken[ref.key] = true
			}
		}
	}
	m, ok := r.w.substitute(v.m, false)
	r.state[name] = 2
	if !ok || conf.broken[name] {
		conf.broken[name] = true
		return false
	}
	v.m = m
	conf.values[name] = m.body
	return true
}
