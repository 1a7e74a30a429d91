package operator

import (
	"pipelines/tables/column"
)

// The values that count(DISTINCT …) has seen, as far as they are away: one entry
// each, found by group and value together, so that a large set need not come
// back. They go with their group, at its time.

// prepareValues lets the sets look for values that are away.
func (s *aggState) prepareValues() {
	s.values = newCold(s.a.mem)
	for i, c := range s.a.calls {
		if d := c.distinct; d != nil {
			d.unseen = func(args []*column.Vector, rows, groups []int32) ([]int32, []int32, error) {
				return s.unseen(i, args, rows, groups)
			}
		}
	}
}

// valueHash is the hash of the entry of a value.
func valueHash(key []byte) uint64 { return column.HashBytes(0, key) }

// unseen leaves out the rows whose arguments of call i are away: they are not
// new to their group.
func (s *aggState) unseen(i int, args []*column.Vector, rows, groups []int32) ([]int32, []int32, error) {
	if s.values.kept == 0 || len(rows) == 0 {
		return rows, groups, nil
	}
	d := s.a.calls[i].distinct
	d.setGroups(rows, groups)
	d.keys = append(append(d.keys[:0], d.group), args...)
	d.out = grow(d.out, len(rows))
	d.table.find(&d.kb, d.keys, rows, d.out)
	d.rows, d.groups = d.rows[:0], d.groups[:0]
	for k, r := range rows {
		if d.out[k] < 0 {
			g := groups[k]
			s.buf = append(s.buf[:0], s.a.table.groupOf(g), byte(i+1))
			s.scratch = s.a.table.storedKey(s.scratch[:0], g)
			s.buf = asKey.row(appendLong(s.buf, s.scratch), args, int(r))
			away, err := s.values.has(valueHash(s.buf), s.buf)
			if err != nil {
				return nil, nil, err
			}
			if away {
				continue
			}
		}
		d.rows, d.groups = append(d.rows, r), append(d.groups, groups[k])
	}
	return append([]int32(nil), d.rows...), append([]int32(nil), d.groups...), nil
}

// freezeValues writes the sets of the groups away.
func (s *aggState) freezeValues(groups []int32) error {
	if !s.distinct {
		return nil
	}
	type value struct{ call, group, entry int32 }
	var all []value
	var numbers []int32
	for i, c := range s.a.calls {
		if c.distinct == nil {
			continue
		}
		for _, g := range groups {
			c.distinct.chain.each(g, func(entry int32) {
				numbers = append(numbers, int32(len(all)))
				all = append(all, value{int32(i), g, entry})
			})
		}
	}
	key := func(x int32) []byte {
		s.buf = s.setKey(s.buf[:0], int(all[x].call), all[x].group, all[x].entry)
		return s.buf
	}
	return s.values.freeze(numbers, func(x int32) uint64 { return valueHash(key(x)) }, func(x int32, e *coldEntry, _ *entryWriter) {
		v := all[x]
		e.key, e.until, e.idle, e.flags = key(x), s.untilOf(v.group), s.idle.due(v.group), coldSaved
		if s.a.calls[v.call].distinct.isMade.Get(int(v.entry)) {
			e.flags = coldDirty
		}
	})
}

// away forgets all values, which have left memory.
func (d *distinctSet) away() {
	*d.table = *newGroupTable(d.table.layout.types)
	d.reset()
}

// dropValues forgets the values that are away and due. One whose group was used
// since comes back with it.
func (s *aggState) dropValues(kind int, w int64) error {
	for s.values.kept > 0 {
		var back Entries
		var flags []byte
		n, err := s.values.due(kind, w, column.BatchRows, true, func(e *coldEntry) error {
			if kind == byIdle {
				here, err := s.holds(e)
				if err != nil {
					return err
				}
				if here {
					back.Add(e.key, nil)
					flags = append(flags, e.flags)
					return nil
				}
			}
			if e.flags&coldSaved != 0 {
				s.log.forget(e.key)
			}
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
		for i, f := range flags {
			key, _ := back.At(i)
			if err := s.takeValue(key, f); err != nil {
				return err
			}
		}
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// holds says whether the group of a value is still there.
func (s *aggState) holds(e *coldEntry) (bool, error) {
	key, _, _ := cutLong(e.key[2:])
	if s.a.table.lookupKey(key) >= 0 || s.cold.kept == 0 {
		return s.a.table.lookupKey(key) >= 0, nil
	}
	s.scratch = append(append(s.scratch[:0], e.key[0], 0), key...)
	return s.cold.has(s.loadedHash(key), s.scratch)
}

// loadedHash is the hash of a stored key.
func (s *aggState) loadedHash(key []byte) uint64 {
	if null, _ := s.a.table.loadKey(key); null {
		return s.a.table.nullHash()
	}
	return s.a.table.hash[0]
}

// thawKey brings the group with a stored key back, if it is away.
func (s *aggState) thawKey(key []byte) error {
	if s.cold.kept == 0 || s.a.table.lookupKey(key) >= 0 {
		return nil
	}
	hash := s.loadedHash(key)
	return s.cold.takeAll(hash, func(e *coldEntry) bool { return string(s.plainKey(e.key)) == string(key) }, s.takeBack)
}

// takeValue puts a value back into its set.
func (s *aggState) takeValue(stored []byte, flags byte) error {
	i := int(stored[1]) - 1
	key, args, ok := cutLong(stored[2:])
	if !ok || i < 0 || i >= len(s.sets) || s.sets[i] == nil || s.sets[i].decode(args) != nil {
		return errState(s.info.ID)
	}
	if err := s.thawKey(key); err != nil {
		return err
	}
	g := s.a.table.lookupKey(key)
	if g < 0 {
		return errState(s.info.ID)
	}
	d := s.a.calls[i].distinct
	d.first(s.sets[i].cols, []int32{0}, []int32{g})
	if flags&coldDirty == 0 && len(d.table.fresh) > 0 {
		d.isMade.Unset(int(d.out[0]))
	}
	return nil
}
