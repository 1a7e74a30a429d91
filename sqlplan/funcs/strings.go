package funcs

import (
	"bytes"
	"math"
	"unicode"
	"unicode/utf8"

	"pipelines/tables/schema"
)

// str1 makes a function of one string to a string.
// onlyTexts makes a function refuse what is no text.
func onlyTexts(f *Function) *Function {
	bind := f.Bind
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		for i, a := range args {
			if _, ok := pOnlyString.take(s, a.Type); !ok {
				return nil, errInputType(callText(f.Name, args), i, pOnlyString.want, a)
			}
		}
		return bind(s, args)
	}
	return f
}

func str1(name, doc, sql, result string, f func(b, s []byte) []byte) *Function {
	return define(name, "string", name+"(str)", doc, signature{
		params: []param{pString}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[0]
			c.appendRows(out, func(i int, b []byte) []byte { return f(b, v.Str(i)) })
		},
	}).example(sql, result)
}

// strInt makes a function of one string or binary to an INT.
func strInt(name, doc string, p param, f func(v *vector, s []byte) int32) *Function {
	return define(name, "string", name+"(expr)", doc, signature{
		params: []param{p}, result: tInt,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[0]
			c.live(out, func(i int) { out.I32[i] = f(v, v.Str(i)) })
		},
	})
}

// strTest makes a function of two strings to a BOOLEAN.
func strTest(name, doc string, f func(a, b []byte) bool) *Function {
	return define(name, "string", name+"(left, right)", doc, signature{
		params: []param{pText, pText}, result: tBool,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			a, b := args[0], args[1]
			c.live(out, func(i int) { out.Bool[i] = f(a.Str(i), b.Str(i)) })
		},
	})
}

