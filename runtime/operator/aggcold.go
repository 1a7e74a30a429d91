package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// canFreeze says whether groups may leave memory: each is one entry, and not all
// come out at each step.
func (s *aggState) canFreeze() bool {
	if s.a.panes != nil || s.idle.ttl > 0 || s.info.Mode == logical.Complete || s.a.nkeys == 0 {
		return false
	}
	for _, c := range s.a.calls {
		if c.distinct != nil {
			return false
		}
	}
	return true
}

func (s *aggState) bytes() int64 {
	bits := len(s.alive) + len(s.marked) + len(s.log.dirty) + len(s.log.saved)
	return s.a.bytes() + int64(8*bits+4*cap(s.log.list)+4*cap(s.touched)) + s.expiry.bytes() + s.cold.bytes()
}

// check asks for what is held and puts all groups away when it is refused.
func (s *aggState) check() error {
	if !s.canFreeze() || s.a.table.live() == 0 {
		return s.a.mem.must(s.bytes())
	}
	spill, err := s.a.mem.mayFreeze(s.bytes(), s.a.bytes())
	if err != nil || !spill {
		return err
	}
	if s.restored {
		s.index()
	}
	if err := s.freeze(); err != nil {
		return err
	}
	if err := s.cold.tidy(); err != nil {
		return err
	}
	return s.a.mem.must(s.bytes())
}

// freeze writes all groups to a run and empties the table.
func (s *aggState) freeze() error {
	t := s.a.table
	var all []int32
	for g := range int32(t.groups) {
		if s.alive.Get(int(g)) {
			all = append(all, g)
		}
	}
	all = byHash(all, t.hashOf)
	at := 0
	err := s.cold.write(len(all), func() (e coldEntry, ok bool, err error) {
		if at == len(all) {
			return e, false, nil
		}
		g := all[at]
		at++
		s.putGroup(&entryWriter{put: func(key, value []byte) { e.key, e.value = key, value }}, g)
		e.hash, e.until, e.flags = t.hashOf(g), noExpiry, s.log.flags(g)
		if s.expiry.listed.Get(int(g)) {
			e.until = s.expiry.exact[g]
		}
		if s.info.Mode == logical.Update && s.marked.Get(int(g)) {
			e.flags |= coldTouched
		}
		return e, true, nil
	})
	if err != nil {
		return err
	}
	*t = *newGroupTable(t.layout.types)
	for _, c := range s.a.calls {
		c.reset()
	}
	s.alive, s.marked, s.touched, s.expiry = nil, nil, nil, timeIndex{}
	s.log.away()
	return nil
}

// thawFresh brings those of the groups that were just made back which are away.
func (s *aggState) thawFresh() error {
	fresh := s.a.table.fresh
	if s.cold.kept == 0 || len(fresh) == 0 {
		return nil
	}
	s.grown()
	for _, g := range fresh {
		s.buf = s.groupKey(s.buf[:0], g)
		e, ok, err := s.cold.take(s.a.table.hashOf(g), s.buf)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		_, value, whole := s.idle.cut(e.value)
		if !whole || s.codec.decode(value) != nil {
			return errState(s.info.ID)
		}
		s.load([]int32{g})
		s.relog(g, e.flags)
	}
	return nil
}

// relog tells the log what it knew about a group before it left memory.
func (s *aggState) relog(g int32, flags byte) {
	if flags&coldSaved != 0 {
		s.log.save(g)
	}
	if flags&coldDirty != 0 {
		s.log.touch(g)
	}
}

// load sets the states of groups from the rows of the codec.
func (s *aggState) load(groups []int32) {
	col := 0
	for _, c := range s.a.calls {
		k := len(c.fn.State)
		for i, g := range groups {
			c.st.Clear(g)
			c.st.Load(g, s.codec.cols[col:col+k], i)
		}
		col += k
	}
}

// thaw brings up to a batch of the groups back that want and only select.
func (s *aggState) thaw(want func(r *coldRun) bool, only func(e coldEntry) bool) ([]int32, error) {
	var entries Entries
	var untils []int64
	var flags []byte
	err := s.cold.each(column.BatchRows, want, func(e coldEntry) (bool, error) {
		if !only(e) {
			return false, nil
		}
		entries.Add(e.key, e.value)
		untils, flags = append(untils, e.until), append(flags, e.flags)
		return true, nil
	})
	if err != nil || entries.Len() == 0 {
		return nil, err
	}
	groups, err := s.loadAll(&entries)
	if err != nil {
		return nil, err
	}
	for i, g := range groups {
		s.relog(g, flags[i])
		if untils[i] != noExpiry {
			s.expiry.add(untils[i], g)
		}
	}
	return groups, nil
}

// loadAll makes groups of stored entries.
func (s *aggState) loadAll(e *Entries) ([]int32, error) {
	groups := make([]int32, e.Len())
	if !s.a.table.restoreKeys(e.Len(), func(i int) []byte { k, _ := e.At(i); return s.plainKey(k) }, groups) {
		return nil, errState(s.info.ID)
	}
	s.grown()
	s.codec.clear()
	for i, g := range groups {
		s.alive.Set(int(g))
		_, v := e.At(i)
		at, v, whole := s.idle.cut(v)
		if !whole || decodeRow(v, s.codec.cols) != nil {
			return nil, errState(s.info.ID)
		}
		s.idle.restore(g, at)
	}
	s.load(groups)
	return groups, nil
}

// emitCold emits the groups away from memory that this step has touched.
func (s *aggState) emitCold() error {
	for s.cold.kept > 0 {
		groups, err := s.thaw(func(r *coldRun) bool { return r.touchedLeft > 0 }, func(e coldEntry) bool { return e.flags&coldTouched != 0 })
		if err != nil || len(groups) == 0 {
			return err
		}
		if err := s.a.emit(groups); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// expireCold emits, where the mode says so, and forgets the groups away from
// memory whose time has passed.
func (s *aggState) expireCold(w int64) error {
	due := func(r *coldRun) bool { return r.first <= w }
	over := func(e coldEntry) bool { return e.until <= w }
	for s.cold.kept > 0 && s.info.Mode == logical.Append {
		groups, err := s.thaw(due, over)
		if err != nil || len(groups) == 0 {
			return err
		}
		if err := s.a.emit(groups); err != nil {
			return err
		}
		for _, g := range groups {
			s.expiry.remove(g)
		}
		s.lapse(groups)
		s.counts.Removed += int64(len(groups))
	}
	if s.info.Mode == logical.Append {
		return nil
	}
	return s.cold.each(-1, due, func(e coldEntry) (bool, error) {
		if !over(e) {
			return false, nil
		}
		s.counts.Removed++
		if s.place.at >= 0 {
			s.passed = w
		} else if e.flags&coldSaved != 0 {
			s.log.forget(e.key)
		}
		return true, nil
	})
}
