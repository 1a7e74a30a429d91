package json

import "strconv"

// Path is a parsed JSON path: $.a.b, $['a b'], $.a[0], $.a[*].b, $.*.
type Path struct{ steps []step }

// step is one part of a path.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	stepName stepKind = iota
	stepAnyName
	stepIndex
	stepAnyIndex
)

// ParsePath reads a path by Spark's grammar.
func ParsePath(s string) (p Path, ok bool) {
	if s == "" || s[0] != '$' {
		return p, false
	}
	for s = s[1:]; s != ""; {
		var st step
		switch {
		case s[0] == '.':
			n := 1
			for n < len(s) && s[n] != '.' && s[n] != '[' {
				n++
			}
			st.name = s[1:n]
			if s = s[n:]; st.name == "" {
				return p, false
			}
			if st.name == "*" {
				st.kind = stepAnyName
			}
		case len(s) > 3 && s[0] == '[' && s[1] == '\'':
			n := 2
			for n < len(s) && s[n] != '\'' && s[n] != '?' {
				n++
			}
			if n == 2 || n+1 >= len(s) || s[n] != '\'' || s[n+1] != ']' {
				return p, false
			}
			st.name, s = s[2:n], s[n+2:]
			if st.name == "*" {
				st.kind = stepAnyName
			}
		case s[0] == '[':
			n := 1
			for n < len(s) && s[n] != ']' {
				n++
			}
			if n == len(s) {
				return p, false
			}
			word := s[1:n]
			s = s[n+1:]
			st.kind = stepAnyIndex
			if word != "*" {
				i, err := strconv.ParseUint(word, 10, 31)
				if err != nil {
					return p, false
				}
				st.kind, st.index = stepIndex, int(i)
			}
		default:
			return p, false
		}
		p.steps = append(p.steps, st)
	}
	return p, true
}

// style is how a found value is printed.
type style uint8

const (
	styleRaw     style = iota // a text without quotes
	styleQuoted               // as JSON
	styleFlatten              // as JSON, arrays without their brackets
)

// Append appends the value at the path of the JSON text rec, as
// get_json_object shows it: texts without quotes, other values as JSON. ok is
// false if there is none, it is null, or the text is no JSON.
func (p Path) Append(dst, rec []byte, o *Options) (out []byte, ok bool) {
	return NewReader(o).Get(dst, rec, p)
}

// follow appends what the steps find from the value at i on, which is valid.
func (s *source) follow(dst []byte, i int, st style, steps []step) ([]byte, bool) {
	i = s.ws(i)
	c := s.b[i]
	switch {
	case len(steps) == 0:
		return s.found(dst, i, st)
	case c == '{' && steps[0].kind <= stepAnyName:
		return s.followField(dst, i, st, steps)
	case c == '[' && steps[0].kind == stepIndex:
		if len(steps) > 1 && steps[1].kind == stepAnyIndex {
			st = styleQuoted
		}
		at, ok := s.element(i, steps[0].index)
		if !ok {
			return dst, false
		}
		return s.follow(dst, at, st, steps[1:])
	case c == '[' && steps[0].kind == stepAnyIndex:
		return s.followAll(dst, i, st, steps)
	}
	return dst, false
}

// found prints the value at i.
func (s *source) found(dst []byte, i int, st style) ([]byte, bool) {
	switch c := s.b[i]; {
	case st == styleRaw && (c == '"' || c == '\''):
		var sp span
		if c == '"' {
			sp, _ = s.str(i)
		} else {
			sp, _ = s.singleQuoted(i)
		}
		return unescape(dst, s.b[sp.from:sp.to]), true
	case st == styleFlatten && c == '[':
		n := len(dst)
		found := false
		s.each(i, func(at int) bool {
			if len(dst) > n {
				dst = append(dst, ',')
			}
			var ok bool
			dst, ok = s.follow(dst, at, styleFlatten, nil)
			found = found || ok
			return true
		})
		return dst, found
	}
	out, next := s.reprint(dst, i)
	return out, next >= 0
}

// each calls f with the place of each element of the array at i, until false.
func (s *source) each(i int, f func(at int) bool) {
	if i = s.ws(i + 1); s.b[i] == ']' {
		return
	}
	for {
		i = s.ws(i)
		if !f(i) {
			return
		}
		if i = s.ws(s.skip(i)); s.b[i] == ']' {
			return
		}
		i++
	}
}

// element returns the place of element n of the array at i.
func (s *source) element(i, n int) (at int, ok bool) {
	s.each(i, func(e int) bool {
		if n == 0 {
			at, ok = e, true
		}
		n--
		return !ok
	})
	return at, ok
}

// followField tries the fields of the object at i in order; the first that
// gives something counts.
func (s *source) followField(dst []byte, i int, st style, steps []step) ([]byte, bool) {
	if i = s.ws(i + 1); s.b[i] == '}' {
		return dst, false
	}
	for {
		sp, next := s.key(s.ws(i))
		at := s.ws(s.ws(next) + 1)
		if steps[0].kind == stepAnyName || s.isName(sp, steps[0].name) && s.b[at] != 'n' {
			if out, ok := s.follow(dst, at, st, steps[1:]); ok {
				return out, true
			}
		}
		if i = s.ws(s.skip(at)); s.b[i] == '}' {
			return dst, false
		}
		i++
	}
}

func (s *source) isName(sp span, name string) bool {
	raw := s.b[sp.from:sp.to]
	if sp.escaped {
		raw = unescape(nil, raw)
	}
	return string(raw) == name
}

// followAll gathers what all elements of the array at i give.
func (s *source) followAll(dst []byte, i int, st style, steps []step) ([]byte, bool) {
	rest, inner := steps[1:], styleQuoted
	flat := len(rest) > 0 && rest[0].kind == stepAnyIndex // [*][*] keeps no structure
	switch {
	case flat:
		rest, inner = rest[1:], styleFlatten
	case st == styleFlatten:
		inner = styleFlatten
	}
	start, count := len(dst), 0
	dst = append(dst, '[')
	s.each(i, func(at int) bool {
		mark := len(dst)
		if count > 0 {
			dst = append(dst, ',')
		}
		out, ok := s.follow(dst, at, inner, rest)
		if !ok {
			dst = dst[:mark]
			return true
		}
		dst = out
		count++
		return true
	})
	if count == 0 {
		return dst[:start], false
	}
	if count == 1 && !flat && st != styleQuoted { // one result stands alone
		return append(dst[:start], dst[start+1:]...), true
	}
	return append(dst, ']'), true
}
