package json

import (
	"bytes"

	"pipelines/tables/text"
)

// reprint appends the value at i; next is behind it or -1.
func (s *source) reprint(dst []byte, i int) (out []byte, next int) {
	i = s.ws(i)
	switch c := s.b[i]; c {
	case '"':
		sp, next := s.str(i)
		if next < 0 {
			return dst, -1
		}
		return s.appendSpan(dst, sp), next
	case '\'':
		sp, next := s.singleQuoted(i)
		if next < 0 {
			return dst, -1
		}
		return s.appendSpan(dst, sp), next
	case '{', '[':
		return s.reprintNested(dst, i, c == '{')
	case 't', 'f', 'n':
		next := s.literal(i)
		if next < 0 {
			return dst, -1
		}
		return append(dst, s.b[i:next]...), next
	}
	n, next := s.num(i)
	if next < 0 {
		return dst, -1
	}
	return appendNumberText(dst, s.b[n.from:n.to], n), next
}

func (s *source) reprintNested(dst []byte, i int, object bool) ([]byte, int) {
	closing := byte(']')
	if object {
		closing = '}'
	}
	dst = append(dst, s.b[i])
	i = s.ws(i + 1)
	if s.b[i] == closing {
		return append(dst, closing), i + 1
	}
	if s.depth++; s.depth > maxDepth {
		return dst, -1
	}
	for {
		if object {
			var sp span
			if sp, i = s.key(i); i < 0 {
				return dst, -1
			}
			dst = append(s.appendSpan(dst, sp), ':')
			if i = s.ws(i); s.b[i] != ':' {
				return dst, -1
			}
			i++
		}
		if dst, i = s.reprint(dst, i); i < 0 {
			return dst, -1
		}
		i = s.ws(i)
		switch s.b[i] {
		case ',':
			dst = append(dst, ',')
			i = s.ws(i + 1)
			continue
		case closing:
			s.depth--
			return append(dst, closing), i + 1
		}
		return dst, -1
	}
}

// appendSpan appends a scanned string in quotes with the needed escapes only.
func (s *source) appendSpan(dst []byte, sp span) []byte {
	raw := s.b[sp.from:sp.to]
	if !sp.escaped && bytes.IndexByte(raw, '"') < 0 {
		return append(append(append(dst, '"'), raw...), '"')
	}
	return text.AppendJSONString(dst, unescape(nil, raw))
}

// rescuer gathers the fields of a record that no column takes.
type rescuer struct {
	buf  []byte
	file string
}

func (r *rescuer) reset()    { r.buf = r.buf[:0] }
func (r *rescuer) any() bool { return len(r.buf) > 0 }

// add keeps the field whose value stands at i.
func (r *rescuer) add(d *Decoder, name string, i int) {
	if r.any() {
		r.buf = append(r.buf, ',')
	}
	r.buf = append(text.AppendJSONString(r.buf, []byte(name)), ':')
	depth := d.depth
	r.buf, _ = d.reprint(r.buf, i)
	d.depth = depth
}

// write stores the gathered object as row row of nd.
func (r *rescuer) write(nd *node, row int) {
	nd.seek(row)
	v := nd.v
	v.Bytes = append(append(v.Bytes, '{'), r.buf...)
	if r.file != "" {
		v.Bytes = text.AppendJSONString(append(v.Bytes, `,"_file_path":`...), []byte(r.file))
	}
	v.Bytes = append(v.Bytes, '}')
	v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	nd.n = row + 1
}

// rescueField skips a field that is not wanted, and keeps it if the schema has
// not declared it.
func (d *Decoder) rescueField(nd *node, e *entry, i int) int {
	next := d.skip(i)
	if next >= 0 && !nd.declared[e.name] {
		d.rescue.add(d, nd.path+e.name, i)
	}
	return next
}
