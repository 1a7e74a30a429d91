package funcs

import (
	"math"

	"pipelines/tables/schema"
	"pipelines/tables/text"
)

var timeBucketFunctions = []*Function{
	custom("time_bucket", "datetime", "time_bucket(bucketSize, ts[, origin])", "Start of the bucket of time that a timestamp falls into. Buckets are counted from the origin, 1970 when it is left out; those of whole days and of months follow the session's calendar.", bindTimeBucket).
		example("SELECT time_bucket(INTERVAL '15' MINUTE, TIMESTAMP_NTZ '2024-12-04 14:37:00')", "2024-12-04 14:30:00"),
}

const wantTimestamp = `"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)"`

func bindTimeBucket(s *Session, args []Arg) (*Bound, error) {
	const name = "time_bucket"
	if err := checkCount(name, 2, 3, len(args)); err != nil {
		return nil, err
	}
	t, kind, err := bucketTypes(args)
	if err != nil {
		return nil, err
	}
	size := args[0]
	b := &Bound{Args: []schema.Type{size.Type, t}, Result: t, Nullable: true, CanFail: true, Print: func(a []string) string {
		if len(a) == 2 {
			a = []string{a[0], a[1], kind + " '1970-01-01 00:00:00'"}
		}
		return name + "(" + joinTexts(a) + ")"
	}}
	if size.Const == nil {
		return nil, errNotFoldable(timeBucketCall(args, kind), "bucketSize", size.Type, size)
	}
	k := bucketing{zone: text.UTC, months: size.Type.Kind == schema.YearMonthInterval}
	if t.Kind == schema.Timestamp {
		k.zone = s.zone()
		k.origin = k.zone.ToInstant(0)
	}
	known := !size.Const.IsNull(0)
	if known {
		if k.size = intervalValue(size.Const); k.size <= 0 {
			return nil, errValueRange(timeBucketCall(args, kind), "bucketSize", "(0, inf)", size.Text)
		}
	}
	if len(args) == 3 {
		origin := args[2]
		if origin.Const == nil {
			return nil, errNotFoldable(timeBucketCall(args, kind), "origin", t, origin)
		}
		b.Args = append(b.Args, t)
		if origin.Const.IsNull(0) {
			known = false
		} else {
			k.origin = origin.Const.I64[0]
		}
	}
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		if !known {
			c.live(out, out.SetNull)
			return
		}
		c.live(out, func(i int) {
			m, ok := k.start(args[1].I64[args[1].Row(i)])
			if !ok {
				c.Fail(out, i, errOverflow("long overflow", ""))
				return
			}
			out.I64[i] = m
		})
	}
	return b, nil
}

// intervalValue is the months or microseconds of a constant interval, 0 for
// one without a type.
func intervalValue(v *vector) int64 {
	switch v.Type.Kind {
	case schema.YearMonthInterval:
		return int64(v.I32[0])
	case schema.DayTimeInterval:
		return v.I64[0]
	}
	return 0
}

// bucketTypes checks the types of a call: the result's and its name in a literal.
func bucketTypes(args []Arg) (t schema.Type, kind string, err error) {
	t = tTime
	for _, a := range args[1:] {
		if a.Type.Kind == schema.TimestampNTZ {
			t = a.Type
		}
		if a.Type.Kind != schema.Void {
			break
		}
	}
	kind = "TIMESTAMP"
	if t.Kind == schema.TimestampNTZ {
		kind = "TIMESTAMP_NTZ"
	}
	call := timeBucketCall(args, kind)
	switch args[0].Type.Kind {
	case schema.YearMonthInterval, schema.DayTimeInterval, schema.Void:
	default:
		return t, kind, errInputType(call, 0, `("INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH")`, args[0])
	}
	for i, a := range args[1:] {
		switch {
		case a.Type.Kind == schema.Void || a.Type.Kind == t.Kind:
		case a.Type.Kind != schema.Timestamp && a.Type.Kind != schema.TimestampNTZ:
			return t, kind, errInputType(call, i+1, wantTimestamp, a)
		default:
			return t, kind, errInputType(call, i+1, quoteType(t), a)
		}
	}
	return t, kind, nil
}

func timeBucketCall(args []Arg, kind string) string {
	if len(args) == 2 {
		args = append(args[:2:2], Arg{Text: kind + " '1970-01-01 00:00:00'"})
	}
	return callText("time_bucket", args)
}

// bucketing is how time is cut: into sizes of months or of microseconds.
type bucketing struct {
	size, origin int64
	months       bool
	zone         *text.Zone
}

// start is where the bucket of an instant starts. Sizes below a day are of
// elapsed time; a longer size is whole days and months of the zone's calendar
// from the origin on, and then the time beyond days.
func (k bucketing) start(m int64) (int64, bool) {
	if !k.months && (k.size < text.MicrosPerDay || k.zone.IsUTC()) {
		d := m - k.origin
		if (d > m) != (k.origin < 0) && k.origin != 0 {
			return 0, false
		}
		from := floorDiv(d, k.size) * k.size
		s := k.origin + from
		return s, from <= d && (from < 0) == (s < k.origin)
	}
	local, origin := k.zone.ToLocal(m), k.zone.ToLocal(k.origin)
	d := local - origin
	if (d > local) != (origin < 0) && origin != 0 {
		return 0, false
	}
	n := floorDiv(d, k.size)
	if k.months {
		n = floorDiv(wholeMonths(origin, local), k.size)
	}
	for {
		next, ok := k.at(origin, n+1)
		if !ok || next > m {
			break
		}
		n++
	}
	for {
		s, ok := k.at(origin, n)
		if !ok || s <= m {
			return s, ok
		}
		n--
	}
}

// at is where bucket n starts, if time reaches as far; the origin is a local
// time.
func (k bucketing) at(origin, n int64) (int64, bool) {
	if k.months {
		day, ofDay := text.SplitMicros(origin)
		local, ok := mulAdd(text.AddMonths(day, n*k.size), ofDay)
		return k.zone.ToInstant(local), ok
	}
	from := n * k.size
	if n != 0 && (from/n != k.size || from%n != 0) {
		return 0, false
	}
	days, rest := from/text.MicrosPerDay, from%text.MicrosPerDay
	local, ok := mulAdd(days, origin)
	return k.zone.ToInstant(local) + rest, ok
}

// mulAdd is days in microseconds and m more; ok is false when that is less than
// two days from where time ends.
func mulAdd(days, m int64) (sum int64, ok bool) {
	const far = math.MaxInt64/text.MicrosPerDay - 2
	if all := days + m/text.MicrosPerDay; days < -2*far || days > 2*far || all < -far || all > far {
		return 0, false
	}
	return days*text.MicrosPerDay + m, true
}
