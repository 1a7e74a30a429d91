package funcs

import (
	"math"
	"math/bits"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// arithOp is one of the binary arithmetic operators.
type arithOp struct {
	name, symbol string
	try          string // the function that gives null instead of an error
	isTry        bool
}

var arithmeticFunctions = []*Function{
	arithmetic("+", "expr1 + expr2", "Sum; also dates and intervals.", arithOp{"+", "+", "try_add", false}).example("SELECT 1 + 2", "3"),
	arithmetic("-", "expr1 - expr2", "Difference; also dates and intervals.", arithOp{"-", "-", "try_subtract", false}).example("SELECT 5 - 7", "-2"),
	arithmetic("*", "expr1 * expr2", "Product.", arithOp{"*", "*", "try_multiply", false}).example("SELECT 2 * 3", "6"),
	arithmetic("/", "expr1 / expr2", "Quotient: DOUBLE, or DECIMAL when both are exact.", arithOp{"/", "/", "try_divide", false}).example("SELECT 7 / 2", "3.5"),
	arithmetic("%", "expr1 % expr2", "Remainder with the sign of the dividend.", arithOp{"%", "%", "try_mod", false}).alias("mod").example("SELECT 7 % 3", "1"),
	arithmetic("div", "expr1 div expr2", "Quotient without its fraction, a BIGINT.", arithOp{"div", "div", "try_divide", false}).example("SELECT 7 DIV 2", "3"),
	arithmetic("pmod", "pmod(expr1, expr2)", "Remainder that is not negative for a positive divisor.", arithOp{"pmod", "pmod", "", false}).example("SELECT pmod(-7, 3)", "2"),
	arithmetic("try_add", "try_add(expr1, expr2)", "Sum, or NULL on overflow.", arithOp{"+", "+", "", true}).example("SELECT try_add(2147483647, 1)", "NULL"),
	arithmetic("try_subtract", "try_subtract(expr1, expr2)", "Difference, or NULL on overflow.", arithOp{"-", "-", "", true}).example("SELECT try_subtract(5, 2)", "3"),
	arithmetic("try_multiply", "try_multiply(expr1, expr2)", "Product, or NULL on overflow.", arithOp{"*", "*", "", true}).example("SELECT try_multiply(2, 3)", "6"),
	arithmetic("try_divide", "try_divide(dividend, divisor)", "Quotient, or NULL for a zero divisor.", arithOp{"/", "/", "", true}).example("SELECT try_divide(1, 0)", "NULL"),
	arithmetic("try_mod", "try_mod(dividend, divisor)", "Remainder, or NULL for a zero divisor.", arithOp{"%", "%", "", true}).example("SELECT try_mod(7, 0)", "NULL"),
}

func arithmetic(name, usage, doc string, op arithOp) *Function {
	f := &Function{Name: name, Group: "math", Usage: usage, Doc: doc}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 2, 2, len(args)); err != nil {
			return nil, err
		}
		b, err := bindArithmetic(s, op, args)
		if err != nil {
			return nil, err
		}
		b.Fn = f
		if name == op.name && name != "pmod" {
			b.Print = func(a []string) string { return "(" + a[0] + " " + op.symbol + " " + a[1] + ")" }
		}
		if op.isTry {
			b.Kernel, b.CanFail, b.Nullable, b.TryCasts = tryKernel(b.Kernel), false, true, true
		} else if !s.ANSI {
			b.Nullable = b.Nullable || op.name != "+" && op.name != "-" && op.name != "*" || b.Result.Kind == schema.Decimal
		}
		return b, nil
	}
	return f
}

const wantNumeric = `("NUMERIC" or "INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH" or "INTERVAL")`

