package variant

import (
	"bytes"
	"encoding/binary"
	"math"

	"pipelines/tables/column"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds. Int stands for integers of all sizes, Decimal for decimals of all
// sizes, String for short and long texts.
const (
	Invalid Kind = iota
	Null
	Bool
	Int
	Double
	Decimal
	Date
	Timestamp
	TimestampNTZ
	Float
	Binary
	String
	UUID
	Object
	Array
)

// The basic types, in the two low bits of a value's first byte.
const (
	basicPrimitive = 0
	basicShort     = 1
	basicObject    = 2
	basicArray     = 3
)

// The primitive types, in the six high bits.
const (
	primNull = iota
	primTrue
	primFalse
	primInt1
	primInt2
	primInt4
	primInt8
	primDouble
	primDecimal4
	primDecimal8
	primDecimal16
	primDate
	primTimestamp
	primTimestampNTZ
	primFloat
	primBinary
	primString
	primTimeNTZ
	primTimestampNanos
	primTimestampNanosNTZ
	primUUID
)

// version is the only version of the encoding.
const version = 1

// MaxDepth is the deepest nesting that is read or written.
const MaxDepth = 1000

// Value is a value in its encoded form: the bytes from its header on (there
// may be more behind it) and its metadata.
type Value struct{ value, metadata []byte }

// Of returns the value that the two binaries hold.
func Of(value, metadata []byte) Value { return Value{value, metadata} }

// Bytes returns the bytes of the value alone, and its metadata.
func (v Value) Bytes() (value, metadata []byte) {
	n, ok := v.size()
	if !ok {
		return nil, v.metadata
	}
	return v.value[:n], v.metadata
}

// header returns the basic type and the six bits above it.
func (v Value) header() (basic, rest int) {
	if len(v.value) == 0 {
		return basicPrimitive, 63
	}
	return int(v.value[0] & 3), int(v.value[0] >> 2)
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind {
	basic, rest := v.header()
	switch basic {
	case basicShort:
		return String
	case basicObject:
		return Object
	case basicArray:
		return Array
	}
	switch rest {
	case primNull:
		return Null
	case primTrue, primFalse:
		return Bool
	case primInt1, primInt2, primInt4, primInt8:
		return Int
	case primDouble:
		return Double
	case primDecimal4, primDecimal8, primDecimal16:
		return Decimal
	case primDate:
		return Date
	case primTimestamp:
		return Timestamp
	case primTimestampNTZ:
		return TimestampNTZ
	case primFloat:
		return Float
	case primBinary:
		return Binary
	case primString:
		return String
	case primUUID:
		return UUID
	}
	return Invalid
}

// uint reads n bytes of b at i, little end first.
func uint(b []byte, i, n int) (int, bool) {
	if i < 0 || n < 1 || i > len(b)-n {
		return 0, false
	}
	x := 0
	for k := n - 1; k >= 0; k-- {
		x = x<<8 | int(b[i+k])
	}
	return x, true
}

// fixed returns the n bytes behind the header.
func (v Value) fixed(n int) []byte {
	if len(v.value) < 1+n {
		return make([]byte, n)
	}
	return v.value[1 : 1+n]
}

// Bool returns the value of a Bool.
func (v Value) Bool() bool {
	_, rest := v.header()
	return rest == primTrue
}

// Int returns the value of an Int, a Date (days), a Timestamp or TimestampNTZ
// (microseconds).
func (v Value) Int() int64 {
	_, rest := v.header()
	switch rest {
	case primInt1:
		return int64(int8(v.fixed(1)[0]))
	case primInt2:
		return int64(int16(binary.LittleEndian.Uint16(v.fixed(2))))
	case primInt4, primDate:
		return int64(int32(binary.LittleEndian.Uint32(v.fixed(4))))
	}
	return int64(binary.LittleEndian.Uint64(v.fixed(8)))
}

// Float returns the value of a Double or Float.
func (v Value) Float() float64 {
	if _, rest := v.header(); rest == primFloat {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.fixed(4))))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.fixed(8)))
}

// Decimal returns the unscaled value and the scale of a Decimal.
func (v Value) Decimal() (unscaled column.Int128, scale int) {
	_, rest := v.header()
	switch rest {
	case primDecimal4:
		b := v.fixed(5)
		return column.FromInt64(int64(int32(binary.LittleEndian.Uint32(b[1:])))), int(b[0])
	case primDecimal8:
		b := v.fixed(9)
		return column.FromInt64(int64(binary.LittleEndian.Uint64(b[1:]))), int(b[0])
	}
	b := v.fixed(17)
	return column.Int128{Hi: int64(binary.LittleEndian.Uint64(b[9:])), Lo: binary.LittleEndian.Uint64(b[1:])}, int(b[0])
}

// Str returns the bytes of a String or Binary, or the 16 bytes of a UUID.
func (v Value) Str() []byte {
	basic, rest := v.header()
	from, n := 1, rest
	switch {
	case basic == basicShort:
	case rest == primUUID:
		n = 16
	default:
		var ok bool
		if n, ok = uint(v.value, 1, 4); !ok {
			return nil
		}
		from = 5
	}
	if n > len(v.value)-from {
		return nil
	}
	return v.value[from : from+n]
}

// layout is where the parts of an object or array are.
type layout struct {
	n                 int // elements
	idSize, offSize   int // bytes of an id, of an offset
	ids, offsets, end int // places; end is where the elements' bytes start
	ok                bool
}

