package operator

import (
	"pipelines/tables/column"
)

// joinSpill is a join whose build side does not fit into memory: both sides are
// spread over partitions by the hash of their keys and joined a partition at a
// time. A partition whose build side is still too large is spread again. Where
// that does not help (one key has most rows, or there is no key) the build rows
// are taken by parts that fit, and the probe rows pass by once for each part.
type joinSpill struct {
	j            *join
	file         *spillFile
	build, probe *spillParts
	kb           keyBatch
	hashes       []uint64
	carry        *joinCarry // while a build side is taken by parts
}

func (j *join) newSpill(level int) (*joinSpill, error) {
	file, err := j.mem.file()
	if err != nil {
		return nil, err
	}
	pool := j.p.env.Pool
	build, probe := j.n.Right.Output(), j.n.Left.Output()
	if j.sides.buildLeft {
		build, probe = probe, build
	}
	return &joinSpill{j: j, file: file, build: newSpillParts(file, pool, build, level), probe: newSpillParts(file, pool, probe, level)}, nil
}

func (s *joinSpill) close() {
	if s == nil {
		return
	}
	s.build.drop()
	s.probe.drop()
	s.j.p.closeSpill(s.file)
}

// bytes estimates what the build rows in memory take.
func (j *join) bytes() int64 {
	return grown(j.store.used()) + j.table.bytes() + int64(4*(cap(j.lists.head)+cap(j.lists.tail)+cap(j.lists.next)))
}

// makeRoom begins to spill when the build rows do not fit.
func (j *join) makeRoom(lane int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.spill != nil {
		return nil
	}
	over, err := j.mem.mayExceed(j.bytes())
	if err != nil || !over {
		return err
	}
	if j.spill, err = j.newSpill(0); err != nil {
		return err
	}
	all := identity(column.BatchRows)
	for _, c := range j.store.chunks {
		for from := 0; from < c.Len; from += column.BatchRows {
			b := newBatch(j.p.env.Pool, j.store.cols)
			b.Len = min(column.BatchRows, c.Len-from)
			for i, v := range b.Cols {
				column.AppendRange(v, c.Cols[i], from, from+b.Len)
			}
			err := j.spillRows(lane, j.spill.build, b, all[:b.Len])
			b.Release()
			if err != nil {
				return err
			}
		}
	}
	j.table.discardAll()
	j.lists = chains{}
	j.forget()
	j.mem.free()
	return nil
}

// spillRows spreads rows of one side; the lock is held.
func (j *join) spillRows(lane int, to *spillParts, b *column.Batch, rows []int32) error {
	keys := j.build
	if to == j.spill.probe {
		keys = j.probe
	}
	vecs, err := keys.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	return j.spill.addLocked(to, vecs, b.Cols, rows)
}

// addLocked spreads rows by their keys.
func (s *joinSpill) addLocked(to *spillParts, keys, cols []*column.Vector, rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	if s.j.sides.loop {
		s.hashes = grow(s.hashes, len(rows))
		clear(s.hashes)
		return to.add(cols, rows, s.hashes)
	}
	return to.add(cols, rows, s.j.table.hashKeys(&s.kb, keys, rows))
}

// spillProbe puts probe rows by until all have come.
func (j *join) spillProbe(lane int, b *column.Batch) error {
	vecs, err := j.probe.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	rows, err := j.p.goodRows(vecs, b, &j.lanes[lane].all, j.drop)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.spill.addLocked(j.spill.probe, vecs, b.Cols, rows)
}

// run joins all partitions. All work is in lane 0.
func (s *joinSpill) run() error {
	if err := s.build.flush(); err != nil {
		return err
	}
	if err := s.probe.flush(); err != nil {
		return err
	}
	s.j.spill = s
	for i := range spillFan {
		b, p := &s.build.parts[i], &s.probe.parts[i]
		if b.rows+p.rows == 0 || s.j.above.full() {
			continue
		}
		if err := s.runPart(b, p); err != nil {
			return err
		}
		s.j.forget()
		s.j.mem.free()
	}
	return nil
}

