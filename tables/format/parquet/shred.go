package parquet

import (
	"fmt"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// span names rows of a vector: rows, or [from, to) when rows is nil.
type span struct {
	rows     []int32
	from, to int
}

func (s span) len() int {
	if s.rows != nil {
		return len(s.rows)
	}
	return s.to - s.from
}

func (s span) at(i int) int {
	if s.rows != nil {
		return int(s.rows[i])
	}
	return s.from + i
}

// slot is one entry on its way down to a leaf: the row of the vector at hand,
// or -1 when the value ended above with level def.
type slot struct {
	row      int32
	rep, def uint8
}

// shredder splits the columns of a batch into leaves, with recycled scratch.
type shredder struct {
	rows    []int32
	entries []int32  // of a dictionary
	slots   [][]slot // by depth
}

// column adds the rows of s of one top-level column.
func (h *shredder) column(n *node, v *column.Vector, s span) error {
	if v.Errs.Any() {
		for i := range s.len() {
			if err := v.Errs.At(v.Row(s.at(i))); err != nil {
				return err
			}
		}
	}
	if n.leaf != nil {
		h.flat(n.leaf, v, s)
		return nil
	}
	slots := h.level(0)
	for i := range s.len() {
		slots = append(slots, slot{row: int32(s.at(i))})
	}
	h.slots[0] = slots
	return h.nested(n, v, slots, 0)
}

// flat adds a column without nesting.
func (h *shredder) flat(l *leaf, v *column.Vector, s span) {
	if v.Const {
		if v.IsNull(0) {
			for range s.len() {
				l.missing(0)
			}
			return
		}
		rows := h.rows[:0]
		for range s.len() {
			rows = append(rows, 0)
		}
		h.rows = rows
		l.present(len(rows))
		l.add(v, span{rows: rows})
		return
	}
	if !v.HasNulls() {
		l.present(s.len())
		h.values(l, v, s)
		return
	}
	rows := h.rows[:0]
	for i := range s.len() {
		r := s.at(i)
		if v.IsNull(r) {
			l.missing(0)
			continue
		}
		l.present(1)
		rows = append(rows, int32(r))
	}
	h.rows = rows
	h.values(l, v, span{rows: rows})
}

// values adds the payload of rows that are not null; v is flat or a dictionary.
func (h *shredder) values(l *leaf, v *column.Vector, s span) {
	if v.Dict == nil {
		l.add(v, s)
		return
	}
	if l.useDict {
		l.addRemapped(v, s)
		return
	}
	rows := h.entries[:0]
	for i := range s.len() {
		rows = append(rows, v.Index[s.at(i)])
	}
	h.entries = rows
	l.add(v.Dict, span{rows: rows})
}

func (h *shredder) level(depth int) []slot {
	for len(h.slots) <= depth {
		h.slots = append(h.slots, nil)
	}
	return h.slots[depth][:0]
}

// nested adds the slots, whose rows are rows of v, to the leaves below n.
func (h *shredder) nested(n *node, v *column.Vector, slots []slot, depth int) error {
	if err := h.enter(n, &v, slots); err != nil {
		return err
	}
	if n.leaf != nil {
		h.leafSlots(n.leaf, v, slots)
		return nil
	}
	if n.typ.Kind == schema.Struct {
		for i, kid := range n.kids {
			down := append(h.level(depth+1), slots...)
			h.slots[depth+1] = down
			if err := h.nested(kid, v.Children[n.child[i]], down, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	for i, kid := range n.kids {
		down := h.level(depth + 1)
		for _, s := range slots {
			if s.row < 0 {
				down = append(down, s)
				continue
			}
			from, to := v.List(int(s.row))
			if from == to {
				down = append(down, slot{row: -1, rep: s.rep, def: n.def})
				continue
			}
			down = append(down, slot{row: int32(from), rep: s.rep})
			for r := from + 1; r < to; r++ {
				down = append(down, slot{row: int32(r), rep: n.rep + 1})
			}
		}
		h.slots[depth+1] = down
		if err := h.nested(kid, v.Children[n.child[i]], down, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// enter ends the slots whose value is null and maps the others to the payload
// of a constant or dictionary vector.
func (h *shredder) enter(n *node, at **column.Vector, slots []slot) error {
	v := *at
	if v.Errs.Any() {
		for _, s := range slots {
			if s.row < 0 {
				continue
			}
			if err := v.Errs.At(v.Row(int(s.row))); err != nil {
				return err
			}
		}
	}
	if !v.HasNulls() && !v.Const && v.Dict == nil {
		return nil
	}
	for i := range slots {
		s := &slots[i]
		if s.row < 0 {
			continue
		}
		if v.IsNull(int(s.row)) {
			if n.required {
				return fmt.Errorf("parquet: a map key is null")
			}
			s.row, s.def = -1, n.def-1
			continue
		}
		s.row = int32(v.Row(int(s.row)))
		if v.Dict != nil {
			s.row = v.Index[s.row]
		}
	}
	if v.Dict != nil {
		*at = v.Dict
	}
	return nil
}

func (h *shredder) leafSlots(l *leaf, v *column.Vector, slots []slot) {
	rows := h.rows[:0]
	for _, s := range slots {
		if s.row < 0 {
			l.level(s.rep, s.def)
			continue
		}
		l.level(s.rep, l.def)
		rows = append(rows, s.row)
	}
	h.rows = rows
	l.add(v, span{rows: rows})
}