var stringFunctions = []*Function{
	str1("upper", "Upper case.", "SELECT upper('abc')", "ABC", appendUpper).alias("ucase"),
	str1("lower", "Lower case.", "SELECT lower('ABC')", "abc", appendLower).alias("lcase"),
	str1("initcap", "First letter of each word in upper case, the rest in lower case.", "SELECT initcap('hello wORLD')", "Hello World", appendInitcap),
	onlyTexts(str1("soundex", "Soundex code.", "SELECT soundex('Miller')", "M460", appendSoundex)),
	str1("quote", "The string in single quotes, quotes and backslashes inside escaped.", "SELECT quote('ab')", "'ab'", func(b, s []byte) []byte {
		b = append(b, '\'')
		for _, c := range s {
			if c == '\'' {
				b = append(b, '\\')
			}
			b = append(b, c)
		}
		return append(b, '\'')
	}),
	str1("make_valid_utf8", "The string with invalid bytes replaced.", "SELECT make_valid_utf8('ok')", "ok", func(b, s []byte) []byte {
		return append(b, bytes.ToValidUTF8(s, []byte("\uFFFD"))...)
	}),
	strInt("length", "Number of characters, or of bytes of a binary.", pText, func(v *vector, s []byte) int32 {
		if v.Type.Kind == schema.Binary {
			return int32(len(s))
		}
		return int32(charCount(s))
	}).alias("len", "char_length", "character_length").example("SELECT length('é')", "1"),
	strInt("octet_length", "Number of bytes.", pText, func(_ *vector, s []byte) int32 { return int32(len(s)) }).example("SELECT octet_length('é')", "2"),
	strInt("bit_length", "Number of bits.", pText, func(_ *vector, s []byte) int32 { return int32(8 * len(s)) }).example("SELECT bit_length('a')", "8"),
	strInt("ascii", "Code of the first character.", pString, func(_ *vector, s []byte) int32 {
		if len(s) == 0 {
			return 0
		}
		r, _ := utf8.DecodeRune(s)
		return r
	}).example("SELECT ascii('a')", "97"),
	strTest("contains", "True when right occurs in left.", bytes.Contains).example("SELECT contains('abc', 'b')", "true"),
	strTest("startswith", "True when left starts with right.", bytes.HasPrefix).example("SELECT startswith('abc', 'a')", "true"),
	strTest("endswith", "True when left ends with right.", bytes.HasSuffix).example("SELECT endswith('abc', 'c')", "true"),
	define("is_valid_utf8", "string", "is_valid_utf8(str)", "True when the bytes are valid UTF-8.", signature{
		params: []param{pString}, result: tBool,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) { out.Bool[i] = utf8.Valid(args[0].Str(i)) })
		},
	}).example("SELECT is_valid_utf8('a')", "true"),
	validate("validate_utf8", "The string, or an error when it is not valid UTF-8.", false).example("SELECT validate_utf8('ok')", "ok"),
	validate("try_validate_utf8", "The string, or NULL when it is not valid UTF-8.", true).example("SELECT try_validate_utf8('ok')", "ok"),
	define("substring", "string", "substring(str, pos[, len])", "Part of a string or binary from position pos (from 1; negative from the end).", signature{
		params: []param{pText, pInt, pInt}, min: 2, infer: firstType, kernel: substringKernel,
	}).alias("substr").example("SELECT substring('hello', 2, 3)", "ell"),
	define("left", "string", "left(str, len)", "The first len characters.", signature{
		params: []param{pText, pInt}, infer: firstType,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				return appendSlice(b, args[0], i, 0, int64(args[1].I32[args[1].Row(i)]))
			})
		},
	}).example("SELECT left('hello', 2)", "he"),
	define("right", "string", "right(str, len)", "The last len characters.", signature{
		params: []param{pString, pInt}, result: tString, // of a BINARY the text, other than left
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				n := int64(args[1].I32[args[1].Row(i)])
				if n <= 0 {
					return b
				}
				total := chars(args[0], i)
				return appendSlice(b, args[0], i, max(0, total-n), total)
			})
		},
	}).example("SELECT right('hello', 2)", "lo"),
	trimFunction("trim", true, true).example("SELECT trim('  a b  ')", "a b"),
	trimFunction("ltrim", true, false).example("SELECT ltrim('  a')", "a"),
	trimFunction("rtrim", false, true).example("SELECT rtrim('a  ')", "a"),
	define("btrim", "string", "btrim(str[, trimStr])", "The string without blanks (or characters of trimStr) at both ends.", signature{
		params: []param{pString, pString}, min: 1, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				set := []byte(" ")
				if len(args) == 2 {
					set = args[1].Str(i)
				}
				return append(b, trimSet(args[0].Str(i), set, true, true)...)
			})
		},
	}).example("SELECT btrim('xyaxy', 'yx')", "a"),
	padFunction("lpad", true).example("SELECT lpad('5', 3, '0')", "005"),
	padFunction("rpad", false).example("SELECT rpad('5', 3, '0')", "500"),
	define("repeat", "string", "repeat(str, n)", "The string n times.", signature{
		params: []param{pString, pInt}, result: tString, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				return c.repeatText(out, i, b, args[0].Str(i), int64(args[1].I32[args[1].Row(i)]))
			})
		},
	}).example("SELECT repeat('ab', 2)", "abab"),
	define("space", "string", "space(n)", "A string of n blanks.", signature{
		params: []param{pInt}, result: tString, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte { return c.repeatText(out, i, b, []byte{' '}, int64(args[0].I32[i])) })
		},
	}).example("SELECT concat(space(2), '1')", "  1"),
	define("instr", "string", "instr(str, substr)", "Position of the first occurrence, from 1; 0 when there is none.", signature{
		params: []param{pString, pString}, result: tInt,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) { out.I32[i] = locate(args[1].Str(i), args[0].Str(i), 1) })
		},
	}).example("SELECT instr('hello', 'l')", "3"),
	define("locate", "string", "locate(substr, str[, pos])", "Position of the first occurrence from pos on; 0 when there is none.", signature{
		params: []param{pString, pString, pInt}, min: 2, result: tInt, nulls: NullAware,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.Each(func(i int) {
				from := int32(1)
				if len(args) == 3 {
					if args[2].IsNull(i) { // from nowhere, whatever the texts are
						out.I32[i] = 0
						return
					}
					from = args[2].I32[args[2].Row(i)]
				}
				if args[0].IsNull(i) || args[1].IsNull(i) {
					out.SetNull(i)
					return
				}
				out.I32[i] = locate(args[0].Str(i), args[1].Str(i), from)
			})
		},
	}).alias("position").example("SELECT locate('l', 'hello', 4)", "4"),
	define("replace", "string", "replace(str, search[, replace])", "The string with each occurrence of search replaced.", signature{
		params: []param{pString, pString, pString}, min: 2, result: tString, kernel: replaceKernel,
	}).example("SELECT replace('ABCabc', 'abc', 'DEF')", "ABCDEF"),
	define("translate", "string", "translate(input, from, to)", "The string with each character of from replaced by its partner in to.", signature{
		params: []param{pString, pString, pString}, result: tString, kernel: translateKernel,
	}).example("SELECT translate('AaBbCc', 'abc', '123')", "A1B2C3"),
	define("split_part", "string", "split_part(str, delimiter, partNum)", "Part number partNum (negative from the end) of the string.", signature{
		params: []param{pString, pString, pInt}, result: tString, canFail: true, kernel: splitPartKernel,
	}).example("SELECT split_part('a,b,c', ',', 2)", "b"),
	define("substring_index", "string", "substring_index(str, delim, count)", "The string before count occurrences of the delimiter.", signature{
		params: []param{pString, pString, pInt}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				return append(b, substringIndex(args[0].Str(i), args[1].Str(i), int(args[2].I32[args[2].Row(i)]))...)
			})
		},
	}).example("SELECT substring_index('a.b.c', '.', 2)", "a.b"),
	define("chr", "string", "chr(n)", "The character with code n modulo 256.", signature{
		params: []param{pBigint}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				n := args[0].I64[i]
				if n < 0 {
					return b
				}
				return utf8.AppendRune(b, rune(n&0xff))
			})
		},
	}).alias("char").example("SELECT chr(65)", "A"),
	define("find_in_set", "string", "find_in_set(str, str_array)", "Position of str in a comma-separated list, from 1; 0 when it is not there.", signature{
		params: []param{pString, pString}, result: tInt,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) { out.I32[i] = findInSet(args[0].Str(i), args[1].Str(i)) })
		},
	}).example("SELECT find_in_set('b', 'a,b,c')", "2"),
	define("overlay", "string", "overlay(input, replace, pos[, len])", "The input with part of it replaced.", signature{
		params: []param{pText, pText, pInt, pInt}, min: 3, infer: firstType, kernel: overlayKernel,
	}).example("SELECT overlay('Spark SQL', '_', 6)", "Spark_SQL"),
	define("levenshtein", "string", "levenshtein(str1, str2[, threshold])", "Number of edits that turn one string into the other; -1 above the threshold.", signature{
		params: []param{pString, pString, pInt}, min: 2, result: tInt, nulls: NullAware,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.nullWhere(out, args[0])
			c.nullWhere(out, args[1])
			c.live(out, func(i int) {
				d, most := levenshtein([]rune(string(args[0].Str(i))), []rune(string(args[1].Str(i)))), int32(math.MaxInt32)
				if len(args) == 3 {
					most = 0 // of a NULL
					if !args[2].IsNull(i) {
						most = args[2].I32[args[2].Row(i)]
					}
				}
				if d > most {
					d = -1
				}
				out.I32[i] = d
			})
		},
	}).example("SELECT levenshtein('kitten', 'sitting')", "3"),
	define("luhn_check", "string", "luhn_check(str)", "True when the digits pass Luhn's check.", signature{
		params: []param{pString}, result: tBool,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) { out.Bool[i] = luhn(args[0].Str(i)) })
		},
	}).example("SELECT luhn_check('79927398713')", "true"),
	maskFunction(),
	eltFunction(),
}

