package operator

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// aggState makes an aggregate keep its groups over the steps.
//
// Append: a group comes out, and goes, when the evict watermark reaches its
// event time. Update: groups that a row touched come out, then expired ones go
// silently. Complete: all groups come out each step; nothing is late or goes.
type aggState struct {
	a       *aggregate
	info    *logical.StateInfo
	timeKey int // the group key that carries event time, -1 for none
	place   timePlace

	timed       bool // the input has a watermark
	late, evict int64

	alive   column.Bits
	touched []int32 // of this step
	logged  int     // how many of them the log knows
	marked  column.Bits
	expiry  timeIndex
	log     changeLog
	later   aggCut
	idle    idle
	codec   *rowCodec   // states of a group
	sets    []*setCodec // arguments of distinct sets, by call
	scratch []byte
	counts  OperatorCount
	buf     []byte
	// restored: expiry is filled when the first step begins.
	restored bool
	passed   int64 // since the last Changes
	cold     cold
	backing  backing
	distinct bool // some call has sets
	values   cold // of sets
	bounded  bool // of one step: panes of a batch that left memory
}

func (bd *builder) aggregateState(a *aggregate) error {
	s := &aggState{a: a, info: a.n.State, timeKey: -1, place: timePlace{at: -1}, passed: nonePassed, idle: idle{ttl: a.n.State.TTL}}
	var types []schema.Type
	for _, c := range a.calls {
		if c.ordered != nil {
			return errors.New("build plan: an aggregate with WITHIN GROUP cannot run over a stream")
		}
		for _, sc := range c.fn.State {
			types = append(types, sc.StoredType())
		}
		var set *setCodec
		if c.distinct != nil {
			c.distinct.chain = &chains{}
			set, s.distinct = newSetCodec(exprTypes(c.call.Args)), true
		}
		s.sets = append(s.sets, set)
	}
	s.codec = newRowCodec(types)
	for i, g := range a.n.Groups {
		c, ok := g.Expr.(*logical.Column)
		if s.info.EventTime >= 0 && (g.Attr.ID == s.info.EventTime || ok && c.Attr.ID == s.info.EventTime) {
			s.timeKey = i
		}
	}
	if s.timeKey >= 0 && !s.distinct {
		s.place = a.table.layout.timePlace(s.timeKey)
	}
	s.cold = newCold(a.mem)
	a.state = s
	return nil
}

func (s *aggState) setWatermarks(late, evict int64, ok bool) {
	s.late, s.evict, s.timed = late, evict, ok
}

func (s *aggState) outputWatermark(w int64) int64 { return w }

func (s *aggState) begin() error {
	for _, g := range s.idle.begin(s.a.p.step.Now) {
		s.log.touch(g)
	}
	s.counts = OperatorCount{}
	s.begun()
	s.cold.begin()
	if s.restored {
		s.index()
	}
	return s.dropIdle()
}

// dropIdle forgets what no row has touched for the time (O-74: before any row
// of the step could).
func (s *aggState) dropIdle() error {
	if s.idle.ttl <= 0 {
		return nil
	}
	if err := s.dropAway(byIdle, s.idle.now, false); err != nil {
		return err
	}
	s.idle.expire(func(g int32) {
		s.remove(g)
		s.counts.Removed++
	})
	return s.dropValues(byIdle, s.idle.now)
}

// begun forgets which groups were touched.
func (s *aggState) begun() {
	for _, g := range s.touched {
		s.marked.Unset(int(g))
	}
	s.touched, s.logged = s.touched[:0], 0
}

func (s *aggState) expires() bool {
	return s.timed && s.timeKey >= 0 && s.info.Mode != logical.Complete
}

// lag is how long a group stays after its event time: panes serve windows that
// end later.
func (s *aggState) lag() int64 {
	if s.a.panes == nil {
		return 0
	}
	return s.a.panes.lag()
}

// onTime drops the rows that are late. Rows without a time are not.
func (s *aggState) onTime(vecs []*column.Vector, rows []int32) []int32 {
	if !s.expires() {
		return rows
	}
	keep := onTime(vecs[s.timeKey], rows, s.late-s.lag())
	s.counts.LateRows += int64(len(rows) - len(keep))
	return keep
}

