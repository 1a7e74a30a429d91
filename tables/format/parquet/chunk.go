package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
)

const (
	// maxPageValues bounds what one page may hold: one run can stand for any
	// number of values.
	maxPageValues = 1 << 26
	// maxDictVector is the greatest dictionary that is handed on as such.
	maxDictVector = column.BatchRows
)

var errChecksum = errors.New("a page does not match its checksum")

// leafReader reads one column of the file, row group by row group.
type leafReader struct {
	f     *file
	node  *fileNode
	codec *codec
	pool  *column.Pool
	// emit converts physical values and appends them to dst; nil when only the
	// levels are wanted.
	emit emitter
	// asDict allows dst to become a dictionary vector.
	asDict bool
	verify bool // page checksums

	win     window
	meta    *pqformat.ColumnMetaData
	pos     int64
	left    int64 // levels of the chunk behind the current page
	dict    values
	hasDict bool
	dictVec *column.Vector

	page    pageHeader
	entries int // levels of the page
	at      int // levels consumed
	valueAt int // values consumed
	present bool
	defs    []byte
	reps    []byte
	vals    values
	raw     []byte

	// the batch in the making
	dst   *column.Vector
	bdefs []byte
	breps []byte
}

// open starts the column chunk of a row group.
func (r *leafReader) open(c *pqformat.ColumnChunk) error {
	m := &c.MetaData
	if c.FilePath != "" {
		return r.f.corruptf("column %s lies in another file", r.node.name)
	}
	if m.Type != r.node.leaf.elem.Type.V {
		return r.f.corruptf("column %s: %s in its chunk, %s in the schema", r.node.name, m.Type, r.node.leaf.elem.Type.V)
	}
	start := m.DataPageOffset
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < start {
		start = m.DictionaryPageOffset
	}
	end := start + m.TotalCompressedSize
	if start < 4 || m.TotalCompressedSize < 0 || end > r.f.size || end < start || m.NumValues < 0 {
		return r.f.corruptf("column %s: chunk out of the file", r.node.name)
	}
	r.closeChunk()
	r.meta, r.pos, r.left, r.hasDict = m, start, m.NumValues, false
	r.win.f, r.win.end = r.f, end
	r.entries, r.at = 0, 0
	return nil
}

func (r *leafReader) closeChunk() {
	if r.dictVec != nil {
		r.dictVec.Release()
		r.dictVec = nil
	}
}

// header reads the next page header.
func (r *leafReader) header() error {
	for size := int64(256); ; size *= 16 {
		size = min(size, r.win.end-r.pos)
		b, err := r.win.fetch(r.pos, size)
		if err != nil {
			return err
		}
		n := readPageHeader(b, &r.page)
		if n > 0 {
			r.pos += int64(n)
			break
		}
		if size == r.win.end-r.pos || size > 16<<20 {
			return r.f.corruptf("column %s: malformed page header", r.node.name)
		}
	}
	if r.page.compressed < 0 || r.page.uncompressed < 0 || r.page.values < 0 || r.pos+int64(r.page.compressed) > r.win.end {
		return r.f.corruptf("column %s: malformed page header", r.node.name)
	}
	return nil
}

// nextPage loads the next data page. A page of at most skip rows is passed over
// without decoding when the column has no repetition; its rows are returned.
func (r *leafReader) nextPage(skip int) (int, error) {
	for {
		if r.left <= 0 {
			return 0, r.f.corruptf("column %s ends too early", r.node.name)
		}
		if err := r.header(); err != nil {
			return 0, err
		}
		body := r.pos
		r.pos += int64(r.page.compressed)
		var err error
		switch r.page.kind {
		case pqformat.DictionaryPage:
			err = r.loadDict(body)
		case pqformat.DataPage, pqformat.DataPageV2:
			n := int(r.page.values)
			if int64(n) > r.left || n > maxPageValues {
				err = fmt.Errorf("a page of %d values, %d are left", n, r.left)
				break
			}
			if n == 0 {
				continue
			}
			r.left -= int64(n)
			if r.node.rep == 0 && n <= skip {
				return n, nil
			}
			if err = r.loadPage(body); err == nil {
				return 0, nil
			}
		}
		if err != nil {
			return 0, r.f.corrupt(fmt.Errorf("column %s: %w", r.node.name, err))
		}
	}
}

