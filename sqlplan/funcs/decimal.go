package funcs

import (
	"math/big"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// bindDecimal resolves arithmetic in which both sides are exact and one is a
// decimal: Spark's rules for precision and scale.
func bindDecimal(s *Session, op arithOp, b *Bound, l, r Arg) *Bound {
	lt, rt := decimalForArg(l), decimalForArg(r)
	b.Args = []schema.Type{lt, rt}
	switch op.name {
	case "div":
		b.Result = tBigint
	default:
		b.Result = decimalResult(op.name, lt, rt)
		if s.conf("spark.sql.decimalOperations.allowPrecisionLoss", "true") == "false" {
			b.Result = exactDecimalResult(op.name, lt, rt)
		}
	}
	b.Kernel = decimalKernel(s, op, lt, rt, b.Result)
	if (op.name == "+" || op.name == "-" || op.name == "*") && b.Result.Precision < maxPrecision {
		b.CanFail = false
	}
	return b
}

// decimalResult is the type of a decimal operation.
func decimalResult(op string, l, r schema.Type) schema.Type {
	switch op {
	case "*":
		return boundedDecimal(l.Precision+r.Precision+1, l.Scale+r.Scale)
	case "/":
		scale := max(6, l.Scale+r.Precision+1)
		return boundedDecimal(l.Precision-l.Scale+r.Scale+scale, scale)
	case "%", "pmod":
		scale := max(l.Scale, r.Scale)
		return boundedDecimal(min(l.Precision-l.Scale, r.Precision-r.Scale)+scale, scale)
	}
	scale := max(l.Scale, r.Scale)
	return boundedDecimal(max(l.Precision-l.Scale, r.Precision-r.Scale)+scale+1, scale)
}

// exactDecimalResult is the type of a decimal operation that may not lose
// fraction digits: what needs more than 38 digits fails instead.
func exactDecimalResult(op string, l, r schema.Type) schema.Type {
	cut := func(p, s int) schema.Type { return schema.DecimalOf(min(p, maxPrecision), min(s, maxPrecision)) }
	scale := max(l.Scale, r.Scale)
	switch op {
	case "*":
		return cut(l.Precision+r.Precision+1, l.Scale+r.Scale)
	case "/":
		whole, fraction := min(maxPrecision, l.Precision-l.Scale+r.Scale), min(maxPrecision, max(6, l.Scale+r.Precision+1))
		if over := whole + fraction - maxPrecision; over > 0 {
			fraction -= over/2 + 1
			whole = maxPrecision - fraction
		}
		return cut(whole+fraction, fraction)
	case "%", "pmod":
		return cut(min(l.Precision-l.Scale, r.Precision-r.Scale)+scale, scale)
	}
	return cut(max(l.Precision-l.Scale, r.Precision-r.Scale)+scale+1, scale)
}

func decimalKernel(s *Session, op arithOp, l, r, t schema.Type) Kernel {
	if t.Kind == schema.Decimal && t.Precision <= column.MaxDecimal64 {
		if k := shortDecimal(op.name, l, r, t); k != nil {
			return k
		}
	}
	compute := decimalCompute(op.name, l, r, t)
	divides := op.name == "/" || op.name == "%" || op.name == "pmod" || op.name == "div"
	return func(c *Ctx, args []*vector, out *vector) {
		a, b := args[0], args[1]
		c.live(out, func(i int) {
			x, y := decimalAt(a, i), decimalAt(b, i)
			if divides && y == (column.Int128{}) {
				zeroDivisor(s, c, op, out, i)
				return
			}
			v, ok := compute(x, y)
			switch {
			case t.Kind == schema.Int64:
				n, fits := v.Int64()
				if !ok || !fits {
					failOrNull(s, c, out, i, errOverflow("Overflow in integral divide", op.try))
					return
				}
				out.I64[i] = n
			case !ok || !text.DecimalFits(v, t.Precision):
				failOrNull(s, c, out, i, decimalOverflow(exactDecimal(op.name, x, y, l, r), t))
			default:
				setDecimal(out, i, v)
			}
		})
	}
}

// failOrNull fails the row in ANSI mode and makes it null else.
func failOrNull(s *Session, c *Ctx, out *vector, i int, err *Error) {
	if !s.ANSI {
		out.SetNull(i)
		return
	}
	c.Fail(out, i, err)
}

func decimalOverflow(value string, t schema.Type) *Error {
	return errDecimalRange(value, t.Precision, t.Scale)
}

// shortDecimal is the fast form of +, - and * where nothing can overflow 64
// bits.
func shortDecimal(op string, l, r, t schema.Type) Kernel {
	if l.Precision > column.MaxDecimal64 || r.Precision > column.MaxDecimal64 {
		return nil
	}
	ml, mr := int64(1), int64(1)
	if op != "*" {
		ml, mr = pow10(t.Scale-l.Scale), pow10(t.Scale-r.Scale)
	}
	var loop func(a, b, o []int64)
	switch op {
	case "+":
		loop = func(a, b, o []int64) {
			for i, x := range a {
				o[i] = x*ml + b[i]*mr
			}
		}
	case "-":
		loop = func(a, b, o []int64) {
			for i, x := range a {
				o[i] = x*ml - b[i]*mr
			}
		}
	case "*":
		loop = func(a, b, o []int64) {
			for i, x := range a {
				o[i] = x * b[i]
			}
		}
	default:
		return nil
	}
	return func(c *Ctx, args []*vector, out *vector) {
		a := operand(c, args, 0, i64s)
		loop(a, operand(c, args, 1, i64s)[:len(a)], out.I64[:len(a)])
	}
}

func pow10(n int) int64 {
	m := int64(1)
	for range n {
		m *= 10
	}
	return m
}

// decimalCompute returns the operation on unscaled values; ok is false when
// the result needs more than 128 bits.
func decimalCompute(op string, l, r, t schema.Type) func(x, y column.Int128) (column.Int128, bool) {
	scale := max(l.Scale, r.Scale)
	switch op {
	case "*":
		drop := l.Scale + r.Scale - t.Scale
		return func(x, y column.Int128) (column.Int128, bool) { return text.DecimalMul(x, y, drop) }
	case "/":
		shift := t.Scale - l.Scale + r.Scale
		return func(x, y column.Int128) (column.Int128, bool) { return text.DecimalDiv(x, y, shift) }
	}
	return func(x, y column.Int128) (column.Int128, bool) {
		a, ok1 := text.DecimalRescale(x, l.Scale, scale)
		b, ok2 := text.DecimalRescale(y, r.Scale, scale)
		if !ok1 || !ok2 {
			v, scale := bigResult(op, x, y, l, r)
			return bigDecimal(op, v, scale, t)
		}
		v, ok := column.Int128{}, true
		switch op {
		case "+":
			v, ok = text.DecimalAdd(a, b)
		case "-":
			v, ok = text.DecimalSub(a, b)
		case "div":
			v, _ = text.DecimalDivRem(a, b)
			return v, true
		default:
			_, v = text.DecimalDivRem(a, b)
			if op == "pmod" && text.DecimalSign(v) < 0 {
				v, _ = text.DecimalAdd(v, b)
				_, v = text.DecimalDivRem(v, b)
			}
		}
		if !ok {
			v, scale := bigResult(op, x, y, l, r)
			return bigDecimal(op, v, scale, t)
		}
		return text.DecimalRescale(v, scale, t.Scale)
	}
}

// bigDecimal does what needs more than 128 bits on the way, which only
// decimals near 38 digits do.
func bigDecimal(op string, v *big.Int, scale int, t schema.Type) (column.Int128, bool) {
	if op == "div" {
		return fromBig(v)
	}
	for ; scale < t.Scale; scale++ {
		v.Mul(v, big.NewInt(10))
	}
	if scale > t.Scale {
		v = roundBig(v, scale-t.Scale)
	}
	return fromBig(v)
}

func bigResult(op string, x, y column.Int128, l, r schema.Type) (*big.Int, int) {
	scale := max(l.Scale, r.Scale)
	a, b := toBig(x), toBig(y)
	if op == "*" {
		return a.Mul(a, b), l.Scale + r.Scale
	}
	if op == "/" {
		a.Mul(a, bigPow(maxPrecision+r.Scale))
		return a.Quo(a, b), l.Scale + maxPrecision
	}
	a.Mul(a, bigPow(scale-l.Scale))
	b.Mul(b, bigPow(scale-r.Scale))
	switch op {
	case "+":
		a.Add(a, b)
	case "-":
		a.Sub(a, b)
	case "div":
		a.Quo(a, b)
		return a, 0
	default:
		a.Rem(a, b)
		if op == "pmod" && a.Sign() < 0 {
			a.Add(a, b).Rem(a, b)
		}
	}
	return a, scale
}

func bigPow(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func toBig(v column.Int128) *big.Int {
	b := new(big.Int).Lsh(big.NewInt(v.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(v.Lo))
}

func fromBig(b *big.Int) (column.Int128, bool) {
	if b.BitLen() > 126 {
		return column.Int128{}, false
	}
	lo := new(big.Int).And(b, new(big.Int).SetUint64(^uint64(0))).Uint64()
	return column.Int128{Hi: new(big.Int).Rsh(b, 64).Int64(), Lo: lo}, true
}

// roundBig drops n decimal digits, half up.
func roundBig(v *big.Int, n int) *big.Int {
	d := bigPow(n)
	q, rem := new(big.Int).QuoRem(v, d, new(big.Int))
	if rem.Abs(rem).Lsh(rem, 1).Cmp(d) >= 0 {
		return q.Add(q, big.NewInt(int64(v.Sign())))
	}
	return q
}

// exactDecimal is the text of a result that did not fit.
func exactDecimal(op string, x, y column.Int128, l, r schema.Type) string {
	return scaledText(bigResult(op, x, y, l, r))
}

// scaledText writes v / 10^scale.
func scaledText(v *big.Int, scale int) string {
	s, sign := v.String(), ""
	if s[0] == '-' {
		s, sign = s[1:], "-"
	}
	if scale == 0 {
		return sign + s
	}
	for len(s) <= scale {
		s = "0" + s
	}
	return sign + s[:len(s)-scale] + "." + s[len(s)-scale:]
}
