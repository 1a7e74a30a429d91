package parse

import (
	"strings"
	"unicode/utf8"
)

// stringValue returns the value of a string token's text.
func stringValue(t token, src string) string {
	s := src[t.start:t.end]
	if t.kind == rawStr {
		return s[2 : len(s)-1]
	}
	q := s[0]
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, q) < 0 {
		return s
	}
	return unescape(s, q)
}

// unescape resolves the escapes of a string body and its doubled quotes.
func unescape(s string, q byte) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == q:
			b.WriteByte(q)
			i += 2
		case c != '\\' || i+1 >= len(s):
			b.WriteByte(c)
			i++
		default:
			i += escape(&b, s[i:])
		}
	}
	return b.String()
}

// escape writes the meaning of the escape at the start of s and returns its
// length.
func escape(b *strings.Builder, s string) int {
	if n, r := unicodeEscape(s); n > 0 {
		b.WriteRune(r)
		return n
	}
	if len(s) >= 4 && (s[1] == '0' || s[1] == '1') && isOctal(s[2]) && isOctal(s[3]) {
		b.WriteRune(rune(s[1]-'0')*64 + rune(s[2]-'0')*8 + rune(s[3]-'0'))
		return 4
	}
	switch c := s[1]; c {
	case '0':
		b.WriteByte(0)
	case 'b':
		b.WriteByte('\b')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'Z':
		b.WriteByte(0x1A)
	case '%', '_':
		b.WriteByte('\\')
		b.WriteByte(c)
	default:
		r, n := utf8.DecodeRuneInString(s[1:])
		if r == utf8.RuneError {
			b.WriteString(s[1 : 1+n])
		} else {
			b.WriteRune(r)
		}
		return 1 + n
	}
	return 2
}

// unicodeEscape reads \uXXXX (also as a surrogate pair) or \UXXXXXXXX.
func unicodeEscape(s string) (int, rune) {
	n := 0
	switch {
	case len(s) >= 6 && s[1] == 'u':
		n = 4
	case len(s) >= 10 && s[1] == 'U':
		n = 8
	default:
		return 0, 0
	}
	r, ok := hexRune(s[2 : 2+n])
	if !ok {
		return 0, 0
	}
	if r >= 0xD800 && r < 0xDC00 && n == 4 && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if lo, ok := hexRune(s[8:12]); ok && lo >= 0xDC00 && lo < 0xE000 {
			return 12, (r-0xD800)<<10 + (lo - 0xDC00) + 0x10000
		}
	}
	return 2 + n, r
}

func hexRune(s string) (rune, bool) {
	var v uint32
	for i := 0; i < len(s); i++ {
		d, ok := hexDigit(s[i])
		if !ok {
			return 0, false
		}
		v = v<<4 | uint32(d)
	}
	return rune(v & 0x7fffffff), true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }
