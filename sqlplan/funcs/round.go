package funcs

import (
	"math"
	"math/big"
	"strconv"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// roundScale reads the constant second argument of round, ceil and floor.
func roundScale(s *Session, name string, args []Arg) (int, error) {
	if len(args) < 2 {
		return 0, nil
	}
	a := args[1]
	if !Implicit(s, a.Type, tInt) {
		return 0, errInputType(callText(name, args), 1, `"INT"`, a)
	}
	if a.Const == nil {
		return 0, errNotFoldable(callText(name, args), "scale", tInt, a)
	}
	if a.Const.IsNull(0) {
		return 0, nil
	}
	v, err := castConst(s, a, tInt)
	if err != nil || v.IsNull(0) {
		return 0, err
	}
	return int(v.I32[0]), nil
}

// roundFunction is round (half up) or bround (half even).
func roundFunction(name string, even bool) *Function {
	return custom(name, "math", name+"(expr[, scale])", "The value rounded to scale digits behind the point.", func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 1, 2, len(args)); err != nil {
			return nil, err
		}
		t, ok := pNumeric.take(s, args[0].Type)
		if !ok {
			return nil, errInputType(callText(name, args), 0, pNumeric.want, args[0])
		}
		d, err := roundScale(s, name, args)
		if err != nil {
			return nil, err
		}
		b := &Bound{Args: []schema.Type{t}, Result: t, Nullable: args[0].Nullable, CanFail: t.IsInteger() && d < 0}
		if len(args) == 2 {
			b.Args = append(b.Args, tInt)
		} else {
			b.Print = func(a []string) string { return name + "(" + a[0] + ", 0)" }
		}
		switch {
		case t.Kind == schema.Decimal:
			b.Result = roundedType(t, d)
			b.Kernel = roundDecimal(t, b.Result, d, even)
		case t.IsFloat():
			b.Kernel = roundFloats(t, d, even)
		default:
			b.Kernel = roundInts(s, t, d, even)
		}
		return b, nil
	})
}

// roundedType is the type of a decimal rounded to d digits.
func roundedType(t schema.Type, d int) schema.Type {
	whole := t.Precision - t.Scale + 1
	if d < 0 {
		return schema.DecimalOf(min(max(whole, -d+1), maxPrecision), 0)
	}
	scale := min(t.Scale, d)
	return schema.DecimalOf(min(whole+scale, maxPrecision), scale)
}

func roundDecimal(t, r schema.Type, d int, even bool) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		v := args[0]
		c.live(out, func(i int) {
			x := decimalAt(v, i)
			if even {
				x = text.DecimalRoundHalfEven(x, t.Scale, d)
			} else if d < t.Scale {
				x, _ = text.DecimalRescale(x, t.Scale, d)
			}
			if d < 0 {
				x, _ = text.DecimalRescale(x, d, 0)
			}
			if !text.DecimalFits(x, r.Precision) {
				failOrNull(c.Session, c, out, i, errDecimalRange(string(text.AppendDecimal(nil, x, r.Scale)), r.Precision, r.Scale))
				return
			}
			setDecimal(out, i, x)
		})
	}
}

func roundInts(s *Session, t schema.Type, d int, even bool) Kernel {
	if d >= 0 {
		return copyKernel
	}
	lo, hi := intRange(t.Kind)
	return func(c *Ctx, args []*vector, out *vector) {
		v := args[0]
		c.live(out, func(i int) {
			x := column.FromInt64(intAt(v, i))
			if even {
				x = text.DecimalRoundHalfEven(x, 0, d)
			} else {
				x, _ = text.DecimalRescale(x, 0, d)
			}
			x, ok := text.DecimalRescale(x, d, 0)
			n, fits := x.Int64()
			if !ok || !fits || n < lo || n > hi {
				if s.ANSI {
					what := map[schema.Kind]string{schema.Int8: "tinyint", schema.Int16: "smallint", schema.Int32: "integer", schema.Int64: "long"}[t.Kind]
					c.Fail(out, i, errOverflow(what+" overflow", ""))
					return
				}
				n = int64(x.Lo)
			}
			setInt(out, i, n)
		})
	}
}

// setInt stores an integer in a vector of any width.
func setInt(v *vector, i int, n int64) {
	switch column.PhysicalOf(v.Type) {
	case column.PhysI8:
		v.I8[i] = int8(n)
	case column.PhysI16:
		v.I16[i] = int16(n)
	case column.PhysI32:
		v.I32[i] = int32(n)
	case column.PhysI64:
		v.I64[i] = n
	}
}

func roundFloats(t schema.Type, d int, even bool) Kernel {
	if t.Kind == schema.Float32 {
		return unary(f32s, f32s, func(x float32) float32 { return float32(roundFloat(shortFloat(x), d, even)) })
	}
	return unary(f64s, f64s, func(x float64) float64 { return roundFloat(x, d, even) })
}

