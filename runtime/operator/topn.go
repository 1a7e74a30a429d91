package operator

import (
	"bytes"
	"fmt"
	"sort"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// topN is row_number() over a stream under a filter that keeps the first rows
// of each partition: the rows kept by partition are state. In update mode the
// ranks that changed come out at the end of the step. In append mode, which
// takes one row a partition ordered by event time, the row comes out when the
// watermark says that no earlier one can come; its partition is remembered. It
// is one part of an exchange.
type topN struct {
	explicit
	p      *Plan
	mem    *memory
	out    port
	n      *logical.Window
	limit  int
	nparts int
	orders []sortOrder
	time   int // event-time column of the input, -1

	timed       bool
	late, evict int64

	table   *groupTable
	store   *rowStore // the input's columns, then the sort key
	groups  []int32
	ranks   []int32     // limit row ids a group, in order
	kept    []int32     // rows by group
	done    []bool      // append: the row came out
	pending []int32     // append: groups whose row has not come out, and some that have gone
	listed  column.Bits // append: what is in pending
	changed []int32     // first changed rank by group, limit when none
	touched changeLog
	log     changeLog
	idle    idle
	keys    *column.Vector
	dead    int
	counts  OperatorCount
	buf     []byte
	codec   *rowCodec
	cold    cold
	backing backing
	away    int // rows that are in cold

	restored bool
}

// maxTopN is what sqlplan/streaming allows.
const maxTopN = 1000

// topNLimit finds how many rows of each partition of a streaming window the
// filter above keeps; 0 when it is not of that form.
func topNLimit(f *logical.Filter) (*logical.Window, int) {
	if !f.Streaming() {
		return nil, 0
	}
	w, _, k := logical.RankLimit(f)
	if w == nil || k == 0 || len(w.Calls) != 1 || w.Calls[0].Fn.Kind != funcs.RowNumber {
		return nil, 0
	}
	return w, int(k)
}

func (bd *builder) streamWindow(n *logical.Window, out port) (port, watermarked, error) {
	limit := bd.limits[n]
	if limit == 0 || limit > maxTopN || n.State == nil {
		return nil, nil, fmt.Errorf("build plan: a window function over a stream runs only as row_number() with a filter that keeps at most %d rows of each partition", maxTopN)
	}
	if n.State.Mode == logical.Complete {
		return nil, nil, fmt.Errorf("build plan: row_number() over a stream cannot run in complete mode")
	}
	x := bd.exchange(out, len(n.PartitionBy))
	spec := inletSpec{attrs: n.Input.Output(), keys: firstN(len(n.PartitionBy)), time: -1}
	spec.exprs = append(spec.exprs, n.PartitionBy...)
	for _, k := range n.OrderBy {
		spec.exprs = append(spec.exprs, k.Expr)
	}
	spec.used = len(spec.exprs)
	var to []taker
	for _, o := range x.outlets {
		t, err := bd.topNPart(n, limit, o)
		if err != nil {
			return nil, nil, err
		}
		to = append(to, t)
		x.add(t, t)
	}
	i, err := bd.inlet(x, spec, to)
	return i, bd.watermarked(x), err
}

func (bd *builder) topNPart(n *logical.Window, limit int, out port) (*topN, error) {
	in := n.Input.Output()
	t := &topN{p: bd.p, out: out, n: n, limit: limit, nparts: len(n.PartitionBy), orders: ordersOf(n.OrderBy), time: -1,
		keys: column.New(schema.Of(schema.Binary)), idle: idle{ttl: n.State.TTL}}
	if n.State.EventTime >= 0 {
		t.time = logical.IndexOf(in, n.State.EventTime)
	}
	if n.State.Mode == logical.Append && (limit != 1 || t.time < 0 || len(n.OrderBy) == 0 || n.OrderBy[0].Descending || !isColumn(n.OrderBy[0].Expr, in[t.time].ID)) {
		return nil, fmt.Errorf("build plan: in append mode row_number() over a stream gives only the first row of each partition by event time")
	}
	t.table = newGroupTable(exprTypes(n.PartitionBy))
	t.store = newRowStore(bd.env.Pool, append(append([]logical.Attr{}, in...), logical.Attr{Type: schema.Of(schema.Binary)}))
	bd.add(t)
	t.mem = bd.memory(label("row_number", n.State))
	t.cold = newCold(t.mem)
	t.codec = newRowCodec(typesOf(t.store.cols))
	t.backing = backing{f: t, table: t.table, stored: func(e *coldEntry) []byte { return e.key[1:] }, take: t.takeBack}
	return t, nil
}

func (t *topN) setWatermarks(late, evict int64, ok bool) { t.late, t.evict, t.timed = late, evict, ok }

func (t *topN) outputWatermark(w int64) int64 { return w }

func (t *topN) begin(*stepState) error {
	t.counts = OperatorCount{}
	for _, g := range t.idle.begin(t.p.step.Now) {
		t.log.touch(g)
	}
	t.cold.begin()
	if t.restored && t.n.State.Mode == logical.Append {
		for g := range int32(len(t.kept)) {
			if t.kept[g] > 0 && !t.done[g] {
				t.wait(g)
			}
		}
	}
	t.restored = false
	err := t.cold.dropIdle(&t.idle, &t.log, func(e *coldEntry) {
		n := t.rowsIn(e)
		t.counts.Removed += int64(n)
		t.away -= n
	})
	if err != nil {
		return err
	}
	t.idle.expire(t.forget)
	return nil
}

func (t *topN) close() {
	t.store.reset()
	t.cold.close()
}

func (t *topN) take(x *dealt) error {
	b, vecs, rows := x.b, x.vecs, x.rows
	if t.time >= 0 && t.timed && t.n.State.Mode == logical.Append {
		keep := onTime(b.Cols[t.time], rows, t.late)
		t.counts.LateRows += int64(len(rows) - len(keep))
		rows = keep
	}
	for len(rows) > 0 {
		n, err := t.cold.back(&t.backing, vecs[:t.nparts], rows)
		if err != nil {
			return err
		}
		t.groups = grow(t.groups, n)
		t.table.assign(vecs[:t.nparts], rows[:n], t.groups)
		t.widen()
		for k, r := range rows[:n] {
			t.offer(b, vecs[t.nparts:], int(r), t.groups[k])
		}
		if err := t.check(); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func (t *topN) widen() {
	for len(t.kept) < t.table.groups {
		t.kept, t.done, t.changed = append(t.kept, 0), append(t.done, false), append(t.changed, int32(t.limit))
		t.ranks = append(t.ranks, make([]int32, t.limit)...)
	}
}

// sortKey returns the key of a kept row.
func (t *topN) sortKey(id int32) []byte {
	c, r := t.store.place(int(id))
	cols := t.store.chunks[c].Cols
	return cols[len(cols)-1].Str(r)
}

// offer keeps row r if it is among the first of its partition. Rows with equal
// keys rank in order of arrival.
func (t *topN) offer(b *column.Batch, order []*column.Vector, r int, g int32) {
	if t.done[g] {
		return
	}
	t.buf = t.buf[:0]
	for i, v := range order {
		t.buf = appendSortKey(t.buf, v, r, t.orders[i])
	}
	at := t.insert(b.Cols, r, t.buf, g)
	if at == t.limit {
		return
	}
	t.changed[g] = min(t.changed[g], int32(at))
	t.touched.touch(g)
	t.log.touch(g)
	t.idle.touch(g)
}

// insert puts a row into its place in the ranks of group g, which it returns: the
// limit when it has none.
func (t *topN) insert(cols []*column.Vector, r int, key []byte, g int32) int {
	ranks := t.ranks[int(g)*t.limit : int(g)*t.limit+t.limit]
	n := int(t.kept[g])
	at := sort.Search(n, func(k int) bool { return bytes.Compare(t.sortKey(ranks[k]), key) > 0 })
	if at == t.limit {
		return at
	}
	if n == t.limit {
		t.dead++
	} else {
		t.kept[g]++
		n++
	}
	copy(ranks[at+1:n], ranks[at:n-1])
	ranks[at] = int32(t.store.rows)
	t.keys.Truncate(0)
	t.keys.AppendStr(key)
	last := t.store.last()
	for i, v := range cols {
		column.AppendRow(last.Cols[i], v, r)
	}
	column.AppendRow(last.Cols[len(cols)], t.keys, 0)
	last.Len++
	t.store.rows++
	return at
}

func (t *topN) end() error {
	var err error
	var groups []int32
	t.touched.flush(&entryWriter{}, func(g int32) { groups = append(groups, g) })
	t.counts.Updated = int64(len(groups) + t.cold.touched())
	if t.n.State.Mode == logical.Append {
		err = t.endAppend(groups)
	} else {
		err = t.emitChanged(groups)
	}
	for _, g := range groups {
		t.changed[g] = int32(t.limit)
	}
	if err == nil {
		err = t.endAway()
	}
	if err != nil {
		return err
	}
	t.compact()
	return t.out.end()
}

// forget drops a partition.
func (t *topN) forget(g int32) {
	t.counts.Removed += int64(t.kept[g])
	t.log.remove(g, func(dst []byte) []byte { return t.table.storedKey(append(dst, t.table.groupOf(g)), g) })
	t.dead += int(t.kept[g])
	t.kept[g], t.done[g] = 0, false
	t.idle.forget(g)
	t.table.remove(g)
}

// wait lists a group whose row has not come out.
func (t *topN) wait(g int32) {
	if t.listed = t.listed.Grow(int(g) + 1); !t.listed.Get(int(g)) {
		t.listed.Set(int(g))
		t.pending = append(t.pending, g)
	}
}

// endAppend emits the first rows that no earlier row can precede.
func (t *topN) endAppend(groups []int32) error {
	for _, g := range groups {
		t.wait(g)
	}
	var out []int32
	left := t.pending[:0]
	for _, g := range t.pending {
		if t.kept[g] == 0 || t.done[g] { // gone; another partition may have its number
			t.listed.Unset(int(g))
			continue
		}
		c, r := t.store.place(int(t.ranks[g]))
		if v := t.store.chunks[c].Cols[t.time]; v.IsNull(r) || timeAt(v, r) > t.evict {
			left = append(left, g)
			continue
		}
		out = append(out, g)
		t.listed.Unset(int(g))
		t.done[g] = true
		t.log.touch(g)
	}
	t.pending = left
	return t.emit(out, func(int32) int32 { return 0 })
}

// emitChanged emits, of each group, the rows from the first changed rank on.
func (t *topN) emitChanged(groups []int32) error {
	return t.emit(groups, func(g int32) int32 { return t.changed[g] })
}

func (t *topN) emit(groups []int32, from func(g int32) int32) error {
	var ids []int32
	var ranks []int64
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		b := t.store.batch(ids)
		key := b.Cols[len(b.Cols)-1]
		key.Release()
		rn := t.p.env.Pool.Vector(t.n.Calls[0].Attr.Type)
		for _, x := range ranks {
			appendInt(rn, x)
		}
		b.Cols[len(b.Cols)-1] = rn
		ids, ranks = ids[:0], ranks[:0]
		return pushFresh(t.out, 0, b)
	}
	for _, g := range groups {
		for k := from(g); k < t.kept[g]; k++ {
			ids, ranks = append(ids, t.ranks[int(g)*t.limit+int(k)]), append(ranks, int64(k+1))
		}
		if len(ids) >= column.BatchRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// compact moves the kept rows together when most are dead.
func (t *topN) compact() {
	if t.dead < 4*column.BatchRows || t.dead*2 < t.store.rows {
		return
	}
	old := t.store
	t.store, t.dead = newRowStore(old.pool, old.cols), 0
	all := identity(column.BatchRows)
	var ids []int32
	var to []*int32
	move := func() {
		b := old.batch(ids)
		first := t.store.rows
		t.store.add(b.Cols, all[:len(ids)])
		b.Release()
		for k, p := range to {
			*p = int32(first + k)
		}
		ids, to = ids[:0], to[:0]
	}
	for g, n := range t.kept {
		for k := range int(n) {
			p := &t.ranks[g*t.limit+k]
			ids, to = append(ids, *p), append(to, p)
			if len(ids) == column.BatchRows {
				move()
			}
		}
	}
	if len(ids) > 0 {
		move()
	}
	old.reset()
}

// ID names the operator in the checkpoint.
func (t *topN) ID() string { return t.n.State.ID }

// Meaning says what the state means.
func (t *topN) Meaning() string { return t.n.State.Meaning + rowLayout(t.n.Input.Output()) }

func (t *topN) put(w *entryWriter, g int32) {
	t.buf = t.table.storedKey(append(t.buf[:0], t.table.groupOf(g)), g)
	n := len(t.buf)
	flag := byte(0)
	if t.done[g] {
		flag = 1
	}
	t.buf = t.idle.append(append(t.buf, flag), g)
	for k := range int(t.kept[g]) {
		c, r := t.store.place(int(t.ranks[int(g)*t.limit+k]))
		t.buf = appendLong(t.buf, exact.row(nil, t.store.chunks[c].Cols, r))
	}
	w.write(t.buf, n)
}

// Changes hands out what changed since the last call.
func (t *topN) Changes(put Put) error {
	w := &entryWriter{put: put}
	t.log.flush(w, func(g int32) { t.put(w, g) })
	return t.cold.changes(w)
}

// Snapshot hands out all partitions.
func (t *topN) Snapshot(put Put) {
	w := &entryWriter{put: put}
	for g := range int32(len(t.kept)) {
		if t.kept[g] > 0 {
			t.put(w, g)
		}
	}
	t.cold.snapshot(w)
}

// Restore takes one partition.
func (t *topN) Restore(key, value []byte) error {
	if len(key) < 1 || len(value) < 2 {
		return errState(t.ID())
	}
	g, ok := t.table.restoreKey(key[1:])
	if !ok {
		return errState(t.ID())
	}
	t.widen()
	at, ok := t.set(g, value)
	if !ok {
		return t.unfit(g)
	}
	t.idle.restore(g, at)
	t.log.save(g)
	t.restored = true
	return nil
}

// unfit says why set took no entry. Checkpoints of earlier versions do not say
// how many rows of each partition they hold.
func (t *topN) unfit(g int32) error {
	if int(t.kept[g]) == t.limit {
		return fmt.Errorf("restore state %s: it holds more than the first %d rows of a partition, for another number was kept before; a full refresh is needed", t.ID(), t.limit)
	}
	return errState(t.ID())
}

// set gives a group what an entry holds, and says when it was last used.
func (t *topN) set(g int32, value []byte) (at int64, ok bool) {
	if len(value) < 2 {
		return 0, false
	}
	at, rows, ok := t.idle.cut(value[1:])
	if !ok {
		return 0, false
	}
	t.dead += int(t.kept[g])
	t.kept[g], t.done[g], t.changed[g] = 0, value[0] == 1, int32(t.limit)
	for rest := rows; len(rest) > 0; {
		row, more, ok := cutLong(rest)
		if !ok || t.codec.decode(row) != nil || int(t.kept[g]) == t.limit {
			return 0, false
		}
		n := len(t.codec.cols) - 1
		t.buf = append(t.buf[:0], t.codec.cols[n].Str(0)...)
		t.insert(t.codec.cols[:n], 0, t.buf, g)
		rest = more
	}
	return at, true
}

func (t *topN) count() OperatorCount {
	c := t.counts
	c.ID, c.StateRows, c.StateBytes = t.n.State.ID, int64(t.store.rows-t.dead+t.away), t.bytes()
	return c
}
