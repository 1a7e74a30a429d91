package operator

import (
	"encoding/binary"

	"pipelines/tables/column"
)

// keep stores rows of a batch until they expire. Left rows of a semi or anti join
// that have matched are not kept, nor are rows whose null key can never match, unless
// they come out when they go.
func (s *joinState) keep(b *column.Batch, keys []*column.Vector, rows []int32) error {
	j := s.j
	var kept []int32
	for _, r := range rows {
		if s.once && j.hits[r] || !s.outer && !keysMatch(j.n, keys, int(r)) {
			continue
		}
		kept = append(kept, r)
	}
	if len(kept) == 0 {
		return nil
	}
	s.groups = grow(s.groups, len(kept))
	s.table.assign(keys, kept, s.groups)
	first, id := s.rows.store.rows, s.ids.take(len(kept))
	s.rows.store.add(b.Cols, kept)
	for k, r := range kept {
		x := int32(first + k)
		s.rows.add(x, s.groups[k], id+uint64(k), s.untilOf(b, keys, int(r)))
		if s.outer && j.hits[r] {
			s.rows.matched.Set(int(x))
		}
		s.rows.isFresh(x)
		s.log.touch(x)
		s.idle.touch(x)
	}
	j.counts.Updated += int64(len(kept))
	if err := s.askAway(keys, kept, int32(first)); err != nil {
		return err
	}
	return j.check()
}

// untilOf says at which watermark row r goes.
func (s *joinState) untilOf(b *column.Batch, keys []*column.Vector, r int) int64 {
	switch {
	case s.keyTime >= 0:
		if v := keys[s.keyTime]; !v.IsNull(r) {
			return timeAt(v, r)
		}
	case s.bound && s.time >= 0:
		if v := b.Cols[s.time]; !v.IsNull(r) {
			return timeAt(v, r) + s.until
		}
	}
	return noExpiry
}

// add notes row x, which is the newest of the store.
func (r *joinRows) add(x, group int32, id uint64, until int64) {
	n := int(x) + 1
	r.alive, r.matched = r.alive.Grow(n), r.matched.Grow(n)
	r.alive.Set(int(x))
	r.matched.Unset(int(x))
	r.group, r.id, r.until = append(r.group[:x], group), append(r.id[:x], id), append(r.until[:x], until)
	for len(r.live) <= int(group) {
		r.live = append(r.live, 0)
	}
	r.live[group]++
	r.lists.add(group, x)
	if until != noExpiry && !r.unindexed {
		r.expiry.add(until, x)
	}
}

// isFresh notes that row x came in this step.
func (r *joinRows) isFresh(x int32) {
	r.fresh = r.fresh.Grow(int(x) + 1)
	r.fresh.Set(int(x))
}

// index fills the expiry after a restore.
func (r *joinRows) index() {
	if !r.unindexed {
		return
	}
	r.unindexed = false
	for x := range r.store.rows {
		if r.alive.Get(x) && r.until[x] != noExpiry {
			r.expiry.add(r.until[x], int32(x))
		}
	}
}

// forget drops a row; its columns go with the next compaction.
func (s *joinState) forget(x int32) {
	s.log.remove(x, func(dst []byte) []byte { return s.rowKey(dst, x) })
	if s.drop1(x) {
		s.table.remove(s.rows.group[x])
	}
}

// drop1 drops a row and says whether its key group has none left.
func (s *joinState) drop1(x int32) bool {
	s.rows.alive.Unset(int(x))
	s.rows.expiry.remove(x)
	s.idle.forget(x)
	s.rows.dead++
	g := s.rows.group[x]
	s.rows.live[g]--
	if s.rows.live[g] > 0 {
		return false
	}
	s.rows.lists.clear(g)
	return true
}

func (j *streamJoin) end() error {
	j.lane = j.part
	if err := j.dropIdle(); err != nil {
		return err
	}
	if err := j.meetAway(); err != nil {
		return err
	}
	for _, s := range j.sides {
		if err := s.expire(j.evict); err != nil {
			return err
		}
	}
	for _, s := range j.sides {
		s.compact()
	}
	return j.out.end()
}

