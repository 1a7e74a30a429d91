package operator

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// largePartition works through the rows of one partition that does not fit into
// memory: the rows that frames still need are in memory, a row comes out when
// all that its frames reach is there. Where a call needs to know the whole
// partition before its first row, all rows go to a file first.
type largePartition struct {
	w     *window
	b     *column.Batch // rows in memory: the store's columns
	peers []bool        // of them
	base  int64         // rows of the partition before them
	done  int           // of them that came out
	next  int           // rows in memory from which to try again
	ended bool          // the partition has no more rows
	size  int64         // rows of the partition, when they are known
	calls []*largeCall

	twice  bool // rows go to the file first
	file   *spillFile
	blocks []spillBlock
	wait   *column.Batch // rows for the next block, with their peers
	rank   int64
	dense  int64
}

// largeCall is a call over a large partition.
type largeCall struct {
	*windowCall
	l    *largePartition
	fold *frameFold // nil for functions
	// open says that a frame starts, or ends, with the partition.
	openStart, openEnd bool
	// lo and hi are the rows of the partition that the running state holds.
	lo, hi int64
	// pin is the value of one row of the partition, which stands at pinAt, or -1;
	// met counts the rows that may be it.
	pin   *column.Vector
	pinAt int64
	met   int
	// keep is the first row of the partition that the next rows need.
	keep int64
}

// large begins a partition that does not fit, if all calls can do with a part of
// its rows at a time.
func (w *window) large() *largePartition {
	l := &largePartition{w: w, b: newBatch(w.p.env.Pool, w.store.cols)}
	for _, c := range w.calls {
		x := &largeCall{windowCall: c, l: l, pinAt: -1}
		f := c.frame.frame
		// Without an order all rows are peers.
		all := f.Unit == logical.Range && len(w.n.OrderBy) == 0
		x.openStart = f.Start.Kind == logical.UnboundedPreceding || all && f.Start.Kind == logical.CurrentRow
		x.openEnd = f.End.Kind == logical.UnboundedFollowing || all && f.End.Kind == logical.CurrentRow
		if c.call.Agg != nil {
			if x.openEnd && !x.openStart && c.call.Agg.Retract == nil {
				l.drop()
				return nil // each row has another frame, of nearly all rows
			}
			c.ctx.Now = w.p.step.Now
			x.fold = &frameFold{w: c, st: funcs.NewStates(c.call.Agg.State)}
			x.fold.st.Grow(1)
		}
		l.twice = l.twice || x.needsAll()
		l.calls = append(l.calls, x)
	}
	return l
}

// needsAll says that the first row needs the whole partition.
func (c *largeCall) needsAll() bool {
	if c.call.Agg != nil {
		return c.openEnd
	}
	switch c.call.Fn.Kind {
	case funcs.PercentRank, funcs.CumeDist, funcs.NTile:
		return true
	case funcs.LastValue:
		return c.openEnd
	default:
		return false
	}
}

func (l *largePartition) drop() {
	if l == nil || l.b == nil {
		return
	}
	l.b.Release()
	l.b = nil
	if l.wait != nil {
		l.wait.Release()
	}
	for _, c := range l.calls {
		if c.pin != nil {
			c.pin.Release()
		}
	}
	l.w.p.closeSpill(l.file)
}

// add takes rows [from, to) of columns, in order.
func (l *largePartition) add(cols []*column.Vector, from, to int, peers []bool) error {
	if !l.twice {
		return l.take(cols, from, to, peers)
	}
	if l.wait == nil {
		l.wait = newBatch(l.w.p.env.Pool, append(append([]logical.Attr{}, l.w.store.cols...), peerColumn))
	}
	n := len(l.wait.Cols) - 1
	for i, v := range l.wait.Cols[:n] {
		column.AppendRange(v, cols[i], from, to)
	}
	p := l.wait.Cols[n]
	p.Bool = append(p.Bool, peers...)
	p.Len += to - from
	l.wait.Len += to - from
	if l.wait.Len < column.BatchRows && usedBytes(l.wait.Cols) < spillBytes {
		return nil
	}
	return l.put()
}

// put writes the rows that wait, after the calls have seen them.
func (l *largePartition) put() error {
	if l.wait == nil || l.wait.Len == 0 {
		return nil
	}
	if l.file == nil {
		var err error
		if l.file, err = l.w.mem.file(); err != nil {
			return err
		}
	}
	for _, c := range l.calls {
		c.see(l.wait.Cols, l.wait.Len)
	}
	blk, err := l.file.write(l.wait.Cols, l.wait.Len)
	if err != nil {
		return err
	}
	l.blocks = append(l.blocks, blk)
	l.size += int64(l.wait.Len)
	emptyColumns(l.wait)
	return nil
}

// see lets a call that needs all rows look at some before any comes out.
func (c *largeCall) see(cols []*column.Vector, n int) {
	switch {
	case !c.needsAll():
	case c.fold != nil:
		c.bind(&block{cols: cols, n: n}, nil)
		c.fold.fold(0, n)
	case c.call.Fn.Kind == funcs.LastValue:
		v := cols[c.args[0]]
		at := n - 1
		for c.call.IgnoreNulls && at >= 0 && v.IsNull(at) {
			at--
		}
		if at >= 0 {
			c.pinRow(v, at, c.l.size+int64(at))
		}
	}
}

func (c *largeCall) pinRow(v *column.Vector, i int, at int64) {
	if c.pin == nil {
		c.pin = c.l.w.p.env.Pool.Vector(c.call.Attr.Type)
	}
	emptyVector(c.pin)
	column.AppendRow(c.pin, v, i)
	c.pinAt = at
}

