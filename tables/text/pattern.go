package text

// Pattern is a compiled Java date-time pattern. It is immutable.
type Pattern struct {
	text  string
	items []item
}

// String returns the pattern as written.
func (p *Pattern) String() string { return p.text }

// field is what an item of a pattern reads or prints.
type field uint8

const (
	fieldLiteral field = iota
	fieldYear          // proleptic
	fieldYearOfEra
	fieldYear2 // two digits, base 2000
	fieldEra
	fieldQuarter
	fieldMonth
	fieldDay
	fieldDayOfYear
	fieldWeekday
	fieldAlignedWeek // F
	fieldAMPM
	fieldHour        // H 0-23
	fieldClockHour   // k 1-24
	fieldHour12      // K 0-11
	fieldClockHour12 // h 1-12
	fieldMinute
	fieldSecond
	fieldFraction
	fieldZoneID
	fieldZoneName
	fieldOffset    // X, x, Z
	fieldLocalized // O, ZZZZ
	fieldOptional  // [ ; skip is the number of items up to its end
	fieldOptionalEnd
)

// item is one step of a pattern.
type item struct {
	field    field
	text     string // fieldLiteral
	min, max int    // digits of a number, letters of a text form
	exceeds  bool   // a sign is printed when the number is wider than min
	reserve  int    // digits that the following numbers need (adjacent values)
	offset   offsetStyle
	zero     string // the text of offset zero
	skip     int
}

// PatternError says why a pattern is refused, with Spark's class.
type PatternError struct {
	Class   string // Spark's error class with its subclass
	Pattern string
	Detail  string // the letter or part at fault
}

func (e *PatternError) Error() string {
	return "[" + e.Class + "] pattern '" + e.Pattern + "' is refused: " + e.Detail
}

// The classes of PatternError.
const (
	ClassPatternRecognition = "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION"
	ClassPatternWeekBased   = "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN"
	ClassPatternIllegal     = "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER"
	ClassPatternLength      = "INVALID_DATETIME_PATTERN.LENGTH"
	ClassPattern            = "INVALID_DATETIME_PATTERN.WITH_SUGGESTION"
)

// CompilePattern compiles a pattern for parsing or for printing; the letters
// that each allows differ. The error is a *PatternError.
func CompilePattern(pattern string, parsing bool) (*Pattern, error) {
	c := compiler{src: pattern, parsing: parsing}
	if e := c.check(); e != nil {
		return nil, legacyError(e)
	}
	if e := c.compile(); e != nil {
		return nil, legacyError(e)
	}
	c.reserveDigits()
	return &Pattern{text: pattern, items: c.items}, nil
}

// legacyError turns the class into the one of Spark's check against the old
// formatter: a pattern that the old one took is not recognised any more.
func legacyError(e *PatternError) *PatternError {
	if legacyPattern(e.Pattern) {
		e.Class = ClassPatternRecognition
	}
	return e
}

