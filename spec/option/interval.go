package option

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
)

// Interval is a length of time in Spark's three parts.
type Interval struct {
	Months int64
	Days   int64
	Micros int64
}

// Duration returns the interval as a fixed length; ok is false when it has
// months, which have no fixed length, or does not fit.
func (iv Interval) Duration() (d time.Duration, ok bool) {
	const day = int64(24 * time.Hour / time.Microsecond)
	if iv.Months != 0 || iv.Days > math.MaxInt64/1000/day || iv.Days < math.MinInt64/1000/day {
		return 0, false
	}
	days := iv.Days * day
	sum := days + iv.Micros
	if (sum > days) != (iv.Micros > 0) || sum > math.MaxInt64/1000 || sum < math.MinInt64/1000 {
		return 0, false
	}
	return time.Duration(sum) * time.Microsecond, true
}

type unit struct {
	months, days, micros int64
}

// ParseInterval reads Spark's interval texts: "10 seconds",
// "interval 1 hour 30 minutes", "1.5 seconds". Units ignore case.
func ParseInterval(text string) (Interval, error) {
	words, err := intervalWords(text)
	if err != nil {
		return Interval{}, err
	}
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return Interval{}, fmt.Errorf("%q is no interval", text)
	}
	var iv Interval
	for i := 0; i < len(words); i += 2 {
		u, ok := intervalUnit(words[i+1])
		if !ok {
			return Interval{}, fmt.Errorf("%q is no unit of time", words[i+1])
		}
		if err := iv.add(words[i], u); err != nil {
			return Interval{}, err
		}
	}
	return iv, nil
}

// intervalWords splits "5minutes -1 hour" into numbers and unit words.
func intervalWords(text string) ([]string, error) {
	var out []string
	for _, f := range strings.Fields(strings.ToLower(text)) {
		i := strings.IndexFunc(f, unicode.IsLetter)
		switch {
		case i <= 0:
			out = append(out, f)
		default:
			out = append(out, f[:i], f[i:])
		}
	}
	if len(out) > 64 {
		return nil, fmt.Errorf("%.40q… is no interval", text)
	}
	return out, nil
}

func intervalUnit(word string) (unit, bool) {
	switch strings.TrimSuffix(word, "s") {
	case "year":
		return unit{months: 12}, true
	case "month":
		return unit{months: 1}, true
	case "week":
		return unit{days: 7}, true
	case "day":
		return unit{days: 1}, true
	case "hour":
		return unit{micros: 3600e6}, true
	case "minute":
		return unit{micros: 60e6}, true
	case "second":
		return unit{micros: 1e6}, true
	case "millisecond":
		return unit{micros: 1e3}, true
	case "microsecond":
		return unit{micros: 1}, true
	}
	return unit{}, false
}

// add adds number × unit. Only seconds may have a fraction, as in Spark.
func (iv *Interval) add(number string, u unit) error {
	whole, frac, hasFrac := strings.Cut(strings.TrimPrefix(number, "+"), ".")
	neg := strings.HasPrefix(whole, "-")
	n, err := parseDigits(strings.TrimPrefix(whole, "-"))
	if err != nil || strings.HasPrefix(number, "+-") {
		return fmt.Errorf("%q is no number", number)
	}
	var fraction int64
	if hasFrac {
		if u.micros != 1e6 || len(frac) > 9 {
			return fmt.Errorf("%q: only seconds may have a fraction, of at most nine digits", number)
		}
		f, err := parseDigits((frac + "000000")[:6])
		if err != nil {
			return fmt.Errorf("%q is no number", number)
		}
		fraction = f
	}
	if neg {
		n, fraction = -n, -fraction
	}
	for _, p := range []struct {
		sum  *int64
		unit int64
	}{{&iv.Months, u.months}, {&iv.Days, u.days}, {&iv.Micros, u.micros}} {
		if p.unit == 0 {
			continue
		}
		if n > math.MaxInt64/4/p.unit || n < -math.MaxInt64/4/p.unit {
			return fmt.Errorf("%q is too large", number)
		}
		next := *p.sum + n*p.unit
		if next > math.MaxInt64/2 || next < -math.MaxInt64/2 {
			return fmt.Errorf("%q is too large", number)
		}
		*p.sum = next
	}
	iv.Micros += fraction
	return nil
}

func parseDigits(s string) (int64, error) {
	if s == "" || len(s) > 18 {
		return 0, fmt.Errorf("%q is no number", s)
	}
	var n int64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%q is no number", s)
		}
		n = n*10 + int64(c-'0')
	}
	return n, nil
}
