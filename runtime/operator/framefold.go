package operator

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// frameFold evaluates an aggregate over the frames of a block.
type frameFold struct {
	w    *windowCall
	b    *block
	out  *column.Vector
	st   *funcs.States
	args []*column.Vector

	rows, groups []int32
	blocks       *funcs.States // states of runs of rows, for wide frames
}

const one = int32(0)

// partition appends the values for the rows [from, to).
func (f *frameFold) partition(from, to int) {
	f.st.Grow(1)
	f.st.Clear(one)
	fr := f.w.frame.frame
	switch {
	case fr.Start.Kind == logical.UnboundedPreceding && fr.End.Kind == logical.UnboundedFollowing,
		fr.Unit == logical.Range && fr.Start.Kind == logical.UnboundedPreceding && !f.anyOrder(from, to):
		f.fold(from, to)
		f.repeat(to - from)
	case fr.Start.Kind == logical.UnboundedPreceding:
		f.growing(from, to)
	default:
		f.sliding(from, to)
	}
}

// anyOrder reports whether the partition has rows that are not all peers, or
// the frame's end is by an offset.
func (f *frameFold) anyOrder(from, to int) bool {
	return f.w.frame.frame.End.Kind != logical.CurrentRow || int(f.b.ends[from]) != to
}

// add folds rows [lo, hi) that pass the filter into group g of st.
func (f *frameFold) add(st *funcs.States, g int32, lo, hi int, update func(*funcs.Ctx, *funcs.States, []int32, []int32, []*column.Vector)) {
	f.rows, f.groups = f.rows[:0], f.groups[:0]
	for r := lo; r < hi; r++ {
		if f.w.filter < 0 || isTrue(f.b.cols[f.w.filter], r) {
			f.rows, f.groups = append(f.rows, int32(r)), append(f.groups, g)
		}
	}
	if len(f.rows) > 0 {
		update(&f.w.ctx, st, f.groups, f.rows, f.args)
	}
}

func (f *frameFold) fold(lo, hi int) { f.add(f.st, one, lo, hi, f.w.call.Agg.Update) }

func (f *frameFold) finish() { f.w.call.Agg.Finish(&f.w.ctx, f.st, []int32{one}, f.out) }

// repeat appends the value of the group n times.
func (f *frameFold) repeat(n int) {
	if n == 0 {
		return
	}
	f.finish()
	at := f.out.Len - 1
	for range n - 1 {
		column.AppendRow(f.out, f.out, at)
	}
}

// growing is for frames that start with the partition: one running state.
func (f *frameFold) growing(from, to int) {
	done, last := from, -1
	for i := from; i < to; i++ {
		_, hi := f.w.frame.bounds(f.w, f.b, i, from, to)
		if hi == last {
			column.AppendRow(f.out, f.out, f.out.Len-1)
			continue
		}
		if hi > done {
			f.fold(done, hi)
			done = hi
		}
		f.finish()
		last = hi
	}
}

// sliding is for all other frames: by retraction where the function can, else
// each frame anew, wide ones from states of runs of rows.
func (f *frameFold) sliding(from, to int) {
	if f.w.call.Agg.Retract != nil {
		f.retracting(from, to)
		return
	}
	f.slide(span{from, to}, span{from, to})
}

// slide is sliding without retraction, for some rows of the part.
func (f *frameFold) slide(part, rows span) {
	from, to := part.from, part.to
	lo, hi := f.w.frame.bounds(f.w, f.b, (rows.from+rows.to)/2, from, to)
	if hi-lo > 64 && f.w.call.Agg.Merge != nil {
		f.byRuns(part, rows, hi-lo)
		return
	}
	for i := rows.from; i < rows.to; i++ {
		lo, hi := f.w.frame.bounds(f.w, f.b, i, from, to)
		f.st.Clear(one)
		f.fold(lo, hi)
		f.finish()
	}
}

func (f *frameFold) retracting(from, to int) {
	lo, hi := from, from
	for i := from; i < to; i++ {
		l, h := f.w.frame.bounds(f.w, f.b, i, from, to)
		if l >= hi {
			f.st.Clear(one)
			lo, hi = l, l
		}
		if h > hi {
			f.fold(hi, h)
			hi = h
		}
		if l > lo {
			f.add(f.st, one, lo, l, f.w.call.Agg.Retract)
			lo = l
		}
		f.finish()
	}
}

// byRuns makes a state for each run of about the square root of the width and
// merges those that a frame covers.
func (f *frameFold) byRuns(part, rows span, width int) {
	from, to := part.from, part.to
	run := 8
	for run*run < width {
		run *= 2
	}
	n := (to - from + run - 1) / run
	f.blocks = funcs.NewStates(f.w.call.Agg.State)
	f.blocks.Grow(n)
	for k := range n {
		f.add(f.blocks, int32(k), from+k*run, min(from+(k+1)*run, to), f.w.call.Agg.Update)
	}
	groups := make([]int32, n)
	runs := identity(n)
	for i := rows.from; i < rows.to; i++ {
		lo, hi := f.w.frame.bounds(f.w, f.b, i, from, to)
		f.st.Clear(one)
		first, last := (lo-from+run-1)/run, (hi-from)/run
		if hi == to && hi-from > last*run {
			last = n // the last run may be short
		}
		if first >= last {
			f.fold(lo, hi)
			f.finish()
			continue
		}
		f.fold(lo, from+first*run)
		f.w.call.Agg.Merge(&f.w.ctx, f.st, groups[:last-first], runs[first:last], f.blocks)
		if end := from + last*run; end < hi {
			f.fold(end, hi)
		}
		f.finish()
	}
}
