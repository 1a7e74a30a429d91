package funcs

import (
	"strings"

	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// pDateInt is the number of days in date_add: INT or smaller, or text.
var pDateInt = param{`("INT" or "SMALLINT" or "TINYINT")`, func(_ *Session, t schema.Type) (schema.Type, bool) {
	return tInt, t.Kind == schema.Int8 || t.Kind == schema.Int16 || t.Kind == schema.Int32 || t.Kind == schema.String || t.Kind == schema.Void
}}

// pInstant takes timestamps of both kinds as they are.
var pInstant = param{`("TIMESTAMP" or "TIMESTAMP WITHOUT TIME ZONE")`, func(s *Session, t schema.Type) (schema.Type, bool) {
	if t.Kind == schema.TimestampNTZ {
		return t, true
	}
	return tTime, Implicit(s, t, tTime) && !t.IsNumeric()
}}

// localMicros returns a function that gives the wall clock of a row.
func localMicros(s *Session, v *vector) func(i int) int64 {
	if v.Type.Kind == schema.TimestampNTZ {
		return func(i int) int64 { return v.I64[v.Row(i)] }
	}
	zone := s.zone()
	return func(i int) int64 { return zone.ToLocal(v.I64[v.Row(i)]) }
}

// dateField makes a function of a date to an INT.
func dateField(name, doc, sql, result string, f func(y, m, d int, days int64) int32) *Function {
	return define(name, "datetime", name+"(date)", doc, signature{
		params: []param{pDate}, result: tInt,
		kernel: unary(i32s, i32s, func(x int32) int32 {
			y, m, d := text.DateOf(int64(x))
			return f(y, m, d, int64(x))
		}),
	}).example(sql, result)
}

func clockField(name, doc string, unit, mod int64) *Function {
	return define(name, "datetime", name+"(expr)", doc, signature{
		params: []param{pInstant}, result: tInt,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			local := localMicros(c.Session, args[0])
			c.live(out, func(i int) {
				_, ofDay := text.SplitMicros(local(i))
				out.I32[i] = int32(ofDay / unit % mod)
			})
		},
	})
}

func dateName(name, doc string, f func(days int64) string) *Function {
	return define(name, "datetime", name+"(date)", doc, signature{
		params: []param{pDate}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte { return append(b, f(int64(args[0].I32[i]))[:3]...) })
		},
	})
}

