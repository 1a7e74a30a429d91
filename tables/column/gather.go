package column

// Gather makes dst (an empty vector of src's type) hold row rows[k] of src
// (any form) in row k. A row of -1 gives null. Errors are kept.
func Gather(dst, src *Vector, rows []int32) {
	dst.Resize(0)
	for _, c := range dst.Children {
		c.Truncate(0)
	}
	AppendRows(dst, src, rows)
}

// AppendRows appends the given rows of src (any form) to the flat vector dst;
// -1 appends null. Errors are kept.
func AppendRows(dst, src *Vector, rows []int32) {
	if src.Dict != nil && src.Errs == nil {
		appendDict(dst, src, rows)
		return
	}
	if src.Const || src.Errs != nil || PhysicalOf(src.Type) == PhysNone {
		for _, r := range rows {
			appendOrNull(dst, src, r)
		}
		return
	}
	appendFlat(dst, src, rows)
}

func appendOrNull(dst, src *Vector, r int32) {
	if r < 0 {
		dst.AppendNull()
		return
	}
	AppendRow(dst, src, int(r))
}

func appendDict(dst, src *Vector, rows []int32) {
	if PhysicalOf(dst.Type) != PhysBytes {
		for _, r := range rows {
			appendOrNull(dst, src, r)
		}
		return
	}
	d := src.Dict
	for _, r := range rows {
		if r < 0 || src.Nulls.Get(int(r)) {
			dst.AppendNull()
			continue
		}
		x := src.Index[r]
		dst.Bytes = append(dst.Bytes, d.Bytes[d.Offsets[x]:d.Offsets[x+1]]...)
		dst.Offsets = append(dst.Offsets, int32(len(dst.Bytes)))
		dst.Len++
	}
}

func appendFlat(dst, src *Vector, rows []int32) {
	base := dst.Len
	switch PhysicalOf(dst.Type) {
	case PhysNone:
	case PhysBool:
		dst.Bool = gatherFixed(dst.Bool, src.Bool, rows)
	case PhysI8:
		dst.I8 = gatherFixed(dst.I8, src.I8, rows)
	case PhysI16:
		dst.I16 = gatherFixed(dst.I16, src.I16, rows)
	case PhysI32:
		dst.I32 = gatherFixed(dst.I32, src.I32, rows)
	case PhysI64:
		dst.I64 = gatherFixed(dst.I64, src.I64, rows)
	case PhysI128:
		dst.I128 = gatherFixed(dst.I128, src.I128, rows)
	case PhysF32:
		dst.F32 = gatherFixed(dst.F32, src.F32, rows)
	case PhysF64:
		dst.F64 = gatherFixed(dst.F64, src.F64, rows)
	case PhysBytes:
		for _, r := range rows {
			if r >= 0 {
				dst.Bytes = append(dst.Bytes, src.Bytes[src.Offsets[r]:src.Offsets[r+1]]...)
			}
			dst.Offsets = append(dst.Offsets, int32(len(dst.Bytes)))
		}
	case PhysList:
		for _, r := range rows {
			if r >= 0 && !src.Nulls.Get(int(r)) {
				for c := range dst.Children {
					AppendRange(dst.Children[c], src.Children[c], int(src.Offsets[r]), int(src.Offsets[r+1]))
				}
			}
			dst.Offsets = append(dst.Offsets, int32(dst.Children[0].Len))
		}
	case PhysStruct:
		for c := range dst.Children {
			AppendRows(dst.Children[c], src.Children[c], rows)
		}
	}
	dst.Len += len(rows)
	gatherNulls(dst, src, rows, base)
}

func gatherFixed[T any](dst, src []T, rows []int32) []T {
	n := len(dst)
	if need := n + len(rows); cap(dst) < need {
		grown := make([]T, n, max(need, 2*cap(dst)))
		copy(grown, dst)
		dst = grown
	}
	dst = dst[:n+len(rows)]
	out := dst[n:]
	var zero T
	for k, r := range rows {
		if r < 0 {
			out[k] = zero
			continue
		}
		out[k] = src[r]
	}
	return dst
}

func gatherNulls(dst, src *Vector, rows []int32, base int) {
	if src.Nulls == nil {
		for k, r := range rows {
			if r < 0 {
				dst.markNull(base + k)
			}
		}
		return
	}
	for k, r := range rows {
		if r < 0 || src.Nulls.Get(int(r)) {
			dst.markNull(base + k)
		}
	}
}

// Flatten returns v as a flat vector with a reference for the caller: v itself
// when it is flat already, a new one from p when it is a constant or a
// dictionary.
func Flatten(p *Pool, v *Vector) *Vector {
	if v.Dict == nil && !v.Const {
		return v.Retain()
	}
	out := p.Vector(v.Type)
	if v.Dict == nil && v.Errs == nil && fillConst(out, v) {
		return out
	}
	for i := range v.Len {
		AppendRow(out, v, i)
	}
	return out
}

// FlattenDict is Flatten for dictionaries only: constants stay constants.
func FlattenDict(p *Pool, v *Vector) *Vector {
	if v.Dict == nil {
		return v.Retain()
	}
	return Flatten(p, v)
}

func fillConst(out, v *Vector) bool {
	if v.Len == 0 {
		return true
	}
	if v.IsNull(0) {
		return false
	}
	out.Resize(v.Len)
	switch PhysicalOf(v.Type) {
	case PhysBool:
		fill(out.Bool, v.Bool[0])
	case PhysI8:
		fill(out.I8, v.I8[0])
	case PhysI16:
		fill(out.I16, v.I16[0])
	case PhysI32:
		fill(out.I32, v.I32[0])
	case PhysI64:
		fill(out.I64, v.I64[0])
	case PhysI128:
		fill(out.I128, v.I128[0])
	case PhysF32:
		fill(out.F32, v.F32[0])
	case PhysF64:
		fill(out.F64, v.F64[0])
	default:
		out.Resize(0)
		for _, c := range out.Children {
			c.Truncate(0)
		}
		return false
	}
	return true
}

func fill[T any](s []T, x T) {
	for i := range s {
		s[i] = x
	}
}
