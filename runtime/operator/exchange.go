package operator

import (
	"sync"
	"sync/atomic"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// keyGroups is the number of key groups; an instance of a keyed operator owns
// a range of them.
const keyGroups = 256

// exchange stands before a keyed operator. The operator has one instance a
// lane (a part), and each part owns a range of key groups with their state. A
// lane computes the operator's expressions over its batch once, deals the rows
// by the group of their key, and works through the parts in turn; a part is
// used by one lane at a time. So lanes work on different parts at once, a key
// is always in one place, its rows come in the order in which they were pushed,
// and state written with one number of lanes is read with another: by group.
//
// What a part gives out while it takes rows is held back and pushed by the
// same lane when the part is free again. At the step's end the parts end side
// by side if there is enough to do; a little of output then still goes to lane
// 0, in order of the parts, so that no lane opens a file for a few rows.
//
// A bounded operator uses only its first part in a small step (Step.Wide is not
// set): the order of its rows does not depend on the number of lanes then.
type exchange struct {
	p       *Plan
	out     port
	drop    bool
	parts   []ender
	outlets []*outlet
	shares  []partState  // of the parts; none for a bounded operator
	want    int          // inputs
	open    int          // those that have not ended
	rows    atomic.Int64 // taken in this step
	narrow  bool         // only the first part is in use
	single  bool         // there is no key to divide by
}

// ender is a part as the exchange ends it; its output has no end.
type ender interface{ end() error }

// taker takes rows of one input of a part, whose lock is held.
type taker interface{ take(x *dealt) error }

// dealt are rows of a batch that a part takes.
type dealt struct {
	lane int
	b    *column.Batch
	vecs []*column.Vector // the inlet's expressions over b
	rows []int32
	// keep is where a part adds the rows of b that pass as they are: what all
	// parts pass of a batch is pushed at once, in the order of the batch.
	keep []int32
}

// partState is the state of a part.
type partState interface {
	watermarked
	ID() string
	Meaning() string
	Expiry() Expiry
	Changes(put Put) error
	Snapshot(put Put)
	Restore(key, value []byte) error
	count() OperatorCount
}

// outlet is where a part pushes.
type outlet struct {
	x    *exchange
	mu   sync.Mutex // guards the part and all below
	lane int
	// held are batches still to be pushed; direct pushes at once.
	held   []*column.Batch
	direct bool
}

// heldBatches bounds what a part holds back.
const heldBatches = 4

func (o *outlet) push(_ int, b *column.Batch) error {
	if !o.direct && len(o.held) < heldBatches {
		o.held = append(o.held, b.Retain())
		return nil
	}
	o.direct = true
	if err := pushHeld(o.x.out, o.lane, &o.held); err != nil {
		return err
	}
	return o.x.out.push(o.lane, b)
}

func (o *outlet) end() error { return nil }

// pushHeld pushes batches in order and releases them, all of them also after
// an error.
func pushHeld(out port, lane int, held *[]*column.Batch) error {
	var err error
	for _, b := range *held {
		if err == nil {
			err = out.push(lane, b)
		}
		b.Release()
	}
	*held = (*held)[:0]
	return err
}

// inlet is one input of an exchange.
type inlet struct {
	x     *exchange
	input *program
	inletSpec
	hash  *groupTable // of no groups: how keys are hashed
	to    []taker     // by part
	lanes []inletLane
}

// inletSpec says what an inlet computes.
type inletSpec struct {
	exprs []logical.Expr
	attrs []logical.Attr // of the input
	keys  []int          // places of the keys among exprs
	// used is the number of first expressions whose failed rows count at once;
	// the operator looks after the others.
	used int
	time int // column of the input that is used too, -1 for none
}

// inletLane is the scratch of one lane.
type inletLane struct {
	all    rowNumbers
	keys   []*column.Vector
	kb     keyBatch
	byPart [][]int32 // rows
	held   []*column.Batch
	marks  []bool
	dealt
}

// exchange makes an exchange without parts; an operator without a key has one.
func (bd *builder) exchange(out port, keys int) *exchange {
	x := &exchange{p: bd.p, out: out, drop: bd.drop, single: keys == 0}
	n := min(bd.env.Lanes, keyGroups)
	if keys == 0 {
		n = 1
	}
	for range n {
		x.outlets = append(x.outlets, &outlet{x: x})
	}
	bd.add(x)
	return x
}

// add adds the next part, with its state unless it is bounded.
func (x *exchange) add(part ender, s partState) {
	x.parts = append(x.parts, part)
	if s != nil {
		x.shares = append(x.shares, s)
	}
}

// inlet adds an input, which hands rows to the takers of the parts.
func (bd *builder) inlet(x *exchange, spec inletSpec, to []taker) (*inlet, error) {
	in := &inlet{x: x, inletSpec: spec, to: to, lanes: make([]inletLane, bd.env.Lanes)}
	var err error
	if in.input, err = bd.program(spec.exprs, spec.attrs); err != nil {
		return nil, err
	}
	var keys []logical.Expr
	for _, k := range spec.keys {
		keys = append(keys, spec.exprs[k])
	}
	if x.single {
		bd.divide(x.want, division{kind: oneLane})
	} else {
		bd.divide(x.want, division{kind: byKey, keys: keys})
	}
	in.hash = newGroupTable(exprTypes(keys))
	for i := range in.lanes {
		in.lanes[i].byPart = make([][]int32, len(x.parts))
	}
	x.want++
	return in, nil
}

// watermarked registers the state of the parts as that of one operator.
func (bd *builder) watermarked(x *exchange) watermarked {
	if len(x.shares) == 0 {
		return nil
	}
	bd.p.state = append(bd.p.state, x)
	return x
}

// firstN are the places of n keys that come first.
func firstN(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (x *exchange) begin(s *stepState) error {
	x.open = x.want
	x.rows.Store(0)
	x.narrow = len(x.parts) == 1 || len(x.shares) == 0 && !s.Wide
	return nil
}

func (x *exchange) close() {}

func (in *inlet) push(lane int, b *column.Batch) error {
	vecs, err := in.input.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	l := &in.lanes[lane]
	used := vecs[:in.used]
	if in.x.drop {
		used = vecs
	}
	if in.time >= 0 {
		used = append(used[:len(used):len(used)], b.Cols[in.time])
	}
	rows, err := in.x.p.goodRows(used, b, &l.all, in.x.drop)
	if err != nil {
		return err
	}
	in.x.rows.Add(int64(len(rows)))
	l.dealt = dealt{lane: lane, b: b, vecs: vecs, rows: rows, keep: l.keep[:0]}
	if in.x.narrow {
		if err := in.hand(l, 0); err != nil {
			return err
		}
		return in.pass(l)
	}
	in.deal(l)
	for k := range in.to {
		part := (lane + k) % len(in.to)
		if l.rows = l.byPart[part]; len(l.rows) == 0 {
			continue
		}
		if err := in.hand(l, part); err != nil {
			return err
		}
	}
	return in.pass(l)
}

// pass pushes the rows that the parts have kept.
func (in *inlet) pass(l *inletLane) error {
	if len(l.keep) == 0 {
		return nil
	}
	if !in.x.narrow {
		l.order()
	}
	nb := selected(in.x.p.env.Pool, l.b, l.keep)
	defer nb.Release()
	return in.x.out.push(l.lane, nb)
}

// order puts the rows kept back into the order of the batch.
func (l *inletLane) order() {
	l.marks = grow(l.marks, l.b.Len)
	clear(l.marks)
	for _, r := range l.keep {
		l.marks[r] = true
	}
	l.keep = l.keep[:0]
	for r, kept := range l.marks {
		if kept {
			l.keep = append(l.keep, int32(r))
		}
	}
}

// deal sorts rows by the part that owns the group of their key.
func (in *inlet) deal(l *inletLane) {
	rows := l.rows
	l.keys = l.keys[:0]
	for _, k := range in.keys {
		l.keys = append(l.keys, l.vecs[k])
	}
	for i := range l.byPart {
		l.byPart[i] = l.byPart[i][:0]
	}
	n := uint64(len(l.byPart))
	for k, h := range in.hash.hashKeys(&l.kb, l.keys, rows) {
		part := h >> 56 * n / keyGroups
		l.byPart[part] = append(l.byPart[part], rows[k])
	}
}

// partOf is the share of the state that owns a key group.
func (x *exchange) partOf(group uint8) int { return int(group) * len(x.shares) / keyGroups }

// hand gives rows to a part and pushes what it gives out.
func (in *inlet) hand(l *inletLane, part int) error {
	if err := in.take(l, part); err != nil {
		for _, h := range l.held {
			h.Release()
		}
		l.held = l.held[:0]
		return err
	}
	return pushHeld(in.x.out, l.lane, &l.held)
}

// take hands rows to a part and takes over what it holds back. Other lanes wait
// for the lock: also a panic gives it back.
func (in *inlet) take(l *inletLane, part int) error {
	o := in.x.outlets[part]
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lane, o.direct = l.lane, false
	err := in.to[part].take(&l.dealt)
	l.held = append(l.held, o.held...)
	o.held = o.held[:0]
	return err
}

func (in *inlet) end() error {
	in.x.open--
	if in.x.open > 0 {
		return nil
	}
	return in.x.end()
}

// wideEnd is how many rows, taken in the step and kept, make it worth while to
// end the parts side by side.
const wideEnd = 1 << 14

func (x *exchange) end() error {
	x.drain()
	work := x.rows.Load()
	for _, s := range x.shares {
		work += s.count().StateRows
	}
	side := !x.narrow && (work >= wideEnd || x.p.env.Check) && x.p.env.Parallel != nil
	one := func(i int) error {
		o := x.outlets[i]
		o.lane, o.direct = 0, true
		if side {
			o.lane, o.direct = i, i == 0
		}
		return x.parts[i].end()
	}
	err := x.p.parallel(len(x.parts), side, one)
	for _, o := range x.outlets {
		if err == nil {
			err = pushHeld(x.out, 0, &o.held)
			continue
		}
		for _, b := range o.held {
			b.Release()
		}
		o.held = o.held[:0]
	}
	if err != nil {
		return err
	}
	return x.out.end()
}

// parallel calls f for 0 to n-1, side by side if that is wanted and possible.
func (p *Plan) parallel(n int, side bool, f func(i int) error) error {
	if side && p.env.Parallel != nil && n > 1 {
		return p.env.Parallel(n, f) // of flow, which owns the goroutines
	}
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) setWatermarks(late, evict int64, ok bool) {
	for _, s := range x.shares {
		s.setWatermarks(late, evict, ok)
	}
}

func (x *exchange) outputWatermark(w int64) int64 { return x.shares[0].outputWatermark(w) }

// ID names the operator in the checkpoint.
func (x *exchange) ID() string { return x.shares[0].ID() }

// Meaning says what the state means.
func (x *exchange) Meaning() string { return x.shares[0].Meaning() }

// Changes hands out what changed, the parts side by side if it is much.
func (x *exchange) Changes(put Put) error {
	work := x.rows.Load()
	for _, s := range x.shares {
		work += s.count().Removed
	}
	return x.p.parallel(len(x.shares), work >= wideEnd, func(i int) error { return x.shares[i].Changes(put) })
}

// Expiry says how entries go by themselves.
func (x *exchange) Expiry() Expiry {
	e := x.shares[0].Expiry()
	for _, s := range x.shares[1:] {
		e.Passed = max(e.Passed, s.Expiry().Passed)
	}
	return e
}

// Snapshot hands out all keys, part by part.
func (x *exchange) Snapshot(put Put) {
	for _, s := range x.shares {
		s.Snapshot(put)
	}
}

// Parts is the number of parts.
func (x *exchange) Parts() int { return len(x.shares) }

// RestoreAll takes many entries to the part that owns their groups.
func (x *exchange) RestoreAll(e *Entries) error {
	if e.Len() == 0 {
		return nil
	}
	first, _ := e.At(0)
	last, _ := e.At(e.Len() - 1)
	if len(first) > 0 && len(last) > 0 && x.partOf(first[0]) == x.partOf(last[0]) { // they are in order
		if s, ok := x.shares[x.partOf(first[0])].(bulk); ok {
			return s.restoreAll(e)
		}
	}
	return restoreEach(e, x.Restore)
}

// Restore takes one entry to the part that owns its group.
func (x *exchange) Restore(key, value []byte) error {
	if len(key) == 0 {
		return errState(x.ID())
	}
	return x.shares[x.partOf(key[0])].Restore(key, value)
}

func (x *exchange) count() OperatorCount {
	c := x.shares[0].count()
	for _, s := range x.shares[1:] {
		o := s.count()
		c.StateRows += o.StateRows
		c.Updated += o.Updated
		c.Removed += o.Removed
		c.LateRows += o.LateRows
		c.Duplicates += o.Duplicates
		c.StateBytes += o.StateBytes
	}
	return c
}

// routed is the state of all parts as one share, where a key is not stored under
// the group that deals its rows: route tells that one.
type routed struct {
	*exchange
	route func(key []byte) (group uint8, ok bool)
}

// routedBy makes the state of the parts one share.
func (x *exchange) routedBy(route func(key []byte) (group uint8, ok bool)) {
	if len(x.shares) > 1 {
		x.shares = []partState{&routed{&exchange{p: x.p, parts: x.parts, shares: x.shares}, route}}
	}
}

// Restore takes one entry to the part that owns the group of its rows.
func (r *routed) Restore(key, value []byte) error {
	group, ok := r.route(key)
	if !ok {
		return errState(r.ID())
	}
	return r.shares[r.partOf(group)].Restore(key, value)
}

// Changes hands out what changed, one part after another: their entries may
// have the same key group.
func (r *routed) Changes(put Put) error {
	for _, s := range r.shares {
		if err := s.Changes(put); err != nil {
			return err
		}
	}
	return nil
}

// restoreAll takes many entries, and then lets the parts put away what they
// cannot hold.
func (r *routed) restoreAll(e *Entries) error {
	if err := restoreEach(e, r.Restore); err != nil {
		return err
	}
	for _, s := range r.shares {
		if c, ok := s.(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return err
			}
		}
	}
	return nil
}