var datetimeFunctions = []*Function{
	dateField("year", "Year.", "SELECT year('2016-07-30')", "2016", func(y, _, _ int, _ int64) int32 { return int32(y) }),
	dateField("quarter", "Quarter, 1 to 4.", "SELECT quarter('2016-08-31')", "3", func(_, m, _ int, _ int64) int32 { return int32((m + 2) / 3) }),
	dateField("month", "Month, 1 to 12.", "SELECT month('2016-07-30')", "7", func(_, m, _ int, _ int64) int32 { return int32(m) }),
	dateField("day", "Day of the month.", "SELECT day('2009-07-30')", "30", func(_, _, d int, _ int64) int32 { return int32(d) }).alias("dayofmonth"),
	dateField("dayofweek", "Day of the week, 1 is Sunday.", "SELECT dayofweek('2009-07-30')", "5", func(_, _, _ int, x int64) int32 { return int32((text.Weekday(x)+1)%7) + 1 }),
	dateField("weekday", "Day of the week, 0 is Monday.", "SELECT weekday('2009-07-30')", "3", func(_, _, _ int, x int64) int32 { return int32(text.Weekday(x)) }),
	dateField("dayofyear", "Day of the year.", "SELECT dayofyear('2016-04-09')", "100", func(y, m, d int, _ int64) int32 { return int32(text.DayOfYear(y, m, d)) }),
	dateField("weekofyear", "ISO week of the year.", "SELECT weekofyear('2008-02-20')", "8", func(_, _, _ int, x int64) int32 {
		_, w := text.WeekOfYear(x)
		return int32(w)
	}),
	define("unix_date", "datetime", "unix_date(date)", "Days since 1970-01-01.", signature{
		params: []param{pOnlyDate}, result: tInt, kernel: unary(i32s, i32s, func(x int32) int32 { return x }),
	}).example("SELECT unix_date(DATE '1970-01-02')", "1"),
	clockField("hour", "Hour.", text.MicrosPerHour, 24).example("SELECT hour('2018-02-14 12:58:59')", "12"),
	clockField("minute", "Minute.", text.MicrosPerMinute, 60).example("SELECT minute('2009-07-30 12:58:59')", "58"),
	clockField("second", "Second.", text.MicrosPerSecond, 60).example("SELECT second('2018-02-14 12:58:59')", "59"),
	dateName("dayname", "Short name of the day of the week.", func(x int64) string { return text.WeekdayName(text.Weekday(x)) }).example("SELECT dayname(DATE '2008-02-20')", "Wed"),
	dateName("monthname", "Short name of the month.", func(x int64) string { _, m, _ := text.DateOf(x); return text.MonthName(m) }).example("SELECT monthname(DATE '2008-02-20')", "Feb"),
	define("date_from_unix_date", "datetime", "date_from_unix_date(days)", "Date that many days after 1970-01-01.", signature{
		params: []param{pInt}, result: tDate, kernel: unary(i32s, i32s, func(x int32) int32 { return x }),
	}).example("SELECT date_from_unix_date(1)", "1970-01-02"),
	dateShift("date_add", 1).example("SELECT date_add('2016-07-30', 1)", "2016-07-31"),
	dateShift("date_sub", -1).example("SELECT date_sub('2016-07-30', 1)", "2016-07-29"),
	custom("dateadd", "datetime", "dateadd(start_date, num_days), dateadd(unit, value, expr)", "Days added to a date, or units to a timestamp.", func(s *Session, args []Arg) (*Bound, error) {
		if len(args) == 3 {
			return bindTimestampAdd(s, args)
		}
		return dateShift("date_add", 1).Bind(s, args)
	}),
	custom("datediff", "datetime", "datediff(endDate, startDate), datediff(unit, start, end)", "Days between dates, or units between timestamps.", func(s *Session, args []Arg) (*Bound, error) {
		if len(args) == 3 {
			return bindTimestampDiff(s, args)
		}
		return dateDifference.bind(s, &Function{Name: "datediff"}, args)
	}).alias("date_diff").example("SELECT datediff('2009-07-31', '2009-07-30')", "1"),
	custom("timestampadd", "datetime", "timestampadd(unit, value, expr)", "Units added to a timestamp.", bindTimestampAdd).alias("date_add_unit"),
	custom("timestampdiff", "datetime", "timestampdiff(unit, start, end)", "Whole units between timestamps.", bindTimestampDiff).alias("timediff"),
	define("add_months", "datetime", "add_months(start_date, num_months)", "Date that many months later.", signature{
		params: []param{pDate, pInt}, result: tDate, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			d, n := operand(c, args, 0, i32s), operand(c, args, 1, i32s)
			c.live(out, func(i int) { setDay(c, out, i, text.AddMonths(int64(d[i]), int64(n[i]))) })
		},
	}).example("SELECT add_months('2016-08-31', 1)", "2016-09-30"),
	define("last_day", "datetime", "last_day(date)", "Last day of the date's month.", signature{
		params: []param{pDate}, result: tDate,
		kernel: unary(i32s, i32s, func(x int32) int32 {
			y, m, d := text.DateOf(int64(x))
			return x + int32(text.DaysInMonth(y, m)-d)
		}),
	}).example("SELECT last_day('2009-01-12')", "2009-01-31"),
	define("next_day", "datetime", "next_day(start_date, day_of_week)", "First date after the given one that is such a weekday.", signature{
		params: []param{pDate, pString}, result: tDate, canFail: true, mayNull: true, kernel: nextDayKernel,
	}).example("SELECT next_day('2015-01-14', 'TU')", "2015-01-20"),
	define("months_between", "datetime", "months_between(timestamp1, timestamp2[, roundOff])", "Months between timestamps.", signature{
		params: []param{pZoned, pZoned, pBool}, min: 2, result: tDouble, kernel: monthsBetweenKernel,
	}).example("SELECT months_between('1997-02-28 10:30:00', '1996-10-30')", "3.94959677"),
	unitless(1, define("trunc", "datetime", "trunc(date, fmt)", "Date cut to its year, quarter, month or week.", signature{
		params: []param{pDate, pString}, result: tDate, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			d := operand(c, args, 0, i32s)
			c.live(out, func(i int) {
				unit := truncUnit(string(args[1].Str(i)))
				if unit < unitWeek {
					out.SetNull(i)
					return
				}
				out.I32[i] = int32(truncDays(int64(d[i]), unit))
			})
		},
	}).example("SELECT trunc('2019-08-04', 'week')", "2019-07-29")),
	unitless(0, define("date_trunc", "datetime", "date_trunc(fmt, ts)", "Timestamp cut to a unit.", signature{
		params: []param{pString, pTime}, result: tTime, mayNull: true, kernel: dateTruncKernel,
	}).example("SELECT date_trunc('YEAR', '2015-03-05T09:32:05.359')", "2015-01-01 00:00:00")),
	define("make_date", "datetime", "make_date(year, month, day)", "Date of its parts.", signature{
		params: []param{pInt, pInt, pInt}, result: tDate, canFail: true, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			y, m, d := operand(c, args, 0, i32s), operand(c, args, 1, i32s), args[2]
			c.live(out, func(i int) {
				day := int(d.I32[d.Row(i)])
				if y[i] > maxJavaYear || y[i] < -maxJavaYear || !text.ValidDate(int(y[i]), int(m[i]), day) {
					failOrNull(c.Session, c, out, i, errFieldBounds())
					return
				}
				setDay(c, out, i, text.DaysOf(int(y[i]), int(m[i]), day))
			})
		},
	}).example("SELECT make_date(2013, 7, 15)", "2013-07-15"),
	custom("date_part", "datetime", "date_part(field, source)", "Part of a date, timestamp or interval.", bindDatePart).alias("datepart", "extract").
		example("SELECT date_part('YEAR', TIMESTAMP '2019-08-12 01:00:00.123456')", "2019"),
	utcFunction("from_utc_timestamp", true).example("SELECT from_utc_timestamp('2016-08-31', 'Asia/Seoul')", "2016-08-31 09:00:00"),
	utcFunction("to_utc_timestamp", false).example("SELECT to_utc_timestamp('2016-08-31', 'Asia/Seoul')", "2016-08-30 15:00:00"),
	stable("current_date", "datetime", "Date of now in the session's zone.", tDate, func(c *Ctx, out *vector, i int) {
		out.I32[i] = daysOf(c.Session.zone().ToLocal(c.Now))
	}).alias("curdate"),
	stable("current_timestamp", "datetime", "Instant of the epoch.", tTime, func(c *Ctx, out *vector, i int) { out.I64[i] = c.Now }).alias("now"),
	stable("localtimestamp", "datetime", "Wall clock of now in the session's zone.", tTimeNTZ, func(c *Ctx, out *vector, i int) {
		out.I64[i] = c.Session.zone().ToLocal(c.Now)
	}),
}

