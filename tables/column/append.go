package column

import "pipelines/tables/schema"

// resolve finds the flat or constant vector and the row in it that hold the
// value of row i of v, dictionaries included.
func (v *Vector) resolve(i int) (*Vector, int) {
	if v.Dict != nil {
		return v.Dict, int(v.Index[i])
	}
	if v.Const {
		return v, 0
	}
	return v, i
}

// Truncate shortens a flat vector that was built by appending to n rows.
func (v *Vector) Truncate(n int) {
	if n >= v.Len {
		return
	}
	switch PhysicalOf(v.Type) {
	case PhysList:
		for _, c := range v.Children {
			c.Truncate(int(v.Offsets[n]))
		}
	case PhysStruct:
		for _, c := range v.Children {
			c.Truncate(n)
		}
	}
	v.Cut(n)
	v.Len = n
}

// Cut is Truncate for a vector in the making, whose length is not set yet: the
// buffers, which hold at least n rows, keep n. The elements of a list stay.
func (v *Vector) Cut(n int) {
	v.Nulls.ClearFrom(n)
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = v.Bool[:n]
	case PhysI8:
		v.I8 = v.I8[:n]
	case PhysI16:
		v.I16 = v.I16[:n]
	case PhysI32:
		v.I32 = v.I32[:n]
	case PhysI64:
		v.I64 = v.I64[:n]
	case PhysI128:
		v.I128 = v.I128[:n]
	case PhysF32:
		v.F32 = v.F32[:n]
	case PhysF64:
		v.F64 = v.F64[:n]
	case PhysBytes:
		v.Offsets = v.Offsets[:n+1]
		v.Bytes = v.Bytes[:v.Offsets[n]]
	case PhysList:
		v.Offsets = v.Offsets[:n+1]
	case PhysStruct:
		for _, c := range v.Children {
			c.Cut(n)
		}
	}
}

// AppendNull appends one null row to a flat vector.
func (v *Vector) AppendNull() {
	i := v.Len
	switch PhysicalOf(v.Type) {
	case PhysBool:
		v.Bool = append(v.Bool, false)
	case PhysI8:
		v.I8 = append(v.I8, 0)
	case PhysI16:
		v.I16 = append(v.I16, 0)
	case PhysI32:
		v.I32 = append(v.I32, 0)
	case PhysI64:
		v.I64 = append(v.I64, 0)
	case PhysI128:
		v.I128 = append(v.I128, Int128{})
	case PhysF32:
		v.F32 = append(v.F32, 0)
	case PhysF64:
		v.F64 = append(v.F64, 0)
	case PhysBytes, PhysList:
		v.Offsets = append(v.Offsets, v.Offsets[i])
	case PhysStruct:
		for _, c := range v.Children {
			c.AppendNull()
		}
	case PhysNone:
		v.Len++
		return
	}
	v.Len++
	v.markNull(i)
}

// markNull is SetNull without the descent into children.
func (v *Vector) markNull(i int) {
	if v.Nulls == nil {
		v.MakeNulls(max(i+1, v.Len))
	} else if i>>6 >= len(v.Nulls) {
		v.nulls = v.Nulls.Grow(i + 1)
		v.Nulls = v.nulls
	}
	v.Nulls.Set(i)
}

// EndList closes one row of an array or map vector whose elements were
// appended to the children.
func (v *Vector) EndList() {
	v.Offsets = append(v.Offsets, int32(v.Children[0].Len))
	v.Len = len(v.Offsets) - 1
}

// EndStruct closes one row of a struct vector whose fields were appended.
func (v *Vector) EndStruct() { v.Len++ }