// expire emits the outer rows without a partner whose time has come, and
// forgets all expired rows.
func (s *joinState) expire(w int64) error {
	if !s.j.timed {
		return nil
	}
	gone := s.rows.expiry.expire(w)
	if err := s.leave(gone); err != nil {
		return err
	}
	var empty []int32 // key groups without rows
	for _, x := range gone {
		s.j.passed = w
		s.log.lapse(x)
		if s.drop1(x) {
			empty = append(empty, s.rows.group[x])
		}
	}
	s.table.removeAll(empty)
	return s.dropAway(byTime, w)
}

// dropIdle is expire of the rows that were not touched for the time, once a step
// and before its rows look for partners (O-74).
func (j *streamJoin) dropIdle() error {
	if j.dropped {
		return nil
	}
	j.dropped = true
	for _, s := range j.sides {
		if s.idle.ttl <= 0 {
			continue
		}
		var gone []int32
		s.idle.expire(func(x int32) { gone = append(gone, x) })
		if err := s.leave(gone); err != nil {
			return err
		}
		for _, x := range gone {
			s.forget(x)
		}
		if err := s.dropAway(byIdle, s.idle.now); err != nil {
			return err
		}
	}
	return nil
}

// leave counts rows that go, and emits the outer ones among them that have no
// partner.
func (s *joinState) leave(gone []int32) error {
	var alone []int32
	for _, x := range gone {
		single := s.outer && !s.rows.matched.Get(int(x))
		if single {
			alone = append(alone, x)
		}
		s.uncount(s.right && s.rows.fresh.Get(int(x)) && !single)
	}
	for len(alone) > 0 {
		n := min(len(alone), column.BatchRows)
		if err := s.emitAlone(alone[:n]); err != nil {
			return err
		}
		alone = alone[n:]
	}
	return nil
}

func (s *joinState) emitAlone(rows []int32) error {
	b := newBatch(s.j.p.env.Pool, s.j.cols)
	own, other := s.halves(b)
	s.rows.store.gather(rows, own)
	for _, v := range other {
		for range rows {
			v.AppendNull()
		}
	}
	b.Len = len(rows)
	return pushFresh(s.j.out, 0, b)
}

// halves are the columns of this side and of the other in a batch of pairs.
func (s *joinState) halves(b *column.Batch) (own, other []*column.Vector) {
	n := len(s.rows.store.cols)
	if s.right {
		return b.Cols[len(b.Cols)-n:], b.Cols[:len(b.Cols)-n]
	}
	return b.Cols[:n], b.Cols[n:]
}

// compact moves the living rows together when most are dead. It runs between
// steps' pushes only: numbers change.
func (s *joinState) compact() {
	r := &s.rows
	if r.dead < 4*column.BatchRows || r.dead*2 < r.store.rows {
		return
	}
	old := *r
	r.store = newRowStore(old.store.pool, old.store.cols)
	r.lists, r.expiry, r.dead = chains{}, timeIndex{}, 0
	r.group, r.id, r.until = nil, nil, nil
	r.alive, r.matched, r.fresh = nil, nil, nil
	clear(r.live)
	all := identity(column.BatchRows)
	var ids []int32
	log := changeLog{gone: s.log.gone, ends: s.log.ends}
	rest := idle{ttl: s.idle.ttl, now: s.idle.now}
	move := func() {
		if len(ids) == 0 {
			return
		}
		b := old.store.batch(ids)
		first := r.store.rows
		r.store.add(b.Cols, all[:len(ids)])
		b.Release()
		for k, o := range ids {
			x := int32(first + k)
			r.add(x, old.group[o], old.id[o], old.until[o])
			if old.matched.Get(int(o)) {
				r.matched.Set(int(x))
			}
			if rest.ttl > 0 {
				rest.set(x, s.idle.at[o])
				rest.index.add(s.idle.at[o], x)
			}
			if s.log.dirty.Get(int(o)) {
				log.touch(x)
			}
			if s.log.saved.Get(int(o)) {
				log.save(x)
			}
		}
		ids = ids[:0]
	}
	for x := range old.store.rows {
		if old.alive.Get(x) {
			ids = append(ids, int32(x))
		}
		if len(ids) == column.BatchRows {
			move()
		}
	}
	move()
	old.store.reset()
	s.log, s.idle = log, rest
}

