package json

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Padding is how many readable bytes a block must have behind its end, so that
// scans may look at several words at a time.
const Padding = 64

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	// maxDepth is the deepest nesting taken, as in Jackson.
	maxDepth = 1000
)

// source is the text being read. Behind end there are Padding bytes, the first
// of which is a line feed, so that every scan stops.
type source struct {
	b   []byte
	end int
	// lines: a line feed or carriage return is no blank but ends the record.
	lines bool
	opt   *Options
	depth int
}

// ws returns the place of the first byte at or behind i that is no blank (or
// comment).
func (s *source) ws(i int) int {
	if c := s.b[i]; c > ' ' && c != '/' && c != '#' {
		return i
	}
	return s.blanks(i)
}

func (s *source) blanks(i int) int {
	for {
		switch s.b[i] {
		case ' ', '\t':
			i++
		case '\n', '\r':
			if s.lines || i >= s.end {
				return i
			}
			i++
		case '/':
			j := s.comment(i)
			if j == i {
				return i
			}
			i = j
		default:
			return i
		}
	}
}

// comment skips a comment if they are allowed.
func (s *source) comment(i int) int {
	if !s.opt.AllowComments || i+1 >= s.end {
		return i
	}
	switch s.b[i+1] {
	case '/':
		for i < s.end && s.b[i] != '\n' && s.b[i] != '\r' {
			i++
		}
	case '*':
		for j := i + 2; j+1 < s.end; j++ {
			if s.b[j] == '*' && s.b[j+1] == '/' {
				return j + 2
			}
			if s.lines && s.b[j] == '\n' {
				break
			}
		}
	}
	return i
}

// span is a scanned string: b[from:to] between its quotes.
type span struct {
	from, to int
	escaped  bool
}

// special marks, with its high bit, each byte of x that ends a run of plain
// text: a quote, a backslash or a control character. The lowest mark is exact,
// those above it may be false.
func special(x uint64) uint64 {
	y := x ^ 0x0202020202020202 // controls and the quote are below 0x21 now
	e := x ^ 0x5c5c5c5c5c5c5c5c
	return ((y-0x2121212121212121)&^y | (e-ones)&^e) & highs
}

// run8 returns the end of the plain text that starts at i, and in high the bits
// above 0x7f of its bytes.
func run8(b []byte, i int) (end int, high uint64) {
	for k := 0; k < 3; k++ { // most texts are short
		x := binary.LittleEndian.Uint64(b[i:])
		if m := special(x); m != 0 {
			n := bits.TrailingZeros64(m)
			return i + n>>3, high | x&(1<<uint(n&^7)-1)
		}
		high |= x
		i += 8
	}
	for {
		p := b[i : i+32 : i+32]
		x0, x1 := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		x2, x3 := binary.LittleEndian.Uint64(p[16:]), binary.LittleEndian.Uint64(p[24:])
		m0, m1, m2, m3 := special(x0), special(x1), special(x2), special(x3)
		if m0|m1|m2|m3 == 0 {
			high |= x0 | x1 | x2 | x3
			i += 32
			continue
		}
		for _, w := range [4][2]uint64{{x0, m0}, {x1, m1}, {x2, m2}, {x3, m3}} {
			if w[1] != 0 {
				n := bits.TrailingZeros64(w[1])
				return i + n>>3, high | w[0]&(1<<uint(n&^7)-1)
			}
			high |= w[0]
			i += 8
		}
	}
}

// str scans the string whose opening quote is at i; next is behind the closing
// one, or -1 for a syntax error.
func (s *source) str(i int) (sp span, next int) {
	b := s.b
	sp.from = i + 1
	end, high := run8(b, i+1)
	if b[end] == '"' {
		sp.to = end
		if high&highs != 0 && !utf8.Valid(b[sp.from:end]) {
			return sp, -1
		}
		return sp, end + 1
	}
	return s.oddString(sp, end, high)
}