// AppendRow appends row i of src (any form) to the flat vector dst of the same
// type. Errors of the row are kept.
func AppendRow(dst, src *Vector, i int) {
	if src.Errs != nil {
		if err := src.Errs.At(src.Row(i)); err != nil {
			dst.AppendNull()
			dst.Fail(dst.Len-1, err)
			return
		}
	}
	if src.IsNull(i) {
		dst.AppendNull()
		return
	}
	s, r := src.resolve(i)
	switch PhysicalOf(dst.Type) {
	case PhysBool:
		dst.Bool = append(dst.Bool, s.Bool[r])
	case PhysI8:
		dst.I8 = append(dst.I8, s.I8[r])
	case PhysI16:
		dst.I16 = append(dst.I16, s.I16[r])
	case PhysI32:
		dst.I32 = append(dst.I32, s.I32[r])
	case PhysI64:
		dst.I64 = append(dst.I64, s.I64[r])
	case PhysI128:
		dst.I128 = append(dst.I128, s.I128[r])
	case PhysF32:
		dst.F32 = append(dst.F32, s.F32[r])
	case PhysF64:
		dst.F64 = append(dst.F64, s.F64[r])
	case PhysBytes:
		dst.AppendStr(s.Bytes[s.Offsets[r]:s.Offsets[r+1]])
		return
	case PhysList:
		from, to := int(s.Offsets[r]), int(s.Offsets[r+1])
		for c := range dst.Children {
			AppendRange(dst.Children[c], s.Children[c], from, to)
		}
		dst.Offsets = append(dst.Offsets, int32(dst.Children[0].Len))
	case PhysStruct:
		for c := range dst.Children {
			AppendRow(dst.Children[c], s.Children[c], r)
		}
	}
	dst.Len++
}

// AppendRange appends rows [from, to) of src (any form) to the flat vector dst.
func AppendRange(dst, src *Vector, from, to int) {
	if from >= to {
		return
	}
	if src.Const || src.Dict != nil || src.Errs != nil || PhysicalOf(dst.Type) == PhysStruct || PhysicalOf(src.Type) == PhysNone {
		for i := from; i < to; i++ {
			AppendRow(dst, src, i)
		}
		return
	}
	base := dst.Len
	switch PhysicalOf(dst.Type) {
	case PhysNone:
	case PhysBool:
		dst.Bool = append(dst.Bool, src.Bool[from:to]...)
	case PhysI8:
		dst.I8 = append(dst.I8, src.I8[from:to]...)
	case PhysI16:
		dst.I16 = append(dst.I16, src.I16[from:to]...)
	case PhysI32:
		dst.I32 = append(dst.I32, src.I32[from:to]...)
	case PhysI64:
		dst.I64 = append(dst.I64, src.I64[from:to]...)
	case PhysI128:
		dst.I128 = append(dst.I128, src.I128[from:to]...)
	case PhysF32:
		dst.F32 = append(dst.F32, src.F32[from:to]...)
	case PhysF64:
		dst.F64 = append(dst.F64, src.F64[from:to]...)
	case PhysBytes:
		shift := int32(len(dst.Bytes)) - src.Offsets[from]
		dst.Bytes = append(dst.Bytes, src.Bytes[src.Offsets[from]:src.Offsets[to]]...)
		dst.Offsets = appendShifted(dst.Offsets, src.Offsets[from+1:to+1], shift)
	case PhysList:
		shift := int32(dst.Children[0].Len) - src.Offsets[from]
		for c := range dst.Children {
			AppendRange(dst.Children[c], src.Children[c], int(src.Offsets[from]), int(src.Offsets[to]))
		}
		dst.Offsets = appendShifted(dst.Offsets, src.Offsets[from+1:to+1], shift)
	}
	dst.Len += to - from
	if src.Nulls != nil {
		for i := from; i < to; i++ {
			if src.Nulls.Get(i) {
				dst.markNull(base + i - from)
			}
		}
	}
}

func appendShifted(dst, src []int32, shift int32) []int32 {
	for _, o := range src {
		dst = append(dst, o+shift)
	}
	return dst
}

// SetConst makes the one-row flat vector v stand for n rows.
func (v *Vector) SetConst(n int) {
	if v.Len != 1 && !v.Const {
		panic("bug: column: a constant needs exactly one value")
	}
	v.Const, v.Len = true, n
}

// NullVector returns a constant vector of n nulls of type t.
func NullVector(p *Pool, t schema.Type, n int) *Vector {
	v := p.Vector(t)
	v.AppendNull()
	v.SetConst(n)
	return v
}

// FailOver is Fail, but replaces an error that the row has already.
func (v *Vector) FailOver(i int, err error) {
	v.Fail(i, err)
	v.Errs.rows[int32(i)] = err
}