// stable makes a function without arguments whose value holds for an epoch.
func stable(name, group, doc string, t schema.Type, f func(c *Ctx, out *vector, i int)) *Function {
	return define(name, group, name+"()", doc, signature{
		result: t, kernel: func(c *Ctx, _ []*vector, out *vector) {
			c.Each(func(i int) { f(c, out, i) })
		},
	}).volatility(Stable)
}

func errFieldBounds() *Error {
	return NewError("DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION", "A field of the date or time is out of its bounds.", nil)
}

func dateShift(name string, sign int32) *Function {
	return define(name, "datetime", name+"(start_date, num_days)", "Date that many days later or earlier.", signature{
		params: []param{pDate, pDateInt}, result: tDate, check: func(s *Session, call string, args []Arg) error {
			if n := args[1]; !s.ANSI && n.Type.Kind == schema.String {
				if n.Const == nil {
					return errInputType(call, 1, pDateInt.want, n)
				}
				if _, ok := text.ParseInt(n.Const.Str(0), 32); !ok && !n.Const.IsNull(0) {
					return NewError("SECOND_FUNCTION_ARGUMENT_NOT_INTEGER", "The second argument of "+name+" function needs to be an integer.", map[string]string{"functionName": name})
				}
			}
			return nil
		},
		kernel: func(c *Ctx, args []*vector, out *vector) {
			d, n := operand(c, args, 0, i32s), operand(c, args, 1, i32s)
			for i, x := range d {
				out.I32[i] = x + sign*n[i]
			}
		},
	})
}

