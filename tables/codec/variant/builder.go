package variant

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"pipelines/tables/column"
	"pipelines/tables/text"
)

// MaxBytes is the greatest size of a value and of its metadata.
const MaxBytes = 128 << 20

// ErrSize says that a value would be longer than MaxBytes.
var ErrSize = errors.New("a variant is longer than 128 MiB")

// DuplicateError says that an object has two fields of one name.
type DuplicateError struct{ Name string }

func (e *DuplicateError) Error() string { return "an object has the field " + e.Name + " twice" }

// Builder makes values. Scalars are appended; the elements of a list are
// appended one behind the other between Mark and EndArray, those of an object
// each after its Field, up to EndObject.
type Builder struct {
	b       []byte
	names   []byte // the dictionary's texts
	ends    []int32
	known   map[string]int32 // name -> place in seen; outlives values
	seen    []seenName
	value   uint32 // number of the value that is being built
	fields  []field
	offsets []int32
	scratch []byte
}

// seenName is a name that some value had: its id in value number value.
type seenName struct {
	value uint32
	id    int32
}

// maxKnown bounds the names that are remembered from value to value.
const maxKnown = 1 << 14

// field is a field of an object that is being built.
type field struct{ id, offset int32 }

// Mark is the start of an array or object that is being built.
type Mark struct{ bytes, list int }

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{known: map[string]int32{}, value: 1} }

// Reset starts a new value.
func (b *Builder) Reset() {
	b.b, b.names, b.ends, b.fields, b.offsets = b.b[:0], b.names[:0], b.ends[:0], b.fields[:0], b.offsets[:0]
	if b.value++; b.value == 0 || len(b.known) > maxKnown {
		clear(b.known)
		b.seen, b.value = b.seen[:0], 1
	}
}

// Null appends a null.
func (b *Builder) Null() { b.prim(primNull) }

// Bool appends a BOOLEAN.
func (b *Builder) Bool(x bool) {
	if x {
		b.prim(primTrue)
	} else {
		b.prim(primFalse)
	}
}

func (b *Builder) prim(p int) { b.b = append(b.b, byte(p<<2)) }

// Int appends an integer in its smallest form.
func (b *Builder) Int(x int64) {
	switch {
	case x == int64(int8(x)):
		b.prim(primInt1)
		b.b = append(b.b, byte(x))
	case x == int64(int16(x)):
		b.prim(primInt2)
		b.b = binary.LittleEndian.AppendUint16(b.b, uint16(x))
	case x == int64(int32(x)):
		b.prim(primInt4)
		b.b = binary.LittleEndian.AppendUint32(b.b, uint32(x))
	default:
		b.prim(primInt8)
		b.b = binary.LittleEndian.AppendUint64(b.b, uint64(x))
	}
}

// Double appends a DOUBLE.
func (b *Builder) Double(x float64) {
	b.prim(primDouble)
	b.b = binary.LittleEndian.AppendUint64(b.b, math.Float64bits(x))
}

// Float appends a FLOAT.
func (b *Builder) Float(x float32) {
	b.prim(primFloat)
	b.b = binary.LittleEndian.AppendUint32(b.b, math.Float32bits(x))
}

// Decimal appends a decimal.
func (b *Builder) Decimal(x column.Int128, scale int) {
	digits := max(text.DecimalDigits(x), scale)
	switch {
	case digits <= 9:
		b.prim(primDecimal4)
		b.b = binary.LittleEndian.AppendUint32(append(b.b, byte(scale)), uint32(x.Lo))
	case digits <= 18:
		b.prim(primDecimal8)
		b.b = binary.LittleEndian.AppendUint64(append(b.b, byte(scale)), x.Lo)
	default:
		b.prim(primDecimal16)
		b.b = binary.LittleEndian.AppendUint64(append(b.b, byte(scale)), x.Lo)
		b.b = binary.LittleEndian.AppendUint64(b.b, uint64(x.Hi))
	}
}

// Date appends a DATE.
func (b *Builder) Date(days int32) {
	b.prim(primDate)
	b.b = binary.LittleEndian.AppendUint32(b.b, uint32(days))
}

// Timestamp appends a TIMESTAMP.
func (b *Builder) Timestamp(micros int64) {
	b.prim(primTimestamp)
	b.b = binary.LittleEndian.AppendUint64(b.b, uint64(micros))
}

// TimestampNTZ appends a TIMESTAMP_NTZ.
func (b *Builder) TimestampNTZ(local int64) {
	b.prim(primTimestampNTZ)
	b.b = binary.LittleEndian.AppendUint64(b.b, uint64(local))
}

// String appends a text.
func (b *Builder) String(s []byte) {
	if len(s) < 64 {
		b.b = append(append(b.b, byte(len(s)<<2|basicShort)), s...)
		return
	}
	b.prim(primString)
	b.b = append(binary.LittleEndian.AppendUint32(b.b, uint32(len(s))), s...)
}

// Binary appends a BINARY.
func (b *Builder) Binary(s []byte) {
	b.prim(primBinary)
	b.b = append(binary.LittleEndian.AppendUint32(b.b, uint32(len(s))), s...)
}

// Array starts an array.
func (b *Builder) Array() Mark { return Mark{len(b.b), len(b.offsets)} }

// Element announces the next element of the array m.
func (b *Builder) Element(m Mark) { b.offsets = append(b.offsets, int32(len(b.b)-m.bytes)) }

