package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	pqformat "github.com/parquet-go/parquet-go/format"
)

var (
	errValues   = errors.New("malformed values in a page")
	errEncoding = errors.New("an encoding that is not supported")
)

// values holds decoded physical values, all present. Which slice is in use
// follows from the physical type; fixed holds INT96 (12 bytes each) and
// FIXED_LEN_BYTE_ARRAY; strings are offsets (n+1) into data.
type values struct {
	n       int
	bools   []bool
	i32     []int32
	i64     []int64
	f32     []float32
	f64     []float64
	fixed   []byte
	offsets []uint32
	data    []byte
	store   []byte  // own storage of data
	idx     []int32 // into the dictionary, strings only; nil: none
	idxBuf  []int32
}

// decode reads n values of the physical type of e from b in encoding enc.
// Strings may keep referring to b.
func (v *values) decode(e *pqformat.SchemaElement, enc pqformat.Encoding, b []byte, n int) error {
	v.n, v.idx = n, nil
	if n == 0 {
		v.clear()
		return nil
	}
	switch enc {
	case pqformat.Plain:
		return v.plain(e, b, n)
	case pqformat.RLE:
		if e.Type.V == pqformat.Boolean {
			return v.rleBools(b, n)
		}
	case pqformat.DeltaBinaryPacked:
		return v.deltaInts(e, b, n)
	case pqformat.DeltaLengthByteArray, pqformat.DeltaByteArray:
		return v.deltaBytes(e, enc, b, n)
	case pqformat.ByteStreamSplit:
		return v.split(e, b, n)
	}
	return errEncoding
}

func (v *values) clear() {
	v.bools, v.i32, v.i64, v.f32, v.f64 = v.bools[:0], v.i32[:0], v.i64[:0], v.f32[:0], v.f64[:0]
	v.fixed, v.offsets, v.data = nil, append(v.offsets[:0], 0), nil
}

func sized[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return slices.Grow(s[:0], n)[:n]
}

// fixedSize is the width of a PLAIN value, 0 for strings and booleans.
func fixedSize(e *pqformat.SchemaElement) int {
	switch e.Type.V {
	case pqformat.Int32, pqformat.Float:
		return 4
	case pqformat.Int64, pqformat.Double:
		return 8
	case pqformat.Int96:
		return 12
	case pqformat.FixedLenByteArray:
		return int(e.TypeLength.V)
	}
	return 0
}

