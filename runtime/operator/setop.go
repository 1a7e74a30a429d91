package operator

import (
	"sync"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// setOp is INTERSECT or EXCEPT: the right side is counted by row, then the
// left rows pass by in order.
type setOp struct {
	p    *Plan
	out  port
	n    *logical.SetOp
	drop bool
	sel  [][]int32

	mu     sync.Mutex // guards below
	table  *groupTable
	count  []int64 // right rows by group, used up by ALL
	shown  []bool  // without ALL: the row came out
	groups []int32
}

func (bd *builder) setOp(n *logical.SetOp, out port, phase int) (int, *mark, error) {
	s := &setOp{p: bd.p, out: out, n: n, drop: bd.drop, sel: make([][]int32, bd.env.Lanes), table: newGroupTable(typesOf(n.Columns))}
	bd.add(s)
	last, rm, err := bd.build(n.Right, &setRight{s}, phase)
	if err != nil {
		return phase, nil, err
	}
	end, lm, err := bd.build(n.Left, &setLeft{s}, last+1)
	return end, &mark{children: []*mark{lm, rm}}, err
}

func (s *setOp) begin(*stepState) error {
	s.table.reset()
	s.count, s.shown = s.count[:0], s.shown[:0]
	return nil
}

func (s *setOp) close() {}

// assign numbers the rows of b; the lock is held.
func (s *setOp) assignLocked(lane int, b *column.Batch) ([]int32, error) {
	rows, err := s.p.usable(b.Cols, b, &s.sel[lane], s.drop)
	if err != nil {
		return nil, err
	}
	if rows == nil {
		s.sel[lane] = identity(b.Len, s.sel[lane])
		rows = rowsOf(b, s.sel[lane])
	}
	s.groups = grow(s.groups, len(rows))
	s.table.assign(b.Cols, rows, s.groups)
	if m := s.p.env.Memory; m > 0 && s.table.bytes() > m {
		return nil, overBudget("set operation", m)
	}
	for len(s.count) < s.table.groups {
		s.count, s.shown = append(s.count, 0), append(s.shown, false)
	}
	return rows, nil
}

// setRight takes the right side.
type setRight struct{ s *setOp }

func (r *setRight) end() error { return nil }

func (r *setRight) push(lane int, b *column.Batch) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if _, err := r.s.assignLocked(lane, b); err != nil {
		return err
	}
	for _, g := range r.s.groups {
		r.s.count[g]++
	}
	return nil
}

// setLeft takes the left side.
type setLeft struct{ s *setOp }

func (l *setLeft) end() error {
	l.s.table.reset()
	return l.s.out.end()
}

func (l *setLeft) push(lane int, b *column.Batch) error {
	keep, err := l.s.filter(lane, b)
	if err != nil || len(keep) == 0 {
		return err
	}
	nb := selected(l.s.p.env.Pool, b, keep)
	defer nb.Release()
	return l.s.out.push(lane, nb)
}

func (s *setOp) filter(lane int, b *column.Batch) ([]int32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows, err := s.assignLocked(lane, b)
	if err != nil {
		return nil, err
	}
	keep := make([]int32, 0, len(rows))
	for k, g := range s.groups {
		if s.keep(g) {
			keep = append(keep, rows[k])
		}
	}
	return keep, nil
}

// keep decides on one left row of group g.
func (s *setOp) keep(g int32) bool {
	in := s.count[g] > 0
	if s.n.All {
		if in {
			s.count[g]--
		}
		return in == (s.n.Op == logical.Intersect)
	}
	if s.shown[g] || in != (s.n.Op == logical.Intersect) {
		return false
	}
	s.shown[g] = true
	return true
}
