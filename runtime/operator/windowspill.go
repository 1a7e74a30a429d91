package operator

import (
	"bytes"

	"pipelines/sqlplan/funcs"
	"pipelines/tables/column"
)

// spill writes the rows in memory as a run, each with the length of its
// partition's part of the key.
func (w *window) spill() error {
	wide := &rowStore{pool: w.store.pool, cols: w.runs.cols[:len(w.runs.cols)-1], rows: w.store.rows, starts: w.store.starts}
	lengths := make([]*column.Vector, len(w.store.chunks))
	for i, c := range w.store.chunks {
		v := w.p.env.Pool.Vector(wide.cols[len(wide.cols)-1].Type)
		v.I32 = append(v.I32, w.parts[w.store.starts[i]:w.store.starts[i]+c.Len]...)
		v.Len = c.Len
		lengths[i] = v
		wide.chunks = append(wide.chunks, &column.Batch{Cols: append(append([]*column.Vector{}, c.Cols...), v), Len: c.Len})
	}
	err := w.runs.spill(wide, &w.keyed, -1)
	releaseAll(lengths)
	w.store.empty()
	w.keyed.reset()
	w.parts = w.parts[:0]
	return err
}

// endRuns works through the merged rows by blocks of whole partitions, or of a
// partition that does not fit as far as frames reach.
func (w *window) endRuns() error {
	if err := w.spill(); err != nil {
		return err
	}
	w.store.reset()
	w.keyed, w.parts = sortedKeys{}, nil
	if w.onlyRanks() {
		r := &runningRanks{w: w}
		if err := w.runs.merge(-1, r.add); err != nil {
			return err
		}
		w.reset()
		return w.out.end()
	}
	c := &partitionCutter{w: w, blk: &block{}}
	defer c.drop()
	if err := w.runs.merge(-1, c.add); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	c.drop()
	w.reset()
	return w.out.end()
}

// onlyRanks reports whether all calls depend on nothing but the rows before, so
// that a partition need not be in memory.
func (w *window) onlyRanks() bool {
	for _, c := range w.calls {
		if c.call.Agg != nil {
			return false
		}
		switch c.call.Fn.Kind {
		case funcs.RowNumber, funcs.Rank, funcs.DenseRank:
		default:
			return false
		}
	}
	return true
}

// runningRanks numbers sorted rows as they pass.
type runningRanks struct {
	w                   *window
	last                []byte // key of the last row
	npar                int32  // the partition's part of it
	number, rank, dense int64
}

func (r *runningRanks) add(b *column.Batch) error {
	n := len(b.Cols)
	nb := r.w.p.env.Pool.Batch()
	for _, v := range b.Cols[:len(r.w.n.Input.Output())] {
		nb.Cols = append(nb.Cols, v.Retain())
	}
	results := make([]*column.Vector, len(r.w.calls))
	for i, c := range r.w.calls {
		results[i] = r.w.p.env.Pool.Vector(c.call.Attr.Type)
	}
	nb.Cols = append(nb.Cols, results...)
	for i := range b.Len {
		r.step(b.Cols[n-1].Str(i), b.Cols[n-2].I32[i])
		for k, c := range r.w.calls {
			switch c.call.Fn.Kind {
			case funcs.RowNumber:
				appendInt(results[k], r.number)
			case funcs.Rank:
				appendInt(results[k], r.rank)
			default:
				appendInt(results[k], r.dense)
			}
		}
	}
	nb.Len = b.Len
	return pushFresh(r.w.out, 0, nb)
}

// step goes on to the row with the key.
func (r *runningRanks) step(key []byte, npar int32) {
	switch {
	case r.number == 0 || !bytes.Equal(r.last[:r.npar], key[:npar]):
		r.number, r.rank, r.dense = 1, 1, 1
	case bytes.Equal(r.last, key):
		r.number++
		return
	default:
		r.number++
		r.rank = r.number
		r.dense++
	}
	r.last, r.npar = append(r.last[:0], key...), npar
}

// partitionCutter gathers sorted rows until they are whole partitions of about
// a batch. A partition that memory does not hold is worked through by itself.
type partitionCutter struct {
	w     *window
	blk   *block
	b     *column.Batch
	last  []byte // key of the last row
	npar  int32  // the partition's part of it
	any   bool   // there was a row
	large *largePartition
}

func (c *partitionCutter) add(b *column.Batch) error {
	n := len(b.Cols)
	keys, lengths := b.Cols[n-1], b.Cols[n-2]
	from := 0
	for i := range b.Len {
		key, npar := keys.Str(i), lengths.I32[i]
		held := c.blk.n + i - from
		part := c.any && bytes.Equal(c.last[:c.npar], key[:npar])
		peer := part && bytes.Equal(c.last, key)
		if !part {
			if held >= column.BatchRows || c.large != nil {
				if err := c.take(b, from, i); err != nil {
					return err
				}
				if err := c.flush(); err != nil {
					return err
				}
				from, held = i, 0
			}
			c.blk.starts = append(c.blk.starts, held)
		}
		c.blk.peers = append(c.blk.peers, peer)
		c.last, c.npar, c.any = append(c.last[:0], key...), npar, true
	}
	if err := c.take(b, from, b.Len); err != nil || c.b == nil {
		return err
	}
	total := grown(usedBytes(c.b.Cols) + int64(9*c.blk.n))
	spill, err := c.w.mem.mayExceed(total)
	if err != nil || !spill {
		return err
	}
	if c.large = c.w.large(); c.large == nil {
		return c.w.mem.must(total)
	}
	return c.split()
}

// split computes the partitions before the last one, which goes on as a large one.
func (c *partitionCutter) split() error {
	blk, b := c.blk, c.b
	defer b.Release()
	c.blk, c.b = &block{}, nil
	n := blk.starts[len(blk.starts)-1]
	if n > 0 {
		first := &block{cols: b.Cols, n: n, starts: blk.starts, peers: blk.peers[:n]}
		first.findPeers()
		if err := c.w.compute(first); err != nil {
			return err
		}
	}
	for from := n; from < blk.n; from += column.BatchRows {
		to := min(from+column.BatchRows, blk.n)
		if err := c.large.add(b.Cols, from, to, blk.peers[from:to]); err != nil {
			return err
		}
	}
	return nil
}

// take adds rows [from, to) of b to the block, or to the large partition.
func (c *partitionCutter) take(b *column.Batch, from, to int) error {
	if from == to {
		return nil
	}
	if c.large != nil {
		err := c.large.add(b.Cols, from, to, c.blk.peers)
		c.blk.peers = c.blk.peers[:0]
		return err
	}
	if c.b == nil {
		c.b = newBatch(c.w.p.env.Pool, c.w.store.cols)
	}
	for i, v := range c.b.Cols {
		column.AppendRange(v, b.Cols[i], from, to)
	}
	c.b.Len += to - from
	c.blk.n = c.b.Len
	return nil
}

// flush computes the block.
func (c *partitionCutter) flush() error {
	if c.large != nil {
		err := c.large.end()
		c.drop()
		return err
	}
	if c.b == nil {
		return nil
	}
	c.blk.starts = append(c.blk.starts, c.blk.n)
	c.blk.cols = c.b.Cols
	c.blk.findPeers()
	err := c.w.compute(c.blk)
	c.drop()
	return err
}

func (c *partitionCutter) drop() {
	c.large.drop()
	c.large = nil
	if c.b != nil {
		for _, v := range c.b.Cols {
			trimVector(v)
		}
		c.b.Release()
	}
	c.b, c.blk = nil, &block{}
}
