package expr

import (
	"slices"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// logicNode is AND (or false) or OR (or true): operand k+1 runs only on rows
// that the operands before did not decide.
type logicNode struct {
	args []node
	or   bool
	bufs [2][]int32
}

func (c *compiler) compileLogic(args []logical.Expr, or bool) (node, error) {
	ns, err := c.compileAll(args)
	if err != nil {
		return nil, err
	}
	return &logicNode{args: ns, or: or}, nil
}

func (x *logicNode) eval(f *frame, sel []int32) *column.Vector {
	out := f.ev.Pool.Vector(schema.Of(schema.Boolean))
	out.Resize(f.n)
	for i := range out.Bool {
		out.Bool[i] = !x.or
	}
	cur := sel
	for k, a := range x.args {
		if cur != nil && len(cur) == 0 {
			break
		}
		v := a.eval(f, cur)
		cur = x.combine(f, out, v, cur, k)
		v.Release()
	}
	return out
}

// combine folds operand k into out and returns the rows still open.
func (x *logicNode) combine(f *frame, out, v *column.Vector, cur []int32, k int) []int32 {
	if v.Const {
		return x.combineConst(f, out, v, cur, k)
	}
	if v.Dict != nil {
		flat := column.Flatten(f.ev.Pool, v)
		defer flat.Release()
		v = flat
	}
	next := reuse(x.bufs[k&1])
	plain := v.Nulls == nil && out.Nulls == nil
	switch {
	case plain && cur == nil && k == 0: // nothing is decided yet: the operand is the result so far
		copy(out.Bool, v.Bool[:f.n])
		next = pickOpen(v.Bool[:f.n], x.or, next)
	case plain && cur != nil:
		next = decide(out.Bool, v.Bool, x.or, cur, next)
	default:
		each(f.n, cur, func(i int) { next = x.combineRow(out, v, i, next) })
	}
	x.bufs[k&1] = next
	if cur == nil && len(next) == f.n {
		return nil
	}
	return next
}

// pickOpen appends the places that are not decided by value or.
func pickOpen(values []bool, or bool, next []int32) []int32 {
	next = slices.Grow(next, len(values))[:len(values)]
	k := 0
	for i, t := range values {
		next[k] = int32(i)
		if t != or {
			k++
		}
	}
	return next[:k]
}

// decide takes over the values at cur and keeps the rows that stay open.
func decide(out, values []bool, or bool, cur, next []int32) []int32 {
	next = slices.Grow(next, len(cur))[:len(cur)]
	k := 0
	for _, i := range cur {
		t := values[i]
		out[i] = t
		next[k] = i
		if t != or {
			k++
		}
	}
	return next[:k]
}

func (x *logicNode) combineRow(out, v *column.Vector, i int, next []int32) []int32 {
	if v.Errs != nil {
		if err := v.Errs.At(i); err != nil {
			out.Fail(i, err)
			return next
		}
	}
	switch {
	case v.Nulls.Get(i):
		out.SetNull(i)
	case v.Bool[i] == x.or:
		out.Bool[i] = x.or
		if out.Nulls.Get(i) {
			out.Nulls.Unset(i)
		}
		return next
	}
	return append(next, int32(i))
}

func (x *logicNode) combineConst(f *frame, out, v *column.Vector, cur []int32, k int) []int32 {
	if err := v.Errs.At(0); err != nil {
		each(f.n, cur, func(i int) { out.Fail(i, err) })
		return []int32{}
	}
	if v.IsNull(0) {
		each(f.n, cur, out.SetNull)
		return cur
	}
	if v.Bool[0] != x.or {
		return cur
	}
	each(f.n, cur, func(i int) {
		out.Bool[i] = x.or
		if out.Nulls.Get(i) {
			out.Nulls.Unset(i)
		}
	})
	return []int32{}
}

// caseNode is CASE WHEN: branch k runs only on the rows that take it.
type caseNode struct {
	whens, thens []node
	last         node // nil: NULL
	result       schema.Type

	rest  [2][]int32
	taken [][]int32
	parts []*column.Vector
	which []int32
}

func (c *compiler) compileCase(e *logical.Case) (node, error) {
	x := &caseNode{result: e.T}
	for _, b := range e.Branches {
		w, err := c.compile(b.When)
		if err != nil {
			return nil, err
		}
		t, err := c.compile(b.Then)
		if err != nil {
			return nil, err
		}
		x.whens, x.thens = append(x.whens, w), append(x.thens, t)
	}
	if e.Else != nil {
		n, err := c.compile(e.Else)
		if err != nil {
			return nil, err
		}
		x.last = n
	}
	x.taken = make([][]int32, len(x.whens)+1)
	x.parts = make([]*column.Vector, len(x.whens)+1)
	return x, nil
}

func (x *caseNode) eval(f *frame, sel []int32) *column.Vector {
	rest := sel
	var marks *column.Vector // rows whose condition failed
	for k, w := range x.whens {
		x.taken[k] = x.taken[k][:0]
		if rest != nil && len(rest) == 0 {
			continue
		}
		v := w.eval(f, rest)
		if v.Errs.Any() && marks == nil {
			marks = f.ev.Pool.Vector(x.result)
		}
		rest = x.split(f, v, rest, k, marks)
		v.Release()
		if marks == nil && len(x.taken[k]) == selected(f, sel) { // every row takes this branch
			return x.thens[k].eval(f, sel)
		}
	}
	for k := range x.thens {
		if len(x.taken[k]) > 0 {
			x.parts[k] = x.thens[k].eval(f, x.taken[k])
		}
	}
	n := len(x.thens)
	if x.last != nil && (rest == nil || len(rest) > 0) {
		if rest == nil && marks == nil {
			return x.last.eval(f, nil)
		}
		x.taken[n] = appendSel(x.taken[n][:0], rest, f.n)
		x.parts[n] = x.last.eval(f, x.taken[n])
	} else {
		x.taken[n] = x.taken[n][:0]
	}
	out := x.merge(f)
	if marks != nil {
		marks.Errs.Each(out.FailOver)
		marks.Release()
	}
	return out
}

func selected(f *frame, sel []int32) int {
	if sel == nil {
		return f.n
	}
	return len(sel)
}

func appendSel(dst, sel []int32, n int) []int32 {
	if sel != nil {
		return append(dst, sel...)
	}
	for i := range n {
		dst = append(dst, int32(i))
	}
	return dst
}

// split distributes the rows of cur by condition k: true to taken[k], failed
// to marks, the others are returned.
func (x *caseNode) split(f *frame, v *column.Vector, cur []int32, k int, marks *column.Vector) []int32 {
	taken, rest := x.taken[k], reuse(x.rest[k&1])
	each(f.n, cur, func(i int) {
		r := v.Row(i)
		if v.Errs != nil {
			if err := v.Errs.At(r); err != nil {
				marks.Fail(i, err)
				return
			}
		}
		if !v.IsNull(i) && boolAt(v, i) {
			taken = append(taken, int32(i))
		} else {
			rest = append(rest, int32(i))
		}
	})
	x.taken[k], x.rest[k&1] = taken, rest
	if cur == nil && len(rest) == f.n {
		return nil
	}
	return rest
}

func boolAt(v *column.Vector, i int) bool {
	if v.Dict != nil {
		return v.Dict.Bool[v.Index[i]]
	}
	return v.Bool[v.Row(i)]
}

func (x *caseNode) merge(f *frame) *column.Vector {
	if cap(x.which) < f.n {
		x.which = make([]int32, f.n)
	}
	which := x.which[:f.n]
	for i := range which {
		which[i] = -1
	}
	for k, rows := range x.taken {
		if x.parts[k] == nil {
			continue
		}
		for _, i := range rows {
			which[i] = int32(k)
		}
	}
	out := mergeRows(f.ev.Pool, x.result, x.parts, which)
	for k, p := range x.parts {
		if p != nil {
			p.Release()
			x.parts[k] = nil
		}
	}
	return out
}

// mergeRows builds a vector whose row i is row i of parts[which[i]], or null.
func mergeRows(p *column.Pool, t schema.Type, parts []*column.Vector, which []int32) *column.Vector {
	out := p.Vector(t)
	if mergeFixed(out, parts, which) {
		return out
	}
	for i := 0; i < len(which); {
		k, from := which[i], i
		for i++; i < len(which) && which[i] == k; i++ {
		}
		if k < 0 {
			for range i - from {
				out.AppendNull()
			}
			continue
		}
		column.AppendRange(out, parts[k], from, i)
	}
	return out
}

// mergeFixed is mergeRows for the common fixed-width types without errors.
func mergeFixed(out *column.Vector, parts []*column.Vector, which []int32) bool {
	for _, v := range parts {
		if v != nil && (v.Errs != nil || v.Dict != nil || v.Type.Kind == schema.Void) {
			return false
		}
	}
	switch column.PhysicalOf(out.Type) {
	case column.PhysI32:
		out.Resize(len(which))
		mergeSlice(out, out.I32, parts, which, func(v *column.Vector) []int32 { return v.I32 })
	case column.PhysI64:
		out.Resize(len(which))
		mergeSlice(out, out.I64, parts, which, func(v *column.Vector) []int64 { return v.I64 })
	case column.PhysF64:
		out.Resize(len(which))
		mergeSlice(out, out.F64, parts, which, func(v *column.Vector) []float64 { return v.F64 })
	case column.PhysBool:
		out.Resize(len(which))
		mergeSlice(out, out.Bool, parts, which, func(v *column.Vector) []bool { return v.Bool })
	default:
		return false
	}
	return true
}

func mergeSlice[T any](out *column.Vector, dst []T, parts []*column.Vector, which []int32, get func(*column.Vector) []T) {
	for k, v := range parts {
		if v == nil {
			continue
		}
		src, constant := get(v), v.Const
		for i, w := range which {
			if int(w) != k {
				continue
			}
			r := i
			if constant {
				r = 0
			}
			dst[i] = src[r]
			if v.Nulls != nil && v.Nulls.Get(r) {
				out.SetNull(i)
			}
		}
	}
	for i, w := range which {
		if w < 0 {
			out.SetNull(i)
		}
	}
}

// coalesceNode evaluates each argument only on rows that are null so far.
type coalesceNode struct {
	args   []node
	result schema.Type

	bufs  [2][]int32
	parts []*column.Vector
	which []int32
}

func (x *coalesceNode) eval(f *frame, sel []int32) *column.Vector {
	first := x.args[0].eval(f, sel)
	if !first.HasNulls() {
		return first
	}
	if cap(x.which) < f.n {
		x.which = make([]int32, f.n)
	}
	which := x.which[:f.n]
	for i := range which {
		which[i] = -1
	}
	x.parts = append(x.parts[:0], first)
	cur := x.open(f, first, sel, which, 0)
	for k := 1; k < len(x.args) && (cur == nil || len(cur) > 0); k++ {
		v := x.args[k].eval(f, cur)
		x.parts = append(x.parts, v)
		cur = x.open(f, v, cur, which, k)
	}
	out := mergeRows(f.ev.Pool, x.result, x.parts, which)
	for k, p := range x.parts {
		p.Release()
		x.parts[k] = nil
	}
	return out
}

// open notes the rows that argument k settles (values and errors) and returns
// those that are still null.
func (x *coalesceNode) open(f *frame, v *column.Vector, cur, which []int32, k int) []int32 {
	next := reuse(x.bufs[k&1])
	each(f.n, cur, func(i int) {
		if v.IsNull(i) && v.Errs.At(v.Row(i)) == nil {
			next = append(next, int32(i))
			return
		}
		which[i] = int32(k)
	})
	x.bufs[k&1] = next
	return next
}

// reuse empties a buffer of rows. It is never nil, which would mean all rows.
func reuse(b []int32) []int32 {
	if b == nil {
		return make([]int32, 0, column.BatchRows)
	}
	return b[:0]
}
