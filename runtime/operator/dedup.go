package operator

import (
	"encoding/binary"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// dedup passes the first row of each key. Over a stream the keys are state:
// rows that are late by their event time are dropped first; a key goes when
// its event time is among its columns and passes, or, within the watermark,
// at the event time of its first row plus the delay. It is one part of an
// exchange.
type dedup struct {
	p      *Plan
	mem    *memory
	n      *logical.Deduplicate
	nkeys  int
	time   int  // event-time column of the input, -1 for none
	inKey  bool // the event time is a key
	stream bool
	delay  int64

	timed       bool
	late, evict int64

	table  *groupTable
	groups []int32
	until  []int64 // by group; noExpiry when it stays
	alive  column.Bits
	expiry timeIndex
	log    changeLog
	passed int64 // since the last Changes
	cold   cold
	idle   idle
	counts OperatorCount
	buf    []byte
	// restored: expiry is filled when the first step begins.
	restored bool
}

const noExpiry = int64(1<<63 - 1)

func (bd *builder) deduplicate(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Deduplicate)
	in := n.Input.Output()
	keys := in
	if len(n.Keys) > 0 {
		keys = nil
	}
	for _, k := range n.Keys {
		keys = append(keys, in[logical.IndexOf(in, k)])
	}
	x := bd.exchange(out, len(keys))
	spec := inletSpec{attrs: in, keys: firstN(len(keys)), used: len(keys), time: -1}
	for _, k := range keys {
		spec.exprs = append(spec.exprs, k.Ref())
	}
	var to []taker
	for range x.outlets {
		d := bd.dedupPart(n, keys)
		spec.time, to = d.time, append(to, d)
		if d.stream {
			x.add(d, d)
		} else {
			x.add(d, nil)
		}
	}
	i, err := bd.inlet(x, spec, to)
	return i, bd.watermarked(x), err
}

func (bd *builder) dedupPart(n *logical.Deduplicate, keys []logical.Attr) *dedup {
	in := n.Input.Output()
	d := &dedup{p: bd.p, n: n, nkeys: len(keys), time: -1, passed: nonePassed}
	d.stream = n.Input.Streaming() && n.State != nil
	if d.stream && n.State.EventTime >= 0 {
		d.time = logical.IndexOf(in, n.State.EventTime)
		if d.time >= 0 {
			d.delay = max(in[d.time].Watermark, 0)
		}
		for _, k := range keys {
			d.inKey = d.inKey || d.time >= 0 && k.ID == in[d.time].ID
		}
	}
	d.table = newGroupTable(typesOf(keys))
	if d.stream {
		d.idle.ttl = n.State.TTL
	}
	bd.add(d)
	d.mem = bd.memory(label("deduplicate", n.State))
	d.cold = newCold(d.mem)
	return d
}

func (d *dedup) setWatermarks(late, evict int64, ok bool) { d.late, d.evict, d.timed = late, evict, ok }

func (d *dedup) outputWatermark(w int64) int64 { return w }

func (d *dedup) begin(*stepState) error {
	d.counts = OperatorCount{}
	if !d.stream {
		d.table.reset()
	}
	for _, g := range d.idle.begin(d.p.step.Now) {
		d.log.touch(g)
	}
	if d.restored {
		d.restored = false
		for g := range int32(d.table.groups) {
			if d.alive.Get(int(g)) && d.until[g] != noExpiry {
				d.expiry.add(d.until[g], g)
			}
		}
	}
	if err := d.cold.dropIdle(&d.idle, &d.log, func(*coldEntry) { d.counts.Removed++ }); err != nil {
		return err
	}
	d.idle.expire(func(g int32) {
		d.counts.Removed++
		d.forget(g)
	})
	return nil
}

func (d *dedup) close() { d.cold.close() }

