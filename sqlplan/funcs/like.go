package funcs

import (
	"bytes"
)

var likeFunctions = []*Function{
	likeFunction("like", false).example("SELECT 'Spark' LIKE '_park'", "true"),
	likeFunction("ilike", true).example("SELECT 'Spark' ILIKE '_PARK'", "true"),
}

func likeFunction(name string, fold bool) *Function {
	f := define(name, "predicate", "str "+name+" pattern[ ESCAPE escape]", "True when the string matches a pattern of % and _.", signature{
		params: []param{pString, pString, pString}, min: 2, result: tBool, canFail: true,
		check: func(_ *Session, _ string, args []Arg) error {
			if len(args) < 3 {
				return nil
			}
			if e, ok := constString(args[2]); !ok || charCount([]byte(e)) != 1 {
				return NewError("INVALID_ESC", "Found an invalid escape string: '"+e+"'. The escape string must contain only one character.",
					map[string]string{"invalidEscape": "'" + e + "'"})
			}
			return nil
		},
		kernel: func(c *Ctx, args []*vector, out *vector) { likeKernel(c, args, out, fold) },
	})
	bind := f.Bind
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		b, err := bind(s, args)
		if err == nil && goodPattern(args) {
			b.CanFail = false // so that it may go below joins
		}
		return b, err
	}
	return f.printed(func(a []string) string {
		if fold {
			return "ilike(" + joinTexts(a[:2]) + ")"
		}
		return a[0] + " LIKE " + a[1]
	})
}

// goodPattern reports a constant pattern that is well formed.
func goodPattern(args []Arg) bool {
	pattern, ok := constString(args[1])
	escape := `\`
	if len(args) == 3 {
		escape, _ = constString(args[2])
	}
	return ok && compileLike([]byte(pattern), []byte(escape)).err == nil
}

// likePattern is a compiled LIKE pattern: literal pieces between runs of %,
// where a 0xFF byte (never part of UTF-8) stands for _.
type likePattern struct {
	text   string
	pieces [][]byte
	any    []bool // pieces[i] holds an _
	err    *Error
	folded []byte
}

const likeAny = 0xff

func compileLike(pattern []byte, escape []byte) *likePattern {
	p := &likePattern{text: string(pattern)}
	cur := []byte{}
	wild := false
	push := func() {
		p.pieces, p.any = append(p.pieces, cur), append(p.any, wild)
		cur, wild = []byte{}, false
	}
	for i := 0; i < len(pattern); i++ {
		switch {
		case bytes.HasPrefix(pattern[i:], escape):
			i += len(escape)
			if i >= len(pattern) {
				p.err = NewError("INVALID_FORMAT.ESC_AT_THE_END", "The format is invalid: '"+string(pattern)+"'. The escape character is not allowed to end with.",
					map[string]string{"format": "'" + string(pattern) + "'"})
				return p
			}
			if c := pattern[i]; c != '_' && c != '%' && !bytes.HasPrefix(pattern[i:], escape) {
				p.err = NewError("INVALID_FORMAT.ESC_IN_THE_MIDDLE", "The format is invalid: '"+string(pattern)+"'. The escape character is not allowed to precede '"+string(rune(c))+"'.",
					map[string]string{"format": "'" + string(pattern) + "'", "char": "'" + string(rune(c)) + "'"})
				return p
			}
			if bytes.HasPrefix(pattern[i:], escape) {
				cur = append(cur, escape...)
				i += len(escape) - 1
			} else {
				cur = append(cur, pattern[i])
			}
		case pattern[i] == '%':
			push()
		case pattern[i] == '_':
			cur, wild = append(cur, likeAny), true
		default:
			cur = append(cur, pattern[i])
		}
	}
	push()
	return p
}

// matchPiece matches a piece at the start of s and returns the bytes used, or
// -1.
func matchPiece(s, piece []byte) int {
	n := 0
	for _, c := range piece {
		if n >= len(s) {
			return -1
		}
		if c != likeAny {
			if s[n] != c {
				return -1
			}
			n++
			continue
		}
		for n++; n < len(s) && s[n]&0xc0 == 0x80; n++ {
		}
	}
	return n
}

func (p *likePattern) match(s []byte) bool {
	last := len(p.pieces) - 1
	n := matchPiece(s, p.pieces[0])
	if n < 0 || last == 0 {
		return n == len(s)
	}
	s = s[n:]
	for k := 1; k < last; k++ {
		if !p.any[k] {
			at := bytes.Index(s, p.pieces[k])
			if at < 0 {
				return false
			}
			s = s[at+len(p.pieces[k]):]
			continue
		}
		for n = matchPiece(s, p.pieces[k]); n < 0; n = matchPiece(s, p.pieces[k]) {
			if len(s) == 0 {
				return false
			}
			s = s[1:]
			for len(s) > 0 && s[0]&0xc0 == 0x80 {
				s = s[1:]
			}
		}
		s = s[n:]
	}
	if !p.any[last] {
		return bytes.HasSuffix(s, p.pieces[last])
	}
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i]&0xc0 == 0x80 {
			continue
		}
		if matchPiece(s[i:], p.pieces[last]) == len(s)-i {
			return true
		}
	}
	return false
}

func likeKernel(c *Ctx, args []*vector, out *vector, fold bool) {
	p, _ := c.Scratch.(*likePattern)
	escape := []byte(`\`)
	if len(args) == 3 {
		escape = args[2].Str(0)
	}
	v := args[0]
	c.live(out, func(i int) {
		if pattern := args[1].Str(i); p == nil || p.text != string(pattern) {
			q := compileLike(pattern, escape)
			if fold && q.err == nil {
				q = compileLike(appendLower(nil, pattern), escape)
				q.text = string(pattern)
			}
			if p != nil {
				q.folded = p.folded
			}
			p = q
			c.Scratch = p
		}
		if p.err != nil {
			c.Fail(out, i, p.err)
			return
		}
		s := v.Str(i)
		if fold {
			p.folded = appendLower(p.folded[:0], s)
			s = p.folded
		}
		out.Bool[i] = p.match(s)
	})
}