func validate(name, doc string, try bool) *Function {
	return define(name, "string", name+"(str)", doc, signature{
		params: []param{pString}, result: tString, canFail: true, try: try,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				s := args[0].Str(i)
				if !utf8.Valid(s) {
					c.Fail(out, i, NewError("INVALID_UTF8_STRING", "Invalid UTF8 byte sequence found in string: "+hexText(s)+".", map[string]string{"str": hexText(s)}))
					return b
				}
				return append(b, s...)
			})
		},
	})
}

func hexText(s []byte) string {
	out := []byte{}
	for _, c := range s {
		out = append(out, "\\x"...)
		out = append(out, upperHex[c>>4], upperHex[c&15])
	}
	return string(out)
}

const upperHex = "0123456789ABCDEF"

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// charCount counts the characters: the bytes that do not continue one.
func charCount(s []byte) int {
	n := 0
	for _, c := range s {
		if c&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// charOffset is the byte offset of character n (or the length of s).
func charOffset(s []byte, n int64) int {
	if n <= 0 {
		return 0
	}
	for i, c := range s {
		if c&0xc0 != 0x80 {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(s)
}

func appendUpper(b, s []byte) []byte {
	if !isASCII(s) {
		for _, r := range string(s) {
			switch r {
			case 'ß':
				b = append(b, "SS"...)
			case 'ŉ':
				b = append(b, "ʼN"...)
			case 'ﬁ':
				b = append(b, "FI"...)
			case 'ﬂ':
				b = append(b, "FL"...)
			case 'ﬀ':
				b = append(b, "FF"...)
			default:
				b = utf8.AppendRune(b, unicode.ToUpper(r))
			}
		}
		return b
	}
	for _, c := range s {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

func appendLower(b, s []byte) []byte {
	if !isASCII(s) {
		runes := []rune(string(s))
		for i, r := range runes {
			switch {
			case r == 'İ':
				b = append(b, "i̇"...)
			case r == 'Σ' && i > 0 && unicode.IsLetter(runes[i-1]) && (i+1 == len(runes) || !unicode.IsLetter(runes[i+1])):
				b = append(b, "ς"...)
			default:
				b = utf8.AppendRune(b, unicode.ToLower(r))
			}
		}
		return b
	}
	for _, c := range s {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

func appendInitcap(b, s []byte) []byte {
	start := true
	if isASCII(s) {
		b = append(b, s...)
		t := b[len(b)-len(s):]
		for k, c := range t {
			lower := c | 0x20
			if lower-'a' < 26 {
				if start {
					lower ^= 0x20
				}
				t[k] = lower
			}
			start = c == ' '
		}
		return b
	}
	for _, r := range string(s) {
		if start {
			r = unicode.ToTitle(r)
		} else {
			r = unicode.ToLower(r)
		}
		start = r == ' '
		b = utf8.AppendRune(b, r)
	}
	return b
}

func appendSoundex(b, s []byte) []byte {
	const codes = "01230120022455012623010202"
	if len(s) == 0 {
		return b
	}
	up := func(c byte) byte {
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}
	first := up(s[0])
	if first < 'A' || first > 'Z' {
		return append(b, s...)
	}
	b = append(b, first)
	n, last := 1, codes[first-'A']
	for _, c := range s[1:] {
		c = up(c)
		if n == 4 {
			break
		}
		if c < 'A' || c > 'Z' {
			last = '0'
			continue
		}
		code := codes[c-'A']
		if code != '0' && code != last {
			b = append(b, code)
			n++
		}
		if c != 'H' && c != 'W' {
			last = code
		}
	}
	for ; n < 4; n++ {
		b = append(b, '0')
	}
	return b
}

// chars is the length of a string in characters, or of a binary in bytes.
func chars(v *vector, i int) int64 {
	if v.Type.Kind == schema.Binary {
		return int64(len(v.Str(i)))
	}
	return int64(charCount(v.Str(i)))
}

// appendSlice appends characters [from, to) of row i.
func appendSlice(b []byte, v *vector, i int, from, to int64) []byte {
	s := v.Str(i)
	from = max(from, 0)
	if to <= from {
		return b
	}
	if v.Type.Kind == schema.Binary {
		n := int64(len(s))
		return append(b, s[min(from, n):min(to, n)]...)
	}
	start := charOffset(s, from)
	rest := s[start:]
	return append(b, rest[:charOffset(rest, to-from)]...)
}

func substringKernel(c *Ctx, args []*vector, out *vector) {
	v, pos := args[0], args[1]
	c.appendRows(out, func(i int, b []byte) []byte {
		start := int64(pos.I32[pos.Row(i)])
		switch {
		case start > 0:
			start--
		case start < 0:
			start += chars(v, i)
		}
		end := start + math.MaxInt32
		if len(args) == 3 {
			end = start + int64(args[2].I32[args[2].Row(i)])
		}
		return appendSlice(b, v, i, start, end)
	})
}

func trimFunction(name string, left, right bool) *Function {
	return define(name, "string", name+"([trimStr, ]str)", "The string without blanks (or characters of trimStr) at its end.", signature{
		params: []param{pString, pString}, min: 1, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[len(args)-1]
			c.appendRows(out, func(i int, b []byte) []byte {
				set := []byte(" ")
				if len(args) == 2 {
					set = args[0].Str(i)
				}
				return append(b, trimSet(v.Str(i), set, left, right)...)
			})
		},
	})
}

// trimSet cuts characters of set from the ends of s.
func trimSet(s, set []byte, left, right bool) []byte {
	if len(set) == 1 {
		for left && len(s) > 0 && s[0] == set[0] {
			s = s[1:]
		}
		for right && len(s) > 0 && s[len(s)-1] == set[0] {
			s = s[:len(s)-1]
		}
		return s
	}
	if left {
		s = bytes.TrimLeft(s, string(set))
	}
	if right {
		s = bytes.TrimRight(s, string(set))
	}
	return s
}

func padFunction(name string, left bool) *Function {
	return define(name, "string", name+"(str, len[, pad])", "The string brought to len characters by padding or cutting.", signature{
		params: []param{pText, pInt, pText}, min: 2, infer: func(types []schema.Type) schema.Type {
			if len(types) == 3 && types[2].Kind != types[0].Kind {
				return tString
			}
			return types[0]
		}, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[0]
			c.appendRows(out, func(i int, b []byte) []byte {
				n, have := int64(args[1].I32[args[1].Row(i)]), chars(v, i)
				if n <= have {
					return appendSlice(b, v, i, 0, n)
				}
				if n > maxText {
					c.Fail(out, i, errTextSize(n))
					return b
				}
				pad := []byte(" ")
				if v.Type.Kind == schema.Binary {
					pad = []byte{0}
				}
				if len(args) == 3 {
					pad = args[2].Str(i)
				}
				if !left {
					b = append(b, v.Str(i)...)
				}
				b = appendPad(b, pad, n-have, v.Type.Kind == schema.Binary)
				if left {
					b = append(b, v.Str(i)...)
				}
				return b
			})
		},
	})
}

func appendPad(b, pad []byte, n int64, binary bool) []byte {
	width := int64(charCount(pad))
	if binary {
		width = int64(len(pad))
	}
	if width == 0 {
		return b
	}
	if n >= width {
		from, times := len(b), n/width
		n -= times * width
		size := times * int64(len(pad))
		b = append(b, pad...)
		for done := int64(len(pad)); done < size; done = int64(len(b) - from) {
			b = append(b, b[from:from+int(min(done, size-done))]...)
		}
	}
	if binary {
		return append(b, pad[:n]...)
	}
	return append(b, pad[:charOffset(pad, n)]...)
}

// locate finds sub in s from character from on; positions count from 1.
func locate(sub, s []byte, from int32) int32 {
	if from < 1 {
		return 0
	}
	if len(sub) == 0 {
		return 1
	}
	start := charOffset(s, int64(from-1))
	at := bytes.Index(s[start:], sub)
	if at < 0 {
		return 0
	}
	return int32(charCount(s[:start+at])) + 1
}

func replaceKernel(c *Ctx, args []*vector, out *vector) {
	c.appendRows(out, func(i int, b []byte) []byte {
		s, old := args[0].Str(i), args[1].Str(i)
		if len(old) == 0 {
			return append(b, s...)
		}
		var with []byte
		if len(args) == 3 {
			with = args[2].Str(i)
		}
		start := len(b)
		for {
			at := bytes.Index(s, old)
			if at < 0 || textRoom(b, start) <= 0 {
				return append(b, s...)
			}
			b = append(append(b, s[:at]...), with...)
			s = s[at+len(old):]
		}
	})
}

// translation is the scratch of translate: the mapping of the last row.
type translation struct {
	from, to string
	mapping  map[rune]rune // -1 deletes
	// ascii is the mapping of ASCII characters where they stay such.
	ascii  [utf8.RuneSelf]int8
	narrow bool
}

func translateKernel(c *Ctx, args []*vector, out *vector) {
	t, ok := c.Scratch.(*translation)
	if !ok {
		t = &translation{}
		c.Scratch = t
	}
	c.appendRows(out, func(i int, b []byte) []byte {
		if from, to := args[1].Str(i), args[2].Str(i); t.mapping == nil || string(from) != t.from || string(to) != t.to {
			t.load(string(from), string(to))
		}
		if s := args[0].Str(i); t.narrow && isASCII(s) {
			at := len(b)
			b = append(b, s...)
			for _, x := range s {
				b[at] = byte(t.ascii[x&0x7f])
				if t.ascii[x&0x7f] >= 0 {
					at++
				}
			}
			return b[:at]
		}
		for _, r := range string(args[0].Str(i)) {
			if m, ok := t.mapping[r]; ok {
				if r = m; r < 0 {
					continue
				}
			}
			b = utf8.AppendRune(b, r)
		}
		return b
	})
}

func (t *translation) load(from, to string) {
	t.from, t.to, t.mapping = from, to, map[rune]rune{}
	target := []rune(to)
	for k, r := range []rune(from) {
		if _, twice := t.mapping[r]; twice {
			continue
		}
		t.mapping[r] = -1
		if k < len(target) && target[k] != 0 {
			t.mapping[r] = target[k]
		}
	}
	for x := range t.ascii {
		t.ascii[x] = int8(x)
	}
	t.narrow = true
	for r, m := range t.mapping {
		if r < utf8.RuneSelf && m < utf8.RuneSelf {
			t.ascii[r] = int8(m)
		} else if r < utf8.RuneSelf {
			t.narrow = false
		}
	}
}

func splitPartKernel(c *Ctx, args []*vector, out *vector) {
	c.appendRows(out, func(i int, b []byte) []byte {
		s, sep, n := args[0].Str(i), args[1].Str(i), int(args[2].I32[args[2].Row(i)])
		if n == 0 {
			c.Fail(out, i, errIndexZero())
			return b
		}
		count := 1
		if len(sep) > 0 {
			count = bytes.Count(s, sep) + 1
		}
		if n < 0 {
			n += count + 1
		}
		if n < 1 || n > count {
			return b
		}
		for ; n > 1; n-- {
			s = s[bytes.Index(s, sep)+len(sep):]
		}
		if len(sep) > 0 {
			if at := bytes.Index(s, sep); at >= 0 {
				s = s[:at]
			}
		}
		return append(b, s...)
	})
}

func errIndexZero() *Error {
	return NewError("INVALID_INDEX_OF_ZERO", "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).", nil)
}

func substringIndex(s, sep []byte, n int) []byte {
	if len(sep) == 0 || n == 0 {
		return nil
	}
	if n > 0 {
		at := 0
		for ; n > 0; n-- {
			k := bytes.Index(s[at:], sep)
			if k < 0 {
				return s
			}
			at += k + len(sep)
		}
		return s[:at-len(sep)]
	}
	end := len(s)
	for ; n < 0; n++ {
		k := bytes.LastIndex(s[:end], sep)
		if k < 0 {
			return s
		}
		if n == -1 {
			return s[k+len(sep):]
		}
		end = k
	}
	return s
}

func findInSet(word, list []byte) int32 {
	if bytes.IndexByte(word, ',') >= 0 {
		return 0
	}
	for n := int32(1); ; n++ {
		at := bytes.IndexByte(list, ',')
		if at < 0 {
			if bytes.Equal(list, word) {
				return n
			}
			return 0
		}
		if bytes.Equal(list[:at], word) {
			return n
		}
		list = list[at+1:]
	}
}
