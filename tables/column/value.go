package column

import (
	"fmt"

	"pipelines/tables/schema"
)

// Entry is one entry of a map as At gives it.
type Entry struct{ Key, Value any }

// Interval is a calendar interval as At gives it.
type Interval struct {
	Months, Days int32
	Micros       int64
}

// At returns the value of row i as a Go value, for tests and for single
// values: nil, bool, int8 to int64, Int128, float32, float64, string, []byte,
// []any (arrays, structs), []Entry, Interval. Decimals are their unscaled
// value. A variant is a []any of its two binaries.
func At(v *Vector, i int) any {
	if v.IsNull(i) {
		return nil
	}
	v, i = v.resolve(i)
	switch PhysicalOf(v.Type) {
	case PhysBool:
		return v.Bool[i]
	case PhysI8:
		return v.I8[i]
	case PhysI16:
		return v.I16[i]
	case PhysI32:
		return v.I32[i]
	case PhysI64:
		return v.I64[i]
	case PhysI128:
		return v.I128[i]
	case PhysF32:
		return v.F32[i]
	case PhysF64:
		return v.F64[i]
	case PhysBytes:
		if v.Type.Kind == schema.String {
			return string(v.Str(i))
		}
		return append([]byte{}, v.Str(i)...)
	case PhysList:
		return listAt(v, i)
	case PhysStruct:
		if v.Type.Kind == schema.CalendarInterval {
			return Interval{v.Children[0].I32[i], v.Children[1].I32[i], v.Children[2].I64[i]}
		}
		out := make([]any, len(v.Children))
		for c := range out {
			out[c] = At(v.Children[c], i)
		}
		return out
	}
	return nil
}

func listAt(v *Vector, i int) any {
	from, to := v.List(i)
	if v.Type.Kind == schema.Map {
		out := make([]Entry, 0, to-from)
		for k := from; k < to; k++ {
			out = append(out, Entry{At(v.Children[0], k), At(v.Children[1], k)})
		}
		return out
	}
	out := make([]any, 0, to-from)
	for k := from; k < to; k++ {
		out = append(out, At(v.Children[0], k))
	}
	return out
}

// AppendValue appends x, as At would give it, to the flat vector v. An int is
// taken for every integer kind.
func AppendValue(v *Vector, x any) {
	if x == nil {
		v.AppendNull()
		return
	}
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = append(v.Bool, x.(bool))
	case PhysI8:
		v.I8 = append(v.I8, int8(asInt(x)))
	case PhysI16:
		v.I16 = append(v.I16, int16(asInt(x)))
	case PhysI32:
		v.I32 = append(v.I32, int32(asInt(x)))
	case PhysI64:
		v.I64 = append(v.I64, asInt(x))
	case PhysI128:
		if w, ok := x.(Int128); ok {
			v.I128 = append(v.I128, w)
		} else {
			v.I128 = append(v.I128, FromInt64(asInt(x)))
		}
	case PhysF32:
		v.F32 = append(v.F32, x.(float32))
	case PhysF64:
		v.F64 = append(v.F64, x.(float64))
	case PhysBytes:
		switch s := x.(type) {
		case string:
			v.AppendStr([]byte(s))
		case []byte:
			v.AppendStr(s)
		default:
			panic(fmt.Sprintf("bug: column: %T is no string", x))
		}
		return
	case PhysList, PhysStruct:
		appendNested(v, x)
		return
	}
	v.Len++
}

func appendNested(v *Vector, x any) {
	switch x := x.(type) {
	case []Entry:
		for _, e := range x {
			AppendValue(v.Children[0], e.Key)
			AppendValue(v.Children[1], e.Value)
		}
		v.EndList()
	case Interval:
		AppendValue(v.Children[0], x.Months)
		AppendValue(v.Children[1], x.Days)
		AppendValue(v.Children[2], x.Micros)
		v.EndStruct()
	case []any:
		if v.Type.Kind == schema.Array {
			for _, e := range x {
				AppendValue(v.Children[0], e)
			}
			v.EndList()
			return
		}
		for c, e := range x {
			AppendValue(v.Children[c], e)
		}
		v.EndStruct()
	default:
		panic(fmt.Sprintf("bug: column: %T is no nested value", x))
	}
}

func asInt(x any) int64 {
	switch x := x.(type) {
	case int:
		return int64(x)
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case int32:
		return int64(x)
	case int64:
		return x
	}
	panic(fmt.Sprintf("bug: column: %T is no integer", x))
}

// FromValues returns a flat vector of the given values outside any pool.
func FromValues(t schema.Type, values ...any) *Vector {
	v := New(t)
	for _, x := range values {
		AppendValue(v, x)
	}
	return v
}

// Constant returns a constant vector of n rows outside any pool.
func Constant(t schema.Type, n int, value any) *Vector {
	v := FromValues(t, value)
	v.SetConst(n)
	return v
}
