package operator

import (
	"encoding/binary"
	"math"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// keyLayout says how the keys of a table are held: as a fixed number of words
// when every part is a number, else as encoded bytes (see encoding).
//
// Fixed layout: the parts' words in order of the columns (structs flattened),
// then, unless the key is one number of one word, a word with a bit for each
// null.
// Equal keys as GROUP BY sees them (one NaN, one zero, nulls equal) have equal
// words and equal bytes, so both serve as identity and as stored form.
type keyLayout struct {
	types  []schema.Type
	stride int  // words of a key; 0: bytes
	masked bool // the last word is the null mask
	text   bool // bytes: one string or binary column, held as it is
}

const maxKeyWords = 12

func newKeyLayout(types []schema.Type) *keyLayout {
	l := &keyLayout{types: types}
	words, bits, fixed := 0, 0, true
	for _, t := range types {
		fixed = fixed && countWords(t, &words, &bits)
	}
	switch {
	case fixed && words <= maxKeyWords && bits <= 64:
		l.masked = bits != 1 || words > 1
		l.stride = words
		if l.masked {
			l.stride++
		}
	case len(types) == 1 && column.PhysicalOf(types[0]) == column.PhysBytes:
		l.text = true
	}
	return l
}

// countWords adds the words and null bits of t and reports whether it is fixed.
func countWords(t schema.Type, words, bits *int) bool {
	*bits++
	switch ph := column.PhysicalOf(t); ph {
	case column.PhysBytes, column.PhysList:
		return false
	case column.PhysNone:
		return true
	case column.PhysI128:
		*words += 2
		return true
	case column.PhysStruct:
		if t.Kind == schema.Variant {
			return false
		}
		for _, c := range structTypes(t) {
			if !countWords(c, words, bits) {
				return false
			}
		}
		return true
	}
	*words++
	return true
}

// timePlace is where a stored key holds the event time of one of its columns.
type timePlace struct {
	at  int  // offset of the time or the window's end, -1 for no fixed place
	bit uint // of the null mask
	// masked: the key ends with the null mask. Else a null key has no time.
	masked bool
}

// timePlace finds the event time of key column i.
func (l *keyLayout) timePlace(i int) timePlace {
	if l.stride == 0 {
		return timePlace{at: -1}
	}
	words, bits := 0, 0
	for _, t := range l.types[:i] {
		countWords(t, &words, &bits)
	}
	at := 8 * words
	if column.PhysicalOf(l.types[i]) == column.PhysStruct {
		at += 8 // its start comes first
	}
	if !l.masked {
		at++ // one number: a byte says whether it is null
	}
	return timePlace{at, uint(bits), l.masked}
}

// null says whether a stored key has no time.
func (p timePlace) null(key []byte) bool {
	return p.masked && len(key) >= 8 && leUint64(key[len(key)-8:])>>p.bit&1 != 0
}

// set writes the time of a stored key.
func (p timePlace) set(key []byte, t int64) { binary.LittleEndian.PutUint64(key[p.at:], uint64(t)) }

func structTypes(t schema.Type) []schema.Type {
	if t.Kind == schema.CalendarInterval {
		return []schema.Type{schema.Of(schema.Int32), schema.Of(schema.Int32), schema.Of(schema.Int64)}
	}
	out := make([]schema.Type, len(t.Fields))
	for i, f := range t.Fields {
		out[i] = f.Type
	}
	return out
}

// wordWriter fills the words of a batch of fixed keys column by column.
type wordWriter struct {
	l    *keyLayout
	dst  []uint64
	rows []int32
	word int
	bit  int
}

// load writes the keys of rows (one key each) to dst, stride words a key.
func (l *keyLayout) load(keys []*column.Vector, rows []int32, dst []uint64) {
	w := wordWriter{l: l, dst: dst, rows: rows}
	if l.masked {
		for k := range rows {
			dst[k*l.stride+l.stride-1] = 0
		}
	}
	for _, v := range keys {
		w.column(v, rows)
	}
}

// column writes the words of v, of which at[k] is the row of key k.
func (w *wordWriter) column(v *column.Vector, at []int32) {
	bit := w.bit
	w.bit++
	if w.l.masked && (v.HasNulls() || v.Dict != nil) {
		mask := uint64(1) << uint(bit)
		for k, r := range at {
			if v.IsNull(int(r)) {
				w.dst[k*w.l.stride+w.l.stride-1] |= mask
			}
		}
	}
	src := v
	if v.Const || v.Dict != nil {
		src, at = w.place(v, at)
	}
	switch column.PhysicalOf(v.Type) {
	case column.PhysNone:
		return
	case column.PhysStruct:
		for _, c := range src.Children {
			w.column(c, at)
		}
		return
	case column.PhysI128:
		loadWide(w.dst[w.word:], w.l.stride, src, at)
		w.word += 2
	default:
		loadWord(w.dst[w.word:], w.l.stride, src, at)
		w.word++
	}
	w.zeroNulls(v, bit)
}

// zeroNulls clears the words of null values, so that equal keys are equal.
func (w *wordWriter) zeroNulls(v *column.Vector, bit int) {
	if !w.l.masked || !(v.HasNulls() || v.Dict != nil) {
		return
	}
	n := 1
	if column.PhysicalOf(v.Type) == column.PhysI128 {
		n = 2
	}
	s := w.l.stride
	for k := range w.rows {
		if w.dst[k*s+s-1]>>uint(bit)&1 != 0 {
			for i := 1; i <= n; i++ {
				w.dst[k*s+w.word-i] = 0
			}
		}
	}
}

// place resolves constants and dictionaries to a flat vector and its rows.
func (w *wordWriter) place(v *column.Vector, at []int32) (*column.Vector, []int32) {
	pos := make([]int32, len(at))
	if v.Dict == nil {
		return v, pos
	}
	for k, r := range at {
		if !v.Nulls.Get(int(r)) {
			pos[k] = v.Index[r]
		}
	}
	if v.Dict.Len == 0 {
		d := column.New(v.Type)
		d.AppendNull()
		return d, pos
	}
	return v.Dict, pos
}

func loadInts[T int8 | int16 | int32 | int64](dst []uint64, stride int, src []T, at []int32) {
	for k, r := range at {
		dst[k*stride] = uint64(int64(src[r]))
	}
}

func loadWord(dst []uint64, stride int, v *column.Vector, at []int32) {
	switch column.PhysicalOf(v.Type) {
	case column.PhysI64:
		loadInts(dst, stride, v.I64, at)
	case column.PhysI32:
		loadInts(dst, stride, v.I32, at)
	case column.PhysI16:
		loadInts(dst, stride, v.I16, at)
	case column.PhysI8:
		loadInts(dst, stride, v.I8, at)
	case column.PhysBool:
		for k, r := range at {
			dst[k*stride] = 0
			if v.Bool[r] {
				dst[k*stride] = 1
			}
		}
	case column.PhysF32:
		for k, r := range at {
			dst[k*stride] = floatWord(float64(v.F32[r]))
		}
	case column.PhysF64:
		for k, r := range at {
			dst[k*stride] = floatWord(v.F64[r])
		}
	}
}

func loadWide(dst []uint64, stride int, v *column.Vector, at []int32) {
	for k, r := range at {
		x := v.I128[r]
		dst[k*stride], dst[k*stride+1] = uint64(x.Hi), x.Lo
	}
}

// floatWord gives equal words to floats that GROUP BY takes as equal.
func floatWord(x float64) uint64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}

