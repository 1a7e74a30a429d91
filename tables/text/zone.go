package text

import (
	"math"
	"sort"
	"sync/atomic"
	"time"
)

// tableEnd is the first second that the transition table does not cover
// (2100-01-01); later instants ask the time package.
const tableEnd = 4102444800

// Zone is a time zone with its transitions as a table. It is immutable but for
// a search hint and safe for concurrent use.
type Zone struct {
	loc    *time.Location
	fixed  bool
	offset int64 // of a fixed zone
	ranges []zoneRange
	hint   atomic.Int32
	named  *zoneCache // of names met in texts; nil: none
}

// zoneRange is a stretch of time [start, end) in seconds with one offset.
type zoneRange struct {
	start, end int64
	offset     int64
}

// UTC is the zone without offset.
var UTC = &Zone{loc: time.UTC, fixed: true, ranges: []zoneRange{{start: math.MinInt64, end: math.MaxInt64}}}

// NewZone builds the table of loc; nil is UTC.
func NewZone(loc *time.Location) *Zone {
	if loc == nil {
		loc = time.UTC
	}
	z := &Zone{loc: loc, named: &zoneCache{}}
	at := time.Unix(0, 0).In(loc)
	for { // back to the first range
		start, _ := at.ZoneBounds()
		if start.IsZero() {
			break
		}
		at = start.Add(-time.Second)
	}
	for start := int64(math.MinInt64); ; {
		_, off := at.Zone()
		next := rangeEnd(at)
		end := int64(math.MaxInt64)
		if !next.IsZero() {
			end = next.Unix()
		}
		if n := len(z.ranges); n > 0 && z.ranges[n-1].offset == int64(off) {
			z.ranges[n-1].end = end
		} else {
			z.ranges = append(z.ranges, zoneRange{start: start, end: end, offset: int64(off)})
		}
		if next.IsZero() || end >= tableEnd {
			break
		}
		start, at = end, next
	}
	z.fixed, z.offset = len(z.ranges) == 1, z.ranges[0].offset
	return z
}

// rangeEnd returns when the zone's state at an instant ends, zero for never.
// The time package may answer with the instant itself on the last day of a
// leap year; a later one is then asked.
func rangeEnd(at time.Time) time.Time {
	for t := at; ; t = t.Add(24 * time.Hour) {
		_, end := t.ZoneBounds()
		if end.IsZero() || end.After(at) {
			return end
		}
	}
}

// Location returns the zone as the time package knows it.
func (z *Zone) Location() *time.Location { return z.loc }

// String returns the zone's id.
func (z *Zone) String() string { return z.loc.String() }

// IsUTC reports a zone whose offset is always zero.
func (z *Zone) IsUTC() bool { return z.fixed && z.offset == 0 }

// find returns the index of the range that holds the second sec.
func (z *Zone) find(sec int64) int {
	h := int(z.hint.Load())
	if r := &z.ranges[h]; sec >= r.start && sec < r.end {
		return h
	}
	i := sort.Search(len(z.ranges), func(i int) bool { return z.ranges[i].end > sec })
	if i == len(z.ranges) {
		i--
	}
	z.hint.Store(int32(i))
	return i
}

// Offset returns the seconds east of UTC at an instant in seconds.
func (z *Zone) Offset(sec int64) int64 {
	if z.fixed {
		return z.offset
	}
	if last := &z.ranges[len(z.ranges)-1]; sec >= last.end {
		_, off := time.Unix(sec, 0).In(z.loc).Zone()
		return int64(off)
	}
	return z.ranges[z.find(sec)].offset
}

// ToLocal turns an instant into the wall clock of the zone.
func (z *Zone) ToLocal(micros int64) int64 {
	if z.fixed {
		return micros + z.offset*MicrosPerSecond
	}
	return micros + z.Offset(floorDiv(micros, MicrosPerSecond))*MicrosPerSecond
}

// ToInstant turns a wall clock into the instant: in a gap the clock is moved
// forward by the gap, in an overlap the earlier instant is taken.
func (z *Zone) ToInstant(local int64) int64 {
	if z.fixed {
		return local - z.offset*MicrosPerSecond
	}
	return local - z.localOffset(floorDiv(local, MicrosPerSecond))*MicrosPerSecond
}

// localOffset returns the offset for a wall clock in seconds.
func (z *Zone) localOffset(sec int64) int64 {
	const widest = 26 * 3600
	if sec+widest >= z.ranges[len(z.ranges)-1].end {
		return z.lateOffset(sec)
	}
	i := z.find(sec - widest)
	for {
		r := &z.ranges[i]
		u := sec - r.offset
		if u < r.end {
			if u < r.start { // the clock jumped over it
				return z.ranges[i-1].offset
			}
			return r.offset
		}
		i++
	}
}

// lateOffset is localOffset beyond the table.
func (z *Zone) lateOffset(sec int64) int64 {
	at := time.Unix(sec-26*3600, 0).In(z.loc)
	_, before := at.Zone()
	prev := int64(before)
	for {
		end := rangeEnd(at)
		_, off := at.Zone()
		u := sec - int64(off)
		if end.IsZero() || u < end.Unix() {
			if u < at.Unix() {
				return prev
			}
			return int64(off)
		}
		prev, at = int64(off), end
	}
}

// Abbreviation returns the short name of the zone at an instant (PST, CET): as
// in Java that of today's standard or daylight saving time, whatever the clocks
// were called then.
func (z *Zone) Abbreviation(micros int64) string {
	at := time.Unix(floorDiv(micros, MicrosPerSecond), 0).In(z.loc)
	for _, month := range [2]time.Month{time.January, time.July} {
		if now := time.Date(2024, month, 1, 0, 0, 0, 0, z.loc); now.IsDST() == at.IsDST() {
			at = now
			break
		}
	}
	name, _ := at.Zone()
	return name
}

// IsDST reports whether daylight saving time holds at an instant.
func (z *Zone) IsDST(micros int64) bool {
	return time.Unix(floorDiv(micros, MicrosPerSecond), 0).In(z.loc).IsDST()
}
