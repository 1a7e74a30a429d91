package column

import (
	"sync/atomic"

	"pipelines/tables/schema"
)

// MaxDecimal64 is the greatest decimal precision that is held in int64.
const MaxDecimal64 = 18

// Vector is one column of one batch. Which payload slice is in use follows
// from the type (see PhysicalOf):
//
//	BOOLEAN                             Bool
//	TINYINT, SMALLINT                   I8, I16
//	INT, DATE, INTERVAL YEAR-MONTH      I32
//	BIGINT, TIMESTAMP(_NTZ), INTERVAL DAY-TIME, DECIMAL up to 18 digits   I64
//	DECIMAL above 18 digits             I128
//	FLOAT, DOUBLE                       F32, F64
//	STRING, BINARY                      Offsets (n+1) into Bytes
//	ARRAY                               Offsets (n+1) into Children[0]
//	MAP                                 Offsets (n+1) into Children[0] (keys), Children[1] (values)
//	STRUCT                              Children, one a field, same rows
//	VARIANT                             Children[0] value, Children[1] metadata (BINARY)
//	INTERVAL (calendar)                 Children: months INT, days INT, micros BIGINT
//	VOID                                nothing; every row is null
//
// A constant vector (Const) stores one value at index 0 that stands for all
// Len rows; its Nulls has at most bit 0. A dictionary vector stores Index, one
// entry a row, into Dict (which is neither constant nor a dictionary); its own
// Nulls and Errs are by row.
type Vector struct {
	Type  schema.Type
	Len   int
	Const bool
	Nulls Bits // nil: no row is null
	Errs  *Errors

	Bool     []bool
	I8       []int8
	I16      []int16
	I32      []int32
	I64      []int64
	I128     []Int128
	F32      []float32
	F64      []float64
	Offsets  []int32
	Bytes    []byte
	Children []*Vector
	Index    []int32
	Dict     *Vector

	refs  atomic.Int32
	pool  *Pool
	nulls Bits // the recycled storage behind Nulls
}

// Physical is the storage class of a type.
type Physical uint8

// The storage classes.
const (
	PhysNone Physical = iota
	PhysBool
	PhysI8
	PhysI16
	PhysI32
	PhysI64
	PhysI128
	PhysF32
	PhysF64
	PhysBytes
	PhysList // ARRAY and MAP
	PhysStruct
)

// PhysicalOf returns the storage class of t.
func PhysicalOf(t schema.Type) Physical {
	switch t.Kind {
	case schema.Boolean:
		return PhysBool
	case schema.Int8:
		return PhysI8
	case schema.Int16:
		return PhysI16
	case schema.Int32, schema.Date, schema.YearMonthInterval:
		return PhysI32
	case schema.Int64, schema.Timestamp, schema.TimestampNTZ, schema.DayTimeInterval:
		return PhysI64
	case schema.Decimal:
		if t.Precision > MaxDecimal64 {
			return PhysI128
		}
		return PhysI64
	case schema.Float32:
		return PhysF32
	case schema.Float64:
		return PhysF64
	case schema.String, schema.Binary:
		return PhysBytes
	case schema.Array, schema.Map:
		return PhysList
	case schema.Struct, schema.Variant, schema.CalendarInterval:
		return PhysStruct
	}
	return PhysNone
}

// childTypes returns the types of the children of a vector of type t.
func childTypes(t schema.Type) []schema.Type {
	switch t.Kind {
	case schema.Array:
		return []schema.Type{*t.Elem}
	case schema.Map:
		return []schema.Type{*t.Key, *t.Elem}
	case schema.Struct:
		out := make([]schema.Type, len(t.Fields))
		for i, f := range t.Fields {
			out[i] = f.Type
		}
		return out
	case schema.Variant:
		return []schema.Type{schema.Of(schema.Binary), schema.Of(schema.Binary)}
	case schema.CalendarInterval:
		return []schema.Type{schema.Of(schema.Int32), schema.Of(schema.Int32), schema.Of(schema.Int64)}
	}
	return nil
}

// New returns an empty vector of type t outside any pool.
func New(t schema.Type) *Vector {
	v := &Vector{}
	v.refs.Store(1)
	v.reset(t, nil)
	return v
}

// reset makes v an empty flat vector of type t, keeping its storage.
func (v *Vector) reset(t schema.Type, p *Pool) {
	v.Type, v.Len, v.Const, v.Errs, v.Dict, v.pool = t, 0, false, nil, nil, p
	v.Nulls = nil
	v.Bool, v.I8, v.I16, v.I32, v.I64 = v.Bool[:0], v.I8[:0], v.I16[:0], v.I32[:0], v.I64[:0]
	v.I128, v.F32, v.F64, v.Bytes, v.Index = v.I128[:0], v.F32[:0], v.F64[:0], v.Bytes[:0], v.Index[:0]
	v.Offsets = v.Offsets[:0]
	v.Children = v.Children[:0]
	if ph := PhysicalOf(t); ph == PhysBytes || ph == PhysList {
		v.Offsets = append(v.Offsets, 0)
	}
	for _, ct := range childTypes(t) {
		v.Children = append(v.Children, p.Vector(ct))
	}
}

