package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// tableSpill lets a table of groups end where memory does: from then on the
// table is frozen. Rows of groups that are in it go on as before; the others
// are spilled by the hash of their keys and worked through afterwards, a
// partition at a time, the same way. So a group is never in two places.
type tableSpill struct {
	mem   *memory
	table *groupTable
	cols  [][]logical.Attr // by side
	level int
	now   *spilledTable // nil: not frozen

	kb     keyBatch
	all    []int32
	known  []int32 // of the last spillNew: rows of the table's groups
	groups []int32 // their groups
	rest   []int32
	hashes []uint64
}

// spilledTable is what one frozen table left, by inputs (sides).
type spilledTable struct {
	file  *spillFile
	sides []*spillParts
	level int
}

func newTableSpill(mem *memory, table *groupTable, cols []logical.Attr) *tableSpill {
	return &tableSpill{mem: mem, table: table, cols: [][]logical.Attr{cols, cols}}
}

func (t *tableSpill) frozen() bool { return t != nil && t.now != nil }

// check asks for the table's memory, and for extra bytes, and freezes the table
// when they are refused.
func (t *tableSpill) check(extra int64) error {
	spill, err := t.mem.mayExceed(t.table.bytes() + extra)
	if err != nil || !spill {
		return err
	}
	return t.freeze()
}

func (t *tableSpill) freeze() error {
	file, err := t.mem.file()
	if err != nil {
		return err
	}
	t.now = &spilledTable{file: file, level: t.level}
	for _, cols := range t.cols {
		t.now.sides = append(t.now.sides, newSpillParts(file, t.mem.p.env.Pool, cols, t.level))
	}
	return nil
}

// spillNew spills the rows whose keys, all columns, are not in the table, and
// lists the others in known and groups.
func (t *tableSpill) spillNew(side int, cols []*column.Vector, rows []int32) error {
	return t.split(t.now.sides[side], cols, cols, rows)
}

// split is spillNew with keys that are not the columns.
func (t *tableSpill) split(to *spillParts, keys, cols []*column.Vector, rows []int32) error {
	t.all = grow(t.all, len(rows))
	t.table.find(&t.kb, keys, rows, t.all)
	t.table.fixNulls(&t.kb, keys, rows)
	t.known, t.groups, t.rest, t.hashes = t.known[:0], t.groups[:0], t.rest[:0], t.hashes[:0]
	for k, g := range t.all {
		if g >= 0 {
			t.known, t.groups = append(t.known, rows[k]), append(t.groups, g)
		} else {
			t.rest, t.hashes = append(t.rest, rows[k]), append(t.hashes, t.kb.hash[k])
		}
	}
	if len(t.rest) == 0 {
		return nil
	}
	return to.add(cols, t.rest, t.hashes)
}

// take hands the spilled rows out and makes the table ready for one of their
// partitions.
func (t *tableSpill) take() *spilledTable {
	s := t.now
	t.now, t.level = nil, s.level+1
	t.table.discardAll()
	t.mem.free()
	return s
}

// reset forgets everything.
func (t *tableSpill) reset() {
	t.close()
	if t.table.bytes() > bigVector {
		t.table.discardAll()
	}
	t.table.reset()
	t.level = 0
	t.mem.free()
}

func (t *tableSpill) close() {
	if t.frozen() {
		t.now.drop(t.mem.p)
		t.now = nil
	}
}

func (s *spilledTable) flush() error {
	for _, p := range s.sides {
		if err := p.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (s *spilledTable) drop(p *Plan) {
	for _, x := range s.sides {
		x.drop()
	}
	p.closeSpill(s.file)
}

// eachPart calls f for the partitions that have rows; f may freeze the table
// again, and what it spills is handed to deeper before the next partition.
func (t *tableSpill) eachPart(s *spilledTable, f func(i int) error, deeper func(*spilledTable) error) error {
	defer s.drop(t.mem.p)
	if err := s.flush(); err != nil {
		return err
	}
	for i := range spillFan {
		if !s.has(i) {
			continue
		}
		t.level = s.level + 1
		if err := f(i); err != nil {
			return err
		}
		if t.now != nil {
			if err := deeper(t.take()); err != nil {
				return err
			}
		}
		t.table.discardAll()
		t.mem.free()
	}
	return nil
}

// has reports whether partition i has rows.
func (s *spilledTable) has(i int) bool {
	for _, x := range s.sides {
		if x.parts[i].rows > 0 {
			return true
		}
	}
	return false
}

// discardAll forgets all groups and the memory.
func (t *groupTable) discardAll() {
	t.slots, t.keyStore = newSlotTable(), keyStore{stride: t.stride}
	t.free, t.fresh = nil, nil
	t.reset()
}

// drain passes the first of equal rows among those that were spilled.
func (d *distinct) drain(s *spilledTable) error {
	return d.over.eachPart(s, func(i int) error {
		return s.sides[0].read(&s.sides[0].parts[i], func(b *column.Batch) error {
			keep, err := d.first(b, rowsOf(b))
			if err != nil || len(keep) == 0 {
				return err
			}
			nb := selected(d.p.env.Pool, b, keep)
			defer nb.Release()
			return d.out.push(0, nb)
		})
	}, d.drain)
}

// drain works through the spilled rows of both sides.
func (s *setOp) drain(sp *spilledTable) error {
	return s.over.eachPart(sp, func(i int) error {
		s.count, s.shown = s.count[:0], s.shown[:0]
		err := sp.sides[0].read(&sp.sides[0].parts[i], func(b *column.Batch) error {
			if _, err := s.number(0, b.Cols, rowsOf(b)); err != nil {
				return err
			}
			for _, g := range s.groups {
				s.count[g]++
			}
			return nil
		})
		if err != nil {
			return err
		}
		return sp.sides[1].read(&sp.sides[1].parts[i], func(b *column.Batch) error {
			rows, err := s.number(1, b.Cols, rowsOf(b))
			if err != nil {
				return err
			}
			keep := s.kept(rows)
			if len(keep) == 0 {
				return nil
			}
			nb := selected(s.p.env.Pool, b, keep)
			defer nb.Release()
			return s.out.push(0, nb)
		})
	}, s.drain)
}
