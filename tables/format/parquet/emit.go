package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// emitter appends the values [from, to) of the page to the reader's dst.
type emitter func(r *leafReader, from, to int) error

var (
	errRange    = errors.New("a value does not fit the column's type")
	errTooLarge = errors.New("the strings of one batch exceed 2 GiB")
)

// emitterFor chooses the conversion of a file's column to the wanted type:
// the same type, or a wider one where Spark reads it so.
func emitterFor(n *fileNode, want schema.Type) (emitter, error) {
	if n.err != nil {
		return nil, n.err
	}
	if n.leaf != nil {
		if e := leafEmitter(n, want); e != nil {
			return inCalendar(n, want, e), nil
		}
	}
	return nil, fmt.Errorf("column %s: %s in the file cannot be read as %s", n.name, n.typ, want)
}

// inCalendar makes an emitter mind the calendar of the column.
func inCalendar(n *fileNode, want schema.Type, e emitter) emitter {
	c := n.leaf.calendar
	switch {
	case c == nil:
		return e
	case want.Kind == schema.Date:
		return c.in32(e)
	case n.typ.Kind == schema.Date:
		return c.dateToNTZ(e)
	}
	return c.in64(e)
}

func leafEmitter(n *fileNode, want schema.Type) emitter {
	have, phys := n.typ, n.leaf.elem.Type.V
	isInt := have.IsInteger()
	unsigned32 := phys == pqformat.Int32 && have.Kind == schema.Int64
	switch want.Kind {
	case schema.Boolean:
		if phys == pqformat.Boolean {
			return emitBool
		}
	case schema.Int8, schema.Int16, schema.Int32:
		if isInt && phys == pqformat.Int32 && !unsigned32 {
			return narrowEmitter(want.Kind)
		}
	case schema.Int64:
		switch {
		case isInt && phys == pqformat.Int64:
			return emitI64
		case unsigned32:
			return emitU32
		case isInt:
			return emitI32to64
		}
	case schema.Date:
		if have.Kind == schema.Date {
			return emitI32
		}
	case schema.Timestamp, schema.TimestampNTZ:
		return timestampEmitter(n, want)
	case schema.Float32:
		if phys == pqformat.Float {
			return emitF32
		}
	case schema.Float64:
		switch {
		case phys == pqformat.Double:
			return emitF64
		case phys == pqformat.Float:
			return emitF32to64
		case isInt && phys == pqformat.Int32 && !unsigned32:
			return emitI32toF64
		}
	case schema.Decimal:
		return decimalEmitter(n, want)
	case schema.String:
		if phys == pqformat.ByteArray && have.Kind != schema.Decimal {
			return emitBytes
		}
	case schema.Binary:
		if phys == pqformat.ByteArray && have.Kind != schema.Decimal {
			return emitBytes
		}
		if phys == pqformat.FixedLenByteArray && have.Kind == schema.Binary {
			return emitFixed
		}
	}
	return nil
}

func narrowEmitter(k schema.Kind) emitter {
	switch k {
	case schema.Int8:
		return emitI8
	case schema.Int16:
		return emitI16
	}
	return emitI32
}

func timestampEmitter(n *fileNode, want schema.Type) emitter {
	have := n.typ.Kind
	switch {
	case n.leaf.elem.Type.V == pqformat.Int96:
		return emitInt96
	case have == schema.Date && want.Kind == schema.TimestampNTZ:
		return emitDateToNTZ
	case have != schema.Timestamp && have != schema.TimestampNTZ, have == schema.Timestamp && want.Kind == schema.TimestampNTZ:
		return nil
	case n.leaf.unit == 1e6:
		return emitMillis
	case n.leaf.unit == 1:
		return emitNanos
	}
	return emitI64
}

func emitBool(r *leafReader, from, to int) error {
	r.dst.Bool = append(r.dst.Bool, r.vals.bools[from:to]...)
	return nil
}

func emitI8(r *leafReader, from, to int) error {
	for _, v := range r.vals.i32[from:to] {
		if int32(int8(v)) != v {
			return errRange
		}
		r.dst.I8 = append(r.dst.I8, int8(v))
	}
	return nil
}

func emitI16(r *leafReader, from, to int) error {
	for _, v := range r.vals.i32[from:to] {
		if int32(int16(v)) != v {
			return errRange
		}
		r.dst.I16 = append(r.dst.I16, int16(v))
	}
	return nil
}

func emitI32(r *leafReader, from, to int) error {
	r.dst.I32 = append(r.dst.I32, r.vals.i32[from:to]...)
	return nil
}

func emitI64(r *leafReader, from, to int) error {
	r.dst.I64 = append(r.dst.I64, r.vals.i64[from:to]...)
	return nil
}

func emitI32to64(r *leafReader, from, to int) error {
	for _, v := range r.vals.i32[from:to] {
		r.dst.I64 = append(r.dst.I64, int64(v))
	}
	return nil
}

