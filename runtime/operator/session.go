package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// sessionWindow adds to each row its own session [time, time + gap). Rows
// without a time or a positive gap are dropped. The aggregate above merges.
type sessionWindow struct {
	p     *Plan
	out   port
	n     *logical.SessionWindow
	input *program // time, gap
	drop  bool
	all   []rowNumbers
}

func (bd *builder) sessionWindow(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.SessionWindow)
	input, err := bd.program([]logical.Expr{n.Time, n.Gap}, n.Input.Output())
	if err != nil {
		return nil, nil, err
	}
	return &sessionWindow{p: bd.p, out: out, n: n, input: input, drop: bd.drop, all: make([]rowNumbers, bd.env.Lanes)}, nil, nil
}

func (s *sessionWindow) end() error { return s.out.end() }

func (s *sessionWindow) push(lane int, b *column.Batch) error {
	vecs, err := s.input.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	rows, err := s.p.goodRows(vecs, b, &s.all[lane], s.drop)
	if err != nil {
		return err
	}
	pool := s.p.env.Pool
	v := pool.Vector(s.n.Column.Type)
	v.Resize(b.Len)
	start, end := v.Children[0].I64, v.Children[1].I64
	clear(start)
	clear(end)
	keep := make([]int32, 0, len(rows))
	for _, r := range rows {
		if vecs[0].IsNull(int(r)) || vecs[1].IsNull(int(r)) {
			continue
		}
		t := rowTime(vecs[0], int(r))
		e := afterGap(vecs[1], int(r), t)
		if e <= t {
			continue
		}
		start[r], end[r] = t, e
		keep = append(keep, r)
	}
	nb := pool.Batch()
	defer nb.Release()
	for _, c := range b.Cols {
		nb.Cols = append(nb.Cols, c.Retain())
	}
	nb.Cols = append(nb.Cols, v)
	nb.Len, nb.Change = b.Len, b.Change
	if len(keep) < b.Len {
		nb.Sel = append(nb.SelBuffer(), keep...)
	}
	if len(keep) == 0 {
		return nil
	}
	return s.out.push(lane, nb)
}

// afterGap adds row r of a gap (an interval of any kind, or microseconds) to t.
func afterGap(gap *column.Vector, r int, t int64) int64 {
	if gap.Dict != nil {
		gap, r = gap.Dict, int(gap.Index[r])
	}
	if gap.Type.Kind == schema.CalendarInterval {
		r = gap.Row(r)
		months, days, micros := integerAt(gap.Children[0], r), integerAt(gap.Children[1], r), integerAt(gap.Children[2], r)
		return addMonths(utc(t), months, days).UnixMicro() + micros
	}
	return t + integerAt(gap, r)
}

// sessionOf finds the session window that a group of the aggregate is, and its
// place among the groups.
func sessionOf(n *logical.Aggregate) (*logical.SessionWindow, int) {
	var found *logical.SessionWindow
	at := -1
	logical.WalkNode(n.Input, func(x logical.Node) bool {
		if s, ok := x.(*logical.SessionWindow); ok {
			for i, g := range n.Groups {
				if c, ok := g.Expr.(*logical.Column); ok && c.Attr.ID == s.Column.ID {
					found, at = s, i
				}
			}
		}
		return found == nil
	})
	return found, at
}
