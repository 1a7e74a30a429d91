package operator

import (
	"fmt"
	"math/bits"
	"sort"
	"time"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// frameBounds finds the frame of a row: half-open rows [lo, hi). Both ends
// never go back from one row of a partition to the next.
type frameBounds struct {
	frame      logical.Frame
	rows       [2]int      // ROWS offsets, signed
	dist       [2]distance // RANGE offsets, signed
	descending bool
	loc        *time.Location
}

// distance is the offset of a RANGE frame.
type distance struct {
	wide   column.Int128
	float  float64
	months int64
	days   int64
}

func newFrameBounds(bd *builder, f logical.Frame, order []logical.SortKey) (frameBounds, error) {
	fb := frameBounds{frame: f, loc: time.UTC}
	if bd.env.Session != nil && bd.env.Session.Location != nil {
		fb.loc = bd.env.Session.Location
	}
	if len(order) > 0 {
		fb.descending = order[0].Descending
	}
	for i, b := range []logical.FrameBound{f.Start, f.End} {
		if b.Offset == nil {
			continue
		}
		lit, ok := b.Offset.(*logical.Literal)
		if !ok {
			return fb, fmt.Errorf("build plan: the bound of a window frame is not a constant")
		}
		sign := int64(1)
		if b.Kind == logical.Preceding {
			sign = -1
		}
		if f.Unit == logical.Rows {
			fb.rows[i] = int(sign * integerAt(lit.Value, 0))
			continue
		}
		if fb.descending {
			sign = -sign
		}
		fb.dist[i] = distanceOf(lit.Value, order[0].Expr.Type(), sign)
	}
	return fb, nil
}

// integerAt returns row i of a vector of an integer-like type.
func integerAt(v *column.Vector, i int) int64 {
	i = v.Row(i)
	switch column.PhysicalOf(v.Type) {
	case column.PhysI8:
		return int64(v.I8[i])
	case column.PhysI16:
		return int64(v.I16[i])
	case column.PhysI32:
		return int64(v.I32[i])
	case column.PhysI64:
		return v.I64[i]
	}
	panic("bug: operator: integer of type " + v.Type.String())
}

const dayMicros = int64(24 * time.Hour / time.Microsecond)

func distanceOf(v *column.Vector, key schema.Type, sign int64) distance {
	switch v.Type.Kind {
	case schema.YearMonthInterval:
		if key.Kind == schema.YearMonthInterval {
			break
		}
		return distance{months: sign * integerAt(v, 0)}
	case schema.CalendarInterval:
		d := distance{months: sign * integerAt(v.Children[0], 0), days: sign * integerAt(v.Children[1], 0)}
		d.wide = column.FromInt64(sign * integerAt(v.Children[2], 0))
		return d
	case schema.Float32:
		return distance{float: float64(sign) * float64(v.F32[0])}
	case schema.Float64:
		return distance{float: float64(sign) * v.F64[0]}
	}
	if column.PhysicalOf(v.Type) == column.PhysI128 {
		x := v.I128[0]
		if sign < 0 {
			x = negated(x)
		}
		return distance{wide: x}
	}
	x := integerAt(v, 0)
	if key.Kind == schema.Date && v.Type.Kind != schema.DayTimeInterval {
		return distance{wide: times(sign*x, dayMicros)}
	}
	return distance{wide: column.FromInt64(sign * x)}
}

// times is a product; b is positive.
func times(a, b int64) column.Int128 {
	if a < 0 {
		return negated(times(-a, b))
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return column.Int128{Hi: int64(hi), Lo: lo}
}

func negated(x column.Int128) column.Int128 {
	return add128(column.Int128{Hi: ^x.Hi, Lo: ^x.Lo}, column.FromInt64(1))
}

func add128(a, b column.Int128) column.Int128 {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	return column.Int128{Hi: a.Hi + b.Hi + int64(carry), Lo: lo}
}

// point is a key of a RANGE frame on one scale: dates in microseconds.
type point struct {
	wide  column.Int128
	float float64
}

func pointAt(v *column.Vector, i int) point {
	switch v.Type.Kind {
	case schema.Float32:
		return point{float: float64(v.F32[v.Row(i)])}
	case schema.Float64:
		return point{float: v.F64[v.Row(i)]}
	case schema.Date:
		return point{wide: times(int64(v.I32[v.Row(i)]), dayMicros)}
	}
	if column.PhysicalOf(v.Type) == column.PhysI128 {
		return point{wide: v.I128[v.Row(i)]}
	}
	return point{wide: column.FromInt64(integerAt(v, i))}
}

// move adds the distance to a point.
func (d distance) move(p point, loc *time.Location, local bool) point {
	if d.months != 0 || d.days != 0 {
		if local {
			loc = time.UTC
		}
		t := addMonths(instant(p.wide).In(loc), d.months, d.days)
		p.wide = add128(times(t.Unix(), second), column.FromInt64(int64(t.Nanosecond()/1000)))
	}
	return point{wide: add128(p.wide, d.wide), float: p.float + d.float}
}

const second = int64(time.Second / time.Microsecond)

// instant is a number of microseconds, which may be that of a date far beyond
// what 64 bits hold.
func instant(micros column.Int128) time.Time {
	if micros.Hi < 0 {
		hi, lo := negated(micros).Hi, negated(micros).Lo
		s, rest := bits.Div64(uint64(hi), lo, uint64(second))
		return time.Unix(-int64(s), -int64(rest)*1000)
	}
	s, rest := bits.Div64(uint64(micros.Hi), micros.Lo, uint64(second))
	return time.Unix(int64(s), int64(rest)*1000)
}

// utc returns the instant of a timestamp.
func utc(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// addMonths adds months, keeping the day of the month where it exists, and
// days.
func addMonths(t time.Time, months, days int64) time.Time {
	y, m, d := t.Date()
	total := int64(y)*12 + int64(m) - 1 + months
	year, month := int(total/12), time.Month(total%12+1)
	if total%12 < 0 {
		year, month = year-1, month+12
	}
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(year, month, min(d, last)+int(days), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
}

func (p point) compare(o point) int {
	if d := p.wide.Cmp(o.wide); d != 0 {
		return d
	}
	return column.CompareFloat(p.float, o.float)
}

// bounds returns the frame of row i of the partition [from, to).
func (f *frameBounds) bounds(w *windowCall, b *block, i, from, to int) (lo, hi int) {
	if f.frame.Unit == logical.Rows {
		lo, hi = from, to
		switch f.frame.Start.Kind {
		case logical.CurrentRow:
			lo = i
		case logical.Preceding, logical.Following:
			lo = i + f.rows[0]
		}
		switch f.frame.End.Kind {
		case logical.CurrentRow:
			hi = i + 1
		case logical.Preceding, logical.Following:
			hi = i + f.rows[1] + 1
		}
		lo, hi = min(max(lo, from), to), min(max(hi, from), to)
		return lo, max(lo, hi)
	}
	lo, hi = from, to
	switch f.frame.Start.Kind {
	case logical.CurrentRow:
		lo = int(b.begins[i])
	case logical.Preceding, logical.Following:
		lo = f.search(w, b, i, span{from, to}, 0)
	}
	switch f.frame.End.Kind {
	case logical.CurrentRow:
		hi = int(b.ends[i])
	case logical.Preceding, logical.Following:
		hi = f.search(w, b, i, span{from, to}, 1)
	}
	return lo, max(lo, hi)
}

// span is a run of rows [from, to).
type span struct{ from, to int }

// search finds an end of a RANGE frame with an offset. A null key's frame is
// its peers; other frames never hold nulls by an offset.
func (f *frameBounds) search(w *windowCall, b *block, i int, part span, end int) int {
	v, from, to := b.cols[w.order], part.from, part.to
	if v.IsNull(i) {
		if end == 0 {
			return int(b.begins[i])
		}
		return int(b.ends[i])
	}
	first, last := from, to
	if v.IsNull(from) {
		first = from + sort.Search(to-from, func(k int) bool { return !v.IsNull(from + k) })
	} else if v.IsNull(to - 1) {
		last = from + sort.Search(to-from, func(k int) bool { return v.IsNull(from + k) })
	}
	want := f.dist[end].move(pointAt(v, i), f.loc, v.Type.Kind != schema.Timestamp)
	return first + sort.Search(last-first, func(k int) bool {
		c := pointAt(v, first+k).compare(want)
		if f.descending {
			c = -c
		}
		return c > 0 || end == 0 && c == 0
	})
}
