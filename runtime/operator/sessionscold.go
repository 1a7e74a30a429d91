package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

func (s *sessions) bytes() int64 { return s.loose() + s.cold.bytes() }

func (s *sessions) entries() int { return s.table.live() }

func (s *sessions) loose() int64 {
	n := s.table.bytes() + int64(40*cap(s.list)+4*(cap(s.byKey)+cap(s.free)+cap(s.tickets)+cap(s.unused)))
	n += s.expiry.bytes() + s.log.bytes() + s.touched.bytes() + s.idle.bytes()
	for _, c := range s.calls {
		n += c.st.Bytes()
		if c.distinct != nil {
			n += c.distinct.bytes()
		}
		if c.ordered != nil {
			n += c.ordered.store.bytes() + c.ordered.keyed.bytes()
		}
	}
	return n
}

// check asks for what is held and puts all keys away when it is refused.
func (s *sessions) check() error {
	if s.ordered || s.idle.unknown {
		return s.mem.must(s.bytes())
	}
	return s.cold.check(s, s.log.goneBytes())
}

// freeze writes all keys with their sessions to a run. A key is due when the first
// of its sessions ends; its note says which sessions are of earlier steps.
func (s *sessions) freeze() error {
	var all []int32
	for key, root := range s.byKey {
		if root >= 0 {
			all = append(all, int32(key))
		}
	}
	var note []byte
	err := s.cold.freeze(all, s.table.hashOf, func(key int32, e *coldEntry, w *entryWriter) {
		s.put(w, key)
		e.until, e.idle, e.flags = noExpiry, s.idle.due(key), s.log.flags(key)
		note = note[:0]
		s.list.each(s.byKey[key], func(g int32) {
			if s.info != nil && s.info.Mode != logical.Complete {
				e.until = min(e.until, s.list[g].end)
			}
			if s.list[g].old {
				note = append(note, 1)
			} else {
				note = append(note, 0)
			}
		})
		e.note = note
		s.away += len(note)
		if s.touched.dirty.Get(int(key)) {
			e.flags |= coldTouched
			s.awayTouched += len(note)
		}
	})
	if err == nil {
		s.forgetAll()
	}
	return err
}

// forgetAll forgets all keys, which have left memory.
func (s *sessions) forgetAll() {
	*s.table = *newGroupTable(s.table.layout.types)
	for _, c := range s.calls {
		c.reset()
		if c.distinct != nil {
			c.distinct.away()
		}
	}
	s.byKey, s.list, s.free, s.expiry, s.tickets, s.unused = nil, nil, nil, timeIndex{}, nil, nil
	s.log.away()
	s.touched.away()
	s.idle.away()
}

// takeCopy makes a key of an entry, and says when it was last used.
func (s *sessions) takeCopy(e *coldEntry) (key int32, at int64, err error) {
	key, ok := s.table.restoreKey(e.key[1:])
	if !ok {
		return 0, 0, errState(s.ID())
	}
	for len(s.byKey) < s.table.groups {
		s.byKey = append(s.byKey, -1)
	}
	if at, ok = s.set(key, e.value); !ok {
		return 0, 0, errState(s.ID())
	}
	return key, at, nil
}

// takeBack takes the key of an entry.
func (s *sessions) takeBack(e *coldEntry) error {
	key, at, err := s.takeCopy(e)
	if err != nil {
		return err
	}
	s.idle.back(key, at)
	s.log.back(key, e.flags)
	s.away -= len(e.note)
	if e.flags&coldTouched == 0 {
		return nil // all are of earlier steps
	}
	s.awayTouched -= len(e.note)
	s.touched.touch(key)
	i := 0
	s.list.each(s.byKey[key], func(g int32) {
		s.list[g].old = e.note[i] == 1
		i++
	})
	return nil
}

// expireAll emits and forgets the sessions that have ended, also of keys that are away.
func (s *sessions) expireAll() error {
	if err := s.expire(); err != nil {
		return err
	}
	for s.cold.kept > 0 {
		n, err := s.cold.due(byTime, s.evict, column.BatchRows/4, true, s.takeBack)
		if err != nil || n == 0 {
			return err
		}
		if err := s.expire(); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// emitAll emits all sessions. Where some are away all go away first; then they
// come back as copies, a few at a time.
func (s *sessions) emitAll() error {
	if s.cold.kept == 0 {
		return s.emitHere()
	}
	if err := s.cold.away(s); err != nil {
		return err
	}
	flush := func() error {
		defer s.forgetAll()
		return s.emitHere()
	}
	here, quota := int64(0), s.cold.quota()
	err := s.cold.sweep(func(e *coldEntry) error {
		size := sizeOf(e)
		if len(s.list) >= column.BatchRows || len(s.list) > 0 && here+size > quota {
			if err := flush(); err != nil {
				return err
			}
			here = 0
		}
		here += size
		_, _, err := s.takeCopy(e)
		return err
	})
	if err != nil {
		return err
	}
	return flush()
}

func (s *sessions) emitHere() error {
	var all []int32
	for g := range s.list {
		if s.list[g].alive {
			all = append(all, int32(g))
		}
	}
	return s.emit(all)
}

// restoreAll takes many keys, each once.
func (s *sessions) restoreAll(e *Entries) error {
	if err := restoreEach(e, s.Restore); err != nil {
		return err
	}
	return s.check()
}