// runPart joins one partition.
func (s *joinSpill) runPart(build, probe *spillPart) error {
	j := s.j
	var carry *joinCarry
	for next := 0; ; {
		j.table.discardAll()
		j.forget()
		var err error
		if next, err = s.load(build, next); err != nil {
			return err
		}
		last := next == len(build.blocks)
		if !last && carry == nil {
			if !j.sides.loop && s.build.level < spillDepth && build.rows < s.rows(s.build)/2+s.rows(s.build)/4 {
				return s.deeper(build, probe)
			}
			carry = &joinCarry{hits: make([]uint8, probe.rows)}
		}
		if carry != nil {
			carry.last = last
		}
		s.carry = carry
		err = s.probe.read(probe, func(b *column.Batch) error {
			err := j.probeBatch(0, b)
			if carry != nil {
				carry.base += b.Len
			}
			return err
		})
		s.carry = nil
		if err != nil {
			return err
		}
		if carry != nil {
			carry.base = 0
		}
		if err := j.emitUnmatched(); err != nil {
			return err
		}
		if last {
			return nil
		}
	}
}

// rows counts the rows of all partitions.
func (s *joinSpill) rows(p *spillParts) int64 {
	var n int64
	for i := range p.parts {
		n += p.parts[i].rows
	}
	return n
}

// load takes build rows into memory from a block on, as many as fit and at least
// a block, and returns the next block.
func (s *joinSpill) load(build *spillPart, from int) (int, error) {
	j := s.j
	next := from
	var buf spillBuffer
	for next < len(build.blocks) {
		blk := build.blocks[next]
		b := newBatch(j.p.env.Pool, s.build.cols)
		err := s.file.read(blk, b.Cols, &buf)
		b.Len = int(blk.rows)
		if err == nil {
			err = s.loadBatch(b)
		}
		b.Release()
		if err != nil {
			return next, err
		}
		if next++; !j.mem.fits(j.bytes()) {
			break
		}
	}
	return next, nil
}

func (s *joinSpill) loadBatch(b *column.Batch) error {
	vecs, err := s.j.build.run(0, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	s.j.keep(vecs, b.Cols, rowsOf(b))
	return nil
}

// deeper spreads a partition again and joins its parts.
func (s *joinSpill) deeper(build, probe *spillPart) error {
	j := s.j
	j.table.discardAll()
	j.forget()
	j.mem.free()
	sub, err := j.newSpill(s.build.level + 1)
	if err != nil {
		return err
	}
	j.spill = sub
	defer func() {
		sub.close()
		j.spill = s
	}()
	err = s.build.read(build, func(b *column.Batch) error { return j.spillRows(0, sub.build, b, rowsOf(b)) })
	if err != nil {
		return err
	}
	err = s.probe.read(probe, func(b *column.Batch) error { return j.spillRows(0, sub.probe, b, rowsOf(b)) })
	if err != nil {
		return err
	}
	return sub.run()
}

// joinCarry keeps what probe rows have matched from part to part of the build
// side; probe rows come out unmatched only after the last part.
type joinCarry struct {
	hits []uint8
	base int // of the batch
	last bool
}

func (j *join) carry() *joinCarry {
	if j.spill == nil {
		return nil
	}
	return j.spill.carry
}

// load sets the hits of a batch to those of the parts before.
func (c *joinCarry) load(hits []int32) {
	if c == nil {
		return
	}
	for i := range hits {
		hits[i] = int32(c.hits[c.base+i])
	}
}

// save keeps the hits and reports whether more parts come.
func (c *joinCarry) save(hits []int32) bool {
	if c == nil {
		return false
	}
	for i, h := range hits {
		c.hits[c.base+i] = uint8(h)
	}
	return !c.last
}
