package column

import (
	"math"

	"pipelines/tables/schema"
)

// CompareTotal is Compare with -0.0 below 0.0, so that values which are equal
// look the same; NaNs, of which Canonical leaves one, are still equal.
func CompareTotal(a *Vector, i int, b *Vector, j int) int {
	if !hasFloats(a.Type) || a.IsNull(i) || b.IsNull(j) {
		return Compare(a, i, b, j)
	}
	a, i = a.resolve(i)
	b, j = b.resolve(j)
	switch PhysicalOf(a.Type) {
	case PhysF32:
		return compareTotalFloat(float64(a.F32[i]), float64(b.F32[j]))
	case PhysF64:
		return compareTotalFloat(a.F64[i], b.F64[j])
	case PhysList:
		return compareList(a, i, b, j, CompareTotal)
	case PhysStruct:
		for c := range a.Children {
			if d := CompareTotal(a.Children[c], i, b.Children[c], j); d != 0 {
				return d
			}
		}
		return 0
	}
	return Compare(a, i, b, j)
}

func compareTotalFloat(x, y float64) int {
	if d := CompareFloat(x, y); d != 0 || x != 0 {
		return d
	}
	xn, yn := math.Signbit(x), math.Signbit(y)
	switch {
	case xn == yn:
		return 0
	case xn:
		return -1
	}
	return 1
}

func hasFloats(t schema.Type) bool {
	switch PhysicalOf(t) {
	case PhysF32, PhysF64:
		return true
	case PhysList:
		return t.Elem != nil && hasFloats(*t.Elem) || t.Key != nil && hasFloats(*t.Key)
	case PhysStruct:
		for _, f := range t.Fields {
			if hasFloats(f.Type) {
				return true
			}
		}
	}
	return false
}

// Canonical makes every NaN in the rows of a flat vector from the row on the
// one of Go, and with zeros every -0.0 a 0.0.
func Canonical(v *Vector, from int, zeros bool) {
	if from >= v.Len || !hasFloats(v.Type) {
		return
	}
	switch PhysicalOf(v.Type) {
	case PhysF32:
		for i, x := range v.F32[from:v.Len] {
			if x != x {
				v.F32[from+i] = float32(math.NaN())
			} else if zeros && x == 0 {
				v.F32[from+i] = 0
			}
		}
	case PhysF64:
		for i, x := range v.F64[from:v.Len] {
			if x != x {
				v.F64[from+i] = math.NaN()
			} else if zeros && x == 0 {
				v.F64[from+i] = 0
			}
		}
	case PhysList:
		at, _ := v.List(from)
		for _, c := range v.Children {
			Canonical(c, at, zeros)
		}
	case PhysStruct:
		for _, c := range v.Children {
			Canonical(c, from, zeros)
		}
	}
}
