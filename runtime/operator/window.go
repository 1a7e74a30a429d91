package operator

import (
	"bytes"
	"sync"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// window computes window functions: it keeps all rows with the arguments of
// its calls, sorts them by partition and order at the end of the step, and
// works through blocks of whole partitions.
type window struct {
	p      *Plan
	out    port
	n      *logical.Window
	input  *program
	nparts int
	orders []sortOrder
	calls  []*windowCall
	drop   bool
	all    []rowNumbers

	mem   *memory
	mu    sync.Mutex // guards below
	first *firstRows // nil: all rows are wanted
	runs  *sortedRuns
	store *rowStore // the input's columns, then what calls need
	keyed sortedKeys
	parts []int32 // length of the partition's part of the key, by row
}

func (bd *builder) window(node logical.Node, out port) (port, watermarked, error) {
	n := node.(*logical.Window)
	if n.Input.Streaming() {
		return bd.streamWindow(n, out)
	}
	in := n.Input.Output()
	bd.divide(0, division{kind: oneLane})
	w := &window{p: bd.p, out: out, n: n, nparts: len(n.PartitionBy), drop: bd.drop, all: make([]rowNumbers, bd.env.Lanes)}
	exprs := append([]logical.Expr{}, n.PartitionBy...)
	w.orders = make([]sortOrder, len(n.PartitionBy))
	for _, k := range n.OrderBy {
		exprs = append(exprs, k.Expr)
	}
	w.orders = append(w.orders, ordersOf(n.OrderBy)...)
	cols := append([]logical.Attr{}, in...)
	extra := len(exprs)
	add := func(e logical.Expr) int {
		exprs = append(exprs, e)
		cols = append(cols, logical.Attr{Type: e.Type()})
		return len(cols) - 1
	}
	for i := range n.Calls {
		c, err := newWindowCall(bd, &n.Calls[i], n.OrderBy, add)
		if err != nil {
			return nil, nil, err
		}
		w.calls = append(w.calls, c)
	}
	var err error
	if w.input, err = bd.program(exprs, in); err != nil {
		return nil, nil, err
	}
	if len(exprs)-extra != len(cols)-len(in) {
		panic("bug: operator: window columns")
	}
	w.store = newRowStore(bd.env.Pool, cols)
	if n.First > 0 {
		w.first = newFirstRows(n, w.orders)
	}
	bd.add(w)
	w.mem = bd.memory("window")
	w.runs = newSortedRuns(w.mem, append(append([]logical.Attr{}, cols...), logical.Attr{Type: schema.Of(schema.Int32)}))
	return w, nil, nil
}

func (w *window) begin(*stepState) error {
	w.reset()
	return nil
}

func (w *window) reset() {
	w.first.reset(false)
	w.store.reset()
	w.keyed.drop()
	w.parts = w.parts[:0]
	w.runs.close()
	w.mem.free()
}

func (w *window) close() { w.store.reset() }

func (w *window) push(lane int, b *column.Batch) error {
	vecs, err := w.input.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(vecs)
	rows, err := w.p.goodRows(vecs, b, &w.all[lane], w.drop)
	if err != nil {
		return err
	}
	nkeys := len(w.orders)
	w.mu.Lock()
	defer w.mu.Unlock()
	if rows = w.first.filter(vecs[:nkeys], rows); len(rows) == 0 {
		return nil
	}
	for _, r := range rows {
		from := len(w.keyed.arena)
		for i, v := range vecs[:nkeys] {
			w.keyed.arena = appendSortKey(w.keyed.arena, v, int(r), w.orders[i])
			if i == w.nparts-1 {
				w.parts = append(w.parts, int32(len(w.keyed.arena)-from))
			}
		}
		if w.nparts == 0 {
			w.parts = append(w.parts, 0)
		}
		w.keyed.close(from)
	}
	w.store.add(append(append([]*column.Vector{}, b.Cols...), vecs[nkeys:]...), rows)
	spill, err := w.mem.mayExceed(grown(w.store.used()+w.keyed.used()+int64(4*len(w.parts))) + w.first.bytes())
	if err != nil || !spill {
		return err
	}
	w.first.reset(true) // its memory goes to the rows
	return w.spill()
}

// block is a run of whole partitions in order.
type block struct {
	cols []*column.Vector // the store's columns
	n    int
	// starts are the first rows of the partitions, then n; peers[i] says that
	// row i has the order key of the row before, in its partition.
	starts []int
	peers  []bool
	// begins and ends are the first peer of each row and the row after the last.
	begins, ends []int32
}

// findPeers fills begins and ends.
func (b *block) findPeers() {
	b.begins, b.ends = make([]int32, b.n), make([]int32, b.n)
	for i := range b.n {
		b.begins[i] = int32(i)
		if b.peers[i] {
			b.begins[i] = b.begins[i-1]
		}
	}
	for i := b.n - 1; i >= 0; i-- {
		b.ends[i] = int32(i + 1)
		if i+1 < b.n && b.peers[i+1] {
			b.ends[i] = b.ends[i+1]
		}
	}
}

func (w *window) end() error {
	if w.runs.any() {
		return w.endRuns()
	}
	w.keyed.sort()
	entries := w.keyed.entries
	for len(entries) > 0 {
		blk, ids, rest := w.next(entries)
		entries = rest
		b := w.store.batch(ids)
		blk.cols, blk.n = b.Cols, b.Len
		blk.findPeers()
		err := w.compute(blk)
		b.Release()
		if err != nil {
			return err
		}
	}
	w.reset()
	return w.out.end()
}

// next cuts whole partitions of about a batch off the entries.
func (w *window) next(entries []sortEntry) (*block, []int32, []sortEntry) {
	blk := &block{}
	var ids []int32
	for i, e := range entries {
		part, peer := false, false
		if i > 0 {
			last := entries[i-1].row
			a, b := w.keyed.key(last), w.keyed.key(e.row)
			na, nb := w.parts[last], w.parts[e.row]
			part = bytes.Equal(a[:na], b[:nb])
			peer = part && bytes.Equal(a, b)
		}
		if !part {
			if i >= column.BatchRows {
				blk.starts = append(blk.starts, i)
				return blk, ids, entries[i:]
			}
			blk.starts = append(blk.starts, i)
		}
		blk.peers = append(blk.peers, peer)
		ids = append(ids, e.row)
	}
	blk.starts = append(blk.starts, len(entries))
	return blk, ids, nil
}

// compute evaluates the calls over a block and pushes its rows.
func (w *window) compute(blk *block) error {
	pool := w.p.env.Pool
	results := make([]*column.Vector, len(w.calls))
	for i, c := range w.calls {
		results[i] = pool.Vector(c.call.Attr.Type)
		c.run(w.p, blk, results[i])
	}
	defer releaseAll(results)
	cols := append(append([]*column.Vector{}, blk.cols[:len(w.n.Input.Output())]...), results...)
	for from := 0; from < blk.n; from += column.BatchRows {
		to := min(from+column.BatchRows, blk.n)
		nb := newBatch(pool, w.n.Output())
		for i, v := range cols {
			column.AppendRange(nb.Cols[i], v, from, to)
		}
		nb.Len = to - from
		if err := pushFresh(w.out, 0, nb); err != nil {
			return err
		}
	}
	return nil
}

// partitions calls f for each partition's rows [from, to).
func (b *block) partitions(f func(from, to int)) {
	for i := range len(b.starts) - 1 {
		f(b.starts[i], b.starts[i+1])
	}
}

// appendInt appends an integer to a vector of any integer type.
func appendInt(v *column.Vector, x int64) {
	switch v.Type.Kind {
	case schema.Int32:
		v.I32 = append(v.I32, int32(x))
	case schema.Int64:
		v.I64 = append(v.I64, x)
	default:
		panic("bug: operator: ranking function of type " + v.Type.String())
	}
	v.Len++
}

func appendFloat(v *column.Vector, x float64) {
	v.F64 = append(v.F64, x)
	v.Len++
}
