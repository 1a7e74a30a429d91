package funcs

import (
	"slices"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// ListColumn holds a list of values a group, as chains through an append-only
// store: pointer-free and cheap to append to.
type ListColumn struct {
	values      *column.Vector
	next        []int32 // row -> next row of the same group, -1 at the end
	first, last []int32 // group -> row, -1 when empty
	count       []int32
	live        int // rows that belong to a list
}

func newListColumn(t schema.Type) *ListColumn { return &ListColumn{values: column.New(t)} }

// Grow makes room for groups 0 to n-1; new groups start empty.
func (st *States) Grow(n int) {
	if n <= st.groups {
		return
	}
	for _, v := range st.Fixed {
		if v != nil {
			growFixed(v, n)
		}
	}
	for _, v := range st.Values {
		if v != nil {
			v.grow(n)
		}
	}
	for _, l := range st.Lists {
		if l != nil {
			l.first, l.last = growMinus(l.first, n), growMinus(l.last, n)
			for len(l.count) < n {
				l.count = append(l.count, 0)
			}
		}
	}
	st.groups = n
}

func growMinus[T int32 | int64](s []T, n int) []T {
	if n > cap(s) {
		s = slices.Grow(s, n-len(s))
	}
	from := len(s)
	s = s[:n]
	for i := range s[from:] {
		s[from+i] = -1
	}
	return s
}

func growFixed(v *column.Vector, n int) {
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		v.Bool = growZero(v.Bool, n)
	case column.PhysI8:
		v.I8 = growZero(v.I8, n)
	case column.PhysI16:
		v.I16 = growZero(v.I16, n)
	case column.PhysI32:
		v.I32 = growZero(v.I32, n)
	case column.PhysI64:
		v.I64 = growZero(v.I64, n)
	case column.PhysI128:
		v.I128 = growZero(v.I128, n)
	case column.PhysF32:
		v.F32 = growZero(v.F32, n)
	case column.PhysF64:
		v.F64 = growZero(v.F64, n)
	default:
		panic("bug: funcs: fixed state of type " + v.Type.String())
	}
	v.Len = n
}

func growZero[T any](s []T, n int) []T {
	if cap(s) >= n {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	out := make([]T, n, max(n, 2*cap(s), 64))
	copy(out, s)
	return out
}

// Clear makes a group empty again, so that its number can be used anew.
func (st *States) Clear(group int32) {
	for _, v := range st.Fixed {
		if v != nil {
			clearFixed(v, int(group))
		}
	}
	for _, v := range st.Values {
		if v != nil {
			v.SetNull(group)
		}
	}
	for _, l := range st.Lists {
		if l != nil {
			l.live -= int(l.count[group])
			l.first[group], l.last[group], l.count[group] = -1, -1, 0
		}
	}
}

func clearFixed(v *column.Vector, g int) {
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		v.Bool[g] = false
	case column.PhysI8:
		v.I8[g] = 0
	case column.PhysI16:
		v.I16[g] = 0
	case column.PhysI32:
		v.I32[g] = 0
	case column.PhysI64:
		v.I64[g] = 0
	case column.PhysI128:
		v.I128[g] = column.Int128{}
	case column.PhysF32:
		v.F32[g] = 0
	case column.PhysF64:
		v.F64[g] = 0
	}
	if v.Nulls != nil && g>>6 < len(v.Nulls) {
		v.Nulls.Unset(g)
	}
}

// Append appends the state of a group to out, one vector a state column: the
// form in which state is spilled and stored. Lists become arrays, see
// StoredType.
func (st *States) Append(group int32, out []*column.Vector) {
	for i, dst := range out {
		switch {
		case st.Fixed[i] != nil:
			column.AppendRow(dst, st.Fixed[i], int(group))
		case st.Values[i] != nil:
			v, r := st.Values[i].Value(group)
			if r < 0 {
				dst.AppendNull()
			} else {
				column.AppendRow(dst, v, r)
			}
		default:
			st.AppendList(i, group, dst)
		}
	}
}

// AppendList appends the list of a group in state column i as an array.
func (st *States) AppendList(i int, group int32, dst *column.Vector) {
	st.Lists[i].Each(group, func(v *column.Vector, r int) { column.AppendRow(dst.Children[0], v, r) })
	dst.EndList()
}

// TouchFixed brings what is held by group number into the cache all at once,
// where there is so much that it does not stay there by itself.
func (st *States) TouchFixed(groups []int32) {
	if st.groups < manyGroups {
		return
	}
	x := 0
	for _, v := range st.Fixed {
		if v == nil {
			continue
		}
		switch {
		case len(v.I64) > 0:
			for _, g := range groups {
				x += int(v.I64[g])
			}
		case len(v.F64) > 0:
			for _, g := range groups {
				if v.F64[g] != 0 {
					x++
				}
			}
		case len(v.I128) > 0:
			for _, g := range groups {
				x += int(v.I128[g].Lo)
			}
		}
	}
	st.seen += x
}