// roundFloat rounds the shortest decimal text of x, as Spark does.
func roundFloat(x float64, d int, even bool) float64 {
	if x != x || x-x != 0 || x == 0 || d > 400 {
		return x
	}
	if d >= 0 && d <= 15 { // far from a tie the product tells
		scale := floatPow10[d]
		y := x * scale
		whole := math.Floor(y)
		if frac := y - whole; math.Abs(y) < 1<<40 && math.Abs(frac-0.5) > 1e-3 {
			if frac > 0.5 {
				whole++
			}
			if whole == 0 {
				return math.Copysign(0, x)
			}
			return whole / scale
		}
	}
	var buf [400]byte
	s := strconv.AppendFloat(buf[:0], x, 'e', -1, 64)
	v, exp := floatDigits(s)
	scale := -exp
	if scale <= d {
		return x
	}
	drop := scale - d
	if drop > 340 {
		return 0
	}
	div := bigPow(drop)
	q, rem := new(big.Int).QuoRem(v, div, new(big.Int))
	twice := rem.Abs(rem).Lsh(rem, 1).Cmp(div)
	if twice > 0 || twice == 0 && (!even || q.Bit(0) == 1) {
		q.Add(q, big.NewInt(int64(v.Sign())))
	}
	r, err := strconv.ParseFloat(q.String()+"e"+strconv.Itoa(-d), 64)
	if err != nil {
		return x
	}
	return r
}

var floatPow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// floatDigits splits a text d.ddde±xx into digits and exponent.
func floatDigits(s []byte) (*big.Int, int) {
	digits, exp := []byte{}, 0
	for k, c := range s {
		if c == 'e' {
			exp, _ = strconv.Atoi(string(s[k+1:]))
			break
		}
		if c != '.' {
			digits = append(digits, c)
		}
	}
	frac := len(digits) - 1
	if digits[0] == '-' {
		frac--
	}
	v, _ := new(big.Int).SetString(string(digits), 10)
	return v, exp - frac
}

// ceilFunction is ceil (up) or floor.
func ceilFunction(name string, up bool) *Function {
	return custom(name, "math", name+"(expr[, scale])", "The nearest whole number (or number of scale digits) that is not "+
		map[bool]string{true: "smaller.", false: "greater."}[up], func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 1, 2, len(args)); err != nil {
			return nil, err
		}
		if len(args) == 2 && (args[1].Const == nil || args[1].Const.IsNull(0) || args[1].Type.Kind != schema.Int32) {
			return nil, errNotConstant(name, "scale", tInt)
		}
		t, ok := pNumeric.take(s, args[0].Type)
		if !ok {
			return nil, errInputType(callText(name, args), 0, pNumeric.want, args[0])
		}
		d, err := roundScale(s, name, args)
		if err != nil {
			return nil, err
		}
		b := &Bound{Args: []schema.Type{t}, Nullable: args[0].Nullable, Print: func(a []string) string {
			if len(a) == 1 {
				return upperName(name) + "(" + a[0] + ")"
			}
			return name + "(" + joinTexts(a) + ")"
		}}
		if len(args) == 2 {
			b.Args = append(b.Args, tInt)
			if args[0].Type.Kind == schema.String {
				b.Args[0] = schema.DecimalOf(38, 18)
			} else if t.IsFloat() {
				b.Args[0] = schema.DecimalOf(30, 15)
				if t.Kind == schema.Float32 {
					b.Args[0] = schema.DecimalOf(14, 7)
				}
			} else {
				b.Args[0] = decimalFor(t)
			}
			b.Result = roundedType(b.Args[0], d)
			b.Kernel = ceilDecimal(b.Args[0], b.Result, d, up)
			return b, nil
		}
		switch {
		case t.Kind == schema.Decimal:
			b.Result = schema.DecimalOf(max(1, min(t.Precision-t.Scale+1, maxPrecision)), 0)
			if t.Scale == 0 {
				b.Result = t
			}
			b.Kernel = ceilDecimal(t, b.Result, 0, up)
		case t.IsInteger():
			b.Args[0], b.Result, b.Kernel = tBigint, tBigint, copyKernel
		default:
			b.Args[0], b.Result, b.CanFail = tDouble, tBigint, s.ANSI
			b.Kernel = ceilFloat(s, up)
		}
		return b, nil
	}).example("SELECT "+name+"(1.5D)", map[bool]string{true: "2", false: "1"}[up])
}

func upperName(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 32
		}
	}
	return string(b)
}

func ceilDecimal(t, r schema.Type, d int, up bool) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		v := args[0]
		c.live(out, func(i int) {
			x := decimalAt(v, i)
			switch {
			case d >= t.Scale:
			case up:
				x = text.DecimalCeil(x, t.Scale, d)
			default:
				x = text.DecimalFloor(x, t.Scale, d)
			}
			if d < 0 {
				x, _ = text.DecimalRescale(x, d, 0)
			}
			if !text.DecimalFits(x, r.Precision) {
				failOrNull(c.Session, c, out, i, errDecimalRange(string(text.AppendDecimal(nil, x, r.Scale)), r.Precision, r.Scale))
				return
			}
			setDecimal(out, i, x)
		})
	}
}

func ceilFloat(s *Session, up bool) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		c.live(out, func(i int) {
			x := args[0].F64[i]
			n := javaInt(x, schema.Int64)
			if f := float64(n); up && f < x && n < math.MaxInt64 {
				n++
			} else if !up && f > x && n > math.MinInt64 {
				n--
			}
			if s.ANSI && (x >= 9223372036854775808 || x < -9223372036854775808) {
				c.Fail(out, i, errOverflow("long overflow", ""))
				return
			}
			out.I64[i] = n
		})
	}
}
