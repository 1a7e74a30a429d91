package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// timeWindow assigns rows to their windows [start, end), which are aligned to
// 1970-01-01 UTC plus Start. Rows without a time are dropped. A row that is in
// several windows comes out once for each, the latest window first.
type timeWindow struct {
	p    *Plan
	out  port
	n    *logical.TimeWindow
	time *program
	drop bool
	sel  [][]int32
	all  []rowNumbers
}

func (bd *builder) timeWindow(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.TimeWindow)
	t, err := bd.program([]logical.Expr{n.Time}, n.Input.Output())
	if err != nil {
		return nil, nil, err
	}
	return &timeWindow{p: bd.p, out: out, n: n, time: t, drop: bd.drop, sel: make([][]int32, bd.env.Lanes), all: make([]rowNumbers, bd.env.Lanes)}, nil, nil
}

func (w *timeWindow) end() error { return w.out.end() }

// lastStart is the start of the latest window that begins at or before t.
func lastStart(t, slide, start int64) int64 {
	m := (t - start) % slide
	if m < 0 {
		m += slide
	}
	return t - m
}

// rowTime is the time of row r for windows and sessions: of a window struct,
// its last microsecond.
func rowTime(v *column.Vector, r int) int64 {
	t := timeAt(v, r)
	if len(v.Children) == 2 || v.Dict != nil && len(v.Dict.Children) == 2 {
		t--
	}
	return t
}

func (w *timeWindow) push(lane int, b *column.Batch) error {
	vecs, err := w.time.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	rows, err := w.p.goodRows(vecs, b, &w.all[lane], w.drop)
	if err != nil {
		return err
	}
	if w.n.Slide >= w.n.Size {
		return w.tumbling(lane, b, vecs[0], rows)
	}
	return w.sliding(lane, b, vecs[0], rows)
}

// tumbling adds the column to the batch; rows outside any window lose their
// place in the selection.
func (w *timeWindow) tumbling(lane int, b *column.Batch, t *column.Vector, rows []int32) error {
	pool := w.p.env.Pool
	v := pool.Vector(w.n.Column.Type)
	v.Resize(b.Len)
	keep := w.assign(v, t, rows, w.sel[lane][:0])
	w.sel[lane] = keep
	nb := pool.Batch()
	for _, c := range b.Cols {
		nb.Cols = append(nb.Cols, c.Retain())
	}
	nb.Cols = append(nb.Cols, v)
	nb.Len, nb.Change = b.Len, b.Change
	if len(keep) < b.Len {
		nb.Sel = append(nb.SelBuffer(), keep...)
	}
	defer nb.Release()
	if len(keep) == 0 {
		return nil
	}
	return w.out.push(lane, nb)
}

// assign sets the windows of rows in v and appends those that are in one to keep.
func (w *timeWindow) assign(v, t *column.Vector, rows, keep []int32) []int32 {
	start, end := v.Children[0].I64, v.Children[1].I64
	clear(start)
	clear(end)
	flat := t.Dict == nil && !t.Const && len(t.Children) == 0
	from, to := int64(0), int64(0) // the window of the row before
	for _, r := range rows {
		if t.IsNull(int(r)) {
			continue
		}
		var x int64
		if flat {
			x = t.I64[r]
		} else {
			x = rowTime(t, int(r))
		}
		if x < from || x >= to {
			if from = lastStart(x, w.n.Slide, w.n.Start); x >= from+w.n.Size {
				to = from
				continue
			}
			to = from + w.n.Size
		}
		start[r], end[r] = from, to
		keep = append(keep, r)
	}
	return keep
}

// sliding emits the rows once a window, in batches.
func (w *timeWindow) sliding(lane int, b *column.Batch, t *column.Vector, rows []int32) error {
	src := w.sel[lane][:0]
	pool := w.p.env.Pool
	v := pool.Vector(w.n.Column.Type)
	flush := func() error {
		nb := pool.Batch()
		for _, c := range b.Cols {
			d := pool.Vector(c.Type)
			column.AppendRows(d, c, src)
			nb.Cols = append(nb.Cols, d)
		}
		v.Len = len(src)
		v.Children[0].Len, v.Children[1].Len = v.Len, v.Len
		nb.Cols = append(nb.Cols, v)
		nb.Len = len(src)
		src = src[:0]
		return pushFresh(w.out, lane, nb)
	}
	for _, r := range rows {
		if t.IsNull(int(r)) {
			continue
		}
		x := rowTime(t, int(r))
		for s := lastStart(x, w.n.Slide, w.n.Start); x < s+w.n.Size; s -= w.n.Slide {
			v.Children[0].I64 = append(v.Children[0].I64, s)
			v.Children[1].I64 = append(v.Children[1].I64, s+w.n.Size)
			src = append(src, r)
			if len(src) >= column.BatchRows {
				if err := flush(); err != nil {
					return err
				}
				v = pool.Vector(w.n.Column.Type)
			}
		}
	}
	err := flush()
	w.sel[lane] = src
	return err
}
