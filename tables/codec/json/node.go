package json

import (
	"encoding/binary"
	"fmt"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// node is the plan for one wanted value and the writer of its vector. It holds
// n rows; rows between n and the next written one are nulls that are not
// filled in yet.
type node struct {
	typ  schema.Type
	phys column.Physical
	v    *column.Vector
	n    int

	fields  []*node // struct; value and metadata of a variant
	variant bool
	known   map[string]*node
	entries map[string]*entry
	head    entry // what stands before the first key

	declared map[string]bool // fields that are not rescued
	path     string          // before the names of rescued fields: "s."

	elem, key *node // array, map
	children  int   // rows of elem (and key)
}

// entry is one key as it stands in the text, from its quote to the value.
type entry struct {
	text  string
	first uint64 // its first 8 bytes, masked
	mask  uint64
	last  uint64 // its last 8 bytes, if it has 8 to 16
	f     *node  // nil: not wanted
	skip  *node  // of an object that is not wanted: its keys
	name  string
	next  *entry // the key that followed the last times
	trust int8
}

func newEntry(key []byte, name string, f *node) *entry {
	e := &entry{text: string(key), f: f, name: name, mask: ^uint64(0)}
	var w [8]byte
	copy(w[:], key)
	e.first = binary.LittleEndian.Uint64(w[:])
	if n := len(key); n < 8 {
		e.mask = 1<<uint(8*n) - 1
	} else if n <= 16 {
		e.last = binary.LittleEndian.Uint64(key[n-8:])
	}
	return e
}

// at reports whether the key stands at b[i]; b has Padding bytes behind its
// end.
func (e *entry) at(b []byte, i int) bool {
	if binary.LittleEndian.Uint64(b[i:])&e.mask != e.first {
		return false
	}
	n := len(e.text)
	switch {
	case n <= 8:
		return true
	case n <= 16:
		return binary.LittleEndian.Uint64(b[i+n-8:]) == e.last
	}
	return i+n <= len(b) && string(b[i+8:i+n]) == e.text[8:]
}

// maxEntries bounds the keys remembered by a decoder.
const maxEntries = 1 << 14

// newNode plans type t.
func newNode(t schema.Type) (*node, error) {
	nd := &node{typ: t, phys: column.PhysicalOf(t)}
	var err error
	switch t.Kind {
	case schema.Struct:
		nd.known, nd.entries = map[string]*node{}, map[string]*entry{}
		for _, f := range t.Fields {
			c, err := newNode(f.Type)
			if err != nil {
				return nil, err
			}
			nd.fields = append(nd.fields, c)
			nd.known[f.Name] = c
		}
	case schema.Array:
		nd.elem, err = newNode(*t.Elem)
	case schema.Map:
		if t.Key.Kind != schema.String {
			return nil, fmt.Errorf("JSON objects have text keys: %s cannot be read", t.SQL())
		}
		nd.key = &node{typ: *t.Key, phys: column.PhysBytes}
		nd.elem, err = newNode(*t.Elem)
	case schema.Variant:
		nd.variant = true
		for range 2 { // value and metadata
			c, err := newNode(schema.Of(schema.Binary))
			if err != nil {
				return nil, err
			}
			nd.fields = append(nd.fields, c)
		}
	}
	return nd, err
}

// declare notes the fields of t that are not to be rescued.
func (nd *node) declare(t schema.Type, path string) {
	nd.path = path
	if t.Kind == schema.Struct && nd.known != nil {
		nd.declared = map[string]bool{}
		for _, f := range t.Fields {
			nd.declared[f.Name] = true
			if c := nd.known[f.Name]; c != nil {
				c.declare(f.Type, path+f.Name+".")
			}
		}
	}
	if nd.elem != nil && t.Elem != nil {
		nd.elem.declare(*t.Elem, path)
	}
}

// bind starts writing into v, which is empty.
func (nd *node) bind(v *column.Vector) {
	nd.v, nd.n, nd.children = v, 0, 0
	for i, f := range nd.fields {
		f.bind(v.Children[i])
	}
	switch {
	case nd.key != nil:
		nd.key.bind(v.Children[0])
		nd.elem.bind(v.Children[1])
	case nd.elem != nil:
		nd.elem.bind(v.Children[0])
	}
}

// seek makes nd ready to append row r: nulls are filled in before it, and what
// an earlier key of the same name wrote is taken back.
func (nd *node) seek(r int) {
	switch {
	case nd.n < r:
		nd.fill(r)
	case nd.n > r:
		nd.truncate(r)
	}
}

// fill appends nulls up to row r.
func (nd *node) fill(r int) {
	v, k := nd.v, r-nd.n
	switch nd.phys {
	case column.PhysBool:
		v.Bool = zeros(v.Bool, k)
	case column.PhysI8:
		v.I8 = zeros(v.I8, k)
	case column.PhysI16:
		v.I16 = zeros(v.I16, k)
	case column.PhysI32:
		v.I32 = zeros(v.I32, k)
	case column.PhysI64:
		v.I64 = zeros(v.I64, k)
	case column.PhysI128:
		v.I128 = zeros(v.I128, k)
	case column.PhysF32:
		v.F32 = zeros(v.F32, k)
	case column.PhysF64:
		v.F64 = zeros(v.F64, k)
	case column.PhysBytes, column.PhysList:
		last := v.Offsets[len(v.Offsets)-1]
		for ; k > 0; k-- {
			v.Offsets = append(v.Offsets, last)
		}
	case column.PhysStruct:
		if nd.typ.Kind == schema.CalendarInterval {
			v.Children[0].I32, v.Children[1].I32 = zeros(v.Children[0].I32, k), zeros(v.Children[1].I32, k)
			v.Children[2].I64 = zeros(v.Children[2].I64, k)
			for _, c := range v.Children {
				setNulls(c, nd.n, r)
			}
		}
	}
	if nd.phys != column.PhysNone {
		setNulls(v, nd.n, r)
	}
	nd.n = r
}

func zeros[T any](s []T, k int) []T {
	n := len(s)
	if n+k <= cap(s) {
		s = s[:n+k]
		clear(s[n:])
		return s
	}
	return append(s, make([]T, k)...)
}

// setNulls marks the rows [from, to) null.
func setNulls(v *column.Vector, from, to int) {
	if from == to {
		return
	}
	if len(v.Nulls)*64 < to {
		v.SetNull(to - 1)
	}
	for w := from >> 6; w <= (to-1)>>6; w++ {
		m := ^uint64(0)
		if w == from>>6 {
			m <<= uint(from) & 63
		}
		if w == (to-1)>>6 {
			m &= ^uint64(0) >> (63 - uint(to-1)&63)
		}
		v.Nulls[w] |= m
	}
}

// truncate drops the rows from r on.
func (nd *node) truncate(r int) {
	v := nd.v
	v.Nulls.ClearFrom(r)
	for _, f := range nd.fields {
		f.truncate(r)
	}
	if nd.phys == column.PhysList { // of a row that was not ended, too
		nd.cutChildren(int(v.Offsets[min(nd.n, r)]))
	}
	if nd.n <= r {
		return
	}
	nd.n = r
	if nd.phys != column.PhysStruct || nd.typ.Kind == schema.CalendarInterval {
		v.Cut(r)
	}
}

// cutChildren drops the rows of the children of a list from n on.
func (nd *node) cutChildren(n int) {
	nd.children = n
	nd.elem.truncate(n)
	if nd.key != nil {
		nd.key.truncate(n)
	}
}

// finish fills all up to rows and sets the lengths.
func (nd *node) finish(rows int) {
	nd.seek(rows)
	v := nd.v
	v.Len = rows
	if v.Nulls != nil && len(v.Nulls)*64 < rows {
		v.Nulls = v.Nulls.Grow(rows)
	}
	for _, f := range nd.fields {
		f.finish(rows)
	}
	if nd.elem != nil {
		nd.elem.finish(nd.children)
	}
	if nd.key != nil {
		nd.key.finish(nd.children)
	}
	if nd.typ.Kind == schema.CalendarInterval {
		for _, c := range v.Children {
			c.Len = rows
		}
	}
}
