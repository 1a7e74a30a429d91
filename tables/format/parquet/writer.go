package parquet

import (
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

const (
	magic = "PAR1"
	// stepRows is how many rows are added before page sizes are looked at.
	stepRows = 2048
	// createdBy is in the form that readers parse for known faults.
	createdBy = "pipelines version 1.0.0 (build 1)"
)

// writer writes one file.
type writer struct {
	w      io.Writer
	spec   format.WriteSpec
	pools  *pools
	cols   []*node // nil for VOID columns
	leaves []*leaf
	meta   pqformat.FileMetaData
	*workspace

	groupBytes int64 // size of a row group before compression
	offset     int64 // bytes written
	rows       int64 // of the row group in the making
	pages      [][][]pageInfo
	closed     bool
}

// newWriter builds the columns of the file and writes its head.
func newWriter(w io.Writer, spec format.WriteSpec, o writeOptions) (*writer, error) {
	b := treeBuilder{}
	root := b.group("spark_schema", pqformat.Required, 0)
	root.RepetitionType = thrift.Null[pqformat.FieldRepetitionType]{}
	out := &writer{w: w, spec: spec, pools: o.pools, groupBytes: o.groupBytes}
	stored := int32(0)
	for _, f := range spec.Schema.Fields {
		if f.Type.Kind == schema.Void {
			out.cols = append(out.cols, nil)
			continue
		}
		n, err := b.build(f.Name, f.Type, &node{}, false)
		if err != nil {
			return nil, err
		}
		out.cols = append(out.cols, n)
		stored++
	}
	b.elements[0].NumChildren = thrift.New(stored)
	out.leaves = b.leaves
	for _, l := range out.leaves {
		l.leafBuffers = o.pools.buffers()
		out.startDict(l)
	}
	out.workspace = o.pools.workspace(o.codec)
	out.meta = pqformat.FileMetaData{Version: 1, Schema: b.elements, CreatedBy: createdBy, RowGroups: []pqformat.RowGroup{}}
	for range out.leaves {
		out.meta.ColumnOrders = append(out.meta.ColumnOrders, pqformat.ColumnOrder{Value: &pqformat.TypeDefinedOrder{}})
	}
	return out, out.write([]byte(magic))
}

// startDict readies the leaf for a row group.
func (w *writer) startDict(l *leaf) {
	l.useDict = column.PhysicalOf(l.typ) == column.PhysBytes
	if !l.useDict {
		return
	}
	if l.dict == nil {
		l.dict = newDictionary()
	}
	l.dict.reset()
}

func (w *writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.offset += int64(n)
	if err != nil {
		return fmt.Errorf("parquet: writing: %w", err)
	}
	return nil
}

// Write adds the selected rows of b.
func (w *writer) Write(b *column.Batch) error {
	if len(b.Cols) != len(w.cols) {
		panic(fmt.Sprintf("bug: parquet: batch of %d columns for a schema of %d", len(b.Cols), len(w.cols)))
	}
	n := b.Rows()
	for from := 0; from < n; from += stepRows {
		to := min(n, from+stepRows)
		s := span{from: from, to: to}
		if b.Sel != nil {
			s = span{rows: b.Sel[from:to]}
		}
		if err := w.add(b, s); err != nil {
			return err
		}
	}
	return nil
}

// add adds at most stepRows rows and ends what became full.
func (w *writer) add(b *column.Batch, s span) error {
	for i, n := range w.cols {
		if n == nil {
			continue
		}
		if err := w.shred.column(n, b.Cols[i], s); err != nil {
			return err
		}
	}
	w.rows += int64(s.len())
	size := int64(0)
	for _, l := range w.leaves {
		if l.full() {
			if err := w.maker.flush(l, w.rows); err != nil {
				return err
			}
		}
		size += l.raw + int64(l.pending())
	}
	if size >= w.groupBytes {
		return w.endGroup()
	}
	return nil
}

// Size estimates the size of the file so far.
func (w *writer) Size() int64 {
	size := w.offset
	for _, l := range w.leaves {
		size += int64(l.out.size + l.pending())
		if l.useDict {
			size += int64(len(l.dict.bytes))
		}
	}
	return size
}

// endGroup writes the row group in the making.
func (w *writer) endGroup() error {
	if w.rows == 0 {
		return nil
	}
	g := pqformat.RowGroup{
		Columns: make([]pqformat.ColumnChunk, len(w.leaves)),
		NumRows: w.rows, FileOffset: w.offset, Ordinal: int16(len(w.meta.RowGroups)),
	}
	pages := make([][]pageInfo, len(w.leaves))
	for i, l := range w.leaves {
		if err := w.endChunk(l, &g.Columns[i]); err != nil {
			return err
		}
		m := &g.Columns[i].MetaData
		g.TotalByteSize += m.TotalUncompressedSize
		g.TotalCompressedSize += m.TotalCompressedSize
		if len(l.pages) > 1 {
			pages[i] = slices.Clone(l.pages)
			for k := range pages[i] {
				pages[i][k].offset += int(m.DataPageOffset)
			}
		}
		w.resetLeaf(l)
	}
	w.meta.RowGroups = append(w.meta.RowGroups, g)
	w.meta.NumRows += w.rows
	w.pages = append(w.pages, pages)
	w.rows = 0
	return nil
}

// endChunk writes one column chunk and describes it.
func (w *writer) endChunk(l *leaf, c *pqformat.ColumnChunk) error {
	if err := w.maker.flush(l, w.rows); err != nil {
		return err
	}
	c.FileOffset = w.offset
	m := &c.MetaData
	*m = pqformat.ColumnMetaData{Type: l.phys, PathInSchema: l.path, Codec: l.codec, NumValues: l.values}
	m.Encoding = append(m.Encoding, pqformat.RLE)
	if l.dictPages > 0 {
		if err := w.writeDict(l, m); err != nil {
			return err
		}
		m.Encoding = append(m.Encoding, pqformat.Plain, pqformat.RLEDictionary)
		m.EncodingStats = append(m.EncodingStats,
			pqformat.PageEncodingStats{PageType: pqformat.DictionaryPage, Encoding: pqformat.Plain, Count: 1},
			pqformat.PageEncodingStats{PageType: pqformat.DataPage, Encoding: pqformat.RLEDictionary, Count: int32(l.dictPages)})
	}
	count := func(enc pqformat.Encoding, n int) {
		if n == 0 {
			return
		}
		if !slices.Contains(m.Encoding, enc) {
			m.Encoding = append(m.Encoding, enc)
		}
		m.EncodingStats = append(m.EncodingStats,
			pqformat.PageEncodingStats{PageType: pqformat.DataPage, Encoding: enc, Count: int32(n)})
	}
	count(pqformat.Plain, l.plainPages)
	count(pqformat.DeltaBinaryPacked, l.deltaPages)
	m.DataPageOffset = w.offset
	m.TotalUncompressedSize += l.raw
	m.TotalCompressedSize = w.offset - c.FileOffset + int64(l.out.size)
	m.Statistics.NullCount = l.chunkNulls
	if lo, hi, ok := l.encode(&l.chunk); ok {
		m.Statistics.MinValue, m.Statistics.MaxValue = lo, hi
	}
	for _, b := range l.out.used() {
		if err := w.write(b); err != nil {
			return err
		}
	}
	return nil
}

// writeDict writes the dictionary page and merges its entries' bounds.
func (w *writer) writeDict(l *leaf, m *pqformat.ColumnMetaData) error {
	var s strBounds
	for x := range uint32(l.dict.len()) {
		s.add(l.dict.entry(x))
	}
	l.chunk.mergeStr(&s)
	raw := l.dict.appendPlain(w.maker.page[:0])
	w.maker.page = raw
	data := raw
	if l.codec != pqformat.Uncompressed {
		w.maker.packed = w.maker.codec.compress(w.maker.packed[:0], raw)
		data = w.maker.packed
	}
	head := appendDictionaryHeader(nil, len(raw), l.dict.len(), data)
	m.DictionaryPageOffset = w.offset
	m.TotalUncompressedSize = int64(len(head) + len(raw))
	if err := w.write(head); err != nil {
		return err
	}
	return w.write(data)
}

// resetLeaf readies the leaf for the next row group.
func (w *writer) resetLeaf(l *leaf) {
	l.file.merge(&l.chunk, column.PhysicalOf(l.typ))
	l.fileNulls += l.chunkNulls
	l.out.reset()
	l.pages = l.pages[:0]
	l.values, l.raw, l.chunkNulls, l.rows, l.dictPages, l.plainPages, l.deltaPages = 0, 0, 0, 0, 0, 0, 0
	l.chunk = bounds{}
	w.startDict(l)
}

// Close writes the last row group, the page index and the footer.
func (w *writer) Close() (format.FileStats, error) {
	if w.closed {
		panic("bug: parquet: writer closed twice")
	}
	w.closed = true
	defer w.release()
	if err := w.endGroup(); err != nil {
		return format.FileStats{}, err
	}
	if err := w.writeIndexes(); err != nil {
		return format.FileStats{}, err
	}
	foot, err := thrift.Marshal(&thrift.CompactProtocol{}, &w.meta)
	if err != nil {
		return format.FileStats{}, fmt.Errorf("parquet: footer: %w", err)
	}
	foot = append(append(foot, le32(uint32(len(foot)))...), magic...)
	if err := w.write(foot); err != nil {
		return format.FileStats{}, err
	}
	return w.stats(), nil
}

func (w *writer) release() {
	for _, l := range w.leaves {
		l.clearPage()
		l.out.reset()
		w.pools.put(l.leafBuffers)
	}
	if cap(w.maker.page) <= 8<<20 {
		w.pools.spaces.Put(w.workspace)
	}
	w.workspace = nil
}

// stats describes the file, leaf by leaf.
func (w *writer) stats() format.FileStats {
	s := format.FileStats{Rows: w.meta.NumRows, Bytes: w.offset}
	for _, l := range w.leaves {
		if l.rep > 0 {
			continue
		}
		c := format.ColumnStats{Path: l.path, Type: l.typ, NullCount: l.fileNulls}
		if w.spec.StatsColumns < 0 || len(s.Columns) < w.spec.StatsColumns {
			c.Min, c.Max = l.vectors(&l.file)
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// writeIndexes writes column and offset indexes for the chunks of several
// pages.
func (w *writer) writeIndexes() error {
	for g, leaves := range w.pages {
		for i, pages := range leaves {
			if pages == nil {
				continue
			}
			c := &w.meta.RowGroups[g].Columns[i]
			if index, ok := w.leaves[i].columnIndex(pages); ok {
				b, err := thrift.Marshal(&thrift.CompactProtocol{}, &index)
				if err != nil {
					return fmt.Errorf("parquet: column index: %w", err)
				}
				c.ColumnIndexOffset, c.ColumnIndexLength = w.offset, int32(len(b))
				if err := w.write(b); err != nil {
					return err
				}
			}
			var index pqformat.OffsetIndex
			for _, p := range pages {
				index.PageLocations = append(index.PageLocations, pqformat.PageLocation{
					Offset: int64(p.offset), CompressedPageSize: int32(p.size), FirstRowIndex: p.firstRow})
			}
			b, err := thrift.Marshal(&thrift.CompactProtocol{}, &index)
			if err != nil {
				return fmt.Errorf("parquet: offset index: %w", err)
			}
			c.OffsetIndexOffset, c.OffsetIndexLength = w.offset, int32(len(b))
			if err := w.write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// columnIndex builds the index of a chunk; false when a page has values but no
// bounds.
func (l *leaf) columnIndex(pages []pageInfo) (pqformat.ColumnIndex, bool) {
	var x pqformat.ColumnIndex
	for i := range pages {
		p := &pages[i]
		lo, hi, ok := l.encode(&p.bounds)
		if !ok && !p.empty {
			return x, false
		}
		if !ok {
			lo, hi = []byte{}, []byte{}
		}
		x.NullPages = append(x.NullPages, !ok)
		x.MinValues, x.MaxValues = append(x.MinValues, lo), append(x.MaxValues, hi)
		x.NullCounts = append(x.NullCounts, int64(p.nulls))
	}
	return x, true
}
