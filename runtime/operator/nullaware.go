package operator

import "pipelines/tables/column"

// nullAwareKeys keeps the pairs of a NOT IN over several columns, or with a
// condition of its own, that are equal or may be: a null on either side makes
// a comparison unknown, which counts as a match for the anti join.
func (j *join) nullAwareKeys(lane int, vecs []*column.Vector) error {
	l := &j.lanes[lane]
	pool := j.p.env.Pool
	b := newBatch(pool, j.store.cols)
	defer b.Release()
	j.store.gatherInto(&l.local, l.builds, b.Cols)
	b.Len = len(l.builds)
	keys, err := j.build.run(lane, b)
	if err != nil {
		return err
	}
	defer releaseAll(keys)
	n := 0
	for k, r := range l.probes {
		if !maybeEqual(vecs, int(r), keys, k) {
			continue
		}
		l.probes[n], l.builds[n] = r, l.builds[k]
		n++
	}
	l.probes, l.builds = l.probes[:n], l.builds[:n]
	return nil
}

func maybeEqual(a []*column.Vector, i int, b []*column.Vector, k int) bool {
	for c := range a {
		if !a[c].IsNull(i) && !b[c].IsNull(k) && !column.Equal(a[c], i, b[c], k) {
			return false
		}
	}
	return true
}