// touch notes the groups of rows that were folded.
func (s *aggState) touch(groups []int32, vecs []*column.Vector, rows []int32) {
	n := s.a.table.groups
	s.alive, s.marked = s.alive.Grow(n), s.marked.Grow(n)
	if fresh := s.a.table.fresh; len(fresh) > 0 {
		s.enter(fresh, groups, vecs, rows)
	}
	marked, touched := s.marked, s.touched
	for _, g := range groups {
		w, bit := g>>6, uint64(1)<<(g&63)
		if marked[w]&bit != 0 {
			continue
		}
		marked[w] |= bit
		touched = append(touched, g)
	}
	if s.idle.ttl > 0 {
		for _, g := range touched[len(s.touched):] {
			s.idle.touch(g)
		}
	}
	s.touched = touched
}

// note tells the log which groups the step has touched so far.
func (s *aggState) note() {
	if s.logged == 0 && s.many() {
		s.log.touchAll(s.marked)
	} else {
		for _, g := range s.touched[s.logged:] {
			s.log.touch(g)
		}
	}
	s.logged = len(s.touched)
}

// enter notes the groups that were just made.
func (s *aggState) enter(fresh, groups []int32, vecs []*column.Vector, rows []int32) {
	for k, g := range groups {
		if g != fresh[0] {
			continue
		}
		s.alive.Set(int(g))
		if s.timeKey >= 0 && !vecs[s.timeKey].IsNull(int(rows[k])) {
			s.expiry.add(timeAt(vecs[s.timeKey], int(rows[k])), g)
		}
		if fresh = fresh[1:]; len(fresh) == 0 {
			return
		}
	}
}

func (s *aggState) mark(g int32) {
	if s.marked.Get(int(g)) {
		return
	}
	s.marked.Set(int(g))
	s.touched = append(s.touched, g)
	s.idle.touch(g)
}

// manyTouched groups come out in their order, in which they lie in memory.
const manyTouched = 1 << 15

// many says whether the step has touched many groups.
func (s *aggState) many() bool {
	return len(s.touched) >= len(s.marked) && (len(s.touched) >= manyTouched || s.a.p.env.Eager)
}

// sortTouched puts the groups of the step in order if they are many.
func (s *aggState) sortTouched() {
	if !s.many() {
		return
	}
	s.touched = s.touched[:0]
	for i, word := range s.marked {
		for ; word != 0; word &= word - 1 {
			s.touched = append(s.touched, int32(i<<6+bits.TrailingZeros64(word)))
		}
	}
}

func (s *aggState) end() error {
	s.drained()
	a := s.a
	if a.nkeys == 0 {
		if err := s.global(); err != nil {
			return err
		}
	}
	s.note()
	s.counts.Updated = int64(len(s.touched) + s.cold.touched())
	var err error
	switch s.info.Mode {
	case logical.Complete:
		var all []int32
		for g := range int32(a.table.groups) {
			if s.alive.Get(int(g)) {
				all = append(all, g)
			}
		}
		if err = a.emit(all); err == nil {
			err = s.emitAway(true)
		}
	case logical.Update:
		s.sortTouched()
		if err = a.emit(s.touched); err == nil {
			err = s.emitAway(false)
		}
	}
	if err != nil {
		return err
	}
	if s.expires() {
		return s.expire(s.evict - s.lag())
	}
	return nil
}

// expire emits, where the mode says so, and forgets the groups whose event time
// is up to w.
func (s *aggState) expire(w int64) error {
	a, emit := s.a, s.info.Mode == logical.Append && s.a.panes == nil
	if a.panes != nil {
		if err := s.emitPanes(); err != nil {
			return err
		}
	}
	gone := s.expiry.expire(w)
	if emit {
		if err := a.emit(gone); err != nil {
			return err
		}
	}
	s.lapse(gone)
	s.counts.Removed += int64(len(gone))
	if err := s.dropAway(byTime, w, emit); err != nil {
		return err
	}
	return s.dropValues(byTime, w)
}

// remove forgets a group.
func (s *aggState) remove(g int32) {
	s.log.remove(g, func(dst []byte) []byte { return s.groupKey(dst, g) })
	s.drop1(g)
	s.a.table.remove(g)
}

// lapse forgets groups whose time has passed.
func (s *aggState) lapse(groups []int32) {
	if s.place.at < 0 {
		for _, g := range groups {
			s.remove(g)
		}
		return
	}
	if len(groups) > 0 {
		s.passed = s.evict - s.lag()
	}
	for _, g := range groups {
		s.log.lapse(g)
		s.drop1(g)
	}
	s.a.table.removeAll(groups)
}

func (s *aggState) drop1(g int32) {
	for i, c := range s.a.calls {
		c.st.Clear(g)
		if c.distinct == nil {
			continue
		}
		c.distinct.chain.each(g, func(entry int32) {
			s.log.remove(-1, func(dst []byte) []byte { return s.setKey(dst, i, g, entry) })
			c.distinct.removeEntry(entry)
		})
		c.distinct.chain.clear(g)
	}
	s.alive.Unset(int(g))
	s.marked.Unset(int(g))
	s.expiry.remove(g)
	s.idle.forget(g)
	if s.a.panes != nil && !s.restored {
		s.a.panes.forget(g)
	}
}