// take passes the first rows of keys.
func (d *dedup) take(x *dealt) error {
	rows, b := x.rows, x.b
	if d.time >= 0 && d.timed {
		all := len(rows)
		rows = onTime(b.Cols[d.time], rows, d.late)
		d.counts.LateRows += int64(all - len(rows))
	}
	d.groups = grow(d.groups, len(rows))
	d.table.assign(x.vecs[:d.nkeys], rows, d.groups)
	fresh, passed := d.table.fresh, int64(0)
	for k, g := range d.groups {
		if len(fresh) == 0 || g != fresh[0] {
			continue
		}
		fresh = fresh[1:]
		if d.cold.kept > 0 {
			if here, err := d.thaw(g); here || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		passed++
		x.keep = append(x.keep, rows[k])
		if d.stream {
			d.remember(g, d.expiryOf(b, int(rows[k])))
			d.log.touch(g)
			d.idle.touch(g)
		}
	}
	d.counts.Updated += passed
	d.counts.Duplicates += int64(len(rows)) - passed
	return d.check()
}

// thaw brings the key of a group that was just made back into memory, if it is
// away.
func (d *dedup) thaw(g int32) (here bool, err error) {
	d.buf = d.key(d.buf[:0], g)
	e, ok, err := d.cold.take(d.table.hashOf(g), d.buf)
	if err != nil || !ok {
		return false, err
	}
	if len(e.value) < 9 {
		return false, errState(d.ID())
	}
	at, _, ok := d.idle.cut(e.value[8:])
	if !ok {
		return false, errState(d.ID())
	}
	d.remember(g, e.until)
	d.idle.back(g, at)
	d.log.back(g, e.flags)
	return true, nil
}

func (d *dedup) bytes() int64 { return d.loose() + d.cold.bytes() }

func (d *dedup) loose() int64 {
	return d.table.bytes() + int64(8*(cap(d.until)+len(d.alive))) + d.log.bytes() + d.expiry.bytes() + d.idle.bytes()
}

func (d *dedup) entries() int { return d.table.live() }

// check asks for what is held and puts all keys away when it is refused.
func (d *dedup) check() error {
	if !d.stream || d.table.live() == 0 || d.idle.unknown {
		return d.mem.must(d.bytes())
	}
	return d.cold.check(d, d.log.goneBytes())
}

// freeze writes all keys to a run and forgets them.
func (d *dedup) freeze() error {
	var all []int32
	for g := range int32(d.table.groups) {
		if d.alive.Get(int(g)) {
			all = append(all, g)
		}
	}
	err := d.cold.freeze(all, d.table.hashOf, func(g int32, e *coldEntry, w *entryWriter) {
		d.put(w, g)
		e.until, e.idle, e.flags = d.until[g], d.idle.due(g), d.log.flags(g)
	})
	if err != nil {
		return err
	}
	d.table = newGroupTable(d.table.layout.types)
	d.until, d.alive, d.expiry, d.restored = nil, nil, timeIndex{}, false
	d.log.away()
	d.idle.away()
	return nil
}

// onTime returns the rows that are not late; rows without a time are not.
func onTime(t *column.Vector, rows []int32, late int64) []int32 {
	if noneLate(t, rows, late) {
		return rows
	}
	isLate := func(r int32) bool { return !t.IsNull(int(r)) && timeAt(t, int(r)) <= late }
	for k, r := range rows {
		if !isLate(r) {
			continue
		}
		keep := append(make([]int32, 0, len(rows)), rows[:k]...)
		for _, r := range rows[k+1:] {
			if !isLate(r) {
				keep = append(keep, r)
			}
		}
		return keep
	}
	return rows
}

// noneLate says, where that is quick to see, that no row is late.
func noneLate(t *column.Vector, rows []int32, late int64) bool {
	if len(t.Children) == 2 && t.Dict == nil && !t.Const {
		t = t.Children[1]
	}
	if t.Dict != nil || t.Const || len(t.I64) < t.Len {
		return false
	}
	for _, r := range rows {
		if t.I64[r] <= late {
			return false
		}
	}
	return true
}

// expiryOf says when the key of row r goes.
func (d *dedup) expiryOf(b *column.Batch, r int) int64 {
	if d.time < 0 {
		return noExpiry
	}
	t := b.Cols[d.time]
	switch {
	case d.n.WithinWatermark && t.IsNull(r): // counts as the epoch
		return d.delay
	case d.n.WithinWatermark:
		return timeAt(t, r) + d.delay
	case d.inKey && !t.IsNull(r):
		return timeAt(t, r)
	}
	return noExpiry
}

func (d *dedup) remember(g int32, until int64) {
	n := d.table.groups
	d.alive = d.alive.Grow(n)
	d.alive.Set(int(g))
	for len(d.until) < n {
		d.until = append(d.until, 0)
	}
	d.until[g] = until
	if until != noExpiry && !d.restored {
		d.expiry.add(until, g)
	}
}

func (d *dedup) end() error {
	if d.stream && d.timed {
		if err := d.lapse(); err != nil {
			return err
		}
	}
	if !d.stream {
		d.table.reset()
	}
	return nil
}

// lapse forgets the keys whose time has passed.
func (d *dedup) lapse() error {
	n, err := d.cold.due(byTime, d.evict, 1<<62, false, func(*coldEntry) error { return nil })
	if err != nil {
		return err
	}
	if n > 0 {
		d.passed = d.evict
		d.counts.Removed += int64(n)
	}
	gone := d.expiry.expire(d.evict)
	if len(gone) == 0 {
		return nil
	}
	d.passed = d.evict
	d.counts.Removed += int64(len(gone))
	for _, g := range gone {
		d.log.lapse(g)
		d.alive.Unset(int(g))
		d.idle.forget(g)
	}
	d.table.removeAll(gone)
	return nil
}

func (d *dedup) forget(g int32) {
	d.log.remove(g, func(dst []byte) []byte { return d.key(dst, g) })
	d.alive.Unset(int(g))
	d.expiry.remove(g)
	d.idle.forget(g)
	d.table.remove(g)
}

func (d *dedup) key(dst []byte, g int32) []byte {
	return d.table.storedKey(append(dst, d.table.groupOf(g)), g)
}

// ID names the operator in the checkpoint.
func (d *dedup) ID() string { return d.n.State.ID }

// Meaning says what the state means.
func (d *dedup) Meaning() string { return d.n.State.Meaning }

func (d *dedup) count() OperatorCount {
	c := d.counts
	c.ID, c.StateRows, c.StateBytes = d.n.State.ID, int64(d.table.live()+d.cold.kept), d.bytes()
	return c
}

func (d *dedup) put(w *entryWriter, g int32) {
	d.buf = d.key(d.buf[:0], g)
	n := len(d.buf)
	d.buf = d.idle.append(binary.LittleEndian.AppendUint64(d.buf, uint64(d.until[g])), g)
	w.write(d.buf, n)
}

// Changes hands out what changed since the last call.
func (d *dedup) Changes(put Put) error {
	w := &entryWriter{put: put}
	d.log.flush(w, func(g int32) { d.put(w, g) })
	d.passed = nonePassed
	return d.cold.changes(w)
}

// Expiry says that a value starts with the time at which its key goes.
func (d *dedup) Expiry() Expiry { return Expiry{At: 0, Passed: d.passed} }

// Snapshot hands out all keys.
func (d *dedup) Snapshot(put Put) {
	w := &entryWriter{put: put}
	for g := range int32(d.table.groups) {
		if d.alive.Get(int(g)) {
			d.put(w, g)
		}
	}
	d.cold.snapshot(w)
}

// restoreAll takes many keys.
func (d *dedup) restoreAll(e *Entries) error {
	d.groups = grow(d.groups, e.Len())
	for i := range e.Len() {
		if k, v := e.At(i); len(k) < 1 || len(v) < 9 {
			return errState(d.ID())
		}
	}
	if !d.table.restoreKeys(e.Len(), func(i int) []byte { k, _ := e.At(i); return k[1:] }, d.groups) {
		return errState(d.ID())
	}
	d.restored = true
	for i, g := range d.groups {
		_, v := e.At(i)
		at, _, ok := d.idle.cut(v[8:])
		if !ok {
			return errState(d.ID())
		}
		d.idle.restore(g, at)
		d.log.save(g)
		d.remember(g, int64(binary.LittleEndian.Uint64(v)))
	}
	return d.check()
}

// Restore takes one key.
func (d *dedup) Restore(key, value []byte) error {
	if len(key) < 1 || len(value) < 9 {
		return errState(d.ID())
	}
	g, ok := d.table.restoreKey(key[1:])
	if !ok {
		return errState(d.ID())
	}
	at, _, ok := d.idle.cut(value[8:])
	if !ok {
		return errState(d.ID())
	}
	d.idle.restore(g, at)
	d.restored = true
	d.log.save(g)
	d.remember(g, int64(binary.LittleEndian.Uint64(value)))
	return nil
}
