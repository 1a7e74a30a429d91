package parquet

import (
	"bytes"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// fileTerm is a term tied to a column of the file.
type fileTerm struct {
	op    format.TermOp
	value *column.Vector
	leaf  *leafReader // converts bounds to the term's type; reads nothing else
	// ours says that bounds are absent where a NaN was met, and null counts
	// present.
	ours bool
	// untrusted says that the bounds of this column are not used.
	untrusted bool
}

// ownFile reports whether our writer made the file.
func (f *file) ownFile() bool { return strings.HasPrefix(f.meta.CreatedBy, "pipelines version ") }

// terms ties the terms to columns; those that no statistics can decide are
// left out.
func (s *resolver) terms(terms []format.Term) []fileTerm {
	var out []fileTerm
	for _, t := range terms {
		n := s.f.root
		for _, name := range t.Path {
			if n.elemRep > 0 {
				n = nil
			} else {
				n, _ = s.find(n, name)
			}
			if n == nil {
				break
			}
		}
		if n == nil || n.leaf == nil || n.rep > 0 || n.err != nil {
			continue
		}
		ft := fileTerm{op: t.Op, value: t.Value, ours: s.f.ownFile(), leaf: &leafReader{f: s.f, node: n}}
		ft.untrusted = s.f.untrusted(n)
		if t.Op != format.IsNull && t.Op != format.IsNotNull {
			if t.Value == nil || t.Value.IsNull(0) || t.Value.Dict != nil {
				continue
			}
			emit, err := emitterFor(n, t.Value.Type)
			if err != nil {
				continue
			}
			ft.leaf.emit = emit
		}
		out = append(out, ft)
	}
	return out
}

// untrusted reports columns whose bounds are known to be wrong or without
// order: INT96, the wide decimals of parquet-go, which compares them unsigned,
// and timestamps of another calendar, which cross over just before 1900 in some
// zones.
func (f *file) untrusted(n *fileNode) bool {
	if n.leaf.calendar != nil && n.typ.Kind == schema.Timestamp {
		return true
	}
	e := n.leaf.elem
	_, _, decimal := decimalOf(e)
	bytes := e.Type.V == pqformat.ByteArray || e.Type.V == pqformat.FixedLenByteArray
	return e.Type.V == pqformat.Int96 || bytes && decimal && strings.Contains(f.meta.CreatedBy, "parquet-go")
}

// bound decodes a bound into a one-row vector of the term's type; nil when
// there is none.
func (t *fileTerm) bound(b []byte) *column.Vector {
	l := t.leaf
	e := l.node.leaf.elem
	size := fixedSize(e)
	switch {
	case b == nil, size > 0 && len(b) != size, e.Type.V == pqformat.Boolean && len(b) != 1:
		return nil
	case e.Type.V == pqformat.ByteArray:
		l.vals.n, l.vals.idx = 1, nil
		l.vals.offsets, l.vals.data = append(l.vals.offsets[:0], 0, uint32(len(b))), b
	default:
		if l.vals.decode(e, pqformat.Plain, b, 1) != nil {
			return nil
		}
	}
	l.dst = column.New(t.value.Type)
	if l.emit(l, 0, 1) != nil {
		return nil
	}
	l.dst.Len = 1
	return l.dst
}

// mayMatch reports whether a value between the encoded bounds can satisfy the
// comparison.
func (t *fileTerm) mayMatch(lo, hi []byte) bool {
	low, high := t.bound(lo), t.bound(hi)
	if low == nil || high == nil {
		return true
	}
	if t.value.Type.IsFloat() {
		l, h, v := floatAt(low), floatAt(high), floatAt(t.value)
		nan := l != l || h != h || v != v
		if nan || !t.ours && (t.op == format.Greater || t.op == format.GreaterEqual) {
			return true // a NaN, which is greater than all, may hide outside the bounds
		}
	}
	vl, vh := compareRows(t.value, low), compareRows(t.value, high)
	switch t.op {
	case format.Equal:
		return vl >= 0 && vh <= 0
	case format.Less:
		return vl > 0
	case format.LessEqual:
		return vl >= 0
	case format.Greater:
		return vh < 0
	case format.GreaterEqual:
		return vh <= 0
	}
	return true
}

func floatAt(v *column.Vector) float64 {
	if v.Type.Kind == schema.Float32 {
		return float64(v.F32[0])
	}
	return v.F64[0]
}

// compareRows compares row 0 of two vectors of the same type.
func compareRows(a, b *column.Vector) int {
	switch column.PhysicalOf(a.Type) {
	case column.PhysBool:
		switch {
		case a.Bool[0] == b.Bool[0]:
			return 0
		case b.Bool[0]:
			return -1
		}
		return 1
	case column.PhysI8:
		return int(a.I8[0]) - int(b.I8[0])
	case column.PhysI16:
		return int(a.I16[0]) - int(b.I16[0])
	case column.PhysI32:
		return order(a.I32[0], b.I32[0])
	case column.PhysI64:
		return order(a.I64[0], b.I64[0])
	case column.PhysI128:
		return a.I128[0].Cmp(b.I128[0])
	case column.PhysF32:
		return order(a.F32[0], b.F32[0])
	case column.PhysF64:
		return order(a.F64[0], b.F64[0])
	}
	return bytes.Compare(a.Str(0), b.Str(0))
}

// order compares two numbers, neither a NaN; -0.0 equals 0.0.
func order[T int32 | int64 | float32 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// prune returns the rows of g that may match all terms.
func (s *scanner) prune(g *pqformat.RowGroup) []rowRange {
	if g.NumRows == 0 {
		return nil
	}
	ranges := []rowRange{{0, g.NumRows}}
	for i := range s.terms {
		t := &s.terms[i]
		c := &g.Columns[t.leaf.node.leaf.column]
		if !t.groupMayMatch(&c.MetaData, len(s.f.meta.ColumnOrders) > 0) {
			return nil
		}
		if c.ColumnIndexLength > 0 && c.OffsetIndexLength > 0 {
			ranges = intersect(ranges, t.pages(s.f, c, g.NumRows))
		}
	}
	return ranges
}

// groupMayMatch looks at the statistics of the chunk.
func (t *fileTerm) groupMayMatch(m *pqformat.ColumnMetaData, ordered bool) bool {
	st := &m.Statistics
	if t.op == format.IsNull {
		return !(t.ours && st.NullCount == 0 || t.leaf.node.def == 0)
	}
	if m.NumValues > 0 && st.NullCount == m.NumValues {
		return false
	}
	if t.op == format.IsNotNull || t.untrusted {
		return true
	}
	lo, hi := t.statistics(m, ordered)
	return t.mayMatch(lo, hi)
}

func (t *fileTerm) unsigned() bool {
	e := t.leaf.node.leaf.elem
	if i, ok := e.LogicalType.Value.(*pqformat.IntType); ok {
		return !i.IsSigned
	}
	c := e.ConvertedType
	return c.Valid && c.V >= deprecated.Uint8 && c.V <= deprecated.Uint64
}

// pages returns the rows whose pages may match, by the page index; all rows
// when the index says nothing or is malformed.
func (t *fileTerm) pages(f *file, c *pqformat.ColumnChunk, rows int64) []rowRange {
	all := []rowRange{{0, rows}}
	var index pqformat.ColumnIndex
	var places pqformat.OffsetIndex
	if t.untrusted || !f.index(c.ColumnIndexOffset, c.ColumnIndexLength, &index) ||
		!f.index(c.OffsetIndexOffset, c.OffsetIndexLength, &places) {
		return all
	}
	n := len(places.PageLocations)
	if len(index.NullPages) != n || len(index.MinValues) != n || len(index.MaxValues) != n {
		return all
	}
	counts := len(index.NullCounts) == n
	var out []rowRange
	for i := range n {
		r := rowRange{places.PageLocations[i].FirstRowIndex, rows}
		if i+1 < n {
			r.to = places.PageLocations[i+1].FirstRowIndex
		}
		if r.from < 0 || r.to < r.from || r.to > rows || i == 0 && r.from != 0 {
			return all
		}
		var match bool
		switch t.op {
		case format.IsNull:
			match = index.NullPages[i] || !counts || index.NullCounts[i] > 0
		case format.IsNotNull:
			match = !index.NullPages[i]
		default:
			match = !index.NullPages[i] && t.mayMatch(index.MinValues[i], index.MaxValues[i])
		}
		if !match || r.from == r.to {
			continue
		}
		if k := len(out); k > 0 && out[k-1].to == r.from {
			out[k-1].to = r.to
			continue
		}
		out = append(out, r)
	}
	return out
}

// index reads a part of the page index; false when it is not usable.
func (f *file) index(off int64, length int32, into any) (ok bool) {
	defer func() {
		if recover() != nil { // of the library that decodes it
			ok = false
		}
	}()
	if off < 4 || length > 64<<20 || off+int64(length) > f.size {
		return false
	}
	w := window{f: f, end: off + int64(length)}
	b, err := w.fetch(off, int64(length))
	if err != nil || checkThrift(b) != nil {
		return false
	}
	return thrift.Unmarshal(&thrift.CompactProtocol{}, b, into) == nil
}

// intersect returns the rows that are in both lists, which are ascending.
func intersect(a, b []rowRange) []rowRange {
	var out []rowRange
	for len(a) > 0 && len(b) > 0 {
		from, to := max(a[0].from, b[0].from), min(a[0].to, b[0].to)
		if from < to {
			out = append(out, rowRange{from, to})
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}
