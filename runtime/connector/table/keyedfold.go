package table

import (
	"slices"

	"pipelines/tables/column"
)

// record is a row of the table: the place of its values in the rows of the
// epoch, and with history those of the changes that began and ended it (-1: it
// is the current one).
type record struct{ row, start, end int32 }

// keyedOutcome is what an epoch does to the table.
type keyedOutcome struct {
	gone  []byte // identities of the rows that go, each with its length
	count int
	add   []record
}

// folder works out the rows of one key after the other.
type folder struct {
	r      *keyedRows
	o      *ChangeOptions
	stored int32 // rows from here on are from the state
	cut    *column.Vector

	kept []int32 // changes that still matter, as they take effect
	recs []record
}

// apply merges the changes of an epoch with those in the state.
func (s *keyedState) apply(r *keyedRows, now int64) (keyedOutcome, error) {
	var out keyedOutcome
	if r.newestOnly() {
		r.reduce()
	}
	r.reducible = false
	cut := s.cut
	fresh := r.cut != nil && (cut == nil || column.Compare(r.cut, 0, cut, 0) > 0)
	if fresh {
		cut = r.cut
		if err := s.allKeys(r); err != nil {
			return out, err
		}
	}
	order := sortedIDs(r.keys)
	f := folder{r: r, o: s.sink.o.Changes, stored: int32(len(r.op)), cut: cut}
	if err := s.load(r, order); err != nil {
		return out, err
	}
	if fresh {
		s.heads(r.cut)
	} else {
		s.heads(nil)
	}
	byKey, ends := groupRows(r)
	// What is stored was cut already.
	old := folder{r: r, o: f.o, stored: f.stored}
	s.changes = slices.Grow(s.changes, len(order))
	var known []int32 // the rows of a key that are from the state
	for n, id := range order {
		from := int32(0)
		if id > 0 {
			from = ends[id-1]
		}
		rows := byKey[from:ends[id]]
		f.sort(rows)
		known = known[:0]
		for _, i := range rows {
			if i >= f.stored {
				known = append(known, i)
			}
		}
		old.fold(known)
		f.fold(rows)
		s.difference(r, old.kept, f.kept, now, f.stored)
		out.difference(&f, old.recs)
		if n%reserveEvery == reserveEvery-1 {
			if err := s.reserve(r.epoch, &out); err != nil {
				return out, err
			}
		}
	}
	if err := s.expire(r, now); err != nil {
		return out, err
	}
	return out, s.reserve(r.epoch, &out)
}

func sortedIDs(keys []string) []int32 {
	order := make([]int32, len(keys))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch {
		case keys[a] < keys[b]:
			return -1
		case keys[a] > keys[b]:
			return 1
		}
		return 0
	})
	return order
}

// groupRows deals the rows to their keys: those of key k end at ends[k].
func groupRows(r *keyedRows) (rows, ends []int32) {
	ends = make([]int32, len(r.keys))
	for _, k := range r.key {
		ends[k]++
	}
	sum := int32(0)
	for k, n := range ends {
		ends[k] = sum
		sum += n
	}
	rows = make([]int32, len(r.key))
	for i, k := range r.key {
		rows[ends[k]] = int32(i)
		ends[k]++
	}
	return rows, ends
}

// sort orders the changes of a key as they take effect; of equal ones, that of
// the state comes first.
func (f *folder) sort(rows []int32) {
	if len(rows) < 2 {
		return
	}
	slices.SortFunc(rows, func(a, b int32) int {
		if d := f.r.compare(a, b); d != 0 {
			return d
		}
		return int(b - a)
	})
}

// fold works out what is kept of the sorted changes of a key, and its rows.
func (f *folder) fold(rows []int32) {
	f.kept, f.recs = f.kept[:0], f.recs[:0]
	for n, i := range rows {
		if n > 0 && f.r.compare(rows[n-1], i) == 0 || f.isCut(i) {
			continue
		}
		f.keep(i)
	}
	switch {
	case f.o.History:
		f.history()
	case f.o.KeepOld != nil:
		f.newestValues()
	case len(f.kept) > 0 && f.r.op[f.kept[0]] == OpUpsert:
		f.recs = append(f.recs, record{f.kept[0], -1, -1})
	}
}

// isCut reports whether a truncate makes change i void.
func (f *folder) isCut(i int32) bool {
	if f.cut == nil {
		return false
	}
	d := column.Compare(f.r.seq, int(i), f.cut, 0)
	return d < 0 || d == 0 && f.r.op[i] == OpDelete
}

// keep adds a change behind the kept ones and drops those that it makes void.
func (f *folder) keep(i int32) {
	r := f.r
	switch {
	case !f.o.History && (f.o.KeepOld == nil || r.op[i] == OpDelete):
		f.kept = f.kept[:0]
	case f.o.History: // of one sequence the last one counts alone
		for n := len(f.kept); n > 0 && column.Compare(r.seq, int(f.kept[n-1]), r.seq, int(i)) == 0; n-- {
			f.kept = f.kept[:n-1]
		}
	}
	f.kept = append(f.kept, i)
}

// newestValues is type 1 where NULL keeps the value before: a row of the
// newest values since the last delete. Changes that give no value are dropped.
func (f *folder) newestValues() {
	first := 0
	if len(f.kept) > 0 && f.r.op[f.kept[0]] == OpDelete {
		first = 1
	}
	if len(f.kept) == first {
		return
	}
	row := int32(-1)
	for _, i := range f.kept[first:] {
		row = f.over(row, i)
	}
	f.recs = append(f.recs, record{row, -1, -1})
	last := len(f.kept) - 1
	gives := make([]bool, len(f.kept))
	gives[last] = true
	for c, v := range f.r.cols {
		if !f.o.KeepOld[c] {
			continue
		}
		for n := last; n >= first; n-- {
			if !v.IsNull(int(f.kept[n])) {
				gives[n] = true
				break
			}
		}
	}
	kept := f.kept[:first]
	for n := first; n <= last; n++ {
		if gives[n] {
			kept = append(kept, f.kept[n])
		}
	}
	f.kept = kept
}