// Retain adds a reference and returns v.
func (v *Vector) Retain() *Vector {
	v.refs.Add(1)
	return v
}

// Release drops a reference; the last one recycles v and drops its children.
func (v *Vector) Release() {
	n := v.refs.Add(-1)
	if n < 0 {
		panic("bug: column: vector released too often")
	}
	if n > 0 {
		return
	}
	for i, c := range v.Children {
		c.Release()
		v.Children[i] = nil
	}
	v.Children = v.Children[:0]
	if v.Dict != nil {
		v.Dict.Release()
		v.Dict = nil
	}
	if v.pool != nil {
		v.pool.put(v)
	}
}

// Row maps a row of the batch to the place of its value in the payload of a
// flat or constant vector.
func (v *Vector) Row(i int) int {
	if v.Const {
		return 0
	}
	return i
}

// IsNull reports whether row i is null (constant vectors included).
func (v *Vector) IsNull(i int) bool {
	if v.Const {
		i = 0
	}
	return v.Type.Kind == schema.Void || v.Nulls.Get(i)
}

// HasNulls reports whether the vector has a null bitmap or is VOID.
func (v *Vector) HasNulls() bool { return v.Nulls != nil || v.Type.Kind == schema.Void }

// MakeNulls gives v an own, zeroed bitmap for n rows and returns it.
func (v *Vector) MakeNulls(n int) Bits {
	v.nulls = v.nulls[:0].Grow(n)
	clear(v.nulls)
	v.Nulls = v.nulls
	return v.Nulls
}

// SetNull marks row i null, children of structs included. The row's payload
// must exist already (see Resize) or be appended by the caller.
func (v *Vector) SetNull(i int) {
	if v.Nulls == nil {
		v.MakeNulls(max(i+1, v.Len))
	} else if i>>6 >= len(v.Nulls) {
		v.nulls = v.Nulls.Grow(i + 1)
		v.Nulls = v.nulls
	}
	v.Nulls.Set(i)
	if PhysicalOf(v.Type) == PhysStruct {
		for _, c := range v.Children {
			c.SetNull(i)
		}
	}
}

// Fail marks row i as failed with err; the row is null as well. The first
// error of a row stays.
func (v *Vector) Fail(i int, err error) {
	if v.Errs == nil {
		v.Errs = &Errors{rows: map[int32]error{}}
	}
	if _, ok := v.Errs.rows[int32(i)]; !ok {
		v.Errs.rows[int32(i)] = err
	}
	v.SetNull(i)
}

// Resize makes v a flat vector of n rows whose fixed-width payload has n
// entries of unspecified content, without nulls. For strings and lists the
// offsets are cleared to length 1 for appending; structs resize their children.
func (v *Vector) Resize(n int) {
	v.Len, v.Const, v.Nulls, v.Errs = n, false, nil, nil
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = resize(v.Bool, n)
	case PhysI8:
		v.I8 = resize(v.I8, n)
	case PhysI16:
		v.I16 = resize(v.I16, n)
	case PhysI32:
		v.I32 = resize(v.I32, n)
	case PhysI64:
		v.I64 = resize(v.I64, n)
	case PhysI128:
		v.I128 = resize(v.I128, n)
	case PhysF32:
		v.F32 = resize(v.F32, n)
	case PhysF64:
		v.F64 = resize(v.F64, n)
	case PhysBytes, PhysList:
		v.Offsets = append(v.Offsets[:0], 0)
		v.Bytes = v.Bytes[:0]
	case PhysStruct:
		for _, c := range v.Children {
			c.Resize(n)
		}
	}
}

func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, max(n, 2*cap(s)))
}

// Str returns the bytes of row i of a flat or constant string or binary
// vector, without a copy: valid as long as the vector.
func (v *Vector) Str(i int) []byte {
	if v.Const {
		i = 0
	}
	return v.Bytes[v.Offsets[i]:v.Offsets[i+1]]
}

// AppendStr appends one row of bytes to a string or binary vector and counts it.
func (v *Vector) AppendStr(s []byte) {
	v.Bytes = append(v.Bytes, s...)
	v.Offsets = append(v.Offsets, int32(len(v.Bytes)))
	v.Len = len(v.Offsets) - 1
}

// List returns the child rows [from, to) of row i of an array or map vector.
func (v *Vector) List(i int) (from, to int) {
	if v.Const {
		i = 0
	}
	return int(v.Offsets[i]), int(v.Offsets[i+1])
}

// Errors holds the rows of a vector whose value could not be computed.
type Errors struct {
	rows map[int32]error
}

// At returns the error of row i, or nil. A nil *Errors has none.
func (e *Errors) At(i int) error {
	if e == nil {
		return nil
	}
	return e.rows[int32(i)]
}

// Any reports whether a row failed.
func (e *Errors) Any() bool { return e != nil && len(e.rows) > 0 }

// Each calls f for each failed row, in no fixed order.
func (e *Errors) Each(f func(row int, err error)) {
	if e == nil {
		return
	}
	for r, err := range e.rows {
		f(int(r), err)
	}
}
