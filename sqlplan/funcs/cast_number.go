package funcs

import (
	"encoding/binary"
	"math"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// unary makes a kernel that cannot fail from a function of one value.
func unary[A, B any](in slice[A], out slice[B], f func(A) B) Kernel {
	return func(c *Ctx, args []*vector, o *vector) {
		a, b := in(args[0]), out(o)
		if c.Sel == nil {
			for i, x := range a[:c.Rows] {
				b[i] = f(x)
			}
			return
		}
		for _, i := range c.Sel {
			b[i] = f(a[i])
		}
	}
}

// checked makes a kernel whose rows may fail: f returns an error or nil.
func checked[A, B any](in slice[A], out slice[B], f func(A) (B, *Error)) Kernel {
	return func(c *Ctx, args []*vector, o *vector) {
		a, b := in(args[0]), out(o)
		c.live(o, func(i int) {
			v, err := f(a[i])
			if err != nil {
				c.Fail(o, i, err)
				return
			}
			b[i] = v
		})
	}
}

func castFromBool(to schema.Type, mode CastMode) Kernel {
	switch to.Kind {
	case schema.Int8:
		return unary(bools, i8s, boolInt[int8])
	case schema.Int16:
		return unary(bools, i16s, boolInt[int16])
	case schema.Int32:
		return unary(bools, i32s, boolInt[int32])
	case schema.Int64:
		return unary(bools, i64s, boolInt[int64])
	case schema.Float32:
		return unary(bools, f32s, boolInt[float32])
	case schema.Float64:
		return unary(bools, f64s, boolInt[float64])
	case schema.Decimal:
		return toDecimal(to, bools, func(x bool) (column.Int128, *Error) {
			return decimalOfInt(boolInt[int64](x), to)
		})
	case schema.Timestamp:
		if mode == CastLegacy {
			return unary(bools, i64s, boolInt[int64])
		}
	}
	return nil
}

func boolInt[T signedInt | floating](x bool) T {
	if x {
		return 1
	}
	return 0
}

func castFromNumber(s *Session, from, to schema.Type, mode CastMode) Kernel {
	switch from.Kind {
	case schema.Int8:
		return castFromInt(i8s, from, to, mode)
	case schema.Int16:
		return castFromInt(i16s, from, to, mode)
	case schema.Int32:
		return castFromInt(i32s, from, to, mode)
	case schema.Int64:
		return castFromInt(i64s, from, to, mode)
	case schema.Float32:
		return castFromFloat(f32s, from, to, mode)
	case schema.Float64:
		return castFromFloat(f64s, from, to, mode)
	}
	if column.PhysicalOf(from) == column.PhysI64 {
		return castFromDecimal(i64s, column.FromInt64, from, to, mode)
	}
	return castFromDecimal(i128s, func(v column.Int128) column.Int128 { return v }, from, to, mode)
}

func castFromInt[A signedInt](in slice[A], from, to schema.Type, mode CastMode) Kernel {
	switch to.Kind {
	case schema.Boolean:
		return unary(in, bools, func(x A) bool { return x != 0 })
	case schema.Int8:
		return intToInt(in, i8s, from, to, mode)
	case schema.Int16:
		return intToInt(in, i16s, from, to, mode)
	case schema.Int32:
		return intToInt(in, i32s, from, to, mode)
	case schema.Int64:
		return intToInt(in, i64s, from, to, mode)
	case schema.Float32:
		return unary(in, f32s, func(x A) float32 { return float32(x) })
	case schema.Float64:
		return unary(in, f64s, func(x A) float64 { return float64(x) })
	case schema.Decimal:
		return toDecimal(to, in, func(x A) (column.Int128, *Error) { return decimalOfInt(int64(x), to) })
	case schema.Timestamp:
		return unary(in, i64s, func(x A) int64 { return saturatingMul(int64(x), text.MicrosPerSecond) })
	case schema.Binary:
		if mode == CastLegacy {
			return intToBinary(in, from)
		}
	case schema.DayTimeInterval, schema.YearMonthInterval:
		return intToInterval(in, from, to)
	}
	return nil
}

// intToInt converts between integer widths: wraps in legacy mode, fails where
// the value does not fit else.
func intToInt[A, B signedInt](in slice[A], out slice[B], from, to schema.Type, mode CastMode) Kernel {
	return func(c *Ctx, args []*vector, o *vector) {
		a, b := in(args[0])[:c.Rows], out(o)[:c.Rows]
		lost := int64(0)
		for i, x := range a {
			y := B(x)
			b[i] = y
			lost |= int64(x) ^ int64(y)
		}
		if lost == 0 || mode == CastLegacy {
			return
		}
		c.live(o, func(i int) {
			if int64(a[i]) != int64(b[i]) {
				c.Fail(o, i, errCastOverflow(intLiteral(int64(a[i]), from), from, to))
			}
		})
	}
}

func saturatingMul(x, m int64) int64 {
	r := x * m
	if x != 0 && (r/x != m) {
		if x < 0 {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	return r
}

func intToBinary[A signedInt](in slice[A], from schema.Type) Kernel {
	width := map[schema.Kind]int{schema.Int8: 1, schema.Int16: 2, schema.Int32: 4, schema.Int64: 8}[from.Kind]
	return func(c *Ctx, args []*vector, out *vector) {
		a := in(args[0])
		c.appendRows(out, func(i int, b []byte) []byte {
			var buf [8]byte
			binary.BigEndian.PutUint64(buf[:], uint64(int64(a[i])))
			return append(b, buf[8-width:]...)
		})
	}
}

func intToInterval[A signedInt](in slice[A], from, to schema.Type) Kernel {
	unit := intervalUnit(to)
	return func(c *Ctx, args []*vector, out *vector) {
		a := in(args[0])
		c.live(out, func(i int) {
			x := int64(a[i])
			v := x * unit
			if x != 0 && v/x != unit || to.Kind == schema.YearMonthInterval && v != int64(int32(v)) {
				c.Fail(out, i, errCastOverflow(intLiteral(x, from), from, to))
				return
			}
			if to.Kind == schema.YearMonthInterval {
				out.I32[i] = int32(v)
			} else {
				out.I64[i] = v
			}
		})
	}
}

// intervalUnit is the size of the last field of an interval type.
func intervalUnit(t schema.Type) int64 {
	switch t.To {
	case schema.Year:
		return 12
	case schema.Month:
		return 1
	case schema.Day:
		return text.MicrosPerDay
	case schema.Hour:
		return text.MicrosPerHour
	case schema.Minute:
		return text.MicrosPerMinute
	}
	return text.MicrosPerSecond
}

func castFromFloat[A floating](in slice[A], from, to schema.Type, mode CastMode) Kernel {
	switch to.Kind {
	case schema.Boolean:
		return unary(in, bools, func(x A) bool { return x != 0 })
	case schema.Int8:
		return floatToInt(in, i8s, from, to, mode)
	case schema.Int16:
		return floatToInt(in, i16s, from, to, mode)
	case schema.Int32:
		return floatToInt(in, i32s, from, to, mode)
	case schema.Int64:
		return floatToInt(in, i64s, from, to, mode)
	case schema.Float32:
		return unary(in, f32s, func(x A) float32 { return float32(x) })
	case schema.Float64:
		return unary(in, f64s, func(x A) float64 { return float64(x) })
	case schema.Decimal:
		return floatToDecimal(in, from, to)
	case schema.Timestamp:
		return floatToTimestamp(in, from, to)
	}
	return nil
}

// intLimits are the bounds of the result as floats: low is included, high not.
func intLimits(k schema.Kind) (low, high float64) {
	switch k {
	case schema.Int8:
		return -128, 128
	case schema.Int16:
		return -32768, 32768
	case schema.Int32:
		return -2147483648, 2147483648
	}
	return -9223372036854775808, 9223372036854775808
}

func floatToInt[A floating, B signedInt](in slice[A], out slice[B], from, to schema.Type, mode CastMode) Kernel {
	low, high := intLimits(to.Kind)
	return func(c *Ctx, args []*vector, o *vector) {
		a, b := in(args[0]), out(o)
		c.live(o, func(i int) {
			x := math.Trunc(float64(a[i]))
			switch {
			case x >= low && x < high:
				b[i] = B(x)
			case mode == CastLegacy:
				b[i] = B(javaInt(x, to.Kind))
			case x == 9223372036854775808 && to.Kind == schema.Int64: // Java rounds bigint's maximum up
				b[i] = B(javaInt(x, to.Kind))
			default:
				c.Fail(o, i, errCastOverflow(floatLiteral(float64(a[i]), from), from, to))
			}
		})
	}
}

// javaInt is Java's conversion: saturating to int or long, then cut.
func javaInt(x float64, k schema.Kind) int64 {
	low, high := intLimits(k)
	if k == schema.Int8 || k == schema.Int16 {
		low, high = intLimits(schema.Int32)
	}
	switch {
	case x != x:
		return 0
	case x < low:
		if k == schema.Int64 {
			return math.MinInt64
		}
		return math.MinInt32
	case x >= high:
		if k == schema.Int64 {
			return math.MaxInt64
		}
		return math.MaxInt32
	}
	return int64(x)
}

func floatToDecimal[A floating](in slice[A], from, to schema.Type) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a := in(args[0])
		c.live(out, func(i int) {
			x := float64(a[i])
			if from.Kind == schema.Float32 {
				x = shortFloat(a[i])
			}
			v, st := text.DecimalFromFloat(x, to.Precision, to.Scale)
			switch st {
			case text.DecimalOK:
				setDecimal(out, i, v)
			case text.DecimalInvalid: // NaN and infinities are null even in ANSI mode
				out.SetNull(i)
			default:
				c.Fail(out, i, errDecimalRange(trimFloat(x), to.Precision, to.Scale))
			}
		})
	}
}

func floatToTimestamp[A floating](in slice[A], from, to schema.Type) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a := in(args[0])
		c.live(out, func(i int) {
			x := float64(a[i])
			if math.IsNaN(x) || math.IsInf(x, 0) {
				c.Fail(out, i, errCastInput(floatLiteral(x, from), from, to))
				return
			}
			out.I64[i] = javaInt(x*1e6, schema.Int64)
		})
	}
}