func emitU32(r *leafReader, from, to int) error {
	for _, v := range r.vals.i32[from:to] {
		r.dst.I64 = append(r.dst.I64, int64(uint32(v)))
	}
	return nil
}

func emitF32(r *leafReader, from, to int) error {
	r.dst.F32 = append(r.dst.F32, r.vals.f32[from:to]...)
	return nil
}

func emitF64(r *leafReader, from, to int) error {
	r.dst.F64 = append(r.dst.F64, r.vals.f64[from:to]...)
	return nil
}

func emitF32to64(r *leafReader, from, to int) error {
	for _, v := range r.vals.f32[from:to] {
		r.dst.F64 = append(r.dst.F64, float64(v))
	}
	return nil
}

func emitI32toF64(r *leafReader, from, to int) error {
	for _, v := range r.vals.i32[from:to] {
		r.dst.F64 = append(r.dst.F64, float64(v))
	}
	return nil
}

const dayMicros = 86_400_000_000

func emitDateToNTZ(r *leafReader, from, to int) error {
	for _, v := range r.vals.i32[from:to] {
		us := int64(v) * (dayMicros / 1000)
		if us > math.MaxInt64/1000 || us < math.MinInt64/1000 {
			return errRange
		}
		r.dst.I64 = append(r.dst.I64, us*1000)
	}
	return nil
}

func emitMillis(r *leafReader, from, to int) error {
	for _, v := range r.vals.i64[from:to] {
		if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
			return errRange
		}
		r.dst.I64 = append(r.dst.I64, v*1000)
	}
	return nil
}

func emitNanos(r *leafReader, from, to int) error {
	for _, v := range r.vals.i64[from:to] {
		q := v / 1000
		if v%1000 < 0 {
			q--
		}
		r.dst.I64 = append(r.dst.I64, q)
	}
	return nil
}

// emitInt96 reads nanoseconds of the day and a Julian day number.
func emitInt96(r *leafReader, from, to int) error {
	const epoch = 2440588
	b := r.vals.fixed
	for i := from; i < to; i++ {
		nanos := int64(binary.LittleEndian.Uint64(b[12*i:]))
		day := int64(int32(binary.LittleEndian.Uint32(b[12*i+8:]))) - epoch
		if day > 106_000_000 || day < -106_000_000 {
			return errRange
		}
		r.dst.I64 = append(r.dst.I64, day*dayMicros+nanos/1000)
	}
	return nil
}

func emitFixed(r *leafReader, from, to int) error {
	size := fixedSize(r.node.leaf.elem)
	dst := r.dst
	if int64(len(dst.Bytes))+int64(to-from)*int64(size) > math.MaxInt32 {
		return errTooLarge
	}
	for i := from; i < to; i++ {
		dst.Bytes = append(dst.Bytes, r.vals.fixed[i*size:(i+1)*size]...)
		dst.Offsets = append(dst.Offsets, int32(len(dst.Bytes)))
	}
	return nil
}

// emitBytes appends strings, as dictionary indexes where the page has them and
// the dictionary is small.
func emitBytes(r *leafReader, from, to int) error {
	v, dst := &r.vals, r.dst
	if v.idx != nil && r.asDict && r.dict.n <= maxDictVector && (dst.Dict != nil || len(dst.Offsets) == 1) {
		if dst.Dict == nil {
			dst.Dict = r.dictVector().Retain()
		}
		dst.Index = append(dst.Index, v.idx[from:to]...)
		return nil
	}
	if dst.Dict != nil {
		flatten(dst)
	}
	if v.idx == nil {
		lo, hi := v.offsets[from], v.offsets[to]
		base := len(dst.Bytes)
		if base+int(hi-lo) > math.MaxInt32 {
			return errTooLarge
		}
		dst.Bytes = append(dst.Bytes, v.data[lo:hi]...)
		shift := int32(base) - int32(lo)
		for _, o := range v.offsets[from+1 : to+1] {
			dst.Offsets = append(dst.Offsets, int32(o)+shift)
		}
		return nil
	}
	for _, x := range v.idx[from:to] {
		dst.Bytes = append(dst.Bytes, r.dict.data[r.dict.offsets[x]:r.dict.offsets[x+1]]...)
		dst.Offsets = append(dst.Offsets, int32(len(dst.Bytes)))
	}
	if len(dst.Bytes) > math.MaxInt32 {
		return errTooLarge
	}
	return nil
}

// flatten replaces the indexes of dst, which stand without gaps, by strings.
func flatten(dst *column.Vector) {
	d := dst.Dict
	for _, x := range dst.Index {
		dst.Bytes = append(dst.Bytes, d.Str(int(x))...)
		dst.Offsets = append(dst.Offsets, int32(len(dst.Bytes)))
	}
	dst.Index, dst.Dict = dst.Index[:0], nil
	d.Release()
}
