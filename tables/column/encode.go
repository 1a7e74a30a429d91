package column

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"pipelines/tables/schema"
)

// ErrEncoding says that bytes are no encoded value.
var ErrEncoding = errors.New("encoded value is damaged")

// AppendKey appends the key form of row i of v (any form) to dst: values that
// Equal holds for equal have equal bytes (one NaN, one zero, maps in the order
// of their encoded entries), no encoding is the start of another, and integers
// are in the order of their bytes.
func AppendKey(dst []byte, v *Vector, i int) []byte { return encoder{key: true}.value(dst, v, i) }

// AppendExact appends row i of v (any form) as it is, for DecodeValue.
func AppendExact(dst []byte, v *Vector, i int) []byte { return encoder{}.value(dst, v, i) }

type encoder struct{ key bool }

func (e encoder) float(x float64) uint64 {
	switch {
	case !e.key:
	case x == 0:
		return 0
	case x != x:
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}

const signBit = 1 << 63

func (e encoder) value(dst []byte, v *Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	v, i = v.resolve(i)
	dst = append(dst, 1)
	be := binary.BigEndian
	switch PhysicalOf(v.Type) {
	case PhysBool:
		if v.Bool[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case PhysI8:
		return append(dst, byte(v.I8[i])^0x80)
	case PhysI16:
		return be.AppendUint16(dst, uint16(v.I16[i])^0x8000)
	case PhysI32:
		return be.AppendUint32(dst, uint32(v.I32[i])^0x80000000)
	case PhysI64:
		return be.AppendUint64(dst, uint64(v.I64[i])^signBit)
	case PhysI128:
		return be.AppendUint64(be.AppendUint64(dst, uint64(v.I128[i].Hi)^signBit), v.I128[i].Lo)
	case PhysF32:
		return be.AppendUint64(dst, e.float(float64(v.F32[i])))
	case PhysF64:
		return be.AppendUint64(dst, e.float(v.F64[i]))
	case PhysBytes:
		s := v.Str(i)
		return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	case PhysList:
		return e.list(dst, v, i)
	case PhysStruct:
		for _, c := range v.Children {
			dst = e.value(dst, c, i)
		}
	}
	return dst
}

func (e encoder) list(dst []byte, v *Vector, i int) []byte {
	from, to := v.List(i)
	dst = binary.AppendUvarint(dst, uint64(to-from))
	if !e.key || v.Type.Kind != schema.Map {
		for k := from; k < to; k++ {
			for _, c := range v.Children {
				dst = e.value(dst, c, k)
			}
		}
		return dst
	}
	entries := make([][]byte, 0, to-from)
	for k := from; k < to; k++ {
		entries = append(entries, e.value(e.value(nil, v.Children[0], k), v.Children[1], k))
	}
	slices.SortFunc(entries, bytes.Compare)
	for _, x := range entries {
		dst = append(dst, x...)
	}
	return dst
}

// DecodeValue appends the value at the start of src, in either form, to the
// flat vector v and returns the rest of src. After an error v must not be used.
func DecodeValue(src []byte, v *Vector) ([]byte, error) {
	if len(src) == 0 || src[0] > 1 {
		return nil, ErrEncoding
	}
	null := src[0] == 0
	src = src[1:]
	if null {
		v.AppendNull()
		return src, nil
	}
	ph := PhysicalOf(v.Type)
	if n := encodedWidth(ph); n > 0 {
		if len(src) < n {
			return nil, ErrEncoding
		}
		decodeFixed(src, v, ph)
		v.Len++
		return src[n:], nil
	}
	switch ph {
	case PhysBytes:
		n, w := binary.Uvarint(src)
		if w <= 0 || n > uint64(len(src)-w) {
			return nil, ErrEncoding
		}
		v.AppendStr(src[w : w+int(n)])
		return src[w+int(n):], nil
	case PhysList:
		return decodeList(src, v)
	case PhysStruct:
		var err error
		for _, c := range v.Children {
			if src, err = DecodeValue(src, c); err != nil {
				return nil, err
			}
		}
		v.EndStruct()
		return src, nil
	}
	return nil, ErrEncoding
}

func decodeList(src []byte, v *Vector) ([]byte, error) {
	n, w := binary.Uvarint(src)
	if w <= 0 || n > uint64(len(src)) {
		return nil, ErrEncoding
	}
	src = src[w:]
	var err error
	for range n {
		for _, c := range v.Children {
			if src, err = DecodeValue(src, c); err != nil {
				return nil, err
			}
		}
	}
	v.EndList()
	return src, nil
}

func encodedWidth(ph Physical) int {
	switch ph {
	case PhysBool, PhysI8:
		return 1
	case PhysI16:
		return 2
	case PhysI32:
		return 4
	case PhysI64, PhysF32, PhysF64:
		return 8
	case PhysI128:
		return 16
	}
	return 0
}

func decodeFixed(src []byte, v *Vector, ph Physical) {
	be := binary.BigEndian
	switch ph {
	case PhysBool:
		v.Bool = append(v.Bool, src[0] != 0)
	case PhysI8:
		v.I8 = append(v.I8, int8(src[0]^0x80))
	case PhysI16:
		v.I16 = append(v.I16, int16(be.Uint16(src)^0x8000))
	case PhysI32:
		v.I32 = append(v.I32, int32(be.Uint32(src)^0x80000000))
	case PhysI64:
		v.I64 = append(v.I64, int64(be.Uint64(src)^signBit))
	case PhysI128:
		v.I128 = append(v.I128, Int128{Hi: int64(be.Uint64(src) ^ signBit), Lo: be.Uint64(src[8:])})
	case PhysF32:
		v.F32 = append(v.F32, float32(math.Float64frombits(be.Uint64(src))))
	case PhysF64:
		v.F64 = append(v.F64, math.Float64frombits(be.Uint64(src)))
	}
}
