package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var arraySetFunctions = []*Function{
	define("array_distinct", "array", "array_distinct(array)", "The array without the elements that came before.", signature{
		params: []param{pArray}, infer: firstType, check: orderedElements("array_distinct"),
		kernel: func(c *Ctx, args []*vector, out *vector) {
			set := c.rowSet()
			c.appendLists(out, func(i int) { set.appendNew(out.Children[0], args[0], i, nil, true) })
		},
	}).example("SELECT array_distinct(array(1, 2, 3, NULL, 3))", "[1,2,3,null]"),
	arraySet("array_union", "The elements of both arrays, each once.", func(c *Ctx, args []*vector, out *vector) {
		set := c.rowSet()
		c.appendLists(out, func(i int) {
			start := out.Children[0].Len
			set.appendNew(out.Children[0], args[0], i, nil, true)
			set.appendMore(out.Children[0], start, args[1], i)
		})
	}).example("SELECT array_union(array(1, 2, 3), array(1, 3, 5))", "[1,2,3,5]"),
	arraySet("array_intersect", "The elements that are in both arrays, each once.", func(c *Ctx, args []*vector, out *vector) {
		set := c.rowSet()
		c.appendLists(out, func(i int) { set.appendNew(out.Children[0], args[0], i, args[1], true) })
	}).example("SELECT array_intersect(array(1, 2, 3), array(1, 3, 5))", "[1,3]"),
	arraySet("array_except", "The elements of the first array that are not in the second, each once.", func(c *Ctx, args []*vector, out *vector) {
		set := c.rowSet()
		c.appendLists(out, func(i int) { set.appendNew(out.Children[0], args[0], i, args[1], false) })
	}).example("SELECT array_except(array(1, 2, 3), array(1, 3, 5))", "[2]"),
	overlapFunction().example("SELECT arrays_overlap(array(1, 2, 3), array(3, 4, 5))", "true"),
	arrayExtreme("array_min", "The smallest element that is not null.", -1).example("SELECT array_min(array(1, 20, NULL, 3))", "1"),
	arrayExtreme("array_max", "The greatest element that is not null.", 1).example("SELECT array_max(array(1, 20, NULL, 3))", "20"),
}

// orderedElements checks that the elements of the first argument can be
// compared.
func orderedElements(name string) func(*Session, string, []Arg) error {
	return func(_ *Session, call string, args []Arg) error {
		if t := args[0].Type; t.Kind == schema.Array && !Orderable(*t.Elem) {
			return errOrdering(name, call, *t.Elem)
		}
		return nil
	}
}

// twoArrays brings two arrays to one type.
func twoArrays(s *Session, name string, args []Arg) (schema.Type, error) {
	if err := checkCount(name, 2, 2, len(args)); err != nil {
		return schema.Type{}, err
	}
	l, r := args[0].Type, args[1].Type
	call := callText(name, args)
	if l.Kind == schema.Array && r.Kind == schema.Array {
		if t, ok := widerType(s, *l.Elem, *r.Elem); ok {
			if !Orderable(t) {
				return t, errOrdering(name, call, t)
			}
			return schema.ArrayOf(t, l.ElemNullable || r.ElemNullable), nil
		}
	}
	return schema.Type{}, errMismatch("BINARY_ARRAY_DIFF_TYPES", call, "Input to function `"+name+"` should have been two \"ARRAY\" with same element type, but it's ["+
		quoteType(l)+", "+quoteType(r)+"].", map[string]string{"functionName": "`" + name + "`", "arrayType": `"ARRAY"`, "leftType": quoteType(l), "rightType": quoteType(r)})
}

func arraySet(name, doc string, k Kernel) *Function {
	return custom(name, "array", name+"(array1, array2)", doc, func(s *Session, args []Arg) (*Bound, error) {
		t, err := twoArrays(s, name, args)
		if err != nil {
			return nil, err
		}
		return &Bound{Args: []schema.Type{t, t}, Result: t, Nullable: args[0].Nullable || args[1].Nullable, Kernel: k}, nil
	})
}

func overlapFunction() *Function {
	const name = "arrays_overlap"
	return custom(name, "array", name+"(a1, a2)", "True when the arrays share an element; NULL when nulls leave it open.", func(s *Session, args []Arg) (*Bound, error) {
		t, err := twoArrays(s, name, args)
		if err != nil {
			return nil, err
		}
		return &Bound{Args: []schema.Type{t, t}, Result: tBool, Nullable: args[0].Nullable || args[1].Nullable || t.ElemNullable, Kernel: overlapKernel}, nil
	})
}

func overlapKernel(c *Ctx, args []*vector, out *vector) {
	set := c.rowSet()
	l, r := args[0].Children[0], args[1].Children[0]
	c.live(out, func(i int) {
		out.Bool[i] = false
		lf, lt := args[0].List(i)
		rf, rt := args[1].List(i)
		if lf == lt || rf == rt {
			return
		}
		set.load(r, rf, rt)
		null := set.null
		for k := lf; k < lt; k++ {
			if l.IsNull(k) {
				null = true
			} else if set.has(l, k) {
				out.Bool[i] = true
				return
			}
		}
		if null {
			out.SetNull(i)
		}
	})
}

