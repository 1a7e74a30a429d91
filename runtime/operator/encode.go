package operator

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// encoding writes values: a byte that says null or not, then the payload.
type encoding bool

const (
	// asKey makes equal values equal bytes, as GROUP BY sees them: one NaN, one
	// zero, maps in the order of their encoded entries.
	asKey encoding = false
	// exact keeps values as they are.
	exact encoding = true
)

func (e encoding) float(x float64) uint64 {
	if e == exact {
		return math.Float64bits(x)
	}
	return floatWord(x)
}

// value appends row i of v (any form).
func (e encoding) value(dst []byte, v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	if v.Dict != nil {
		v, i = v.Dict, int(v.Index[i])
	} else {
		i = v.Row(i)
	}
	dst = append(dst, 1)
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		if v.Bool[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case column.PhysI8:
		return append(dst, byte(v.I8[i]))
	case column.PhysI16:
		return binary.LittleEndian.AppendUint16(dst, uint16(v.I16[i]))
	case column.PhysI32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v.I32[i]))
	case column.PhysI64:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.I64[i]))
	case column.PhysI128:
		dst = binary.LittleEndian.AppendUint64(dst, v.I128[i].Lo)
		return binary.LittleEndian.AppendUint64(dst, uint64(v.I128[i].Hi))
	case column.PhysF32:
		return binary.LittleEndian.AppendUint64(dst, e.float(float64(v.F32[i])))
	case column.PhysF64:
		return binary.LittleEndian.AppendUint64(dst, e.float(v.F64[i]))
	case column.PhysBytes:
		s := v.Str(i)
		return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	case column.PhysList:
		return e.list(dst, v, i)
	case column.PhysStruct:
		for _, c := range v.Children {
			dst = e.value(dst, c, i)
		}
	}
	return dst
}

func (e encoding) list(dst []byte, v *column.Vector, i int) []byte {
	from, to := v.List(i)
	dst = binary.AppendUvarint(dst, uint64(to-from))
	if v.Type.Kind != schema.Map {
		for k := from; k < to; k++ {
			dst = e.value(dst, v.Children[0], k)
		}
		return dst
	}
	entries := make([][]byte, 0, to-from)
	for k := from; k < to; k++ {
		entries = append(entries, e.value(e.value(nil, v.Children[0], k), v.Children[1], k))
	}
	if e == asKey {
		slices.SortFunc(entries, bytes.Compare)
	}
	for _, x := range entries {
		dst = append(dst, x...)
	}
	return dst
}

var errKey = errors.New("encoded value is damaged")

// decodeValue appends the value at the start of src to v and returns the rest.
func decodeValue(src []byte, v *column.Vector) ([]byte, error) {
	if len(src) == 0 {
		return nil, errKey
	}
	null := src[0] == 0
	src = src[1:]
	if null {
		v.AppendNull()
		return src, nil
	}
	ph := column.PhysicalOf(v.Type)
	if n := fixedWidth(ph); n > 0 {
		if len(src) < n {
			return nil, errKey
		}
		decodeFixed(src, v, ph)
		v.Len++
		return src[n:], nil
	}
	switch ph {
	case column.PhysBytes:
		n, w := binary.Uvarint(src)
		if w <= 0 || n > uint64(len(src)-w) {
			return nil, errKey
		}
		v.AppendStr(src[w : w+int(n)])
		return src[w+int(n):], nil
	case column.PhysList:
		return decodeList(src, v)
	case column.PhysStruct:
		var err error
		for _, c := range v.Children {
			if src, err = decodeValue(src, c); err != nil {
				return nil, err
			}
		}
		v.EndStruct()
		return src, nil
	}
	return nil, errKey
}

func decodeList(src []byte, v *column.Vector) ([]byte, error) {
	n, w := binary.Uvarint(src)
	if w <= 0 || n > uint64(len(src)) {
		return nil, errKey
	}
	src = src[w:]
	var err error
	for range n {
		for _, c := range v.Children {
			if src, err = decodeValue(src, c); err != nil {
				return nil, err
			}
		}
	}
	v.EndList()
	return src, nil
}

func fixedWidth(ph column.Physical) int {
	switch ph {
	case column.PhysBool, column.PhysI8:
		return 1
	case column.PhysI16:
		return 2
	case column.PhysI32:
		return 4
	case column.PhysI64, column.PhysF32, column.PhysF64:
		return 8
	case column.PhysI128:
		return 16
	}
	return 0
}

func decodeFixed(src []byte, v *column.Vector, ph column.Physical) {
	switch ph {
	case column.PhysBool:
		v.Bool = append(v.Bool, src[0] != 0)
	case column.PhysI8:
		v.I8 = append(v.I8, int8(src[0]))
	case column.PhysI16:
		v.I16 = append(v.I16, int16(binary.LittleEndian.Uint16(src)))
	case column.PhysI32:
		v.I32 = append(v.I32, int32(binary.LittleEndian.Uint32(src)))
	case column.PhysI64:
		v.I64 = append(v.I64, int64(binary.LittleEndian.Uint64(src)))
	case column.PhysI128:
		v.I128 = append(v.I128, column.Int128{Lo: binary.LittleEndian.Uint64(src), Hi: int64(binary.LittleEndian.Uint64(src[8:]))})
	case column.PhysF32:
		v.F32 = append(v.F32, float32(math.Float64frombits(binary.LittleEndian.Uint64(src))))
	case column.PhysF64:
		v.F64 = append(v.F64, math.Float64frombits(binary.LittleEndian.Uint64(src)))
	}
}

// row appends all values of a row.
func (e encoding) row(dst []byte, cols []*column.Vector, i int) []byte {
	for _, v := range cols {
		dst = e.value(dst, v, i)
	}
	return dst
}

// decodeRow appends one row to cols.
func decodeRow(src []byte, cols []*column.Vector) error {
	var err error
	for _, v := range cols {
		if src, err = decodeValue(src, v); err != nil {
			return err
		}
	}
	if len(src) != 0 {
		return errKey
	}
	return nil
}