func bindArithmetic(s *Session, op arithOp, args []Arg) (*Bound, error) {
	l, r := args[0], args[1]
	if b, err := bindTimeArithmetic(s, op, l, r); b != nil || err != nil {
		return b, err
	}
	call := "(" + l.Text + " " + op.symbol + " " + r.Text + ")"
	lt, rt, err := promoteOperands(s, op, call, l, r)
	if err != nil {
		return nil, err
	}
	l.Type, r.Type = lt, rt
	b := &Bound{Nullable: l.Nullable || r.Nullable, CanFail: s.ANSI}
	lf, rf := lt.IsFloat(), rt.IsFloat()
	switch {
	case op.name == "div" && (lf || rf):
		if lt.Kind == schema.Float32 || rt.Kind == schema.Float32 {
			return nil, errDiffTypes(call, lt, rt)
		}
		return nil, errWrongType(call, `("BIGINT" or "DECIMAL" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND")`, tDouble)
	case (lt.Kind == schema.Decimal || rt.Kind == schema.Decimal) && !lf && !rf:
		return bindDecimal(s, op, b, l, r), nil
	case op.name == "/":
		b.Args, b.Result = []schema.Type{tDouble, tDouble}, tDouble
		if s.ANSI { // a text beside an integer is an integer
			switch {
			case args[0].Type.Kind == schema.String && args[1].Type.IsInteger():
				b.Via = []schema.Type{tBigint, tDouble}
			case args[1].Type.Kind == schema.String && args[0].Type.IsInteger():
				b.Via = []schema.Type{tDouble, tBigint}
			}
		}
		b.Kernel = floatKernel(s, op, f64s)
		return b, nil
	case op.name == "div":
		b.Args, b.Result = []schema.Type{tBigint, tBigint}, tBigint
		b.Kernel = intDivide(s, op)
		return b, nil
	}
	t := commonNumeric(s, lt, rt)
	b.Args, b.Result = []schema.Type{t, t}, t
	switch t.Kind {
	case schema.Int8:
		b.Kernel = intKernel(s, op, i8s, t)
	case schema.Int16:
		b.Kernel = intKernel(s, op, i16s, t)
	case schema.Int32:
		b.Kernel = intKernel(s, op, i32s, t)
	case schema.Int64:
		b.Kernel = intKernel(s, op, i64s, t)
	case schema.Float32:
		b.Kernel = floatKernel(s, op, f32s)
	default:
		b.Kernel = floatKernel(s, op, f64s)
	}
	if t.IsFloat() && (op.name == "+" || op.name == "-" || op.name == "*") {
		b.CanFail = false
	}
	return b, nil
}

// promoteOperands decides what strings and nulls become.
func promoteOperands(s *Session, op arithOp, call string, l, r Arg) (lt, rt schema.Type, err error) {
	lt, rt = l.Type, r.Type
	if lt.Kind == schema.Void && rt.Kind == schema.Void {
		lt, rt = tDouble, tDouble
		if op.name == "div" {
			lt, rt = tBigint, tBigint
		}
	}
	if lt.Kind == schema.Void {
		lt = rt
	}
	if rt.Kind == schema.Void {
		rt = lt
	}
	ls, rs := lt.Kind == schema.String, rt.Kind == schema.String
	switch {
	case ls && rs:
		if s.ANSI {
			return lt, rt, errWrongType(call, wantNumeric, tString)
		}
		return tDouble, tDouble, nil
	case s.ANSI && (ls && becomesOther(rt) || rs && becomesOther(lt)):
		if ls {
			lt = rt
		}
		return lt, rt, errWrongType(call, wantNumeric, lt)
	case ls && rt.IsNumeric():
		lt = stringOperand(s, op, rt)
	case rs && lt.IsNumeric():
		rt = stringOperand(s, op, lt)
	}
	if !lt.IsNumeric() || !rt.IsNumeric() {
		if untyped := l.Type.Kind == schema.Void || r.Type.Kind == schema.Void; lt.Equal(rt) && !untyped {
			return lt, rt, errWrongType(call, wantNumeric, lt)
		}
		return lt, rt, errDiffTypes(call, l.Type, r.Type)
	}
	if lt.IsFloat() != rt.IsFloat() && lt.Kind != schema.Decimal && rt.Kind != schema.Decimal {
		return lt, rt, nil
	}
	return lt, rt, nil
}

