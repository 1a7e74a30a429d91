package operator

import (
	"encoding/binary"
	"math"

	"pipelines/tables/column"
)

// A block is its columns one after another; nothing but the rows, for their
// types and number are known to who reads. A column is a byte of flags, the
// words of the null bitmap, the marks of failed rows, the payload: fixed-width
// values in little-endian order, ends of strings or lists and then the bytes or
// the children. Marks are numbers into a list of errors in memory.
const (
	blockNulls = 1 << iota
	blockErrors
)

// blockWriter appends columns to dst.
type blockWriter struct {
	dst  []byte
	errs []error
}

func (w *blockWriter) column(v *column.Vector, n int) {
	if v.Const || v.Dict != nil {
		panic("bug: operator: spilled column is not flat")
	}
	flags := byte(0)
	if v.Nulls != nil {
		flags |= blockNulls
	}
	if v.Errs.Any() {
		flags |= blockErrors
	}
	w.dst = append(w.dst, flags)
	if v.Nulls != nil {
		for i := range (n + 63) / 64 {
			x := uint64(0)
			if i < len(v.Nulls) {
				x = v.Nulls[i]
			}
			if left := n - i*64; left < 64 {
				x &= 1<<uint(left) - 1
			}
			w.dst = binary.LittleEndian.AppendUint64(w.dst, x)
		}
	}
	if v.Errs.Any() {
		w.marks(v, n)
	}
	w.payload(v, n)
}

func (w *blockWriter) marks(v *column.Vector, n int) {
	count := 0
	v.Errs.Each(func(row int, _ error) {
		if row < n {
			count++
		}
	})
	w.dst = binary.AppendUvarint(w.dst, uint64(count))
	v.Errs.Each(func(row int, err error) {
		if row < n {
			w.dst = binary.AppendUvarint(w.dst, uint64(row))
			w.dst = binary.AppendUvarint(w.dst, uint64(len(w.errs)))
			w.errs = append(w.errs, err)
		}
	})
}

//tidy:allow-long one case a storage class
func (w *blockWriter) payload(v *column.Vector, n int) {
	d := w.dst
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		for _, x := range v.Bool[:n] {
			b := byte(0)
			if x {
				b = 1
			}
			d = append(d, b)
		}
	case column.PhysI8:
		for _, x := range v.I8[:n] {
			d = append(d, byte(x))
		}
	case column.PhysI16:
		for _, x := range v.I16[:n] {
			d = binary.LittleEndian.AppendUint16(d, uint16(x))
		}
	case column.PhysI32:
		for _, x := range v.I32[:n] {
			d = binary.LittleEndian.AppendUint32(d, uint32(x))
		}
	case column.PhysI64:
		for _, x := range v.I64[:n] {
			d = binary.LittleEndian.AppendUint64(d, uint64(x))
		}
	case column.PhysI128:
		for _, x := range v.I128[:n] {
			d = binary.LittleEndian.AppendUint64(d, x.Lo)
			d = binary.LittleEndian.AppendUint64(d, uint64(x.Hi))
		}
	case column.PhysF32:
		for _, x := range v.F32[:n] {
			d = binary.LittleEndian.AppendUint32(d, math.Float32bits(x))
		}
	case column.PhysF64:
		for _, x := range v.F64[:n] {
			d = binary.LittleEndian.AppendUint64(d, math.Float64bits(x))
		}
	case column.PhysBytes:
		d = appendEnds(d, v.Offsets[:n+1])
		d = append(d, v.Bytes[v.Offsets[0]:v.Offsets[n]]...)
	case column.PhysList:
		w.dst = appendEnds(d, v.Offsets[:n+1])
		if v.Offsets[0] != 0 {
			panic("bug: operator: spilled list does not start at 0")
		}
		for _, c := range v.Children {
			w.column(c, int(v.Offsets[n]))
		}
		return
	case column.PhysStruct:
		w.dst = d
		for _, c := range v.Children {
			w.column(c, n)
		}
		return
	}
	w.dst = d
}

// appendEnds writes the ends of n rows, from 0.
func appendEnds(d []byte, offsets []int32) []byte {
	for _, x := range offsets[1:] {
		d = binary.LittleEndian.AppendUint32(d, uint32(x-offsets[0]))
	}
	return d
}

// blockReader takes columns off src; after a failure it gives nothing.
type blockReader struct {
	src    []byte
	errs   []error
	failed bool
}

