package variant

import "strings"

// Path is a path into a value: $ followed by .name, ['name'], ["name"] and [n].
type Path struct{ steps []step }

type step struct {
	name  []byte // nil: index
	index int
}

// ParsePath reads a path; ok is false when it is none.
func ParsePath(s string) (p *Path, ok bool) {
	if !strings.HasPrefix(s, "$") {
		return nil, false
	}
	p = &Path{}
	for s = s[1:]; s != ""; {
		var st step
		if st, s, ok = parseStep(s); !ok {
			return nil, false
		}
		p.steps = append(p.steps, st)
	}
	return p, true
}

func parseStep(s string) (st step, rest string, ok bool) {
	switch {
	case s[0] == '.':
		n := strings.IndexAny(s[1:], ".[")
		if n < 0 {
			n = len(s) - 1
		}
		return step{name: []byte(s[1 : 1+n])}, s[1+n:], n > 0
	case len(s) > 1 && s[0] == '[' && (s[1] == '\'' || s[1] == '"'):
		n := strings.IndexAny(s[2:], s[1:2]+"?")
		if n <= 0 || !strings.HasPrefix(s[2+n:], s[1:2]+"]") {
			return st, s, false
		}
		return step{name: []byte(s[2 : 2+n])}, s[n+4:], true
	case s[0] == '[':
		k := 1
		for ; k < len(s) && s[k]-'0' <= 9; k++ {
			if st.index = st.index*10 + int(s[k]-'0'); st.index > 1<<31 {
				return st, s, false
			}
		}
		return st, s[min(k+1, len(s)):], k > 1 && k < len(s) && s[k] == ']'
	}
	return st, s, false
}

// Get returns what stands at the path in v; ok is false when there is nothing.
func (p *Path) Get(v Value) (found Value, ok bool) {
	for _, st := range p.steps {
		if st.name != nil {
			if v, ok = v.Field(st.name); !ok {
				return Value{}, false
			}
			continue
		}
		if v.Kind() != Array || st.index >= v.Len() {
			return Value{}, false
		}
		v = v.At(st.index)
	}
	return v, true
}