// body returns the stored bytes of the page at off, checked by their checksum.
func (r *leafReader) body(off int64) ([]byte, error) {
	b, err := r.win.fetch(off, int64(r.page.compressed))
	if err == nil && r.page.hasCRC && r.verify && crc32.ChecksumIEEE(b) != uint32(r.page.crc) {
		err = errChecksum
	}
	return b, err
}

func (r *leafReader) loadDict(body int64) error {
	b, err := r.body(body)
	if err != nil {
		return err
	}
	if r.page.values > maxPageValues {
		return errValues
	}
	if r.raw, err = r.inflate(r.raw, b, int(r.page.uncompressed)); err != nil {
		return err
	}
	if err := r.dict.decode(r.node.leaf.elem, pqformat.Plain, r.raw, int(r.page.values)); err != nil {
		return err
	}
	if len(r.dict.fixed) > 0 {
		r.dict.store = append(r.dict.store[:0], r.dict.fixed...)
		r.dict.fixed = r.dict.store
	}
	r.hasDict = true
	return nil
}

// inflate decompresses into dst, which is own storage even when the chunk is
// not compressed.
func (r *leafReader) inflate(dst, b []byte, size int) ([]byte, error) {
	if r.meta.Codec == pqformat.Uncompressed {
		if len(b) != size {
			return dst, errPageSize
		}
		return append(dst[:0], b...), nil
	}
	return r.codec.decompress(r.meta.Codec, dst, b, size)
}

// loadPage decodes the levels and values of a data page.
func (r *leafReader) loadPage(body int64) error {
	b, err := r.body(body)
	if err != nil {
		return err
	}
	r.entries, r.at, r.valueAt = int(r.page.values), 0, 0
	var n int
	if r.page.kind == pqformat.DataPage {
		if r.raw, err = r.inflate(r.raw, b, int(r.page.uncompressed)); err != nil {
			return err
		}
		b, n, err = r.levels(r.raw)
	} else {
		b, n, err = r.levelsV2(b)
	}
	if err != nil {
		return err
	}
	switch r.page.encoding {
	case pqformat.RLEDictionary, pqformat.PlainDictionary: //lint:ignore SA1019 old writers use it
		if !r.hasDict {
			return fmt.Errorf("a page refers to a dictionary that is not there")
		}
		return r.vals.indexes(r.node.leaf.elem, b, n, &r.dict)
	}
	return r.vals.decode(r.node.leaf.elem, r.page.encoding, b, n)
}

// levels decodes the levels at the start of a page of version 1 and returns
// the rest and the number of values.
func (r *leafReader) levels(b []byte) (rest []byte, n int, err error) {
	take := func(enc pqformat.Encoding, greatest uint8, isDef bool) error {
		if enc == pqformat.BitPacked {
			levels := sized(r.reps, r.entries)
			if isDef {
				levels = sized(r.defs, r.entries)
				r.defs, r.present = levels, false
			} else {
				r.reps = levels
			}
			b, err = decodeBitPackedLevels(levels, b, bitWidth(uint32(greatest)))
			return err
		}
		if len(b) < 4 {
			return errLevels
		}
		size := binary.LittleEndian.Uint32(b)
		if uint64(size) > uint64(len(b)-4) {
			return errLevels
		}
		part := b[4 : 4+size]
		b = b[4+size:]
		return r.hybridLevels(part, greatest, isDef)
	}
	if r.node.rep > 0 {
		if err := take(r.page.repEncoding, r.node.rep, false); err != nil {
			return nil, 0, err
		}
	}
	r.present = true
	if r.node.def > 0 {
		if err := take(r.page.defEncoding, r.node.def, true); err != nil {
			return nil, 0, err
		}
	}
	n, err = r.checkLevels()
	return b, n, err
}

