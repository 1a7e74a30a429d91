package logical

import "math/bits"

// divTen divides the 128-bit number hi:lo by ten.
func divTen(hi, lo uint64) (qhi, qlo, rem uint64) {
	qhi, rem = hi/10, hi%10
	qlo, rem = bits.Div64(rem, lo, 10)
	return qhi, qlo, rem
}
