package funcs

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Slow references with exact rationals against the kernels, on random data.

func randomDecimal(r *rand.Rand, t schema.Type) column.Int128 {
	digits := 1 + r.IntN(t.Precision)
	b := make([]byte, digits)
	for i := range b {
		b[i] = byte('0' + r.IntN(10))
	}
	v, _ := text.ParseDecimal(b, 38, 0)
	if r.IntN(2) == 0 {
		v = text.DecimalNeg(v)
	}
	return v
}

func ratOf(v column.Int128, scale int) *big.Rat {
	return new(big.Rat).SetFrac(toBig(v), bigPow(scale))
}

// roundRat rounds half up (away from zero) to scale digits and returns the
// unscaled value.
func roundRat(x *big.Rat, scale int) *big.Int {
	n := new(big.Int).Mul(x.Num(), bigPow(scale))
	q, rem := new(big.Int).QuoRem(n, x.Denom(), new(big.Int))
	if rem.Abs(rem).Lsh(rem, 1).Cmp(x.Denom()) >= 0 {
		q.Add(q, big.NewInt(int64(x.Sign())))
	}
	return q
}

func fits(v *big.Int, precision int) bool { return new(big.Int).Abs(v).Cmp(bigPow(precision)) < 0 }

func TestDecimalArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := &Session{ANSI: true}
	for range 400 {
		p1, p2 := 1+r.IntN(38), 1+r.IntN(38)
		lt, rt := schema.DecimalOf(p1, r.IntN(p1+1)), schema.DecimalOf(p2, r.IntN(p2+1))
		for _, op := range []string{"+", "-", "*", "/", "%"} {
			b, err := Lookup(op).Bind(s, []Arg{{Type: lt, Text: "a"}, {Type: rt, Text: "b"}})
			if err != nil {
				t.Fatal(err)
			}
			x, y := column.New(lt), column.New(rt)
			for range 8 {
				appendDecimal(x, randomDecimal(r, lt))
				appendDecimal(y, randomDecimal(r, rt))
			}
			out := column.New(b.Result)
			out.Resize(8)
			b.Kernel(&Ctx{Rows: 8, Session: s}, []*vector{x, y}, out)
			for i := range 8 {
				checkDecimal(t, op, x, y, out, i)
			}
		}
	}
}

func appendDecimal(v *vector, x column.Int128) {
	if v.Type.Precision > column.MaxDecimal64 {
		column.AppendValue(v, x)
	} else {
		column.AppendValue(v, int64(x.Lo))
	}
}

func checkDecimal(t *testing.T, op string, x, y, out *vector, i int) {
	t.Helper()
	a, b := ratOf(decimalAt(x, i), x.Type.Scale), ratOf(decimalAt(y, i), y.Type.Scale)
	err := out.Errs.At(i)
	if b.Sign() == 0 && (op == "/" || op == "%") {
		if err == nil {
			t.Errorf("%s %s %s: no error for zero", a, op, b)
		}
		return
	}
	want := new(big.Rat)
	switch op {
	case "+":
		want.Add(a, b)
	case "-":
		want.Sub(a, b)
	case "*":
		want.Mul(a, b)
	case "/":
		want.Quo(a, b)
	case "%":
		q := new(big.Rat).Quo(a, b)
		whole := new(big.Int).Quo(q.Num(), q.Denom())
		want.Sub(a, new(big.Rat).Mul(new(big.Rat).SetInt(whole), b))
	}
	v := roundRat(want, out.Type.Scale)
	if !fits(v, out.Type.Precision) {
		if err == nil {
			t.Errorf("%s %s %s as %s: no overflow", a, op, b, out.Type)
		}
		return
	}
	if err != nil || toBig(decimalAt(out, i)).Cmp(v) != 0 {
		t.Errorf("%s %s %s as %s: got %s (%v), want %s", a, op, b, out.Type, toBig(decimalAt(out, i)), err, v)
	}
}

