package table

import (
	"fmt"

	"pipelines/runtime/budget"
	"pipelines/tables/column"
)

// maxColumnBytes bounds the bytes of one column of the rows that an epoch
// holds in memory.
const maxColumnBytes = 1 << 30

// reduceRows is the number of rows from which on a buffer drops those that
// later ones of their key have replaced.
const reduceRows = 64 << 10

// keyedRows are the rows of an epoch in memory, by key. Without changes, the
// last row of a key counts, and so does its greatest change where only the
// newest version is kept.
type keyedRows struct {
	sink  *Keyed
	epoch int64
	cols  []*column.Vector
	seq   *column.Vector // nil without changes
	op    []uint8
	key   []int32 // of each row: its place in keys
	ids   map[string]int32
	keys  []string
	// cut is the greatest sequence of a truncate: nil or one row.
	cut *column.Vector

	mem       *budget.Reservation
	text      int  // bytes of the keys
	reducible bool // no place in the rows is held elsewhere yet
	limit     int  // rows at which to reduce
	scratch   []byte
	taken     []int32
}

func newKeyedRows(k *Keyed, epoch int64) *keyedRows {
	r := &keyedRows{sink: k, epoch: epoch, ids: map[string]int32{}, limit: reduceRows, reducible: true}
	r.mem, r.cols = k.o.Budget.Reserve("table "+k.o.Name), newVectors(k.o.Pool, k.rowFields())
	if c := k.o.Changes; c != nil {
		r.seq = k.o.Pool.Vector(c.Sequence)
	}
	return r
}

func (r *keyedRows) release() {
	for _, v := range r.cols {
		v.Release()
	}
	for _, v := range []*column.Vector{r.seq, r.cut} {
		if v != nil {
			v.Release()
		}
	}
	r.cols, r.seq, r.cut = nil, nil, nil
	r.mem.Release()
}

// add takes the rows of a lent batch.
func (r *keyedRows) add(b *column.Batch) error {
	r.taken = r.taken[:0]
	for n := range b.Rows() {
		i := n
		if b.Sel != nil {
			i = int(b.Sel[n])
		}
		op, err := r.operation(b, i)
		if err != nil {
			return err
		}
		if op == OpTruncate {
			r.truncate(b.Cols[r.sink.width], i)
			continue
		}
		id, err := r.id(b, i)
		if err != nil {
			return err
		}
		r.taken = append(r.taken, int32(i))
		r.op, r.key = append(r.op, op), append(r.key, id)
	}
	for c, v := range r.cols {
		n := v.Len
		column.AppendRows(v, b.Cols[c], r.taken)
		// The state holds keys without the sign of a zero: whatever the epochs,
		// no row of a key has one.
		column.Canonical(v, n, r.seq != nil && r.sink.isKey(c))
	}
	if r.seq != nil {
		n := r.seq.Len
		column.AppendRows(r.seq, b.Cols[r.sink.width], r.taken)
		column.Canonical(r.seq, n, true) // it becomes __START_AT, whichever came first
	}
	return r.bound()
}

// operation reads what row i of a batch does, and checks its sequence.
func (r *keyedRows) operation(b *column.Batch, i int) (uint8, error) {
	if r.seq == nil {
		if b.Change != nil && b.Change[i] < 0 {
			return OpDelete, nil
		}
		return OpUpsert, nil
	}
	if b.Cols[r.sink.width].IsNull(i) {
		return 0, r.sink.badChange("NULL_SEQUENCE", r.epoch, "its sequence is NULL")
	}
	ops := b.Cols[r.sink.width+1]
	if ops.IsNull(i) {
		return OpUpsert, nil
	}
	if ops.Dict != nil {
		return uint8(ops.Dict.I8[ops.Index[i]]), nil
	}
	return uint8(ops.I8[ops.Row(i)]), nil
}

// id finds or makes the number of a row's key.
func (r *keyedRows) id(b *column.Batch, i int) (int32, error) {
	r.scratch = r.scratch[:0]
	for _, c := range r.sink.o.Keys {
		if r.seq != nil && b.Cols[c].IsNull(i) {
			return 0, r.sink.badChange("NULL_KEY", r.epoch, "its key column %s is NULL", r.sink.o.Schema.Fields[c].Name)
		}
		r.scratch = column.AppendKey(r.scratch, b.Cols[c], i)
	}
	return r.idOf(r.scratch), nil
}