// groupKey is the stored key of a group: its key group, 0, then the key. One
// without a time has the last time there is, so that it does not go by itself.
func (s *aggState) groupKey(dst []byte, g int32) []byte {
	from := len(dst) + 2
	dst = s.a.table.storedKey(append(dst, s.a.table.groupOf(g), 0), g)
	if key := dst[from:]; s.place.at >= 0 && s.place.null(key) {
		s.place.set(key, noExpiry)
	}
	return dst
}

// plainKey is a stored key as the table has it. The first version stored groups
// without a time with the time 0: they are stored anew.
func (s *aggState) plainKey(stored []byte) []byte {
	key := stored[2:]
	if s.place.at < 0 || len(key) < s.place.at+8 || !s.place.null(key) {
		return key
	}
	s.scratch = append(s.scratch[:0], key...)
	s.place.set(s.scratch, 0)
	return s.scratch
}

// setKey is the stored key of an entry of the distinct set of call i: the key
// group, i+1, the group's key with its length, the arguments.
func (s *aggState) setKey(dst []byte, i int, g, entry int32) []byte {
	dst = append(dst, s.a.table.groupOf(g), byte(i+1))
	s.scratch = s.a.table.storedKey(s.scratch[:0], g)
	dst = appendLong(dst, s.scratch)
	set := s.sets[i]
	set.load(s.a.calls[i].distinct.table, entry)
	return set.encode(dst)
}

// ID names the operator in the checkpoint.
func (s *aggState) ID() string { return s.info.ID }

// Meaning says what the state means.
func (s *aggState) Meaning() string { return s.info.Meaning }

func (s *aggState) count() OperatorCount {
	c := s.counts
	c.ID, c.StateRows, c.StateBytes = s.info.ID, int64(s.a.table.live()+s.cold.kept), s.bytes()
	return c
}

// putGroups hands out the entries of groups.
func (s *aggState) putGroups(w *entryWriter, groups []int32) {
	s.a.table.touchKeys(groups)
	for _, c := range s.a.calls {
		c.st.TouchFixed(groups)
		c.st.Touch(groups)
	}
	for _, g := range groups {
		s.putGroup(w, g)
	}
}

// putGroup hands out the entry of a group.
func (s *aggState) putGroup(w *entryWriter, g int32) {
	s.buf = s.groupKey(s.buf[:0], g)
	n := len(s.buf)
	s.buf = s.idle.append(s.buf, g)
	at := 0
	for _, c := range s.a.calls {
		k := len(c.fn.State)
		s.buf = s.encode(s.buf, g, c.st, s.codec.cols[at:at+k])
		at += k
	}
	w.write(s.buf, n)
}

// encode appends the states of a group, whose stored form cols can hold.
func (s *aggState) encode(dst []byte, g int32, st *funcs.States, cols []*column.Vector) []byte {
	for i, v := range cols {
		switch {
		case st.Fixed[i] != nil:
			dst = exact.value(dst, st.Fixed[i], int(g))
		case st.Values[i] != nil:
			dst = encodeValue(dst, st.Values[i], g)
		default:
			v.Truncate(0)
			st.AppendList(i, g, v)
			dst = exact.value(dst, v, 0)
		}
	}
	return dst
}

// encodeValue appends the value of a group.
func encodeValue(dst []byte, values *funcs.ValueColumn, g int32) []byte {
	if values.IsNull(g) {
		return append(dst, 0)
	}
	if text, ok := values.Text(g); ok {
		return append(binary.AppendUvarint(append(dst, 1), uint64(len(text))), text...)
	}
	v, r := values.Value(g)
	return exact.value(dst, v, r)
}

func (s *aggState) putSet(w *entryWriter, i int, g, entry int32) {
	s.buf = s.setKey(s.buf[:0], i, g, entry)
	w.write(s.buf, len(s.buf))
}

// Changes hands out what changed since the last call.
func (s *aggState) Changes(put Put) error {
	s.drained()
	w := &entryWriter{put: put}
	s.passed = nonePassed
	s.log.flushMany(w, func(groups []int32) { s.putGroups(w, groups) })
	for i, c := range s.a.calls {
		if c.distinct == nil {
			continue
		}
		c.distinct.made(func(g, entry int32) { s.putSet(w, i, g, entry) })
	}
	if err := s.cold.changes(w); err != nil {
		return err
	}
	return s.values.changes(w)
}

