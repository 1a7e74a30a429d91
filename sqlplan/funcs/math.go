package funcs

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// math1 makes a function of one DOUBLE.
func math1(name, doc, sql, result string, f func(float64) float64) *Function {
	return define(name, "math", name+"(expr)", doc, signature{
		params: []param{pDouble}, result: tDouble, kernel: unary(f64s, f64s, f),
	}).example(sql, result)
}

// mathNull is math1 where a NaN that stands for no value becomes null.
func mathNull(name, doc string, ok func(float64) bool, f func(float64) float64) *Function {
	return define(name, "math", name+"(expr)", doc, signature{
		params: []param{pDouble}, result: tDouble, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				if x := args[0].F64[i]; ok(x) {
					out.F64[i] = f(x)
				} else {
					out.SetNull(i)
				}
			})
		},
	})
}

func math2(name, usage, doc string, f func(a, b float64) float64) *Function {
	return define(name, "math", usage, doc, signature{
		params: []param{pDouble, pDouble}, result: tDouble,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			a, b := operand(c, args, 0, f64s), operand(c, args, 1, f64s)
			for i, x := range a {
				out.F64[i] = f(x, b[i])
			}
		},
	})
}

func constantMath(name, doc string, x float64) *Function {
	return define(name, "math", name+"()", doc, signature{
		result: tDouble, kernel: func(c *Ctx, _ []*vector, out *vector) {
			for i := range c.Rows {
				out.F64[i] = x
			}
		},
	})
}

func positive(x float64) bool { return x > 0 || x != x }