// oddString goes on with a string that has escapes or control characters.
func (s *source) oddString(sp span, i int, high uint64) (span, int) {
	b := s.b
	for {
		switch c := b[i]; {
		case c == '"':
			sp.to = i
			if high&highs != 0 && !utf8.Valid(b[sp.from:i]) {
				return sp, -1
			}
			return sp, i + 1
		case c == '\\':
			sp.escaped = true
			if i = s.escape(i); i < 0 {
				return sp, -1
			}
		default: // a control character
			if !s.opt.AllowUnquotedControlChars || i >= s.end || s.lines && (c == '\n' || c == '\r') {
				return sp, -1
			}
			i++
		}
		if i > s.end {
			return sp, -1
		}
		var h uint64
		i, h = run8(b, i)
		high |= h
	}
}

// escape checks the escape at the backslash b[i] and returns what is behind it.
func (s *source) escape(i int) int {
	switch c := s.b[i+1]; c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if hex(s.b[j]) > 15 {
				return -1
			}
		}
		return i + 6
	case '\'':
		if s.opt.AllowSingleQuotes && s.opt.AllowBackslashEscapingAny {
			return i + 2
		}
	default:
		if s.opt.AllowBackslashEscapingAny && c >= ' ' {
			return i + 2
		}
	}
	return -1
}

func hex(c byte) uint32 {
	switch {
	case c >= '0' && c <= '9':
		return uint32(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return uint32(c|0x20-'a') + 10
	}
	return 16
}

// quoted scans a string in single quotes.
func (s *source) singleQuoted(i int) (sp span, next int) {
	if !s.opt.AllowSingleQuotes {
		return sp, -1
	}
	i++
	sp.from = i
	for i < s.end {
		switch c := s.b[i]; {
		case c == '\'':
			sp.to = i
			if !utf8.Valid(s.b[sp.from:i]) {
				return sp, -1
			}
			return sp, i + 1
		case c == '\\':
			sp.escaped = true
			if s.b[i+1] == '\'' {
				i += 2
			} else if i = s.escape(i); i < 0 {
				return sp, -1
			}
		case c < ' ' && (!s.opt.AllowUnquotedControlChars || s.lines && (c == '\n' || c == '\r')):
			return sp, -1
		default:
			i++
		}
	}
	return sp, -1
}

// unescape appends the value of a scanned string.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' {
			j := i + 1
			for j < len(raw) && raw[j] != '\\' {
				j++
			}
			dst = append(dst, raw[i:j]...)
			i = j
			continue
		}
		c = raw[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(raw[i:])
			i += 4
			if r >= 0xd800 && r < 0xdc00 && i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
				if lo := hex4(raw[i+2:]); lo >= 0xdc00 && lo < 0xe000 {
					r = (r-0xd800)<<10 + (lo - 0xdc00) + 0x10000
					i += 6
				}
			}
			if r >= 0xd800 && r < 0xe000 {
				dst = append(dst, '?') // a lone surrogate, as Java writes it in UTF-8
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

func hex4(b []byte) rune {
	return rune(hex(b[0])<<12 | hex(b[1])<<8 | hex(b[2])<<4 | hex(b[3]))
}

// number is a scanned number: b[from:to].
type number struct {
	from, to int
	whole    bool // no fraction and no exponent
	word     byte // 'N' for NaN, '+' or '-' for an infinity, 0 else
}

// num scans the number at i; next is behind it or -1.
func (s *source) num(i int) (n number, next int) {
	b := s.b
	n.from, n.whole = i, true
	if b[i] == '-' {
		i++
	}
	start := i
	for b[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return s.numberWord(n)
	}
	if b[start] == '0' && i > start+1 && !s.opt.AllowNumericLeadingZeros {
		return n, -1
	}
	if b[i] == '.' {
		n.whole = false
		i++
		f := i
		for b[i]-'0' <= 9 {
			i++
		}
		if i == f {
			return n, -1
		}
	}
	if b[i]|0x20 == 'e' {
		n.whole = false
		i++
		if b[i] == '+' || b[i] == '-' {
			i++
		}
		e := i
		for b[i]-'0' <= 9 {
			i++
		}
		if i == e {
			return n, -1
		}
	}
	if c := b[i]; c > ' ' && c != ',' && c != '}' && c != ']' && c != '/' {
		return n, -1
	}
	n.to = i
	return n, i
}

// whole reads a plain integer of at most 18 digits at i with what must follow
// it; ok is false for all other numbers, which num judges.
func (s *source) whole(i int) (v int64, next int, ok bool) {
	b := s.b
	neg := b[i] == '-'
	if neg {
		i++
	}
	start := i
	for ; b[i]-'0' <= 9; i++ {
		v = v*10 + int64(b[i]-'0')
	}
	n := i - start
	if c := b[i]; c != ',' && c != '}' && c != ']' || uint(n-1) > 17 || b[start] == '0' && n > 1 {
		return 0, i, false
	}
	if neg {
		v = -v
	}
	return v, i, true
}

// numberWord scans NaN, INF, Infinity with an optional sign.
func (s *source) numberWord(n number) (number, int) {
	if !s.opt.AllowNonNumericNumbers {
		return n, -1
	}
	i := n.from
	n.word = '+'
	if c := s.b[i]; c == '-' || c == '+' {
		n.word = c
		i++
	} else if s.has(i, "NaN") {
		n.word, n.to, n.whole = 'N', i+3, false
		return n, n.to
	}
	n.whole = false
	switch {
	case s.has(i, "Infinity"):
		n.to = i + len("Infinity")
	case i > n.from && s.has(i, "INF"): // only behind a sign
		n.to = i + len("INF")
	default:
		return n, -1
	}
	return n, n.to
}

// has reports whether the word stands at i and ends there.
func (s *source) has(i int, w string) bool {
	end := i + len(w)
	if end > s.end || string(s.b[i:end]) != w {
		return false
	}
	c := s.b[end]
	return !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '"')
}

