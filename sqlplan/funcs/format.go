package funcs

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

var formatFunctions = []*Function{
	define("format_string", "string", "format_string(strfmt, obj, ...)", "Text made by a printf-style format.", signature{
		params: []param{pString, pAny}, min: 1, variadic: true, result: tString, nulls: NullAware, canFail: true, kernel: formatKernel,
	}).alias("printf").example("SELECT format_string('Hello World %d %s', 100, 'days')", "Hello World 100 days"),
	custom("format_number", "string", "format_number(expr1, expr2)", "Number with grouping and a number of decimals, or by a pattern like '#,###.##'.", bindFormatNumber).
		example("SELECT format_number(12332.123456, 4)", "12,332.1235"),
	define("sentences", "string", "sentences(str[, lang[, country]])", "Sentences as arrays of words.", signature{
		params: []param{pString, pString, pString}, min: 1, result: schema.ArrayOf(schema.ArrayOf(tString, false), false), nulls: NullAware, kernel: sentencesKernel,
	}).example("SELECT sentences('Hi there! Good morning.')", `[["Hi","there"],["Good","morning"]]`),
}

// verb is one conversion of a format.
type verb struct {
	flags      string
	width      int
	precision  int // -1: none
	conversion byte
	argument   int // from 0; -1: the next one
	literal    string
}

func has(v verb, flag byte) bool { return strings.IndexByte(v.flags, flag) >= 0 }

// parseFormat splits a format into literals and verbs; ok is false when it is
// malformed.
func parseFormat(s string) (out []verb, ok bool) {
	for i := 0; i < len(s); {
		if s[i] != '%' {
			end := strings.IndexByte(s[i:], '%')
			if end < 0 {
				end = len(s) - i
			}
			out = append(out, verb{literal: s[i : i+end]})
			i += end
			continue
		}
		v := verb{precision: -1, argument: -1}
		i++
		digits := func() int {
			n, k := 0, i
			for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
				n = n*10 + int(s[i]-'0')
			}
			if k == i {
				return -1
			}
			return n
		}
		start := i
		if n := digits(); n > 0 && i < len(s) && s[i] == '$' {
			v.argument = n - 1
			i++
		} else {
			i = start
		}
		for i < len(s) && strings.IndexByte("-#+ 0,(", s[i]) >= 0 {
			v.flags += string(s[i])
			i++
		}
		v.width = max(digits(), 0)
		if i < len(s) && s[i] == '.' {
			i++
			if v.precision = digits(); v.precision > maxText {
				return nil, false
			}
		}
		if i >= len(s) {
			return nil, false
		}
		v.conversion = s[i]
		i++
		out = append(out, v)
	}
	return out, true
}

func formatKernel(c *Ctx, args []*vector, out *vector) {
	p := newPrinter(c.Session)
	c.appendRows(out, func(i int, b []byte) []byte {
		if args[0].IsNull(i) {
			out.SetNull(i)
			return b
		}
		verbs, ok := parseFormat(string(args[0].Str(i)))
		next := 1
		for _, v := range verbs {
			if v.conversion == 0 {
				b = append(b, v.literal...)
				continue
			}
			switch v.conversion {
			case '%':
				b = appendPadded(b, "%", v)
				continue
			case 'n':
				b = append(b, '\n')
				continue
			}
			at := next
			if v.argument >= 0 {
				at = v.argument + 1
			} else {
				next++
			}
			if at >= len(args) {
				ok = false
				break
			}
			s, good := formatValue(p, v, args[at], i)
			ok = ok && good
			b = appendPadded(b, s, v)
		}
		if !ok && bytes.Contains(args[0].Str(i), []byte("%0$")) {
			c.Fail(out, i, errParam("ZERO_INDEX", "strfmt", "format_string", "expects %1$, %2$ and so on, but got %0$.", nil))
		}
		if !ok {
			c.Fail(out, i, errParam("PATTERN", "strfmt", "format_string", quoteSQL(string(args[0].Str(i)))+" does not fit the arguments.", nil))
		}
		return b
	})
}

func appendPadded(b []byte, s string, v verb) []byte {
	pad := v.width - charCount([]byte(s))
	if pad <= 0 {
		return append(b, s...)
	}
	pad = min(pad, textRoom(b, len(b))) // appendRows refuses what is larger
	switch {
	case has(v, '-'):
		b = append(b, s...)
		for range pad {
			b = append(b, ' ')
		}
		return b
	case has(v, '0') && v.conversion != 's':
		if s != "" && (s[0] == '-' || s[0] == '+') {
			b, s = append(b, s[0]), s[1:]
		}
		for range pad {
			b = append(b, '0')
		}
		return append(b, s...)
	}
	for range pad {
		b = append(b, ' ')
	}
	return append(b, s...)
}

