package funcs

import (
	"math"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

var (
	pSeconds  = exactly(schema.DecimalOf(16, 6))
	pSeconds8 = exactly(schema.DecimalOf(18, 6))
)

var datetimeMakeFunctions = []*Function{
	intervalMaker("make_interval", []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}, typ(schema.CalendarInterval), false, makeInterval).
		example("SELECT make_interval(100, 11, 1, 1, 12, 30, 01.001001)", "100 years 11 months 8 days 12 hours 30 minutes 1.001001 seconds"),
	intervalMaker("try_make_interval", []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}, typ(schema.CalendarInterval), true, makeInterval).
		example("SELECT try_make_interval(2147483647)", "NULL"),
	intervalMaker("make_dt_interval", []string{"days", "hours", "mins", "secs"}, typ(schema.DayTimeInterval), false, makeDayTime).
		example("SELECT make_dt_interval(1, 12, 30, 01.001001)", "1 12:30:01.001001000"),
	intervalMaker("make_ym_interval", []string{"years", "months"}, typ(schema.YearMonthInterval), false, makeYearMonth).
		example("SELECT make_ym_interval(1, 2)", "1-2"),
	timestampMaker("make_timestamp", tTime, true, false).example("SELECT make_timestamp(2014, 12, 28, 6, 30, 45.887)", "2014-12-28 06:30:45.887"),
	timestampMaker("try_make_timestamp", tTime, true, true).example("SELECT try_make_timestamp(2024, 13, 22, 15, 30, 0)", "NULL"),
	timestampMaker("make_timestamp_ltz", tTime, true, false).example("SELECT make_timestamp_ltz(2014, 12, 28, 6, 30, 45.887)", "2014-12-28 06:30:45.887"),
	timestampMaker("try_make_timestamp_ltz", tTime, true, true).example("SELECT try_make_timestamp_ltz(2024, 13, 22, 15, 30, 0)", "NULL"),
	timestampMaker("make_timestamp_ntz", tTimeNTZ, false, false).example("SELECT make_timestamp_ntz(2014, 12, 28, 6, 30, 45.887)", "2014-12-28 06:30:45.887"),
	timestampMaker("try_make_timestamp_ntz", tTimeNTZ, false, true).example("SELECT try_make_timestamp_ntz(2024, 13, 22, 15, 30, 0)", "NULL"),
	custom("convert_timezone", "datetime", "convert_timezone([sourceTz, ]targetTz, sourceTs)", "The wall clock of one zone in another.", bindConvertTimezone).
		example("SELECT convert_timezone('Europe/Brussels', 'America/Los_Angeles', TIMESTAMP_NTZ '2021-12-06 00:00:00')", "2021-12-05 15:00:00"),
	timeTyped("time"), timeTyped("make_time"), timeTyped("to_time"), timeTyped("try_to_time"), timeTyped("time_diff"), timeTyped("time_trunc"),
	timeTyped("current_time"), timeTyped("localtime"), timeTyped("time_from_seconds"), timeTyped("time_from_millis"), timeTyped("time_from_micros"),
	timeTyped("time_to_seconds"), timeTyped("time_to_millis"), timeTyped("time_to_micros"),
}

func errTimeType() *Error {
	return NewError("UNSUPPORTED_TIME_TYPE", "The data type TIME is not supported.", nil)
}

// timeTyped lists a function of the TIME type, which does not exist here (nor
// in Spark unless it is switched on).
func timeTyped(name string) *Function {
	return custom(name, "datetime", name+"(...)", "Function of the TIME type, which is not supported.", func(*Session, []Arg) (*Bound, error) {
		return nil, errTimeType()
	})
}

