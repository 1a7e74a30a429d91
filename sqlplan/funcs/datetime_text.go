package funcs

import (
	"errors"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// patternCache keeps the compiled pattern of the last row.
type patternCache struct {
	pattern *text.Pattern
	text    string
	err     *Error
}

func (c *Ctx) pattern(s []byte, parsing bool) (*text.Pattern, *Error) {
	p, ok := c.Scratch.(*patternCache)
	if !ok {
		p = &patternCache{}
		c.Scratch = p
	}
	if (p.pattern != nil || p.err != nil) && p.text == string(s) {
		return p.pattern, p.err
	}
	p.text, p.err = string(s), nil
	var err error
	if p.pattern, err = text.CompilePattern(p.text, parsing); err != nil {
		p.pattern, p.err = nil, errPattern(err)
	}
	return p.pattern, p.err
}

func errPattern(err error) *Error {
	e, ok := err.(*text.PatternError)
	if !ok {
		panic("bug: funcs: pattern error of an unknown kind: " + err.Error())
	}
	return NewError(e.Class, "The datetime pattern '"+e.Pattern+"' is refused: "+e.Detail+".",
		map[string]string{"pattern": "'" + e.Pattern + "'", "detail": e.Detail})
}

// errDecoder is why a decoder or encoder of JSON or CSV cannot be made: a
// pattern, or a type that the format does not have.
func errDecoder(err error) error {
	if e, ok := errors.AsType[*text.PatternError](err); ok {
		return errPattern(e)
	}
	return errUnsupportedType(err.Error())
}

func errParse(function, input string) *Error {
	return NewError("CANNOT_PARSE_TIMESTAMP", "Text '"+input+"' could not be parsed. Use `"+function+
		"` to tolerate invalid input string and return NULL instead.", map[string]string{"func": "`" + function + "`", "message": "Text '" + input + "' could not be parsed"})
}

// standardPattern is what is taken where none is given.
var standardPattern = []byte("yyyy-MM-dd HH:mm:ss")

var datetimeTextFunctions = []*Function{
	parseFunction("to_timestamp", tTime, "try_to_timestamp", false).example("SELECT to_timestamp('2016-12-31', 'yyyy-MM-dd')", "2016-12-31 00:00:00"),
	parseFunction("try_to_timestamp", tTime, "", true).example("SELECT try_to_timestamp('foo')", "NULL"),
	parseFunction("to_timestamp_ltz", tTime, "try_to_timestamp", false).example("SELECT to_timestamp_ltz('2016-12-31 00:12:00')", "2016-12-31 00:12:00"),
	parseFunction("to_timestamp_ntz", tTimeNTZ, "try_to_timestamp", false).example("SELECT to_timestamp_ntz('2016-12-31 00:12:00')", "2016-12-31 00:12:00"),
	parseFunction("to_date", tDate, "try_to_date", false).example("SELECT to_date('2009-07-30 04:17:52')", "2009-07-30"),
	parseFunction("try_to_date", tDate, "", true).example("SELECT try_to_date('foo')", "NULL"),
	define("date_format", "datetime", "date_format(timestamp, fmt)", "Timestamp printed by a pattern.", signature{
		params: []param{pInstant, pString}, result: tString, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v, zone := args[0], c.Session.zone()
			c.appendRows(out, func(i int, b []byte) []byte {
				p, err := c.pattern(args[1].Str(i), false)
				if err != nil {
					c.Fail(out, i, err)
					return b
				}
				if v.Type.Kind == schema.TimestampNTZ {
					return p.AppendLocal(b, v.I64[v.Row(i)], zone)
				}
				return p.AppendTimestamp(b, v.I64[v.Row(i)], zone)
			})
		},
	}).example("SELECT date_format('2016-04-08', 'y')", "2016"),
	define("from_unixtime", "datetime", "from_unixtime(unix_time[, fmt])", "Seconds since the epoch printed by a pattern.", signature{
		params: []param{pBigint, pString}, min: 1, result: tString, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			zone := c.Session.zone()
			c.appendRows(out, func(i int, b []byte) []byte {
				m := args[0].I64[args[0].Row(i)] * text.MicrosPerSecond // wraps around
				pattern := standardPattern
				if len(args) == 2 {
					pattern = args[1].Str(i)
				}
				p, err := c.pattern(pattern, false)
				if err != nil {
					c.Fail(out, i, err)
					return b
				}
				return p.AppendTimestamp(b, m, zone)
			})
		},
	}).example("SELECT from_unixtime(0, 'yyyy-MM-dd HH:mm:ss')", "1970-01-01 00:00:00"),
	unixFunction("unix_timestamp", 0).volatility(Stable).example("SELECT unix_timestamp('2016-04-08', 'yyyy-MM-dd')", "1460073600"),
	unixFunction("to_unix_timestamp", 1).example("SELECT to_unix_timestamp('2016-04-08', 'yyyy-MM-dd')", "1460073600"),
	epochFunction("timestamp_seconds", "Timestamp of seconds since the epoch.", text.MicrosPerSecond).example("SELECT timestamp_seconds(1230219000)", "2008-12-25 15:30:00"),
	epochFunction("timestamp_millis", "Timestamp of milliseconds since the epoch.", 1000).example("SELECT timestamp_millis(1230219000123)", "2008-12-25 15:30:00.123"),
	epochFunction("timestamp_micros", "Timestamp of microseconds since the epoch.", 1).example("SELECT timestamp_micros(1230219000123123)", "2008-12-25 15:30:00.123123"),
	sinceEpoch("unix_seconds", text.MicrosPerSecond).example("SELECT unix_seconds(TIMESTAMP '1970-01-01 00:00:01Z')", "1"),
	sinceEpoch("unix_millis", 1000).example("SELECT unix_millis(TIMESTAMP '1970-01-01 00:00:01Z')", "1000"),
	sinceEpoch("unix_micros", 1).example("SELECT unix_micros(TIMESTAMP '1970-01-01 00:00:01Z')", "1000000"),
}

