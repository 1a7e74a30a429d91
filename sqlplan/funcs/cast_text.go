package funcs

import (
	"math"
	"strconv"
	"strings"

	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Literals as Spark writes them in messages.

func intLiteral(x int64, t schema.Type) string {
	s := strconv.FormatInt(x, 10)
	switch t.Kind {
	case schema.Int8:
		return s + "Y"
	case schema.Int16:
		return s + "S"
	case schema.Int64:
		return s + "L"
	}
	return s
}

func floatLiteral(x float64, t schema.Type) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "CAST('" + string(text.AppendDouble(nil, x)) + "' AS " + t.SQL() + ")"
	case t.Kind == schema.Float32:
		return "CAST(" + string(text.AppendFloat(nil, float32(x))) + " AS FLOAT)"
	}
	return string(text.AppendDouble(nil, x)) + "D"
}

func decimalLiteral(v column.Int128, scale int) string {
	return string(text.AppendDecimal(nil, v, scale)) + "BD"
}

// trimFloat prints a float as Java's BigDecimal of its text does.
func trimFloat(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', -1, 64), ".0")
}

// shortFloat is the double that has the text of a float.
func shortFloat[A floating](x A) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return v
}

// castToString prints any type.
func castToString(s *Session, from schema.Type) Kernel {
	if from.Kind == schema.String || from.Kind == schema.Binary {
		return copyBytes
	}
	if from.Kind == schema.Variant {
		return nil
	}
	p := newPrinter(s)
	return func(c *Ctx, args []*vector, out *vector) {
		v := args[0]
		c.appendRows(out, func(i int, b []byte) []byte { return p.append(b, v, i) })
	}
}

// copyBytes copies strings or binaries.
func copyBytes(c *Ctx, args []*vector, out *vector) {
	v := args[0]
	out.Offsets = append(out.Offsets[:0], v.Offsets[:c.Rows+1]...)
	out.Bytes = append(out.Bytes[:0], v.Bytes[:v.Offsets[c.Rows]]...)
	out.Len = c.Rows
}

// printer prints values as CAST(x AS STRING) does.
type printer struct {
	zone *text.Zone
	ansi bool
}

func newPrinter(s *Session) *printer { return &printer{zone: s.zone(), ansi: s.ANSI} }

// AppendValueText appends row i of v as CAST(v AS STRING) prints it; null is
// the word null.
func AppendValueText(dst []byte, s *Session, v *column.Vector, i int) []byte {
	return newPrinter(s).append(dst, v, i)
}

//tidy:allow-long one flat switch over the types
func (p *printer) append(b []byte, v *vector, i int) []byte {
	if v.IsNull(i) {
		return append(b, "null"...)
	}
	if v.Dict != nil {
		v, i = v.Dict, int(v.Index[i])
	}
	i = v.Row(i)
	switch t := v.Type; t.Kind {
	case schema.Boolean:
		return strconv.AppendBool(b, v.Bool[i])
	case schema.Int8:
		return text.AppendInt(b, int64(v.I8[i]))
	case schema.Int16:
		return text.AppendInt(b, int64(v.I16[i]))
	case schema.Int32:
		return text.AppendInt(b, int64(v.I32[i]))
	case schema.Int64:
		return text.AppendInt(b, v.I64[i])
	case schema.Float32:
		return text.AppendFloat(b, v.F32[i])
	case schema.Float64:
		return text.AppendDouble(b, v.F64[i])
	case schema.Decimal:
		if !p.ansi {
			return text.AppendDecimalJava(b, decimalAt(v, i), t.Scale)
		}
		return text.AppendDecimal(b, decimalAt(v, i), t.Scale)
	case schema.String, schema.Binary:
		return append(b, v.Str(i)...)
	case schema.Date:
		return text.AppendDate(b, v.I32[i])
	case schema.Timestamp:
		return text.AppendTimestamp(b, v.I64[i], p.zone)
	case schema.TimestampNTZ:
		return text.AppendTimestampNTZ(b, v.I64[i])
	case schema.YearMonthInterval:
		return text.AppendYearMonth(b, v.I32[i], t.From, t.To)
	case schema.DayTimeInterval:
		return text.AppendDayTime(b, v.I64[i], t.From, t.To)
	case schema.CalendarInterval:
		return text.AppendInterval(b, calendarAt(v, i))
	case schema.Variant:
		return variant.AppendJSON(b, v.Children[0].Str(i), v.Children[1].Str(i), p.zone)
	case schema.Array, schema.Map:
		return p.appendList(b, v, i)
	case schema.Struct:
		b = append(b, '{')
		for f, child := range v.Children {
			if f > 0 {
				b = append(b, ", "...)
			}
			b = p.append(b, child, i)
		}
		return append(b, '}')
	}
	return b
}

