package operator

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// peerColumn says of a row in a file whether it has the order key of the one before.
var peerColumn = logical.Attr{Name: "peer", Type: schema.Of(schema.Boolean)}

// far is beyond the rows that are in memory.
const far = int(^uint(0) >> 2)

// ahead is the row of the block after the last that row i needs; far when that is
// not known yet.
func (c *largeCall) ahead(b *block, i int) int {
	if c.call.Agg == nil {
		switch c.call.Fn.Kind {
		case funcs.CumeDist:
			return c.peersEnd(b, i)
		case funcs.Lag, funcs.Lead:
			return c.leads(b, i)
		case funcs.FirstValue, funcs.LastValue, funcs.NthValue:
			return c.valueAhead(b, i)
		default:
			return i + 1
		}
	}
	switch {
	case !c.openEnd:
		return c.frameAhead(b, i)
	case c.openStart:
		return i + 1 // the whole is known
	default:
		return c.startAhead(b, i)
	}
}

func (c *largeCall) ready(b *block, i int) bool { return c.ahead(b, i) <= b.n }

// peersEnd is the end of row i's peers, far when there may be more of them.
func (c *largeCall) peersEnd(b *block, i int) int {
	if end := int(b.ends[i]); end < b.n {
		return end
	}
	return far
}

// frameAhead is the end of row i's frame, which is not open.
func (c *largeCall) frameAhead(b *block, i int) int {
	f := &c.frame
	if f.frame.Unit == logical.Rows {
		end := i + 1
		for k, bound := range []logical.FrameBound{f.frame.Start, f.frame.End} {
			if bound.Offset != nil {
				end = max(end, i+f.rows[k]+1)
			}
		}
		return end
	}
	end := i + 1
	for k, bound := range []logical.FrameBound{f.frame.Start, f.frame.End} {
		switch {
		case bound.Offset != nil && !b.cols[c.order].IsNull(i):
			at := f.search(c.windowCall, b, i, span{0, b.n}, k)
			if at == b.n {
				return far
			}
			end = max(end, at)
		case bound.Offset != nil || k == 1 && bound.Kind == logical.CurrentRow:
			end = max(end, c.peersEnd(b, i))
		}
	}
	return end
}

// by is how many rows lag and lead look ahead.
func (c *largeCall) by() int {
	if c.call.Fn.Kind == funcs.Lag {
		return -c.call.Fn.Offset
	}
	return c.call.Fn.Offset
}

// leads is the row after the one that lag or lead wants.
func (c *largeCall) leads(b *block, i int) int {
	k := c.by()
	if !c.call.IgnoreNulls || k <= 0 {
		return i + max(k, 0) + 1
	}
	for at := i + 1; at < b.n; at++ {
		if !b.cols[c.args[0]].IsNull(at) {
			if k--; k == 0 {
				return at + 1
			}
		}
	}
	return far
}

// valueAhead is what first_value, last_value and nth_value need.
func (c *largeCall) valueAhead(b *block, i int) int {
	end := i + 1
	if !c.openEnd {
		end = c.frameAhead(b, i)
	}
	switch {
	case c.call.Fn.Kind == funcs.LastValue:
		if c.openEnd && !c.openStart { // where the frame starts counts
			return c.startAhead(b, i)
		}
		return end
	case c.openStart:
		if c.openEnd && c.pinAt < 0 {
			return far
		}
		return end
	case c.openEnd:
		if at := c.find(b, i); at >= 0 {
			return at + 1
		}
		return far
	default:
		return end
	}
}

// startAhead is the row after the first of row i's frame, which has no end.
func (c *largeCall) startAhead(b *block, i int) int {
	f := &c.frame
	if f.frame.Start.Offset == nil {
		return i + 1
	}
	if f.frame.Unit == logical.Rows {
		return max(i, i+f.rows[0]) + 1
	}
	if b.cols[c.order].IsNull(i) {
		return i + 1
	}
	if at := f.search(c.windowCall, b, i, span{0, b.n}, 0); at < b.n {
		return max(at, i) + 1
	}
	return far
}

