package parquet

import (
	"encoding/binary"
	"math/bits"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// decimalEmitter reads decimals and integers into a decimal that holds all
// their values.
func decimalEmitter(n *fileNode, want schema.Type) emitter {
	have, phys := n.typ, n.leaf.elem.Type.V
	unsigned := false
	switch {
	case have.Kind == schema.Decimal:
		unsigned = n.leaf.elem.ConvertedType.Valid || n.leaf.elem.LogicalType.Value != nil
		if _, _, annotated := decimalOf(n.leaf.elem); annotated {
			unsigned = false
		}
	case have.IsInteger() && phys == pqformat.Int32:
		have = schema.DecimalOf(10, 0)
	case have.IsInteger() && phys == pqformat.Int64:
		have = schema.DecimalOf(20, 0)
	default:
		return nil
	}
	shift := want.Scale - have.Scale
	if shift < 0 || want.Precision-want.Scale < have.Precision-have.Scale {
		return nil
	}
	wide := want.Precision > column.MaxDecimal64
	if shift == 0 && !unsigned {
		switch {
		case !wide && phys == pqformat.Int64:
			return emitI64
		case !wide && phys == pqformat.Int32:
			return emitI32to64
		case wide && phys == pqformat.FixedLenByteArray && n.leaf.elem.TypeLength.V <= 16:
			return emitFixedDecimal
		}
	}
	return rescale{shift: shift, unsigned: unsigned}.emit
}

// emitFixedDecimal reads big-endian two's complement of at most 16 bytes.
func emitFixedDecimal(r *leafReader, from, to int) error {
	size := fixedSize(r.node.leaf.elem)
	b := r.vals.fixed[from*size : to*size]
	for ; len(b) > 0; b = b[size:] {
		v, _ := bigEndian(b[:size])
		r.dst.I128 = append(r.dst.I128, v)
	}
	return nil
}

// bigEndian reads two's complement of any length; false when it needs more
// than 128 bits.
func bigEndian(b []byte) (column.Int128, bool) {
	var buf [16]byte
	if len(b) == 0 {
		return column.Int128{}, true
	}
	sign := byte(int8(b[0]) >> 7)
	for len(b) > 16 {
		if b[0] != sign || int8(b[1])>>7 != int8(sign) {
			return column.Int128{}, false
		}
		b = b[1:]
	}
	for i := range buf[:16-len(b)] {
		buf[i] = sign
	}
	copy(buf[16-len(b):], b)
	return column.Int128{Hi: int64(binary.BigEndian.Uint64(buf[:])), Lo: binary.BigEndian.Uint64(buf[8:])}, true
}

// rescale reads decimals of any storage and multiplies them by 10^shift.
type rescale struct {
	shift    int
	unsigned bool // UINT_64
}

func (c rescale) emit(r *leafReader, from, to int) error {
	wide := column.PhysicalOf(r.dst.Type) == column.PhysI128
	for i := from; i < to; i++ {
		v, ok := r.decimalAt(i, c.unsigned)
		for k := 0; k < c.shift && ok; k++ {
			v, ok = times10(v)
		}
		if !ok {
			return errRange
		}
		if wide {
			r.dst.I128 = append(r.dst.I128, v)
			continue
		}
		x, fits := v.Int64()
		if !fits {
			return errRange
		}
		r.dst.I64 = append(r.dst.I64, x)
	}
	return nil
}

// decimalAt returns the unscaled value i of the page.
func (r *leafReader) decimalAt(i int, unsigned bool) (column.Int128, bool) {
	e := r.node.leaf.elem
	switch e.Type.V {
	case pqformat.Int32:
		return column.FromInt64(int64(r.vals.i32[i])), true
	case pqformat.Int64:
		if unsigned {
			return column.Int128{Lo: uint64(r.vals.i64[i])}, true
		}
		return column.FromInt64(r.vals.i64[i]), true
	case pqformat.FixedLenByteArray:
		size := fixedSize(e)
		return bigEndian(r.vals.fixed[i*size : (i+1)*size])
	}
	v := &r.vals
	if v.idx != nil {
		x := v.idx[i]
		return bigEndian(r.dict.data[r.dict.offsets[x]:r.dict.offsets[x+1]])
	}
	return bigEndian(v.data[v.offsets[i]:v.offsets[i+1]])
}

// times10 multiplies; false on overflow.
func times10(v column.Int128) (column.Int128, bool) {
	neg := v.Hi < 0
	hi, lo := uint64(v.Hi), v.Lo
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	carry, low := bits.Mul64(lo, 10)
	over, high := bits.Mul64(hi, 10)
	high, c := bits.Add64(high, carry, 0)
	if over != 0 || c != 0 || high>>63 != 0 {
		return v, false
	}
	if neg {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	return column.Int128{Hi: int64(high), Lo: low}, true
}
