package parquet

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// place is where values stand: one row for each entry whose repetition level
// is at most rep and whose definition level is at least def.
type place struct {
	def, rep uint8
}

// bind hands the vectors to be filled to the leaves below r.
func (r *readNode) bind(v *column.Vector) {
	if r.leaf != nil {
		r.leaf.dst = v
		return
	}
	for i, k := range r.kids {
		k.bind(v.Children[i])
	}
}

// fetch reads n rows of each leaf below r.
func (r *readNode) fetch(n int) error {
	if r.leaf != nil {
		return r.leaf.rows(n)
	}
	own := r.first != nil
	for _, k := range r.kids {
		if k.file == nil {
			continue
		}
		if err := k.fetch(n); err != nil {
			return err
		}
		own = own && k.first != r.first
	}
	if own {
		return r.first.rows(n)
	}
	return nil
}

// build fills v with the n rows of r at p from the levels of its leaves.
func (r *readNode) build(v *column.Vector, p place, n int) error {
	if r.file == nil {
		setNull(v, n)
		return nil
	}
	f := r.first.f
	rows, err := r.rowsAt(v, p, n)
	if err != nil {
		return err
	}
	if rows != n {
		return f.corruptf("column %s: %d values where %d are expected", r.file.name, rows, n)
	}
	switch {
	case r.leaf != nil:
		finish(v, n)
		return nil
	case r.want.Kind == schema.Struct:
		v.Len = n
		for i, k := range r.kids {
			if err := k.build(v.Children[i], p, n); err != nil {
				return err
			}
		}
		return nil
	}
	count, err := r.offsets(v, p)
	if err != nil {
		return err
	}
	v.Len = n
	for i, k := range r.kids {
		if err := k.build(v.Children[i], place{def: r.file.elemDef, rep: r.file.elemRep}, count); err != nil {
			return err
		}
	}
	return nil
}

// rowsAt counts the rows at p and sets the null bits of v, for n rows.
func (r *readNode) rowsAt(v *column.Vector, p place, n int) (int, error) {
	l := r.first
	row := 0
	v.Nulls = nil
	for i, d := range l.bdefs {
		if d < p.def || len(l.breps) > 0 && l.breps[i] > p.rep {
			continue
		}
		if d < r.file.def {
			if row >= n {
				return row + 1, nil
			}
			if v.Nulls == nil {
				v.MakeNulls(n)
			}
			v.Nulls.Set(row)
		}
		row++
	}
	return row, nil
}

// offsets sets the offsets of a list or map and returns the number of its
// elements.
func (r *readNode) offsets(v *column.Vector, p place) (int, error) {
	l, f := r.first, r.file
	v.Offsets = v.Offsets[:0]
	count := int32(0)
	for i, d := range l.bdefs {
		rep := l.breps[i]
		if d >= p.def && rep <= p.rep {
			v.Offsets = append(v.Offsets, count)
		}
		if d >= f.elemDef && rep <= f.elemRep {
			if len(v.Offsets) == 0 {
				return 0, l.f.corruptf("column %s: an element without its list", f.name)
			}
			count++
		}
	}
	v.Offsets = append(v.Offsets, count)
	return int(count), nil
}

// setNull makes v n null rows.
func setNull(v *column.Vector, n int) {
	v.Resize(1)
	switch column.PhysicalOf(v.Type) {
	case column.PhysBytes, column.PhysList:
		v.Offsets = append(v.Offsets, 0)
		for _, c := range v.Children {
			c.Resize(0)
		}
	case column.PhysStruct:
		for _, c := range v.Children {
			setNull(c, n)
		}
	}
	v.Const, v.Len = true, n
	if v.Type.Kind != schema.Void {
		v.MakeNulls(1).Set(0)
	}
}