func castFromDecimal[A any](in slice[A], widen func(A) column.Int128, from, to schema.Type, mode CastMode) Kernel {
	whole := func(lo, hi int64) func(A) (int64, *Error) {
		return func(x A) (int64, *Error) {
			w := widen(x)
			v, ok := text.DecimalToInt(w, from.Scale)
			if !ok || v < lo || v > hi {
				if mode == CastLegacy {
					return int64(text.DecimalTruncate(w, from.Scale, 0).Lo), nil
				}
				return 0, errCastOverflow(decimalLiteral(w, from.Scale), from, to)
			}
			return v, nil
		}
	}
	switch to.Kind {
	case schema.Boolean:
		return unary(in, bools, func(x A) bool { return widen(x) != column.Int128{} })
	case schema.Int8:
		return checked(in, i8s, narrowTo[A, int8](whole(math.MinInt8, math.MaxInt8)))
	case schema.Int16:
		return checked(in, i16s, narrowTo[A, int16](whole(math.MinInt16, math.MaxInt16)))
	case schema.Int32:
		return checked(in, i32s, narrowTo[A, int32](whole(math.MinInt32, math.MaxInt32)))
	case schema.Int64:
		return checked(in, i64s, whole(math.MinInt64, math.MaxInt64))
	case schema.Float32:
		return unary(in, f32s, func(x A) float32 { return float32(text.DecimalToFloat(widen(x), from.Scale)) })
	case schema.Float64:
		return unary(in, f64s, func(x A) float64 { return text.DecimalToFloat(widen(x), from.Scale) })
	case schema.Decimal:
		if k := widenScale(from, to); k != nil {
			return k
		}
		return toDecimal(to, in, func(x A) (column.Int128, *Error) {
			return rescaled(widen(x), from.Scale, to)
		})
	case schema.Timestamp:
		return checked(in, i64s, func(x A) (int64, *Error) {
			w, ok := widen(x), true
			if from.Scale < 6 {
				w, ok = text.DecimalRescale(w, from.Scale, 6)
			}
			v, fits := text.DecimalTruncate(w, max(from.Scale, 6), 6).Int64()
			if !ok || !fits {
				return 0, errCastOverflow(decimalLiteral(widen(x), from.Scale), from, to)
			}
			return v, nil
		})
	case schema.DayTimeInterval, schema.YearMonthInterval:
		return decimalToInterval(in, widen, from, to)
	}
	return nil
}