func (v *values) plain(e *pqformat.SchemaElement, b []byte, n int) error {
	if size := fixedSize(e); int64(len(b)) < int64(n)*int64(size) {
		return errValues
	}
	switch e.Type.V {
	case pqformat.Boolean:
		if len(b) < (n+7)/8 {
			return errValues
		}
		v.bools = sized(v.bools, n)
		for i := range v.bools {
			v.bools[i] = b[i>>3]>>(i&7)&1 != 0
		}
	case pqformat.Int32:
		v.i32 = sized(v.i32, n)
		for i := range v.i32 {
			v.i32[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case pqformat.Int64:
		v.i64 = sized(v.i64, n)
		for i := range v.i64 {
			v.i64[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case pqformat.Float:
		v.f32 = sized(v.f32, n)
		for i := range v.f32 {
			v.f32[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case pqformat.Double:
		v.f64 = sized(v.f64, n)
		for i := range v.f64 {
			v.f64[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case pqformat.Int96, pqformat.FixedLenByteArray:
		v.fixed = b[:n*fixedSize(e)]
	default:
		return v.plainBytes(b, n)
	}
	return nil
}

// plainBytes copies the strings together.
func (v *values) plainBytes(b []byte, n int) error {
	if n > len(b)/4 {
		return errValues
	}
	v.offsets = append(sized(v.offsets, n+1)[:0], 0)
	v.store = sized(v.store, len(b))
	at := 0
	for range n {
		if len(b) < 4 {
			return errValues
		}
		size := int(binary.LittleEndian.Uint32(b))
		if size > len(b)-4 {
			return errValues
		}
		at += copy(v.store[at:], b[4:4+size])
		v.offsets = append(v.offsets, uint32(at))
		b = b[4+size:]
	}
	v.data = v.store[:at]
	return nil
}

func (v *values) rleBools(b []byte, n int) error {
	if len(b) < 4 {
		return errValues
	}
	size := binary.LittleEndian.Uint32(b)
	if uint64(size) > uint64(len(b)-4) {
		return errValues
	}
	var r hybridReader
	r.reset(b[4:4+size], 1)
	bits := make([]uint8, n)
	if err := fill(&r, bits); err != nil {
		return err
	}
	v.bools = sized(v.bools, n)
	for i, x := range bits {
		v.bools[i] = x != 0
	}
	return nil
}

// deltaTotal reads the number of values a DELTA_BINARY_PACKED block announces.
func deltaTotal(b []byte) (total uint64, ok bool) {
	for i := range 3 {
		x, k := binary.Uvarint(b)
		if k <= 0 {
			return 0, false
		}
		b = b[k:]
		if i == 2 {
			total = x
		}
	}
	return total, true
}

func (v *values) deltaInts(e *pqformat.SchemaElement, b []byte, n int) error {
	if total, ok := deltaTotal(b); !ok || total != uint64(n) {
		return errValues
	}
	var d delta.BinaryPackedEncoding
	var err error
	switch e.Type.V {
	case pqformat.Int32:
		if v.i32, err = d.DecodeInt32(v.i32[:0], b); err == nil && len(v.i32) < n {
			err = errValues
		}
	case pqformat.Int64:
		if v.i64, err = d.DecodeInt64(v.i64[:0], b); err == nil && len(v.i64) < n {
			err = errValues
		}
	default:
		err = errEncoding
	}
	return err
}

func (v *values) deltaBytes(e *pqformat.SchemaElement, enc pqformat.Encoding, b []byte, n int) error {
	if total, ok := deltaTotal(b); !ok || total != uint64(n) {
		return errValues
	}
	var err error
	fixed := e.Type.V == pqformat.FixedLenByteArray && enc == pqformat.DeltaByteArray
	switch {
	case fixed:
		var d delta.ByteArrayEncoding
		v.store, err = d.DecodeFixedLenByteArray(v.store[:0], b, int(e.TypeLength.V))
		v.fixed = v.store
		if err == nil && len(v.fixed) < n*int(e.TypeLength.V) {
			err = errValues
		}
		return err
	case e.Type.V != pqformat.ByteArray:
		return errEncoding
	case enc == pqformat.DeltaByteArray:
		var d delta.ByteArrayEncoding
		v.store, v.offsets, err = d.DecodeByteArray(v.store[:0], b, v.offsets[:0])
	default:
		var d delta.LengthByteArrayEncoding
		v.store, v.offsets, err = d.DecodeByteArray(v.store[:0], b, v.offsets[:0])
	}
	v.data = v.store
	if err != nil {
		return err
	}
	if len(v.offsets) != n+1 || int(v.offsets[n]) > len(v.data) || !slices.IsSorted(v.offsets) {
		return errValues
	}
	return nil
}

func (v *values) split(e *pqformat.SchemaElement, b []byte, n int) error {
	size := fixedSize(e)
	if size == 0 || e.Type.V == pqformat.Int96 || len(b) != n*size {
		return errValues
	}
	var s bytestreamsplit.Encoding
	var err error
	switch e.Type.V {
	case pqformat.Int32:
		v.i32, err = s.DecodeInt32(v.i32[:0], b)
	case pqformat.Int64:
		v.i64, err = s.DecodeInt64(v.i64[:0], b)
	case pqformat.Float:
		v.f32, err = s.DecodeFloat(v.f32[:0], b)
	case pqformat.Double:
		v.f64, err = s.DecodeDouble(v.f64[:0], b)
	default:
		v.store, err = s.DecodeFixedLenByteArray(v.store[:0], b, size)
		v.fixed = v.store
	}
	return err
}

// indexes reads n dictionary indexes; strings keep them, other values are
// looked up at once.
func (v *values) indexes(e *pqformat.SchemaElement, b []byte, n int, dict *values) error {
	v.n, v.idx = n, nil
	v.idxBuf = sized(v.idxBuf, n)
	if n > 0 {
		if len(b) < 1 || b[0] > 32 {
			return errValues
		}
		if err := fillIndexes(v.idxBuf, b, dict.n); err != nil {
			return err
		}
	}
	idx := v.idxBuf
	switch e.Type.V {
	case pqformat.Boolean:
		v.bools = lookup(v.bools, dict.bools, idx)
	case pqformat.Int32:
		v.i32 = lookup(v.i32, dict.i32, idx)
	case pqformat.Int64:
		v.i64 = lookup(v.i64, dict.i64, idx)
	case pqformat.Float:
		v.f32 = lookup(v.f32, dict.f32, idx)
	case pqformat.Double:
		v.f64 = lookup(v.f64, dict.f64, idx)
	case pqformat.Int96, pqformat.FixedLenByteArray:
		size := fixedSize(e)
		v.store = v.store[:0]
		for _, x := range idx {
			v.store = append(v.store, dict.fixed[int(x)*size:(int(x)+1)*size]...)
		}
		v.fixed = v.store
	default:
		v.idx = idx
	}
	return nil
}

// fillIndexes decodes indexes below limit.
func fillIndexes(dst []int32, b []byte, limit int) error {
	var r hybridReader
	r.reset(b[1:], uint(b[0]))
	if err := fill(&r, dst); err != nil {
		return err
	}
	for _, x := range dst {
		if uint32(x) >= uint32(limit) {
			return errValues
		}
	}
	return nil
}

func lookup[T any](dst, dict []T, idx []int32) []T {
	dst = sized(dst, len(idx))
	for i, x := range idx {
		dst[i] = dict[x]
	}
	return dst
}

// decodeBitPackedLevels reads levels in the old BIT_PACKED form and returns
// the bytes behind them.
func decodeBitPackedLevels(dst []uint8, b []byte, width uint) ([]byte, error) {
	size := (len(dst)*int(width) + 7) / 8
	if size > len(b) {
		return nil, errLevels
	}
	for i := range dst { // most significant bits first
		var x uint8
		for k := range width {
			bit := uint(i)*width + k
			x = x<<1 | b[bit>>3]>>(7-bit&7)&1
		}
		dst[i] = x
	}
	return b[size:], nil
}