func (r *keyedRows) idOf(key []byte) int32 {
	if id, ok := r.ids[string(key)]; ok {
		return id
	}
	id, text := int32(len(r.keys)), string(key)
	r.ids[text] = id
	r.keys = append(r.keys, text)
	r.text += len(text)
	return id
}

func (r *keyedRows) truncate(seq *column.Vector, i int) {
	if r.cut != nil {
		if column.Compare(seq, i, r.cut, 0) <= 0 {
			return
		}
		r.cut.Release()
	}
	r.cut = r.sink.o.Pool.Vector(seq.Type)
	column.AppendRow(r.cut, seq, i)
}

// bound drops rows that no longer count and refuses what does not fit.
func (r *keyedRows) bound() error {
	if r.reducible && len(r.op) >= r.limit && r.newestOnly() {
		r.reduce()
		r.limit = max(reduceRows, 2*len(r.op))
	}
	for c, v := range r.cols {
		if payload(v) > maxColumnBytes {
			return fmt.Errorf("column %s of one epoch into %s holds more than %d MiB; make epochs smaller: %s",
				r.sink.o.Schema.Fields[c].Name, r.sink.o.Name, maxColumnBytes>>20, smaller)
		}
	}
	return r.reserve()
}

func payload(v *column.Vector) int {
	n := len(v.Bytes)
	for _, c := range v.Children {
		n = max(n, payload(c))
	}
	return n
}

// newestOnly reports whether one row of each key decides.
func (r *keyedRows) newestOnly() bool {
	c := r.sink.o.Changes
	return c == nil || !c.History && c.KeepOld == nil
}

// newest returns the row of each key that counts, -1 where there is none.
func (r *keyedRows) newest() []int32 {
	out := make([]int32, len(r.keys))
	for i := range out {
		out[i] = -1
	}
	for i, k := range r.key {
		if best := out[k]; best < 0 || r.seq == nil || r.compare(best, int32(i)) <= 0 {
			out[k] = int32(i)
		}
	}
	return out
}

// reduce keeps the rows that count.
func (r *keyedRows) reduce() {
	rows := r.newest()
	for c, v := range r.cols {
		w := r.sink.o.Pool.Vector(v.Type)
		column.AppendRows(w, v, rows)
		v.Release()
		r.cols[c] = w
	}
	if r.seq != nil {
		w := r.sink.o.Pool.Vector(r.seq.Type)
		column.AppendRows(w, r.seq, rows)
		r.seq.Release()
		r.seq = w
	}
	op := make([]uint8, len(rows))
	key := r.key[:0]
	for k, i := range rows {
		op[k] = r.op[i]
		key = append(key, int32(k))
	}
	r.op, r.key = op, key
}

// compare orders two changes of one key as they take effect: by sequence, at
// equal ones by operation, between upserts by the row in column order.
func (r *keyedRows) compare(a, b int32) int {
	if d := column.Compare(r.seq, int(a), r.seq, int(b)); d != 0 {
		return d
	}
	if r.op[a] != r.op[b] {
		// Type 1: the upsert takes effect last; type 2: the delete.
		if (r.op[a] == OpUpsert) != r.sink.o.Changes.History {
			return 1
		}
		return -1
	}
	if r.op[a] == OpDelete {
		return 0
	}
	return r.compareRows(a, b)
}

func (r *keyedRows) compareRows(a, b int32) int {
	for _, v := range r.cols {
		if d := column.CompareTotal(v, int(a), v, int(b)); d != 0 {
			return d
		}
	}
	return 0
}

// take moves the rows of another buffer behind the own ones.
func (r *keyedRows) take(o *keyedRows) error {
	for c, v := range r.cols {
		column.AppendRange(v, o.cols[c], 0, o.cols[c].Len)
	}
	if r.seq != nil {
		column.AppendRange(r.seq, o.seq, 0, o.seq.Len)
	}
	r.op = append(r.op, o.op...)
	for _, k := range o.key {
		r.key = append(r.key, r.idOf([]byte(o.keys[k])))
	}
	if o.cut != nil {
		r.truncate(o.cut, 0)
	}
	o.release()
	return r.bound()
}
