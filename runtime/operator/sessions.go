package operator

import (
	"cmp"
	"encoding/binary"
	"slices"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// sessions is an aggregate whose groups are sessions: the rows of a key whose
// own intervals touch are one session. Keys are numbered by a table, sessions
// by themselves; a session's number is also its group in the states. It is one
// part of an exchange.
type sessions struct {
	explicit
	p    *Plan
	mem  *memory
	out  port
	n    *logical.Aggregate
	at   int // place of the session among the groups
	cols []logical.Attr

	info        *logical.StateInfo // nil: not over a stream
	timed       bool
	late, evict int64

	table   *groupTable
	keys    []*column.Vector
	groups  []int32
	calls   []*aggCall
	ordered bool    // some call has an order of its own
	byKey   []int32 // key -> the root of its sessions, -1
	list    sessionList
	free    []int32
	pending struct{ rows, groups []int32 }
	expiry  timeIndex // of tickets
	tickets []int32   // ticket -> session, -1 when void
	unused  []int32   // tickets

	log     changeLog
	idle    idle      // of keys
	touched changeLog // keys of this step
	counts  OperatorCount
	codec   *rowCodec
	sets    []*setCodec
	buf     []byte
	cold    cold
	backing backing
	away    int // sessions that are in cold
	// awayTouched are those of them whose key was touched in this step.
	awayTouched int
}

// session is one open session, in the tree of its key.
type session struct {
	start, end  int64
	key, ticket int32
	left, right int32
	alive       bool
	old         bool // stored by an earlier step, under this start
}

func (bd *builder) sessions(n *logical.Aggregate, at int, out port) (port, watermarked, error) {
	ng := len(n.Groups)
	x := bd.exchange(out, ng-1)
	keys := firstN(ng)
	spec := inletSpec{attrs: n.Input.Output(), keys: append(keys[:at:at], keys[at+1:]...), used: ng, time: -1}
	var to []taker
	for _, o := range x.outlets {
		s, exprs, err := bd.sessionsPart(n, at, o)
		if err != nil {
			return nil, nil, err
		}
		spec.exprs, to = exprs, append(to, s)
		if s.info != nil {
			x.add(s, s)
		} else {
			x.add(s, nil)
		}
	}
	in, err := bd.inlet(x, spec, to)
	return in, bd.watermarked(x), err
}

// sessionsPart builds one part and lists what it wants evaluated.
func (bd *builder) sessionsPart(n *logical.Aggregate, at int, out port) (*sessions, []logical.Expr, error) {
	s := &sessions{p: bd.p, out: out, n: n, at: at, cols: n.Output()}
	var exprs []logical.Expr
	for _, g := range n.Groups {
		exprs = append(exprs, g.Expr)
	}
	s.calls, exprs = aggInputs(bd, n.Aggs, exprs)
	s.table = newGroupTable(typesOf(s.keyCols()))
	if err := s.prepareState(); err != nil {
		return nil, nil, err
	}
	bd.add(s)
	s.mem = bd.memory(label("session aggregate", n.State))
	s.cold = newCold(s.mem)
	s.backing = backing{f: s, table: s.table, stored: func(e *coldEntry) []byte { return e.key[1:] }, take: s.takeBack}
	if n.State == nil || !n.Input.Streaming() {
		return s, exprs, nil
	}
	s.info = n.State
	s.idle.ttl = n.State.TTL
	return s, exprs, nil
}

// keyCols are the groups beside the session.
func (s *sessions) keyCols() []logical.Attr {
	out := append([]logical.Attr{}, s.cols[:s.at]...)
	return append(out, s.cols[s.at+1:len(s.n.Groups)]...)
}

func (s *sessions) setWatermarks(late, evict int64, ok bool) {
	s.late, s.evict, s.timed = late, evict, ok
}

func (s *sessions) outputWatermark(w int64) int64 { return w }

func (s *sessions) begin(*stepState) error {
	s.counts = OperatorCount{}
	if s.info == nil {
		s.reset()
	}
	s.touched.reset()
	for _, key := range s.idle.begin(s.p.step.Now) {
		s.log.touch(key)
	}
	s.cold.begin()
	s.awayTouched = 0
	err := s.cold.dropIdle(&s.idle, &s.log, func(e *coldEntry) {
		s.counts.Removed += int64(len(e.note))
		s.away -= len(e.note)
	})
	if err != nil {
		return err
	}
	s.idle.expire(s.forgetKey)
	return nil
}

func (s *sessions) reset() {
	s.table.reset()
	for _, c := range s.calls {
		c.reset()
	}
	s.byKey, s.list, s.free = s.byKey[:0], s.list[:0], s.free[:0]
	s.expiry, s.tickets, s.unused = timeIndex{}, s.tickets[:0], s.unused[:0]
	s.cold.close()
	s.away = 0
}

func (s *sessions) close() {
	s.cold.close()
	for _, c := range s.calls {
		if c.ordered != nil {
			c.ordered.reset()
		}
	}
}

func (s *sessions) expires() bool { return s.info != nil && s.timed && s.info.Mode != logical.Complete }

func (s *sessions) take(x *dealt) error { return s.fold(x.b.Len, x.vecs, x.rows) }

func (s *sessions) fold(n int, vecs []*column.Vector, rows []int32) error {
	own := vecs[s.at]
	if s.expires() {
		keep := onTime(own, rows, s.late)
		s.counts.LateRows += int64(len(rows) - len(keep))
		rows = keep
	}
	s.keys = append(append(s.keys[:0], vecs[:s.at]...), vecs[s.at+1:len(s.n.Groups)]...)
	for len(rows) > 0 {
		k, err := s.cold.back(&s.backing, s.keys, rows)
		if err != nil {
			return err
		}
		if err := s.foldSome(n, vecs, rows[:k]); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
		rows = rows[k:]
	}
	return nil
}

// foldSome folds rows whose keys are in memory or new.
func (s *sessions) foldSome(n int, vecs []*column.Vector, rows []int32) error {
	s.groups = grow(s.groups, len(rows))
	s.table.assign(s.keys, rows, s.groups)
	for len(s.byKey) < s.table.groups {
		s.byKey = append(s.byKey, -1)
	}
	s.pending.rows, s.pending.groups = s.pending.rows[:0], s.pending.groups[:0]
	flush := func() error {
		if len(s.pending.rows) == 0 {
			return nil
		}
		for _, c := range s.calls {
			if err := c.update(n, vecs, s.pending.rows, s.pending.groups); err != nil {
				return err
			}
		}
		s.pending.rows, s.pending.groups = s.pending.rows[:0], s.pending.groups[:0]
		return nil
	}
	start, end, place := sessionTimes(vecs[s.at])
	for k, r := range rows {
		i := place(int(r))
		g, err := s.join(s.groups[k], start[i], end[i], flush)
		if err != nil {
			return err
		}
		s.pending.rows, s.pending.groups = append(s.pending.rows, r), append(s.pending.groups, g)
	}
	return flush()
}

// sessionTimes returns the columns of a session vector and how rows map to them.
func sessionTimes(v *column.Vector) (start, end []int64, place func(int) int) {
	place = v.Row
	if v.Dict != nil {
		x := v.Index
		v, place = v.Dict, func(i int) int { return int(x[i]) }
	}
	return v.Children[0].I64, v.Children[1].I64, place
}

// join finds the session of key that [start, end) belongs to, merging those
// that it connects, or makes a new one. flush folds the rows that wait: their
// session may be about to go.
func (s *sessions) join(key int32, start, end int64, flush func() error) (int32, error) {
	s.log.touch(key)
	s.touched.touch(key)
	s.idle.touch(key)
	into := s.list.endingFrom(s.byKey[key], start)
	if into < 0 || s.list[into].start > end {
		return s.open(key, start, end), nil
	}
	for s.list[into].end < end {
		next := s.list.endingFrom(s.byKey[key], s.list[into].end+1)
		if next < 0 || s.list[next].start > end {
			break
		}
		if err := flush(); err != nil {
			return 0, err
		}
		s.merge(into, next)
	}
	o := &s.list[into]
	if start < o.start && o.old { // it is stored under its start
		s.counts.Removed++
		o.old = false
	}
	o.start, o.end = min(o.start, start), max(o.end, end)
	return into, nil
}

// open makes a session.
func (s *sessions) open(key int32, start, end int64) int32 {
	g := int32(len(s.list))
	if n := len(s.free); n > 0 {
		g, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.list = append(s.list, session{})
		for _, c := range s.calls {
			c.st.Grow(len(s.list))
		}
	}
	s.list[g] = session{start: start, end: end, key: key, ticket: -1, left: -1, right: -1, alive: true}
	s.byKey[key] = s.list.insert(s.byKey[key], g)
	if s.info != nil && s.info.Mode != logical.Complete {
		s.schedule(g)
	}
	return g
}

// schedule gives the session a ticket in the expiry index.
func (s *sessions) schedule(g int32) {
	t := int32(len(s.tickets))
	if n := len(s.unused); n > 0 {
		t, s.unused = s.unused[n-1], s.unused[:n-1]
	} else {
		s.tickets = append(s.tickets, -1)
	}
	s.tickets[t] = g
	s.list[g].ticket = t
	s.expiry.add(s.list[g].end, t)
}

// merge folds session b, the next one, into a.
func (s *sessions) merge(a, b int32) {
	for i, c := range s.calls {
		switch {
		case c.ordered != nil:
			c.ordered.join(a, b)
		case c.distinct != nil:
			s.mergeDistinct(i, c, a, b)
		default:
			c.fn.Merge(&c.ctx, c.st, []int32{a}, []int32{b}, c.st)
		}
	}
	if s.list[b].old {
		s.counts.Removed++
	}
	s.list[a].end = s.list[b].end
	s.drop1(b)
}

// mergeDistinct folds the arguments that only b has seen into a.
func (s *sessions) mergeDistinct(i int, c *aggCall, a, b int32) {
	var entries []int32
	c.distinct.chain.each(b, func(e int32) { entries = append(entries, e) })
	for _, e := range entries {
		args := s.distinctArgs(i, e)
		rows, groups := c.distinct.first(args, []int32{0}, []int32{a})
		if len(rows) > 0 {
			c.fold(1, args, rows, groups)
		}
	}
}

// drop1 forgets a session; its key stays.
func (s *sessions) drop1(g int32) {
	o := &s.list[g]
	s.byKey[o.key] = s.list.without(s.byKey[o.key], g)
	if o.ticket >= 0 {
		s.tickets[o.ticket] = -1
	}
	o.alive = false
	if !s.ordered { // else rows that wait for their order have the number
		s.free = append(s.free, g)
	}
	for _, c := range s.calls {
		c.st.Clear(g)
		if c.distinct != nil {
			c.distinct.chain.each(g, c.distinct.removeEntry)
			c.distinct.chain.clear(g)
		}
	}
}

func (s *sessions) end() error {
	for _, c := range s.calls {
		if c.ordered != nil {
			c.ordered.feed(c)
		}
	}
	s.touched.flush(&entryWriter{put: func(_, _ []byte) {}}, func(key int32) {
		s.list.each(s.byKey[key], func(g int32) {
			s.list[g].old = true
			s.counts.Updated++
		})
	})
	s.counts.Updated += int64(s.awayTouched)
	s.awayTouched = 0
	s.cold.begin()
	switch {
	case s.expires():
		if err := s.expireAll(); err != nil {
			return err
		}
	case s.info == nil || s.info.Mode == logical.Complete:
		if err := s.emitAll(); err != nil {
			return err
		}
	}
	if s.info == nil {
		s.reset()
	}
	return s.out.end()
}

// expire emits and forgets the sessions whose end the watermark has reached.
func (s *sessions) expire() error {
	var gone []int32
	for _, t := range s.expiry.expire(s.evict) {
		g := s.tickets[t]
		switch {
		case g < 0:
			s.unused = append(s.unused, t)
		case s.list[g].end > s.evict: // it has grown since
			s.expiry.add(s.list[g].end, t)
		default:
			gone = append(gone, g)
			s.tickets[t] = -1
			s.list[g].ticket = -1
			s.unused = append(s.unused, t)
		}
	}
	slices.SortFunc(gone, func(a, b int32) int {
		x, y := &s.list[a], &s.list[b]
		return cmp.Or(cmp.Compare(x.end, y.end), cmp.Compare(x.start, y.start), cmp.Compare(x.key, y.key))
	})
	if err := s.emit(gone); err != nil {
		return err
	}
	s.counts.Removed += int64(len(gone))
	for _, g := range gone {
		key := s.list[g].key
		s.drop1(g)
		s.log.touch(key)
		if s.byKey[key] < 0 {
			s.removeKey(key)
		}
	}
	return nil
}

// removeKey forgets a key without sessions.
func (s *sessions) removeKey(key int32) {
	s.log.remove(key, func(dst []byte) []byte { return s.storedKey(dst, key) })
	s.idle.forget(key)
	s.table.remove(key)
}

// forgetKey drops a key with its sessions (state_ttl).
func (s *sessions) forgetKey(key int32) {
	for s.byKey[key] >= 0 {
		s.drop1(s.byKey[key])
		s.counts.Removed++
	}
	s.removeKey(key)
}

// emit pushes the rows of sessions.
func (s *sessions) emit(groups []int32) error {
	ng := len(s.n.Groups)
	for len(groups) > 0 {
		n := min(len(groups), column.BatchRows)
		b := newBatch(s.p.env.Pool, s.cols)
		keys := append(append([]*column.Vector{}, b.Cols[:s.at]...), b.Cols[s.at+1:ng]...)
		win := b.Cols[s.at]
		ids := make([]int32, n)
		for k, g := range groups[:n] {
			ids[k] = s.list[g].key
			win.Children[0].I64 = append(win.Children[0].I64, s.list[g].start)
			win.Children[1].I64 = append(win.Children[1].I64, s.list[g].end)
		}
		win.Len, win.Children[0].Len, win.Children[1].Len = n, n, n
		s.table.appendKeys(ids, keys)
		for i, c := range s.calls {
			c.finish(groups[:n], b.Cols[ng+i])
		}
		b.Len = n
		if err := pushFresh(s.out, 0, b); err != nil {
			return err
		}
		groups = groups[n:]
	}
	return nil
}

func (s *sessions) storedKey(dst []byte, key int32) []byte {
	return s.table.storedKey(append(dst, s.table.groupOf(key)), key)
}

func (s *sessions) count() OperatorCount {
	c := s.counts
	c.ID, c.StateRows, c.StateBytes = s.info.ID, int64(len(s.list)-len(s.free)+s.away), s.bytes()
	return c
}

func appendTimes(dst []byte, a, b int64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, uint64(a)), uint64(b))
}
