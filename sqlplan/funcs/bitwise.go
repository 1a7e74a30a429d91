package funcs

import (
	"math/bits"
	"strconv"

	"pipelines/tables/schema"
)

var bitwiseFunctions = []*Function{
	bitwise("&", "Bitwise AND."), bitwise("|", "Bitwise OR."), bitwise("^", "Bitwise exclusive OR."),
	define("~", "bitwise", "~ expr", "Bitwise NOT.", signature{
		params: []param{pIntegral}, infer: firstType,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) { setInt(out, i, ^intAt(args[0], i)) })
		},
	}).printed(func(a []string) string { return "~" + a[0] }).example("SELECT ~ 0", "-1"),
	shift("shiftleft", "<<", func(x int64, n uint, _ uint) int64 { return x << n }).example("SELECT shiftleft(2, 1)", "4"),
	shift("shiftright", ">>", func(x int64, n uint, _ uint) int64 { return x >> n }).example("SELECT shiftright(4, 1)", "2"),
	shift("shiftrightunsigned", ">>>", func(x int64, n uint, width uint) int64 {
		if width == 32 {
			return int64(int32(uint32(x) >> n))
		}
		return int64(uint64(x) >> n)
	}).example("SELECT shiftrightunsigned(4, 1)", "2"),
	define("bit_count", "bitwise", "bit_count(expr)", "Number of bits that are set.", signature{
		params: []param{{`("INTEGRAL" or "BOOLEAN")`, func(_ *Session, t schema.Type) (schema.Type, bool) {
			if t.Kind == schema.Void {
				return tInt, true
			}
			return t, t.Kind == schema.Boolean || t.IsInteger()
		}}}, result: tInt,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[0]
			c.live(out, func(i int) {
				if v.Type.Kind == schema.Boolean {
					out.I32[i] = boolInt[int32](v.Bool[i])
				} else {
					out.I32[i] = int32(bits.OnesCount64(uint64(intAt(v, i))))
				}
			})
		},
	}).example("SELECT bit_count(255)", "8"),
	define("getbit", "bitwise", "getbit(expr, pos)", "Bit at a position from the right, from 0.", signature{
		params: []param{pWhole, pInt}, result: typ(schema.Int8), canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			width := map[schema.Kind]int32{schema.Int8: 8, schema.Int16: 16, schema.Int32: 32, schema.Int64: 64}[args[0].Type.Kind]
			c.live(out, func(i int) {
				pos := args[1].I32[args[1].Row(i)]
				if pos < 0 || pos >= width {
					c.Fail(out, i, errParam("BIT_POSITION_RANGE", "pos", "getbit", "expects an integer value in [0, "+
						strconv.Itoa(int(width))+"), but got "+strconv.Itoa(int(pos))+".", map[string]string{"upper": strconv.Itoa(int(width)), "invalidValue": strconv.Itoa(int(pos))}))
					return
				}
				out.I8[i] = int8(intAt(args[0], i) >> uint(pos) & 1)
			})
		},
	}).alias("bit_get").example("SELECT getbit(11, 0)", "1"),
}

func bitwise(name, doc string) *Function {
	return custom(name, "bitwise", "expr1 "+name+" expr2", doc, func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 2, 2, len(args)); err != nil {
			return nil, err
		}
		call := "(" + args[0].Text + " " + name + " " + args[1].Text + ")"
		lt, rt, err := promoteOperands(s, arithOp{name: name, symbol: name}, call, args[0], args[1])
		if err != nil {
			return nil, err
		}
		t := commonNumeric(s, lt, rt)
		if !t.IsInteger() {
			return nil, errWrongType(call, `"INTEGRAL"`, t)
		}
		b := &Bound{Args: repeatType(t, 2), Result: t, Nullable: args[0].Nullable || args[1].Nullable}
		b.Print = func(a []string) string { return "(" + a[0] + " " + name + " " + a[1] + ")" }
		switch t.Kind {
		case schema.Int8:
			b.Kernel = bitKernel(name, i8s)
		case schema.Int16:
			b.Kernel = bitKernel(name, i16s)
		case schema.Int32:
			b.Kernel = bitKernel(name, i32s)
		default:
			b.Kernel = bitKernel(name, i64s)
		}
		return b, nil
	}).example("SELECT 3 "+name+" 5", map[string]string{"&": "1", "|": "7", "^": "6"}[name])
}

func bitKernel[T signedInt](name string, get slice[T]) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a, b, o := operand(c, args, 0, get), operand(c, args, 1, get), get(out)
		b, o = b[:len(a)], o[:len(a)]
		switch name {
		case "&":
			for i, x := range a {
				o[i] = x & b[i]
			}
		case "|":
			for i, x := range a {
				o[i] = x | b[i]
			}
		default:
			for i, x := range a {
				o[i] = x ^ b[i]
			}
		}
	}
}

func shift(name, symbol string, f func(x int64, n, width uint) int64) *Function {
	p := param{`("INT" or "BIGINT")`, func(s *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.Int64 {
			return t, true
		}
		return tInt, Implicit(s, t, tInt)
	}}
	return define(name, "bitwise", "base "+symbol+" expr", "The bits moved; the distance counts modulo the width.", signature{
		params: []param{p, pInt}, infer: firstType,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			width := uint(32)
			if args[0].Type.Kind == schema.Int64 {
				width = 64
			}
			c.live(out, func(i int) {
				setInt(out, i, f(intAt(args[0], i), uint(args[1].I32[args[1].Row(i)])&(width-1), width))
			})
		},
	}).alias(symbol).printed(func(a []string) string { return "(" + a[0] + " " + symbol + " " + a[1] + ")" })
}
