package operator

import (
	"math"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// canFreeze says whether groups may leave memory; that of groups which have gone
// is given up with them. The only group of an aggregate without keys leaves for
// its sets.
func (s *aggState) canFreeze() bool {
	return (s.a.nkeys > 0 || s.distinct) && !s.idle.unknown
}

// global makes the only group of an aggregate without keys, or brings it back.
func (s *aggState) global() error {
	if _, err := s.cold.back(&s.backing, nil, []int32{0}); err != nil {
		return err
	}
	s.a.ensureGlobal()
	s.alive, s.marked = s.alive.Grow(1), s.marked.Grow(1)
	s.alive.Set(0)
	s.mark(0)
	return nil
}

func (s *aggState) bytes() int64 { return s.loose() + s.cold.bytes() + s.values.bytes() }

func (s *aggState) entries() int {
	n := s.a.table.live()
	for _, c := range s.a.calls {
		if c.distinct != nil {
			n += len(c.distinct.chain.next)
		}
	}
	return n
}

func (s *aggState) loose() int64 {
	n := s.a.bytes() + int64(8*(len(s.alive)+len(s.marked))+4*cap(s.touched)) + s.log.bytes() + s.expiry.bytes() + s.idle.bytes()
	if s.a.panes != nil {
		n += s.a.panes.bytes()
	}
	return n
}

// check asks for what is held and puts all groups away when it is refused.
func (s *aggState) check() error {
	if !s.canFreeze() {
		return s.a.mem.must(s.bytes())
	}
	if err := s.cold.check(s, s.log.goneBytes()); err != nil {
		return err
	}
	if len(s.values.runs) > coldRunsMax {
		return s.values.tidy()
	}
	return nil
}

// fold folds rows a few at a time, when groups of them have to come back.
func (s *aggState) fold(n int, vecs []*column.Vector, rows []int32) error {
	for len(rows) > 0 {
		k, err := s.cold.back(&s.backing, vecs[:s.a.nkeys], rows)
		if err != nil {
			return err
		}
		if err := s.a.fold(n, vecs, rows[:k]); err != nil {
			return err
		}
		rows = rows[k:]
	}
	return nil
}

func (s *aggState) prepareCold() {
	s.cold = newCold(s.a.mem)
	s.backing = backing{f: s, table: s.a.table, stored: func(e *coldEntry) []byte { return s.plainKey(e.key) }, take: s.takeBack}
	if s.distinct {
		s.prepareValues()
	}
	if s.a.panes == nil {
		return
	}
	s.backing.hash = func(kb *keyBatch, keys []*column.Vector, rows []int32) []uint64 {
		p := s.a.panes
		p.cols = append(append(p.cols[:0], keys[:p.at]...), keys[p.at+1:]...)
		own := p.keys.hashKeys(&p.kb, p.cols, rows)
		for k, h := range kb.hash {
			if p.keys.single && p.cols[0].IsNull(int(rows[k])) {
				own[k] = p.keys.nullHash()
			}
			own[k] = paneHash(own[k], h)
		}
		return own
	}
}

// paneHash is the hash of the entry of a pane: those of one key stand together,
// and each is found by itself.
func paneHash(key, group uint64) uint64 { return key&^tombstone | group&tombstone }

// entryHash is the hash of the entries of a group.
func (s *aggState) entryHash(g int32) uint64 {
	h := s.a.table.hashOf(g)
	if p := s.a.panes; p != nil {
		return paneHash(p.keys.hashOf(p.kid[g]), h)
	}
	return h
}

// freeze writes all groups to a run and empties the table.
func (s *aggState) freeze() error {
	s.drained()
	s.note()
	if s.restored {
		s.index()
	}
	var all []int32
	for g := range int32(s.a.table.groups) {
		if s.alive.Get(int(g)) {
			all = append(all, g)
		}
	}
	err := s.freezeValues(all)
	if err != nil {
		return err
	}
	err = s.cold.freeze(all, s.entryHash, func(g int32, e *coldEntry, w *entryWriter) {
		s.putGroup(w, g)
		e.until, e.idle, e.flags = s.untilOf(g), s.idle.due(g), s.log.flags(g)
		if s.marked.Get(int(g)) {
			e.flags |= coldTouched
		}
	})
	if err != nil {
		return err
	}
	*s.a.table = *newGroupTable(s.a.table.layout.types)
	for _, c := range s.a.calls {
		c.reset()
		if c.distinct != nil {
			c.distinct.away()
		}
	}
	if s.a.panes != nil {
		s.a.panes.away()
	}
	s.alive, s.marked, s.touched, s.logged, s.expiry = nil, nil, nil, 0, timeIndex{}
	s.log.away()
	s.idle.away()
	return nil
}

// untilOf is the event time at which a group goes.
func (s *aggState) untilOf(g int32) int64 {
	if !s.expiry.listed.Get(int(g)) {
		return noExpiry
	}
	return s.expiry.exact[g]
}

// takeBack makes a group of an entry.
func (s *aggState) takeBack(e *coldEntry) error {
	g, ok := s.a.table.restoreKey(s.plainKey(e.key))
	at, value, whole := s.idle.cut(e.value)
	if !ok || !whole || s.codec.decode(value) != nil {
		return errState(s.info.ID)
	}
	s.grown()
	s.alive.Set(int(g))
	s.load([]int32{g})
	s.idle.back(g, at)
	s.log.back(g, e.flags)
	if e.until != noExpiry {
		s.expiry.add(e.until, g)
	}
	if s.a.panes != nil {
		s.a.panes.enterGroup(g)
	}
	return nil
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

// aside makes groups of entries that come out while they stay away, in a table of
// their own.
type aside struct {
	s      *aggState
	table  *groupTable
	states []*funcs.States
	groups []int32
	bytes  int64
	last   uint64 // hash
}

// full says whether there is enough to come out.
func (x *aside) full() bool {
	return len(x.groups) >= column.BatchRows || x.bytes > x.s.cold.quota()
}

// add takes the entry of a group.
func (x *aside) add(e *coldEntry) error {
	s := x.s
	if x.full() && (s.a.panes == nil || x.last&^tombstone != e.hash&^tombstone) {
		if err := x.flush(); err != nil {
			return err
		}
	}
	if x.table == nil {
		x.table = newGroupTable(s.a.table.layout.types)
		for _, c := range s.a.calls {
			x.states = append(x.states, funcs.NewStates(c.fn.State))
		}
	}
	g, ok := x.table.restoreKey(s.plainKey(e.key))
	_, value, whole := s.idle.cut(e.value)
	if !ok || !whole || s.codec.decode(value) != nil {
		return errState(s.info.ID)
	}
	col := 0
	for i, st := range x.states {
		k := len(s.a.calls[i].fn.State)
		st.Grow(x.table.groups)
		st.Load(g, s.codec.cols[col:col+k], 0)
		col += k
	}
	x.groups, x.bytes, x.last = append(x.groups, g), x.bytes+int64(len(e.key)+len(e.value)), e.hash
	return nil
}

// flush emits the groups.
func (x *aside) flush() error {
	if len(x.groups) == 0 {
		return nil
	}
	a := x.s.a
	table, panes := a.table, a.panes
	a.table = x.table
	x.swap()
	var err error
	if panes == nil {
		err = a.emit(x.groups)
	} else {
		own := *panes
		a.panes = &own
		own.away()
		own.restore(func(int32) bool { return true })
		err = own.emit(x.s.late, x.s.evict)
		a.panes = panes
	}
	x.swap()
	a.table = table
	*x = aside{s: x.s}
	return err
}

// swap puts the states in the place of the operator's, and back.
func (x *aside) swap() {
	for i, c := range x.s.a.calls {
		c.st, x.states[i] = x.states[i], c.st
	}
}

// emitAway emits groups that are away: those of the step, or all.
func (s *aggState) emitAway(all bool) error {
	if s.cold.kept == 0 {
		return nil
	}
	x := aside{s: s}
	err := s.cold.each(-1, func(r *coldRun) bool { return all || r.touchedLeft > 0 }, func(e *coldEntry) (bool, error) {
		if !all && e.flags&coldTouched == 0 {
			return false, nil
		}
		return false, x.add(e)
	})
	if err != nil {
		return err
	}
	return x.flush()
}

// emitPanes emits the windows that are complete. A key has panes in memory and
// away: all go away first, then come out key by key.
func (s *aggState) emitPanes() error {
	p := s.a.panes
	if s.cold.kept == 0 {
		return p.emit(s.late, s.evict)
	}
	if !s.bounded && !p.due(s.late, s.evict) {
		return nil
	}
	if s.a.table.live() > 0 {
		if err := s.cold.away(s); err != nil {
			return err
		}
	}
	x := aside{s: s}
	if err := s.cold.sweep(x.add); err != nil {
		return err
	}
	return x.flush()
}

// dropAway forgets the groups that are away and due, and emits them if emit is set.
func (s *aggState) dropAway(kind int, w int64, emit bool) error {
	x := aside{s: s}
	read := emit || kind == byIdle || s.place.at < 0
	for s.cold.kept > 0 {
		n, err := s.cold.due(kind, w, column.BatchRows, read, func(e *coldEntry) error {
			switch {
			case kind == byTime && s.place.at >= 0:
				s.passed = w
			case e.flags&coldSaved != 0:
				s.log.forget(e.key)
			}
			if !emit {
				return nil
			}
			return x.add(e)
		})
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		s.counts.Removed += int64(n)
	}
	return x.flush()
}

// checkPanes asks for the memory of panes of a batch. When it is refused they go
// on like state: their groups go away and come back.
func (a *aggregate) checkPanes() error {
	total := a.bytes() + a.panes.bytes()
	spill, err := a.mem.mayFreeze(total, total)
	if err != nil || !spill {
		return err
	}
	s := &aggState{
		a: a, info: &logical.StateInfo{ID: "aggregate", Mode: logical.Append}, timeKey: -1, place: timePlace{at: -1},
		bounded: true, late: math.MinInt64, evict: math.MaxInt64,
	}
	var types []schema.Type
	for _, c := range a.calls {
		for _, sc := range c.fn.State {
			types = append(types, sc.StoredType())
		}
	}
	s.codec = newRowCodec(types)
	s.prepareCold()
	s.grown()
	for g := range a.table.groups { // none was removed
		s.alive.Set(g)
	}
	a.state = s
	if err := s.freeze(); err != nil {
		return err
	}
	return a.mem.owe(s.bytes())
}

// endPanes emits the windows of a batch whose panes have left memory.
func (a *aggregate) endPanes() error {
	if err := a.state.emitPanes(); err != nil {
		return err
	}
	a.reset()
	return a.out.end()
}