// intervalMaker makes a function of optional numbers, of which secs is a
// decimal.
func intervalMaker(name string, params []string, t schema.Type, try bool, k func(c *Ctx, p []int64, out *vector, i int) bool) *Function {
	usage := name + "("
	sig := signature{result: t, min: -1, canFail: true, try: try, mayNull: try}
	for i, p := range params {
		usage += "[" + map[bool]string{true: ", "}[i > 0] + p
		if p == "secs" {
			sig.params = append(sig.params, pSeconds8)
		} else {
			sig.params = append(sig.params, pInt)
		}
	}
	for range params {
		usage += "]"
	}
	n := len(params)
	sig.kernel = func(c *Ctx, args []*vector, out *vector) {
		parts := make([]int64, n)
		c.live(out, func(i int) {
			for p, v := range args {
				if v.Type.Kind == schema.Decimal {
					parts[p] = v.I64[v.Row(i)]
				} else {
					parts[p] = int64(v.I32[v.Row(i)])
				}
			}
			if k(c, parts, out, i) {
				return
			}
			err := errIntervalOverflow("")
			if t.Kind == schema.CalendarInterval {
				err = errOverflow("integer overflow", "")
			}
			if t.Kind == schema.CalendarInterval && !c.Session.ANSI {
				out.SetNull(i)
				return
			}
			c.Fail(out, i, err)
		})
	}
	return define(name, "datetime", usage+")", "An interval of its parts.", sig).printed(func(a []string) string {
		a = append([]string{}, a...)
		for len(a) < n {
			if params[len(a)] == "secs" {
				a = append(a, "0.000000")
			} else {
				a = append(a, "0")
			}
		}
		return name + "(" + joinTexts(a) + ")"
	})
}

func fitsInt32(x int64) bool { return x == int64(int32(x)) }

func makeInterval(_ *Ctx, p []int64, out *vector, i int) bool {
	months, days := p[0]*12+p[1], p[2]*7+p[3]
	micros := p[4]*text.MicrosPerHour + p[5]*text.MicrosPerMinute
	sum := micros + p[6]
	if !fitsInt32(months) || !fitsInt32(days) || (sum < micros) != (p[6] < 0) {
		return false
	}
	out.Children[0].I32[i], out.Children[1].I32[i], out.Children[2].I64[i] = int32(months), int32(days), sum
	return true
}

func makeDayTime(_ *Ctx, p []int64, out *vector, i int) bool {
	days := float64(p[0]) * float64(text.MicrosPerDay)
	micros := p[1]*text.MicrosPerHour + p[2]*text.MicrosPerMinute // far from the limits
	if math.Abs(days+float64(micros)+float64(p[3])) > 9.3e18 {
		return false
	}
	total := column.FromInt64(micros)
	for _, x := range [...]column.Int128{wideDays(p[0]), column.FromInt64(p[3])} {
		var ok bool
		if total, ok = text.DecimalAdd(total, x); !ok {
			return false
		}
	}
	x, ok := total.Int64()
	out.I64[i] = x
	return ok
}

func wideDays(days int64) column.Int128 {
	x, _ := text.DecimalMul(column.FromInt64(days), column.FromInt64(text.MicrosPerDay), 0)
	return x
}

func makeYearMonth(_ *Ctx, p []int64, out *vector, i int) bool {
	months := p[0]*12 + p[1]
	out.I32[i] = int32(months)
	return fitsInt32(months)
}

// timestampMaker makes a function of year to second and, when zoned, a zone.
func timestampMaker(name string, t schema.Type, zoned, try bool) *Function {
	usage := name + "(year, month, day, hour, min, sec"
	params := []param{pInt, pInt, pInt, pInt, pInt, pSeconds}
	if zoned {
		usage += "[, timezone]"
		params = append(params, pString)
	}
	sig := signature{params: params, min: 6, result: t, canFail: true, mayNull: true, try: false}
	sig.kernel = func(c *Ctx, args []*vector, out *vector) { makeTimestamps(c, args, out, try) }
	f := &Function{Name: name, Group: "datetime", Usage: usage + ")", Doc: "A timestamp of its parts."}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		if n := len(args); n > 0 && n < 4 && args[0].Type.Kind == schema.Date {
			return nil, errTimeType()
		}
		sig := sig
		if name == "make_timestamp" || name == "try_make_timestamp" {
			sig.result = s.timestampType()
		}
		b, err := sig.bind(s, f, args)
		if b != nil && name == "try_make_timestamp" {
			b.Print = func(a []string) string { return name + "(" + joinTexts(a[:6]) + ")" } // Spark forgets the zone
		}
		return b, err
	}
	return f
}

