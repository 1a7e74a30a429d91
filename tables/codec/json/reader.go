package json

// Reader looks into JSON texts one by one, without a schema. It keeps its
// memory from text to text.
type Reader struct {
	source
	copied, name, value []byte
}

// NewReader returns a reader.
func NewReader(o *Options) *Reader { return &Reader{source: source{opt: o}} }

// load makes rec the text and returns the place of its value, or -1 when it is
// no valid JSON.
func (r *Reader) load(rec []byte) int {
	r.copied = append(append(r.copied[:0], rec...), padding...)
	r.b, r.end, r.depth = r.copied, len(rec), 0
	i := r.ws(0)
	if i >= r.end || r.skip(i) < 0 {
		return -1
	}
	r.depth = 0
	return i
}

// Get appends the value at the path, as Path.Append does.
func (r *Reader) Get(dst, rec []byte, p Path) (out []byte, ok bool) {
	i := r.load(rec)
	if i < 0 {
		return dst, false
	}
	if out, ok = r.follow(dst, i, styleRaw, p.steps); !ok {
		return dst, false
	}
	return out, true
}

// Length returns the number of elements of a JSON array; ok is false for other
// texts.
func (r *Reader) Length(rec []byte) (n int, ok bool) {
	i := r.load(rec)
	if i < 0 || r.b[i] != '[' {
		return 0, false
	}
	r.each(i, func(int) bool { n++; return true })
	return n, true
}

// Fields calls f for each field of a JSON object with its name and the value as
// get_json_object shows it (null: valueNull); ok is false for other texts. The
// slices are valid during the call.
func (r *Reader) Fields(rec []byte, f func(name, value []byte, valueNull bool)) (ok bool) {
	i := r.load(rec)
	if i < 0 || r.b[i] != '{' {
		return false
	}
	if i = r.ws(i + 1); r.b[i] == '}' {
		return true
	}
	for {
		sp, next := r.key(r.ws(i))
		name := r.b[sp.from:sp.to]
		if sp.escaped {
			r.name = unescape(r.name[:0], name)
			name = r.name
		}
		at := r.ws(r.ws(next) + 1)
		r.value, _ = r.found(r.value[:0], at, styleRaw)
		f(name, r.value, r.b[at] == 'n')
		if i = r.ws(r.skip(at)); r.b[i] == '}' {
			return true
		}
		i++
	}
}
