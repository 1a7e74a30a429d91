package parse

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

var fieldWords = map[string]ast.IntervalField{"YEAR": ast.Year, "MONTH": ast.Month, "DAY": ast.Day,
	"HOUR": ast.Hour, "MINUTE": ast.Minute, "SECOND": ast.Second}

// unit is what a unit of time adds to an interval.
type unit struct {
	field  ast.IntervalField
	months int64 // for year-month units
	micros int64 // for day-time units
}

const (
	microsPerSecond = int64(1_000_000)
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// units by the upper-case singular word.
var units = map[string]unit{
	"YEAR": {ast.Year, 12, 0}, "MONTH": {ast.Month, 1, 0},
	"WEEK": {ast.Day, 0, 7 * microsPerDay}, "DAY": {ast.Day, 0, microsPerDay}, "HOUR": {ast.Hour, 0, microsPerHour},
	"MINUTE": {ast.Minute, 0, microsPerMinute}, "SECOND": {ast.Second, 0, microsPerSecond},
	"MILLISECOND": {ast.Second, 0, 1000}, "MICROSECOND": {ast.Second, 0, 1}, "NANOSECOND": {ast.Second, 0, 0},
}

// unitWord returns the singular upper-case unit of a word, or "".
func unitWord(w string) string {
	w = upper(w)
	if _, ok := units[w]; ok {
		return w
	}
	if s := strings.TrimSuffix(w, "S"); s != w {
		if _, ok := units[s]; ok {
			return s
		}
	}
	return ""
}

// intervalAhead reports whether INTERVAL starts a literal.
func (p *parser) intervalAhead() bool {
	n := p.at(1)
	if n.isOp("-") || n.isOp("+") {
		n = p.at(2)
		if n.kind == number {
			return p.at(3).kind == word && unitWord(p.at(3).up) != ""
		}
	}
	if n.kind == number {
		return true
	}
	return n.kind == str || n.kind == rawStr
}

// interval reads an interval literal of any form.
func (p *parser) interval() *ast.IntervalLit {
	start := p.start()
	p.expect("INTERVAL")
	if p.isString() && unitWord(p.at(1).up) == "" {
		s := p.stringLit()
		return p.intervalText(p.since(start), s.Value)
	}
	var sum intervalSum
	for n := 0; ; n++ {
		if !p.intervalValueAhead() {
			if n == 0 {
				p.fail("expected a number or a string with a unit")
			}
			break
		}
		v := p.intervalValue()
		w := ""
		if p.tok().kind == word {
			w = unitWord(p.tok().up)
		}
		if w == "" {
			p.fail("expected a unit such as DAY or MONTHS")
		}
		p.i++
		if p.isWords("TO") && p.at(1).kind == word {
			return p.unitToUnit(start, v, w, n)
		}
		p.addUnit(&sum, v, w, start)
	}
	return p.intervalOf(&sum, p.since(start))
}

// intervalValueAhead reports whether another value with a unit follows.
func (p *parser) intervalValueAhead() bool {
	n := 0
	if p.isOp("-") || p.isOp("+") {
		n = 1
	}
	k := p.at(n).kind
	return (k == number || k == str || k == rawStr) && p.at(n+1).kind == word && unitWord(p.at(n+1).up) != ""
}

// intervalValue reads the number before a unit, as text with its sign.
func (p *parser) intervalValue() string {
	neg := false
	if p.isOp("-") || p.isOp("+") {
		neg = p.advance().up == "-"
	}
	var s string
	if p.isString() {
		s = strings.TrimSpace(stringValue(p.advance(), p.src))
	} else {
		s = p.textOf(p.advance())
	}
	if !neg {
		return s
	}
	if strings.HasPrefix(s, "-") {
		return s[1:]
	}
	return "-" + strings.TrimPrefix(s, "+")
}

// intervalSum gathers the parts of an interval.
type intervalSum struct {
	months, micros int64
	fields         [ast.Second + 1]bool
	yearMonth      bool
	dayTime        bool
}

// addUnit adds a value with its unit.
func (p *parser) addUnit(s *intervalSum, v, w string, start int) {
	u := units[w]
	s.fields[u.field] = true
	if strings.HasPrefix(v, "-") || strings.HasPrefix(v, "+") { // white space may follow the sign
		v = v[:1] + strings.TrimSpace(v[1:])
	}
	if w == "NANOSECOND" {
		p.failCode(p.since(start), "INVALID_INTERVAL_FORMAT.INVALID_UNIT", "Error parsing '"+clip(v+" nanoseconds")+"' to interval: invalid unit 'nanoseconds'.")
	}
	months, micros, ok := unitValue(v, w)
	if u.months > 0 {
		s.yearMonth = true
	} else {
		s.dayTime = true
	}
	if !ok {
		if plain := strings.TrimLeft(v, "+-"); u.months == 0 && plain != "" && len(v)-len(plain) <= 1 && strings.Trim(plain, "0123456789") == "" {
			p.unitsOverflow(p.since(start), v)
		}
		p.failCode(p.since(start), "INVALID_INTERVAL_FORMAT.INVALID_VALUE",
			"Error parsing '"+clip(v+" "+strings.ToLower(w))+"' to interval: the value is invalid.")
	}
	var over1, over2 bool
	s.months, over1 = addOver(s.months, months)
	s.micros, over2 = addOver(s.micros, micros)
	if over1 || over2 {
		p.unitsOverflow(p.since(start), v)
	}
}

// unitsOverflow refuses numbers of units that are too large together.
func (p *parser) unitsOverflow(r diag.Range, v string) {
	p.failCode(r, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "Integer overflow while operating with intervals: '"+clip(v)+"' is too large.")
}

func (p *parser) intervalOverflow(r diag.Range, v string) {
	p.failCode(r, "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION",
		"Error parsing '"+clip(v)+"' to interval: uncaught arithmetic exception while parsing.")
}

// intervalOf makes the literal from its parts.
func (p *parser) intervalOf(s *intervalSum, r diag.Range) *ast.IntervalLit {
	if s.yearMonth && s.dayTime {
		p.failCode(r, "_LEGACY_ERROR_TEMP_0029", "Cannot mix year-month and day-time fields: "+clip(p.src[r.Start:r.End])+".")
	}
	n := &ast.IntervalLit{Pos: ast.Pos{Span: r}, Months: int32(s.months), Micros: s.micros}
	if int64(n.Months) != s.months {
		p.intervalOverflow(r, p.src[r.Start:r.End])
	}
	for f := ast.Year; f <= ast.Second; f++ {
		if !s.fields[f] {
			continue
		}
		if n.Start == ast.NoField {
			n.Start = f
		}
		n.End = f
	}
	return n
}

// intervalText reads INTERVAL '1 day 2 hours'.
func (p *parser) intervalText(r diag.Range, text string) *ast.IntervalLit {
	words := strings.Fields(text)
	if len(words) > 0 && strings.EqualFold(words[0], "interval") {
		words = words[1:]
	}
	var s intervalSum
	if len(words) == 0 {
		p.badInterval(r, text)
	}
	for len(words) > 0 {
		v := words[0]
		if (v == "-" || v == "+") && len(words) > 1 {
			v += words[1]
			words = words[1:]
		}
		words = words[1:]
		if len(words) == 0 || unitWord(words[0]) == "" {
			p.badInterval(r, text)
		}
		w := unitWord(words[0])
		words = words[1:]
		months, micros, ok := unitValue(v, w)
		if !ok {
			p.badInterval(r, text)
		}
		var o1, o2 bool
		s.months, o1 = addOver(s.months, months)
		s.micros, o2 = addOver(s.micros, micros)
		if o1 || o2 {
			p.badInterval(r, text)
		}
		u := units[w]
		s.fields[u.field] = true
		s.yearMonth = s.yearMonth || u.months > 0
		s.dayTime = s.dayTime || u.months == 0
	}
	return p.intervalOf(&s, r)
}

func (p *parser) badInterval(r diag.Range, text string) {
	p.failCode(r, "INVALID_TYPED_LITERAL", "The value of the typed literal \"INTERVAL\" is invalid: '"+clip(text)+"'.")
}

// unitValue reads a number of units. Only seconds may have a fraction.
func unitValue(v, w string) (months, micros int64, ok bool) {
	u := units[w]
	neg := strings.HasPrefix(v, "-")
	digits := strings.TrimPrefix(strings.TrimPrefix(v, "-"), "+")
	if len(digits) < len(v)-1 {
		return 0, 0, false
	}
	whole, frac, point := strings.Cut(digits, ".")
	if point && w != "SECOND" || whole == "" && frac == "" {
		return 0, 0, false
	}
	n, ok := parseDigits(whole)
	if !ok {
		return 0, 0, false
	}
	if u.months > 0 {
		m, over := mulOver(n, u.months)
		return signed(m, neg), 0, !over
	}
	if w == "NANOSECOND" {
		return 0, signed(n/1000, neg), true
	}
	m, over := mulOver(n, u.micros)
	if over {
		return 0, 0, false
	}
	f, ok := fractionMicros(frac)
	m, over = addOver(m, f)
	return 0, signed(m, neg), ok && !over
}

// fractionMicros reads up to nine digits after a point; what is below a
// microsecond is cut off.
func fractionMicros(s string) (int64, bool) {
	if len(s) > 9 {
		return 0, false
	}
	n, ok := parseDigits((s + "000000000")[:6])
	if _, all := parseDigits(s); !all {
		return 0, false
	}
	return n, ok
}

// parseDigits reads a run of digits; the empty run is 0.
func parseDigits(s string) (int64, bool) {
	n := int64(0)
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			return 0, false
		}
		d := int64(s[i] - '0')
		if n > (1<<63-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

func signed(n int64, neg bool) int64 {
	if neg {
		return -n
	}
	return n
}

func addOver(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) != (b > 0) && b != 0
}

func mulOver(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, false
	}
	c := a * b
	return c, c/b != a
}