func makeTimestamps(c *Ctx, args []*vector, out *vector, try bool) {
	z, _ := c.Scratch.(*zoneCache)
	if z == nil {
		z = &zoneCache{}
		c.Scratch = z
	}
	session := c.Session.zone()
	part := func(k, i int) int64 { return int64(args[k].I32[args[k].Row(i)]) }
	c.live(out, func(i int) {
		zone := session
		if len(args) > 6 {
			var err *Error
			if zone, err = z.load(args[6].Str(i)); err != nil {
				c.Fail(out, i, err)
				return
			}
		}
		local, err := localOf([5]int64{part(0, i), part(1, i), part(2, i), part(3, i), part(4, i)}, args[5].I64[args[5].Row(i)])
		switch {
		case err != nil && (try || !c.Session.ANSI):
			out.SetNull(i)
		case err != nil:
			c.Fail(out, i, err)
		case out.Type.Kind == schema.Timestamp:
			out.I64[i] = zone.ToInstant(local)
		default:
			out.I64[i] = local
		}
	})
}

// localOf is the wall clock of year to minute and microseconds. A whole
// second of 60 counts as the next minute.
func localOf(p [5]int64, micros int64) (int64, *Error) {
	if micros > 60*text.MicrosPerSecond && micros < 61*text.MicrosPerSecond {
		return 0, NewError("INVALID_FRACTION_OF_SECOND", "Valid range for seconds is [0, 60] (inclusive), but the provided value is "+
			string(text.AppendDecimal64(nil, micros, 6))+".", map[string]string{"secAndMicros": string(text.AppendDecimal64(nil, micros, 6))})
	}
	y, m, d := int(p[0]), int(p[1]), int(p[2])
	if p[0] < -290000 || p[0] > 290000 || !text.ValidDate(y, m, d) || p[3] < 0 || p[3] > 23 || p[4] < 0 || p[4] > 59 || micros < 0 || micros > 60*text.MicrosPerSecond {
		return 0, errFieldBounds()
	}
	return text.DaysOf(y, m, d)*text.MicrosPerDay + p[3]*text.MicrosPerHour + p[4]*text.MicrosPerMinute + micros, nil
}

func bindConvertTimezone(s *Session, args []Arg) (*Bound, error) {
	const name = "convert_timezone"
	if err := checkCount(name, 2, 3, len(args)); err != nil {
		return nil, err
	}
	last := len(args) - 1
	b := &Bound{Result: tTimeNTZ, CanFail: true, Kernel: convertTimezone}
	for i, a := range args {
		p := pString
		if i == last {
			p = exactly(tTimeNTZ)
		}
		t, ok := p.take(s, a.Type)
		if !ok {
			return nil, errInputType(callText(name, args), i, p.want, a)
		}
		b.Args, b.Nullable = append(b.Args, t), b.Nullable || a.Nullable
	}
	if last == 1 {
		b.Print = func(a []string) string { return name + "(current_timezone(), " + joinTexts(a) + ")" }
	}
	return b, nil
}

func convertTimezone(c *Ctx, args []*vector, out *vector) {
	z, _ := c.Scratch.(*[2]zoneCache)
	if z == nil {
		z = &[2]zoneCache{}
		c.Scratch = z
	}
	last := len(args) - 1
	source := c.Session.zone()
	c.live(out, func(i int) {
		from := source
		var err *Error
		if last == 2 {
			from, err = z[0].load(args[0].Str(i))
		}
		if err == nil {
			var to *text.Zone
			if to, err = z[1].load(args[last-1].Str(i)); err == nil {
				out.I64[i] = to.ToLocal(from.ToInstant(args[last].I64[args[last].Row(i)]))
				return
			}
		}
		c.Fail(out, i, err)
	})
}