func (r *blockReader) take(n int) []byte {
	if r.failed || n < 0 || n > len(r.src) {
		r.failed = true
		return nil
	}
	out := r.src[:n]
	r.src = r.src[n:]
	return out
}

func (r *blockReader) uvarint() int {
	x, w := binary.Uvarint(r.src)
	if w <= 0 || x > math.MaxInt32 {
		r.failed = true
		return 0
	}
	r.src = r.src[w:]
	return int(x)
}

// column appends n rows to v.
func (r *blockReader) column(v *column.Vector, n int) {
	head := r.take(1)
	if r.failed {
		return
	}
	base := v.Len
	var nulls, marks []byte
	if head[0]&blockNulls != 0 {
		nulls = r.take((n + 63) / 64 * 8)
	}
	if head[0]&blockErrors != 0 {
		before := r.src
		for range r.uvarint() * 2 {
			r.uvarint()
			if r.failed {
				return
			}
		}
		marks = before[:len(before)-len(r.src)]
	}
	r.payload(v, n)
	if r.failed {
		return
	}
	v.Len = base + n
	setNulls(v, base, nulls)
	m := blockReader{src: marks}
	for range m.markCount() {
		row, at := m.uvarint(), m.uvarint()
		if m.failed || row >= n || at >= len(r.errs) {
			r.failed = true
			return
		}
		v.Fail(base+row, r.errs[at])
	}
}

func (r *blockReader) markCount() int {
	if len(r.src) == 0 {
		return 0
	}
	return r.uvarint()
}

func setNulls(v *column.Vector, base int, words []byte) {
	if words == nil {
		return
	}
	if base == 0 {
		bits := v.MakeNulls(v.Len)
		for i := range len(words) / 8 {
			bits[i] = binary.LittleEndian.Uint64(words[i*8:])
		}
		return
	}
	for i := range v.Len - base {
		if words[i>>3]>>(uint(i)&7)&1 != 0 {
			v.SetNull(base + i)
		}
	}
}

//tidy:allow-long one case a storage class
func (r *blockReader) payload(v *column.Vector, n int) {
	switch ph := column.PhysicalOf(v.Type); ph {
	case column.PhysBool:
		for _, x := range r.take(n) {
			v.Bool = append(v.Bool, x != 0)
		}
	case column.PhysI8:
		for _, x := range r.take(n) {
			v.I8 = append(v.I8, int8(x))
		}
	case column.PhysI16:
		for s := r.take(2 * n); len(s) > 0; s = s[2:] {
			v.I16 = append(v.I16, int16(binary.LittleEndian.Uint16(s)))
		}
	case column.PhysI32:
		for s := r.take(4 * n); len(s) > 0; s = s[4:] {
			v.I32 = append(v.I32, int32(binary.LittleEndian.Uint32(s)))
		}
	case column.PhysI64:
		for s := r.take(8 * n); len(s) > 0; s = s[8:] {
			v.I64 = append(v.I64, int64(binary.LittleEndian.Uint64(s)))
		}
	case column.PhysI128:
		for s := r.take(16 * n); len(s) > 0; s = s[16:] {
			v.I128 = append(v.I128, column.Int128{Lo: binary.LittleEndian.Uint64(s), Hi: int64(binary.LittleEndian.Uint64(s[8:]))})
		}
	case column.PhysF32:
		for s := r.take(4 * n); len(s) > 0; s = s[4:] {
			v.F32 = append(v.F32, math.Float32frombits(binary.LittleEndian.Uint32(s)))
		}
	case column.PhysF64:
		for s := r.take(8 * n); len(s) > 0; s = s[8:] {
			v.F64 = append(v.F64, math.Float64frombits(binary.LittleEndian.Uint64(s)))
		}
	case column.PhysBytes:
		v.Bytes = append(v.Bytes, r.take(r.ends(v, n, len(v.Bytes)))...)
	case column.PhysList:
		total := r.ends(v, n, v.Children[0].Len)
		for _, c := range v.Children {
			r.column(c, total)
		}
	case column.PhysStruct:
		for _, c := range v.Children {
			r.column(c, n)
		}
	}
}

// ends appends the offsets of n rows that start at from and returns the length
// of them all.
func (r *blockReader) ends(v *column.Vector, n, from int) int {
	s := r.take(4 * n)
	last := 0
	for ; len(s) > 0; s = s[4:] {
		x := int(binary.LittleEndian.Uint32(s))
		if x < last || x > math.MaxInt32-from {
			r.failed = true
			return 0
		}
		last = x
		v.Offsets = append(v.Offsets, int32(from+x))
	}
	return last
}
