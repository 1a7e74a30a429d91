package parse

import (
	"math"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// unitToUnit reads the end of INTERVAL '1-2' YEAR TO MONTH, after the first
// unit. n is the number of values before it.
func (p *parser) unitToUnit(start int, v, from string, n int) *ast.IntervalLit {
	p.expect("TO")
	to := unitWord(p.tok().up)
	if to == "" {
		p.fail("expected a unit")
	}
	p.i++
	r := p.since(start)
	if n > 0 || p.intervalValueAhead() {
		p.failCode(r, "_LEGACY_ERROR_TEMP_0027", "Can only have a single from-to unit in the interval literal syntax")
	}
	f, ok1 := fieldWords[from]
	e, ok2 := fieldWords[to]
	if !ok1 || !ok2 || e <= f || f <= ast.Month != (e <= ast.Month) {
		p.failCode(r, "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION",
			"Error parsing '"+clip(v)+"' to interval: cannot support (interval '"+clip(v)+"' "+strings.ToLower(from)+" to "+strings.ToLower(to)+") expression.")
	}
	lit := &ast.IntervalLit{Pos: ast.Pos{Span: r}, Start: f, End: e}
	if f == ast.Year {
		lit.Months = p.yearMonth(r, v)
	} else {
		lit.Micros = p.dayTime(r, v, f, e)
	}
	return lit
}

// yearMonth reads [+|-]y-m.
func (p *parser) yearMonth(r diag.Range, v string) int32 {
	s, neg := cutSign(v)
	y, m, ok := strings.Cut(s, "-")
	years, ok1 := parseDigits(y)
	months, ok2 := parseDigits(m)
	if !ok || !ok1 || !ok2 || y == "" || m == "" {
		p.failCode(r, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING", "Error parsing '"+clip(v)+
			"' to interval: interval string does not match year-month format of `[+|-]y-m` when cast to interval year to month.")
	}
	if months > 11 {
		p.failCode(r, "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING", "Error parsing '"+clip(v)+
			"' to interval: month must be between 0 and 11.")
	}
	total, over := mulOver(years, 12)
	if total += months; over || signed(total, neg) != int64(int32(signed(total, neg))) {
		p.failCode(r, "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING", "Error parsing '"+clip(v)+"' to interval: the value is out of range.")
	}
	return int32(signed(total, neg))
}

// dayTime reads a text such as "1 02:03:04.5" for the fields from f to e.
func (p *parser) dayTime(r diag.Range, v string, f, e ast.IntervalField) int64 {
	s, neg := cutSign(v)
	var parts []string
	if f == ast.Day {
		d, rest, ok := strings.Cut(s, " ")
		rest = strings.TrimSpace(rest)
		if !ok {
			p.unmatched(r, v, f, e)
		}
		parts = append(parts, d)
		s = rest
	}
	parts = append(parts, strings.Split(s, ":")...)
	if len(parts) != int(e-f)+1 {
		p.unmatched(r, v, f, e)
	}
	total := int64(0) // below zero, where there is one more
	for i, part := range parts {
		field := f + ast.IntervalField(i)
		whole, frac, point := strings.Cut(part, ".")
		n, ok := parseDigits(whole)
		micros, okFrac := fractionMicros(frac)
		if !ok || !okFrac || whole == "" || point && field != ast.Second || i > 0 && len(whole) > 2 {
			p.unmatched(r, v, f, e)
		}
		if limit := map[ast.IntervalField]int64{ast.Hour: 23, ast.Minute: 59, ast.Second: 59}[field]; i > 0 && n > limit {
			p.failCode(r, "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING", "Error parsing '"+clip(v)+"' to interval: a field is out of range.")
		}
		m, over := mulOver(n, fieldMicros(field))
		total -= m + micros
		if over || total > 0 || total == math.MinInt64 && !neg {
			p.intervalOverflow(r, v)
		}
	}
	return signed(total, !neg)
}

func (p *parser) unmatched(r diag.Range, v string, f, e ast.IntervalField) {
	p.failCode(r, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING_WITH_NOTICE", "Error parsing '"+clip(v)+
		"' to interval: interval string does not match day-time format of "+ast.DayTimeFormat(f, e)+".")
}

func fieldMicros(f ast.IntervalField) int64 {
	switch f {
	case ast.Day:
		return microsPerDay
	case ast.Hour:
		return microsPerHour
	case ast.Minute:
		return microsPerMinute
	}
	return microsPerSecond
}

// cutSign splits the sign off a number text. Two minus signs cancel.
func cutSign(v string) (string, bool) {
	neg := false
	for len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		neg = neg != (v[0] == '-')
		v = v[1:]
	}
	return v, neg
}