// widenScale is the fast cast between decimals of at most 18 digits where
// every value fits.
func widenScale(from, to schema.Type) Kernel {
	if to.Precision > column.MaxDecimal64 || to.Scale < from.Scale || to.Precision-to.Scale < from.Precision-from.Scale {
		return nil
	}
	m := int64(1)
	for range to.Scale - from.Scale {
		m *= 10
	}
	return func(c *Ctx, args []*vector, out *vector) {
		for i, x := range args[0].I64[:c.Rows] {
			out.I64[i] = x * m
		}
	}
}

func narrowTo[A any, B signedInt](f func(A) (int64, *Error)) func(A) (B, *Error) {
	return func(x A) (B, *Error) {
		v, err := f(x)
		return B(v), err
	}
}

func decimalToInterval[A any](in slice[A], widen func(A) column.Int128, from, to schema.Type) Kernel {
	unit := column.FromInt64(intervalUnit(to))
	return func(c *Ctx, args []*vector, out *vector) {
		a := in(args[0])
		c.live(out, func(i int) {
			w, scale := widen(a[i]), from.Scale
			if to.Kind == schema.DayTimeInterval && to.To != schema.Second { // only seconds have fractions
				w, scale = text.DecimalTruncate(w, scale, 0), 0
			}
			p, ok := text.DecimalMul(w, unit, scale)
			v, fits := p.Int64()
			if !ok || !fits || to.Kind == schema.YearMonthInterval && v != int64(int32(v)) {
				c.Fail(out, i, errCastOverflow(decimalLiteral(widen(a[i]), from.Scale), from, to))
				return
			}
			if to.Kind == schema.YearMonthInterval {
				out.I32[i] = int32(v)
			} else {
				out.I64[i] = v
			}
		})
	}
}