// isRawInteger is whether values are integers to a format: those of times and
// intervals are their numbers.
func isRawInteger(t schema.Type) bool {
	switch t.Kind {
	case schema.Date, schema.Timestamp, schema.TimestampNTZ, schema.YearMonthInterval, schema.DayTimeInterval:
		return true
	}
	return t.IsInteger()
}

func formatValue(p *printer, v verb, arg *vector, i int) (string, bool) {
	lower := v.conversion | 0x20
	if arg.IsNull(i) {
		if lower == 'b' {
			return "false", true
		}
		return "null", true
	}
	r := arg.Row(i)
	s, ok := "", true
	switch lower {
	case 's':
		if s = string(p.append(nil, arg, i)); isRawInteger(arg.Type) {
			s = strconv.FormatInt(intAt(arg, i), 10)
		}
		if v.precision >= 0 {
			s = s[:charOffset([]byte(s), int64(v.precision))]
		}
	case 'b':
		s = "true"
		if arg.Type.Kind == schema.Boolean && !arg.Bool[r] {
			s = "false"
		}
	case 'c':
		switch {
		case isRawInteger(arg.Type):
			s = string(rune(intAt(arg, i)))
		default:
			ok = false
		}
	case 'd':
		if ok = isRawInteger(arg.Type); ok {
			s = signed(strconv.FormatInt(intAt(arg, i), 10), v)
		}
	case 'x', 'o':
		if ok = isRawInteger(arg.Type); ok {
			s = formatUnsigned(intAt(arg, i), arg.Type, map[byte]int{'x': 16, 'o': 8}[lower])
		}
	case 'e', 'f', 'g':
		s, ok = formatFloat(v, arg, r, lower)
	default:
		return "", false
	}
	if v.conversion != lower {
		s = strings.ToUpper(s)
	}
	return s, ok
}

func formatUnsigned(x int64, t schema.Type, base int) string {
	u := uint64(x)
	switch t.Kind {
	case schema.Int8:
		u &= 0xff
	case schema.Int16:
		u &= 0xffff
	case schema.Int32:
		u &= 0xffffffff
	}
	return strconv.FormatUint(u, base)
}

func formatFloat(v verb, arg *vector, r int, conversion byte) (string, bool) {
	if !arg.Type.IsFloat() && arg.Type.Kind != schema.Decimal {
		return "", false
	}
	prec := v.precision
	if prec < 0 {
		prec = 6
	}
	if conversion == 'f' {
		var d column.Int128
		scale := 0
		if arg.Type.Kind == schema.Decimal {
			d, scale = decimalAt(arg, r), arg.Type.Scale
		} else {
			x := anyNumber(arg, r)
			if x-x != 0 {
				return signed(strings.TrimPrefix(string(text.AppendDouble(nil, x)), "+"), v), true
			}
			return signed(strconv.FormatFloat(roundFloat(x, prec, false), 'f', prec, 64), v), true
		}
		if d, ok := text.DecimalRescale(d, scale, prec); ok {
			return signed(string(text.AppendDecimal(nil, d, prec)), v), true
		}
		return "", false
	}
	x := anyNumber(arg, r)
	if conversion == 'g' {
		if a := max(x, -x); a == 0 || a >= 1e-4 && a < 1e6 {
			return signed(strconv.FormatFloat(x, 'f', max(prec-1, 0), 64), v), true
		}
		prec = max(prec-1, 0)
	}
	return signed(strconv.FormatFloat(x, 'e', prec, 64), v), true
}

// signed adds grouping and the sign flags to a decimal text.
func signed(s string, v verb) string {
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	if has(v, ',') {
		s = grouped(s)
	}
	switch {
	case neg && has(v, '('):
		return "(" + s + ")"
	case neg:
		return "-" + s
	case has(v, '+'):
		return "+" + s
	case has(v, ' '):
		return " " + s
	}
	return s
}

// grouped puts a comma between groups of three whole digits.
func grouped(s string) string {
	whole, frac, found := strings.Cut(s, ".")
	var b strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if found {
		b.WriteString("." + frac)
	}
	return b.String()
}

