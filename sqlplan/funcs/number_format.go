package funcs

import (
	"strconv"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// numberFormat is a compiled format of to_number and to_char.
type numberFormat struct {
	text     string
	groups   []digitGroup // before the point, between separators
	fraction int          // digits behind the point; -1: no point
	dollar   bool
	sign     byte // 0, 'S' or 'M' (MI)
	leading  bool // the sign stands in front
	brackets bool // PR
}

// digitGroup is a run of 0 and 9.
type digitGroup struct {
	n    int
	zero bool // starts with 0
}

func (f *numberFormat) whole() int {
	n := 0
	for _, g := range f.groups {
		n += g.n
	}
	return n
}

func errNumberFormat(sub, format, why string) *Error {
	return NewError("INVALID_FORMAT."+sub, "The format is invalid: '"+format+"'. "+why, map[string]string{"format": "'" + format + "'"})
}

// compileNumberFormat reads [S|MI|$]digits with separators[.digits][S|MI|PR].
func compileNumberFormat(format string) (*numberFormat, *Error) {
	f := &numberFormat{text: format, fraction: -1}
	s := strings.ToUpper(format)
	bad := func(sub, why string) (*numberFormat, *Error) { return nil, errNumberFormat(sub, format, why) }
	s = f.prefix(s)
	group := digitGroup{}
	points := 0
	i := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case (c == '0' || c == '9') && points == 0:
			if group.n == 0 {
				group.zero = c == '0'
			}
			group.n++
			continue
		case c == '0' || c == '9':
			f.fraction++
			continue
		case (c == ',' || c == 'G') && points == 0:
			if group.n == 0 {
				return bad("CONT_THOUSANDS_SEPS", "Thousands separators (, or G) must have digits in between them in the number format.")
			}
			f.groups = append(f.groups, group)
			group = digitGroup{zero: group.zero}
			continue
		case c == ',' || c == 'G':
			return bad("THOUSANDS_SEPS_MUST_BEFORE_DEC", "Thousands separators (, or G) may not appear after the decimal point in the number format.")
		case c == '.' || c == 'D':
			if points++; points > 1 {
				return bad("WRONG_NUM_TOKEN", "The format contains more than one decimal point.")
			}
			f.fraction = 0
			continue
		case c == '$':
			if f.dollar {
				return bad("WRONG_NUM_TOKEN", "The format contains more than one dollar sign.")
			}
			f.dollar = true
			continue
		}
		break
	}
	if group.n == 0 && len(f.groups) > 0 {
		return bad("CONT_THOUSANDS_SEPS", "Thousands separators (, or G) must have digits in between them in the number format.")
	}
	if group.n > 0 || len(f.groups) > 0 {
		f.groups = append(f.groups, group)
	}
	switch rest := s[i:]; rest {
	case "":
	case "S", "MI":
		if f.sign != 0 {
			return bad("WRONG_NUM_TOKEN", "The format contains more than one sign.")
		}
		f.sign = rest[0]
	case "PR":
		f.brackets = true
	default:
		return nil, unexpected(format, s, rest)
	}
	if f.whole() == 0 && f.fraction <= 0 {
		return bad("WRONG_NUM_DIGIT", "The format string requires at least one number digit.")
	}
	return f, nil
}

// unexpected is why a format with a rest is none: what is missing or twice in
// all of it comes first.
func unexpected(format, s, rest string) *Error {
	switch {
	case !strings.ContainsAny(s, "09"):
		return errNumberFormat("WRONG_NUM_DIGIT", format, "The format string requires at least one number digit.")
	case strings.Count(s, ".")+strings.Count(s, "D") > 1:
		return errNumberFormat("WRONG_NUM_TOKEN", format, "The format contains more than one decimal point.")
	}
	return errNumberFormat("UNEXPECTED_TOKEN", format, "Found the unexpected '"+rest+"' in the format string.")
}

// prefix reads the signs in front of the digits.
func (f *numberFormat) prefix(s string) string {
	for {
		switch {
		case f.sign == 0 && strings.HasPrefix(s, "MI"):
			f.sign, f.leading, s = 'M', true, s[2:]
		case f.sign == 0 && strings.HasPrefix(s, "S"):
			f.sign, f.leading, s = 'S', true, s[1:]
		case !f.dollar && strings.HasPrefix(s, "$"):
			f.dollar, s = true, s[1:]
		default:
			return s
		}
	}
}

func (f *numberFormat) result() schema.Type {
	scale := max(f.fraction, 0)
	return schema.DecimalOf(min(f.whole()+scale, maxPrecision), scale)
}

