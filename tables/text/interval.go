package text

import (
	"math"
	"strconv"

	"pipelines/tables/schema"
)

// IntervalStatus says how reading an interval went.
type IntervalStatus uint8

// The outcomes of reading an interval.
const (
	IntervalOK       IntervalStatus = iota
	IntervalInvalid                 // not of the form
	IntervalRange                   // a part behind the first is out of range (13 months, 60 minutes)
	IntervalOverflow                // beyond the type
)

// Interval is a calendar interval.
type Interval struct {
	Months, Days int32
	Micros       int64
}

var dayTimeUnits = [...]int64{schema.Day: MicrosPerDay, schema.Hour: MicrosPerHour, schema.Minute: MicrosPerMinute, schema.Second: MicrosPerSecond}

// AppendYearMonth appends the ANSI literal of an interval type:
// INTERVAL '1-2' YEAR TO MONTH.
func AppendYearMonth(dst []byte, months int32, from, to schema.IntervalField) []byte {
	dst = append(dst, "INTERVAL '"...)
	m := int64(months)
	if m < 0 {
		dst, m = append(dst, '-'), -m
	}
	switch {
	case to == schema.Year:
		dst = strconv.AppendInt(dst, m/12, 10)
	case from == schema.Month:
		dst = strconv.AppendInt(dst, m, 10)
	default:
		dst = strconv.AppendInt(append(strconv.AppendInt(dst, m/12, 10), '-'), m%12, 10)
	}
	return appendFields(append(dst, "' "...), from, to)
}

// AppendDayTime appends the ANSI literal of an interval type:
// INTERVAL '1 02:03:04.5' DAY TO SECOND.
func AppendDayTime(dst []byte, micros int64, from, to schema.IntervalField) []byte {
	dst = append(dst, "INTERVAL '"...)
	rest := uint64(micros)
	if micros < 0 {
		dst, rest = append(dst, '-'), -rest
	}
	for f := from; f <= to; f++ {
		unit := uint64(dayTimeUnits[f])
		v := rest / unit
		rest %= unit
		switch {
		case f == from:
		case f == schema.Hour:
			dst = append(dst, ' ')
		default:
			dst = append(dst, ':')
		}
		if v < 10 && f != schema.Day {
			dst = append(dst, '0')
		}
		dst = strconv.AppendUint(dst, v, 10)
	}
	if to == schema.Second {
		dst = appendFraction(dst, int(rest))
	}
	return appendFields(append(dst, "' "...), from, to)
}

var intervalFieldNames = [...]string{"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}

func appendFields(dst []byte, from, to schema.IntervalField) []byte {
	dst = append(dst, intervalFieldNames[from]...)
	if to != from {
		dst = append(append(dst, " TO "...), intervalFieldNames[to]...)
	}
	return dst
}

// AppendYearMonthShell appends 1-2, as the SQL shell prints the interval.
func AppendYearMonthShell(dst []byte, months int32) []byte {
	m := int64(months)
	if m < 0 {
		dst, m = append(dst, '-'), -m
	}
	return strconv.AppendInt(append(strconv.AppendInt(dst, m/12, 10), '-'), m%12, 10)
}

// AppendDayTimeShell appends 1 02:03:04.500000000, as the SQL shell prints
// the interval.
func AppendDayTimeShell(dst []byte, micros int64) []byte {
	rest := uint64(micros)
	if micros < 0 {
		dst, rest = append(dst, '-'), -rest
	}
	dst = append(strconv.AppendUint(dst, rest/uint64(MicrosPerDay), 10), ' ')
	rest %= uint64(MicrosPerDay)
	sec := int(rest / uint64(MicrosPerSecond))
	dst = append2(dst, sec/3600)
	dst = append2(append(dst, ':'), sec/60%60)
	dst = append2(append(dst, ':'), sec%60)
	return appendNanos(append(dst, '.'), int(rest%uint64(MicrosPerSecond))*1000, 9)
}

// AppendInterval appends a calendar interval: 1 years 2 months 3 days 4 hours.
func AppendInterval(dst []byte, iv Interval) []byte {
	start := len(dst)
	part := func(n int64, unit string) {
		if n == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(strconv.AppendInt(dst, n, 10), unit...)
	}
	part(int64(iv.Months/12), " years")
	part(int64(iv.Months%12), " months")
	part(int64(iv.Days), " days")
	part(iv.Micros/MicrosPerHour, " hours")
	part(iv.Micros%MicrosPerHour/MicrosPerMinute, " minutes")
	if rest := iv.Micros % MicrosPerMinute; rest != 0 {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if rest < 0 {
			dst, rest = append(dst, '-'), -rest
		}
		dst = strconv.AppendInt(dst, rest/MicrosPerSecond, 10)
		dst = append(appendFraction(dst, int(rest%MicrosPerSecond)), " seconds"...)
	}
	if len(dst) == start {
		dst = append(dst, "0 seconds"...)
	}
	return dst
}

// addExact returns a + b and whether it fits.
func addExact(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

// fitsInt32 reports whether v fits 32 bits.
func fitsInt32(v int64) bool { return v >= math.MinInt32 && v <= math.MaxInt32 }