func bindFormatNumber(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("format_number", 2, 2, len(args)); err != nil {
		return nil, err
	}
	t, ok := pNumeric.take(s, args[0].Type)
	if !ok || args[0].Type.Kind == schema.String { // a text is no number here
		return nil, errInputType(callText("format_number", args), 0, pNumeric.want, args[0])
	}
	ft := tInt
	if args[1].Type.Kind == schema.String {
		ft = tString
	} else if args[1].Type.Kind != schema.Int32 && args[1].Type.Kind != schema.Void {
		return nil, errInputType(callText("format_number", args), 1, `("INT" or "STRING")`, args[1])
	}
	return &Bound{
		Args: []schema.Type{t, ft}, Result: tString, Nullable: true, CanFail: true,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				p := numberPattern{group: 3, negative: "-"}
				lo, hi := 0, 0
				if ft.Kind == schema.String {
					if p = readNumberPattern(string(args[1].Str(i))); p.bad {
						c.Fail(out, i, NewError("FEATURE_NOT_AVAILABLE", "format_number does not read the pattern '"+string(args[1].Str(i))+"': exponents, currencies, digits apart and open quotes are not supported.", nil))
						return b
					}
					lo, hi = p.lo, p.hi
				} else if lo = int(args[1].I32[args[1].Row(i)]); lo < 0 {
					out.SetNull(i)
					return b
				} else {
					hi = lo
				}
				if hi > maxText {
					c.Fail(out, i, errTextSize(int64(hi)))
					return b
				}
				return p.wrap(b, formatNumber(args[0], args[0].Row(i), lo, hi, p.shift))
			})
		},
	}, nil
}

// numberPattern is a DecimalFormat pattern of digits: the least and most
// decimals, the least whole digits, the size of a group (0: none), the power of
// ten that the number is multiplied with, and the text around it, for negative
// numbers too.
type numberPattern struct {
	lo, hi, whole, group, shift int
	prefix, suffix              string
	negative, behind            string
	bad                         bool // what is not read
}

func readNumberPattern(s string) numberPattern {
	if s == "" {
		return numberPattern{group: 3, negative: "-"}
	}
	var p numberPattern
	rest := p.affix(s, &p.prefix)
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "#0,."))]
	rest = p.affix(rest[len(digits):], &p.suffix)
	p.negative, p.behind = "-"+p.prefix, p.suffix
	if strings.HasPrefix(rest, ";") {
		n := numberPattern{}
		rest = n.affix(rest[1:], &n.prefix)
		rest = n.affix(strings.TrimLeft(rest, "#0,."), &n.suffix)
		if n.prefix != p.prefix || n.suffix != p.suffix {
			p.negative, p.behind = n.prefix, n.suffix
		}
		p.bad = p.bad || n.bad
	}
	p.bad = p.bad || rest != "" || strings.HasPrefix(p.suffix, "E") && digits != ""
	whole, frac, _ := strings.Cut(digits, ".")
	p.lo, p.hi, p.whole = strings.Count(frac, "0"), strings.Count(frac, "0")+strings.Count(frac, "#"), strings.Count(whole, "0")
	if comma := strings.LastIndexByte(whole, ','); comma >= 0 {
		p.group = len(whole) - comma - 1
	}
	return p
}

// affix reads the text around the digits, in which quotes take away the
// meaning of marks, and returns what follows.
func (p *numberPattern) affix(s string, out *string) string {
	quoted := false
	for i, r := range s {
		switch {
		case r == '\'' && strings.HasPrefix(s[i+1:], "'"): // of two quotes the second is the text
		case r == '\'' && i > 0 && s[i-1] == '\'' && !quoted:
			*out += "'"
		case r == '\'':
			quoted = !quoted
		case quoted:
			*out += string(r)
		case strings.ContainsRune("#0,.;", r):
			return s[i:]
		case r == '%' || r == '‰':
			p.shift = map[rune]int{'%': 2, '‰': 3}[r]
			*out += string(r)
		default:
			p.bad = p.bad || r == '¤'
			*out += string(r)
		}
	}
	p.bad = p.bad || quoted
	return ""
}

// wrap appends a number's text with its leading zeros, groups and the text
// around; the sign comes first.
func (p numberPattern) wrap(b []byte, s string) []byte {
	if s == "NaN" {
		return append(b, s...)
	}
	prefix, suffix := p.prefix, p.suffix
	if strings.HasPrefix(s, "-") {
		prefix, suffix, s = p.negative, p.behind, s[1:]
	}
	if s == "∞" {
		return append(append(append(b, prefix...), s...), suffix...)
	}
	whole, frac, found := strings.Cut(s, ".")
	if n := p.whole - len(whole); n > 0 {
		whole = strings.Repeat("0", n) + whole
	}
	b = append(b, prefix...)
	for i := range len(whole) {
		if left := len(whole) - i; i > 0 && p.group > 0 && left%p.group == 0 {
			b = append(b, ',')
		}
		b = append(b, whole[i])
	}
	if found {
		b = append(append(b, '.'), frac...)
	}
	return append(b, suffix...)
}

