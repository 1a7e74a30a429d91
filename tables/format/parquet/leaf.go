package parquet

import (
	"bytes"
	"encoding/binary"
	"slices"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// leaf collects one leaf column of the current row group: the values of the
// page in the making as typed slices, the finished pages as bytes.
type leaf struct {
	typ      schema.Type
	phys     pqformat.Type
	size     int // FIXED_LEN_BYTE_ARRAY
	def, rep uint8
	path     []string

	*leafBuffers
	useDict bool // string values go through the dictionary

	// the page in the making
	entries int // levels: values, nulls and empty lists
	nulls   int
	rows    int64 // rows of the row group before this page

	str        strBounds // plain strings of the page
	pages      []pageInfo
	plainPages int
	deltaPages int
	dictPages  int
	values     int64 // levels in the row group
	raw        int64 // uncompressed bytes of finished pages, with headers
	codec      pqformat.CompressionCodec
	codecSet   bool
	chunk      bounds
	file       bounds // over row groups
	chunkNulls int64
	fileNulls  int64
}

// leafBuffers is the recycled storage of a leaf.
type leafBuffers struct {
	defs []byte // empty while all entries of the page are present
	reps []byte

	bools []bool
	i32   []int32
	i64   []int64
	i128  []column.Int128
	f32   []float32
	f64   []float64
	plain []byte   // PLAIN byte arrays
	idx   []uint32 // dictionary indexes
	dict  *dictionary

	out pageBlocks // finished pages
}

// pageInfo describes a finished page for the page index.
type pageInfo struct {
	offset, size int // in leafBuffers.out
	firstRow     int64
	nulls        int
	empty        bool // nulls only
	bounds       bounds
}

func (b *leafBuffers) clearPage() {
	b.defs, b.reps = b.defs[:0], b.reps[:0]
	b.bools, b.i32, b.i64, b.i128 = b.bools[:0], b.i32[:0], b.i64[:0], b.i128[:0]
	b.f32, b.f64, b.plain, b.idx = b.f32[:0], b.f64[:0], b.plain[:0], b.idx[:0]
}

// pending estimates the bytes of the page in the making.
func (l *leaf) pending() int {
	return len(l.defs)/8 + len(l.reps)/8 + len(l.bools)/8 + 4*len(l.i32) + 8*len(l.i64) + 16*len(l.i128) +
		4*len(l.f32) + 8*len(l.f64) + len(l.plain) + 2*len(l.idx)
}

// present counts n entries with a value in a column without repetition.
func (l *leaf) present(n int) {
	if len(l.defs) > 0 {
		l.defs = appendRepeat(l.defs, l.def, n)
	}
	l.entries += n
}

// level adds one entry of a nested or nullable column.
func (l *leaf) level(rep, def uint8) {
	if def < l.def {
		l.missing(def)
	} else {
		l.present(1)
	}
	if l.rep > 0 {
		l.reps = append(l.reps, rep)
	}
}

// missing adds one entry without value.
func (l *leaf) missing(def uint8) {
	if len(l.defs) == 0 && l.entries > 0 {
		l.defs = appendRepeat(l.defs, l.def, l.entries)
	}
	l.defs = append(l.defs, def)
	l.entries++
	l.nulls++
}

func appendRepeat(dst []byte, v byte, n int) []byte {
	dst = slices.Grow(dst, n)
	at := len(dst)
	dst = dst[:at+n]
	for i := at; i < at+n; i++ {
		dst[i] = v
	}
	return dst
}

// gather appends src[from:to], or the rows of src when rows is not nil.
func gather[T any](dst, src []T, s span) []T {
	if s.rows == nil {
		return append(dst, src[s.from:s.to]...)
	}
	for _, r := range s.rows {
		dst = append(dst, src[r])
	}
	return dst
}

// gatherInt is gather with a change of width.
func gatherInt[D, S int8 | int16 | int32 | int64](dst []D, src []S, s span) []D {
	if s.rows == nil {
		for _, v := range src[s.from:s.to] {
			dst = append(dst, D(v))
		}
		return dst
	}
	for _, r := range s.rows {
		dst = append(dst, D(src[r]))
	}
	return dst
}

// add appends the payload of v at the rows of s, none of which is null; v is
// flat.
func (l *leaf) add(v *column.Vector, s span) {
	switch column.PhysicalOf(l.typ) {
	case column.PhysBool:
		l.bools = gather(l.bools, v.Bool, s)
	case column.PhysI8:
		l.i32 = gatherInt(l.i32, v.I8, s)
	case column.PhysI16:
		l.i32 = gatherInt(l.i32, v.I16, s)
	case column.PhysI32:
		l.i32 = gather(l.i32, v.I32, s)
	case column.PhysI64:
		if l.phys == pqformat.Int32 { // DECIMAL up to 9 digits
			l.i32 = gatherInt(l.i32, v.I64, s)
		} else {
			l.i64 = gather(l.i64, v.I64, s)
		}
	case column.PhysI128:
		l.i128 = gather(l.i128, v.I128, s)
	case column.PhysF32:
		l.f32 = gather(l.f32, v.F32, s)
	case column.PhysF64:
		l.f64 = gather(l.f64, v.F64, s)
	case column.PhysBytes:
		if l.useDict {
			l.addDict(v, s)
		} else {
			l.addPlain(v, s)
		}
	}
}

// addPlain appends strings in PLAIN form, and their bounds.
func (l *leaf) addPlain(v *column.Vector, s span) {
	for i, n := 0, s.len(); i < n; i++ {
		r := s.at(i)
		str := v.Bytes[v.Offsets[r]:v.Offsets[r+1]]
		l.plain = binary.LittleEndian.AppendUint32(l.plain, uint32(len(str)))
		l.plain = append(l.plain, str...)
		l.str.add(str)
	}
}

// addDict appends dictionary indexes; when the dictionary does not pay it goes
// over to plain values.
func (l *leaf) addDict(v *column.Vector, s span) {
	d := l.dict
	n := s.len()
	for i := range n {
		r := s.at(i)
		l.idx = append(l.idx, d.index(v.Bytes[v.Offsets[r]:v.Offsets[r+1]]))
	}
	d.seen += n
	if d.pays() {
		return
	}
	l.undoDict()
}

// addRemapped is addDict for a dictionary vector: each entry is looked up once.
func (l *leaf) addRemapped(v *column.Vector, s span) {
	d := l.dict
	d.remap = d.remap[:0]
	for range v.Dict.Len {
		d.remap = append(d.remap, 0)
	}
	n := s.len()
	for i := range n {
		e := v.Index[s.at(i)]
		x := d.remap[e]
		if x == 0 {
			x = d.index(v.Dict.Str(int(e))) + 1
			d.remap[e] = x
		}
		l.idx = append(l.idx, x-1)
	}
	d.seen += n
	if !d.pays() {
		l.undoDict()
	}
}

// undoDict turns the page in the making to PLAIN and lets the dictionary rest
// for the values to come; finished pages still refer to it.
func (l *leaf) undoDict() {
	for _, x := range l.idx {
		str := l.dict.entry(x)
		l.plain = binary.LittleEndian.AppendUint32(l.plain, uint32(len(str)))
		l.plain = append(l.plain, str...)
		l.str.add(str)
	}
	l.idx = l.idx[:0]
	l.useDict = false
}

// strBounds keeps the least and greatest of many strings; the eight leading
// bytes decide nearly always.
type strBounds struct {
	any      bool
	lo, hi   uint64
	least    []byte
	greatest []byte
}

func prefix(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var p uint64
	for i, c := range s {
		p |= uint64(c) << (56 - 8*i)
	}
	return p
}

func (b *strBounds) add(s []byte) {
	p := prefix(s)
	if !b.any {
		b.any, b.lo, b.hi = true, p, p
		b.least, b.greatest = append(b.least[:0], s...), append(b.greatest[:0], s...)
		return
	}
	if p <= b.lo && (p < b.lo || bytes.Compare(s, b.least) < 0) {
		b.lo, b.least = p, append(b.least[:0], s...)
	}
	if p >= b.hi && (p > b.hi || bytes.Compare(s, b.greatest) > 0) {
		b.hi, b.greatest = p, append(b.greatest[:0], s...)
	}
}