// bind makes the fold work on a block.
func (c *largeCall) bind(b *block, out *column.Vector) {
	f := c.fold
	f.b, f.out, f.args = b, out, f.args[:0]
	for _, a := range c.args {
		f.args = append(f.args, b.cols[a])
	}
	c.ctx.Rows = b.n
}

// end says that the partition has no more rows.
func (l *largePartition) end() error {
	if l.twice {
		if err := l.put(); err != nil {
			return err
		}
		l.wait.Release()
		l.wait = nil
		if err := l.again(); err != nil {
			return err
		}
	}
	l.ended = true
	err := l.work()
	l.drop()
	return err
}

// again reads the rows back.
func (l *largePartition) again() error {
	var buf spillBuffer
	b := newBatch(l.w.p.env.Pool, append(append([]logical.Attr{}, l.w.store.cols...), peerColumn))
	defer b.Release()
	for _, blk := range l.blocks {
		emptyColumns(b)
		if err := l.file.read(blk, b.Cols, &buf); err != nil {
			return err
		}
		n := len(b.Cols) - 1
		if err := l.take(b.Cols[:n], 0, int(blk.rows), b.Cols[n].Bool); err != nil {
			return err
		}
	}
	return nil
}

// take takes rows into memory and lets out what can come out.
func (l *largePartition) take(cols []*column.Vector, from, to int, peers []bool) error {
	for i, v := range l.b.Cols {
		column.AppendRange(v, cols[i], from, to)
	}
	for _, c := range l.calls {
		c.pinFirst(cols, from, to)
	}
	l.b.Len += to - from
	l.peers = append(l.peers, peers...)
	if l.b.Len < l.next && l.w.mem.fits(l.bytes()) {
		return nil
	}
	return l.work()
}

func (l *largePartition) bytes() int64 { return grown(usedBytes(l.b.Cols) + int64(9*l.b.Len)) }

// pinFirst keeps the value of the row that first_value or nth_value wants, where
// all frames start with the partition.
func (c *largeCall) pinFirst(cols []*column.Vector, from, to int) {
	if c.call.Agg != nil || !c.openStart || c.pinAt >= 0 {
		return
	}
	want := 1
	switch c.call.Fn.Kind {
	case funcs.FirstValue:
	case funcs.NthValue:
		want = c.call.Fn.Offset
	default:
		return
	}
	v := cols[c.args[0]]
	for i := from; i < to; i++ {
		if c.call.IgnoreNulls && v.IsNull(i) {
			continue
		}
		if c.met++; c.met == want {
			c.pinRow(v, i, c.l.base+int64(c.l.b.Len+i-from))
			return
		}
	}
}

// work lets out the rows whose frames are in memory, and forgets those that no
// frame needs any more.
func (l *largePartition) work() error {
	b := &block{cols: l.b.Cols, n: l.b.Len, peers: append([]bool(nil), l.peers...)}
	if b.n > 0 {
		b.peers[0] = false // the row before is not here
	}
	b.findPeers()
	from, to := l.done, l.done
	for to < b.n && l.ready(b, to) {
		to++
	}
	if to > from {
		if err := l.compute(b, from, to); err != nil {
			return err
		}
	}
	keep := int64(to) + l.base
	for _, c := range l.calls {
		keep = min(keep, c.keep)
	}
	l.done = to
	l.forget(int(max(keep-l.base, 0)))
	l.next = max(2*l.b.Len, l.b.Len+column.BatchRows/2)
	return l.w.mem.must(l.bytes())
}

// forget drops the first n rows in memory.
func (l *largePartition) forget(n int) {
	if n == 0 {
		return
	}
	nb := newBatch(l.w.p.env.Pool, l.w.store.cols)
	for i, v := range nb.Cols {
		column.AppendRange(v, l.b.Cols[i], n, l.b.Len)
		trimVector(l.b.Cols[i])
	}
	nb.Len = l.b.Len - n
	l.b.Release()
	l.b = nb
	l.peers = append(l.peers[:0], l.peers[n:]...)
	l.base += int64(n)
	l.done -= n
}

func (l *largePartition) ready(b *block, i int) bool {
	if l.ended {
		return true
	}
	for _, c := range l.calls {
		if !c.ready(b, i) {
			return false
		}
	}
	return true
}

// compute evaluates the calls for rows [from, to) of the block and pushes them.
func (l *largePartition) compute(b *block, from, to int) error {
	for at := from; at < to; at += column.BatchRows {
		end := min(at+column.BatchRows, to)
		nb := newBatch(l.w.p.env.Pool, l.w.n.Output())
		in := len(l.w.n.Input.Output())
		for i, v := range nb.Cols[:in] {
			column.AppendRange(v, b.cols[i], at, end)
		}
		rank, dense := l.rank, l.dense
		for i, c := range l.calls {
			l.rank, l.dense = rank, dense
			c.run(b, span{at, end}, nb.Cols[in+i])
		}
		l.rank, l.dense = rank, dense
		l.ranks(span{at, end}, func(int) {})
		nb.Len = end - at
		if err := pushFresh(l.w.out, 0, nb); err != nil {
			return err
		}
	}
	return nil
}

// ranks calls f for the rows, with their ranks in l.
func (l *largePartition) ranks(rows span, f func(i int)) {
	for i := rows.from; i < rows.to; i++ {
		if !l.peers[i] {
			l.rank = l.base + int64(i) + 1
			l.dense++
		}
		f(i)
	}
}
