package text

import (
	"math"
	"math/bits"
	"strconv"

	"pipelines/tables/column"
)

// DecimalStatus says how reading a decimal went.
type DecimalStatus uint8

// The outcomes of reading a decimal.
const (
	DecimalOK       DecimalStatus = iota
	DecimalInvalid                // no number
	DecimalOverflow               // a number beyond the precision
)

// ParseDecimal reads a number as a DECIMAL(precision, scale): sign, digits,
// fraction, exponent; blanks around ignored; rounded HALF_UP.
func ParseDecimal(b []byte, precision, scale int) (column.Int128, DecimalStatus) {
	return ParseDecimalExact(Trim(b), precision, scale)
}

// ParseDecimalExact is ParseDecimal without blanks around.
func ParseDecimalExact(b []byte, precision, scale int) (column.Int128, DecimalStatus) {
	var d digits
	if !d.scan(b) {
		return column.Int128{}, DecimalInvalid
	}
	v, ok := d.at(scale)
	if !ok || !DecimalFits(v, precision) {
		return column.Int128{}, DecimalOverflow
	}
	return v, DecimalOK
}

// ParseDecimalAny reads a number with the precision and scale that its text
// has; ok is false if it needs more than 38 digits. A negative scale of the
// text (1e3) is made 0.
func ParseDecimalAny(b []byte) (v column.Int128, precision, scale int, ok bool) {
	var d digits
	if !d.scan(Trim(b)) || d.lost {
		return column.Int128{}, 0, 0, false
	}
	scale = max(-d.exp, 0)
	if scale > MaxDecimalPrecision {
		return column.Int128{}, 0, 0, false
	}
	v, ok = d.at(scale)
	precision = max(DecimalDigits(v), scale)
	return v, precision, scale, ok && precision <= MaxDecimalPrecision
}

// digits is a scanned number: m * 10^exp.
type digits struct {
	m    uint128
	exp  int
	neg  bool
	lost bool // digits beyond the first 38 were cut off; the first of them is next
	next byte
}

// scan reads the syntax; at most 38 significant digits are kept.
func (d *digits) scan(b []byte) bool {
	i, count, kept, point := 0, 0, 0, -1
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		d.neg = b[i] == '-'
		i++
	}
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			if b[i] != '.' || point >= 0 {
				break
			}
			point = count
			continue
		}
		count++
		switch {
		case kept == 0 && c == 0:
		case kept < MaxDecimalPrecision:
			hi, lo := bits.Mul64(d.m.lo, 10)
			hi += d.m.hi * 10
			lo, carry := bits.Add64(lo, uint64(c), 0)
			d.m = uint128{hi + carry, lo}
			kept++
		default:
			if !d.lost {
				d.lost, d.next = true, c
			}
			d.exp++
		}
	}
	if count == 0 {
		return false
	}
	if point >= 0 {
		d.exp -= count - point
	}
	if i == len(b) {
		return true
	}
	if b[i]|0x20 != 'e' {
		return false
	}
	e, ok := parseInt(b[i+1:], false)
	if !ok || e > math.MaxInt32 || e < math.MinInt32 {
		return false
	}
	d.exp += int(e)
	return true
}

// at returns the number at a scale, rounded HALF_UP.
func (d *digits) at(scale int) (column.Int128, bool) {
	shift := d.exp + scale
	m := d.m
	switch {
	case m == uint128{}:
		return column.Int128{}, true
	case shift == 0 && d.lost && d.next >= 5:
		m = m.plus(uint128{0, 1})
	case shift > MaxDecimalPrecision:
		return column.Int128{}, false
	case shift > 0:
		w := mulWide(m, pow10[shift])
		if w.overflow128() || d.lost {
			return column.Int128{}, false
		}
		m = w.low()
	case shift < -MaxDecimalPrecision:
		return column.Int128{}, true
	case shift < 0:
		m = wide{m.lo, m.hi}.divPow10HalfUp(-shift).low()
	}
	return signed(m, d.neg)
}