func (r *leafReader) levelsV2(b []byte) (rest []byte, n int, err error) {
	h := &r.page
	if h.repBytes < 0 || h.defBytes < 0 || int64(h.repBytes)+int64(h.defBytes) > int64(min(len(b), int(h.uncompressed))) {
		return nil, 0, errLevels
	}
	if r.node.rep > 0 {
		if err := r.hybridLevels(b[:h.repBytes], r.node.rep, false); err != nil {
			return nil, 0, err
		}
	}
	r.present = true
	if r.node.def > 0 {
		if err := r.hybridLevels(b[h.repBytes:h.repBytes+h.defBytes], r.node.def, true); err != nil {
			return nil, 0, err
		}
	}
	if n, err = r.checkLevels(); err != nil {
		return nil, 0, err
	}
	b = b[h.repBytes+h.defBytes:]
	if h.raw || r.meta.Codec == pqformat.Uncompressed || len(b) == 0 {
		r.raw = append(r.raw[:0], b...)
		return r.raw, n, nil
	}
	r.raw, err = r.codec.decompress(r.meta.Codec, r.raw, b, int(h.uncompressed-h.repBytes-h.defBytes))
	return r.raw, n, err
}

func (r *leafReader) hybridLevels(b []byte, greatest uint8, isDef bool) error {
	var h hybridReader
	h.reset(b, bitWidth(uint32(greatest)))
	if !isDef {
		r.reps = sized(r.reps, r.entries)
		return fill(&h, r.reps)
	}
	if v, ok := h.wholeRun(r.entries); ok && v == uint32(greatest) {
		r.present = true
		return nil
	}
	r.present = false
	r.defs = sized(r.defs, r.entries)
	return fill(&h, r.defs)
}

// checkLevels checks that no level is beyond the schema's and counts values.
func (r *leafReader) checkLevels() (int, error) {
	if r.node.rep > 0 {
		for _, x := range r.reps {
			if x > r.node.rep {
				return 0, errLevels
			}
		}
	}
	if r.present {
		return r.entries, nil
	}
	n := 0
	for _, x := range r.defs {
		if x > r.node.def {
			return 0, errLevels
		}
		if x == r.node.def {
			n++
		}
	}
	return n, nil
}

// flat reads n rows of a column without nesting into dst.
func (r *leafReader) flat(n int) error {
	dst := r.dst
	dst.Resize(0)
	for got := 0; got < n; {
		if r.at == r.entries {
			if _, err := r.nextPage(0); err != nil {
				return err
			}
		}
		k := min(n-got, r.entries-r.at)
		values := k
		if !r.present {
			values = 0
			for i, d := range r.defs[r.at : r.at+k] {
				if d == r.node.def {
					values++
					continue
				}
				if dst.Nulls == nil {
					dst.MakeNulls(n)
				}
				dst.Nulls.Set(got + i)
			}
		}
		if err := r.emitValues(values); err != nil {
			return err
		}
		r.at += k
		got += k
	}
	finish(dst, n)
	return nil
}

// emitValues appends the next n values of the page to dst.
func (r *leafReader) emitValues(n int) error {
	from := r.valueAt
	r.valueAt += n
	if n == 0 || r.dst == nil || r.emit == nil {
		return nil
	}
	if err := r.emit(r, from, from+n); err != nil {
		return r.f.corrupt(fmt.Errorf("column %s: %w", r.node.name, err))
	}
	return nil
}

// rows reads the levels of n rows into bdefs and breps, and their values, still
// without gaps for nulls, into dst.
func (r *leafReader) rows(n int) error {
	r.bdefs, r.breps = r.bdefs[:0], r.breps[:0]
	if r.dst != nil {
		r.dst.Resize(0)
	}
	for begun := 0; ; {
		if r.at == r.entries {
			if begun == n && (r.left <= 0 || r.node.rep == 0) {
				return nil
			}
			if _, err := r.nextPage(0); err != nil {
				return err
			}
		}
		k := min(n-begun, r.entries-r.at)
		if r.node.rep > 0 {
			if k, begun = rowsEnd(r.reps[r.at:r.entries], begun, n); begun == 0 {
				return r.f.corruptf("column %s does not begin with a row", r.node.name)
			}
			r.breps = append(r.breps, r.reps[r.at:r.at+k]...)
		} else {
			begun += k
		}
		values := k
		if r.present {
			r.bdefs = appendRepeat(r.bdefs, r.node.def, k)
		} else {
			defs := r.defs[r.at : r.at+k]
			r.bdefs = append(r.bdefs, defs...)
			values = 0
			for _, d := range defs {
				if d == r.node.def {
					values++
				}
			}
		}
		if err := r.emitValues(values); err != nil {
			return err
		}
		r.at += k
		if r.at < r.entries || r.node.rep == 0 && begun == n {
			return nil
		}
	}
}