// wordReader appends decoded fixed keys to columns.
type wordReader struct {
	l    *keyLayout
	src  []uint64 // keys one after another
	word int
	bit  int
}

// unload appends the fixed keys in src to out, one vector a column.
func (l *keyLayout) unload(src []uint64, out []*column.Vector) {
	r := wordReader{l: l, src: src}
	for _, v := range out {
		r.column(v)
	}
}

func (r *wordReader) column(v *column.Vector) {
	bit, s, base := r.bit, r.l.stride, v.Len
	n := len(r.src) / s
	r.bit++
	switch column.PhysicalOf(v.Type) {
	case column.PhysNone:
		for range n {
			v.AppendNull()
		}
		return
	case column.PhysStruct:
		for _, c := range v.Children {
			r.column(c)
		}
	case column.PhysI128:
		for k := range n {
			v.I128 = append(v.I128, column.Int128{Hi: int64(r.src[k*s+r.word]), Lo: r.src[k*s+r.word+1]})
		}
		r.word += 2
	default:
		unloadWord(v, r.src[r.word:], s, n)
		r.word++
	}
	v.Len = base + n
	if !r.l.masked {
		return
	}
	for k := range n {
		if r.src[k*s+s-1]>>uint(bit)&1 != 0 {
			v.SetNull(base + k)
		}
	}
}

func unloadInts[T int8 | int16 | int32 | int64](dst []T, src []uint64, stride, n int) []T {
	for k := range n {
		dst = append(dst, T(src[k*stride]))
	}
	return dst
}

func unloadWord(v *column.Vector, src []uint64, stride, n int) {
	switch column.PhysicalOf(v.Type) {
	case column.PhysI64:
		v.I64 = unloadInts(v.I64, src, stride, n)
	case column.PhysI32:
		v.I32 = unloadInts(v.I32, src, stride, n)
	case column.PhysI16:
		v.I16 = unloadInts(v.I16, src, stride, n)
	case column.PhysI8:
		v.I8 = unloadInts(v.I8, src, stride, n)
	case column.PhysBool:
		for k := range n {
			v.Bool = append(v.Bool, src[k*stride] != 0)
		}
	case column.PhysF32:
		for k := range n {
			v.F32 = append(v.F32, float32(math.Float64frombits(src[k*stride])))
		}
	case column.PhysF64:
		for k := range n {
			v.F64 = append(v.F64, math.Float64frombits(src[k*stride]))
		}
	}
}

// appendWords appends the stored form of a fixed key.
func appendWords(dst []byte, words []uint64) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}