var dateDifference = &signature{
	params: []param{pDate, pDate}, result: tInt,
	kernel: func(c *Ctx, args []*vector, out *vector) {
		a, b := operand(c, args, 0, i32s), operand(c, args, 1, i32s)
		for i, x := range a {
			out.I32[i] = x - b[i]
		}
	},
}

func nextDayKernel(c *Ctx, args []*vector, out *vector) {
	d := operand(c, args, 0, i32s)
	c.live(out, func(i int) {
		w := weekdayOf(string(args[1].Str(i)))
		if w < 0 {
			failOrNull(c.Session, c, out, i, NewError("ILLEGAL_DAY_OF_WEEK", "Illegal input for day of week: "+string(args[1].Str(i))+".",
				map[string]string{"string": string(args[1].Str(i))}))
			return
		}
		step := (w - text.Weekday(int64(d[i])) + 7) % 7
		if step == 0 {
			step = 7
		}
		out.I32[i] = d[i] + int32(step)
	})
}

// weekdayOf reads MO, MON or MONDAY in any case; -1 when it is none.
func weekdayOf(s string) int {
	s = strings.ToUpper(strings.TrimSpace(s))
	for w := range 7 {
		name := strings.ToUpper(text.WeekdayName(w))
		if s == name || s == name[:3] || s == name[:2] {
			return w
		}
	}
	return -1
}

func monthsBetweenKernel(c *Ctx, args []*vector, out *vector) {
	zone, a, b := c.Session.zone(), args[0], args[1]
	c.live(out, func(i int) {
		round := len(args) < 3 || args[2].Bool[args[2].Row(i)]
		out.F64[i] = monthsBetween(zone, a.I64[a.Row(i)], b.I64[b.Row(i)], round)
	})
}

// monthsBetween counts the part of a day as the time since its midnight, which
// on days of a change of the clock is not what the clock says.
func monthsBetween(zone *text.Zone, a, b int64, round bool) float64 {
	da, _ := text.SplitMicros(zone.ToLocal(a))
	db, _ := text.SplitMicros(zone.ToLocal(b))
	ya, ma, dda := text.DateOf(da)
	yb, mb, ddb := text.DateOf(db)
	months := float64((ya-yb)*12 + ma - mb)
	if dda == ddb || dda == text.DaysInMonth(ya, ma) && ddb == text.DaysInMonth(yb, mb) {
		return months
	}
	ta, tb := a-zone.ToInstant(da*text.MicrosPerDay), b-zone.ToInstant(db*text.MicrosPerDay)
	seconds := float64((dda-ddb)*86400) + float64(ta/text.MicrosPerSecond-tb/text.MicrosPerSecond)
	r := months + seconds/(31*86400)
	if round {
		return roundFloat(r, 8, false)
	}
	return r
}

// unitless makes calls of trunc and date_trunc NULL whose constant unit, in
// argument at, is none; the time is then not read.
func unitless(at int, f *Function) *Function {
	bind := f.Bind
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		b, err := bind(s, args)
		if err != nil || args[at].Const == nil {
			return b, err
		}
		unit, err := castConst(s, args[at], tString)
		if err != nil {
			return nil, err
		}
		if unit.IsNull(0) || truncUnit(string(unit.Str(0))) == unitNone {
			return allNull(b, args), nil
		}
		return b, nil
	}
	return f
}

// The units of trunc, date_trunc and timestampadd.
const (
	unitNone = iota
	unitMicrosecond
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
)