// formatNumber is the number times ten to the power of shift with hi decimals,
// of which zeros behind the first lo are left out.
func formatNumber(v *vector, r, lo, hi, shift int) string {
	s := ""
	switch {
	case v.Type.Kind == schema.Decimal:
		d := text.DecimalRoundHalfEven(decimalAt(v, r), v.Type.Scale, hi+shift)
		scale := min(hi, v.Type.Scale-shift)
		s = string(text.AppendDecimal(nil, d, max(scale, 0))) + strings.Repeat("0", max(-scale, 0))
		scale = max(scale, 0)
		if scale < hi {
			if scale == 0 {
				s += "."
			}
			s += strings.Repeat("0", hi-scale)
		}
	case v.Type.IsFloat():
		x := anyNumber(v, r) * float64(floatPow10[shift])
		if x != x {
			return "NaN"
		}
		if x-x != 0 {
			return map[bool]string{true: "∞", false: "-∞"}[x > 0]
		}
		s = strconv.FormatFloat(roundFloat(x, hi, true), 'f', hi, 64)
	default:
		if s = strconv.FormatInt(intAt(v, r), 10) + strings.Repeat("0", shift); hi > 0 {
			s += "." + strings.Repeat("0", hi)
		}
	}
	for n := hi; n > lo && strings.HasSuffix(s, "0"); n-- {
		s = s[:len(s)-1]
	}
	return strings.TrimSuffix(s, ".")
}

// sentencesKernel cuts texts into sentences and these into words.
func sentencesKernel(c *Ctx, args []*vector, out *vector) {
	inner := out.Children[0]
	c.nullWhere(out, args[0]) // a language or country that is NULL is none
	c.appendLists(out, func(i int) {
		for s := string(args[0].Str(i)); s != ""; {
			n := sentenceEnd(s)
			start := 0
			for at, r := range s[:n] {
				if isWordRune(r) || joinsWord(s[:n], at, r) {
					continue
				}
				appendWord(inner.Children[0], s[:at], start)
				start = at + utf8.RuneLen(r)
				if r == utf8.RuneError {
					start = at + 1
				}
			}
			appendWord(inner.Children[0], s[:n], start)
			inner.EndList()
			s = s[n:]
		}
	})
}

// appendWord appends the word from start to the end of s. A number right behind
// a sign of money, a full stop or # is one with it, and no word.
func appendWord(words *vector, s string, start int) {
	if start >= len(s) {
		return
	}
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	if unicode.IsDigit(rune(s[start])) && (before == '.' || before == '#' || unicode.Is(unicode.Sc, before) && before != '¢') {
		return
	}
	words.AppendStr([]byte(s[start:]))
}

// sentenceEnd is where the first sentence of a text ends, with the blanks
// behind it: behind ! and ?, and behind a full stop before a blank, unless a
// small letter or another mark follows.
func sentenceEnd(s string) int {
	for at := 0; ; {
		mark := strings.IndexAny(s[at:], ".!?")
		if mark < 0 {
			return len(s)
		}
		marks := strings.TrimLeft(s[at+mark:], ".!?")
		sure := strings.ContainsAny(s[at+mark:len(s)-len(marks)], "!?")
		at = len(s) - len(marks)
		closed := strings.TrimLeft(marks, ")]}\"'»”’")
		rest := strings.TrimLeftFunc(closed, unicode.IsSpace)
		switch {
		case rest == "":
			return len(s)
		case sure:
			return len(s) - len(rest)
		case len(rest) == len(closed):
			continue
		}
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, "([{\"'«“‘"))
		if !unicode.IsLower(next) && !strings.ContainsRune(".!?", next) {
			return len(s) - len(rest)
		}
	}
}

// isWordRune: what lies beyond the first plane is two characters to Java, and
// a word does not begin with one of them.
func isWordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r >= 0x80 && r <= 0xffff && r != utf8.RuneError || r == '_'
}

// joinsWord is whether a mark holds letters together, or digits.
func joinsWord(s string, at int, r rune) bool {
	letters, digits := strings.ContainsRune("'.\"", r) || unicode.Is(unicode.Pd, r), strings.ContainsRune("'.,\"", r)
	if !letters && !digits {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	behind, _ := utf8.DecodeRuneInString(s[at+utf8.RuneLen(r):])
	return letters && unicode.IsLetter(before) && unicode.IsLetter(behind) || digits && unicode.IsDigit(before) && unicode.IsDigit(behind)
}