// find is the row that first_value or nth_value wants of row i's frame, -1 when
// it is not in the block.
func (c *largeCall) find(b *block, i int) int {
	lo, hi := c.frame.bounds(c.windowCall, b, i, 0, b.n)
	skip := 0
	if c.call.Fn.Kind == funcs.NthValue {
		skip = c.call.Fn.Offset - 1
	}
	v := b.cols[c.args[0]]
	for at := lo; at < hi; at++ {
		if c.call.IgnoreNulls && v.IsNull(at) {
			continue
		}
		if skip == 0 {
			return at
		}
		skip--
	}
	return -1
}

// run appends the values of the rows, and notes what the next ones need.
func (c *largeCall) run(b *block, rows span, out *column.Vector) {
	l := c.l
	c.keep = l.base + int64(rows.to)
	if c.call.Agg != nil {
		c.bind(b, out)
		c.aggregate(b, rows)
		return
	}
	switch c.call.Fn.Kind {
	case funcs.RowNumber, funcs.Rank, funcs.DenseRank, funcs.PercentRank, funcs.CumeDist, funcs.NTile:
		l.ranks(rows, func(i int) { c.rankOf(b, i, out) })
	case funcs.CounterDiff:
		c.steps(b, rows, out)
	case funcs.Lag, funcs.Lead:
		by := c.by()
		for i := rows.from; i < rows.to; i++ {
			c.offset(b, i, span{0, b.n}, by, out)
		}
		c.keep = l.base + int64(c.behind(b, rows.to, by))
	case funcs.FirstValue, funcs.LastValue, funcs.NthValue:
		c.values(b, rows, out)
	}
}

func (c *largeCall) rankOf(b *block, i int, out *column.Vector) {
	l := c.l
	n, row := l.size, l.base+int64(i)
	switch c.call.Fn.Kind {
	case funcs.RowNumber:
		appendInt(out, row+1)
	case funcs.Rank:
		appendInt(out, l.rank)
	case funcs.DenseRank:
		appendInt(out, l.dense)
	case funcs.PercentRank:
		if n == 1 {
			appendFloat(out, 0)
		} else {
			appendFloat(out, float64(l.rank-1)/float64(n-1))
		}
	case funcs.CumeDist:
		appendFloat(out, float64(l.base+int64(b.ends[i]))/float64(n))
	default:
		appendInt(out, int64(tile(int(row), int(n), c.call.Fn.Offset)))
	}
}

// steps is counter_diff. The last row with a value stays in memory; c.lo is the
// row after it, 0 for none.
func (c *largeCall) steps(b *block, rows span, out *column.Vector) {
	args := make([]*column.Vector, len(c.args))
	for k, a := range c.args {
		args[k] = b.cols[a]
	}
	for i := rows.from; i < rows.to; i++ {
		prev := -1
		if c.lo > 0 {
			prev = int(c.lo - 1 - c.l.base)
		}
		c.call.Fn.Step(&c.ctx, args, prev, i, out)
		if !args[0].IsNull(i) {
			c.lo = c.l.base + int64(i) + 1
		}
	}
	if c.lo > 0 {
		c.keep = c.lo - 1
	}
}

// behind is the first row that lag needs for row i and those after it.
func (c *largeCall) behind(b *block, i, by int) int {
	if by >= 0 {
		return i
	}
	if !c.call.IgnoreNulls {
		return max(i+by, 0)
	}
	for at := i - 1; at >= 0; at-- {
		if !b.cols[c.args[0]].IsNull(at) {
			if by++; by == 0 {
				return at
			}
		}
	}
	return 0
}