func truncUnit(s string) int {
	switch strings.ToUpper(s) {
	case "MICROSECOND":
		return unitMicrosecond
	case "MILLISECOND":
		return unitMillisecond
	case "SECOND":
		return unitSecond
	case "MINUTE":
		return unitMinute
	case "HOUR":
		return unitHour
	case "DAY", "DD":
		return unitDay
	case "WEEK":
		return unitWeek
	case "MON", "MONTH", "MM":
		return unitMonth
	case "QUARTER":
		return unitQuarter
	case "YEAR", "YYYY", "YY":
		return unitYear
	}
	return unitNone
}

func truncDays(days int64, unit int) int64 {
	y, m, _ := text.DateOf(days)
	switch unit {
	case unitWeek:
		return days - int64(text.Weekday(days))
	case unitMonth:
		return text.DaysOf(y, m, 1)
	case unitQuarter:
		return text.DaysOf(y, (m-1)/3*3+1, 1)
	case unitYear:
		return text.DaysOf(y, 1, 1)
	}
	return days
}

func unitMicros(unit int) int64 {
	switch unit {
	case unitMicrosecond:
		return 1
	case unitMillisecond:
		return 1000
	case unitSecond:
		return text.MicrosPerSecond
	case unitMinute:
		return text.MicrosPerMinute
	case unitHour:
		return text.MicrosPerHour
	case unitDay:
		return text.MicrosPerDay
	}
	return 7 * text.MicrosPerDay
}

func dateTruncKernel(c *Ctx, args []*vector, out *vector) {
	zone, v := c.Session.zone(), args[1]
	constant, unit := args[0].Const, unitNone
	if constant {
		unit = truncUnit(string(args[0].Str(0)))
	}
	c.live(out, func(i int) {
		u := unit
		if !constant {
			u = truncUnit(string(args[0].Str(i)))
		}
		m := v.I64[v.Row(i)]
		switch {
		case u == unitNone:
			out.SetNull(i)
		case u <= unitSecond || u == unitMinute && zone.IsUTC():
			out.I64[i] = floorDiv(m, unitMicros(u)) * unitMicros(u)
		case u < unitDay:
			local := zone.ToLocal(m)
			cut := local - floorDiv(local, unitMicros(u))*unitMicros(u)
			out.I64[i] = m - cut
		default:
			days, _ := text.SplitMicros(zone.ToLocal(m))
			out.I64[i] = zone.ToInstant(truncDays(days, u) * text.MicrosPerDay)
		}
	})
}

// extractField is one field of EXTRACT.
type extractField struct {
	result schema.Type
	f      func(local int64) int64
}

func dateFields(name string) (extractField, bool) {
	day := func(f func(y, m, d int, days int64) int64) extractField {
		return extractField{tInt, func(local int64) int64 {
			days, _ := text.SplitMicros(local)
			y, m, d := text.DateOf(days)
			return f(y, m, d, days)
		}}
	}
	clock := func(unit, mod int64) extractField {
		return extractField{tInt, func(local int64) int64 {
			_, ofDay := text.SplitMicros(local)
			return ofDay / unit % mod
		}}
	}
	switch strings.ToUpper(name) {
	case "YEAR", "Y", "YEARS", "YR", "YRS":
		return day(func(y, _, _ int, _ int64) int64 { return int64(y) }), true
	case "YEAROFWEEK":
		return day(func(_, _, _ int, x int64) int64 { y, _ := text.WeekOfYear(x); return int64(y) }), true
	case "QUARTER", "QTR":
		return day(func(_, m, _ int, _ int64) int64 { return int64((m + 2) / 3) }), true
	case "MONTH", "MON", "MONS", "MONTHS":
		return day(func(_, m, _ int, _ int64) int64 { return int64(m) }), true
	case "WEEK", "W", "WEEKS":
		return day(func(_, _, _ int, x int64) int64 { _, w := text.WeekOfYear(x); return int64(w) }), true
	case "DAY", "D", "DAYS":
		return day(func(_, _, d int, _ int64) int64 { return int64(d) }), true
	case "DAYOFWEEK", "DOW":
		return day(func(_, _, _ int, x int64) int64 { return int64((text.Weekday(x)+1)%7 + 1) }), true
	case "DAYOFWEEK_ISO", "DOW_ISO":
		return day(func(_, _, _ int, x int64) int64 { return int64(text.Weekday(x) + 1) }), true
	case "DOY":
		return day(func(y, m, d int, _ int64) int64 { return int64(text.DayOfYear(y, m, d)) }), true
	case "HOUR", "H", "HOURS", "HR", "HRS":
		return clock(text.MicrosPerHour, 24), true
	case "MINUTE", "M", "MIN", "MINS", "MINUTES":
		return clock(text.MicrosPerMinute, 60), true
	case "SECOND", "S", "SEC", "SECONDS", "SECS":
		return extractField{schema.DecimalOf(8, 6), func(local int64) int64 {
			_, ofDay := text.SplitMicros(local)
			return ofDay % text.MicrosPerMinute
		}}, true
	}
	return extractField{}, false
}

