package text

import (
	"math"

	"pipelines/tables/schema"
)

// ParseYearMonth reads an interval of the given fields: 1-2, or the literal
// INTERVAL '1-2' YEAR TO MONTH; signs and blanks around are allowed.
func ParseYearMonth(b []byte, from, to schema.IntervalField) (months int32, st IntervalStatus) {
	body, neg, ok := intervalBody(Trim(b), from, to)
	if !ok {
		return 0, IntervalInvalid
	}
	s := cursor{b: body}
	neg = s.sign() != neg
	total, ok := s.digits(10)
	if !ok {
		return 0, IntervalInvalid
	}
	if from == schema.Year {
		total *= 12
		if to == schema.Month {
			if !s.skip('-') {
				return 0, IntervalInvalid
			}
			m, ok := s.digits(10)
			if !ok || !s.done() {
				return 0, IntervalInvalid
			}
			if m > 11 {
				return 0, IntervalRange
			}
			total += m
		}
	}
	if !s.done() {
		return 0, IntervalInvalid
	}
	if neg {
		total = -total
	}
	if !fitsInt32(total) {
		return 0, IntervalOverflow
	}
	return int32(total), IntervalOK
}

// ParseDayTime reads an interval of the given fields: 1 02:03:04.5, or the
// literal INTERVAL '1 02:03:04.5' DAY TO SECOND.
func ParseDayTime(b []byte, from, to schema.IntervalField) (micros int64, st IntervalStatus) {
	body, neg, ok := intervalBody(Trim(b), from, to)
	if !ok {
		return 0, IntervalInvalid
	}
	s := cursor{b: body}
	neg = s.sign() != neg
	sum, fits := int64(0), true
	for f := from; f <= to; f++ {
		if f > from && !s.skip(intervalSeparator(f)) {
			return 0, IntervalInvalid
		}
		most := 2
		if f == from {
			most = 18
		}
		n, ok := s.digits(most)
		if !ok {
			return 0, IntervalInvalid
		}
		if f > from && (f == schema.Hour && n > 23 || n > 59) {
			st = IntervalRange
		}
		part, ok := mulAdd(n, dayTimeUnits[f], 0)
		fits = fits && (ok || n == 0)
		sum, ok = addExact(sum, part)
		fits = fits && (ok || part == 0)
	}
	if to == schema.Second && s.skip('.') {
		frac, ok := s.fraction()
		if !ok {
			return 0, IntervalInvalid
		}
		sum += frac
	}
	switch {
	case !s.done():
		return 0, IntervalInvalid
	case st != IntervalOK:
		return 0, st
	case !fits || sum < 0:
		return 0, IntervalOverflow
	case neg:
		sum = -sum
	}
	return sum, IntervalOK
}

// intervalBody takes the frame INTERVAL [sign]'...' FIELDS off, if there.
func intervalBody(b []byte, from, to schema.IntervalField) (body []byte, neg, ok bool) {
	if !hasFold(b, "INTERVAL") {
		return b, false, true
	}
	s := cursor{b: b[len("INTERVAL"):]}
	if !s.blanks() {
		return nil, false, false
	}
	neg = s.sign()
	if !s.skip('\'') {
		return nil, false, false
	}
	end := 0
	for end < len(s.b) && s.b[end] != '\'' {
		end++
	}
	body, s.b = s.b[:end], s.b[end:]
	if !s.skip('\'') || !s.blanks() || !s.word(intervalFieldNames[from]) {
		return nil, false, false
	}
	if to != from && (!s.blanks() || !s.word("TO") || !s.blanks() || !s.word(intervalFieldNames[to])) {
		return nil, false, false
	}
	return body, neg, s.done()
}

// cursor reads small pieces of a text.
type cursor struct{ b []byte }

func (c *cursor) done() bool { return len(c.b) == 0 }

func (c *cursor) skip(ch byte) bool {
	if len(c.b) == 0 || c.b[0] != ch {
		return false
	}
	c.b = c.b[1:]
	return true
}

func (c *cursor) word(w string) bool {
	if !hasFold(c.b, w) {
		return false
	}
	c.b = c.b[len(w):]
	return true
}

// blanks skips white space and reports whether there was some.
func (c *cursor) blanks() bool {
	n := len(c.b)
	for len(c.b) > 0 && (c.b[0] <= ' ') {
		c.b = c.b[1:]
	}
	return len(c.b) < n
}