func (p *printer) appendList(b []byte, v *vector, i int) []byte {
	from, to := v.List(i)
	isMap := v.Type.Kind == schema.Map
	left, right := byte('['), byte(']')
	if isMap {
		left, right = '{', '}'
	}
	b = append(b, left)
	for k := from; k < to; k++ {
		if k > from {
			b = append(b, ", "...)
		}
		b = p.append(b, v.Children[0], k)
		if isMap {
			b = p.append(append(b, " -> "...), v.Children[1], k)
		}
	}
	return append(b, right)
}

func calendarAt(v *vector, i int) text.Interval {
	return text.Interval{Months: v.Children[0].I32[i], Days: v.Children[1].I32[i], Micros: v.Children[2].I64[i]}
}

// castFromString reads text.
func castFromString(s *Session, to schema.Type, mode CastMode) Kernel {
	lax := mode == CastLegacy
	switch to.Kind {
	case schema.Binary:
		return copyBytes
	case schema.Boolean:
		return parseRows(to, bools, text.ParseBool)
	case schema.Int8:
		return parseRows(to, i8s, parseIntOf[int8](8, lax))
	case schema.Int16:
		return parseRows(to, i16s, parseIntOf[int16](16, lax))
	case schema.Int32:
		return parseRows(to, i32s, parseIntOf[int32](32, lax))
	case schema.Int64:
		return parseRows(to, i64s, parseIntOf[int64](64, lax))
	case schema.Float32:
		return parseRows(to, f32s, text.ParseFloat)
	case schema.Float64:
		return parseRows(to, f64s, text.ParseDouble)
	case schema.Decimal:
		return stringToDecimal(to)
	case schema.Date:
		return stringToDate(s, to)
	case schema.Timestamp:
		return stringToTimestamp(s, to)
	case schema.TimestampNTZ:
		return parseRows(to, i64s, func(b []byte) (int64, bool) {
			if v, ok := text.ParseTimestampNTZ(b, true); ok {
				return v, true
			}
			v, ok := text.SpecialTimestamp(b, s.zone(), 7*text.MicrosPerDay)
			return v, ok && v == 0
		})
	case schema.YearMonthInterval, schema.DayTimeInterval, schema.CalendarInterval:
		return stringToInterval(to)
	}
	return nil
}

func parseIntOf[T signedInt](bits uint, lax bool) func([]byte) (T, bool) {
	f := text.ParseInt
	if lax {
		f = text.ParseIntLax
	}
	return func(b []byte) (T, bool) {
		v, ok := f(b, bits)
		return T(v), ok
	}
}

// parseRows reads each row; what cannot be read fails with CAST_INVALID_INPUT.
func parseRows[T any](to schema.Type, out slice[T], parse func([]byte) (T, bool)) Kernel {
	return func(c *Ctx, args []*vector, o *vector) {
		in, b := args[0], out(o)
		c.live(o, func(i int) {
			v, ok := parse(in.Bytes[in.Offsets[i]:in.Offsets[i+1]])
			if !ok {
				c.failInput(o, i, in, to)
				return
			}
			b[i] = v
		})
	}
}