// becomesOther says that a string beside the type becomes one of it, although
// there is no arithmetic with it.
func becomesOther(t schema.Type) bool {
	return t.Kind == schema.Binary || t.Kind == schema.Boolean || t.Kind == schema.Variant || isTemporal(t)
}

func stringOperand(s *Session, op arithOp, other schema.Type) schema.Type {
	if s.ANSI && other.IsInteger() && op.name != "/" {
		return tBigint
	}
	return tDouble
}

// operands keeps constants spread out over a batch, so that kernels have one
// loop; it is the scratch of binary kernels.
type operands struct{ spread [2]*vector }

// operand returns the payload of argument k with c.Rows entries.
func operand[T comparable](c *Ctx, args []*vector, k int, get slice[T]) []T {
	v := args[k]
	if !v.Const {
		return get(v)[:c.Rows]
	}
	o, ok := c.Scratch.(*operands)
	if !ok {
		o = &operands{}
		c.Scratch = o
	}
	w := o.spread[k]
	if w == nil {
		w = column.New(v.Type)
		o.spread[k] = w
	}
	x := get(v)[0]
	if s := get(w); len(s) == 0 || len(s) < c.Rows || s[0] != x {
		w.Resize(max(c.Rows, column.BatchRows))
		s = get(w)
		for i := range s {
			s[i] = x
		}
	}
	return get(w)[:c.Rows]
}

// intKernel does +, -, *, % and pmod on one integer type.
func intKernel[T signedInt](s *Session, op arithOp, get slice[T], t schema.Type) Kernel {
	var loop func(a, b, o []T) (over bool)
	switch op.name {
	case "+":
		loop = addInts[T]
	case "-":
		loop = subInts[T]
	case "*":
		loop = mulInts[T]
	default:
		return intRemainder(s, op, get)
	}
	return func(c *Ctx, args []*vector, out *vector) {
		a, b := operand(c, args, 0, get), operand(c, args, 1, get)
		if over := loop(a, b, get(out)[:c.Rows]); !over || !s.ANSI && !c.Try {
			return
		}
		c.live(out, func(i int) {
			if overflows(op.name, int64(a[i]), int64(b[i]), t.Kind) {
				c.Fail(out, i, intOverflow(op, t, int64(a[i]), int64(b[i])))
			}
		})
	}
}

func intOverflow(op arithOp, t schema.Type, a, b int64) *Error {
	switch t.Kind {
	case schema.Int8, schema.Int16:
		return errBinaryOverflow(intLiteral(a, t), op.symbol, intLiteral(b, t), op.try)
	case schema.Int32:
		return errOverflow("integer overflow", op.try)
	}
	return errOverflow("long overflow", op.try)
}

func addInts[T signedInt](a, b, o []T) bool {
	var over T
	b, o = b[:len(a)], o[:len(a)]
	for i, x := range a {
		y := b[i]
		s := x + y
		o[i] = s
		over |= (x ^ s) & (y ^ s)
	}
	return over < 0
}

func subInts[T signedInt](a, b, o []T) bool {
	var over T
	b, o = b[:len(a)], o[:len(a)]
	for i, x := range a {
		y := b[i]
		s := x - y
		o[i] = s
		over |= (x ^ y) & (x ^ s)
	}
	return over < 0
}

func mulInts[T signedInt](a, b, o []T) bool {
	var over int64
	b, o = b[:len(a)], o[:len(a)]
	if wide, ok := any(a).([]int64); ok {
		return mulInt64s(wide, any(b).([]int64), any(o).([]int64))
	}
	for i, x := range a {
		p := int64(x) * int64(b[i])
		y := T(p)
		o[i] = y
		over |= p ^ int64(y)
	}
	return over != 0
}

func mulInt64s(a, b, o []int64) bool {
	var over int64
	for i, x := range a {
		y := b[i]
		hi, lo := bits.Mul64(uint64(x), uint64(y))
		h := int64(hi) - (x >> 63 & y) - (y >> 63 & x)
		o[i] = int64(lo)
		over |= h ^ int64(lo)>>63
	}
	return over != 0
}