// intervalFields gives a field that intervals of the type have.
func intervalFields(t schema.Type, name string) (extractField, bool) {
	tiny := typ(schema.Int8)
	up := strings.ToUpper(name)
	within := func(f schema.IntervalField) bool { return t.From <= f && f <= t.To }
	if t.Kind == schema.YearMonthInterval {
		switch up {
		case "YEAR", "Y", "YEARS", "YR", "YRS":
			return extractField{tInt, func(m int64) int64 { return m / 12 }}, within(schema.Year)
		case "MONTH", "MON", "MONS", "MONTHS":
			return extractField{tiny, func(m int64) int64 { return m % 12 }}, within(schema.Month)
		}
		return extractField{}, false
	}
	switch up {
	case "DAY", "D", "DAYS":
		return extractField{tInt, func(m int64) int64 { return m / text.MicrosPerDay }}, within(schema.Day)
	case "HOUR", "H", "HOURS", "HR", "HRS":
		return extractField{tiny, func(m int64) int64 { return m % text.MicrosPerDay / text.MicrosPerHour }}, within(schema.Hour)
	case "MINUTE", "M", "MIN", "MINS", "MINUTES":
		return extractField{tiny, func(m int64) int64 { return m % text.MicrosPerHour / text.MicrosPerMinute }}, within(schema.Minute)
	case "SECOND", "S", "SEC", "SECONDS", "SECS":
		return extractField{schema.DecimalOf(8, 6), func(m int64) int64 { return m % text.MicrosPerMinute }}, within(schema.Second)
	}
	return extractField{}, false
}

func errExtract(field string, a Arg) *Error {
	return NewError("INVALID_EXTRACT_FIELD", "Cannot extract `"+field+"` from \""+a.Text+"\".",
		map[string]string{"field": "`" + field + "`", "expr": `"` + a.Text + `"`})
}

// bindCalendarPart is date_part of an interval of months, days and time.
func bindCalendarPart(args []Arg, name string) (*Bound, error) {
	x, months := intervalFields(typ(schema.YearMonthInterval), name)
	if !months {
		var ok bool
		if x, ok = intervalFields(typ(schema.DayTimeInterval), name); !ok {
			return nil, errExtract(name, args[1])
		}
	}
	days := x.result.Kind == schema.Int32
	return &Bound{
		Args: argTypes(args), Result: x.result, Nullable: args[1].Nullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				v := spanAt(args[1], i)
				switch {
				case months:
					setInt(out, i, x.f(v.months))
				case days: // time beyond a day counts as days
					setInt(out, i, v.days+x.f(v.micros))
				default:
					setInt(out, i, x.f(v.micros))
				}
			})
		},
		Print: func(a []string) string { return "date_part(" + joinTexts(a) + ")" },
	}, nil
}