// AppendDecimal appends v at a scale in plain form, with all digits of the
// scale.
func AppendDecimal(dst []byte, v column.Int128, scale int) []byte {
	m, neg := magnitude(v)
	return appendDecimal(dst, m, neg, scale)
}

// AppendDecimal64 is AppendDecimal for at most 18 digits.
func AppendDecimal64(dst []byte, v int64, scale int) []byte {
	if v < 0 {
		return appendDecimal(dst, uint128{0, -uint64(v)}, true, scale)
	}
	return appendDecimal(dst, uint128{0, uint64(v)}, false, scale)
}

func appendDecimal(dst []byte, m uint128, neg bool, scale int) []byte {
	if neg {
		dst = append(dst, '-')
	}
	var buf [40]byte
	d := decimalDigits(buf[:0], m)
	if scale == 0 {
		return append(dst, d...)
	}
	if len(d) <= scale {
		dst = append(dst, '0', '.')
		for i := len(d); i < scale; i++ {
			dst = append(dst, '0')
		}
		return append(dst, d...)
	}
	dst = append(dst, d[:len(d)-scale]...)
	dst = append(dst, '.')
	return append(dst, d[len(d)-scale:]...)
}

// decimalDigits appends the digits of m.
func decimalDigits(dst []byte, m uint128) []byte {
	if m.hi == 0 {
		return strconv.AppendUint(dst, m.lo, 10)
	}
	q, r := wide{m.lo, m.hi}.divmod64(pow10u64[19])
	dst = decimalDigits(dst, q.low())
	for i := 18; i >= 0; i-- {
		dst = append(dst, byte('0'+r/pow10u64[i]%10))
	}
	return dst
}

// AppendDecimalJava appends v as Java's BigDecimal prints itself: with an
// exponent where the value is small (0E-18), plain else.
func AppendDecimalJava(dst []byte, v column.Int128, scale int) []byte {
	m, neg := magnitude(v)
	var buf [40]byte
	d := decimalDigits(buf[:0], m)
	adjusted := len(d) - 1 - scale
	if adjusted >= -6 {
		return appendDecimal(dst, m, neg, scale)
	}
	if neg {
		dst = append(dst, '-')
	}
	dst = append(dst, d[0])
	if len(d) > 1 {
		dst = append(append(dst, '.'), d[1:]...)
	}
	return strconv.AppendInt(append(dst, 'E'), int64(adjusted), 10)
}

// DecimalToFloat returns the nearest double.
func DecimalToFloat(v column.Int128, scale int) float64 {
	m, neg := magnitude(v)
	if m.hi == 0 && m.lo <= 1<<53 && scale < len(exactPow10) {
		f := float64(m.lo) / exactPow10[scale]
		if neg {
			f = -f
		}
		return f
	}
	var buf [64]byte
	f, err := strconv.ParseFloat(string(appendDecimal(buf[:0], m, neg, scale)), 64)
	if err != nil {
		panic("bug: text: decimal text is no float: " + err.Error())
	}
	return f
}

// DecimalFromFloat returns the DECIMAL(precision, scale) of the shortest text
// of f, rounded HALF_UP; NaN and infinities are DecimalInvalid.
func DecimalFromFloat(f float64, precision, scale int) (column.Int128, DecimalStatus) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return column.Int128{}, DecimalInvalid
	}
	var buf [32]byte
	return ParseDecimalExact(strconv.AppendFloat(buf[:0], f, 'e', -1, 64), precision, scale)
}

// DecimalFromInt returns the DECIMAL(precision, scale) of a whole number.
func DecimalFromInt(v int64, precision, scale int) (column.Int128, DecimalStatus) {
	d, ok := DecimalRescale(column.FromInt64(v), 0, scale)
	if !ok || !DecimalFits(d, precision) {
		return column.Int128{}, DecimalOverflow
	}
	return d, DecimalOK
}

// DecimalToInt cuts the fraction off; ok is false beyond 64 bits.
func DecimalToInt(v column.Int128, scale int) (i int64, ok bool) {
	return DecimalTruncate(v, scale, 0).Int64()
}
