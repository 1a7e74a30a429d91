package operator

import (
	"encoding/binary"

	"pipelines/tables/column"
)

// Rows of a join of two streams that are away: an entry each, by the hash of
// their key. All rows of a key come back when a row of the other side has it.

func (s *joinState) prepareCold() {
	s.cold = newCold(s.j.mem)
	s.backing = backing{
		f: s.j, table: s.table,
		whole: func(g int32) bool { return s.whole.Get(int(g)) },
		skip:  func(keys []*column.Vector, r int) bool { return !s.j.keysMatch(keys, r) },
		came: func(g int32) {
			s.whole = s.whole.Grow(int(g) + 1)
			s.whole.Set(int(g))
		},
		stored: func(e *coldEntry) []byte {
			_, rest, ok := s.idle.cut(e.value[9:])
			if key, _, whole := cutLong(rest); ok && whole {
				return key
			}
			return nil
		},
		take: s.takeBack,
	}
}

// broken notes that a group has gone; its number may be used again.
func (s *joinState) broken(g int32) {
	if int(g)>>6 < len(s.whole) {
		s.whole.Unset(int(g))
	}
}

// takeBack takes the row of an entry.
func (s *joinState) takeBack(e *coldEntry) error {
	if len(e.key) != 10 {
		return errState(s.j.ID())
	}
	x, at, ok := s.insert(binary.BigEndian.Uint64(e.key[2:]), e.value)
	if !ok {
		return errState(s.j.ID())
	}
	s.idle.back(x, at)
	s.log.back(x, e.flags)
	if e.flags&coldTouched != 0 {
		s.rows.isFresh(x)
	}
	return nil
}

func (j *streamJoin) bytes() int64 {
	return j.loose() + j.sides[0].cold.bytes() + j.sides[1].cold.bytes()
}

func (j *streamJoin) loose() (n int64) {
	for _, s := range j.sides {
		r := &s.rows
		n += r.store.bytes() + s.table.bytes() + r.lists.bytes() + r.expiry.bytes() + s.log.bytes() + s.idle.bytes()
		n += int64(4*cap(r.group) + 8*cap(r.id) + 8*cap(r.until) + 4*cap(r.live) + 8*(len(r.matched)+len(r.alive)+len(r.fresh)+len(s.whole)))
	}
	return n
}

// check asks for what is held and puts all rows away when it is refused.
func (j *streamJoin) check() error {
	if j.sides[0].idle.unknown || j.sides[1].idle.unknown {
		return j.mem.must(j.bytes())
	}
	return j.sides[0].cold.check(j, 0)
}

// freeze writes all rows to a run a side.
func (j *streamJoin) freeze() error {
	for _, s := range j.sides {
		if err := s.freeze(); err != nil {
			return err
		}
		if err := s.cold.tidy(); err != nil {
			return err
		}
	}
	return nil
}

func (s *joinState) freeze() error {
	r := &s.rows
	all := make([]int32, 0, r.store.rows-r.dead)
	for x := range r.store.rows {
		if r.alive.Get(x) {
			all = append(all, int32(x))
		}
	}
	err := s.cold.freeze(all, func(x int32) uint64 { return s.table.hashOf(r.group[x]) }, func(x int32, e *coldEntry, w *entryWriter) {
		s.put(w, x)
		e.until, e.idle, e.flags = r.until[x], s.idle.due(x), s.log.flags(x)
		if r.fresh.Get(int(x)) {
			e.flags |= coldTouched
		}
	})
	if err != nil {
		return err
	}
	r.store.reset()
	*r = joinRows{store: r.store}
	*s.table = *newGroupTable(s.table.layout.types)
	s.whole, s.restored = nil, nil
	s.log.away()
	s.idle.away()
	return nil
}

// expireAway emits the outer rows without a partner that are away and whose time
// has come, and forgets all rows that are due.
func (s *joinState) expireAway(w int64) error {
	if s.j.timed {
		if err := s.dropAway(byTime, w); err != nil {
			return err
		}
	}
	if s.idle.ttl > 0 {
		return s.dropAway(byIdle, s.idle.now)
	}
	return nil
}

func (s *joinState) dropAway(kind int, w int64) error {
	for s.cold.kept > 0 {
		b := newBatch(s.j.p.env.Pool, s.j.cols)
		own, other := s.halves(b)
		n, err := s.cold.due(kind, w, column.BatchRows, s.outer || kind == byIdle, func(e *coldEntry) error {
			alone := s.outer && e.value[0] == 0
			s.uncount(s.right && e.flags&coldTouched != 0 && !alone)
			if kind == byTime {
				s.j.passed = w
			} else if e.flags&coldSaved != 0 {
				s.log.forget(e.key)
			}
			if !alone {
				return nil
			}
			_, rest, _ := s.idle.cut(e.value[9:])
			_, row, ok := cutLong(rest)
			if !ok || decodeRow(row, own) != nil {
				return errState(s.j.ID())
			}
			for _, v := range other {
				v.AppendNull()
			}
			b.Len++
			return nil
		})
		if err != nil || b.Len == 0 {
			b.Release()
		} else {
			err = pushFresh(s.j.out, 0, b)
		}
		if err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// restoreAll takes many rows, each once.
func (j *streamJoin) restoreAll(entries *Entries) error {
	for i := range entries.Len() {
		key, value := entries.At(i)
		if len(key) != 10 || key[1] > 1 {
			return errState(j.ID())
		}
		s := j.sides[key[1]]
		s.rows.unindexed = true
		x, at, ok := s.insert(binary.BigEndian.Uint64(key[2:]), value)
		if !ok {
			return errState(j.ID())
		}
		s.idle.restore(x, at)
		s.log.save(x)
	}
	return j.check()
}
