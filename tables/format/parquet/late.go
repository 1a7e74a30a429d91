package parquet

import (
	"bytes"
	"slices"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// late reads the columns of terms first and the others only where rows match:
// those of a batch without a match are passed over, whole pages of them without
// being decoded.
type late struct {
	early  []int // places of the columns that terms are about
	rest   []int
	tests  []rowTest
	first  []*leafReader // of early
	others []*leafReader
	// owed is how many rows others are behind.
	owed int64
	keep []bool
	// seen rows, and those of which the other columns were passed over: without
	// many of them it is not worth it.
	seen, spared int64
}

// rowTest is a term on a column, by its place in early.
type rowTest struct {
	at    int
	op    format.TermOp
	value *column.Vector
}

// lateRows is after how many rows the worth of reading late is looked at.
const lateRows = 8 * column.BatchRows

// planLate decides whether reading late can pay: leaves are those of each
// column.
func (s *scanner) planLate(leaves [][]*leafReader) *late {
	if !s.spec.Late {
		return nil
	}
	l := &late{}
	for _, t := range s.spec.Terms {
		if len(t.Path) != 1 {
			continue
		}
		at := slices.IndexFunc(s.spec.Columns.Fields, func(f schema.Field) bool {
			return f.Name == t.Path[0] || !s.spec.CaseSensitive && strings.EqualFold(f.Name, t.Path[0])
		})
		if at < 0 || s.cols[at].leaf == nil {
			continue
		}
		null := t.Op == format.IsNull || t.Op == format.IsNotNull
		if !null && (t.Value == nil || t.Value.Len == 0 || t.Value.IsNull(0) || t.Value.Dict != nil || !t.Value.Type.SameShape(s.cols[at].want) || !testable(t.Value.Type)) {
			continue
		}
		k := slices.Index(l.early, at)
		if k < 0 {
			k = len(l.early)
			l.early, l.first = append(l.early, at), append(l.first, leaves[at]...)
		}
		l.tests = append(l.tests, rowTest{k, t.Op, t.Value})
	}
	for i := range s.cols {
		if !slices.Contains(l.early, i) {
			l.rest, l.others = append(l.rest, i), append(l.others, leaves[i]...)
		}
	}
	if len(l.early) == 0 || len(l.others) == 0 {
		return nil
	}
	return l
}

// testable reports the types that compareRows orders as SQL does. NaN has its
// own rules there, so floating-point columns are not tested.
func testable(t schema.Type) bool {
	switch t.Kind {
	case schema.Boolean, schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Decimal, schema.String, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ:
		return true
	}
	return false
}

// readLate reads the next n rows, or the part of them from the first that
// matches to the last; nil when none does. skipped is the rows before it.
func (s *scanner) readLate(n int) (b *column.Batch, skipped int, err error) {
	l := s.late
	b = s.spec.Pool.Batch()
	b.Len = n
	for range s.cols {
		b.Cols = append(b.Cols, nil)
	}
	defer func() {
		if b == nil || err != nil {
			for _, v := range held(b) {
				v.Release()
			}
			b = nil
		}
	}()
	for _, at := range l.early {
		b.Cols[at] = s.spec.Pool.Vector(s.cols[at].want)
		if err := s.readColumn(s.cols[at], b.Cols[at], n); err != nil {
			return b, 0, err
		}
	}
	from, to := l.match(b, n)
	l.seen += int64(n)
	if from == to {
		l.owed += int64(n)
		l.spared += int64(n)
		for _, v := range held(b) {
			v.Release()
		}
		return nil, 0, nil
	}
	if to-from > n/2 { // not worth cutting
		from, to = 0, n
	}
	return s.fill(b, from, to, n)
}

// fill reads the other columns of rows [from, to) of the n in the making.
func (s *scanner) fill(b *column.Batch, from, to, n int) (*column.Batch, int, error) {
	l := s.late
	if to-from < n {
		for _, at := range l.early {
			v := s.spec.Pool.Vector(s.cols[at].want)
			column.AppendRange(v, b.Cols[at], from, to)
			b.Cols[at].Release()
			b.Cols[at] = v
		}
		b.Len = to - from
	}
	if err := l.catchUp(int64(from)); err != nil {
		return b, 0, err
	}
	for _, at := range l.rest {
		b.Cols[at] = s.spec.Pool.Vector(s.cols[at].want)
		if err := s.readColumn(s.cols[at], b.Cols[at], to-from); err != nil {
			return b, 0, err
		}
	}
	l.owed = int64(n - to)
	l.spared += int64(n - (to - from))
	if l.seen >= lateRows && l.spared < l.seen/8 {
		if err := l.catchUp(0); err != nil {
			return b, 0, err
		}
		s.late = nil
	}
	return b, from, nil
}

// catchUp passes the other columns over the rows that they are behind, and some
// more.
func (l *late) catchUp(more int64) error {
	err := skipAll(l.others, l.owed+more)
	l.owed = 0
	return err
}

func skipAll(leaves []*leafReader, rows int64) error {
	for rows > 0 {
		n := min(rows, 1<<20)
		for _, r := range leaves {
			if err := r.skip(int(n)); err != nil {
				return err
			}
		}
		rows -= n
	}
	return nil
}

func held(b *column.Batch) []*column.Vector {
	var out []*column.Vector
	if b != nil {
		for _, v := range b.Cols {
			if v != nil {
				out = append(out, v)
			}
		}
		b.Cols = b.Cols[:0]
		b.Release()
	}
	return out
}

// match applies the tests to the first n rows and returns the rows from the
// first that matches all to behind the last; none: from is to.
func (l *late) match(b *column.Batch, n int) (from, to int) {
	l.keep = slices.Grow(l.keep[:0], n)[:n]
	for i := range l.keep {
		l.keep[i] = true
	}
	for _, t := range l.tests {
		t.apply(b.Cols[l.early[t.at]], l.keep)
	}
	from = slices.Index(l.keep, true)
	if from < 0 {
		return 0, 0
	}
	for to = n; !l.keep[to-1]; to-- {
	}
	return from, to
}

// apply clears keep for rows for which the test does not hold.
func (t *rowTest) apply(v *column.Vector, keep []bool) {
	switch t.op {
	case format.IsNull, format.IsNotNull:
		for i := range keep {
			keep[i] = keep[i] && v.IsNull(i) == (t.op == format.IsNull)
		}
		return
	}
	if v.HasNulls() {
		for i := range keep {
			keep[i] = keep[i] && !v.IsNull(i)
		}
	}
	switch {
	case v.Dict != nil:
		good := make([]bool, v.Dict.Len)
		for i := range good {
			good[i] = t.holds(bytes.Compare(v.Dict.Str(i), t.value.Str(0)))
		}
		for i := range keep {
			keep[i] = keep[i] && good[v.Index[i]]
		}
	case v.Const:
		if !v.IsNull(0) && !t.holds(compareAny(v, 0, t.value)) {
			clear(keep)
		}
	default:
		switch column.PhysicalOf(v.Type) {
		case column.PhysI32:
			testRows(t, v.I32, t.value.I32[0], keep)
		case column.PhysI64:
			testRows(t, v.I64, t.value.I64[0], keep)
		default:
			for i := range keep {
				keep[i] = keep[i] && t.holds(compareAny(v, i, t.value))
			}
		}
	}
}

func testRows[T int32 | int64](t *rowTest, values []T, x T, keep []bool) {
	switch t.op {
	case format.Equal:
		for i := range keep {
			keep[i] = keep[i] && values[i] == x
		}
	case format.Less:
		for i := range keep {
			keep[i] = keep[i] && values[i] < x
		}
	case format.LessEqual:
		for i := range keep {
			keep[i] = keep[i] && values[i] <= x
		}
	case format.Greater:
		for i := range keep {
			keep[i] = keep[i] && values[i] > x
		}
	case format.GreaterEqual:
		for i := range keep {
			keep[i] = keep[i] && values[i] >= x
		}
	}
}

// holds says what a comparison with the value comes to.
func (t *rowTest) holds(c int) bool {
	switch t.op {
	case format.Equal:
		return c == 0
	case format.Less:
		return c < 0
	case format.LessEqual:
		return c <= 0
	case format.Greater:
		return c > 0
	case format.GreaterEqual:
		return c >= 0
	}
	return true
}

// compareAny compares row i of a with row 0 of b, both of one testable type and
// not null.
func compareAny(a *column.Vector, i int, b *column.Vector) int {
	switch column.PhysicalOf(a.Type) {
	case column.PhysBool:
		switch {
		case a.Bool[i] == b.Bool[0]:
			return 0
		case b.Bool[0]:
			return -1
		}
		return 1
	case column.PhysI8:
		return int(a.I8[i]) - int(b.I8[0])
	case column.PhysI16:
		return int(a.I16[i]) - int(b.I16[0])
	case column.PhysI32:
		return order(a.I32[i], b.I32[0])
	case column.PhysI64:
		return order(a.I64[i], b.I64[0])
	case column.PhysI128:
		return a.I128[i].Cmp(b.I128[0])
	}
	return bytes.Compare(a.Str(i), b.Str(0))
}
