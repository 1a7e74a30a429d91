package operator

import (
	"encoding/binary"

	"pipelines/tables/column"
)

// Rows of a join of two streams that are away: an entry each, by the hash of
// their key. They stay there. Rows that come are kept in memory and wait until
// there are many, or the step ends; then they look for their partners all at
// once. Before that no row leaves memory, so that each pair meets once.

// metRows are rows that are away and have been found by rows of the other side,
// which are named by the pairs in probes and builds of the join.
type metRows struct {
	b     *column.Batch
	at    []coldFind
	had   column.Bits // those that had a partner before
	flags []byte
	keys  []byte // in the checkpoint, of 10 bytes each
	size  int
}

const (
	asksMin     = 64
	asksMax     = 1 << 16
	metBytes    = 1 << 20
	joinKeySize = 10
)

func (m *metRows) clear() {
	if m.b != nil {
		for _, v := range m.b.Cols {
			v.Truncate(0)
		}
		m.b.Len = 0
	}
	m.at, m.flags, m.keys, m.size = m.at[:0], m.flags[:0], m.keys[:0], 0
}

// close gives all back.
func (m *metRows) close() {
	if m.b != nil {
		m.b.Release()
	}
	*m = metRows{}
}

// add takes the row of an entry and gives its number.
func (m *metRows) add(s *joinState, e *coldEntry, row []byte, at coldFind) (int32, error) {
	if m.b == nil {
		m.b = newBatch(s.j.p.env.Pool, s.rows.store.cols)
	}
	if len(e.key) != joinKeySize || decodeRow(row, m.b.Cols) != nil {
		return 0, errState(s.j.ID())
	}
	x := m.b.Len
	m.b.Len++
	m.at, m.flags, m.keys, m.size = append(m.at, at), append(m.flags, e.flags), append(m.keys, e.key...), m.size+len(row)
	m.had = m.had.Grow(x + 1)
	m.had.Unset(x)
	if e.value[0] == 1 {
		m.had.Set(x)
	}
	return int32(x), nil
}

// askAway notes that kept rows, of which the first has number x, have to meet
// rows that are away.
func (s *joinState) askAway(keys []*column.Vector, kept []int32, x int32) error {
	other := s.other()
	if other.cold.kept == 0 {
		return nil
	}
	for k, r := range kept {
		if !keysMatch(s.j.n, keys, int(r)) {
			continue
		}
		hash := s.table.hash[k]
		if s.table.single && keys[0].IsNull(int(r)) {
			hash = s.table.nullHash()
		}
		s.asks = append(s.asks, hashed{hash, x + int32(k)})
	}
	if int64(len(s.asks)) < min(asksMax, max(asksMin, s.j.p.env.Budget.Limit()/coldQuota/16)) {
		return nil
	}
	return s.meetAway()
}

// meetAway lets the rows that wait meet those of the other side that are away.
func (j *streamJoin) meetAway() error {
	for _, s := range j.sides {
		if err := s.meetAway(); err != nil {
			return err
		}
	}
	return nil
}

func (s *joinState) meetAway() error {
	j, other := s.j, s.other()
	defer other.met.close()
	group, same := int32(-1), false // what s.stored is the key of, and that the entry has it
	err := other.cold.ask(s.asks, func(e *coldEntry, at coldFind, asks []hashed) error {
		_, rest, _ := other.idle.cut(e.value[9:])
		key, row, ok := cutLong(rest)
		if !ok {
			return errState(j.ID())
		}
		x, known := int32(-1), int32(-1)
		for _, a := range asks {
			if !s.rows.alive.Get(int(a.g)) || other.once && at.r.taken.Get(at.number) {
				continue
			}
			g := s.rows.group[a.g]
			if g != group {
				s.stored = s.table.storedKey(s.stored[:0], g)
				group, known = g, -1
			}
			if g != known {
				known, same = g, string(s.stored) == string(key)
			}
			if !same {
				continue
			}
			if x < 0 {
				var err error
				if x, err = other.met.add(other, e, row, at); err != nil {
					return err
				}
			}
			j.probes, j.builds = append(j.probes, a.g), append(j.builds, x)
			if len(j.probes) < column.BatchRows && other.met.size < metBytes {
				continue
			}
			if err := s.pairsAway(); err != nil {
				return err
			}
			x = -1
		}
		return nil
	})
	s.asks = s.asks[:0]
	if err != nil {
		return err
	}
	return s.pairsAway()
}