var numericTypes = []schema.Type{
	typ(schema.Int8), typ(schema.Int16), tInt, tBigint, typ(schema.Float32), tDouble,
	schema.DecimalOf(5, 2), schema.DecimalOf(18, 0), schema.DecimalOf(18, 10), schema.DecimalOf(38, 0), schema.DecimalOf(38, 20),
}

func randomNumber(r *rand.Rand, v *vector) {
	big := r.IntN(3)
	x := r.Int64() >> (r.IntN(64))
	if r.IntN(2) == 0 {
		x = -x
	}
	switch v.Type.Kind {
	case schema.Float32:
		column.AppendValue(v, float32(x)/float32(1+big*37))
	case schema.Float64:
		column.AppendValue(v, float64(x)/float64(1+big*37))
	case schema.Decimal:
		appendDecimal(v, randomDecimal(r, v.Type))
	default:
		column.AppendValue(v, x)
	}
}

// exactOf is the exact value of a number.
func exactOf(v *vector, i int) *big.Rat {
	switch v.Type.Kind {
	case schema.Float32, schema.Float64:
		return new(big.Rat).SetFloat64(anyNumber(v, i))
	case schema.Decimal:
		return ratOf(decimalAt(v, i), v.Type.Scale)
	}
	return new(big.Rat).SetInt64(intAt(v, i))
}

func TestNumericCasts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := &Session{ANSI: true}
	for _, from := range numericTypes {
		for _, to := range numericTypes {
			b, err := BindCast(s, Arg{Type: from}, to, CastANSI)
			if err != nil {
				t.Fatal(err)
			}
			in, out := column.New(from), column.New(to)
			for range 200 {
				randomNumber(r, in)
			}
			out.Resize(in.Len)
			b.Kernel(&Ctx{Rows: in.Len, Session: s}, []*vector{in}, out)
			for i := range in.Len {
				checkCast(t, in, out, i)
			}
			if !b.CanFail && out.Errs.Any() {
				t.Errorf("%s to %s fails, but says that it cannot", from, to)
			}
		}
	}
}

func checkCast(t *testing.T, in, out *vector, i int) {
	t.Helper()
	x, err := exactOf(in, i), out.Errs.At(i)
	switch out.Type.Kind {
	case schema.Float32, schema.Float64:
		want, _ := x.Float64()
		got := anyNumber(out, i)
		if math.Abs(got-want) > 1e-6*math.Abs(want) || out.Type.Kind == schema.Float64 && math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Errorf("%s to %s: got %v, want %v", x.FloatString(12), out.Type, got, want)
		}
	case schema.Decimal:
		if in.Type.IsFloat() { // Spark goes over the shortest text
			y := anyNumber(in, i)
			if in.Type.Kind == schema.Float32 {
				y = shortFloat(in.F32[i])
			}
			x, _ = new(big.Rat).SetString(trimFloat(y))
		}
		v := roundRat(x, out.Type.Scale)
		if !fits(v, out.Type.Precision) {
			if err == nil {
				t.Errorf("%s to %s: no overflow", x.FloatString(12), out.Type)
			}
		} else if err != nil || toBig(decimalAt(out, i)).Cmp(v) != 0 {
			t.Errorf("%s to %s: got %s (%v), want %s", x.FloatString(25), out.Type, toBig(decimalAt(out, i)), err, v)
		}
	default:
		whole := new(big.Int).Quo(x.Num(), x.Denom())
		lo, hi := intRange(out.Type.Kind)
		if !whole.IsInt64() || whole.Int64() < lo || whole.Int64() > hi {
			atTop := in.Type.IsFloat() && anyNumber(in, i) == 9223372036854775808 && out.Type.Kind == schema.Int64
			if err == nil && !atTop {
				t.Errorf("%s to %s: no overflow", x.FloatString(3), out.Type)
			}
		} else if err != nil || intAt(out, i) != whole.Int64() {
			t.Errorf("%s to %s: got %d (%v)", x.FloatString(3), out.Type, intAt(out, i), err)
		}
	}
}