func (v Value) layout() layout {
	basic, rest := v.header()
	l := layout{}
	count := 1
	switch basic {
	case basicObject:
		l.offSize, l.idSize = rest&3+1, rest>>2&3+1
		if rest>>4&1 == 1 {
			count = 4
		}
	case basicArray:
		l.offSize = rest&3 + 1
		if rest>>2&1 == 1 {
			count = 4
		}
	default:
		return l
	}
	n, ok := uint(v.value, 1, count)
	if !ok || n > len(v.value) {
		return l
	}
	l.n, l.ids = n, 1+count
	l.offsets = l.ids + n*l.idSize
	l.end = l.offsets + (n+1)*l.offSize
	l.ok = l.end <= len(v.value)
	return l
}

// Len returns the number of elements of an Array or fields of an Object.
func (v Value) Len() int {
	if l := v.layout(); l.ok {
		return l.n
	}
	return 0
}

// At returns element i of an Array or the value of field i of an Object.
func (v Value) At(i int) Value {
	l := v.layout()
	if !l.ok || i < 0 || i >= l.n {
		return Value{}
	}
	return v.element(l, i)
}

func (v Value) element(l layout, i int) Value {
	off, ok := uint(v.value, l.offsets+i*l.offSize, l.offSize)
	if !ok || off > len(v.value)-l.end {
		return Value{}
	}
	return Value{v.value[l.end+off:], v.metadata}
}

// Name returns the name of field i of an Object.
func (v Value) Name(i int) []byte {
	l := v.layout()
	if !l.ok || l.idSize == 0 || i < 0 || i >= l.n {
		return nil
	}
	return v.name(l, i)
}

func (v Value) name(l layout, i int) []byte {
	id, ok := uint(v.value, l.ids+i*l.idSize, l.idSize)
	if !ok {
		return nil
	}
	s, _ := dictionary(v.metadata, id)
	return s
}

// dictionary returns text id of the metadata.
func dictionary(m []byte, id int) ([]byte, bool) {
	if len(m) == 0 || m[0]&15 != version {
		return nil, false
	}
	size := int(m[0]>>6) + 1
	n, ok := uint(m, 1, size)
	if !ok || id < 0 || id >= n {
		return nil, false
	}
	from, ok1 := uint(m, 1+size+id*size, size)
	to, ok2 := uint(m, 1+size+(id+1)*size, size)
	base := 1 + size + (n+1)*size
	if !ok1 || !ok2 || from > to || base > len(m) || to > len(m)-base {
		return nil, false
	}
	return m[base+from : base+to], true
}

// Field returns the value of an Object's field; ok is false when there is none
// or the value is no Object.
func (v Value) Field(name []byte) (f Value, ok bool) {
	basic, _ := v.header()
	l := v.layout()
	if basic != basicObject || !l.ok {
		return Value{}, false
	}
	lo, hi := 0, l.n
	for lo < hi {
		m := int(uint32(lo+hi) >> 1)
		switch c := bytes.Compare(v.name(l, m), name); {
		case c == 0:
			return v.element(l, m), true
		case c < 0:
			lo = m + 1
		default:
			hi = m
		}
	}
	return Value{}, false
}

// size returns how many bytes the value takes.
func (v Value) size() (int, bool) {
	basic, rest := v.header()
	n := 0
	switch basic {
	case basicShort:
		n = 1 + rest
	case basicObject, basicArray:
		l := v.layout()
		if !l.ok {
			return 0, false
		}
		last, ok := uint(v.value, l.offsets+l.n*l.offSize, l.offSize)
		if !ok {
			return 0, false
		}
		n = l.end + last
	default:
		var ok bool
		if n, ok = v.primitiveSize(rest); !ok {
			return 0, false
		}
	}
	return n, n <= len(v.value)
}

func (v Value) primitiveSize(prim int) (int, bool) {
	switch prim {
	case primNull, primTrue, primFalse:
		return 1, true
	case primInt1:
		return 2, true
	case primInt2:
		return 3, true
	case primInt4, primDate, primFloat:
		return 5, true
	case primInt8, primDouble, primTimestamp, primTimestampNTZ, primTimeNTZ, primTimestampNanos, primTimestampNanosNTZ:
		return 9, true
	case primDecimal4:
		return 6, true
	case primDecimal8:
		return 10, true
	case primDecimal16:
		return 18, true
	case primUUID:
		return 17, true
	case primBinary, primString:
		n, ok := uint(v.value, 1, 4)
		return 5 + n, ok
	}
	return 0, false
}

// Valid reports whether the two binaries are a whole, well-formed value.
func Valid(value, metadata []byte) bool {
	if len(metadata) == 0 || metadata[0]&15 != version {
		return false
	}
	v := Value{value, metadata}
	n, ok := v.size()
	w := walk{left: len(value)}
	return ok && n == len(value) && w.valid(v, 0)
}

// walk bounds how many values are visited: where elements do not share bytes,
// there are no more of them than bytes.
type walk struct{ left int }

// enter reports whether one more value may be visited at the depth.
func (w *walk) enter(depth int) bool {
	w.left--
	return w.left >= 0 && depth <= MaxDepth
}

func (w *walk) valid(v Value, depth int) bool {
	k := v.Kind()
	n, ok := v.size()
	if k == Invalid || !ok || n > len(v.value) || !w.enter(depth) {
		return false
	}
	if k != Object && k != Array {
		return true
	}
	l := v.layout()
	for i := range l.n {
		if k == Object {
			id, _ := uint(v.value, l.ids+i*l.idSize, l.idSize)
			name, ok := dictionary(v.metadata, id)
			if !ok || i > 0 && bytes.Compare(v.name(l, i-1), name) >= 0 {
				return false
			}
		}
		if !w.valid(v.element(l, i), depth+1) {
			return false
		}
	}
	return true
}