func bindDatePart(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("date_part", 2, 2, len(args)); err != nil {
		return nil, err
	}
	if k := args[0].Type.Kind; args[0].Const == nil || k != schema.String && k != schema.Void {
		return nil, errNotConstant("date_part", "field", tString)
	}
	t := args[1].Type
	if args[0].Const.IsNull(0) { // of nothing a part that is not known
		return &Bound{Args: argTypes(args), Result: tDouble, Nullable: true, Nulls: NullAware, Kernel: func(c *Ctx, _ []*vector, out *vector) { c.Each(out.SetNull) }}, nil
	}
	call := callText("date_part", args)
	name, ok := constString(args[0])
	if !ok {
		return nil, errInputType(call, 0, quoteType(tString), args[0])
	}
	var x extractField
	known := false
	switch {
	case t.Kind == schema.CalendarInterval:
		return bindCalendarPart(args, name)
	case t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval:
		x, known = intervalFields(t, name)
	default:
		if x, known = dateFields(name); !known {
			return nil, errExtract(name, args[1])
		}
		if t.Kind != schema.TimestampNTZ && t.Kind != schema.Date {
			if !Implicit(s, t, tTime) || t.IsNumeric() {
				return nil, errInputType(call, 1, pInstant.want, args[1])
			}
			t = tTime
		}
	}
	if !known {
		return nil, errExtract(name, args[1])
	}
	return &Bound{
		Args: []schema.Type{args[0].Type, t}, Result: x.result, Nullable: args[1].Nullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[1]
			get := func(i int) int64 { return intAt(v, i) }
			switch v.Type.Kind {
			case schema.Timestamp, schema.TimestampNTZ:
				get = localMicros(c.Session, v)
			case schema.Date:
				get = func(i int) int64 { return intAt(v, i) * text.MicrosPerDay }
			}
			c.live(out, func(i int) { setInt(out, i, x.f(get(i))) })
		},
		Print: func(a []string) string { return "date_part(" + joinTexts(a) + ")" },
	}, nil
}

func utcFunction(name string, from bool) *Function {
	return define(name, "datetime", name+"(timestamp, timezone)", "The wall clock of one zone read in another.", signature{
		params: []param{pTime, pString}, result: tTime, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			z, _ := c.Scratch.(*zoneCache)
			if z == nil {
				z = &zoneCache{}
				c.Scratch = z
			}
			c.live(out, func(i int) {
				zone, err := z.load(args[1].Str(i))
				if err != nil {
					c.Fail(out, i, err)
					return
				}
				m := args[0].I64[args[0].Row(i)]
				if from {
					out.I64[i] = zone.ToLocal(m)
				} else {
					out.I64[i] = zone.ToInstant(m)
				}
			})
		},
	})
}

// zoneCache keeps the zone of the last row.
type zoneCache struct {
	name string
	zone *text.Zone
}

func (z *zoneCache) load(name []byte) (*text.Zone, *Error) {
	if z.zone != nil && z.name == string(name) {
		return z.zone, nil
	}
	zone, err := text.LoadZone(string(name))
	if err != nil {
		return nil, NewError("INVALID_TIMEZONE", "The timezone: "+string(name)+" is invalid. The timezone must be either a region-based zone ID or a zone offset.",
			map[string]string{"timeZone": string(name)})
	}
	z.name, z.zone = string(name), zone
	return zone, nil
}

// addUnit is the unit argument of timestampadd and timestampdiff.
func addUnit(args []Arg, name string) (int, error) {
	s, _ := constString(args[0])
	unit := truncUnit(s)
	if up := strings.ToUpper(s); unit == unitNone && (up == "DAYOFYEAR") {
		unit = unitDay
	}
	if unit == unitNone {
		return 0, errParam("DATETIME_UNIT", "unit", name, "expects one of the units without quotes YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND, but got the string literal '"+s+"'.",
			map[string]string{"invalidValue": "'" + s + "'"})
	}
	return unit, nil
}