// Expiry says that a stored key holds the event time, if it is at one place.
func (s *aggState) Expiry() Expiry {
	if s.place.at < 0 {
		return explicit{}.Expiry()
	}
	return Expiry{InKey: true, At: 2 + s.place.at, Passed: s.passed} // behind the key group and the kind
}

// Snapshot hands out all groups.
func (s *aggState) Snapshot(put Put) {
	w := &entryWriter{put: put}
	for g := range int32(s.a.table.groups) {
		if !s.alive.Get(int(g)) {
			continue
		}
		s.putGroup(w, g)
		for i, c := range s.a.calls {
			if c.distinct != nil {
				c.distinct.chain.each(g, func(entry int32) { s.putSet(w, i, g, entry) })
			}
		}
	}
	s.cold.snapshot(w)
	s.values.snapshot(w)
}

// Restore takes one stored entry.
func (s *aggState) Restore(key, value []byte) error {
	if len(key) < 2 {
		return errState(s.info.ID)
	}
	if key[1] != 0 {
		return s.restoreSet(int(key[1])-1, key[2:])
	}
	at, value, whole := s.idle.cut(value)
	g, ok := s.restoreGroup(s.plainKey(key))
	if ok && s.place.at >= 0 && s.place.null(key[2:]) && leUint64(key[2+s.place.at:]) == 0 {
		s.log.forget(key)
		s.log.touch(g)
	}
	if !ok || !whole || s.codec.decode(value) != nil {
		return errState(s.info.ID)
	}
	s.idle.restore(g, at)
	col := 0
	for _, c := range s.a.calls {
		k := len(c.fn.State)
		c.st.Clear(g)
		c.st.Load(g, s.codec.cols[col:col+k], 0)
		col += k
	}
	return nil
}

// restoreAll takes many entries.
func (s *aggState) restoreAll(e *Entries) error {
	for i := range e.Len() {
		if k, _ := e.At(i); len(k) < 2 || k[1] != 0 || s.place.at >= 0 && s.place.null(k[2:]) {
			if err := restoreEach(e, s.Restore); err != nil { // sets, and groups without a time
				return err
			}
			return s.check()
		}
	}
	groups, err := s.loadAll(e)
	if err != nil {
		return err
	}
	if e.Changelog > 0 && s.plain() {
		s.log.stamps.grow(s.a.table.groups)
	}
	for _, g := range groups {
		s.log.saveIn(g, e.Changelog)
	}
	s.restored = true
	return s.check()
}

// grown makes room for the groups of the table.
func (s *aggState) grown() {
	n := s.a.table.groups
	for _, c := range s.a.calls {
		c.st.Grow(n)
	}
	s.alive, s.marked = s.alive.Grow(n), s.marked.Grow(n)
}

// restoreGroup finds or makes the group of a stored key.
func (s *aggState) restoreGroup(key []byte) (int32, bool) {
	t := s.a.table
	g, ok := t.restoreKey(key)
	if !ok {
		return g, false
	}
	s.grown()
	s.alive.Set(int(g))
	s.restored = true
	s.log.save(g)
	return g, true
}

// index fills the expiry after a restore.
func (s *aggState) index() {
	s.restored = false
	if s.a.panes != nil {
		s.a.panes.restore(func(g int32) bool { return s.alive.Get(int(g)) })
	}
	if s.timeKey < 0 {
		return
	}
	keys := newRowCodec(typesOf(s.a.cols[:s.a.nkeys]))
	for g := range int32(s.a.table.groups) {
		if !s.alive.Get(int(g)) {
			continue
		}
		keys.clear()
		s.a.table.appendKeys([]int32{g}, keys.cols)
		if v := keys.cols[s.timeKey]; !v.IsNull(0) {
			s.expiry.add(timeAt(v, 0), g)
		}
	}
}

func (s *aggState) restoreSet(i int, key []byte) error {
	n, w := binary.Uvarint(key)
	if i >= len(s.sets) || s.sets[i] == nil || w <= 0 || n > uint64(len(key)-w) {
		return errState(s.info.ID)
	}
	if err := s.thawKey(key[w : w+int(n)]); err != nil {
		return err
	}
	g, ok := s.restoreGroup(key[w : w+int(n)])
	if !ok || s.sets[i].decode(key[w+int(n):]) != nil {
		return errState(s.info.ID)
	}
	d := s.a.calls[i].distinct
	d.first(s.sets[i].cols, []int32{0}, []int32{g})
	d.made(func(_, _ int32) {})
	return nil
}