// sign skips a sign and reports a minus.
func (c *cursor) sign() bool {
	if c.skip('-') {
		return true
	}
	c.skip('+')
	return false
}

// digits reads one to most digits (at most 18).
func (c *cursor) digits(most int) (v int64, ok bool) {
	n := 0
	for n < len(c.b) && n < most && c.b[n]-'0' <= 9 {
		v = v*10 + int64(c.b[n]-'0')
		n++
	}
	c.b = c.b[n:]
	return v, n > 0
}

// fraction reads one to nine digits behind a point as microseconds.
func (c *cursor) fraction() (micros int64, ok bool) {
	n := 0
	for n < len(c.b) && c.b[n]-'0' <= 9 {
		if n < 6 {
			micros = micros*10 + int64(c.b[n]-'0')
		}
		n++
	}
	for d := n; d < 6; d++ {
		micros *= 10
	}
	c.b = c.b[n:]
	return micros, n > 0 && n <= 9
}

// intervalUnits are the words of the loose form, without a plural s.
var intervalUnits = []struct {
	name         string
	months, days int64
	micros       int64
}{
	{name: "year", months: 12}, {name: "month", months: 1}, {name: "week", days: 7}, {name: "day", days: 1},
	{name: "hour", micros: MicrosPerHour}, {name: "minute", micros: MicrosPerMinute},
	{name: "second", micros: MicrosPerSecond}, {name: "millisecond", micros: 1000}, {name: "microsecond", micros: 1},
}

// ParseInterval reads the loose form: 10 seconds, interval 1 hour 30 minutes,
// -1 month. Units ignore case and may stand in any order; only seconds may
// have a fraction.
func ParseInterval(b []byte) (Interval, IntervalStatus) {
	c := cursor{b: Trim(b)}
	if hasFold(c.b, "interval") {
		c.b = c.b[len("interval"):]
		if !c.blanks() {
			return Interval{}, IntervalInvalid
		}
	}
	if c.done() {
		return Interval{}, IntervalInvalid
	}
	var months, days, micros int64
	st := IntervalOK
	for !c.done() {
		var n, frac int64
		neg := c.sign()
		c.blanks()
		n, ok := c.digits(18)
		point := c.skip('.')
		if point {
			var hasFrac bool
			frac, hasFrac = c.fraction()
			ok = ok && (hasFrac || len(c.b) > 0 && c.b[0] <= ' ') || hasFrac
		}
		if !ok || !c.blanks() {
			return Interval{}, IntervalInvalid
		}
		if neg {
			n, frac = -n, -frac
		}
		unit, ok := c.unit()
		if !ok || point && intervalUnits[unit].name != "second" {
			return Interval{}, IntervalInvalid
		}
		u := intervalUnits[unit]
		if !addUnit(&months, n, u.months) || !addUnit(&days, n, u.days) || !addUnit(&micros, n, u.micros) {
			st = IntervalOverflow
		}
		micros += frac
		c.blanks()
	}
	if st == IntervalOK && (!fitsInt32(months) || !fitsInt32(days)) {
		st = IntervalOverflow
	}
	return Interval{Months: int32(months), Days: int32(days), Micros: micros}, st
}

// unit reads the word of a unit.
func (c *cursor) unit() (index int, ok bool) {
	n := 0
	for n < len(c.b) && isLetter(c.b[n]) {
		n++
	}
	w := c.b[:n]
	c.b = c.b[n:]
	for i, u := range intervalUnits {
		if hasFold(w, u.name) && (n == len(u.name) || n == len(u.name)+1 && w[n-1]|0x20 == 's') {
			return i, len(c.b) == 0 || c.b[0] <= ' '
		}
	}
	return 0, false
}

// addUnit adds n units to sum and reports whether it fits.
func addUnit(sum *int64, n, unit int64) bool {
	if unit == 0 || n == 0 {
		return true
	}
	p := n * unit
	if p/unit != n || p == math.MinInt64 {
		return false
	}
	s, ok := addExact(*sum, p)
	*sum = s
	return ok
}

// intervalSeparator is what stands before a field that is not the first.
func intervalSeparator(f schema.IntervalField) byte {
	if f == schema.Hour {
		return ' '
	}
	return ':'
}
