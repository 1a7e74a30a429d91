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
	all  []rowNumbers

	mu     sync.Mutex // guards below
	over   *tableSpill
	table  *groupTable
	count  []int64 // right rows by group, used up by ALL
	shown  []bool  // without ALL: the row came out
	groups []int32
}

func (bd *builder) setOp(n *logical.SetOp, out port, phase int) (int, *mark, error) {
	s := &setOp{p: bd.p, out: out, n: n, drop: bd.drop, all: make([]rowNumbers, bd.env.Lanes), table: newGroupTable(typesOf(n.Columns))}
	bd.add(s)
	bd.divide(0, division{kind: oneLane})
	bd.divide(1, division{kind: oneLane})
	s.over = newTableSpill(bd.memory("set operation"), s.table, n.Columns)
	last, rm, err := bd.build(n.Right, &setRight{s}, phase)
	if err != nil {
		return phase, nil, err
	}
	end, lm, err := bd.build(n.Left, &setLeft{s}, last+1)
	return end, &mark{children: []*mark{lm, rm}}, err
}

func (s *setOp) begin(*stepState) error {
	s.reset()
	return nil
}

func (s *setOp) reset() {
	s.over.reset()
	s.count, s.shown = s.count[:0], s.shown[:0]
}

func (s *setOp) close() { s.over.close() }

// assign numbers the rows of b; the lock is held.
func (s *setOp) assignLocked(lane, side int, b *column.Batch) ([]int32, error) {
	rows, err := s.p.goodRows(b.Cols, b, &s.all[lane], s.drop)
	if err != nil {
		return nil, err
	}
	return s.number(side, b.Cols, rows)
}

// number sets s.groups to the groups of the rows that are in memory, which it
// returns; the others are spilled.
func (s *setOp) number(side int, cols []*column.Vector, rows []int32) ([]int32, error) {
	if s.over.frozen() {
		err := s.over.spillNew(side, cols, rows)
		s.groups = append(s.groups[:0], s.over.groups...)
		return s.over.known, err
	}
	s.groups = grow(s.groups, len(rows))
	s.table.assign(cols, rows, s.groups)
	if err := s.over.check(int64(9 * len(s.count))); err != nil {
		return nil, err
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
	if _, err := r.s.assignLocked(lane, 0, b); err != nil {
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
	if l.s.over.frozen() {
		if err := l.s.drain(l.s.over.take()); err != nil {
			return err
		}
	}
	l.s.reset()
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
	rows, err := s.assignLocked(lane, 1, b)
	if err != nil {
		return nil, err
	}
	return s.kept(rows), nil
}

// kept lists the left rows, of the groups in s.groups, that come out.
func (s *setOp) kept(rows []int32) []int32 {
	keep := make([]int32, 0, len(rows))
	for k, g := range s.groups {
		if s.keep(g) {
			keep = append(keep, rows[k])
		}
	}
	return keep
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
