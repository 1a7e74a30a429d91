package column

import (
	"bytes"
	"cmp"
)

// Compare orders row i of a against row j of b (of one type, any form) as
// Spark sorts: null before all, NaN after all numbers, -0.0 equal to 0.0,
// strings by bytes, arrays and structs by their first difference.
func Compare(a *Vector, i int, b *Vector, j int) int {
	an, bn := a.IsNull(i), b.IsNull(j)
	if an || bn {
		switch {
		case an && bn:
			return 0
		case an:
			return -1
		}
		return 1
	}
	a, i = a.resolve(i)
	b, j = b.resolve(j)
	switch PhysicalOf(a.Type) {
	case PhysBool:
		return compareBool(a.Bool[i], b.Bool[j])
	case PhysI8:
		return cmp.Compare(a.I8[i], b.I8[j])
	case PhysI16:
		return cmp.Compare(a.I16[i], b.I16[j])
	case PhysI32:
		return cmp.Compare(a.I32[i], b.I32[j])
	case PhysI64:
		return cmp.Compare(a.I64[i], b.I64[j])
	case PhysI128:
		return a.I128[i].Cmp(b.I128[j])
	case PhysF32:
		return CompareFloat(float64(a.F32[i]), float64(b.F32[j]))
	case PhysF64:
		return CompareFloat(a.F64[i], b.F64[j])
	case PhysBytes:
		return bytes.Compare(a.Str(i), b.Str(j))
	case PhysList:
		return compareList(a, i, b, j, Compare)
	case PhysStruct:
		for c := range a.Children {
			if d := Compare(a.Children[c], i, b.Children[c], j); d != 0 {
				return d
			}
		}
	}
	return 0
}

// CompareFloat orders floats as Spark does: NaN equals itself and is greatest.
func CompareFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	xn, yn := x != x, y != y
	switch {
	case xn && yn:
		return 0
	case xn:
		return 1
	}
	return -1
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// compareList compares arrays by elements; maps (which Spark cannot order, but
// groups by) by their entries in stored order; compare tells two elements.
func compareList(a *Vector, i int, b *Vector, j int, compare func(a *Vector, i int, b *Vector, j int) int) int {
	af, at := a.List(i)
	bf, bt := b.List(j)
	n := min(at-af, bt-bf)
	for k := range n {
		for c := range a.Children {
			if d := compare(a.Children[c], af+k, b.Children[c], bf+k); d != 0 {
				return d
			}
		}
	}
	return cmp.Compare(at-af, bt-bf)
}

// Equal reports whether both rows hold the same value as GROUP BY and the
// null-safe comparison see it: nulls are equal, and so are NaNs.
func Equal(a *Vector, i int, b *Vector, j int) bool {
	an, bn := a.IsNull(i), b.IsNull(j)
	if an || bn {
		return an && bn
	}
	a, i = a.resolve(i)
	b, j = b.resolve(j)
	switch PhysicalOf(a.Type) {
	case PhysI64:
		return a.I64[i] == b.I64[j]
	case PhysI32:
		return a.I32[i] == b.I32[j]
	case PhysBytes:
		return bytes.Equal(a.Str(i), b.Str(j))
	case PhysList:
		return equalList(a, i, b, j)
	case PhysStruct:
		for c := range a.Children {
			if !Equal(a.Children[c], i, b.Children[c], j) {
				return false
			}
		}
		return true
	}
	return Compare(a, i, b, j) == 0
}

func equalList(a *Vector, i int, b *Vector, j int) bool {
	af, at := a.List(i)
	bf, bt := b.List(j)
	if at-af != bt-bf {
		return false
	}
	for c := range a.Children {
		for k := range at - af {
			if !Equal(a.Children[c], af+k, b.Children[c], bf+k) {
				return false
			}
		}
	}
	return true
}