// ID names the operator in the checkpoint.
func (j *streamJoin) ID() string { return j.n.State.ID }

// Meaning says what the state means.
func (j *streamJoin) Meaning() string {
	return j.n.State.Meaning + rowLayout(j.n.Left.Output()) + rowLayout(j.n.Right.Output())
}

func (j *streamJoin) count() OperatorCount {
	c := j.counts
	c.ID = j.n.State.ID
	for _, s := range j.sides {
		c.StateRows += int64(s.rows.store.rows - s.rows.dead + s.cold.kept)
	}
	c.StateBytes = j.bytes()
	return c
}

// rowKey is the stored key of a row: key group, side, id.
func (s *joinState) rowKey(dst []byte, x int32) []byte {
	side := byte(0)
	if s.right {
		side = 1
	}
	dst = append(dst, s.table.groupOf(s.rows.group[x]), side)
	return binary.BigEndian.AppendUint64(dst, s.rows.id[x])
}

// put hands out the entry of a row: whether it has matched, when it goes, its
// key with its length, its columns.
func (s *joinState) put(w *entryWriter, x int32) {
	s.buf = s.rowKey(s.buf[:0], x)
	n := len(s.buf)
	flag := byte(0)
	if s.rows.matched.Get(int(x)) {
		flag = 1
	}
	s.buf = binary.LittleEndian.AppendUint64(append(s.buf, flag), uint64(s.rows.until[x]))
	s.stored = s.table.storedKey(s.stored[:0], s.rows.group[x])
	s.buf = appendLong(s.idle.append(s.buf, x), s.stored)
	c, r := s.rows.store.place(int(x))
	s.buf = exact.row(s.buf, s.rows.store.chunks[c].Cols, r)
	w.write(s.buf, n)
}

// Changes hands out what changed since the last call.
func (j *streamJoin) Changes(put Put) error {
	w := &entryWriter{put: put}
	for _, s := range j.sides {
		s.log.flush(w, func(x int32) { s.put(w, x) })
		if err := s.cold.changes(w); err != nil {
			return err
		}
	}
	j.passed = nonePassed
	return nil
}

// Expiry says that a value holds, behind its flag, the time at which it goes.
func (j *streamJoin) Expiry() Expiry { return Expiry{At: 1, Passed: j.passed} }

// Snapshot hands out all rows.
func (j *streamJoin) Snapshot(put Put) {
	w := &entryWriter{put: put}
	for _, s := range j.sides {
		for x := range s.rows.store.rows {
			if s.rows.alive.Get(x) {
				s.put(w, int32(x))
			}
		}
		s.cold.snapshot(w)
	}
}

// Restore takes one row.
func (j *streamJoin) Restore(key, value []byte) error {
	if len(key) != 10 || key[1] > 1 {
		return errState(j.ID())
	}
	s := j.sides[key[1]]
	id := binary.BigEndian.Uint64(key[2:])
	s.rows.unindexed = true
	x, at, ok := s.insert(id, value)
	if !ok {
		return errState(j.ID())
	}
	s.idle.restore(x, at)
	s.log.save(x)
	return nil
}

// insert adds the row of an entry, and says when it was last used.
func (s *joinState) insert(id uint64, value []byte) (x int32, at int64, ok bool) {
	if len(value) < 10 {
		return 0, 0, false
	}
	until := int64(binary.LittleEndian.Uint64(value[1:]))
	at, rest, whole := s.idle.cut(value[9:])
	stored, row, ok := cutLong(rest)
	if !ok || !whole {
		return 0, 0, false
	}
	g, ok := s.table.restoreKey(stored)
	if s.codec == nil {
		s.codec = newRowCodec(typesOf(s.rows.store.cols))
	}
	if !ok || s.codec.decode(row) != nil {
		return 0, 0, false
	}
	x = int32(s.rows.store.rows)
	s.rows.store.add(s.codec.cols, []int32{0})
	s.rows.add(x, g, id, until)
	if value[0] == 1 {
		s.rows.matched.Set(int(x))
	}
	s.ids.seen(id)
	return x, at, true
}