// EndArray ends the array m.
func (b *Builder) EndArray(m Mark) {
	offsets := append(b.offsets, int32(len(b.b)-m.bytes))
	n := len(offsets) - m.list - 1
	offSize := byteWidth(len(b.b) - m.bytes)
	large := n > 255
	head := append(b.scratch[:0], byte((flag(large, 2)|(offSize-1))<<2|basicArray))
	head = appendCount(head, n, large)
	for _, o := range offsets[m.list:] {
		head = appendUint(head, int(o), offSize)
	}
	b.insert(m.bytes, head)
	b.offsets = offsets[:m.list]
}

// Object starts an object.
func (b *Builder) Object() Mark { return Mark{len(b.b), len(b.fields)} }

// Field announces the value of a field of the object m.
func (b *Builder) Field(m Mark, name []byte) {
	at, ok := b.known[string(name)]
	if !ok {
		at = int32(len(b.seen))
		b.seen = append(b.seen, seenName{})
		b.known[string(name)] = at
	}
	n := &b.seen[at]
	if n.value != b.value {
		*n = seenName{b.value, int32(len(b.ends))}
		b.names = append(b.names, name...)
		b.ends = append(b.ends, int32(len(b.names)))
	}
	b.fields = append(b.fields, field{n.id, int32(len(b.b) - m.bytes)})
}

// name returns the text of an id.
func (b *Builder) name(id int32) []byte {
	from := int32(0)
	if id > 0 {
		from = b.ends[id-1]
	}
	return b.names[from:b.ends[id]]
}

// EndObject ends the object m; the error is a DuplicateError.
func (b *Builder) EndObject(m Mark) error {
	fields := b.fields[m.list:]
	slices.SortFunc(fields, func(x, y field) int { return bytes.Compare(b.name(x.id), b.name(y.id)) })
	most := int32(0)
	for k, f := range fields {
		if k > 0 && fields[k-1].id == f.id {
			return &DuplicateError{string(b.name(f.id))}
		}
		most = max(most, f.id)
	}
	n, size := len(fields), len(b.b)-m.bytes
	idSize, offSize, large := byteWidth(int(most)), byteWidth(size), n > 255
	head := append(b.scratch[:0], byte((flag(large, 4)|(idSize-1)<<2|(offSize-1))<<2|basicObject))
	head = appendCount(head, n, large)
	for _, f := range fields {
		head = appendUint(head, int(f.id), idSize)
	}
	for _, f := range fields {
		head = appendUint(head, int(f.offset), offSize)
	}
	head = appendUint(head, size, offSize)
	b.insert(m.bytes, head)
	b.fields = b.fields[:m.list]
	return nil
}

// insert puts head before the bytes from at on, and keeps it as scratch.
func (b *Builder) insert(at int, head []byte) {
	n := len(b.b)
	b.b = append(b.b, head...)
	copy(b.b[at+len(head):], b.b[at:n])
	copy(b.b[at:], head)
	b.scratch = head
}

func flag(set bool, bit int) int {
	if set {
		return 1 << bit
	}
	return 0
}

func byteWidth(x int) int {
	switch {
	case x < 1<<8:
		return 1
	case x < 1<<16:
		return 2
	case x < 1<<24:
		return 3
	}
	return 4
}

func appendUint(dst []byte, x, size int) []byte {
	for range size {
		dst = append(dst, byte(x))
		x >>= 8
	}
	return dst
}

func appendCount(dst []byte, n int, large bool) []byte {
	if large {
		return appendUint(dst, n, 4)
	}
	return append(dst, byte(n))
}

// Value appends a value that was made elsewhere, with its names taken over.
func (b *Builder) Value(v Value) {
	w := walk{left: len(v.value)}
	b.copy(&w, v, 0)
}

func (b *Builder) copy(w *walk, v Value, depth int) {
	kind := v.Kind()
	if !w.enter(depth) {
		kind = Invalid
	}
	switch kind {
	case Invalid:
		b.Null()
	case Object:
		m := b.Object()
		l := v.layout()
		for i := range v.Len() {
			b.Field(m, v.name(l, i))
			b.copy(w, v.element(l, i), depth+1)
		}
		b.endObject(m)
	case Array:
		m := b.Array()
		l := v.layout()
		for i := range v.Len() {
			b.Element(m)
			b.copy(w, v.element(l, i), depth+1)
		}
		b.EndArray(m)
	default:
		raw, _ := v.Bytes()
		if raw == nil {
			b.Null()
			return
		}
		b.b = append(b.b, raw...)
	}
}

// endObject ends an object that was copied from another.
func (b *Builder) endObject(m Mark) {
	if b.EndObject(m) != nil { // only in damaged values
		b.b, b.fields = b.b[:m.bytes], b.fields[:m.list]
		b.Null()
	}
}

// AppendValue appends the bytes of the value to dst.
func (b *Builder) AppendValue(dst []byte) []byte { return append(dst, b.b...) }

// AppendMetadata appends the value's metadata to dst.
func (b *Builder) AppendMetadata(dst []byte) []byte {
	size := byteWidth(max(len(b.names), len(b.ends)))
	dst = append(dst, byte(version|(size-1)<<6))
	dst = appendUint(dst, len(b.ends), size)
	dst = appendUint(dst, 0, size)
	for _, e := range b.ends {
		dst = appendUint(dst, int(e), size)
	}
	return append(dst, b.names...)
}

// AppendTo appends the finished value as a row of a VARIANT vector.
func (b *Builder) AppendTo(v *column.Vector) error {
	if len(b.b) > MaxBytes || len(b.names) > MaxBytes {
		return ErrSize
	}
	for k, child := range v.Children {
		if k == 0 {
			child.Bytes = b.AppendValue(child.Bytes)
		} else {
			child.Bytes = b.AppendMetadata(child.Bytes)
		}
		child.Offsets = append(child.Offsets, int32(len(child.Bytes)))
		child.Len++
	}
	v.Len++
	return nil
}