// parse reads a text of the format.
func (f *numberFormat) parse(s string) (column.Int128, bool) {
	s = strings.TrimSpace(s)
	neg := false
	if f.brackets && strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		neg, s = true, s[1:len(s)-1]
	}
	if f.sign != 0 && s != "" {
		at := len(s) - 1
		if f.leading {
			at = 0
		}
		if c := s[at]; c == '-' || c == '+' {
			neg = c == '-'
			s = s[:at] + s[at+1:]
		}
	}
	if f.dollar {
		if !strings.HasPrefix(s, "$") {
			return column.Int128{}, false
		}
		s = s[1:]
	}
	whole, frac, point := strings.Cut(s, ".")
	if point && f.fraction < 0 || len(frac) > max(f.fraction, 0) {
		return column.Int128{}, false
	}
	parts := strings.Split(whole, ",")
	if len(parts) > max(len(f.groups), 1) || whole == "" && frac == "" {
		return column.Int128{}, false
	}
	for k := range parts { // from the right
		p := parts[len(parts)-1-k]
		if len(f.groups) == 0 {
			if p != "" {
				return column.Int128{}, false
			}
			continue
		}
		g := f.groups[len(f.groups)-1-k]
		first := k == len(parts)-1
		if len(p) > g.n || !first && len(p) < g.n || g.zero && len(p) != g.n {
			return column.Int128{}, false
		}
	}
	digits := strings.Join(parts, "") + "." + frac
	for i := range len(digits) {
		if c := digits[i]; c != '.' && (c < '0' || c > '9') {
			return column.Int128{}, false
		}
	}
	t := f.result()
	v, st := text.ParseDecimal([]byte(strings.TrimSuffix(digits, ".")), t.Precision, t.Scale)
	if neg {
		v = text.DecimalNeg(v)
	}
	return v, st == text.DecimalOK
}

// print writes a decimal by the format; # where it does not fit.
func (f *numberFormat) print(b []byte, v column.Int128, scale int) []byte {
	neg := text.DecimalSign(v) < 0
	s := string(text.AppendDecimal(nil, text.DecimalAbs(v), scale))
	whole, frac, _ := strings.Cut(s, ".")
	whole = strings.TrimLeft(whole, "0")
	frac = strings.TrimRight(frac, "0")
	over := len(whole) > f.whole() || len(frac) > max(f.fraction, 0)
	if !over {
		frac += strings.Repeat("0", max(f.fraction, 0)-len(frac))
	}
	start := len(b)
	digits := f.wholeText(whole, over)
	blanks := 0
	if !f.dollar { // a sign stands right before the first digit, a dollar where it is
		blanks = len(digits) - len(strings.TrimLeft(digits, " "))
	}
	b = append(b, digits[:blanks]...)
	if f.leading {
		b = f.appendSign(b, neg)
	}
	if f.brackets && neg {
		b = append(b, '<')
	}
	if f.dollar {
		b = append(b, '$')
	}
	b = append(b, digits[blanks:]...)
	if f.fraction > 0 {
		if n := len(b); n > start && b[n-1] == ' ' { // no digit before the point
			b[n-1] = '0'
		}
		b = append(b, '.')
		if over {
			frac = strings.Repeat("#", f.fraction)
		}
		b = append(b, frac...)
	}
	switch {
	case f.brackets && neg:
		b = append(b, '>')
	case f.brackets:
		b = append(b, "  "...)
	case f.sign != 0 && !f.leading:
		b = f.appendSign(b, neg)
	}
	return b
}

func (f *numberFormat) appendSign(b []byte, neg bool) []byte {
	switch {
	case neg:
		return append(b, '-')
	case f.sign == 'S':
		return append(b, '+')
	}
	return append(b, ' ')
}

// wholeText lays the whole digits out over the groups.
func (f *numberFormat) wholeText(whole string, over bool) string {
	n := f.whole()
	missing := n - len(whole)
	var out strings.Builder
	at := 0
	for k, g := range f.groups {
		if k > 0 {
			if !over && (at > missing || f.groups[k-1].zero) { // behind a digit
				out.WriteByte(',')
			} else {
				out.WriteByte(' ')
			}
		}
		for range g.n {
			switch {
			case over:
				out.WriteByte('#')
			case at >= missing:
				out.WriteByte(whole[at-missing])
			case g.zero:
				out.WriteByte('0')
			default:
				out.WriteByte(' ')
			}
			at++
		}
	}
	return out.String()
}

var numberFormatFunctions = []*Function{
	toNumber("to_number", false).example("SELECT to_number('454', '999')", "454"),
	toNumber("try_to_number", true).example("SELECT try_to_number('x', '99')", "NULL"),
	toChar("to_char").alias("to_varchar").example("SELECT to_char(454, '999')", "454"),
}