// legacyPattern reports whether Java's SimpleDateFormat takes the pattern.
func legacyPattern(p string) bool {
	quoted := false
	for i := 0; i < len(p); {
		c := p[i]
		n := run(p[i:])
		switch {
		case c == '\'':
			quoted = !quoted
			n = 1
		case quoted || !isLetter(c):
		case !inSet(c, "GyYMLwWDdFEuaHkKhmsSzZX"), c == 'X' && n > 3:
			return false
		}
		i += n
	}
	return !quoted
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func inSet(c byte, set string) bool {
	for i := 0; i < len(set); i++ {
		if set[i] == c {
			return true
		}
	}
	return false
}

// run returns how often the first byte of s repeats.
func run(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

type compiler struct {
	src     string
	parsing bool
	era     bool // a G outside quotes: y stays the year of the era
	items   []item
	open    []int // places of fieldOptional not yet closed
}

func (c *compiler) fail(class, detail string) *PatternError {
	return &PatternError{Class: class, Pattern: c.src, Detail: detail}
}

// check refuses the letters and lengths that Spark refuses itself, part by
// part between quotes.
func (c *compiler) check() *PatternError {
	quoted := false
	for start, i := 0, 0; i <= len(c.src); i++ {
		if i < len(c.src) && c.src[i] != '\'' {
			continue
		}
		if !quoted {
			if e := c.checkPart(c.src[start:i]); e != nil {
				return e
			}
		}
		quoted, start = !quoted, i+1
	}
	return nil
}

func (c *compiler) checkPart(part string) *PatternError {
	for i := 0; i < len(part); i++ {
		if inSet(part[i], "YWwuec") {
			return c.fail(ClassPatternWeekBased, part[i:i+1])
		}
		c.era = c.era || part[i] == 'G'
	}
	for i := 0; i < len(part); i++ {
		if inSet(part[i], "ABnNp") || c.parsing && inSet(part[i], "EFqQ") {
			return c.fail(ClassPatternIllegal, part[i:i+1])
		}
	}
	for i := 0; i < len(part); {
		n := run(part[i:])
		if inSet(part[i], "GMLEQq") && n >= 5 || part[i] == 'y' && n >= 7 {
			return c.fail(ClassPatternLength, part[i:i+n])
		}
		i += n
	}
	return nil
}

// compile turns the letters into items.
func (c *compiler) compile() *PatternError {
	for i := 0; i < len(c.src); {
		ch := c.src[i]
		n := run(c.src[i:])
		switch {
		case isLetter(ch):
			if e := c.letter(ch, n); e != nil {
				return e
			}
		case ch == '\'':
			end, lit, ok := quotedText(c.src[i:])
			if !ok {
				return c.fail(ClassPattern, "a quote is not closed")
			}
			c.literal(lit)
			n = end
		case ch == '[':
			n = 1
			c.open = append(c.open, len(c.items))
			c.items = append(c.items, item{field: fieldOptional})
		case ch == ']':
			n = 1
			if len(c.open) == 0 {
				return c.fail(ClassPattern, "] without [")
			}
			c.closeOptional()
		case ch == '{' || ch == '}' || ch == '#':
			return c.fail(ClassPattern, "reserved character "+string(ch))
		default:
			c.literal(c.src[i : i+n])
		}
		i += n
	}
	for len(c.open) > 0 {
		c.closeOptional()
	}
	return nil
}

func (c *compiler) closeOptional() {
	at := c.open[len(c.open)-1]
	c.open = c.open[:len(c.open)-1]
	c.items[at].skip = len(c.items) - at
	c.items = append(c.items, item{field: fieldOptionalEnd})
}

// quotedText reads a quoted literal from its opening quote on; ” inside, and
// the empty literal, stand for one quote.
func quotedText(s string) (end int, lit string, ok bool) {
	var b []byte
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b = append(b, s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' && i > 1 {
			b = append(b, '\'')
			i++
			continue
		}
		if len(b) == 0 {
			b = append(b, '\'')
		}
		return i + 1, string(b), true
	}
	return 0, "", false
}

func (c *compiler) literal(s string) {
	if n := len(c.items); n > 0 && c.items[n-1].field == fieldLiteral {
		c.items[n-1].text += s
		return
	}
	c.items = append(c.items, item{field: fieldLiteral, text: s})
}

func (c *compiler) add(it item) *PatternError {
	c.items = append(c.items, it)
	return nil
}

// number adds a number of n letters; more than most are refused.
func (c *compiler) number(f field, n, most int, ch byte) *PatternError {
	switch {
	case n > most:
		return c.fail(ClassPattern, "too many letters "+string(ch))
	case n == 1:
		return c.add(item{field: f, min: 1, max: 19})
	}
	return c.add(item{field: f, min: n, max: n})
}

// letter adds the item of n equal letters.
//
//tidy:allow-long a flat switch over the pattern letters
func (c *compiler) letter(ch byte, n int) *PatternError {
	tooMany := func() *PatternError { return c.fail(ClassPattern, "too many letters "+string(ch)) }
	switch ch {
	case 'y':
		f := fieldYear
		if c.era {
			f = fieldYearOfEra
		}
		if n == 2 {
			return c.add(item{field: fieldYear2, min: 2, max: 2})
		}
		return c.add(item{field: f, min: n, max: 19, exceeds: n >= 4})
	case 'G':
		return c.add(item{field: fieldEra, min: n})
	case 'M', 'L':
		if n <= 2 {
			return c.number(fieldMonth, n, 2, ch)
		}
		return c.add(item{field: fieldMonth, min: 0, max: n})
	case 'Q', 'q':
		if n <= 2 {
			return c.number(fieldQuarter, n, 2, ch)
		}
		return c.add(item{field: fieldQuarter, min: 0, max: n})
	case 'd':
		return c.number(fieldDay, n, 2, ch)
	case 'D':
		if n > 3 {
			return tooMany()
		}
		if n == 1 {
			return c.add(item{field: fieldDayOfYear, min: 1, max: 19})
		}
		return c.add(item{field: fieldDayOfYear, min: n, max: 3})
	case 'E':
		return c.add(item{field: fieldWeekday, max: max(n, 3)})
	case 'F':
		return c.number(fieldAlignedWeek, n, 1, ch)
	case 'a':
		if n > 1 {
			return tooMany()
		}
		return c.add(item{field: fieldAMPM})
	case 'H':
		return c.number(fieldHour, n, 2, ch)
	case 'k':
		return c.number(fieldClockHour, n, 2, ch)
	case 'K':
		return c.number(fieldHour12, n, 2, ch)
	case 'h':
		return c.number(fieldClockHour12, n, 2, ch)
	case 'm':
		return c.number(fieldMinute, n, 2, ch)
	case 's':
		return c.number(fieldSecond, n, 2, ch)
	case 'S':
		if n > 9 {
			return tooMany()
		}
		return c.add(item{field: fieldFraction, min: n, max: n})
	case 'V':
		if n != 2 {
			return c.fail(ClassPattern, "the letter V must be written twice")
		}
		return c.add(item{field: fieldZoneID})
	case 'z':
		if n > 4 {
			return tooMany()
		}
		return c.add(item{field: fieldZoneName, max: n})
	case 'O':
		if n != 1 && n != 4 {
			return c.fail(ClassPattern, "the letter O must be written once or four times")
		}
		return c.add(item{field: fieldLocalized, max: n})
	case 'X', 'x', 'Z':
		return c.offset(ch, n)
	}
	return c.fail(ClassPattern, "unknown letter "+string(ch))
}

// offset adds the item of the letters X, x and Z.
func (c *compiler) offset(ch byte, n int) *PatternError {
	if n > 5 {
		return c.fail(ClassPattern, "too many letters "+string(ch))
	}
	it := item{field: fieldOffset}
	if ch == 'Z' {
		switch n {
		case 4:
			return c.add(item{field: fieldLocalized, max: 4})
		case 5:
			it.offset, it.zero = offsetColonSeconds, "Z"
		default:
			it.offset, it.zero = offsetNoColon, "+0000"
		}
		return c.add(it)
	}
	it.offset = [...]offsetStyle{offsetHourMinute, offsetNoColon, offsetColon, offsetNoColonSecs, offsetColonSeconds}[n-1]
	switch {
	case ch == 'X':
		it.zero = "Z"
	case n == 1:
		it.zero = "+00"
	case n == 2 || n == 4:
		it.zero = "+0000"
	default:
		it.zero = "+00:00"
	}
	return c.add(it)
}

// reserveDigits notes on each number of variable width how many digits the
// numbers of fixed width right behind it take. A fraction counts when it has
// one letter; a longer one may be read short and so is not fixed.
func (c *compiler) reserveDigits() {
	head := -1
	for i := range c.items {
		it := &c.items[i]
		number := it.field >= fieldYear && it.field <= fieldFraction && it.min > 0 && it.field != fieldEra
		fixed := it.min == it.max
		switch {
		case !number || it.field == fieldFraction && it.max > 1:
			head = -1
		case fixed && head >= 0:
			c.items[head].reserve += it.max
		case fixed: // reserves nothing, the next variable one starts anew
		default:
			head = i
		}
	}
}