// setDecimal stores an unscaled value in a decimal vector of any width.
func setDecimal(out *vector, i int, v column.Int128) {
	if out.Type.Precision > column.MaxDecimal64 {
		out.I128[i] = v
		return
	}
	out.I64[i] = int64(v.Lo)
}

// decimalAt reads the unscaled value of a decimal of any width.
func decimalAt(v *vector, i int) column.Int128 {
	i = v.Row(i)
	if v.Type.Precision > column.MaxDecimal64 {
		return v.I128[i]
	}
	return column.FromInt64(v.I64[i])
}

func toDecimal[A any](to schema.Type, in slice[A], f func(A) (column.Int128, *Error)) Kernel {
	if to.Precision > column.MaxDecimal64 {
		return checked(in, i128s, f)
	}
	return checked(in, i64s, func(x A) (int64, *Error) {
		v, err := f(x)
		return int64(v.Lo), err
	})
}

func decimalOfInt(x int64, to schema.Type) (column.Int128, *Error) {
	v, st := text.DecimalFromInt(x, to.Precision, to.Scale)
	if st != text.DecimalOK {
		return v, errDecimalRange(string(text.AppendInt(nil, x)), to.Precision, to.Scale)
	}
	return v, nil
}

// rescaled brings an unscaled value to the scale of to and checks that it fits.
func rescaled(v column.Int128, scale int, to schema.Type) (column.Int128, *Error) {
	r, ok := text.DecimalRescale(v, scale, to.Scale)
	if !ok || !text.DecimalFits(r, to.Precision) {
		return r, errDecimalRange(string(text.AppendDecimal(nil, v, scale)), to.Precision, to.Scale)
	}
	return r, nil
}

// decimalOfFloat is the decimal nearest to a float.
func decimalOfFloat(x float64, t schema.Type) (column.Int128, *Error) {
	v, st := text.DecimalFromFloat(x, t.Precision, t.Scale)
	if st != text.DecimalOK {
		return v, errDecimalRange(trimFloat(x), t.Precision, t.Scale)
	}
	return v, nil
}
