package text

import (
	"math/bits"

	"pipelines/tables/column"
)

// MaxDecimalPrecision is the greatest number of digits of a decimal.
const MaxDecimalPrecision = 38

// Decimals are column.Int128 values at a scale that the caller knows. All
// functions report whether the result fits 128 bits; DecimalFits checks a
// precision. Rounding is HALF_UP (away from zero at a tie).

// uint128 is an unsigned magnitude.
type uint128 struct{ hi, lo uint64 }

// pow10 holds 10^0 to 10^38.
var pow10 = func() (t [MaxDecimalPrecision + 1]uint128) {
	t[0] = uint128{0, 1}
	for i := 1; i < len(t); i++ {
		hi, lo := bits.Mul64(t[i-1].lo, 10)
		t[i] = uint128{hi + t[i-1].hi*10, lo}
	}
	return t
}()

// pow10u64 holds 10^0 to 10^19.
var pow10u64 = func() (t [20]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = t[i-1] * 10
	}
	return t
}()

// magnitude returns |v| and whether v is negative.
func magnitude(v column.Int128) (m uint128, neg bool) {
	if v.Hi >= 0 {
		return uint128{uint64(v.Hi), v.Lo}, false
	}
	lo, carry := bits.Add64(^v.Lo, 1, 0)
	return uint128{^uint64(v.Hi) + carry, lo}, true
}

// signed is the inverse of magnitude; ok is false when m needs 128 bits.
func signed(m uint128, neg bool) (v column.Int128, ok bool) {
	if m.hi>>63 != 0 {
		return column.Int128{}, false
	}
	v = column.Int128{Hi: int64(m.hi), Lo: m.lo}
	if neg {
		v = DecimalNeg(v)
	}
	return v, true
}

// DecimalNeg returns -v.
func DecimalNeg(v column.Int128) column.Int128 {
	lo, borrow := bits.Sub64(0, v.Lo, 0)
	return column.Int128{Hi: -v.Hi - int64(borrow), Lo: lo}
}

// DecimalAbs returns |v|.
func DecimalAbs(v column.Int128) column.Int128 {
	if v.Hi < 0 {
		return DecimalNeg(v)
	}
	return v
}

// DecimalSign returns -1, 0 or +1.
func DecimalSign(v column.Int128) int {
	switch {
	case v.Hi < 0:
		return -1
	case v == column.Int128{}:
		return 0
	}
	return 1
}

// DecimalAdd returns a + b (equal scales).
func DecimalAdd(a, b column.Int128) (sum column.Int128, ok bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi := a.Hi + b.Hi + int64(carry)
	return column.Int128{Hi: hi, Lo: lo}, (a.Hi^hi)&(b.Hi^hi) >= 0
}

// DecimalSub returns a - b (equal scales).
func DecimalSub(a, b column.Int128) (diff column.Int128, ok bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi := a.Hi - b.Hi - int64(borrow)
	return column.Int128{Hi: hi, Lo: lo}, (a.Hi^b.Hi)&(a.Hi^hi) >= 0
}

// DecimalFits reports whether v has at most precision digits.
func DecimalFits(v column.Int128, precision int) bool {
	m, _ := magnitude(v)
	p := &pow10[precision]
	return m.hi < p.hi || m.hi == p.hi && m.lo < p.lo
}

// DecimalDigits returns the number of digits of v, 1 for zero.
func DecimalDigits(v column.Int128) int {
	m, _ := magnitude(v)
	n := 1
	for n <= MaxDecimalPrecision && (m.hi > pow10[n].hi || m.hi == pow10[n].hi && m.lo >= pow10[n].lo) {
		n++
	}
	return n
}

// DecimalRescale moves v from one scale to another, rounding HALF_UP.
func DecimalRescale(v column.Int128, from, to int) (r column.Int128, ok bool) {
	switch d := to - from; {
	case d == 0:
		return v, true
	case d > MaxDecimalPrecision:
		return column.Int128{}, v == column.Int128{}
	case d > 0:
		m, neg := magnitude(v)
		w := mulWide(m, pow10[d])
		if w.overflow128() {
			return column.Int128{}, false
		}
		return signed(w.low(), neg)
	case -d > MaxDecimalPrecision:
		return column.Int128{}, true
	default:
		m, neg := magnitude(v)
		q := wide{m.lo, m.hi}.divPow10HalfUp(-d)
		return signed(q.low(), neg)
	}
}

// DecimalFloor and DecimalCeil round to a lower scale downwards and upwards.
func DecimalFloor(v column.Int128, from, to int) column.Int128 { return decimalCut(v, from-to, true) }

// DecimalCeil rounds to a lower scale upwards.
func DecimalCeil(v column.Int128, from, to int) column.Int128 { return decimalCut(v, from-to, false) }

// DecimalTruncate rounds to a lower scale toward zero.
func DecimalTruncate(v column.Int128, from, to int) column.Int128 {
	m, neg := magnitude(v)
	d := min(from-to, MaxDecimalPrecision)
	if d <= 0 {
		return v
	}
	q, _ := wide{m.lo, m.hi}.divmod(pow10[d])
	r, _ := signed(q.low(), neg)
	return r
}

func decimalCut(v column.Int128, d int, down bool) column.Int128 {
	if d <= 0 {
		return v
	}
	m, neg := magnitude(v)
	q, rem := wide{m.lo, m.hi}.divmod(pow10[min(d, MaxDecimalPrecision)])
	low := q.low()
	if rem != (uint128{}) && neg == down {
		lo, carry := bits.Add64(low.lo, 1, 0)
		low = uint128{low.hi + carry, lo}
	}
	r, _ := signed(low, neg)
	return r
}

// DecimalRoundHalfEven rounds to a lower scale, ties to the even digit.
func DecimalRoundHalfEven(v column.Int128, from, to int) column.Int128 {
	d := from - to
	if d <= 0 {
		return v
	}
	if d > MaxDecimalPrecision {
		return column.Int128{}
	}
	m, neg := magnitude(v)
	q, rem := wide{m.lo, m.hi}.divmod(pow10[d])
	low := q.low()
	half := wide{pow10[d].lo, pow10[d].hi}.half()
	c := rem.cmp(half)
	if c > 0 || c == 0 && low.lo&1 == 1 {
		lo, carry := bits.Add64(low.lo, 1, 0)
		low = uint128{low.hi + carry, lo}
	}
	r, _ := signed(low, neg)
	return r
}

func (u uint128) cmp(o uint128) int {
	switch {
	case u.hi < o.hi || u.hi == o.hi && u.lo < o.lo:
		return -1
	case u == o:
		return 0
	}
	return 1
}
