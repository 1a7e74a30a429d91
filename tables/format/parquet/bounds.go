package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// maxBound is the length to which the bounds of strings in footers are cut.
const maxBound = 64

// bounds are the least and greatest of the values seen; which pair is in use
// follows from the type.
type bounds struct {
	any bool // a value was seen
	nan bool // a NaN was seen: the pair does not count
	i   [2]int64
	w   [2]column.Int128
	f   [2]float64
	s   [2][]byte
}

func (b *bounds) known() bool { return b.any && !b.nan }

// merge widens b by o, both of the storage class ph.
func (b *bounds) merge(o *bounds, ph column.Physical) {
	b.nan = b.nan || o.nan
	if !o.any {
		return
	}
	if !b.any {
		nan := b.nan
		s := b.s
		*b = *o
		b.nan = nan
		b.s = [2][]byte{append(s[0][:0], o.s[0]...), append(s[1][:0], o.s[1]...)}
		return
	}
	switch ph {
	case column.PhysI128:
		if o.w[0].Cmp(b.w[0]) < 0 {
			b.w[0] = o.w[0]
		}
		if o.w[1].Cmp(b.w[1]) > 0 {
			b.w[1] = o.w[1]
		}
	case column.PhysF32, column.PhysF64:
		b.f[0], b.f[1] = min(b.f[0], o.f[0]), max(b.f[1], o.f[1])
	case column.PhysBytes:
		if bytes.Compare(o.s[0], b.s[0]) < 0 {
			b.s[0] = append(b.s[0][:0], o.s[0]...)
		}
		if bytes.Compare(o.s[1], b.s[1]) > 0 {
			b.s[1] = append(b.s[1][:0], o.s[1]...)
		}
	default:
		b.i[0], b.i[1] = min(b.i[0], o.i[0]), max(b.i[1], o.i[1])
	}
}

func (b *bounds) mergeStr(s *strBounds) {
	if s.any {
		b.merge(&bounds{any: true, s: [2][]byte{s.least, s.greatest}}, column.PhysBytes)
	}
}

// pageBounds computes the bounds of the page in the making; those of a page of
// dictionary indexes come later, from the dictionary.
func (l *leaf) pageBounds() bounds {
	var b bounds
	switch {
	case len(l.i32) > 0:
		lo, hi := l.i32[0], l.i32[0]
		for _, v := range l.i32 {
			lo, hi = min(lo, v), max(hi, v)
		}
		b.any, b.i = true, [2]int64{int64(lo), int64(hi)}
	case len(l.i64) > 0:
		lo, hi := l.i64[0], l.i64[0]
		for _, v := range l.i64 {
			lo, hi = min(lo, v), max(hi, v)
		}
		b.any, b.i = true, [2]int64{lo, hi}
	case len(l.i128) > 0:
		lo, hi := l.i128[0], l.i128[0]
		for _, v := range l.i128 {
			if v.Cmp(lo) < 0 {
				lo = v
			}
			if v.Cmp(hi) > 0 {
				hi = v
			}
		}
		b.any, b.w = true, [2]column.Int128{lo, hi}
	case len(l.f32) > 0:
		floatBounds(&b, l.f32)
	case len(l.f64) > 0:
		floatBounds(&b, l.f64)
	case len(l.bools) > 0:
		b.any, b.i = true, [2]int64{1, 0}
		for _, v := range l.bools {
			x := int64(0)
			if v {
				x = 1
			}
			b.i[0], b.i[1] = min(b.i[0], x), max(b.i[1], x)
		}
	case l.str.any:
		b.any, b.s = true, [2][]byte{l.str.least, l.str.greatest}
	}
	return b
}

// floatBounds keeps -0.0 below 0.0, as the format asks of bounds.
func floatBounds[T float32 | float64](b *bounds, vals []T) {
	lo, hi := vals[0], vals[0]
	for _, v := range vals { // min and max pass a NaN on, and order the zeros
		lo, hi = min(lo, v), max(hi, v)
	}
	if lo != lo {
		b.any, b.nan = true, true
		return
	}
	b.any, b.f = true, [2]float64{float64(lo), float64(hi)}
	if b.f[0] == 0 {
		b.f[0] = math.Copysign(0, -1)
	}
	if b.f[1] == 0 {
		b.f[1] = 0
	}
}