// values is first_value, last_value and nth_value.
func (c *largeCall) values(b *block, rows span, out *column.Vector) {
	last := c.call.Fn.Kind == funcs.LastValue
	pinned := last && c.openEnd || !last && c.openStart
	for i := rows.from; i < rows.to; i++ {
		lo, hi := c.frame.bounds(c.windowCall, b, i, 0, b.n)
		switch {
		case !pinned:
			c.nth(b, i, 0, b.n, out)
		case c.pinAt >= 0 && (last && (c.openStart || c.pinAt >= c.l.base+int64(lo)) || !last && (c.openEnd || c.pinAt < c.l.base+int64(hi))):
			column.AppendRow(out, c.pin, 0)
		default:
			out.AppendNull()
		}
	}
	if pinned && last && c.openStart || pinned && !last && c.openEnd {
		return
	}
	lo, hi := c.frame.bounds(c.windowCall, b, rows.to-1, 0, b.n)
	switch {
	case last && !pinned:
		at := hi - 1
		for c.call.IgnoreNulls && at >= lo && b.cols[c.args[0]].IsNull(at) {
			at--
		}
		if at >= lo {
			hi = at
		}
		c.keepFrom(min(hi, rows.to))
	case pinned && !last:
		c.keepFrom(min(hi, rows.to))
	default:
		c.keepFrom(min(lo, rows.to))
	}
	c.keepPeers(b, rows.to)
}

func (c *largeCall) keepFrom(at int) { c.keep = min(c.keep, c.l.base+int64(at)) }

// keepPeers keeps the peers of the last row, where a frame starts with them.
func (c *largeCall) keepPeers(b *block, to int) {
	if f := c.frame.frame; f.Unit == logical.Range && !c.openStart {
		c.keepFrom(int(b.begins[to-1]))
	}
}

// aggregate folds frames. A running state goes on from rows before.
func (c *largeCall) aggregate(b *block, rows span) {
	f, base := c.fold, c.l.base
	switch {
	case c.openStart && c.openEnd:
		f.repeat(rows.to - rows.from)
	case c.openStart:
		c.growing(b, rows)
		c.keepFrom(min(int(c.hi-base), rows.to))
	case c.call.Agg.Retract != nil:
		c.retracting(b, rows)
		c.keepFrom(min(int(c.lo-base), int(c.hi-base), rows.to))
	default:
		f.slide(span{0, b.n}, rows)
		lo, _ := c.frame.bounds(c.windowCall, b, rows.to-1, 0, b.n)
		c.keepFrom(min(lo, rows.to))
	}
	if !c.openStart || !c.openEnd {
		c.keepPeers(b, rows.to)
	}
}

func (c *largeCall) growing(b *block, rows span) {
	f, last := c.fold, -1
	for i := rows.from; i < rows.to; i++ {
		_, hi := c.frame.bounds(c.windowCall, b, i, 0, b.n)
		if hi == last {
			column.AppendRow(f.out, f.out, f.out.Len-1)
			continue
		}
		if done := int(c.hi - c.l.base); hi > done {
			f.fold(done, hi)
			c.hi = c.l.base + int64(hi)
		}
		f.finish()
		last = hi
	}
}

func (c *largeCall) retracting(b *block, rows span) {
	f, base := c.fold, c.l.base
	lo, hi := int(c.lo-base), int(c.hi-base)
	for i := rows.from; i < rows.to; i++ {
		l, h := c.frame.bounds(c.windowCall, b, i, 0, b.n)
		if c.openEnd { // the state began with all rows
			h = hi
		} else if l >= hi {
			f.st.Clear(one)
			lo, hi = l, l
		}
		if h > hi {
			f.fold(hi, h)
			hi = h
		}
		if l > lo {
			f.add(f.st, one, lo, l, c.call.Agg.Retract)
			lo = l
		}
		f.finish()
	}
	c.lo = base + int64(lo)
	if c.hi = base + int64(hi); c.openEnd {
		c.hi = c.lo
	}
}
