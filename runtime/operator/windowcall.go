package operator

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// windowCall is one function of a window operator. Its inputs are columns of
// the operator's store.
type windowCall struct {
	call   *logical.WindowCall
	args   []int
	filter int // -1 for none
	order  int // the order key of a RANGE frame with offsets, -1 for none
	frame  frameBounds
	ctx    funcs.Ctx
}

func newWindowCall(bd *builder, c *logical.WindowCall, order []logical.SortKey, add func(logical.Expr) int) (*windowCall, error) {
	if c.Agg != nil && c.Agg.Window != nil && c.Filter == nil && !c.Distinct && !c.IgnoreNulls {
		at := *c
		at.Fn, at.Agg = c.Agg.Window, nil
		c = &at
	}
	w := &windowCall{call: c, filter: -1, order: -1}
	for _, a := range c.Args {
		w.args = append(w.args, add(a))
	}
	if c.Filter != nil {
		w.filter = add(c.Filter)
	}
	if c.Frame.Unit == logical.Range && (c.Frame.Start.Offset != nil || c.Frame.End.Offset != nil) {
		w.order = add(order[0].Expr)
	}
	w.ctx = funcs.Ctx{Pool: bd.env.Pool, Session: bd.env.Session}
	var err error
	w.frame, err = newFrameBounds(bd, c.Frame, order)
	return w, err
}

// run appends the call's value for each row of the block.
func (w *windowCall) run(p *Plan, b *block, out *column.Vector) {
	if w.call.Agg != nil {
		w.ctx.Now = p.step.Now
		f := &frameFold{w: w, b: b, out: out, st: funcs.NewStates(w.call.Agg.State)}
		for _, a := range w.args {
			f.args = append(f.args, b.cols[a])
		}
		w.ctx.Rows = b.n
		b.partitions(f.partition)
		return
	}
	b.partitions(func(from, to int) { w.rank(b, from, to, out) })
}

// rank is one partition of a ranking or offset function.
//
//tidy:allow-long one case a function
func (w *windowCall) rank(b *block, from, to int, out *column.Vector) {
	n := to - from
	rank, dense := 0, 0
	for i := from; i < to; i++ {
		if i == from || !b.peers[i] {
			rank = i - from + 1
			dense++
		}
		switch w.call.Fn.Kind {
		case funcs.RowNumber:
			appendInt(out, int64(i-from+1))
		case funcs.Rank:
			appendInt(out, int64(rank))
		case funcs.DenseRank:
			appendInt(out, int64(dense))
		case funcs.PercentRank:
			if n == 1 {
				appendFloat(out, 0)
			} else {
				appendFloat(out, float64(rank-1)/float64(n-1))
			}
		case funcs.CumeDist:
			end := int(b.ends[i])
			for ; i < end; i++ {
				appendFloat(out, float64(end-from)/float64(n))
			}
			i--
		case funcs.NTile:
			appendInt(out, int64(tile(i-from, n, w.call.Fn.Offset)))
		case funcs.CounterDiff:
			w.steps(b, i, to, out)
			i = to
		case funcs.Lag:
			w.offset(b, i, span{from, to}, -w.call.Fn.Offset, out)
		case funcs.Lead:
			w.offset(b, i, span{from, to}, w.call.Fn.Offset, out)
		case funcs.FirstValue, funcs.LastValue, funcs.NthValue:
			w.nth(b, i, from, to, out)
		}
	}
}

// steps is counter_diff over the rows of a partition.
func (w *windowCall) steps(b *block, from, to int, out *column.Vector) {
	args := make([]*column.Vector, len(w.args))
	for k, a := range w.args {
		args[k] = b.cols[a]
	}
	prev := -1
	for i := from; i < to; i++ {
		w.call.Fn.Step(&w.ctx, args, prev, i, out)
		if !args[0].IsNull(i) {
			prev = i
		}
	}
}

// tile returns the bucket from 1 of row i of n in k buckets: the first n mod k
// buckets have one row more.
func tile(i, n, k int) int {
	size, extra := n/k, n%k
	if i < extra*(size+1) {
		return i/(size+1) + 1
	}
	return extra + (i-extra*(size+1))/size + 1
}

// offset is lag and lead: the value by rows away, else the default.
func (w *windowCall) offset(b *block, i int, part span, by int, out *column.Vector) {
	from, to := part.from, part.to
	v := b.cols[w.args[0]]
	at := i + by
	if w.call.IgnoreNulls && by != 0 {
		step, left := 1, by
		if by < 0 {
			step, left = -1, -by
		}
		for at = i + step; at >= from && at < to; at += step {
			if !v.IsNull(at) {
				if left--; left == 0 {
					break
				}
			}
		}
	}
	switch {
	case at >= from && at < to:
		column.AppendRow(out, v, at)
	case len(w.args) > 2:
		column.AppendRow(out, b.cols[w.args[2]], i)
	default:
		out.AppendNull()
	}
}

// nth is first_value, last_value and nth_value over the frame.
func (w *windowCall) nth(b *block, i, from, to int, out *column.Vector) {
	lo, hi := w.frame.bounds(w, b, i, from, to)
	v := b.cols[w.args[0]]
	skip := 0
	if w.call.Fn.Kind == funcs.NthValue {
		skip = w.call.Fn.Offset - 1
	}
	if w.call.Fn.Kind == funcs.LastValue {
		for at := hi - 1; at >= lo; at-- {
			if !w.call.IgnoreNulls || !v.IsNull(at) {
				column.AppendRow(out, v, at)
				return
			}
		}
		out.AppendNull()
		return
	}
	if !w.call.IgnoreNulls {
		lo += skip
		skip = 0
	}
	for at := lo; at < hi; at++ {
		if w.call.IgnoreNulls && v.IsNull(at) {
			continue
		}
		if skip == 0 {
			column.AppendRow(out, v, at)
			return
		}
		skip--
	}
	out.AppendNull()
}