// rowsEnd returns how many of the levels belong to rows up to the n-th, and
// how many rows have begun then.
func rowsEnd(reps []byte, begun, n int) (levels, rows int) {
	for i, x := range reps {
		if x == 0 {
			if begun == n {
				return i, begun
			}
			begun++
		}
		if begun == 0 {
			return 0, 0
		}
	}
	return len(reps), begun
}

// skip passes over n rows.
func (r *leafReader) skip(n int) error {
	if r.node.rep > 0 {
		dst := r.dst
		r.dst = nil
		err := r.rows(n)
		r.dst = dst
		return err
	}
	for n > 0 {
		if r.at == r.entries {
			k, err := r.nextPage(n)
			if err != nil {
				return err
			}
			n -= k
			continue
		}
		k := min(n, r.entries-r.at)
		if r.present {
			r.valueAt += k
		} else {
			for _, d := range r.defs[r.at : r.at+k] {
				if d == r.node.def {
					r.valueAt++
				}
			}
		}
		r.at += k
		n -= k
	}
	return nil
}

// dictVector returns the dictionary of the chunk as a vector.
func (r *leafReader) dictVector() *column.Vector {
	if r.dictVec == nil {
		v := r.pool.Vector(r.dst.Type)
		v.Bytes = append(v.Bytes, r.dict.data...)
		for _, o := range r.dict.offsets[1:] {
			v.Offsets = append(v.Offsets, int32(o))
		}
		v.Len = r.dict.n
		r.dictVec = v
	}
	return r.dictVec
}

// finish turns the values in dst, which stand without gaps, into n rows by its
// null bitmap.
func finish(dst *column.Vector, n int) {
	dst.Len = n
	if dst.Nulls == nil {
		return
	}
	if dst.Dict != nil {
		dst.Index = spread(dst.Index, dst.Nulls, n)
		return
	}
	switch column.PhysicalOf(dst.Type) {
	case column.PhysBool:
		dst.Bool = spread(dst.Bool, dst.Nulls, n)
	case column.PhysI8:
		dst.I8 = spread(dst.I8, dst.Nulls, n)
	case column.PhysI16:
		dst.I16 = spread(dst.I16, dst.Nulls, n)
	case column.PhysI32:
		dst.I32 = spread(dst.I32, dst.Nulls, n)
	case column.PhysI64:
		dst.I64 = spread(dst.I64, dst.Nulls, n)
	case column.PhysI128:
		dst.I128 = spread(dst.I128, dst.Nulls, n)
	case column.PhysF32:
		dst.F32 = spread(dst.F32, dst.Nulls, n)
	case column.PhysF64:
		dst.F64 = spread(dst.F64, dst.Nulls, n)
	case column.PhysBytes:
		m := len(dst.Offsets) - 1
		dst.Offsets = slices.Grow(dst.Offsets, n-m)[:n+1]
		for i := n; i > 0; i-- {
			dst.Offsets[i] = dst.Offsets[m]
			if !dst.Nulls.Get(i - 1) {
				m--
			}
		}
	}
}

// spread moves the values of s apart to n rows, zeros where nulls.
func spread[T any](s []T, nulls column.Bits, n int) []T {
	m := len(s)
	s = slices.Grow(s, n-m)[:n]
	var zero T
	for i := n - 1; i >= 0; i-- {
		if nulls.Get(i) {
			s[i] = zero
			continue
		}
		m--
		s[i] = s[m]
	}
	return s
}