func arrayExtreme(name, doc string, sign int) *Function {
	return define(name, "array", name+"(array)", doc, signature{
		params: []param{pArray}, infer: func(t []schema.Type) schema.Type { return *t[0].Elem }, mayNull: true, check: orderedElements(name),
		kernel: func(c *Ctx, args []*vector, out *vector) {
			elems := args[0].Children[0]
			c.appendChosen(out, elems, func(i int) int {
				best := -1
				from, to := args[0].List(i)
				for k := from; k < to; k++ {
					if !elems.IsNull(k) && (best < 0 || sign*column.Compare(elems, k, elems, best) > 0) {
						best = k
					}
				}
				return best
			})
		},
	})
}

// appendChosen fills out with rows of src: choose gives for a row of the batch
// the row of src, or -1 for null. Rows that are null in out are not asked for.
func (c *Ctx) appendChosen(out, src *vector, choose func(i int) int) {
	nulls := out.Nulls
	rows := c.Pool.Vector(tInt)
	defer rows.Release()
	rows.Resize(c.Rows)
	for i := range rows.I32 {
		rows.I32[i] = -1
	}
	c.Each(func(i int) {
		if !nulls.Get(i) {
			rows.I32[i] = int32(choose(i))
		}
	})
	column.Gather(out, src, rows.I32)
}

// rowSet is a set of rows of one vector, by value.
type rowSet struct {
	v     *vector
	rows  []int32
	slots []int32 // 1 + place in rows; used above smallSet
	null  bool    // a null is among the rows
}

// smallSet is the size up to which a scan is as good as a table.
const smallSet = 8

func (c *Ctx) rowSet() *rowSet {
	s, ok := c.Scratch.(*rowSet)
	if !ok {
		s = &rowSet{}
		c.Scratch = s
	}
	return s
}

// reset empties the set and makes room for n rows of v.
func (s *rowSet) reset(v *vector, n int) {
	s.v, s.rows, s.null = v, s.rows[:0], false
	s.slots = s.slots[:0]
	if n <= smallSet {
		return
	}
	size := 16
	for size < 2*n {
		size *= 2
	}
	if cap(s.slots) < size {
		s.slots = make([]int32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
}

// load makes s the set of the rows [from, to) of v.
func (s *rowSet) load(v *vector, from, to int) {
	s.reset(v, to-from)
	for k := from; k < to; k++ {
		s.add(k)
	}
}

// slot returns where row i of v is or belongs in the table.
func (s *rowSet) slot(v *vector, i int) int {
	at := int(column.HashRow(v, i, 0)) & (len(s.slots) - 1)
	for s.slots[at] != 0 && !column.Equal(s.v, int(s.rows[s.slots[at]-1]), v, i) {
		at = (at + 1) & (len(s.slots) - 1)
	}
	return at
}

func (s *rowSet) has(v *vector, i int) bool { return s.find(v, i) >= 0 }

// find returns the row of the set that equals row i of v, or -1.
func (s *rowSet) find(v *vector, i int) int {
	if len(s.slots) > 0 {
		return s.at(s.slots[s.slot(v, i)])
	}
	for _, r := range s.rows {
		if column.Equal(s.v, int(r), v, i) {
			return int(r)
		}
	}
	return -1
}

func (s *rowSet) at(slot int32) int {
	if slot == 0 {
		return -1
	}
	return int(s.rows[slot-1])
}

// add puts row i of the set's own vector in, unless its value is there.
func (s *rowSet) add(i int) bool {
	if len(s.slots) == 0 {
		if s.has(s.v, i) {
			return false
		}
		s.rows = append(s.rows, int32(i))
	} else {
		at := s.slot(s.v, i)
		if s.slots[at] != 0 {
			return false
		}
		s.rows = append(s.rows, int32(i))
		s.slots[at] = int32(len(s.rows))
	}
	s.null = s.null || s.v.IsNull(i)
	return true
}

// appendNew appends to dst the elements of row i of v, each once. With a
// filter only those are taken that are (want) or are not among its row i.
func (s *rowSet) appendNew(dst, v *vector, i int, filter *vector, want bool) {
	elems := v.Children[0]
	from, to := v.List(i)
	keep := make([]int32, 0, 64)
	if filter != nil {
		ff, ft := filter.List(i)
		s.load(filter.Children[0], ff, ft)
		for k := from; k < to; k++ {
			if s.has(elems, k) == want {
				keep = append(keep, int32(k))
			}
		}
	} else {
		for k := from; k < to; k++ {
			keep = append(keep, int32(k))
		}
	}
	s.reset(elems, len(keep))
	for _, k := range keep {
		if s.add(int(k)) {
			column.AppendRow(dst, elems, int(k))
		}
	}
}

// appendMore appends to dst the elements of row i of v that are not among the
// rows of dst from start on.
func (s *rowSet) appendMore(dst *vector, start int, v *vector, i int) {
	elems := v.Children[0]
	from, to := v.List(i)
	s.reset(dst, dst.Len-start+to-from)
	for k := start; k < dst.Len; k++ {
		s.add(k)
	}
	for k := from; k < to; k++ {
		if !s.has(elems, k) {
			column.AppendRow(dst, elems, k)
			s.add(dst.Len - 1)
		}
	}
}