var mathFunctions = []*Function{
	math1("sqrt", "Square root.", "SELECT sqrt(16)", "4.0", math.Sqrt),
	math1("cbrt", "Cube root.", "SELECT cbrt(27)", "3.0", math.Cbrt),
	math1("exp", "e to the power of the value.", "SELECT exp(0)", "1.0", math.Exp),
	math1("expm1", "exp(expr) - 1.", "SELECT expm1(0)", "0.0", math.Expm1),
	math1("sin", "Sine.", "SELECT sin(0)", "0.0", math.Sin),
	math1("cos", "Cosine.", "SELECT cos(0)", "1.0", math.Cos),
	math1("tan", "Tangent.", "SELECT tan(0)", "0.0", math.Tan),
	math1("cot", "Cotangent.", "SELECT cot(1)", "0.6420926159343306", func(x float64) float64 { return 1 / math.Tan(x) }),
	math1("sec", "Secant.", "SELECT sec(0)", "1.0", func(x float64) float64 { return 1 / math.Cos(x) }),
	math1("csc", "Cosecant.", "SELECT csc(1)", "1.1883951057781212", func(x float64) float64 { return 1 / math.Sin(x) }),
	math1("asin", "Arc sine.", "SELECT asin(0)", "0.0", math.Asin),
	math1("acos", "Arc cosine.", "SELECT acos(1)", "0.0", math.Acos),
	math1("atan", "Arc tangent.", "SELECT atan(0)", "0.0", math.Atan),
	math1("sinh", "Hyperbolic sine.", "SELECT sinh(0)", "0.0", math.Sinh),
	math1("cosh", "Hyperbolic cosine.", "SELECT cosh(0)", "1.0", math.Cosh),
	math1("tanh", "Hyperbolic tangent.", "SELECT tanh(0)", "0.0", math.Tanh),
	math1("asinh", "Inverse hyperbolic sine.", "SELECT asinh(0)", "0.0", math.Asinh),
	math1("acosh", "Inverse hyperbolic cosine.", "SELECT acosh(1)", "0.0", math.Acosh),
	math1("atanh", "Inverse hyperbolic tangent.", "SELECT atanh(0)", "0.0", math.Atanh),
	math1("degrees", "Radians to degrees.", "SELECT degrees(3.141592653589793)", "180.0", func(x float64) float64 { return x * 180 / math.Pi }),
	math1("radians", "Degrees to radians.", "SELECT radians(180)", "3.141592653589793", func(x float64) float64 { return x / 180 * math.Pi }),
	math1("rint", "Nearest whole number, ties to even.", "SELECT rint(2.5)", "2.0", math.RoundToEven),
	mathNull("ln", "Natural logarithm; NULL at or below zero.", positive, math.Log).example("SELECT ln(1)", "0.0"),
	mathNull("log10", "Logarithm to base 10; NULL at or below zero.", positive, math.Log10).example("SELECT log10(10)", "1.0"),
	mathNull("log2", "Logarithm to base 2; NULL at or below zero.", positive, math.Log2).example("SELECT log2(8)", "3.0"),
	mathNull("log1p", "log(1 + expr); NULL at or below -1.", func(x float64) bool { return x > -1 || x != x }, math.Log1p).example("SELECT log1p(0)", "0.0"),
	math2("atan2", "atan2(exprY, exprX)", "Angle of a point.", func(y, x float64) float64 { return math.Atan2(y+0, x+0) }).example("SELECT atan2(0, 1)", "0.0"),
	math2("hypot", "hypot(expr1, expr2)", "sqrt(expr1² + expr2²).", math.Hypot).example("SELECT hypot(3, 4)", "5.0"),
	math2("pow", "pow(base, exponent)", "base to the power of exponent.", power).alias("power").example("SELECT pow(2, 3)", "8.0"),
	constantMath("pi", "The number pi.", math.Pi).example("SELECT pi()", "3.141592653589793"),
	constantMath("e", "Euler's number.", math.E).example("SELECT e()", "2.718281828459045"),
	custom("log", "math", "log([base, ]expr)", "Logarithm; NULL for arguments at or below zero.", bindLog).example("SELECT log(2, 8)", "3.0"),
	define("factorial", "math", "factorial(n)", "Factorial of 0 to 20, NULL else.", signature{
		params: []param{pInt}, result: tBigint, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				n := args[0].I32[i]
				if n < 0 || n > 20 {
					out.SetNull(i)
					return
				}
				f := int64(1)
				for k := int64(2); k <= int64(n); k++ {
					f *= k
				}
				out.I64[i] = f
			})
		},
	}).example("SELECT factorial(5)", "120"),
	custom("hex", "math", "hex(expr)", "Hexadecimal digits of a number, string or binary.", bindHex).example("SELECT hex(17)", "11"),
	define("unhex", "math", "unhex(str)", "Bytes of hexadecimal digits; NULL when it has others.", signature{
		params: []param{pString}, result: tBinary, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				r, ok := appendUnhex(b, args[0].Str(i))
				if !ok {
					out.SetNull(i)
					return b
				}
				return r
			})
		},
	}).example("SELECT decode(unhex('537061726B'), 'UTF-8')", "Spark"),
	define("bin", "math", "bin(expr)", "Binary digits of a number.", signature{
		params: []param{pBigint}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte { return strconv.AppendUint(b, uint64(args[0].I64[i]), 2) })
		},
	}).example("SELECT bin(13)", "1101"),
	define("conv", "math", "conv(num, from_base, to_base)", "A number's digits in another base.", signature{
		params: []param{pString, pInt, pInt}, result: tString, mayNull: true, canFail: true, kernel: convKernel,
	}).example("SELECT conv('100', 2, 10)", "4"),
	define("width_bucket", "math", "width_bucket(value, min, max, buckets)", "Number of the bucket that a value falls into.", signature{
		params: []param{pBucketed, pBucketed, pBucketed, pBigint}, result: tBigint, mayNull: true, check: bucketsAlike, kernel: widthBucketKernel,
	}).example("SELECT width_bucket(5.3, 0.2, 10.6, 5)", "3"),
	signFunction("sign"), signFunction("signum"),
	roundFunction("round", false).example("SELECT round(2.5)", "3"),
	roundFunction("bround", true).example("SELECT bround(2.5)", "2"),
	ceilFunction("ceil", true).alias("ceiling"), ceilFunction("floor", false),
	custom("abs", "math", "abs(expr)", "Absolute value.", func(s *Session, a []Arg) (*Bound, error) { return bindUnary(s, "abs", a) }).example("SELECT abs(-5)", "5"),
	custom("negative", "math", "negative(expr)", "The negated value.", func(s *Session, a []Arg) (*Bound, error) { return bindUnary(s, "negative", a) }).example("SELECT negative(1)", "-1"),
	custom("positive", "math", "positive(expr)", "The value itself.", func(s *Session, a []Arg) (*Bound, error) { return bindUnary(s, "positive", a) }).example("SELECT positive(1)", "1"),
}

func bindLog(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("log", 1, 2, len(args)); err != nil {
		return nil, err
	}
	b := &Bound{Result: tDouble, Nullable: true}
	for i, a := range args {
		if _, ok := pDouble.take(s, a.Type); !ok {
			return nil, errInputType(callText("log", args), i, pDouble.want, a)
		}
		b.Args = append(b.Args, tDouble)
	}
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		a := operand(c, args, 0, f64s)
		x := a
		if len(args) == 2 {
			x = operand(c, args, 1, f64s)
		}
		c.live(out, func(i int) {
			switch {
			case !positive(x[i]) || !positive(a[i]):
				out.SetNull(i)
			case len(args) == 1:
				out.F64[i] = math.Log(x[i])
			default:
				out.F64[i] = math.Log(x[i]) / math.Log(a[i])
			}
		})
	}
	return b, nil
}

