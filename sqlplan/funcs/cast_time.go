package funcs

import (
	"math"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

func castFromTime(s *Session, from, to schema.Type, mode CastMode) Kernel {
	zone := s.zone()
	switch from.Kind {
	case schema.Date:
		switch to.Kind {
		case schema.Timestamp:
			return unary(i32s, i64s, func(d int32) int64 { return zone.ToInstant(int64(d) * text.MicrosPerDay) })
		case schema.TimestampNTZ:
			return unary(i32s, i64s, func(d int32) int64 { return int64(d) * text.MicrosPerDay })
		}
		if mode == CastLegacy && (to.IsNumeric() || to.Kind == schema.Boolean) { // Spark has the cast, and it gives nothing
			return func(c *Ctx, _ []*vector, out *vector) { c.Each(out.SetNull) }
		}
	case schema.TimestampNTZ:
		switch to.Kind {
		case schema.Date:
			return unary(i64s, i32s, daysOf)
		case schema.Timestamp:
			return unary(i64s, i64s, zone.ToInstant)
		}
	case schema.Timestamp:
		switch to.Kind {
		case schema.Date:
			return unary(i64s, i32s, func(m int64) int32 { return daysOf(zone.ToLocal(m)) })
		case schema.TimestampNTZ:
			return unary(i64s, i64s, zone.ToLocal)
		}
		return castTimestampNumber(from, to, mode)
	}
	return nil
}

// daysOf is the day of a local timestamp.
func daysOf(local int64) int32 {
	d := local / text.MicrosPerDay
	if local%text.MicrosPerDay < 0 {
		d--
	}
	return int32(d)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// castTimestampNumber gives the seconds since the epoch.
func castTimestampNumber(from, to schema.Type, mode CastMode) Kernel {
	seconds := func(lo, hi int64) func(int64) (int64, *Error) {
		return func(m int64) (int64, *Error) {
			v := floorDiv(m, text.MicrosPerSecond)
			if v < lo || v > hi {
				return 0, errCastOverflow("TIMESTAMP '"+string(text.AppendTimestampNTZ(nil, m))+"'", from, to)
			}
			return v, nil
		}
	}
	switch to.Kind {
	case schema.Boolean:
		if mode == CastLegacy {
			return unary(i64s, bools, func(m int64) bool { return m != 0 })
		}
	case schema.Int8:
		return checked(i64s, i8s, narrowTo[int64, int8](seconds(math.MinInt8, math.MaxInt8)))
	case schema.Int16:
		return checked(i64s, i16s, narrowTo[int64, int16](seconds(math.MinInt16, math.MaxInt16)))
	case schema.Int32:
		return checked(i64s, i32s, narrowTo[int64, int32](seconds(math.MinInt32, math.MaxInt32)))
	case schema.Int64:
		return checked(i64s, i64s, seconds(math.MinInt64, math.MaxInt64))
	case schema.Float32:
		return unary(i64s, f32s, func(m int64) float32 { return float32(float64(m) / 1e6) })
	case schema.Float64:
		return unary(i64s, f64s, func(m int64) float64 { return float64(m) / 1e6 })
	case schema.Decimal:
		return toDecimal(to, i64s, func(m int64) (column.Int128, *Error) { return rescaled(column.FromInt64(m), 6, to) })
	}
	return nil
}

func castFromInterval(from, to schema.Type) Kernel {
	if from.Kind == to.Kind {
		return intervalToInterval(from, to)
	}
	if from.Kind == schema.YearMonthInterval {
		return intervalToNumber(i32s, from, to)
	}
	return intervalToNumber(i64s, from, to)
}

// intervalToInterval cuts what is below the last field.
func intervalToInterval(from, to schema.Type) Kernel {
	unit := intervalUnit(to)
	if to.To == schema.Second {
		unit = 1
	}
	if from.Kind == schema.YearMonthInterval {
		return unary(i32s, i32s, func(m int32) int32 { return m - m%int32(unit) })
	}
	return unary(i64s, i64s, func(m int64) int64 { return m - m%unit })
}

func intervalToNumber[A signedInt](in slice[A], from, to schema.Type) Kernel {
	unit := intervalUnit(from)
	whole := func(lo, hi int64) func(A) (int64, *Error) {
		return func(x A) (int64, *Error) {
			v := int64(x) / unit
			if v < lo || v > hi {
				return 0, errCastOverflow(intLiteral(int64(x), tBigint), from, to)
			}
			return v, nil
		}
	}
	switch to.Kind {
	case schema.Int8:
		return checked(in, i8s, narrowTo[A, int8](whole(math.MinInt8, math.MaxInt8)))
	case schema.Int16:
		return checked(in, i16s, narrowTo[A, int16](whole(math.MinInt16, math.MaxInt16)))
	case schema.Int32:
		return checked(in, i32s, narrowTo[A, int32](whole(math.MinInt32, math.MaxInt32)))
	case schema.Int64:
		return checked(in, i64s, whole(math.MinInt64, math.MaxInt64))
	case schema.Decimal:
		return toDecimal(to, in, func(x A) (column.Int128, *Error) {
			if from.Kind == schema.YearMonthInterval || from.To != schema.Second {
				return decimalOfInt(int64(x)/unit, to)
			}
			return rescaled(column.FromInt64(int64(x)), 6, to)
		})
	}
	return nil
}