// encode returns both bounds in the file's form; ok is false when there are
// none, or a long greatest string cannot be cut.
func (l *leaf) encode(b *bounds) (lo, hi []byte, ok bool) {
	if !b.known() {
		return nil, nil, false
	}
	switch l.phys {
	case pqformat.Boolean:
		return []byte{byte(b.i[0])}, []byte{byte(b.i[1])}, true
	case pqformat.Int32:
		return le32(uint32(b.i[0])), le32(uint32(b.i[1])), true
	case pqformat.Int64:
		return le64(uint64(b.i[0])), le64(uint64(b.i[1])), true
	case pqformat.Float:
		return le32(math.Float32bits(float32(b.f[0]))), le32(math.Float32bits(float32(b.f[1]))), true
	case pqformat.Double:
		return le64(math.Float64bits(b.f[0])), le64(math.Float64bits(b.f[1])), true
	case pqformat.FixedLenByteArray:
		return appendFixed(nil, b.w[0], l.size), appendFixed(nil, b.w[1], l.size), true
	}
	text := l.typ.Kind == schema.String
	hi, ok = cutGreatest(b.s[1], text)
	return cutLeast(b.s[0], text), hi, ok
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// appendFixed writes v as size bytes, big end first.
func appendFixed(dst []byte, v column.Int128, size int) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(v.Hi))
	binary.BigEndian.PutUint64(b[8:], v.Lo)
	return append(dst, b[16-size:]...)
}

// cutLeast returns a bound not above s.
func cutLeast(s []byte, text bool) []byte {
	n := min(len(s), maxBound)
	if text {
		n = cutRune(s, n)
	}
	return append(make([]byte, 0, n), s[:n]...)
}

// cutGreatest returns a bound not below s, or false.
func cutGreatest(s []byte, text bool) ([]byte, bool) {
	if len(s) <= maxBound {
		return append(make([]byte, 0, len(s)), s...), true
	}
	n := maxBound
	if !text {
		for b := append([]byte(nil), s[:n]...); len(b) > 0; b = b[:len(b)-1] {
			if b[len(b)-1] != 0xff {
				b[len(b)-1]++
				return b, true
			}
		}
		return nil, false
	}
	for n = cutRune(s, n); n > 0; {
		r, size := utf8.DecodeLastRune(s[:n])
		n -= size
		if r == utf8.RuneError && size <= 1 {
			return nil, false // not UTF-8
		}
		if r++; r == 0xd800 {
			r = 0xe000
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(append([]byte(nil), s[:n]...), r), true
		}
	}
	return nil, false
}

// cutRune moves n back to the start of a character.
func cutRune(s []byte, n int) int {
	for at := n; n < len(s) && at > 0 && n-at < 4; at-- {
		if utf8.RuneStart(s[at]) {
			return at
		}
	}
	return n
}

// vectors returns the bounds as one-row vectors of the leaf's type.
func (l *leaf) vectors(b *bounds) (lo, hi *column.Vector) {
	if !b.known() || l.typ.Kind == schema.Binary {
		return nil, nil
	}
	return l.vector(b, 0), l.vector(b, 1)
}

func (l *leaf) vector(b *bounds, k int) *column.Vector {
	v := column.New(l.typ)
	v.Resize(1)
	switch column.PhysicalOf(l.typ) {
	case column.PhysBool:
		v.Bool[0] = b.i[k] != 0
	case column.PhysI8:
		v.I8[0] = int8(b.i[k])
	case column.PhysI16:
		v.I16[0] = int16(b.i[k])
	case column.PhysI32:
		v.I32[0] = int32(b.i[k])
	case column.PhysI64:
		v.I64[0] = b.i[k]
	case column.PhysI128:
		v.I128[0] = b.w[k]
	case column.PhysF32:
		v.F32[0] = float32(b.f[k])
	case column.PhysF64:
		v.F64[0] = b.f[k]
	case column.PhysBytes:
		v.AppendStr(b.s[k])
	}
	return v
}
