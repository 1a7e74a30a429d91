package operator

import (
	"math"

	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// watermark passes its input and notes the greatest event time of each step.
// Null times do not count, nor do times beyond MaxFuture from the step's now.
type watermark struct {
	p   *Plan
	out port
	n   *logical.Watermark
	col int
	max []int64 // by lane
	// ahead counts, by lane, the rows of the step beyond MaxFuture.
	ahead []int64
	now   int64
}

func (w *watermark) begin(s *stepState) error {
	for i := range w.max {
		w.max[i], w.ahead[i] = stream.NoWatermark, 0
	}
	w.now = s.Now
	return nil
}

func (w *watermark) close() {}

func (w *watermark) end() error { return w.out.end() }

func (w *watermark) push(lane int, b *column.Batch) error {
	limit := int64(math.MaxInt64)
	if w.n.MaxFuture > 0 {
		limit = w.now + w.n.MaxFuture
	}
	v, most := b.Cols[w.col], w.max[lane]
	see := func(r int) {
		if v.IsNull(r) {
			return
		}
		switch t := timeAt(v, r); {
		case t > limit:
			w.ahead[lane]++
		case t > most:
			most = t
		}
	}
	switch {
	case b.Sel == nil && limit == math.MaxInt64 && !v.Const && v.Dict == nil && len(v.Children) == 0 && !v.HasNulls():
		for _, t := range v.I64[:b.Len] {
			most = max(most, t)
		}
	case b.Sel == nil:
		for r := range b.Len {
			see(r)
		}
	default:
		for _, r := range b.Sel {
			see(int(r))
		}
	}
	w.max[lane] = most
	return w.out.push(lane, b)
}

// timeAt returns the event time of row r: of a window, its end.
func timeAt(v *column.Vector, r int) int64 {
	if v.Dict != nil {
		v, r = v.Dict, int(v.Index[r])
	} else {
		r = v.Row(r)
	}
	if len(v.Children) == 2 {
		return timeAt(v.Children[1], r)
	}
	return v.I64[r]
}

// EventTimes returns, for each watermark node, the greatest event time of the
// current step in microseconds, cut to milliseconds; nodes that saw none are
// missing.
func (p *Plan) EventTimes() map[string]int64 {
	out := map[string]int64{}
	for _, w := range p.marks {
		most := int64(stream.NoWatermark)
		for _, m := range w.max {
			most = max(most, m)
		}
		if most == stream.NoWatermark {
			continue
		}
		most -= ((most % 1000) + 1000) % 1000
		if old, ok := out[w.n.ID]; !ok || most > old {
			out[w.n.ID] = most
		}
	}
	return out
}

// ahead counts the rows of the step beyond the bounds on the future.
func (p *Plan) ahead() (n int64) {
	for _, w := range p.marks {
		for _, x := range w.ahead {
			n += x
		}
	}
	return n
}

// mark is one place of the plan in the propagation of watermarks: a watermark
// node gives the global one, stateless operators the smallest of their
// children's, stateful ones what their output function says.
type mark struct {
	source   bool
	children []*mark
	op       watermarked // nil: stateless
}

// watermarked is an operator with its own pair of watermarks.
type watermarked interface {
	setWatermarks(late, evict int64, ok bool)
	outputWatermark(w int64) int64
}

// eval returns the watermark that the place gives out.
func (m *mark) eval(global int64, set func(watermarked, int64, bool)) (int64, bool) {
	w, ok := int64(0), false
	if m.source {
		w, ok = global, true
	}
	for _, c := range m.children {
		cw, cok := c.eval(global, set)
		if m.source || !cok {
			continue
		}
		if !ok || cw < w {
			w, ok = cw, true
		}
	}
	if m.op == nil {
		return w, ok
	}
	set(m.op, w, ok)
	if !ok {
		return 0, false
	}
	return m.op.outputWatermark(w), true
}

// propagate gives each stateful operator its watermarks of the step.
func (p *Plan) propagate() {
	if p.root == nil {
		return
	}
	late, evict := max(p.step.Late, 0), max(p.step.Evict, 0)
	lates := map[watermarked]int64{}
	p.root.eval(late, func(op watermarked, w int64, _ bool) { lates[op] = w })
	p.root.eval(evict, func(op watermarked, w int64, ok bool) { op.setWatermarks(lates[op], w, ok) })
}
