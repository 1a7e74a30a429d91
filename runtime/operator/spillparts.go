package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

const (
	// spillFan is the number of partitions that rows are spread over at once.
	spillFan = 16
	// spillBytes is the aim for the size of a block.
	spillBytes = 64 << 10
	// spillDepth is how often rows are spread anew before an operator gives up:
	// what is together then has the same key.
	spillDepth = 6
)

// spillParts spreads rows over partitions of a spill file by the hash of their
// keys: equal keys are in one partition. Each level uses another hash.
type spillParts struct {
	file  *spillFile
	pool  *column.Pool
	cols  []logical.Attr
	level int
	parts [spillFan]spillPart
	sel   [spillFan][]int32
}

// spillPart is one partition: blocks in order of arrival, and the rows that
// wait for the next block.
type spillPart struct {
	wait   *column.Batch
	blocks []spillBlock
	rows   int64
}

func newSpillParts(file *spillFile, pool *column.Pool, cols []logical.Attr, level int) *spillParts {
	return &spillParts{file: file, pool: pool, cols: cols, level: level}
}

// place returns the partition of a hash.
func (s *spillParts) place(hash uint64) int {
	return int(column.HashUint64(uint64(s.level)+1, hash) >> 60)
}

// add takes the given rows of vecs (any form), one hash a row.
func (s *spillParts) add(vecs []*column.Vector, rows []int32, hashes []uint64) error {
	for i := range s.sel {
		s.sel[i] = s.sel[i][:0]
	}
	for k, r := range rows {
		p := s.place(hashes[k])
		s.sel[p] = append(s.sel[p], r)
	}
	for i, sel := range s.sel {
		if len(sel) == 0 {
			continue
		}
		if err := s.append(&s.parts[i], vecs, sel); err != nil {
			return err
		}
	}
	return nil
}

func (s *spillParts) append(p *spillPart, vecs []*column.Vector, rows []int32) error {
	for len(rows) > 0 {
		if p.wait == nil {
			p.wait = newBatch(s.pool, s.cols)
		}
		n := min(len(rows), column.BatchRows/4)
		for i, v := range vecs {
			column.AppendRows(p.wait.Cols[i], v, rows[:n])
		}
		p.wait.Len += n
		p.rows += int64(n)
		rows = rows[n:]
		if p.wait.Len+column.BatchRows/4 > column.BatchRows || usedBytes(p.wait.Cols) >= spillBytes {
			if err := s.write(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes a block of the rows that wait.
func (s *spillParts) write(p *spillPart) error {
	if p.wait == nil || p.wait.Len == 0 {
		return nil
	}
	b, err := s.file.write(p.wait.Cols, p.wait.Len)
	if err != nil {
		return err
	}
	p.blocks = append(p.blocks, b)
	emptyColumns(p.wait)
	return nil
}

// flush writes what waits and gives the buffers back.
func (s *spillParts) flush() error {
	for i := range s.parts {
		if err := s.write(&s.parts[i]); err != nil {
			return err
		}
	}
	s.drop()
	return nil
}

// drop gives the buffers back; rows that wait are lost.
func (s *spillParts) drop() {
	if s == nil {
		return
	}
	for i := range s.parts {
		if p := &s.parts[i]; p.wait != nil {
			p.wait.Release()
			p.wait = nil
		}
	}
}

// read calls f with the blocks of a partition in order; the batch is lent.
func (s *spillParts) read(p *spillPart, f func(b *column.Batch) error) error {
	var buf spillBuffer
	for _, blk := range p.blocks {
		b := newBatch(s.pool, s.cols)
		err := s.file.read(blk, b.Cols, &buf)
		b.Len = int(blk.rows)
		if err == nil {
			err = f(b)
		}
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// usedBytes counts the bytes in use, not the room.
func usedBytes(cols []*column.Vector) int64 {
	var n int64
	for _, v := range cols {
		n += int64(len(v.Bool)+len(v.I8)+2*len(v.I16)+4*len(v.I32)+8*len(v.I64)+16*len(v.I128)) +
			int64(4*len(v.F32)+8*len(v.F64)+4*len(v.Offsets)+len(v.Bytes)+8*len(v.Nulls))
		n += usedBytes(v.Children)
	}
	return n
}

// hashKeys hashes the keys of rows as t does, with one hash for a null that has
// a group of its own; kb is scratch and owns the result.
func (t *groupTable) hashKeys(kb *keyBatch, keys []*column.Vector, rows []int32) []uint64 {
	kb.prepare(t.layout, keys, rows)
	t.fixNulls(kb, keys, rows)
	return kb.hash
}

// fixNulls gives a single null key one hash: what its slot held is chance.
func (t *groupTable) fixNulls(kb *keyBatch, keys []*column.Vector, rows []int32) {
	if !t.single || !keys[0].HasNulls() {
		return
	}
	for k, r := range rows {
		if keys[0].IsNull(int(r)) {
			kb.hash[k] = 0
		}
	}
}

// emptyVector forgets the rows of a flat vector and keeps its room.
func emptyVector(v *column.Vector) {
	v.Nulls, v.Errs = nil, nil
	for _, c := range v.Children {
		emptyVector(c)
	}
	v.Truncate(0)
}

func emptyColumns(b *column.Batch) {
	for _, v := range b.Cols {
		emptyVector(v)
	}
	b.Len = 0
}

// bigVector is what a vector may hold when it goes back to the pool: more would
// stay with whatever small batch uses it next.
const bigVector = 4 << 20

func trimVector(v *column.Vector) {
	for _, c := range v.Children {
		trimVector(c)
	}
	if v.Memory() < bigVector {
		return
	}
	v.Bool, v.I8, v.I16, v.I32, v.I64, v.I128, v.F32, v.F64 = nil, nil, nil, nil, nil, nil, nil, nil
	v.Offsets, v.Bytes = nil, nil
}

// used counts the bytes in use, not the room.
func (s *rowStore) used() int64 {
	var n int64
	for _, c := range s.chunks {
		n += usedBytes(c.Cols)
	}
	return n
}

// empty forgets the rows and keeps the room of the first chunk for new ones.
func (s *rowStore) empty() {
	if len(s.chunks) == 0 {
		return
	}
	emptyColumns(s.chunks[0])
	for _, c := range s.chunks[1:] {
		for _, v := range c.Cols {
			trimVector(v)
		}
		c.Release()
	}
	s.chunks, s.starts, s.rows = s.chunks[:1], s.starts[:1], 0
}
