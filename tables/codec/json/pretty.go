package json

import "bytes"

// AppendPretty appends a compact JSON text laid out as Spark's option pretty
// does: the members of an object on lines of their own, two blanks deeper,
// the elements of an array on one line. What stands between two zero bytes is
// left as it is, without them: so Spark writes a variant.
func AppendPretty(dst, compact []byte) []byte {
	var open []byte // the brackets around the place
	members := 0    // how many of them are of objects
	line := func() {
		dst = append(dst, '\n')
		for range members {
			dst = append(dst, "  "...)
		}
	}
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; c {
		case 0:
			n := bytes.IndexByte(compact[i+1:], 0)
			dst = append(dst, compact[i+1:i+1+n]...)
			i += n + 1
		case '"':
			from := i
			for i++; compact[i] != '"'; i++ {
				if compact[i] == '\\' {
					i++
				}
			}
			dst = append(dst, compact[from:i+1]...)
		case '{', '[':
			dst = append(dst, c)
			switch next := compact[i+1]; {
			case next == '}' || next == ']':
				dst = append(dst, ' ', next)
				i++
				continue
			case c == '{':
				members++
				line()
			default:
				dst = append(dst, ' ')
			}
			open = append(open, c)
		case '}':
			members--
			line()
			dst, open = append(dst, c), open[:len(open)-1]
		case ']':
			dst, open = append(dst, ' ', c), open[:len(open)-1]
		case ',':
			if dst = append(dst, c); open[len(open)-1] == '{' {
				line()
			} else {
				dst = append(dst, ' ')
			}
		case ':':
			dst = append(dst, " : "...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
