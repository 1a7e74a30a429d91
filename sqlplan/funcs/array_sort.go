package funcs

import (
	"slices"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// pOnlyBool takes BOOLEAN only.
var pOnlyBool = param{`"BOOLEAN"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
	return tBool, t.Kind == schema.Boolean || t.Kind == schema.Void
}}

func sortArrayFunction() *Function {
	return define("sort_array", "array", "sort_array(array[, ascendingOrder])", "The array sorted: nulls first when ascending, last when descending.", signature{
		params: []param{pArray, pAny}, min: 1, infer: firstType, check: func(s *Session, call string, args []Arg) error {
			if len(args) == 2 && args[1].Type.Kind != schema.Boolean && args[1].Type.Kind != schema.Void {
				if args[1].Const == nil {
					return errNotFoldable(call, "ascendingOrder", tBool, args[1])
				}
				return errInputType(call, 1, pOnlyBool.want, args[1])
			}
			return orderedElements("sort_array")(s, call, args)
		},
		kernel: func(c *Ctx, args []*vector, out *vector) {
			elems := args[0].Children[0]
			sorted(c, args[0], out, func(i int, rows []int32) {
				down := len(args) > 1 && !args[1].Bool[args[1].Row(i)]
				slices.SortStableFunc(rows, func(a, b int32) int {
					if down {
						a, b = b, a
					}
					return column.Compare(elems, int(a), elems, int(b))
				})
			})
		},
	}).printed(func(a []string) string {
		if len(a) == 1 {
			a = append(a[:1:1], "true")
		}
		return "sort_array(" + joinTexts(a) + ")"
	}).example("SELECT sort_array(array('b', 'd', NULL, 'c', 'a'), true)", `[null,"a","b","c","d"]`)
}

// sorted makes each live row of out the list of v in the order that sort
// gives its child rows.
func sorted(c *Ctx, v, out *vector, sort func(i int, rows []int32)) {
	scratch, ok := c.Scratch.(*[]int32)
	if !ok {
		scratch = new([]int32)
		c.Scratch = scratch
	}
	c.appendLists(out, func(i int) {
		from, to := v.List(i)
		rows := (*scratch)[:0]
		for k := from; k < to; k++ {
			rows = append(rows, int32(k))
		}
		sort(i, rows)
		column.AppendRows(out.Children[0], v.Children[0], rows)
		*scratch = rows
	})
}

func bindArraySort(_ *Session, args []Arg) (*Bound, error) {
	const name = "array_sort"
	l, err := newLambdaCall(name, args, 1, 2)
	if err != nil {
		return nil, err
	}
	t, err := l.array(0)
	if err != nil {
		return nil, err
	}
	l.b.Result = t
	if len(args) == 1 {
		if !Orderable(*t.Elem) {
			return nil, errOrdering(name, l.text(), *t.Elem)
		}
		l.b.Kernel = sortNullsLast
		l.b.Print = func(a []string) string {
			return name + "(" + a[0] + ", lambdafunction((IF(((namedlambdavariable() IS NULL) AND (namedlambdavariable() IS NULL)), 0, " +
				"(IF((namedlambdavariable() IS NULL), 1, (IF((namedlambdavariable() IS NULL), -1, (IF((namedlambdavariable() < namedlambdavariable()), -1, " +
				"(IF((namedlambdavariable() > namedlambdavariable()), 1, 0)))))))))), namedlambdavariable(), namedlambdavariable()))"
		}
		return l.b, nil
	}
	e := schema.Field{Name: "l", Type: *t.Elem, Nullable: t.ElemNullable}
	f, err := l.exact(1, e, e)
	if err != nil {
		return nil, err
	}
	if f.Type.Kind != schema.Int32 {
		return nil, errMismatch("UNEXPECTED_RETURN_TYPE", l.text(), "The `"+name+"` requires return \"INT\" type, but the actual is "+quoteType(f.Type)+" type.",
			map[string]string{"functionName": "`" + name + "`", "expectedType": `"INT"`, "actualType": quoteType(f.Type)})
	}
	l.b.CanFail, l.b.Kernel = true, sortByLambda
	return l.b, nil
}

func sortNullsLast(c *Ctx, args []*vector, out *vector) {
	elems := args[0].Children[0]
	sorted(c, args[0], out, func(_ int, rows []int32) {
		slices.SortStableFunc(rows, func(a, b int32) int {
			an, bn := elems.IsNull(int(a)), elems.IsNull(int(b))
			switch {
			case an && bn:
				return 0
			case an:
				return 1
			case bn:
				return -1
			}
			return column.Compare(elems, int(a), elems, int(b))
		})
	})
}

// merge is the state of the merge sort of one list: of runs of width, the
// pair that starts at base is being merged.
type merge struct {
	row         int32
	from, n     int // place of the list in rows and spare
	width, base int
	a, b, k     int // next of the left run, next of the right run, next free place
	swapped     bool
}

// mergeSort sorts the lists of a batch at the same time, so that the
// comparator runs once for a step of all lists.
type mergeSort struct {
	rows, spare []int32 // child rows
	lists       []merge
	outer       []int32
	left, right []int32
	active      []int32 // lists that wait for a comparison
}

func errNullComparison() *Error {
	return NewError("COMPARATOR_RETURNS_NULL", `The comparator has returned a NULL for a comparison between two elements. It should return a positive integer for "greater than", `+
		`0 for "equal" and a negative integer for "less than". To revert to deprecated behavior where NULL is treated as 0 (equal), you must set "spark.sql.legacy.allowNullComparisonResultInArraySort" to "true".`, nil)
}

func sortByLambda(c *Ctx, args []*vector, out *vector) {
	m, ok := c.Scratch.(*mergeSort)
	if !ok {
		m = &mergeSort{}
		c.Scratch = m
	}
	m.rows, m.lists = m.rows[:0], m.lists[:0]
	c.live(out, func(i int) {
		from, to := args[0].List(i)
		m.lists = append(m.lists, merge{row: int32(i), from: len(m.rows), n: to - from, width: 1, b: 1})
		for k := from; k < to; k++ {
			m.rows = append(m.rows, int32(k))
		}
	})
	m.spare = append(m.spare[:0], m.rows...)
	for m.advance() {
		m.compare(c, args, out)
	}
	next := 0
	c.appendListsOf(out, args[0], out.Errs.Any(), func(i int) {
		l := &m.lists[next]
		next++
		rows := m.rows
		if l.swapped {
			rows = m.spare
		}
		column.AppendRows(out.Children[0], args[0].Children[0], rows[l.from:l.from+l.n])
	}, func(int) { next++ })
}

// buffers returns where the list is read and written in this pass.
func (m *mergeSort) buffers(l *merge) (src, dst []int32) {
	src, dst = m.rows[l.from:l.from+l.n], m.spare[l.from:l.from+l.n]
	if l.swapped {
		src, dst = dst, src
	}
	return src, dst
}

// advance moves each list up to its next comparison and collects those; it
// reports whether there are any.
func (m *mergeSort) advance() bool {
	m.active = m.active[:0]
	for x := range m.lists {
		if m.lists[x].toComparison(m) {
			m.active = append(m.active, int32(x))
		}
	}
	return len(m.active) > 0
}

// toComparison does what needs no comparison; false means that the list is
// sorted.
func (l *merge) toComparison(m *mergeSort) bool {
	for l.width < l.n {
		src, dst := m.buffers(l)
		mid, end := min(l.base+l.width, l.n), min(l.base+2*l.width, l.n)
		if l.a < mid && l.b < end {
			return true
		}
		l.k += copy(dst[l.k:], src[l.a:max(l.a, mid)])
		l.k += copy(dst[l.k:], src[min(l.b, end):end])
		l.base = end
		if l.base >= l.n {
			l.base, l.swapped = 0, !l.swapped
			l.width *= 2
		}
		l.a, l.b, l.k = l.base, l.base+l.width, l.base
	}
	return false
}

// compare runs the comparator for the lists that wait for it.
func (m *mergeSort) compare(c *Ctx, args []*vector, out *vector) {
	m.outer, m.left, m.right = m.outer[:0], m.left[:0], m.right[:0]
	for _, x := range m.active {
		l := &m.lists[x]
		src, _ := m.buffers(l)
		m.outer, m.left, m.right = append(m.outer, l.row), append(m.left, src[l.a]), append(m.right, src[l.b])
	}
	elems := args[0].Children[0]
	a, b := c.Pool.Vector(elems.Type), c.Pool.Vector(elems.Type)
	column.AppendRows(a, elems, m.left)
	column.AppendRows(b, elems, m.right)
	r := c.runLambda(args, 1, []*vector{a, b}, m.outer)
	a.Release()
	b.Release()
	for k, x := range m.active {
		l := &m.lists[x]
		switch err := r.Errs.At(k); {
		case err != nil:
			out.Fail(int(l.row), err)
			l.width = l.n
			continue
		case r.Nulls.Get(k) && c.Session.conf("spark.sql.legacy.allowNullComparisonResultInArraySort", "false") != "true":
			c.Fail(out, int(l.row), errNullComparison())
			l.width = l.n
			continue
		}
		src, dst := m.buffers(l)
		if r.Nulls.Get(k) || r.I32[k] <= 0 {
			dst[l.k] = src[l.a]
			l.a++
		} else {
			dst[l.k] = src[l.b]
			l.b++
		}
		l.k++
	}
	r.Release()
}
