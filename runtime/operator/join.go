package operator

import (
	"errors"
	"sync"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// join is a hash join, or a nested loop when there is no key: the build side
// is kept, the probe side passes by. The build side is the right one, or for
// inner and outer joins the left one when only the left is a batch, or when it
// is clearly smaller.
type join struct {
	p     *Plan
	out   port
	n     *logical.Join
	sides joinSides
	build *program // keys of the build side
	probe *program // keys of the probe side
	cond  *program // over left ++ right columns, nil for none
	cols  []logical.Attr
	drop  bool
	above limits

	mem     *memory
	spill   *joinSpill // nil: all build rows are in memory
	mu      sync.Mutex // guards building
	total   int        // build rows, spilled ones included
	store   *rowStore
	table   *groupTable
	lists   chains // build rows by group
	groups  []int32
	kept    []int32
	nullKey bool // null-aware: a build row has a null key
	lanes   []joinLane

	// reusable: the build side is one static scan under a stream. built says
	// that it is complete, reuse that the next step shall keep it, using that
	// this one does.
	reusable, built, reuse, using bool
}

// joinSides says which side is which and what happens without a match.
type joinSides struct {
	buildLeft  bool
	probeOuter bool // probe rows without a match come out with nulls
	buildOuter bool // build rows without a match come out with nulls
	loop       bool // no key: every pair
	exists     bool // semi, anti, mark: only whether there is a match
}

// joinLane is the scratch of one lane.
type joinLane struct {
	keys    keyBatch
	groups  []int32
	all     rowNumbers
	probes  []int32 // pairs: probe row, build row
	builds  []int32
	hits    []int32 // matches by probe row of the batch, capped at 2
	matched column.Bits
	local   []int32
}

func sidesOf(n *logical.Join, buildLeft bool) joinSides {
	s := joinSides{loop: len(n.LeftKeys) == 0 || n.NullAware && (len(n.LeftKeys) > 1 || n.Cond != nil)}
	s.buildLeft = buildLeft || n.Right.Streaming() && !n.Left.Streaming()
	switch n.Type {
	case logical.LeftJoin, logical.SingleJoin:
		s.probeOuter, s.buildOuter = !s.buildLeft, s.buildLeft
	case logical.RightJoin:
		s.probeOuter, s.buildOuter = s.buildLeft, !s.buildLeft
	case logical.FullJoin:
		s.probeOuter, s.buildOuter = true, true
	case logical.SemiJoin, logical.AntiJoin, logical.MarkJoin:
		s.exists = true
		s.buildLeft = false
	}
	if n.Type == logical.SingleJoin {
		s.buildLeft, s.probeOuter, s.buildOuter = false, true, false
	}
	return s
}

func (bd *builder) join(n *logical.Join, out port, phase int) (int, *mark, error) {
	if n.Left.Streaming() && n.Right.Streaming() {
		return bd.streamJoin(n, out, phase)
	}
	if n.Lateral {
		return phase, nil, errors.New("build plan: a lateral join of this form is not supported")
	}
	j := &join{p: bd.p, out: out, n: n, sides: sidesOf(n, bd.buildsLeft(n)), cols: n.Output(), drop: bd.drop, above: bd.above, lanes: make([]joinLane, bd.env.Lanes)}
	build, probe, buildKeys, probeKeys := n.Right, n.Left, n.RightKeys, n.LeftKeys
	if j.sides.buildLeft {
		build, probe, buildKeys, probeKeys = n.Left, n.Right, n.LeftKeys, n.RightKeys
	}
	var err error
	if j.build, err = bd.program(buildKeys, build.Output()); err != nil {
		return phase, nil, err
	}
	if j.probe, err = bd.program(probeKeys, probe.Output()); err != nil {
		return phase, nil, err
	}
	if n.Cond != nil {
		both := append(append([]logical.Attr{}, n.Left.Output()...), n.Right.Output()...)
		if j.cond, err = bd.program([]logical.Expr{n.Cond}, both); err != nil {
			return phase, nil, err
		}
	}
	j.store = newRowStore(bd.env.Pool, build.Output())
	j.table = newGroupTable(exprTypes(buildKeys))
	bd.add(j)
	j.mem = bd.memory("join")
	side := 1
	if j.sides.buildLeft {
		side = 0
	}
	bd.divide(side, division{kind: oneCopy})
	first := len(bd.p.scans)
	last, bm, err := bd.build(build, &buildPort{j}, phase)
	if err != nil {
		return phase, nil, err
	}
	if probe.Streaming() && !j.sides.buildOuter && isPlain(build) {
		j.reusable = true
		bd.p.static[first] = j
	}
	end, pm, err := bd.build(probe, &probePort{j}, last+1)
	if err != nil {
		return phase, nil, err
	}
	return end, &mark{children: []*mark{pm, bm}}, nil
}

func (j *join) begin(*stepState) error {
	j.using, j.reuse = j.reuse, false
	if !j.using {
		j.reset()
	}
	return nil
}

func (j *join) reset() {
	j.spill.close()
	j.spill = nil
	j.forget()
	j.mem.free()
	j.total, j.nullKey, j.built = 0, false, false
}

// forget drops the build rows in memory.
func (j *join) forget() {
	j.store.reset()
	if j.table.bytes() > bigVector {
		j.table.discardAll()
	}
	j.table.reset()
	j.lists.reset()
	for i := range j.lanes {
		j.lanes[i].matched = nil
	}
}

func (j *join) close() {
	j.spill.close()
	j.store.reset()
}

// buildPort takes the build side.
type buildPort struct{ j *join }

func (b *buildPort) end() error {
	b.j.built = true
	return nil
}

func (b *buildPort) push(lane int, batch *column.Batch) error {
	j := b.j
	if err := j.makeRoom(lane); err != nil {
		return err
	}
	vecs, err := j.build.run(lane, batch)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	rows, err := j.p.goodRows(vecs, batch, &j.lanes[lane].all, j.drop)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total += len(rows)
	if j.n.NullAware {
		for _, r := range rows {
			j.nullKey = j.nullKey || anyNull(vecs, int(r))
		}
	}
	if j.spill != nil {
		return j.spill.addLocked(j.spill.build, vecs, batch.Cols, rows)
	}
	j.keep(vecs, batch.Cols, rows)
	return nil
}

// keep adds build rows to those in memory.
func (j *join) keep(vecs, cols []*column.Vector, rows []int32) {
	first := j.store.rows
	if j.sides.loop {
		j.store.add(cols, rows)
		return
	}
	j.groups = grow(j.groups, len(rows))
	j.table.assign(vecs, rows, j.groups)
	if j.sides.exists && j.cond == nil {
		rows = j.firstOfKeys(rows)
	}
	j.store.add(cols, rows)
	for k, r := range rows {
		if !keysMatch(j.n, vecs, int(r)) {
			continue
		}
		j.lists.add(j.groups[k], int32(first+k))
	}
}

// firstOfKeys keeps the first row of each new key, with its group: where only
// the existence of a match counts, one row is enough.
func (j *join) firstOfKeys(rows []int32) []int32 {
	fresh, kept := j.table.fresh, j.kept[:0]
	for k, r := range rows {
		if len(fresh) == 0 {
			break
		}
		if j.groups[k] == fresh[0] {
			j.groups[len(kept)] = fresh[0]
			kept, fresh = append(kept, r), fresh[1:]
		}
	}
	j.kept = kept
	return kept
}

// keysMatch reports whether the keys of row r can match: a null key does only
// under <=>.
func keysMatch(n *logical.Join, keys []*column.Vector, r int) bool {
	for i, v := range keys {
		if v.HasNulls() && v.IsNull(r) && !(i < len(n.NullSafe) && n.NullSafe[i]) {
			return false
		}
	}
	return true
}

func anyNull(vecs []*column.Vector, r int) bool {
	for _, v := range vecs {
		if v.IsNull(r) {
			return true
		}
	}
	return false
}

// probePort takes the probe side, after the build side has ended.
type probePort struct{ j *join }

func (p *probePort) push(lane int, b *column.Batch) error {
	if p.j.above.full() {
		return nil
	}
	if p.j.spill != nil {
		return p.j.spillProbe(lane, b)
	}
	return p.j.probeBatch(lane, b)
}

func (p *probePort) end() error {
	if s := p.j.spill; s != nil {
		if err := s.run(); err != nil {
			return err
		}
		p.j.reset()
		return p.j.out.end()
	}
	if err := p.j.emitUnmatched(); err != nil {
		return err
	}
	if !p.j.reusable {
		p.j.reset()
	}
	return p.j.out.end()
}

func (j *join) probeBatch(lane int, b *column.Batch) error {
	vecs, err := j.probe.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	l := &j.lanes[lane]
	rows, err := j.p.goodRows(vecs, b, &l.all, j.drop)
	if err != nil {
		return err
	}
	l.hits = grow(l.hits, b.Len)
	clear(l.hits)
	carry := j.carry()
	carry.load(l.hits)
	if j.sides.buildOuter {
		l.matched = l.matched.Grow(j.store.rows)
	}
	if err := j.pairs(lane, b, vecs, rows); err != nil || j.above.full() {
		return err
	}
	if carry.save(l.hits) {
		return nil
	}
	if j.sides.exists {
		return j.emitExists(lane, b, vecs, rows)
	}
	if j.sides.probeOuter {
		l.probes, l.builds = l.probes[:0], l.builds[:0]
		for _, r := range rows {
			if l.hits[r] == 0 {
				l.probes, l.builds = append(l.probes, r), append(l.builds, -1)
			}
		}
		return j.emitPairs(lane, b)
	}
	return nil
}

// pairs finds the matches of the rows and emits them in batches.
func (j *join) pairs(lane int, b *column.Batch, vecs []*column.Vector, rows []int32) error {
	l := &j.lanes[lane]
	l.probes, l.builds = l.probes[:0], l.builds[:0]
	flush := func() error {
		err := j.matchPairs(lane, b, vecs)
		l.probes, l.builds = l.probes[:0], l.builds[:0]
		return err
	}
	if j.sides.loop {
		for _, r := range rows {
			for i := range j.store.rows {
				l.probes, l.builds = append(l.probes, r), append(l.builds, int32(i))
				if len(l.probes) >= column.BatchRows {
					if err := flush(); err != nil || j.above.full() {
						return err
					}
				}
			}
		}
		return flush()
	}
	l.groups = grow(l.groups, len(rows))
	j.table.find(&l.keys, vecs, rows, l.groups)
	once := j.sides.exists && j.cond == nil
	for k, r := range rows {
		g := l.groups[k]
		if g < 0 || !keysMatch(j.n, vecs, int(r)) {
			continue
		}
		for x := j.lists.first(g); x >= 0; x = j.lists.next[x] {
			l.probes, l.builds = append(l.probes, r), append(l.builds, x)
			if once {
				break
			}
			if len(l.probes) >= column.BatchRows {
				if err := flush(); err != nil || j.above.full() {
					return err
				}
			}
		}
	}
	return flush()
}

// matchPairs applies the condition to the pairs, notes the matches and emits
// the pairs unless only their existence is wanted.
func (j *join) matchPairs(lane int, b *column.Batch, vecs []*column.Vector) error {
	l := &j.lanes[lane]
	if len(l.probes) == 0 {
		return nil
	}
	if j.sides.loop && len(vecs) > 0 {
		if err := j.nullAwareKeys(lane, vecs); err != nil {
			return err
		}
	}
	if j.cond != nil {
		if err := j.filterPairs(lane, b); err != nil {
			return err
		}
	}
	for k, r := range l.probes {
		if l.hits[r] < 2 {
			l.hits[r]++
		}
		if j.n.Type == logical.SingleJoin && l.hits[r] > 1 {
			return &RowError{tooManyRows()}
		}
		if j.sides.buildOuter {
			l.matched.Set(int(l.builds[k]))
		}
	}
	if j.sides.exists {
		return nil
	}
	return j.emitPairs(lane, b)
}

func tooManyRows() *funcs.Error {
	return funcs.NewError("SCALAR_SUBQUERY_TOO_MANY_ROWS", "More than one row returned by a subquery used as an expression.", nil)
}

// filterPairs keeps the pairs for which the condition is true.
func (j *join) filterPairs(lane int, b *column.Batch) error {
	l := &j.lanes[lane]
	nb := j.combine(lane, b)
	defer nb.Release()
	res, err := j.cond.run(lane, nb)
	if err != nil {
		return err
	}
	defer releaseAll(res)
	if _, err := j.p.usable(res, nb, j.drop); err != nil {
		return err
	}
	k := 0
	for i := range l.probes {
		if isTrue(res[0], i) {
			l.probes[k], l.builds[k] = l.probes[i], l.builds[i]
			k++
		}
	}
	l.probes, l.builds = l.probes[:k], l.builds[:k]
	return nil
}

// combine makes a batch of the pairs: left columns, then right ones.
func (j *join) combine(lane int, b *column.Batch) *column.Batch {
	l, pool := &j.lanes[lane], j.p.env.Pool
	nb := pool.Batch()
	probe, build := make([]*column.Vector, len(b.Cols)), make([]*column.Vector, len(j.store.cols))
	for i, v := range b.Cols {
		probe[i] = pool.Vector(v.Type)
		column.AppendRows(probe[i], v, l.probes)
	}
	for i, c := range j.store.cols {
		build[i] = pool.Vector(c.Type)
	}
	if len(j.store.chunks) == 0 {
		j.store.gatherOrNull(l.builds, build)
	} else {
		j.store.gatherInto(&l.local, l.builds, build)
	}
	if j.sides.buildLeft {
		probe, build = build, probe
	}
	nb.Cols = append(append(nb.Cols, probe...), build...)
	nb.Len = len(l.probes)
	return nb
}

func (j *join) emitPairs(lane int, b *column.Batch) error {
	l := &j.lanes[lane]
	if len(l.probes) == 0 {
		return nil
	}
	return pushFresh(j.out, lane, j.combine(lane, b))
}

// emitExists passes the probe rows that have, or have not, a match.
func (j *join) emitExists(lane int, b *column.Batch, vecs []*column.Vector, rows []int32) error {
	l := &j.lanes[lane]
	if j.n.Type == logical.MarkJoin {
		return j.emitMark(lane, b)
	}
	l.probes = l.probes[:0]
	for _, r := range rows {
		hit := l.hits[r] > 0
		if j.n.Type == logical.AntiJoin {
			hit = !hit && !(j.n.NullAware && !j.sides.loop && j.unknown(vecs, int(r)))
		}
		if hit {
			l.probes = append(l.probes, r)
		}
	}
	if len(l.probes) == 0 {
		return nil
	}
	if len(l.probes) == b.Rows() {
		return j.out.push(lane, b)
	}
	nb := selected(j.p.env.Pool, b, l.probes)
	defer nb.Release()
	return j.out.push(lane, nb)
}

// unknown reports whether x NOT IN (build side) is null rather than true for a
// row without a match.
func (j *join) unknown(vecs []*column.Vector, r int) bool {
	return j.nullKey || j.total > 0 && anyNull(vecs, r)
}

func (j *join) emitMark(lane int, b *column.Batch) error {
	l := &j.lanes[lane]
	m := j.p.env.Pool.Vector(j.n.Mark.Type)
	m.Resize(b.Len)
	for i := range b.Len {
		m.Bool[i] = l.hits[i] > 0
	}
	nb := j.p.env.Pool.Batch()
	for _, c := range b.Cols {
		nb.Cols = append(nb.Cols, c.Retain())
	}
	nb.Cols = append(nb.Cols, m)
	nb.Len, nb.Change = b.Len, b.Change
	if b.Sel != nil {
		nb.Sel = append(nb.SelBuffer(), b.Sel...)
	}
	return pushFresh(j.out, lane, nb)
}

// emitUnmatched pushes the build rows without a match, the other side null.
func (j *join) emitUnmatched() error {
	if !j.sides.buildOuter {
		return nil
	}
	matched := column.Bits(nil).Grow(j.store.rows)
	for i := range j.lanes {
		for w, x := range j.lanes[i].matched {
			matched[w] |= x
		}
	}
	ids := make([]int32, 0, column.BatchRows)
	for i := 0; i <= j.store.rows && !j.above.full(); i++ {
		if i < j.store.rows && !matched.Get(i) {
			ids = append(ids, int32(i))
		}
		if len(ids) == column.BatchRows || i == j.store.rows && len(ids) > 0 {
			if err := j.pushUnmatched(ids); err != nil {
				return err
			}
			ids = ids[:0]
		}
	}
	return nil
}

func (j *join) pushUnmatched(ids []int32) error {
	b := newBatch(j.p.env.Pool, j.cols)
	own, other := b.Cols[len(b.Cols)-len(j.store.cols):], b.Cols[:len(b.Cols)-len(j.store.cols)]
	if j.sides.buildLeft {
		own, other = b.Cols[:len(j.store.cols)], b.Cols[len(j.store.cols):]
	}
	j.store.gather(ids, own)
	for _, v := range other {
		for range ids {
			v.AppendNull()
		}
	}
	b.Len = len(ids)
	return pushFresh(j.out, 0, b)
}

// isPlain reports whether n is a scan under filters and projections that give
// the same in each step.
func isPlain(n logical.Node) bool {
	switch x := n.(type) {
	case *logical.Scan:
		return true
	case *logical.Filter:
		return logical.Volatility(x.Cond) == funcs.Immutable && isPlain(x.Input)
	case *logical.Project:
		for _, e := range x.Exprs {
			if logical.Volatility(e.Expr) != funcs.Immutable {
				return false
			}
		}
		return isPlain(x.Input)
	}
	return false
}

// Reuse asks that the next step keeps what the last one read from a static
// scan. When it returns true the scan counts as ended in that step: the flow
// neither pushes nor ends it. It is for a relation that has not changed.
func (p *Plan) Reuse(scan int) bool {
	j := p.static[scan]
	if j == nil || !j.built {
		return false
	}
	j.reuse = true
	return true
}