// over returns the row that change i makes of the one before it (-1: none).
func (f *folder) over(before, i int32) int32 {
	if before < 0 || f.o.KeepOld == nil {
		return i
	}
	cols := f.r.cols
	mixed := false
	for c, v := range cols {
		mixed = mixed || f.o.KeepOld[c] && v.IsNull(int(i)) && !v.IsNull(int(before))
	}
	if !mixed {
		return i
	}
	out := int32(cols[0].Len)
	for c, v := range cols {
		from := int(i)
		if f.o.KeepOld[c] && v.IsNull(from) {
			from = int(before)
		}
		column.AppendRow(v, v, from)
	}
	return out
}

// history is type 2: a record for each run of upserts that agree in the
// tracked columns, with the values of its newest one.
func (f *folder) history() {
	open := -1 // in recs
	for _, i := range f.kept {
		if f.r.op[i] == OpDelete {
			if open >= 0 {
				f.recs[open].end = i
			}
			open = -1
			continue
		}
		row := i
		if open >= 0 {
			row = f.over(f.recs[open].row, i)
			if f.sameTracked(f.recs[open].row, row) {
				f.recs[open].row = row
				continue
			}
			if column.Compare(f.r.seq, int(f.recs[open].start), f.r.seq, int(i)) == 0 {
				f.recs[open].row = row // several rows of one sequence
				continue
			}
			f.recs[open].end = i
		}
		open = len(f.recs)
		f.recs = append(f.recs, record{row, i, -1})
	}
}

func (f *folder) sameTracked(a, b int32) bool {
	for _, c := range f.o.Tracked {
		if !column.Equal(f.r.cols[c], int(a), f.r.cols[c], int(b)) {
			return false
		}
	}
	return true
}

// difference writes what changes in the state of one key: entries are the
// changes of one sequence and operation.
func (s *keyedState) difference(r *keyedRows, old, now []int32, at int64, stored int32) {
	for len(old) > 0 || len(now) > 0 {
		o, n := entryLen(r, old), entryLen(r, now)
		d := -1
		switch {
		case len(old) == 0:
			d = 1
		case len(now) > 0:
			d = compareEntries(r, old[0], now[0])
		}
		switch {
		case d < 0:
			s.remove(s.entryKey(r, old[0]))
			n = 0
		case d > 0:
			s.put(s.entryKey(r, now[0]), s.entryValue(r, now[:n], at))
			if r.op[now[0]] == OpDelete {
				s.noteDelete(s.key, at)
			}
			o = 0
		case o != n || slices.ContainsFunc(now[:n], func(i int32) bool { return i < stored }):
			s.put(s.entryKey(r, now[0]), s.entryValue(r, now[:n], at))
		}
		old, now = old[o:], now[n:]
	}
}

// compareEntries orders changes by the entry that holds them.
func compareEntries(r *keyedRows, a, b int32) int {
	if d := column.Compare(r.seq, int(a), r.seq, int(b)); d != 0 || r.op[a] == r.op[b] {
		return d
	}
	return r.compare(a, b)
}

// entryLen is the number of changes at the start of rows that one entry holds.
func entryLen(r *keyedRows, rows []int32) int {
	n := 0
	for n < len(rows) && (n == 0 || compareEntries(r, rows[0], rows[n]) == 0) {
		n++
	}
	return n
}

// difference adds what changes in the table's rows of one key.
func (out *keyedOutcome) difference(f *folder, old []record) {
	now := f.recs
	for len(old) > 0 || len(now) > 0 {
		d := -1
		switch {
		case len(old) == 0:
			d = 1
		case len(now) == 0:
		case f.o.History:
			d = column.Compare(f.r.seq, int(old[0].start), f.r.seq, int(now[0].start))
		default:
			d = 0
		}
		if d < 0 || d == 0 && !f.same(old[0], now[0]) {
			out.remove(f.r, old[0])
		}
		if d > 0 || d == 0 && !f.same(old[0], now[0]) {
			out.add = append(out.add, now[0])
		}
		if d <= 0 {
			old = old[1:]
		}
		if d >= 0 {
			now = now[1:]
		}
	}
}

// same reports whether two records are the same row of the table.
func (f *folder) same(a, b record) bool {
	if (a.end < 0) != (b.end < 0) || a.end >= 0 && column.Compare(f.r.seq, int(a.end), f.r.seq, int(b.end)) != 0 {
		return false
	}
	if a.row == b.row {
		return true
	}
	for _, v := range f.r.cols {
		if column.CompareTotal(v, int(a.row), v, int(b.row)) != 0 {
			return false
		}
	}
	return true
}

// remove notes that the row of a record goes.
func (out *keyedOutcome) remove(r *keyedRows, x record) {
	// A mixed row has no key number of its own, the change that began it has.
	i := x.row
	if x.start >= 0 {
		i = x.start
	}
	var id []byte
	for _, c := range r.sink.o.Keys {
		id = column.AppendKey(id, r.cols[c], int(i))
	}
	if x.start >= 0 {
		id = column.AppendKey(id, r.seq, int(x.start))
	}
	out.gone = appendSized(out.gone, id)
	out.count++
}
