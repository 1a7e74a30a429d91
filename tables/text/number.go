package text

import (
	"bytes"
	"math"
	"strconv"
)

// Trim cuts blanks and control characters from both ends, as Spark's casts do.
func Trim(b []byte) []byte {
	for len(b) > 0 && (b[0] <= ' ' || b[0] == 0x7f) {
		b = b[1:]
	}
	for n := len(b); n > 0 && (b[n-1] <= ' ' || b[n-1] == 0x7f); n = len(b) {
		b = b[:n-1]
	}
	return b
}

// equalFold reports whether b is the lower-case ASCII word w in any case.
func equalFold(b []byte, w string) bool {
	if len(b) != len(w) {
		return false
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != w[i] {
			return false
		}
	}
	return true
}

// ParseBool reads t, true, y, yes, 1 and f, false, n, no, 0 in any case,
// blanks around ignored.
func ParseBool(b []byte) (v, ok bool) {
	b = Trim(b)
	switch len(b) {
	case 1:
		switch b[0] {
		case 't', 'T', 'y', 'Y', '1':
			return true, true
		case 'f', 'F', 'n', 'N', '0':
			return false, true
		}
	case 2:
		return false, equalFold(b, "no")
	case 3:
		return true, equalFold(b, "yes")
	case 4:
		return true, equalFold(b, "true")
	case 5:
		return false, equalFold(b, "false")
	}
	return false, false
}

// AppendBool appends true or false.
func AppendBool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

// ParseInt64 reads a whole number: an optional sign and digits, blanks around
// ignored.
func ParseInt64(b []byte) (v int64, ok bool) { return parseInt(Trim(b), false) }

// ParseInt64Lax is ParseInt64 with a fraction allowed and cut off: the rule of
// casts with ANSI mode off.
func ParseInt64Lax(b []byte) (v int64, ok bool) { return parseInt(Trim(b), true) }

// ParseInt is ParseInt64 for an integer of 8, 16, 32 or 64 bits.
func ParseInt(b []byte, bits uint) (v int64, ok bool) {
	v, ok = ParseInt64(b)
	return v, ok && v>>(bits-1) == v>>63
}

// ParseIntLax is ParseInt64Lax for an integer of 8, 16, 32 or 64 bits.
func ParseIntLax(b []byte, bits uint) (v int64, ok bool) {
	v, ok = ParseInt64Lax(b)
	return v, ok && v>>(bits-1) == v>>63
}