func bindTimestampAdd(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("timestampadd", 3, 3, len(args)); err != nil {
		return nil, err
	}
	unit, err := addUnit(args, "TIMESTAMPADD")
	if err != nil {
		return nil, err
	}
	t, ok := pInstant.take(s, args[2].Type)
	if !ok {
		return nil, errInputType(callText("timestampadd", args), 2, pInstant.want, args[2])
	}
	return &Bound{
		Args: []schema.Type{args[0].Type, tBigint, t}, Result: t, Nullable: args[1].Nullable || args[2].Nullable, CanFail: true,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				m, ok := addToTimestamp(c.Session, args[2], i, unit, args[1].I64[args[1].Row(i)])
				if !ok {
					c.Fail(out, i, errDatetimeOverflow("add "+string(text.AppendInt(nil, args[1].I64[args[1].Row(i)]))+" units"))
					return
				}
				out.I64[i] = m
			})
		},
	}, nil
}

func errDatetimeOverflow(operation string) *Error {
	return NewError("DATETIME_OVERFLOW", "Datetime operation overflow: "+operation+".", map[string]string{"operation": operation})
}

const maxMonths = 300_000 * 12

// addToTimestamp adds n units to row i of v; days and longer move the wall
// clock, shorter ones the instant.
func addToTimestamp(s *Session, v *vector, i, unit int, n int64) (int64, bool) {
	m := v.I64[v.Row(i)]
	if unit < unitDay {
		step := n * unitMicros(unit)
		if n != 0 && step/n != unitMicros(unit) {
			return 0, false
		}
		return m + step, (m+step < m) == (step < 0)
	}
	local := localMicros(s, v)(i)
	days, ofDay := text.SplitMicros(local)
	switch unit {
	case unitDay, unitWeek:
		if unit == unitWeek {
			n *= 7
		}
		days += n
	default:
		n *= map[int]int64{unitMonth: 1, unitQuarter: 3, unitYear: 12}[unit]
		if n > maxMonths || n < -maxMonths {
			return 0, false
		}
		days = text.AddMonths(days, n)
	}
	if days > 106_751_991 || days < -106_751_991 {
		return 0, false
	}
	local = days*text.MicrosPerDay + ofDay
	if v.Type.Kind == schema.TimestampNTZ {
		return local, true
	}
	return s.zone().ToInstant(local), true
}

func bindTimestampDiff(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("timestampdiff", 3, 3, len(args)); err != nil {
		return nil, err
	}
	unit, err := addUnit(args, "TIMESTAMPDIFF")
	if err != nil {
		return nil, err
	}
	for k := 1; k < 3; k++ {
		if _, ok := pTime.take(s, args[k].Type); !ok {
			return nil, errInputType(callText("timestampdiff", args), k, pTime.want, args[k])
		}
	}
	return &Bound{
		Args: []schema.Type{args[0].Type, tTime, tTime}, Result: tBigint, Nullable: args[1].Nullable || args[2].Nullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			a, b := localMicros(c.Session, args[1]), localMicros(c.Session, args[2])
			c.live(out, func(i int) {
				switch {
				case unit <= unitWeek:
					out.I64[i] = (b(i) - a(i)) / unitMicros(unit)
				default:
					out.I64[i] = wholeMonths(a(i), b(i)) / map[int]int64{unitMonth: 1, unitQuarter: 3, unitYear: 12}[unit]
				}
			})
		},
	}, nil
}

// wholeMonths counts the full months from a to b.
func wholeMonths(a, b int64) int64 {
	da, ta := text.SplitMicros(a)
	db, tb := text.SplitMicros(b)
	ya, ma, dda := text.DateOf(da)
	yb, mb, ddb := text.DateOf(db)
	n := int64((yb-ya)*12 + mb - ma)
	late := ddb > dda || ddb == dda && tb >= ta
	early := ddb < dda || ddb == dda && tb <= ta
	switch {
	case n > 0 && !late:
		n--
	case n < 0 && !early:
		n++
	}
	return n
}

// maxJavaYear is the greatest year of Java's dates; the least is its negative.
const maxJavaYear = 999_999_999

// setDay stores a day's number; one that DATE does not hold fails, whatever the
// mode.
func setDay(c *Ctx, out *vector, i int, day int64) {
	if day != int64(int32(day)) {
		c.Fail(out, i, errOverflow("integer overflow", ""))
		return
	}
	out.I32[i] = int32(day)
}