// overflows recomputes one row in full width.
func overflows(op string, a, b int64, k schema.Kind) bool {
	var r column.Int128
	switch op {
	case "+":
		s := a + b
		r = column.FromInt64(s)
		if (a^s)&(b^s) < 0 {
			return true
		}
	case "-":
		s := a - b
		r = column.FromInt64(s)
		if (a^b)&(a^s) < 0 {
			return true
		}
	case "*":
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		r = column.Int128{Hi: int64(hi) - (a >> 63 & b) - (b >> 63 & a), Lo: lo}
	}
	v, ok := r.Int64()
	lo, hi := intRange(k)
	return !ok || v < lo || v > hi
}

func intRange(k schema.Kind) (lo, hi int64) {
	switch k {
	case schema.Int8:
		return math.MinInt8, math.MaxInt8
	case schema.Int16:
		return math.MinInt16, math.MaxInt16
	case schema.Int32:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// zeroDivisor marks a row whose divisor is zero.
func zeroDivisor(s *Session, c *Ctx, op arithOp, out *vector, i int) {
	switch {
	case !s.ANSI || c.Try:
		out.SetNull(i)
	case op.name == "%" || op.name == "pmod":
		c.Fail(out, i, errRemainderByZero())
	default:
		c.Fail(out, i, errDivideByZero())
	}
}

func intRemainder[T signedInt](s *Session, op arithOp, get slice[T]) Kernel {
	positive := op.name == "pmod"
	return func(c *Ctx, args []*vector, out *vector) {
		a, b, o := operand(c, args, 0, get), operand(c, args, 1, get), get(out)
		c.live(out, func(i int) {
			y := b[i]
			if y == 0 {
				zeroDivisor(s, c, op, out, i)
				return
			}
			if y == -1 { // the one case in which the division itself overflows
				o[i] = 0
				return
			}
			r := a[i] % y
			if positive && r < 0 {
				r = (r + y) % y
			}
			o[i] = r
		})
	}
}

func intDivide(s *Session, op arithOp) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a, b := operand(c, args, 0, i64s), operand(c, args, 1, i64s)
		c.live(out, func(i int) {
			switch y := b[i]; {
			case y == 0:
				zeroDivisor(s, c, op, out, i)
			case y == -1 && a[i] == math.MinInt64:
				if s.ANSI {
					c.Fail(out, i, errOverflow("Overflow in integral divide", op.try))
				} else {
					out.I64[i] = a[i]
				}
			default:
				out.I64[i] = a[i] / y
			}
		})
	}
}

func floatKernel[T floating](s *Session, op arithOp, get slice[T]) Kernel {
	switch op.name {
	case "+":
		return floatLoop(get, func(a, b, o []T) {
			for i, x := range a {
				o[i] = x + b[i]
			}
		})
	case "-":
		return floatLoop(get, func(a, b, o []T) {
			for i, x := range a {
				o[i] = x - b[i]
			}
		})
	case "*":
		return floatLoop(get, func(a, b, o []T) {
			for i, x := range a {
				o[i] = x * b[i]
			}
		})
	}
	return floatDivide(s, op, get)
}

func floatLoop[T floating](get slice[T], loop func(a, b, o []T)) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a := operand(c, args, 0, get)
		loop(a, operand(c, args, 1, get)[:len(a)], get(out)[:len(a)])
	}
}

// floatDivide does /, % and pmod: a zero divisor is an error even for floats.
func floatDivide[T floating](s *Session, op arithOp, get slice[T]) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a, b, o := operand(c, args, 0, get), operand(c, args, 1, get), get(out)
		zero := false
		if op.name == "/" {
			for i, x := range a {
				y := b[i]
				o[i] = x / y
				zero = zero || y == 0
			}
			if !zero {
				return
			}
		}
		c.live(out, func(i int) {
			x, y := a[i], b[i]
			switch {
			case y == 0:
				zeroDivisor(s, c, op, out, i)
			case op.name == "/":
			default:
				r := math.Mod(float64(x), float64(y))
				if op.name == "pmod" && r < 0 {
					r = math.Mod(r+float64(y), float64(y))
				}
				o[i] = T(r)
			}
		})
	}
}
