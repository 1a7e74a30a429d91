package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// rowStore keeps rows of blocking operators, in chunks of columns. A row's id
// is its number in order of arrival.
type rowStore struct {
	pool   *column.Pool
	cols   []logical.Attr
	chunks []*column.Batch
	starts []int // first row id by chunk
	rows   int
	local  []int32
}

const (
	chunkRows  = 1 << 20
	chunkBytes = 1 << 29
)

func newRowStore(pool *column.Pool, cols []logical.Attr) *rowStore {
	return &rowStore{pool: pool, cols: cols}
}

// add appends the given rows of vecs (one vector a column).
func (s *rowStore) add(vecs []*column.Vector, rows []int32) {
	for len(rows) > 0 {
		c := s.last()
		n := min(len(rows), chunkRows-c.Len)
		for i, v := range vecs {
			column.AppendRows(c.Cols[i], v, rows[:n])
		}
		c.Len += n
		s.rows += n
		rows = rows[n:]
	}
}

// last returns the chunk to append to.
func (s *rowStore) last() *column.Batch {
	if n := len(s.chunks); n > 0 {
		c := s.chunks[n-1]
		full := c.Len >= chunkRows
		for _, v := range c.Cols {
			full = full || len(v.Bytes) > chunkBytes
		}
		if !full {
			return c
		}
	}
	c := newBatch(s.pool, s.cols)
	s.chunks, s.starts = append(s.chunks, c), append(s.starts, s.rows)
	return c
}

// place returns the chunk and the row in it of a row id.
func (s *rowStore) place(id int) (chunk, row int) {
	lo, hi := 0, len(s.starts)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if s.starts[mid] <= id {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, id - s.starts[lo]
}

// gather appends the rows with the given ids to out; -1 appends nulls.
func (s *rowStore) gather(ids []int32, out []*column.Vector) { s.gatherInto(&s.local, ids, out) }

// gatherInto is gather with the caller's scratch, for concurrent readers.
func (s *rowStore) gatherInto(scratch *[]int32, ids []int32, out []*column.Vector) {
	if len(s.chunks) == 1 {
		for i, v := range out {
			column.AppendRows(v, s.chunks[0].Cols[i], ids)
		}
		return
	}
	for from := 0; from < len(ids); {
		if ids[from] < 0 {
			for _, v := range out {
				v.AppendNull()
			}
			from++
			continue
		}
		chunk, _ := s.place(int(ids[from]))
		start, size := int32(s.starts[chunk]), int32(s.chunks[chunk].Len)
		local := (*scratch)[:0]
		to := from
		for ; to < len(ids) && ids[to] >= start && ids[to] < start+size; to++ {
			local = append(local, ids[to]-start)
		}
		*scratch = local
		for i, v := range out {
			column.AppendRows(v, s.chunks[chunk].Cols[i], local)
		}
		from = to
	}
}

// gatherOrNull is gather for a store that may be empty.
func (s *rowStore) gatherOrNull(ids []int32, out []*column.Vector) {
	if len(s.chunks) > 0 {
		s.gather(ids, out)
		return
	}
	for _, v := range out {
		for range ids {
			v.AppendNull()
		}
	}
}

// batch makes a batch of the rows with the given ids.
func (s *rowStore) batch(ids []int32) *column.Batch {
	b := newBatch(s.pool, s.cols)
	s.gather(ids, b.Cols)
	b.Len = len(ids)
	return b
}

// bytes estimates the memory held.
func (s *rowStore) bytes() int64 {
	var n int64
	for _, c := range s.chunks {
		for _, v := range c.Cols {
			n += v.Memory()
		}
	}
	return n
}

// reset gives the rows back.
func (s *rowStore) reset() {
	for _, c := range s.chunks {
		for _, v := range c.Cols {
			trimVector(v)
		}
		c.Release()
	}
	s.chunks, s.starts, s.rows = s.chunks[:0], s.starts[:0], 0
}

// label names an operator in messages: its kind and, when it has state, its id.
func label(kind string, state *logical.StateInfo) string {
	if state == nil || state.ID == "" {
		return kind
	}
	return kind + " " + state.ID
}
