package operator

import (
	"sync/atomic"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// streamJoin joins two streams: each row meets the rows of the other side that
// came before it and are still kept, then is kept itself. A row goes when the
// watermark says that no partner can come any more; outer rows without a
// partner come out then. It is one part of an exchange with two inlets.
type streamJoin struct {
	p     *Plan
	mem   *memory
	out   port
	n     *logical.Join
	sides [2]*joinState // left, right
	cond  *program      // what needs both sides, nil for none
	cols  []logical.Attr
	drop  bool

	timed       bool
	late, evict int64
	part        int // its number among the parts
	lane        int // of the push that holds the lock; at the end of a step, part

	probes  []int32
	builds  []int32
	hits    []bool // by row of the pushed batch
	dropped bool   // idle rows, in this step
	counts  OperatorCount
	passed  int64 // since the last Changes
}

// joinState is one side of a stream–stream join.
type joinState struct {
	j     *streamJoin
	right bool
	nkeys int
	outer bool // rows without a partner come out, with nulls for the other side
	// once: left side of a semi or anti join: a row goes with its first partner.
	once bool
	time int // event-time column of the input, -1
	// keyTime is the key that holds the event time, -1: rows go when it passes.
	// Else until is added to the row's own time; bound says that rows go at all.
	keyTime int
	bound   bool
	until   int64

	table  *groupTable
	groups []int32
	rows   joinRows
	ids    *rowIDs
	log    changeLog
	idle   idle
	buf    []byte
	stored []byte
	codec  *rowCodec
	cold   cold
	// asks are rows that have not met those of the other side that are away.
	asks []hashed
	met  metRows // of this side, that are away
}

// rowIDs names the rows of one side, of all parts together: a part may get the
// rows of another's groups when the number of lanes changes.
type rowIDs struct{ last atomic.Uint64 }

// take gives n names, of which it returns the first.
func (r *rowIDs) take(n int) uint64 { return r.last.Add(uint64(n)) - uint64(n) + 1 }

// seen notes a name that is in use.
func (r *rowIDs) seen(id uint64) {
	for {
		last := r.last.Load()
		if id <= last || r.last.CompareAndSwap(last, id) {
			return
		}
	}
}

// joinRows are the kept rows of one side, by number.
type joinRows struct {
	store   *rowStore
	lists   chains // numbers by key group
	group   []int32
	id      []uint64 // names the row in the checkpoint
	until   []int64
	matched column.Bits
	alive   column.Bits
	dead    int
	fresh   column.Bits // rows that came in this step
	live    []int32     // living rows by key group
	expiry  timeIndex
	// unindexed: expiry is filled when the first step begins.
	unindexed bool
}

func (bd *builder) streamJoin(n *logical.Join, out port, phase int) (int, *mark, error) {
	x := bd.exchange(out, len(n.LeftKeys))
	own, both := [2][]logical.Expr{}, []logical.Expr(nil)
	own[0], own[1], both = splitCond(n)
	var cond *program
	var err error
	if len(both) > 0 {
		in := append(append([]logical.Attr{}, n.Left.Output()...), n.Right.Output()...)
		if cond, err = bd.program([]logical.Expr{logical.Conjunction(both)}, in); err != nil {
			return phase, nil, err
		}
	}
	var to [2][]taker
	ids := [2]*rowIDs{{}, {}}
	specs := [2]inletSpec{joinSpec(n, false, own[0]), joinSpec(n, true, own[1])}
	for part, o := range x.outlets {
		j := bd.joinPart(n, ids, o)
		j.cond, j.part = cond, part
		x.add(j, j)
		for i, s := range j.sides {
			specs[i].time, to[i] = s.time, append(to[i], s)
		}
	}
	wm := bd.watermarked(x)
	var ins [2]*inlet
	for i := range ins {
		if ins[i], err = bd.inlet(x, specs[i], to[i]); err != nil {
			return phase, nil, err
		}
	}
	last, lm, err := bd.build(n.Left, ins[0], phase)
	if err != nil {
		return phase, nil, err
	}
	end, rm, err := bd.build(n.Right, ins[1], phase)
	return max(last, end), &mark{children: []*mark{lm, rm}, op: wm}, err
}

// joinSpec is what the inlet of one side computes: the keys, then the condition
// on this side alone.
func joinSpec(n *logical.Join, right bool, own []logical.Expr) inletSpec {
	in, keys := n.Left.Output(), n.LeftKeys
	if right {
		in, keys = n.Right.Output(), n.RightKeys
	}
	spec := inletSpec{attrs: in, keys: firstN(len(keys)), exprs: append([]logical.Expr{}, keys...)}
	if c := logical.Conjunction(own); c != nil {
		spec.exprs = append(spec.exprs, c)
	}
	spec.used = len(spec.exprs)
	return spec
}

func (bd *builder) joinPart(n *logical.Join, ids [2]*rowIDs, out port) *streamJoin {
	j := &streamJoin{p: bd.p, out: out, n: n, cols: n.Output(), drop: bd.drop, passed: nonePassed}
	for i := range j.sides {
		j.sides[i] = bd.joinState(j, i == 1)
		j.sides[i].ids = ids[i]
	}
	switch n.Type {
	case logical.LeftJoin:
		j.sides[0].outer = true
	case logical.RightJoin:
		j.sides[1].outer = true
	case logical.FullJoin:
		j.sides[0].outer, j.sides[1].outer = true, true
	case logical.SemiJoin:
		j.sides[0].once = true
	case logical.AntiJoin:
		j.sides[0].once, j.sides[0].outer = true, true
	case logical.InnerJoin:
	default:
		panic("bug: operator: this type of join of two streams should have been refused")
	}
	bd.add(j)
	j.mem = bd.memory(label("stream join", n.State))
	for _, s := range j.sides {
		s.cold = newCold(j.mem)
	}
	return j
}

// splitCond sorts the conjuncts of the condition by the side that they read.
func splitCond(n *logical.Join) (left, right, both []logical.Expr) {
	for _, c := range logical.Conjuncts(n.Cond) {
		ids := map[logical.ColumnID]bool{}
		logical.Columns(c, ids)
		l, r := false, false
		for id := range ids {
			l = l || logical.IndexOf(n.Left.Output(), id) >= 0
			r = r || logical.IndexOf(n.Right.Output(), id) >= 0
		}
		switch {
		case l && r:
			both = append(both, c)
		case r:
			right = append(right, c)
		default:
			left = append(left, c)
		}
	}
	return left, right, both
}

func (bd *builder) joinState(j *streamJoin, right bool) *joinState {
	n := j.n
	in, keys := n.Left.Output(), n.LeftKeys
	s := &joinState{j: j, right: right, nkeys: len(keys), time: -1, keyTime: -1, idle: idle{ttl: n.State.TTL}}
	if right {
		in, keys = n.Right.Output(), n.RightKeys
	}
	if t := n.Time; t != nil {
		id := t.LeftTime
		s.bound, s.until = t.LeftBound, t.LeftUntil
		if right {
			id, s.bound, s.until = t.RightTime, t.RightBound, t.RightUntil
		}
		s.time = logical.IndexOf(in, id)
		if s.time >= 0 && in[s.time].Watermark < 0 {
			s.time, s.bound = -1, false // as in Spark: a side without a watermark is neither late nor bounded
		}
		s.keyTime = eventTimeKey(n)
	}
	s.table = newGroupTable(exprTypes(keys))
	s.rows.store = newRowStore(bd.env.Pool, in)
	return s
}

// eventTimeKey finds the equality of the join that holds the event time: the
// window itself, or both (or one of) the event-time columns.
func eventTimeKey(n *logical.Join) int {
	if !n.Time.KeyWindow {
		return -1
	}
	for i := range n.LeftKeys {
		if isColumn(n.LeftKeys[i], n.Time.LeftTime) || isColumn(n.RightKeys[i], n.Time.RightTime) {
			return i
		}
	}
	for i, k := range n.LeftKeys {
		if t := k.Type(); t.Kind == schema.Struct && len(t.Fields) == 2 && t.Fields[1].Type.Kind == schema.Timestamp {
			return i
		}
	}
	return -1
}

func isColumn(e logical.Expr, id logical.ColumnID) bool {
	c, ok := e.(*logical.Column)
	return ok && id >= 0 && c.Attr.ID == id
}

func (j *streamJoin) setWatermarks(late, evict int64, ok bool) {
	j.late, j.evict, j.timed = late, evict, ok
}

// outputWatermark lags by what the sides keep: an outer row that is emitted at
// its eviction must not be late above.
func (j *streamJoin) outputWatermark(w int64) int64 {
	out := w
	for _, s := range j.sides {
		if s.bound && s.keyTime < 0 {
			out = min(out, w-s.until)
		}
	}
	return out
}

func (j *streamJoin) begin(*stepState) error {
	j.counts, j.dropped = OperatorCount{}, false
	for _, s := range j.sides {
		s.rows.index()
		for _, x := range s.idle.begin(j.p.step.Now) {
			s.log.touch(x)
		}
		s.rows.fresh = nil
		s.cold.begin()
	}
	return nil
}

func (j *streamJoin) close() {
	for _, s := range j.sides {
		s.rows.store.reset()
		s.cold.close()
	}
}

func (s *joinState) take(x *dealt) error {
	j, b, vecs, rows := s.j, x.b, x.vecs, x.rows
	j.lane = x.lane
	if err := j.dropIdle(); err != nil {
		return err
	}
	if s.time >= 0 && j.timed {
		keep := onTime(b.Cols[s.time], rows, j.late)
		j.counts.LateRows += int64(len(rows) - len(keep))
		rows = keep
	}
	rows, err := s.ownCondition(b, vecs, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	j.hits = grow(j.hits, b.Len)
	clear(j.hits)
	return s.meet(b, vecs[:s.nkeys], rows)
}

// ownCondition drops the rows that fail the part of the condition on this side
// alone: outer ones come out at once, with nulls.
func (s *joinState) ownCondition(b *column.Batch, vecs []*column.Vector, rows []int32) ([]int32, error) {
	if len(vecs) == s.nkeys {
		return rows, nil
	}
	keep, failed := make([]int32, 0, len(rows)), []int32(nil)
	for _, r := range rows {
		if isTrue(vecs[s.nkeys], int(r)) {
			keep = append(keep, r)
		} else if s.outer {
			failed = append(failed, r)
		}
	}
	if len(failed) > 0 {
		none := make([]int32, len(failed))
		for i := range none {
			none[i] = -1
		}
		if err := s.emit(b, failed, none); err != nil {
			return nil, err
		}
	}
	return keep, nil
}

// meet finds the partners of the rows in memory, emits the pairs and keeps the
// rows. Partners that are away are looked for later (meetAway).
func (s *joinState) meet(b *column.Batch, keys []*column.Vector, rows []int32) error {
	j, other := s.j, s.other()
	s.groups = grow(s.groups, len(rows))
	other.table.find(&other.table.keyBatch, keys, rows, s.groups)
	j.probes, j.builds = j.probes[:0], j.builds[:0]
	for k, r := range rows {
		g := s.groups[k]
		if g < 0 || !keysMatch(j.n, keys, int(r)) {
			continue
		}
		if err := s.meetKey(b, r, g); err != nil {
			return err
		}
	}
	if err := s.pairs(b); err != nil {
		return err
	}
	return s.keep(b, keys, rows)
}

// meetKey pairs row r with the rows of key g of the other side. Those that have
// gone leave the list of the key, so that nobody meets them again.
func (s *joinState) meetKey(b *column.Batch, r, g int32) error {
	j, rows := s.j, &s.other().rows
	before := int32(-1)
	for x := rows.lists.first(g); x >= 0; {
		next := rows.lists.next[x]
		if !rows.alive.Get(int(x)) {
			rows.lists.unlink(g, before, x)
			x = next
			continue
		}
		j.probes, j.builds = append(j.probes, r), append(j.builds, x)
		if len(j.probes) >= column.BatchRows {
			if err := s.pairs(b); err != nil {
				return err
			}
			if rows.live[g] == 0 { // the rows that were left have got partners
				return nil
			}
		}
		before, x = x, next
	}
	return nil
}

func (s *joinState) other() *joinState {
	if s.right {
		return s.j.sides[0]
	}
	return s.j.sides[1]
}

// pairs filters the collected pairs by the condition, notes the matches and
// emits them.
func (s *joinState) pairs(b *column.Batch) error {
	j, other := s.j, s.other()
	defer func() { j.probes, j.builds = j.probes[:0], j.builds[:0] }()
	if len(j.probes) == 0 {
		return nil
	}
	if j.cond != nil {
		if err := j.filter(s.combine(b, j.probes, j.builds, false)); err != nil {
			return err
		}
	}
	switch {
	case s.once:
		return s.onceHits(b)
	case other.once:
		return s.oncePartners()
	}
	for k, r := range j.probes {
		j.hits[r] = true
		other.match(j.builds[k])
	}
	return s.emit(b, j.probes, j.builds)
}

// match notes that a kept row has had a partner.
func (s *joinState) match(x int32) {
	if s.outer && !s.rows.matched.Get(int(x)) {
		s.rows.matched.Set(int(x))
		s.log.touch(x)
	}
}

// filter drops the pairs, of which nb has the columns, that fail the condition.
func (j *streamJoin) filter(nb *column.Batch) error {
	defer nb.Release()
	res, err := j.cond.run(j.lane, nb)
	if err != nil {
		return err
	}
	defer releaseAll(res)
	if _, err := j.p.usable(res, nb, j.drop); err != nil {
		return err
	}
	k := 0
	for i := range j.probes {
		if isTrue(res[0], i) {
			j.probes[k], j.builds[k] = j.probes[i], j.builds[i]
			k++
		}
	}
	j.probes, j.builds = j.probes[:k], j.builds[:k]
	return nil
}

// combine makes a batch of pairs: left columns, then right ones, or only the
// left ones for the output of a semi or anti join.
func (s *joinState) combine(b *column.Batch, probes, builds []int32, output bool) *column.Batch {
	if output && s.once {
		return s.paired(s.rowsOf(b.Cols, probes), nil, len(probes))
	}
	return s.paired(s.rowsOf(b.Cols, probes), s.other().kept(builds), len(probes))
}

// paired is a batch of the columns of this side and of the other.
func (s *joinState) paired(own, its []*column.Vector, n int) *column.Batch {
	nb := s.j.p.env.Pool.Batch()
	if s.right {
		own, its = its, own
	}
	nb.Cols = append(append(nb.Cols, own...), its...)
	nb.Len = n
	return nb
}

// rowsOf copies rows of columns.
func (s *joinState) rowsOf(cols []*column.Vector, rows []int32) []*column.Vector {
	out := make([]*column.Vector, len(cols))
	for i, v := range cols {
		out[i] = s.j.p.env.Pool.Vector(v.Type)
		column.AppendRows(out[i], v, rows)
	}
	return out
}

// kept copies rows that are kept in memory; -1 gives nulls.
func (s *joinState) kept(rows []int32) []*column.Vector {
	out := make([]*column.Vector, len(s.rows.store.cols))
	for i, c := range s.rows.store.cols {
		out[i] = s.j.p.env.Pool.Vector(c.Type)
	}
	s.rows.store.gatherOrNull(rows, out)
	return out
}

func (s *joinState) emit(b *column.Batch, probes, builds []int32) error {
	return pushFresh(s.j.out, s.j.lane, s.combine(b, probes, builds, true))
}

// onceHits notes which pushed left rows have a partner; a semi join emits them,
// once.
func (s *joinState) onceHits(b *column.Batch) error {
	j := s.j
	var hit []int32
	for _, r := range j.probes {
		if !j.hits[r] {
			j.hits[r] = true
			hit = append(hit, r)
		}
	}
	if len(hit) == 0 || s.outer {
		return nil
	}
	nb := selected(j.p.env.Pool, b, hit)
	defer nb.Release()
	return j.out.push(j.lane, nb)
}

// uncount notes the removal of a row. One that came and went in this step was
// never stored as Spark counts.
func (s *joinState) uncount(fresh bool) {
	if fresh {
		s.j.counts.Updated--
		return
	}
	s.j.counts.Removed++
}

// oncePartners forgets the kept left rows that got their first partner; a semi
// join emits them.
func (s *joinState) oncePartners() error { return s.other().forgetOnce(s.j.builds) }

// forgetOnce forgets rows, which may be named more than once.
func (s *joinState) forgetOnce(rows []int32) error {
	var hit []int32
	for _, x := range rows {
		if s.rows.alive.Get(int(x)) {
			hit = append(hit, x)
			s.uncount(s.rows.fresh.Get(int(x)))
			s.forget(x)
		}
	}
	if len(hit) == 0 || s.outer {
		return nil
	}
	return pushFresh(s.j.out, s.j.lane, s.rows.store.batch(hit))
}
