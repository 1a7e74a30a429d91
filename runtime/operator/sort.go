package operator

import (
	"bytes"
	"slices"
	"sync"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// sorter orders its rows at the end of the step. With a limit it keeps only
// candidates: rows beyond the limit-th smallest key seen so far are dropped.
type sorter struct {
	p      *Plan
	out    port
	keys   *program
	orders []sortOrder
	limit  int64
	drop   bool
	all    []rowNumbers

	mem   *memory
	mu    sync.Mutex // guards below
	runs  *sortedRuns
	store *rowStore
	keyed sortedKeys
	bound []byte // top-n: no row with a key above can be wanted; nil: unknown
	keep  []int32
}

func (bd *builder) sort(node logical.Node, out port) (port, watermarked, error) {
	bd.divide(0, division{kind: oneLane})
	n := node.(*logical.Sort)
	exprs := make([]logical.Expr, len(n.Keys))
	for i, k := range n.Keys {
		exprs[i] = k.Expr
	}
	keys, err := bd.program(exprs, n.Input.Output())
	if err != nil {
		return nil, nil, err
	}
	s := &sorter{
		p: bd.p, out: out, keys: keys, orders: ordersOf(n.Keys), limit: n.Limit, drop: bd.drop,
		all: make([]rowNumbers, bd.env.Lanes), store: newRowStore(bd.env.Pool, n.Input.Output()),
	}
	bd.add(s)
	s.mem = bd.memory("sort")
	s.runs = newSortedRuns(s.mem, s.store.cols)
	return s, nil, nil
}

func (s *sorter) begin(*stepState) error {
	s.reset()
	return nil
}

func (s *sorter) reset() {
	s.store.reset()
	s.keyed.drop()
	s.bound = nil
	s.runs.close()
	s.mem.free()
}

func (s *sorter) close() { s.store.reset() }

func (s *sorter) push(lane int, b *column.Batch) error {
	vecs, err := s.keys.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	rows, err := s.p.goodRows(vecs, b, &s.all[lane], s.drop)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit == 0 {
		return nil
	}
	if s.limit > 0 {
		s.addCandidates(vecs, b, rows)
		return s.fits()
	}
	s.keyed.add(vecs, s.orders, rows)
	s.store.add(b.Cols, rows)
	return s.fits()
}

func (s *sorter) fits() error {
	spill, err := s.mem.mayExceed(grown(s.store.used() + s.keyed.used()))
	if err != nil || !spill {
		return err
	}
	return s.spill()
}

// spill writes the rows in memory as a run.
func (s *sorter) spill() error {
	if err := s.runs.spill(s.store, &s.keyed, s.limit); err != nil {
		return err
	}
	s.store.empty()
	s.keyed.reset()
	return nil
}

// addCandidates keeps the rows that may be among the first limit ones.
func (s *sorter) addCandidates(vecs []*column.Vector, b *column.Batch, rows []int32) {
	s.keep = s.keep[:0]
	for _, r := range rows {
		from := len(s.keyed.arena)
		for i, v := range vecs {
			s.keyed.arena = appendSortKey(s.keyed.arena, v, int(r), s.orders[i])
		}
		// A later row with an equal key comes after limit others.
		if s.bound != nil && bytes.Compare(s.keyed.arena[from:], s.bound) >= 0 {
			s.keyed.arena = s.keyed.arena[:from]
			continue
		}
		s.keyed.close(from)
		s.keep = append(s.keep, r)
	}
	s.store.add(b.Cols, s.keep)
	if int64(s.store.rows) > max(2*s.limit, 4*column.BatchRows) {
		s.prune()
	}
}

// prune keeps the first limit rows.
func (s *sorter) prune() {
	s.keyed.sort()
	first := s.keyed.entries[:s.limit]
	s.bound = append(s.bound[:0], s.keyed.key(first[len(first)-1].row)...)
	ids := make([]int32, len(first))
	for i, e := range first {
		ids[i] = e.row
	}
	slices.Sort(ids)
	store := newRowStore(s.p.env.Pool, s.store.cols)
	var keyed sortedKeys
	all := identity(column.BatchRows)
	for len(ids) > 0 {
		n := min(len(ids), column.BatchRows)
		b := s.store.batch(ids[:n])
		store.add(b.Cols, all[:n])
		b.Release()
		for _, id := range ids[:n] {
			from := len(keyed.arena)
			keyed.arena = append(keyed.arena, s.keyed.key(id)...)
			keyed.close(from)
		}
		ids = ids[n:]
	}
	s.store.reset()
	s.store, s.keyed = store, keyed
}

func (s *sorter) end() error {
	if s.runs.any() {
		return s.endRuns()
	}
	s.keyed.sort()
	entries := s.keyed.entries
	if s.limit >= 0 && int64(len(entries)) > s.limit {
		entries = entries[:s.limit]
	}
	ids := make([]int32, 0, column.BatchRows)
	for len(entries) > 0 {
		n := min(len(entries), column.BatchRows)
		ids = ids[:0]
		for _, e := range entries[:n] {
			ids = append(ids, e.row)
		}
		if err := pushFresh(s.out, 0, s.store.batch(ids)); err != nil {
			return err
		}
		entries = entries[n:]
	}
	s.reset()
	return s.out.end()
}

// endRuns merges what was spilled.
func (s *sorter) endRuns() error {
	if err := s.spill(); err != nil {
		return err
	}
	s.store.reset()
	s.keyed.drop()
	err := s.runs.merge(s.limit, func(b *column.Batch) error {
		nb := s.p.env.Pool.Batch()
		for _, c := range b.Cols[:len(b.Cols)-1] {
			nb.Cols = append(nb.Cols, c.Retain())
		}
		nb.Len = b.Len
		return pushFresh(s.out, 0, nb)
	})
	if err != nil {
		return err
	}
	s.reset()
	return s.out.end()
}
