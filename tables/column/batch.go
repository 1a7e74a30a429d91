package column

import "sync/atomic"

// BatchRows is the usual number of rows of a batch; readers fill up to it.
const BatchRows = 2048

// Batch is a set of rows: columns of equal Len, of which Sel names the rows
// that count (nil: all).
type Batch struct {
	Cols []*Vector
	Len  int
	// Sel holds ascending row numbers, or is nil when all rows count.
	Sel []int32
	// Change is +1 for an insert, -1 for a delete, by row (not by selection);
	// nil means that all rows are inserts.
	Change []int8

	refs atomic.Int32
	pool *Pool
	sel  []int32 // recycled storage for Sel
}

// Rows returns the number of selected rows.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Len
}

// Retain adds a reference and returns b.
func (b *Batch) Retain() *Batch {
	b.refs.Add(1)
	return b
}

// Release drops a reference; the last one releases the columns and recycles
// the header.
func (b *Batch) Release() {
	n := b.refs.Add(-1)
	if n < 0 {
		panic("bug: column: batch released too often")
	}
	if n > 0 {
		return
	}
	for i, c := range b.Cols {
		c.Release()
		b.Cols[i] = nil
	}
	b.Cols, b.Sel, b.Change, b.Len = b.Cols[:0], nil, nil, 0
	if b.pool != nil {
		b.pool.putBatch(b)
	}
}

// SelBuffer returns an empty selection buffer owned by the header, with room
// for its rows; assign the filled slice to Sel.
func (b *Batch) SelBuffer() []int32 {
	if cap(b.sel) < b.Len {
		b.sel = make([]int32, 0, max(b.Len, BatchRows))
	}
	return b.sel[:0]
}

// Share returns a new header over the same (retained) columns, selection and
// change column; the caller may then set Sel from SelBuffer.
func (b *Batch) Share(p *Pool) *Batch {
	o := p.Batch()
	for _, c := range b.Cols {
		o.Cols = append(o.Cols, c.Retain())
	}
	o.Len, o.Sel, o.Change = b.Len, b.Sel, b.Change
	if b.Sel != nil { // the selection's storage belongs to b's header: copy it
		o.Sel = append(o.SelBuffer(), b.Sel...)
	}
	return o
}
