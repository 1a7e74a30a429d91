package main

import (
	"strconv"
	"time"
)

const (
	gamma = 0x9E3779B97F4A7C15
	mulN  = 0xD1342543DE82EF95
)

// rng is a splitmix generator.
type rng struct{ s uint64 }

// stream is the generator of row n of a table.
func stream(seed, table uint64, n int64) rng {
	r := rng{seed ^ table<<56 ^ uint64(n)*mulN}
	r.next()
	return r
}

func (r *rng) next() uint64 {
	r.s += gamma
	z := r.s
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// between is uniform in lo to hi, both inclusive.
func (r *rng) between(lo, hi int64) int64 {
	return lo + int64(((r.next()>>32)*uint64(hi-lo+1))>>32)
}

func (r *rng) of(words []string) string { return words[r.between(0, int64(len(words)-1))] }

// text appends words of about lo to hi characters.
func (r *rng) text(b []byte, lo, hi int64) []byte {
	want, start := int(r.between(lo, hi)), len(b)
	for len(b)-start < want {
		if len(b) > start {
			b = append(b, ' ')
		}
		b = append(b, r.of(words)...)
	}
	return b[:start+want]
}

// cents appends a number with two decimals.
func cents(b []byte, v int64) []byte {
	if v < 0 {
		b, v = append(b, '-'), -v
	}
	b = strconv.AppendInt(b, v/100, 10)
	return append(b, '.', byte('0'+v/10%10), byte('0'+v%10))
}

// padded appends v with at least n digits.
func padded(b []byte, v int64, n int) []byte {
	s := strconv.FormatInt(v, 10)
	for k := len(s); k < n; k++ {
		b = append(b, '0')
	}
	return append(b, s...)
}

var (
	firstDay = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(1998, 8, 2, 0, 0, 0, 0, time.UTC)
	// turn is the day on which "now" is.
	turn = days(time.Date(1995, 6, 17, 0, 0, 0, 0, time.UTC))
)

func days(t time.Time) int64 { return int64(t.Sub(firstDay).Hours() / 24) }

// date appends the day with a number from firstDay on.
func date(b []byte, day int64) []byte {
	return firstDay.AddDate(0, 0, int(day)).AppendFormat(b, "2006-01-02")
}