// pairsAway is pairs for rows of this side in memory and those that they met.
func (s *joinState) pairsAway() error {
	j, m := s.j, &s.other().met
	defer func() {
		j.probes, j.builds = j.probes[:0], j.builds[:0]
		m.clear()
	}()
	if len(j.probes) == 0 {
		return nil
	}
	if j.cond != nil {
		if err := j.filter(s.combineAway()); err != nil {
			return err
		}
	}
	switch {
	case s.once:
		return s.forgetOnce(j.probes)
	case s.other().once:
		return s.oncePartnersAway()
	}
	for k, x := range j.probes {
		s.match(x)
		if y := int(j.builds[k]); s.other().outer && !m.had.Get(y) {
			m.had.Set(y)
			s.other().cold.mark(m.at[y])
		}
	}
	return pushFresh(j.out, j.lane, s.combineAway())
}

func (s *joinState) combineAway() *column.Batch {
	j := s.j
	return s.paired(s.kept(j.probes), s.rowsOf(s.other().met.b.Cols, j.builds), len(j.probes))
}

// oncePartnersAway is oncePartners for rows that are away.
func (s *joinState) oncePartnersAway() error {
	j, other := s.j, s.other()
	m := &other.met
	var hit []int32
	for _, y := range j.builds {
		at := m.at[y]
		if at.r.taken.Get(at.number) {
			continue
		}
		hit = append(hit, y)
		other.cold.drop(at.r, at.block, at.number)
		other.uncount(m.flags[y]&coldTouched != 0)
		if m.flags[y]&coldSaved != 0 {
			other.log.forget(m.keys[joinKeySize*y : joinKeySize*(y+1)])
		}
	}
	if len(hit) == 0 || other.outer {
		return nil
	}
	return pushFresh(j.out, j.lane, s.paired(nil, s.rowsOf(m.b.Cols, hit), len(hit)))
}

func (j *streamJoin) bytes() int64 {
	n := j.loose()
	for _, s := range j.sides {
		n += s.cold.bytes() + int64(16*cap(s.asks))
	}
	return n
}

func (j *streamJoin) entries() (n int) {
	for _, s := range j.sides {
		n += s.rows.store.rows - s.rows.dead
	}
	return n
}

func (j *streamJoin) loose() (n int64) {
	for _, s := range j.sides {
		r := &s.rows
		n += r.store.bytes() + s.table.bytes() + r.lists.bytes() + r.expiry.bytes() + s.log.bytes() + s.idle.bytes()
		n += int64(4*cap(r.group) + 8*cap(r.id) + 8*cap(r.until) + 4*cap(r.live) + 8*(len(r.matched)+len(r.alive)+len(r.fresh)))
	}
	return n
}

// check asks for what is held and puts all rows away when it is refused.
func (j *streamJoin) check() error {
	if j.sides[0].idle.unknown || j.sides[1].idle.unknown {
		return j.mem.must(j.bytes())
	}
	return j.sides[0].cold.check(j, j.sides[0].log.goneBytes()+j.sides[1].log.goneBytes())
}

// freeze writes all rows to a run a side.
func (j *streamJoin) freeze() error {
	if err := j.meetAway(); err != nil {
		return err
	}
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
		if s.outer && r.matched.Get(int(x)) {
			e.flags |= coldMarked
		}
	})
	if err != nil {
		return err
	}
	r.store.reset()
	*r = joinRows{store: r.store}
	*s.table = *newGroupTable(s.table.layout.types)
	s.log.away()
	s.idle.away()
	return nil
}

// dropAway emits the outer rows without a partner that are away and whose time
// has come, and forgets all rows that are due.
func (s *joinState) dropAway(kind int, w int64) error {
	for s.cold.kept > 0 {
		b := newBatch(s.j.p.env.Pool, s.j.cols)
		own, other := s.halves(b)
		read := func(flags byte) bool { return kind == byIdle || s.outer && flags&coldMarked == 0 }
		n, err := s.cold.dueOf(kind, w, column.BatchRows, read, func(e *coldEntry) error {
			alone := s.outer && e.flags&coldMarked == 0
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