func sinceEpoch(name string, unit int64) *Function {
	return define(name, "datetime", name+"(timestamp)", "Units since the epoch.", signature{
		params: []param{pOnlyTime}, result: tBigint, kernel: unary(i64s, i64s, func(m int64) int64 { return floorDiv(m, unit) }),
	})
}

func epochFunction(name, doc string, unit int64) *Function {
	return custom(name, "datetime", name+"(expr)", doc, func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 1, 1, len(args)); err != nil {
			return nil, err
		}
		t := args[0].Type
		if !t.IsNumeric() && t.Kind != schema.Void || unit != text.MicrosPerSecond && !t.IsInteger() && t.Kind != schema.Void {
			return nil, errInputType(callText(name, args), 0, `"NUMERIC"`, args[0])
		}
		b := &Bound{Args: []schema.Type{t}, Result: tTime, Nullable: args[0].Nullable, CanFail: true}
		if t.IsFloat() {
			b.Args[0], b.Nullable, b.CanFail, b.Kernel = tDouble, true, false, secondsOfFloat
			return b, nil
		}
		if !t.IsInteger() {
			b.Kernel = castStrict(s, t, tTime, CastANSI)
			return b, nil
		}
		b.Args[0] = tBigint
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				x := args[0].I64[i]
				if x != 0 && x*unit/unit != x {
					c.Fail(out, i, errDatetimeOverflow(name+"("+string(text.AppendInt(nil, x))+")"))
					return
				}
				out.I64[i] = x * unit
			})
		}
		return b, nil
	})
}

// secondsOfFloat is timestamp_seconds of a DOUBLE: what is no number or beyond
// them is NULL.
func secondsOfFloat(c *Ctx, args []*vector, out *vector) {
	x := operand(c, args, 0, f64s)
	c.live(out, func(i int) {
		if x[i]-x[i] != 0 {
			out.SetNull(i)
			return
		}
		out.I64[i] = javaInt(x[i]*float64(text.MicrosPerSecond), schema.Int64)
	})
}

// parseFunction reads text as a date or timestamp, by a pattern or by the
// rules of casts; typed input is converted and the pattern ignored.
func parseFunction(name string, t schema.Type, try string, isTry bool) *Function {
	return custom(name, "datetime", name+"(str[, fmt])", "Text read as "+t.SQL()+".", func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 1, 2, len(args)); err != nil {
			return nil, err
		}
		t := t
		if name == "to_timestamp" || name == "try_to_timestamp" {
			t = s.timestampType()
		}
		b := &Bound{Result: t, Nullable: true, CanFail: !isTry}
		from := args[0].Type
		mode := CastANSI
		if isTry || !s.ANSI {
			mode = CastTry
		}
		var cast Kernel
		if len(args) == 2 && !Implicit(s, args[1].Type, tString) {
			return nil, errInputType(callText(name, args), 1, quoteType(tString), args[1])
		}
		number := from.IsNumeric() && name != "to_timestamp_ntz" && t.Kind != schema.Date
		if !isTemporal(from) && !number { // read as its text
			if !Implicit(s, from, tString) {
				return nil, errInputType(callText(name, args), 0, `("STRING" or "DATE" or "TIMESTAMP" or "TIMESTAMP WITHOUT TIME ZONE")`, args[0])
			}
			from = tString
		}
		if from.Kind == schema.String && len(args) == 2 {
			b.Args = []schema.Type{tString, tString}
			b.Kernel = parseKernel(s, t, try, mode)
			return b, nil
		}
		if isTemporal(from) && len(args) == 2 {
			b.Args, b.CanFail, b.Kernel = []schema.Type{from, tString}, false, timeKernel(s, t)
			return b, nil
		}
		if cast = castKernel(s, from, t, mode); cast == nil {
			return nil, errInputType(callText(name, args), 0, `("STRING" or "DATE" or "TIMESTAMP" or "TIMESTAMP WITHOUT TIME ZONE")`, args[0])
		}
		b.Args = []schema.Type{from}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			in := args[0]
			if in.Const {
				flat := column.Flatten(c.Pool, in)
				defer flat.Release()
				in = flat
			}
			cast(c, []*vector{in}, out)
			if len(args) < 2 {
				return
			}
			for i := range c.Rows { // a pattern that is NULL makes the row NULL
				if args[1].IsNull(i) {
					out.SetNull(i)
				}
			}
		}
		if len(args) == 2 {
			b.Args = append(b.Args, tString)
		}
		return b, nil
	})
}