// formatArg reads the constant format of a call.
// formatArg compiles the constant format; it is nil when that is NULL.
func formatArg(s *Session, name string, args []Arg) (*numberFormat, error) {
	a := args[1]
	if !Implicit(s, a.Type, tString) {
		return nil, errInputType(callText(name, args), 1, pString.want, a)
	}
	if a.Const == nil {
		return nil, errNotFoldable(callText(name, args), "format", tString, a)
	}
	format, err := castConst(s, a, tString)
	if err != nil || format.IsNull(0) {
		return nil, err
	}
	if len(format.Str(0)) == 0 {
		return nil, errNumberFormat("EMPTY", "", "The number format string cannot be empty.")
	}
	f, bad := compileNumberFormat(string(format.Str(0)))
	if bad != nil {
		return nil, bad
	}
	return f, nil
}

// allNull is a call without any value.
func allNull(b *Bound, args []Arg) *Bound {
	b.Args, b.Nullable, b.Nulls, b.CanFail = argTypes(args), true, NullAware, false
	b.Kernel = func(c *Ctx, _ []*vector, out *vector) { c.Each(out.SetNull) }
	return b
}

func toNumber(name string, try bool) *Function {
	return custom(name, "string", name+"(expr, fmt)", "Text read as a number by a format.", func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 2, 2, len(args)); err != nil {
			return nil, err
		}
		if !Implicit(s, args[0].Type, tString) {
			return nil, errInputType(callText(name, args), 0, pString.want, args[0])
		}
		f, err := formatArg(s, name, args)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return allNull(&Bound{Result: schema.DecimalOf(10, 0)}, args), nil
		}
		b := &Bound{Args: []schema.Type{tString, tString}, Result: f.result(), Nullable: args[0].Nullable || try, CanFail: !try}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				v, ok := f.parse(string(args[0].Str(i)))
				if !ok {
					c.Fail(out, i, NewError("INVALID_FORMAT.MISMATCH_INPUT", "The format is invalid: '"+f.text+"'. The input \"STRING\" '"+string(args[0].Str(i))+"' does not match the format.",
						map[string]string{"format": "'" + f.text + "'", "inputType": `"STRING"`, "input": string(args[0].Str(i))}))
					return
				}
				setDecimal(out, i, v)
			})
		}
		if try {
			b.Kernel = tryKernel(b.Kernel)
		}
		return b, nil
	})
}

func toChar(name string) *Function {
	return custom(name, "string", name+"(expr, format)", "Number, date or binary as text by a format.", func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 2, 2, len(args)); err != nil {
			return nil, err
		}
		t := args[0].Type
		b := &Bound{Args: []schema.Type{t, tString}, Result: tString, Nullable: args[0].Nullable || args[1].Nullable}
		switch {
		case isTemporal(t):
			inner, err := lookupIn(datetimeTextFunctions, "date_format").Bind(s, args)
			return inner, err
		case t.Kind == schema.Binary:
			return toCharBinary(name, b, args)
		}
		if !t.IsNumeric() && t.Kind != schema.Void && t.Kind != schema.String {
			return nil, errInputType(callText(name, args), 0, pNumeric.want, args[0])
		}
		f, err := formatArg(s, name, args)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return allNull(b, args), nil
		}
		dec := decimalForArg(args[0])
		if dec.Kind != schema.Decimal {
			dec = schema.DecimalOf(30, 15)
		}
		b.Args[0] = dec
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte { return f.print(b, decimalAt(args[0], i), dec.Scale) })
		}
		return b, nil
	})
}

func toCharBinary(name string, b *Bound, args []Arg) (*Bound, error) {
	format, _ := constString(args[1])
	switch strings.ToLower(format) {
	case "hex", "base64", "utf-8":
	default:
		return nil, errParam("BINARY_FORMAT", "format", name, "expects one of binary formats 'base64', 'hex', 'utf-8', but got "+strconv.Quote(format)+".", nil)
	}
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		c.appendRows(out, func(i int, b []byte) []byte {
			s := args[0].Str(i)
			switch strings.ToLower(format) {
			case "hex":
				for _, x := range s {
					b = append(b, upperHex[x>>4], upperHex[x&15])
				}
				return b
			case "base64":
				return appendBase64(b, s)
			}
			return append(b, s...)
		})
	}
	return b, nil
}

func lookupIn(list []*Function, name string) *Function {
	for _, f := range list {
		if f.Name == name {
			return f
		}
	}
	panic("bug: funcs: no function " + name)
}
