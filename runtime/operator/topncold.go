package operator

import (
	"encoding/binary"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

func (t *topN) bytes() int64 { return t.loose() + t.cold.bytes() }

func (t *topN) loose() int64 {
	n := int64(4*(cap(t.ranks)+cap(t.kept)+cap(t.pending)+cap(t.changed)) + cap(t.done) + 8*len(t.listed))
	return n + t.store.bytes() + t.table.bytes() + t.touched.bytes() + t.log.bytes() + t.idle.bytes()
}

func (t *topN) entries() int { return t.table.live() }

// check asks for what is held and puts all partitions away when it is refused.
func (t *topN) check() error {
	if t.idle.unknown {
		return t.mem.must(t.bytes())
	}
	return t.cold.check(t, t.log.goneBytes())
}

// freeze writes all partitions to a run. In append mode one whose row has not
// come out is due at the time of its row.
func (t *topN) freeze() error {
	var all []int32
	for g, n := range t.kept {
		if n > 0 {
			all = append(all, int32(g))
		}
	}
	var note [4]byte
	err := t.cold.freeze(all, t.table.hashOf, func(g int32, e *coldEntry, w *entryWriter) {
		t.put(w, g)
		e.until, e.idle, e.flags = t.dueOf(g), t.idle.due(g), t.log.flags(g)
		if t.touched.dirty.Get(int(g)) {
			e.flags |= coldTouched
			binary.LittleEndian.PutUint32(note[:], uint32(t.changed[g]))
			e.note = note[:]
		}
		t.away += int(t.kept[g])
	})
	if err != nil {
		return err
	}
	t.store.reset()
	*t.table = *newGroupTable(t.table.layout.types)
	t.ranks, t.kept, t.done, t.pending, t.listed, t.changed, t.dead, t.restored = nil, nil, nil, nil, nil, nil, 0, false
	t.touched.away()
	t.log.away()
	t.idle.away()
	return nil
}

// dueOf is the time at which the row of a partition comes out.
func (t *topN) dueOf(g int32) int64 {
	if t.n.State.Mode != logical.Append || t.done[g] {
		return noExpiry
	}
	c, r := t.store.place(int(t.ranks[int(g)*t.limit]))
	v := t.store.chunks[c].Cols[t.time]
	if v.IsNull(r) {
		return noExpiry
	}
	return timeAt(v, r)
}

// takeBack makes a partition of an entry.
func (t *topN) takeBack(e *coldEntry) error {
	g, err := t.takeGroup(e)
	if err != nil {
		return err
	}
	if e.flags&coldTouched != 0 {
		t.touched.touch(g)
	}
	if t.n.State.Mode == logical.Append && !t.done[g] {
		t.wait(g)
	}
	return nil
}

func (t *topN) takeGroup(e *coldEntry) (int32, error) {
	g, ok := t.table.restoreKey(e.key[1:])
	if !ok {
		return 0, errState(t.ID())
	}
	t.widen()
	at, ok := t.set(g, e.value)
	if !ok {
		return 0, t.unfit(g)
	}
	if e.flags&coldTouched != 0 && len(e.note) != 4 {
		return 0, errState(t.ID())
	}
	if e.flags&coldTouched != 0 {
		t.changed[g] = int32(binary.LittleEndian.Uint32(e.note))
	}
	t.away -= int(t.kept[g])
	t.idle.back(g, at)
	t.log.back(g, e.flags)
	return g, nil
}

// endAway is the end of the step for the partitions that are away.
func (t *topN) endAway() error {
	for t.cold.kept > 0 {
		var groups []int32
		take := func(e *coldEntry) error {
			g, err := t.takeGroup(e)
			groups = append(groups, g)
			return err
		}
		var err error
		if t.n.State.Mode == logical.Append {
			_, err = t.cold.due(byTime, t.evict, column.BatchRows, true, take)
		} else {
			err = t.cold.eachTouched(max(1, column.BatchRows/t.limit), take)
		}
		if err != nil {
			return err
		}
		if len(groups) == 0 {
			break
		}
		if t.n.State.Mode == logical.Append {
			for _, g := range groups {
				t.done[g] = true
				t.log.touch(g)
			}
			err = t.emit(groups, func(int32) int32 { return 0 })
		} else {
			err = t.emitChanged(groups)
		}
		if err != nil {
			return err
		}
		for _, g := range groups {
			t.changed[g] = int32(t.limit)
		}
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

// rowsIn is the number of rows of an entry.
func (t *topN) rowsIn(e *coldEntry) (n int) {
	_, rows, _ := t.idle.cut(e.value[1:])
	for ok := true; ok && len(rows) > 0; {
		if _, rows, ok = cutLong(rows); ok {
			n++
		}
	}
	return n
}

// restoreAll takes many partitions, each once.
func (t *topN) restoreAll(e *Entries) error {
	if err := restoreEach(e, t.Restore); err != nil {
		return err
	}
	return t.check()
}
