package operator

import (
	"bytes"
	"sort"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// firstRows leaves out rows that cannot be among the first of their partition:
// it remembers the best keys of each. Rows that better ones push out later have
// passed; the window above drops them.
type firstRows struct {
	kind   funcs.WindowKind
	limit  int
	nparts int
	orders []sortOrder

	table  *groupTable
	groups []int32
	kept   []int32    // filter's result
	best   [][][]byte // keys in order by group, at most limit
	held   int64      // bytes of best
	key    []byte
	seen   int64
	passed int64
	off    bool // it does not pay
}

// fewLeftOut is after how many rows a filter that leaves out less than a
// quarter of them gives up.
const fewLeftOut = 1 << 16

func newFirstRows(n *logical.Window, orders []sortOrder) *firstRows {
	for _, c := range n.Calls {
		if c.Attr.ID == n.FirstBy {
			return &firstRows{
				kind: c.Fn.Kind, limit: int(n.First), nparts: len(n.PartitionBy), orders: orders[len(n.PartitionBy):],
				table: newGroupTable(exprTypes(n.PartitionBy)),
			}
		}
	}
	panic("bug: operator: the first rows by a rank that the window does not compute")
}

// reset forgets all rows; off says that the rest of the step goes unfiltered.
func (f *firstRows) reset(off bool) {
	if f == nil {
		return
	}
	if f.table.bytes() > bigVector {
		f.table.discardAll()
	}
	f.table.reset()
	if f.held > bigVector {
		f.best = nil
	}
	f.best, f.held, f.seen, f.passed, f.off = f.best[:0], 0, 0, 0, off
}

func (f *firstRows) bytes() int64 {
	if f == nil {
		return 0
	}
	return f.table.bytes() + f.held
}

// filter lists the rows that may be wanted, until the next call. Keys are the
// partition columns, then those of the order.
func (f *firstRows) filter(keys []*column.Vector, rows []int32) []int32 {
	if f == nil || f.off {
		return rows
	}
	f.groups = grow(f.groups, len(rows))
	if f.nparts > 0 {
		f.table.assign(keys[:f.nparts], rows, f.groups)
	} else {
		clear(f.groups)
	}
	kept := f.kept[:0]
	for k, r := range rows {
		f.key = f.key[:0]
		for i, v := range keys[f.nparts:] {
			f.key = appendSortKey(f.key, v, int(r), f.orders[i])
		}
		if f.wants(f.groups[k]) {
			kept = append(kept, r)
		}
	}
	f.kept = kept
	f.seen += int64(len(rows))
	f.passed += int64(len(kept))
	if f.seen >= fewLeftOut && f.passed > f.seen-f.seen/4 {
		f.reset(true)
	}
	return kept
}

// wants reports whether a row of the group with f.key may be wanted, and
// remembers its key.
func (f *firstRows) wants(g int32) bool {
	for int(g) >= len(f.best) {
		if len(f.best) < cap(f.best) { // a list of an earlier step
			f.best = f.best[:len(f.best)+1]
			f.best[len(f.best)-1] = f.best[len(f.best)-1][:0]
			continue
		}
		f.best = append(f.best, nil)
		f.held += 24
	}
	best := f.best[g]
	full := len(best) == f.limit
	if full {
		d := bytes.Compare(f.key, best[f.limit-1])
		if d > 0 || d == 0 && f.kind == funcs.RowNumber {
			return false // a later row with an equal key comes after it
		}
		if d == 0 {
			return true
		}
	}
	at := sort.Search(len(best), func(i int) bool { return bytes.Compare(best[i], f.key) > 0 })
	if f.kind == funcs.DenseRank && at > 0 && bytes.Equal(best[at-1], f.key) {
		return true
	}
	var buf []byte
	if full {
		buf = best[f.limit-1][:0]
	} else {
		f.held += 24 + int64(len(f.key))
		best = append(best, nil)
	}
	copy(best[at+1:], best[at:len(best)-1])
	best[at] = append(buf, f.key...)
	f.best[g] = best
	return true
}