// manyGroups do not stay in the cache by themselves.
const manyGroups = 1 << 16

// Touch brings the values of groups into the cache all at once.
func (st *States) Touch(groups []int32) {
	for _, v := range st.Values {
		if v != nil {
			v.Touch(groups)
		}
	}
}

// Load sets the state of a group, which must be empty, from row of in: the
// reverse of Append.
func (st *States) Load(group int32, in []*column.Vector, row int) {
	for i, src := range in {
		switch {
		case st.Fixed[i] != nil:
			loadFixed(st.Fixed[i], int(group), src, row)
		case st.Values[i] != nil:
			st.Values[i].Set(group, src, row)
		default:
			from, to := src.List(row)
			for k := from; k < to; k++ {
				st.Lists[i].Add(group, src.Children[0], k)
			}
		}
	}
}

func loadFixed(v *column.Vector, g int, src *column.Vector, row int) {
	row = src.Row(row)
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		v.Bool[g] = src.Bool[row]
	case column.PhysI8:
		v.I8[g] = src.I8[row]
	case column.PhysI16:
		v.I16[g] = src.I16[row]
	case column.PhysI32:
		v.I32[g] = src.I32[row]
	case column.PhysI64:
		v.I64[g] = src.I64[row]
	case column.PhysI128:
		v.I128[g] = src.I128[row]
	case column.PhysF32:
		v.F32[g] = src.F32[row]
	case column.PhysF64:
		v.F64[g] = src.F64[row]
	}
}

// StoredType is the type in which Append writes a state column.
func (c StateColumn) StoredType() schema.Type {
	if c.Form == StateList {
		return schema.ArrayOf(c.Type, true)
	}
	return c.Type
}

// mostListed is how many bytes or values the lists of one state column may hold:
// offsets count in 31 bits, and a batch may bring some more.
const mostListed = 7 << 28

// Full reports whether some list column holds as much as can be numbered: nothing
// may be added any more.
func (st *States) Full() bool {
	for _, l := range st.Lists {
		if l != nil && atMost(l.values) > mostListed {
			return true
		}
	}
	return false
}

// atMost is the greatest offset into the parts of a vector.
func atMost(v *column.Vector) int {
	n := max(v.Len, len(v.Bytes))
	for _, c := range v.Children {
		n = max(n, atMost(c))
	}
	return n
}

// Bytes estimates the memory that the states hold.
func (st *States) Bytes() int64 {
	var n int64
	for _, v := range st.Fixed {
		if v != nil {
			n += v.Memory()
		}
	}
	for _, v := range st.Values {
		if v != nil {
			n += v.memory()
		}
	}
	for _, l := range st.Lists {
		if l != nil {
			n += l.values.Memory() + 4*int64(len(l.next)+3*len(l.first))
		}
	}
	return n
}

// Count returns the length of the group's list.
func (l *ListColumn) Count(group int32) int { return int(l.count[group]) }

// Add appends row of src to the group's list; nulls are values too.
func (l *ListColumn) Add(group int32, src *column.Vector, row int) {
	if l.values.Len > 1024 && l.values.Len > 4*l.live {
		l.compact()
	}
	column.AppendRow(l.values, src, row)
	l.link(group)
}

func (l *ListColumn) link(group int32) {
	r := int32(l.values.Len - 1)
	l.next = append(l.next, -1)
	if l.first[group] < 0 {
		l.first[group] = r
	} else {
		l.next[l.last[group]] = r
	}
	l.last[group] = r
	l.count[group]++
	l.live++
}

// Each calls f for the values of the group's list in order.
func (l *ListColumn) Each(group int32, f func(v *column.Vector, row int)) {
	for r := l.first[group]; r >= 0; r = l.next[r] {
		f(l.values, int(r))
	}
}

// Rows appends the rows of the group's list to rows and returns them, together
// with the vector that holds them.
func (l *ListColumn) Rows(group int32, rows []int32) (*column.Vector, []int32) {
	for r := l.first[group]; r >= 0; r = l.next[r] {
		rows = append(rows, r)
	}
	return l.values, rows
}

func (l *ListColumn) compact() {
	rows := make([]int32, 0, l.live)
	fresh := &ListColumn{first: l.first, last: l.last, count: l.count, live: l.live}
	for g := range l.first {
		start := len(rows)
		for r := l.first[g]; r >= 0; r = l.next[r] {
			rows = append(rows, r)
		}
		for k := start; k < len(rows); k++ {
			fresh.next = append(fresh.next, int32(k+1))
		}
		if len(rows) > start {
			fresh.next[len(rows)-1] = -1
			fresh.first[g], fresh.last[g] = int32(start), int32(len(rows)-1)
		}
	}
	fresh.values = column.New(l.values.Type)
	column.AppendRows(fresh.values, l.values, rows)
	*l = *fresh
}