func TestTextCasts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := &Session{ANSI: true}
	types := append([]schema.Type{tBool, tDate, tTime, tTimeNTZ, typ(schema.YearMonthInterval), typ(schema.DayTimeInterval)}, numericTypes...)
	for _, typ := range types {
		in := column.New(typ)
		for range 100 {
			switch {
			case typ.IsNumeric():
				randomNumber(r, in)
			case typ.Kind == schema.Boolean:
				column.AppendValue(in, r.IntN(2) == 0)
			case typ.Kind == schema.Date:
				column.AppendValue(in, r.Int32N(2_000_000)-700_000)
			case typ.Kind == schema.YearMonthInterval:
				column.AppendValue(in, r.Int32()-1<<30)
			default:
				column.AppendValue(in, (r.Int64N(200_000)-60_000)*864_000_123+r.Int64N(1e6))
			}
		}
		mid, back := column.New(tString), column.New(typ)
		castChild(&Ctx{Session: s}, castKernel(s, typ, tString, CastANSI), in, mid)
		castChild(&Ctx{Session: s}, castKernel(s, tString, typ, CastANSI), mid, back)
		for i := range in.Len {
			if !column.Equal(in, i, back, i) {
				t.Errorf("%s: %s read back as %v (%v)", typ, mid.Str(i), column.At(back, i), back.Errs.At(i))
			}
		}
	}
}

func TestComparisonsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	s := &Session{ANSI: true}
	nan := math.NaN()
	floats := []float64{0, math.Copysign(0, -1), 1, -1, nan, math.Inf(1), math.Inf(-1), 2.5}
	for _, typ := range append([]schema.Type{tString, tBool, tDate}, numericTypes...) {
		a, b := column.New(typ), column.New(typ)
		for range 64 {
			for _, v := range []*vector{a, b} {
				switch {
				case r.IntN(8) == 0:
					v.AppendNull()
				case typ.Kind == schema.Float64:
					column.AppendValue(v, floats[r.IntN(len(floats))])
				case typ.Kind == schema.Float32:
					column.AppendValue(v, float32(floats[r.IntN(len(floats))]))
				case typ.Kind == schema.String:
					column.AppendValue(v, strings.Repeat("é", r.IntN(3))+"x"[:r.IntN(2)])
				case typ.Kind == schema.Boolean:
					column.AppendValue(v, r.IntN(2) == 0)
				case typ.Kind == schema.Decimal:
					appendDecimal(v, column.FromInt64(int64(r.IntN(5)-2)))
				default:
					column.AppendValue(v, r.IntN(5)-2)
				}
			}
		}
		for _, op := range []string{"=", "!=", "<", "<=", ">", ">="} {
			bd, err := Lookup(op).Bind(s, []Arg{{Type: typ}, {Type: typ}})
			if err != nil {
				t.Fatal(err)
			}
			out := column.New(tBool)
			out.Resize(64)
			bd.Kernel(&Ctx{Rows: 64, Session: s}, []*vector{a, b}, out)
			for i := range 64 {
				if a.IsNull(i) || b.IsNull(i) {
					continue
				}
				d := column.Compare(a, i, b, i)
				if out.Bool[i] != compareTest(op)(d) {
					t.Errorf("%v %s %v (%s) gives %t", column.At(a, i), op, column.At(b, i), typ, out.Bool[i])
				}
				if (column.HashRow(a, i, 0) == column.HashRow(b, i, 0)) != (d == 0) {
					t.Errorf("hashes of %v and %v", column.At(a, i), column.At(b, i))
				}
			}
		}
	}
}

func TestRoundFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		x := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(12)))
		if r.IntN(3) == 0 {
			x = math.Round(x*1000) / 1000
		}
		d := r.IntN(6)
		exact, _ := new(big.Rat).SetString(trimFloat(x))
		want, _ := new(big.Rat).SetFrac(roundRat(exact, d), bigPow(d)).Float64()
		if got := roundFloat(x, d, false); got != want {
			t.Fatalf("round(%v, %d) = %v, want %v", x, d, got, want)
		}
	}
}