// literal checks true, false or null at i; next is behind it or -1.
func (s *source) literal(i int) int {
	switch s.b[i] {
	case 't':
		if s.has(i, "true") {
			return i + 4
		}
	case 'f':
		if s.has(i, "false") {
			return i + 5
		}
	case 'n':
		if s.has(i, "null") {
			return i + 4
		}
	}
	return -1
}

// key scans a field's name at i in any allowed form.
func (s *source) key(i int) (sp span, next int) {
	switch c := s.b[i]; {
	case c == '"':
		return s.str(i)
	case c == '\'':
		return s.singleQuoted(i)
	case s.opt.AllowUnquotedFieldNames:
		sp.from = i
		for c := s.b[i]; c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || bytes.IndexByte(nameSigns, c) >= 0; c = s.b[i] {
			i++
		}
		if i > sp.from {
			sp.to = i
			return sp, i
		}
	}
	return sp, -1
}

// nameSigns are the signs that Jackson takes in a name without quotes.
var nameSigns = []byte("_$@#*-+")

// skip validates the value at i and returns what is behind it, or -1.
func (s *source) skip(i int) int {
	switch c := s.b[i]; c {
	case '"':
		_, i = s.str(i)
		return i
	case '{':
		return s.skipObject(i)
	case '[':
		return s.skipArray(i)
	case 't', 'f', 'n':
		return s.literal(i)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if _, next, ok := s.whole(i); ok {
			return next
		}
		_, i = s.num(i)
		return i
	case 'N', 'I', '+':
		_, i = s.num(i)
		return i
	case '\'':
		_, i = s.singleQuoted(i)
		return i
	}
	if j := s.ws(i); j > i {
		return s.skip(j)
	}
	return -1
}

func (s *source) skipObject(i int) int {
	i = s.ws(i + 1)
	if s.b[i] == '}' {
		return i + 1
	}
	if s.depth++; s.depth > maxDepth {
		return -1
	}
	for {
		if _, i = s.key(i); i < 0 {
			return -1
		}
		if s.b[i] != ':' {
			if i = s.ws(i); s.b[i] != ':' {
				return -1
			}
		}
		if i = s.skip(i + 1); i < 0 {
			return -1
		}
		if i = s.ws(i); s.b[i] == ',' {
			i = s.ws(i + 1)
			continue
		}
		if s.b[i] != '}' {
			return -1
		}
		s.depth--
		return i + 1
	}
}

func (s *source) skipArray(i int) int {
	i = s.ws(i + 1)
	if s.b[i] == ']' {
		return i + 1
	}
	if s.depth++; s.depth > maxDepth {
		return -1
	}
	for {
		if i = s.skip(i); i < 0 {
			return -1
		}
		if i = s.ws(i); s.b[i] == ',' {
			i++
			continue
		}
		if s.b[i] != ']' {
			return -1
		}
		s.depth--
		return i + 1
	}
}