func bindHex(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("hex", 1, 1, len(args)); err != nil {
		return nil, err
	}
	b := &Bound{Result: tString, Nullable: args[0].Nullable}
	t := args[0].Type
	if t.IsNumeric() || t.Kind == schema.Void {
		b.Args = []schema.Type{tBigint}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				return append(b, strings.ToUpper(strconv.FormatUint(uint64(args[0].I64[i]), 16))...)
			})
		}
		return b, nil
	}
	if t.Kind != schema.Binary {
		if !Implicit(s, t, tString) {
			return nil, errInputType(callText("hex", args), 0, `("BIGINT" or "BINARY" or "STRING")`, args[0])
		}
		t = tString
	}
	b.Args = []schema.Type{t}
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		c.appendRows(out, func(i int, b []byte) []byte {
			for _, x := range args[0].Str(i) {
				b = append(b, upperHex[x>>4], upperHex[x&15])
			}
			return b
		})
	}
	return b, nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func appendUnhex(b, s []byte) ([]byte, bool) {
	if len(s)%2 == 1 {
		d, ok := hexDigit(s[0])
		if !ok {
			return b, false
		}
		b, s = append(b, d), s[1:]
	}
	for k := 0; k < len(s); k += 2 {
		hi, ok1 := hexDigit(s[k])
		lo, ok2 := hexDigit(s[k+1])
		if !ok1 || !ok2 {
			return b, false
		}
		b = append(b, hi<<4|lo)
	}
	return b, true
}

func convKernel(c *Ctx, args []*vector, out *vector) {
	c.appendRows(out, func(i int, b []byte) []byte {
		from, to := int(args[1].I32[args[1].Row(i)]), int(args[2].I32[args[2].Row(i)])
		s := bytes.Trim(args[0].Str(i), " ")
		width := max(to, -to)
		if len(s) == 0 || from < 2 || from > 36 || width < 2 || width > 36 {
			out.SetNull(i)
			return b
		}
		neg := s[0] == '-'
		if neg {
			s = s[1:]
		}
		v, over := uint64(0), false
		for _, ch := range s {
			d, ok := digitOf(ch)
			if !ok || d >= from {
				break
			}
			hi, lo := bits.Mul64(v, uint64(from))
			sum, carry := bits.Add64(lo, uint64(d), 0)
			if hi != 0 || carry != 0 {
				over = true
				break
			}
			v = sum
		}
		if over {
			if c.Session.ANSI {
				c.Fail(out, i, errOverflow("Overflow in function conv()", ""))
				return b
			}
			v = math.MaxUint64
			neg = false
		}
		if neg {
			v = -v
		}
		if to < 0 && int64(v) < 0 {
			b, v = append(b, '-'), -v
		}
		return append(b, strings.ToUpper(strconv.FormatUint(v, width))...)
	})
}

func digitOf(c byte) (int, bool) {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0'), true
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10, true
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10, true
	}
	return 0, false
}

// pBucketed is a value of width_bucket: a DOUBLE or an interval as it is.
var pBucketed = param{`("DOUBLE" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND")`, func(s *Session, t schema.Type) (schema.Type, bool) {
	if t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval {
		return t, true
	}
	return pDouble.take(s, t)
}}

// bucketsAlike refuses intervals beside values of another kind.
func bucketsAlike(_ *Session, call string, args []Arg) error {
	interval := func(a Arg) schema.Kind {
		if k := a.Type.Kind; k == schema.YearMonthInterval || k == schema.DayTimeInterval {
			return k
		}
		return schema.Float64
	}
	if k := interval(args[0]); k != interval(args[1]) || k != interval(args[2]) {
		return errDataDiffTypes("width_bucket", call, args[:3])
	}
	return nil
}

func widthBucketKernel(c *Ctx, args []*vector, out *vector) {
	v, lo, hi := args[0], args[1], args[2]
	c.live(out, func(i int) {
		x, a, b, n := anyNumber(v, v.Row(i)), anyNumber(lo, lo.Row(i)), anyNumber(hi, hi.Row(i)), args[3].I64[args[3].Row(i)]
		if n <= 0 || n == math.MaxInt64 || x != x || a == b || math.IsNaN(a-b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
			out.SetNull(i)
			return
		}
		if a > b {
			x, a, b = -x, -a, -b
		}
		switch {
		case x < a:
			out.I64[i] = 0
		case x >= b:
			out.I64[i] = n + 1
		default:
			out.I64[i] = int64(float64(n)*(x-a)/(b-a)) + 1
		}
	})
}