func (c *Ctx) failInput(o *vector, i int, in *vector, to schema.Type) {
	if c.Try {
		o.SetNull(i)
		return
	}
	c.Fail(o, i, errCastInput(quoteSQL(string(in.Str(i))), in.Type, to))
}

func stringToDecimal(to schema.Type) Kernel {
	return func(c *Ctx, args []*vector, o *vector) {
		in := args[0]
		c.live(o, func(i int) {
			v, st := text.ParseDecimal(in.Str(i), to.Precision, to.Scale)
			switch st {
			case text.DecimalOK:
				setDecimal(o, i, v)
			case text.DecimalInvalid:
				c.failInput(o, i, in, to)
			default:
				c.Fail(o, i, errDecimalRange(string(text.Trim(in.Str(i))), to.Precision, to.Scale))
			}
		})
	}
}

func stringToDate(s *Session, to schema.Type) Kernel {
	zone := s.zone()
	return func(c *Ctx, args []*vector, o *vector) {
		in := args[0]
		c.live(o, func(i int) {
			v, ok := text.ParseDate(in.Str(i))
			if !ok {
				v, ok = text.SpecialDate(in.Str(i), zone, 7*text.MicrosPerDay)
				ok = ok && v == 0 // epoch; the others only as constants
			}
			if !ok {
				c.failInput(o, i, in, to)
				return
			}
			o.I32[i] = v
		})
	}
}

func stringToTimestamp(s *Session, to schema.Type) Kernel {
	zone := s.zone()
	return func(c *Ctx, args []*vector, o *vector) {
		in := args[0]
		c.live(o, func(i int) {
			v, ok := text.ParseTimestampAt(in.Str(i), zone, c.Now)
			if !ok {
				v, ok = text.SpecialTimestamp(in.Str(i), zone, 7*text.MicrosPerDay)
				ok = ok && v == 0 // epoch; the others only as constants
			}
			if !ok {
				c.failInput(o, i, in, to)
				return
			}
			o.I64[i] = v
		})
	}
}

func stringToInterval(to schema.Type) Kernel {
	return func(c *Ctx, args []*vector, o *vector) {
		in := args[0]
		c.live(o, func(i int) {
			var st text.IntervalStatus
			switch to.Kind {
			case schema.YearMonthInterval:
				o.I32[i], st = text.ParseYearMonth(in.Str(i), to.From, to.To)
			case schema.DayTimeInterval:
				o.I64[i], st = text.ParseDayTime(in.Str(i), to.From, to.To)
			default:
				v, ok := text.ParseInterval(in.Str(i))
				if ok != text.IntervalOK { // Spark gives null in both modes
					o.SetNull(i)
					return
				}
				o.Children[0].I32[i], o.Children[1].I32[i], o.Children[2].I64[i] = v.Months, v.Days, v.Micros
			}
			if st != text.IntervalOK {
				c.Fail(o, i, errIntervalText(string(in.Str(i)), to, st))
			}
		})
	}
}

func errIntervalText(value string, to schema.Type, st text.IntervalStatus) *Error {
	switch {
	case to.Kind == schema.CalendarInterval:
		return errCastInput(quoteSQL(value), tString, to)
	case st == text.IntervalOverflow:
		return errIntervalOverflow("")
	case to.Kind == schema.YearMonthInterval:
		return NewError("INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING", "Error parsing '"+value+
			"' to interval. Please ensure that the value provided is in a valid format for defining an interval: it does not match "+to.SQL()+".",
			map[string]string{"input": value, "typeName": to.SQL()})
	}
	return NewError("INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING_WITH_NOTICE", "Error parsing '"+value+
		"' to interval. Please ensure that the value provided is in a valid format for defining an interval: it does not match "+to.SQL()+".",
		map[string]string{"input": value, "typeName": to.SQL()})
}