func parseInt(b []byte, fraction bool) (int64, bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	var u uint64
	for i, c := range b {
		d := c - '0'
		if d > 9 {
			if c != '.' || !fraction || len(b) == 1 || !allDigits(b[i+1:]) {
				return 0, false
			}
			break
		}
		if u > math.MaxUint64/20 {
			return 0, false
		}
		u = u*10 + uint64(d)
	}
	if neg {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// AppendInt appends v in decimal.
func AppendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// exactPow10 holds the powers of ten that a float64 represents exactly.
var exactPow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseNumber reads a decimal number (optional sign, digits, fraction,
// exponent; nothing else) as float64; too large a number is an infinity.
func ParseNumber(b []byte) (v float64, ok bool) {
	mant, exp, neg, exact, ok := scanNumber(b)
	if !ok {
		return 0, false
	}
	if exact && mant <= 1<<53 && exp >= -22 && exp <= 22 {
		v = float64(mant)
		if exp < 0 {
			v /= exactPow10[-exp]
		} else {
			v *= exactPow10[exp]
		}
		if neg {
			v = -v
		}
		return v, true
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil || math.IsInf(v, 0)
}

// scanNumber checks the syntax of a decimal number and gathers its digits;
// exact is false when they did not fit mant.
func scanNumber(b []byte) (mant uint64, exp int, neg, exact, ok bool) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	exact = true
	digits, point := 0, -1
	for ; i < len(b); i++ {
		c := b[i]
		if d := c - '0'; d <= 9 {
			digits++
			if mant > (1<<63)/10 {
				exact = false
				continue
			}
			mant = mant*10 + uint64(d)
			continue
		}
		if c != '.' || point >= 0 {
			break
		}
		point = digits
	}
	if digits == 0 {
		return 0, 0, false, false, false
	}
	if point >= 0 {
		exp = point - digits
	}
	if i == len(b) {
		return mant, exp, neg, exact, true
	}
	if b[i]|0x20 != 'e' {
		return 0, 0, false, false, false
	}
	e, ok := parseInt(b[i+1:], false)
	if !ok && !hugeExponent(b[i+1:]) {
		return 0, 0, false, false, false
	}
	if e > 1<<20 || e < -1<<20 || !ok {
		return mant, 0, neg, false, true
	}
	return mant, exp + int(e), neg, exact, true
}

// hugeExponent reports digits (with a sign) that do not fit an int64.
func hugeExponent(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	return len(b) > 18 && allDigits(b)
}

// ParseDouble reads a double by Spark's cast rules: blanks around ignored,
// NaN and infinities (inf, infinity) in any case, Java's suffixes d and f, and
// its hexadecimal form (0x1.8p3).
func ParseDouble(b []byte) (v float64, ok bool) {
	b = Trim(b)
	if v, ok = ParseNumber(b); ok {
		return v, true
	}
	if v, ok = specialFloat(b); ok {
		return v, true
	}
	b = cutSuffix(b)
	if v, ok = ParseNumber(b); ok || !isHex(b) {
		return v, ok
	}
	return parseHex(b, 64)
}

// cutSuffix cuts the letter d or f that Java lets stand behind a number.
func cutSuffix(b []byte) []byte {
	if n := len(b); n > 1 && (b[n-1]|0x20 == 'd' || b[n-1]|0x20 == 'f') && (b[n-2]-'0' <= 9 || b[n-2] == '.') {
		return b[:n-1]
	}
	return b
}

// isHex reports a number that starts as a hexadecimal one.
func isHex(b []byte) bool {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	return len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x'
}

// parseHex reads a hexadecimal number, whose exponent must be there.
func parseHex(b []byte, bits int) (float64, bool) {
	if bytes.IndexByte(b, '_') >= 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(b), bits)
	return f, err == nil || math.IsInf(f, 0)
}

// ParseFloat is ParseDouble for FLOAT: the text is rounded once.
func ParseFloat(b []byte) (v float32, ok bool) {
	b = Trim(b)
	number := cutSuffix(b)
	if _, _, _, _, ok = scanNumber(number); ok {
		return roundFloat(number)
	}
	if isHex(number) {
		d, ok := parseHex(number, 32)
		return float32(d), ok
	}
	d, ok := specialFloat(b)
	return float32(d), ok
}

func roundFloat(b []byte) (float32, bool) {
	f, err := strconv.ParseFloat(string(b), 32)
	return float32(f), err == nil || math.IsInf(f, 0)
}

func specialFloat(b []byte) (float64, bool) {
	sign := 1
	s := b
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	switch {
	case equalFold(s, "nan"):
		return math.NaN(), true
	case equalFold(s, "inf"), equalFold(s, "infinity"):
		return math.Inf(sign), true
	}
	return 0, false
}

// AppendDouble appends v as Java prints a double: 1.0, 1.0E10, NaN, Infinity.
func AppendDouble(dst []byte, v float64) []byte { return appendFloat(dst, v, 64) }

// AppendFloat appends v as Java prints a float.
func AppendFloat(dst []byte, v float32) []byte { return appendFloat(dst, float64(v), 32) }

func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return append(dst, "NaN"...)
	case v > math.MaxFloat64:
		return append(dst, "Infinity"...)
	case v < -math.MaxFloat64:
		return append(dst, "-Infinity"...)
	case v == 0:
		if math.Signbit(v) {
			dst = append(dst, '-')
		}
		return append(dst, "0.0"...)
	}
	abs := math.Abs(v)
	if abs >= 1e-3 && abs < 1e7 {
		n := len(dst)
		dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
		for _, c := range dst[n:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, ".0"...)
	}
	var buf [32]byte
	s := strconv.AppendFloat(buf[:0], v, 'e', -1, bits)
	if mantissaDigits(s) == 1 { // Java takes the closest with two digits
		s = strconv.AppendFloat(buf[:0], v, 'e', 1, bits)
	}
	return appendJavaExponent(dst, s)
}

func mantissaDigits(s []byte) int {
	n := 0
	for _, c := range s {
		if c == 'e' {
			break
		}
		if c-'0' <= 9 {
			n++
		}
	}
	return n
}

// appendJavaExponent turns 1.5e+10 into 1.5E10 and 1e-05 into 1.0E-5.
func appendJavaExponent(dst, s []byte) []byte {
	e := 0
	for s[e] != 'e' {
		e++
	}
	dst = append(dst, s[:e]...)
	if mantissaDigits(s[:e]) == 1 {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	if s[e+1] == '-' {
		dst = append(dst, '-')
	}
	exp := s[e+2:]
	for len(exp) > 1 && exp[0] == '0' {
		exp = exp[1:]
	}
	return append(dst, exp...)
}