// timeKernel takes a date or time for text read by a pattern: the number that
// it is becomes the other kind of time as it stands, other than in a cast.
func timeKernel(s *Session, t schema.Type) Kernel {
	zone := s.zone()
	return func(c *Ctx, args []*vector, out *vector) {
		v := args[0]
		c.live(out, func(i int) {
			m := intAt(v, i)
			if v.Type.Kind == schema.Date {
				m = zone.ToInstant(m * text.MicrosPerDay)
			}
			if t.Kind == schema.Date {
				days, _ := text.SplitMicros(zone.ToLocal(m))
				out.I32[i] = int32(days)
				return
			}
			out.I64[i] = m
		})
	}
}

func parseKernel(s *Session, t schema.Type, try string, mode CastMode) Kernel {
	zone := s.zone()
	return func(c *Ctx, args []*vector, out *vector) {
		c.live(out, func(i int) {
			p, err := c.pattern(args[1].Str(i), true)
			if err != nil {
				c.Fail(out, i, err)
				return
			}
			in, ok := args[0].Str(i), false
			switch t.Kind {
			case schema.Date:
				out.I32[i], ok = p.ParseDate(in)
			case schema.Timestamp:
				out.I64[i], ok = p.ParseTimestamp(in, zone)
			default:
				out.I64[i], ok = p.ParseLocal(in, true)
			}
			switch {
			case ok:
			case mode == CastTry:
				out.SetNull(i)
			default:
				c.Fail(out, i, errParse(try, string(in)))
			}
		})
	}
}

// unixFunction gives seconds since the epoch of text, dates and timestamps.
func unixFunction(name string, least int) *Function {
	f := custom(name, "datetime", name+"([timeExp[, fmt]])", "Seconds since the epoch.", func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, least, 2, len(args)); err != nil {
			return nil, err
		}
		b := &Bound{Result: tBigint}
		if len(args) == 0 {
			b.Kernel = func(c *Ctx, _ []*vector, out *vector) {
				c.Each(func(i int) { out.I64[i] = floorDiv(c.Now, text.MicrosPerSecond) })
			}
			return b, nil
		}
		b.Nullable, b.CanFail = true, true
		t := args[0].Type
		switch t.Kind {
		case schema.String, schema.Void:
			t = tString
		case schema.Date, schema.Timestamp, schema.TimestampNTZ:
		default:
			return nil, errInputType(callText(name, args), 0, `("STRING" or "DATE" or "TIMESTAMP" or "TIMESTAMP WITHOUT TIME ZONE")`, args[0])
		}
		b.Args = []schema.Type{t}
		if len(args) == 2 {
			if k := args[1].Type.Kind; k != schema.String && k != schema.Void {
				return nil, errInputType(callText(name, args), 1, quoteType(tString), args[1])
			}
			b.Args = append(b.Args, tString)
		}
		b.Kernel = unixKernel(s, t)
		return b, nil
	})
	return f
}

func unixKernel(s *Session, t schema.Type) Kernel {
	zone := s.zone()
	return func(c *Ctx, args []*vector, out *vector) {
		v := args[0]
		c.live(out, func(i int) {
			r := v.Row(i)
			switch t.Kind {
			case schema.Date:
				out.I64[i] = floorDiv(zone.ToInstant(int64(v.I32[r])*text.MicrosPerDay), text.MicrosPerSecond)
			case schema.Timestamp, schema.TimestampNTZ: // Spark divides toward zero here
				out.I64[i] = v.I64[r] / text.MicrosPerSecond
			default:
				pattern := standardPattern
				if len(args) == 2 {
					pattern = args[1].Str(i)
				}
				p, err := c.pattern(pattern, true)
				if err != nil {
					c.Fail(out, i, err)
					return
				}
				m, ok := p.ParseTimestamp(v.Str(i), zone)
				if !ok {
					failOrNull(c.Session, c, out, i, errParse("try_to_timestamp", string(v.Str(i))))
					return
				}
				out.I64[i] = floorDiv(m, text.MicrosPerSecond)
			}
		})
	}
}
