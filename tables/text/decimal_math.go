package text

import (
	"math/bits"

	"pipelines/tables/column"
)

// wide is an unsigned 256-bit number, least limb first.
type wide [4]uint64

func (w wide) low() uint128      { return uint128{w[1], w[0]} }
func (w wide) overflow128() bool { return w[2]|w[3] != 0 }
func (w wide) half() uint128     { return uint128{w[1] >> 1, w[0]>>1 | w[1]<<63} }

// mulWide returns the whole product.
func mulWide(a, b uint128) wide {
	if a.hi|b.hi == 0 {
		hi, lo := bits.Mul64(a.lo, b.lo)
		return wide{lo, hi}
	}
	h00, l00 := bits.Mul64(a.lo, b.lo)
	h01, l01 := bits.Mul64(a.lo, b.hi)
	h10, l10 := bits.Mul64(a.hi, b.lo)
	h11, l11 := bits.Mul64(a.hi, b.hi)
	w1, c1 := bits.Add64(h00, l01, 0)
	w2, c2 := bits.Add64(h01, l11, c1)
	w3 := h11 + c2
	w1, c1 = bits.Add64(w1, l10, 0)
	w2, c2 = bits.Add64(w2, h10, c1)
	return wide{l00, w1, w2, w3 + c2}
}

