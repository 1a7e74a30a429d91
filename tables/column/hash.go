package column

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The hash is a stable function of the value: it may be stored (state is
// partitioned by it). Multiply-and-fold over odd 64-bit constants.
const (
	hashNull = 0x9e3779b97f4a7c15
	hashK0   = 0xa0761d6478bd642f
	hashK1   = 0xe7037ed1a0b428db
	hashK2   = 0x8ebc6af09c88c6e3
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// HashUint64 mixes x into the running hash h.
func HashUint64(h, x uint64) uint64 { return fold(h^hashK0, x^hashK1) }

// HashBytes mixes s into the running hash h.
func HashBytes(h uint64, s []byte) uint64 {
	n := uint64(len(s))
	for len(s) > 16 {
		h = fold(binary.LittleEndian.Uint64(s)^hashK1, binary.LittleEndian.Uint64(s[8:])^h^hashK0)
		s = s[16:]
	}
	var a, b uint64
	switch {
	case len(s) >= 8:
		a, b = binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[len(s)-8:])
	case len(s) >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(s)), uint64(binary.LittleEndian.Uint32(s[len(s)-4:]))
	case len(s) > 0:
		a = uint64(s[0])<<16 | uint64(s[len(s)>>1])<<8 | uint64(s[len(s)-1])
	}
	return fold(hashK2^n, fold(a^hashK1, b^h^hashK0))
}

// HashRow mixes row i of v into the running hash h.
func HashRow(v *Vector, i int, h uint64) uint64 {
	if v.IsNull(i) {
		return HashUint64(h, hashNull)
	}
	v, i = v.resolve(i)
	switch PhysicalOf(v.Type) {
	case PhysBool:
		if v.Bool[i] {
			return HashUint64(h, 1)
		}
		return HashUint64(h, 0)
	case PhysI8:
		return HashUint64(h, uint64(int64(v.I8[i])))
	case PhysI16:
		return HashUint64(h, uint64(int64(v.I16[i])))
	case PhysI32:
		return HashUint64(h, uint64(int64(v.I32[i])))
	case PhysI64:
		return HashUint64(h, uint64(v.I64[i]))
	case PhysI128:
		return HashUint64(HashUint64(h, uint64(v.I128[i].Hi)), v.I128[i].Lo)
	case PhysF32:
		return HashUint64(h, floatBits(float64(v.F32[i])))
	case PhysF64:
		return HashUint64(h, floatBits(v.F64[i]))
	case PhysBytes:
		return HashBytes(h, v.Str(i))
	case PhysList:
		from, to := v.List(i)
		h = HashUint64(h, uint64(to-from))
		for c := range v.Children {
			for k := from; k < to; k++ {
				h = HashRow(v.Children[c], k, h)
			}
		}
		return h
	case PhysStruct:
		for _, c := range v.Children {
			h = HashRow(c, i, h)
		}
	}
	return h
}

// floatBits gives equal bits to equal floats: one zero, one NaN.
func floatBits(x float64) uint64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}
