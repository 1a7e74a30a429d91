package text

// The microseconds of the units of time that have a fixed length.
const (
	MicrosPerSecond = int64(1_000_000)
	MicrosPerMinute = 60 * MicrosPerSecond
	MicrosPerHour   = 60 * MicrosPerMinute
	MicrosPerDay    = 24 * MicrosPerHour
	secondsPerDay   = int64(86_400)
)

// IsLeap reports whether the proleptic Gregorian year y is a leap year.
func IsLeap(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

var monthDays = [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// DaysInMonth returns the length of month m (1..12) of year y.
func DaysInMonth(y, m int) int {
	if m == 2 && IsLeap(y) {
		return 29
	}
	return monthDays[m]
}

// ValidDate reports whether the calendar has the day.
func ValidDate(y, m, d int) bool {
	return m >= 1 && m <= 12 && d >= 1 && (d <= 28 || d <= DaysInMonth(y, m))
}

// DaysOf returns the days since 1970-01-01 of a valid date of the proleptic
// Gregorian calendar.
func DaysOf(y, m, d int) int64 {
	yy, mm := int64(y), int64(m)
	if mm <= 2 {
		yy--
		mm += 12
	}
	era := floorDiv(yy, 400)
	yoe := yy - era*400
	doy := (153*(mm-3)+2)/5 + int64(d) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// DateOf is the inverse of DaysOf.
func DateOf(days int64) (y, m, d int) {
	z := days + 719468
	era := floorDiv(z, 146097)
	doe := uint32(z - era*146097)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp) + 3
	y = int(int64(yoe) + era*400)
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

// DayOfYear returns 1 for January the first.
func DayOfYear(y, m, d int) int { return int(DaysOf(y, m, d)-DaysOf(y, 1, 1)) + 1 }

// Weekday returns 0 for Monday to 6 for Sunday.
func Weekday(days int64) int { return int(floorMod(days+3, 7)) }

// WeekOfYear returns the ISO week-based year and week of the day.
func WeekOfYear(days int64) (year, week int) {
	thursday := days - int64(Weekday(days)) + 3
	y, _, _ := DateOf(thursday)
	return y, int((thursday-DaysOf(y, 1, 1))/7) + 1
}

// AddMonths moves a date by n months; the day is cut to the month's length.
func AddMonths(days int64, n int64) int64 {
	y, m, d := DateOf(days)
	total := int64(y)*12 + int64(m-1) + n
	yy := int(floorDiv(total, 12))
	mm := int(floorMod(total, 12)) + 1
	return DaysOf(yy, mm, min(d, DaysInMonth(yy, mm)))
}

// SplitMicros splits a local timestamp into its day and the microseconds of
// that day.
func SplitMicros(local int64) (days, ofDay int64) {
	days = floorDiv(local, MicrosPerDay)
	return days, local - days*MicrosPerDay
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}

// mulAdd returns a*b+c for positive b and whether it fits.
func mulAdd(a, b, c int64) (int64, bool) {
	p := a * b
	if p/b != a {
		return 0, false
	}
	s := p + c
	return s, (s > p) == (c > 0)
}
