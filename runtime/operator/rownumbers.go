package operator

import "pipelines/tables/column"

// rowNumbers lists the numbers of rows, 0 to n-1, and keeps the list: a type of
// its own, so that no other list of rows is taken for one. Lists are read only.
type rowNumbers struct{ all []int32 }

func (x *rowNumbers) first(n int) []int32 {
	for i := len(x.all); i < n; i++ {
		x.all = append(x.all, int32(i))
	}
	return x.all[:n]
}

// of lists the selected rows of b.
func (x *rowNumbers) of(b *column.Batch) []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	return x.first(b.Len)
}

// rowsOf lists the selected rows of b.
func rowsOf(b *column.Batch) []int32 { return new(rowNumbers).of(b) }

// identity lists 0 to n-1.
func identity(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// usable checks the marks of vectors whose values are used on the selected
// rows of b. Nil rows: all are good. With drop, rows are those that are good
// and the others are counted; without, the first failed row's error is returned.
func (p *Plan) usable(vecs []*column.Vector, b *column.Batch, drop bool) ([]int32, error) {
	bad := false
	for _, v := range vecs {
		if v.Errs.Any() {
			bad = true
		}
	}
	if !bad {
		return nil, nil
	}
	all := rowsOf(b)
	good := make([]int32, 0, len(all))
	for _, r := range all {
		err := rowFailure(vecs, int(r))
		if err == nil {
			good = append(good, r)
			continue
		}
		if !drop {
			return nil, rowError(err)
		}
	}
	if len(good) == len(all) {
		return nil, nil
	}
	p.dropped.Add(int64(len(all) - len(good)))
	return good, nil
}

// goodRows is usable with all rows listed; they are read only, until x is used
// again.
func (p *Plan) goodRows(vecs []*column.Vector, b *column.Batch, x *rowNumbers, drop bool) ([]int32, error) {
	rows, err := p.usable(vecs, b, drop)
	if err != nil || rows != nil {
		return rows, err
	}
	return x.of(b), nil
}