func signFunction(name string) *Function {
	p := param{`("DOUBLE" or "INTERVAL")`, func(s *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.YearMonthInterval || t.Kind == schema.DayTimeInterval {
			return t, true
		}
		return pDouble.take(s, t)
	}}
	return define(name, "math", name+"(expr)", "-1.0, 0.0 or 1.0 by the sign of the value.", signature{
		params: []param{p}, result: tDouble,
		pick: func(_ *Session, types []schema.Type) Kernel {
			switch types[0].Kind {
			case schema.YearMonthInterval:
				return unary(i32s, f64s, func(x int32) float64 { return signOf(float64(x)) })
			case schema.DayTimeInterval:
				return unary(i64s, f64s, func(x int64) float64 { return signOf(float64(x)) })
			}
			return unary(f64s, f64s, signOf)
		},
	}).example("SELECT "+name+"(40)", "1.0")
}

func signOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// bindUnary resolves abs, negative (also as the prefix -) and positive.
func bindUnary(s *Session, name string, args []Arg) (*Bound, error) {
	if err := checkCount(name, 1, 1, len(args)); err != nil {
		return nil, err
	}
	t := args[0].Type
	switch {
	case t.Kind == schema.String || t.Kind == schema.Void:
		t = tDouble
	case !t.IsNumeric() && !isInterval(t):
		return nil, errInputType(callText(name, args), 0, `("NUMERIC" or "INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH" or "INTERVAL")`, args[0])
	}
	b := &Bound{Args: []schema.Type{t}, Result: t, Nullable: args[0].Nullable, CanFail: s.ANSI && !t.IsFloat() && t.Kind != schema.Decimal && name != "positive"}
	if name == "negative" {
		b.Print = func(a []string) string { return "(- " + a[0] + ")" }
	}
	if name == "positive" {
		b.Kernel = copyKernel
		b.Print = func(a []string) string { return "(+ " + a[0] + ")" }
		return b, nil
	}
	abs := name == "abs"
	switch column.PhysicalOf(t) {
	case column.PhysI8:
		b.Kernel = negateInts(s, t, i8s, abs)
	case column.PhysI16:
		b.Kernel = negateInts(s, t, i16s, abs)
	case column.PhysI32:
		b.Kernel = negateInts(s, t, i32s, abs)
	case column.PhysI64:
		b.Kernel = negateInts(s, t, i64s, abs)
	case column.PhysF32:
		b.Kernel = unary(f32s, f32s, func(x float32) float32 { return float32(negateFloat(float64(x), abs)) })
	case column.PhysF64:
		b.Kernel = unary(f64s, f64s, func(x float64) float64 { return negateFloat(x, abs) })
	case column.PhysI128:
		b.Kernel = unary(i128s, i128s, func(x column.Int128) column.Int128 {
			if abs {
				return text.DecimalAbs(x)
			}
			return text.DecimalNeg(x)
		})
	default:
		b.Kernel = negateCalendar
	}
	return b, nil
}

func negateFloat(x float64, abs bool) float64 {
	if abs {
		return math.Abs(x)
	}
	return -x
}

func negateInts[T signedInt](s *Session, t schema.Type, get slice[T], abs bool) Kernel {
	what := map[schema.Kind]string{schema.Int8: "tinyint", schema.Int16: "smallint", schema.Int32: "integer", schema.Int64: "long"}[t.Kind]
	return func(c *Ctx, args []*vector, out *vector) {
		a, o := get(args[0]), get(out)
		c.live(out, func(i int) {
			x := a[i]
			if x < 0 || !abs {
				if -x == x && x != 0 && (s.ANSI || what == "") {
					if what == "" {
						c.Fail(out, i, errIntervalOverflow(""))
					} else {
						c.Fail(out, i, errOverflow(what+" overflow", ""))
					}
					return
				}
				x = -x
			}
			o[i] = x
		})
	}
}

func negateCalendar(c *Ctx, args []*vector, out *vector) {
	for k, child := range out.Children {
		for i := range c.Rows {
			if k < 2 {
				child.I32[i] = -args[0].Children[k].I32[i]
			} else {
				child.I64[i] = -args[0].Children[k].I64[i]
			}
		}
	}
}

// power is base to the power of exponent as Java has it: NaN, where IEEE 754
// says 1, for the base 1 and an exponent that is NaN, and for the bases 1 and
// -1 and an infinite exponent.
func power(base, exponent float64) float64 {
	if exponent != exponent || math.IsInf(exponent, 0) && math.Abs(base) == 1 {
		return math.NaN()
	}
	return math.Pow(base, exponent)
}
