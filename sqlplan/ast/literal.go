package ast

// NullLit is NULL.
type NullLit struct{ Pos }

// BoolLit is TRUE or FALSE.
type BoolLit struct {
	Pos
	Value bool
}

// NumberKind says how a number was written.
type NumberKind uint8

// The kinds of numbers.
const (
	Integer     NumberKind = iota // 12: INT, BIGINT or DECIMAL by size
	Decimal                       // 1.2: DECIMAL(p, s)
	Exponent                      // 1e3: DOUBLE
	TinyintNum                    // 1Y
	SmallintNum                   // 1S
	BigintNum                     // 1L
	FloatNum                      // 1F
	DoubleNum                     // 1D
	BigDecimal                    // 1BD: DECIMAL
)

// NumberLit is a number. Text has the sign (a minus directly before a number
// belongs to it) and no suffix. Its value is known to fit its kind.
type NumberLit struct {
	Pos
	Kind NumberKind
	Text string
}

// StringLit is a text with its escapes resolved; adjacent literals are joined.
type StringLit struct {
	Pos
	Value string
}

// BinaryLit is X'...'.
type BinaryLit struct {
	Pos
	Value []byte
}

// TypedKind is the word before a typed literal.
type TypedKind uint8

// The kinds of typed literals.
const (
	DateLit TypedKind = iota
	TimeLit
	TimestampLit // with or without zone by spark.sql.timestampType and the text
	TimestampNTZLit
	TimestampLTZLit
)

// TypedLit is DATE '...', TIME '...' or TIMESTAMP[_NTZ|_LTZ] '...'. The binder
// reads Value (it knows the session's zone) and raises INVALID_TYPED_LITERAL.
type TypedLit struct {
	Pos
	Kind  TypedKind
	Value string
}

// IntervalField is a unit of time of an interval type.
type IntervalField uint8

// The fields, from the largest. NoField means that none was written. Weeks and
// units below a second occur in literals only and are folded into the value.
const (
	NoField IntervalField = iota
	Year
	Month
	Day
	Hour
	Minute
	Second
)

// IntervalLit is an interval literal. Its value is worked out by the parser:
// Months for year-month intervals, Micros for day-time ones; a calendar one
// (Start is NoField; only under spark.sql.legacy.interval.enabled or from
// make_interval) uses all three.
type IntervalLit struct {
	Pos
	Start, End IntervalField // equal for a single field
	Months     int32
	Days       int32 // of calendar intervals only
	Micros     int64
}

// String returns the field's word in lower case.
func (f IntervalField) String() string {
	return [...]string{"", "year", "month", "day", "hour", "minute", "second"}[f]
}

// DayTimeFormat names the text form of a day-time interval for messages.
func DayTimeFormat(from, to IntervalField) string {
	s := map[IntervalField]string{Day: "d h", Hour: "h", Minute: "m", Second: "s"}[from]
	if from == Day && to == Day {
		s = "d"
	}
	for f := max(from, Hour) + 1; f <= to; f++ {
		s += map[IntervalField]string{Minute: ":m", Second: ":s.n"}[f]
	}
	return "`[+|-]" + s + "` when cast to interval " + from.String() + " to " + to.String()
}
