package operator

import (
	"sync"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// sample keeps each row by chance, or the first Rows ones. The chance of a row
// depends on the seed, the lane and its number in the lane.
type sample struct {
	p    *Plan
	out  port
	n    *logical.Sample
	seen []uint64 // by lane
	sel  [][]int32

	mu    sync.Mutex // guards taken
	taken int64
}

func (bd *builder) sample(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Sample)
	s := &sample{p: bd.p, out: out, n: n, seen: make([]uint64, bd.env.Lanes), sel: make([][]int32, bd.env.Lanes)}
	bd.add(s)
	return s, nil, nil
}

func (s *sample) begin(*stepState) error {
	s.taken = 0
	clear(s.seen)
	return nil
}

func (s *sample) close() {}

func (s *sample) end() error { return s.out.end() }

func (s *sample) push(lane int, b *column.Batch) error {
	keep := s.sel[lane][:0]
	if s.n.Rows >= 0 {
		s.mu.Lock()
		n := min(int64(b.Rows()), s.n.Rows-s.taken)
		s.taken += n
		s.mu.Unlock()
		keep = append(keep, rowsOf(b)[:n]...)
	} else {
		for _, r := range rowsOf(b) {
			s.seen[lane]++
			h := column.HashUint64(column.HashUint64(uint64(s.n.Seed), uint64(lane)), s.seen[lane])
			if float64(h>>11)/(1<<53) < s.n.Fraction {
				keep = append(keep, r)
			}
		}
	}
	s.sel[lane] = keep
	if len(keep) == 0 {
		return nil
	}
	nb := selected(s.p.env.Pool, b, keep)
	defer nb.Release()
	return s.out.push(lane, nb)
}