// mul64 returns w * m and whether it fits.
func (w wide) mul64(m uint64) (r wide, ok bool) {
	var carry uint64
	for i, x := range w {
		hi, lo := bits.Mul64(x, m)
		var c uint64
		r[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return r, carry == 0
}

// add128 returns w + m; the top limb has room in all uses.
func (w wide) add128(m uint128) wide {
	var c uint64
	w[0], c = bits.Add64(w[0], m.lo, 0)
	w[1], c = bits.Add64(w[1], m.hi, c)
	w[2], c = bits.Add64(w[2], 0, c)
	w[3] += c
	return w
}

// divmod64 divides by a non-zero 64-bit number.
func (w wide) divmod64(d uint64) (q wide, rem uint64) {
	for i := 3; i >= 0; i-- {
		q[i], rem = bits.Div64(rem, w[i], d)
	}
	return q, rem
}

// divmod divides by a non-zero 128-bit number (schoolbook, limbs of 64 bits).
func (w wide) divmod(d uint128) (q wide, rem uint128) {
	if d.hi == 0 {
		q, r := w.divmod64(d.lo)
		return q, uint128{0, r}
	}
	if w[2]|w[3] == 0 && w.low().cmp(d) < 0 {
		return wide{}, w.low()
	}
	s := uint(bits.LeadingZeros64(d.hi))
	dh, dl := d.hi, d.lo
	u := [5]uint64{w[0], w[1], w[2], w[3], 0}
	if s > 0 {
		dh, dl = dh<<s|dl>>(64-s), dl<<s
		u[4] = u[3] >> (64 - s)
		for i := 3; i > 0; i-- {
			u[i] = u[i]<<s | u[i-1]>>(64-s)
		}
		u[0] <<= s
	}
	for j := 2; j >= 0; j-- {
		q[j] = divStep(&u, j, dh, dl)
	}
	rem = uint128{u[1], u[0]}
	if s > 0 {
		rem = uint128{rem.hi >> s, rem.lo>>s | rem.hi<<(64-s)}
	}
	return q, rem
}

// divStep finds the digit j of the quotient of u by (dh, dl), which is
// normalised, and takes its multiple off u.
func divStep(u *[5]uint64, j int, dh, dl uint64) uint64 {
	var qhat, rhat, carry uint64
	if u[j+2] >= dh {
		qhat = ^uint64(0)
		rhat, carry = bits.Add64(u[j+1], dh, 0)
		if u[j+2] > dh { // cannot be, the digit before was exact
			panic("bug: text: quotient digit out of range")
		}
	} else {
		qhat, rhat = bits.Div64(u[j+2], u[j+1], dh)
	}
	for carry == 0 {
		hi, lo := bits.Mul64(qhat, dl)
		if hi < rhat || hi == rhat && lo <= u[j] {
			break
		}
		qhat--
		rhat, carry = bits.Add64(rhat, dh, 0)
	}
	// u[j..j+2] -= qhat * d
	h0, l0 := bits.Mul64(qhat, dl)
	h1, l1 := bits.Mul64(qhat, dh)
	mid, c := bits.Add64(h0, l1, 0)
	top := h1 + c
	var b uint64
	u[j], b = bits.Sub64(u[j], l0, 0)
	u[j+1], b = bits.Sub64(u[j+1], mid, b)
	u[j+2], b = bits.Sub64(u[j+2], top, b)
	if b != 0 {
		qhat--
		u[j], c = bits.Add64(u[j], dl, 0)
		u[j+1], c = bits.Add64(u[j+1], dh, c)
		u[j+2] += c
	}
	return qhat
}

// divPow10HalfUp divides by 10^n, ties up.
func (w wide) divPow10HalfUp(n int) wide {
	q, rem := w.divmod(pow10[n])
	if n > 0 && rem.cmp(wide{pow10[n].lo, pow10[n].hi}.half()) >= 0 {
		q = q.add128(uint128{0, 1})
	}
	return q
}

// DecimalMul returns a * b, whose exact scale is drop digits more than
// wanted: the product is rounded HALF_UP by drop digits (0 to 38).
func DecimalMul(a, b column.Int128, drop int) (p column.Int128, ok bool) {
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	w := mulWide(ma, mb)
	if drop > 0 {
		w = w.divPow10HalfUp(drop)
	}
	if w.overflow128() {
		return column.Int128{}, false
	}
	return signed(w.low(), na != nb)
}

// DecimalDiv returns a * 10^shift / b rounded HALF_UP; b must not be zero.
// For scales sa, sb and a result scale s, shift is s - sa + sb, and may be
// negative.
func DecimalDiv(a, b column.Int128, shift int) (q column.Int128, ok bool) {
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	w := wide{ma.lo, ma.hi}
	for shift < 0 { // divide by b * 10^-shift
		step := min(-shift, 19)
		d := mulWide(mb, pow10[step])
		if d.overflow128() {
			return column.Int128{}, true // |a| < 2^127 is below half the divisor
		}
		mb, shift = d.low(), shift+step
	}
	for shift > 0 {
		step := min(shift, 19)
		if w, ok = w.mul64(pow10u64[step]); !ok {
			return column.Int128{}, false
		}
		shift -= step
	}
	r, rem := w.divmod(mb)
	if rem.cmp(wide{mb.lo, mb.hi}.half().plus(uint128{0, mb.lo & 1})) >= 0 {
		r = r.add128(uint128{0, 1})
	}
	if r.overflow128() {
		return column.Int128{}, false
	}
	return signed(r.low(), na != nb)
}

func (u uint128) plus(o uint128) uint128 {
	lo, c := bits.Add64(u.lo, o.lo, 0)
	return uint128{u.hi + o.hi + c, lo}
}

// DecimalDivRem returns quotient (toward zero) and remainder (with the sign of
// a) of two decimals of equal scale; b must not be zero.
func DecimalDivRem(a, b column.Int128) (q, rem column.Int128) {
	ma, na := magnitude(a)
	mb, nb := magnitude(b)
	mq, mr := wide{ma.lo, ma.hi}.divmod(mb)
	q, _ = signed(mq.low(), na != nb)
	rem, _ = signed(mr, na)
	return q, rem
}

// DecimalCmp compares decimals of different scales.
func DecimalCmp(a column.Int128, sa int, b column.Int128, sb int) int {
	if sa == sb {
		return a.Cmp(b)
	}
	x, y := DecimalSign(a), DecimalSign(b)
	if x != y || x == 0 {
		return x - y
	}
	ma, _ := magnitude(a)
	mb, _ := magnitude(b)
	wa, wb := wide{ma.lo, ma.hi}, wide{mb.lo, mb.hi}
	if sa < sb {
		wa = mulWide(ma, pow10[sb-sa])
	} else {
		wb = mulWide(mb, pow10[sa-sb])
	}
	for i := 3; i >= 0; i-- {
		if wa[i] != wb[i] {
			if (wa[i] < wb[i]) == (x > 0) {
				return -1
			}
			return 1
		}
	}
	return 0
}
