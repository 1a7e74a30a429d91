package funcs

import (
	"slices"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var lambdaFunctions = []*Function{
	custom("transform", "lambda", "transform(array, func)", "The array of the function's results; the function may take the position too.", bindTransform).
		example("SELECT transform(array(1, 2, 3), x -> x + 1)", "[2,3,4]"),
	custom("filter", "lambda", "filter(array, func)", "The elements for which the function is true.", bindFilter).
		example("SELECT filter(array(1, 2, 3), x -> x % 2 == 1)", "[1,3]"),
	custom("exists", "lambda", "exists(array, pred)", "True when the predicate holds for an element.", func(s *Session, args []Arg) (*Bound, error) {
		return bindQuantifier(args, "exists", true)
	}).example("SELECT exists(array(1, 2, 3), x -> x % 2 == 0)", "true"),
	custom("forall", "lambda", "forall(array, pred)", "True when the predicate holds for all elements.", func(s *Session, args []Arg) (*Bound, error) {
		return bindQuantifier(args, "forall", false)
	}).example("SELECT forall(array(1, 2, 3), x -> x % 2 == 0)", "false"),
	foldFunction("aggregate"), foldFunction("reduce"),
	custom("zip_with", "lambda", "zip_with(left, right, func)", "The function's results for the elements at the same positions.", bindZipWith).
		example("SELECT zip_with(array(1, 2), array(3, 4), (x, y) -> x + y)", "[4,6]"),
	custom("array_sort", "lambda", "array_sort(array[, func])", "The array in ascending order with nulls last, or in the comparator's order.", bindArraySort).
		example("SELECT array_sort(array(5, 6, 1), (l, r) -> r - l)", "[6,5,1]"),
	sortArrayFunction(),
}

// lambdaCall looks after the function arguments of one call.
type lambdaCall struct {
	name string
	args []Arg
	b    *Bound
}

func newLambdaCall(name string, args []Arg, lo, hi int) (*lambdaCall, error) {
	if err := checkCount(name, lo, hi, len(args)); err != nil {
		return nil, err
	}
	l := &lambdaCall{name: name, args: args, b: &Bound{Args: make([]schema.Type, len(args)), Lambdas: map[int][]schema.Field{}}}
	for i, a := range args {
		l.b.Args[i] = a.Type
	}
	return l, nil
}

func (l *lambdaCall) text() string { return callText(l.name, l.args) }

// array checks that argument i is an array.
func (l *lambdaCall) array(i int) (schema.Type, error) {
	a := l.args[i]
	if a.Lambda != nil || a.Type.Kind != schema.Array {
		return a.Type, errInputType(l.text(), i, `"ARRAY"`, a)
	}
	l.b.Nullable = l.b.Nullable || a.Nullable
	return a.Type, nil
}

// body binds the function argument i. An argument that is no lambda is a
// function that ignores its parameters.
func (l *lambdaCall) body(i int, params ...schema.Field) (schema.Field, error) {
	a := l.args[i]
	if a.Lambda == nil {
		return schema.Field{Type: a.Type, Nullable: a.Nullable}, nil
	}
	if a.Lambda.Params < len(params) { // trailing parameters may be left out
		params = params[:a.Lambda.Params]
	}
	f, err := a.Lambda.Bind(params)
	if err != nil {
		return f, err
	}
	l.args[i].Type = f.Type
	l.b.Lambdas[i], l.b.CanFail = params, true
	return f, nil
}

// exact is body for functions that take exactly these parameters.
func (l *lambdaCall) exact(i int, params ...schema.Field) (schema.Field, error) {
	if la := l.args[i].Lambda; la != nil && la.Params != len(params) {
		return schema.Field{}, errLambdaParams(la.Params, len(params))
	}
	return l.body(i, params...)
}

func errLambdaParams(got, want int) *Error {
	return NewError("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH", "Invalid lambda function call. A higher order function expects "+intLiteral(int64(got), tInt)+
		" arguments, but got "+intLiteral(int64(want), tInt)+".", map[string]string{"expectedNumArgs": intLiteral(int64(got), tInt), "actualNumArgs": intLiteral(int64(want), tInt)})
}

// predicate checks that argument i gives a BOOLEAN.
func (l *lambdaCall) predicate(i int, f schema.Field) error {
	if f.Type.Kind != schema.Boolean {
		a := l.args[i]
		a.Type = f.Type
		return errInputType(l.text(), i, `"BOOLEAN"`, a)
	}
	return nil
}

// elements are rows of lambda parameters, spread over the lists of a batch.
type elements struct {
	params []*vector
	outer  []int32 // parameter row -> batch row
	rows   []int32 // parameter row -> child row, when the children were gathered
	sizes  []int32 // list lengths, where they are not those of an argument
	set    rowSet
	bad    []badRow
}

func (c *Ctx) elements() *elements {
	e, ok := c.Scratch.(*elements)
	if !ok {
		e = &elements{}
		c.Scratch = e
	}
	e.outer, e.rows, e.params = e.outer[:0], e.rows[:0], e.params[:0]
	return e
}

// spread takes the elements of the lists of v in the rows to compute that are
// not null in out, and passes the given children as parameters.
func (e *elements) spread(c *Ctx, out, v *vector, children ...*vector) {
	dense, next := c.Sel == nil && !v.Const, 0
	c.live(out, func(i int) {
		from, to := v.List(i)
		dense = dense && from == next
		next = to
		for k := from; k < to; k++ {
			e.outer, e.rows = append(e.outer, int32(i)), append(e.rows, int32(k))
		}
	})
	for _, child := range children {
		if dense && next == child.Len {
			e.params = append(e.params, child.Retain())
			continue
		}
		g := c.Pool.Vector(child.Type)
		column.AppendRows(g, child, e.rows)
		e.params = append(e.params, g)
	}
}

// positions adds the place of each element in its list as a parameter.
func (e *elements) positions(c *Ctx) {
	p := c.Pool.Vector(tInt)
	p.Resize(len(e.outer))
	at, last := int32(0), int32(-1)
	for k, i := range e.outer {
		if i != last {
			at, last = 0, i
		}
		p.I32[k] = at
		at++
	}
	e.params = append(e.params, p)
}

// run evaluates function argument i of the call for the elements and gives a
// flat vector. The parameters stay until release.
func (e *elements) run(c *Ctx, args []*vector, i int) *vector {
	return c.runLambda(args, i, e.params, e.outer)
}

func (c *Ctx) runLambda(args []*vector, i int, params []*vector, outer []int32) *vector {
	if args[i] != nil { // no lambda: the value of the row
		r := c.Pool.Vector(args[i].Type)
		column.AppendRows(r, args[i], outer)
		return r
	}
	r := c.Lambda(i, params, outer)
	flat := column.Flatten(c.Pool, r)
	r.Release()
	return flat
}

func (e *elements) release() {
	for i, p := range e.params {
		p.Release()
		e.params[i] = nil
	}
	e.params = e.params[:0]
}

// failRows gives the rows of out the errors of their elements.
func (e *elements) failRows(out, r *vector) {
	if !r.Errs.Any() {
		return
	}
	for k, i := range e.outer { // in order, so that the first error stays
		if err := r.Errs.At(k); err != nil {
			out.Fail(int(i), err)
		}
	}
}

func bindTransform(_ *Session, args []Arg) (*Bound, error) {
	l, err := newLambdaCall("transform", args, 2, 2)
	if err != nil {
		return nil, err
	}
	t, err := l.array(0)
	if err != nil {
		return nil, err
	}
	f, err := l.body(1, schema.Field{Name: "x", Type: *t.Elem, Nullable: t.ElemNullable}, schema.Field{Name: "i", Type: tInt})
	if err != nil {
		return nil, err
	}
	l.b.Result, l.b.Kernel = schema.ArrayOf(f.Type, f.Nullable), transformKernel(len(l.b.Lambdas[1]) > 1)
	return l.b, nil
}

func transformKernel(position bool) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		e := c.elements()
		e.spread(c, out, args[0], args[0].Children[0])
		if position {
			e.positions(c)
		}
		r := e.run(c, args, 1)
		e.release()
		c.appendResults(out, out.Children[0], r, args[0])
		e.failRows(out, r)
		r.Release()
	}
}

// appendResults makes each live row of out the list of the next results, as
// many as the row of sizes has elements.
func (c *Ctx) appendResults(out, dst, r, sizes *vector) {
	next := 0
	c.appendLists(out, func(i int) {
		from, to := sizes.List(i)
		appendValues(dst, r, next, next+to-from)
		next += to - from
	})
}

// appendValues is AppendRange without errors: they were reported already or
// will be.
func appendValues(dst, src *vector, from, to int) {
	errs := src.Errs
	src.Errs = nil
	column.AppendRange(dst, src, from, to)
	src.Errs = errs
}

func bindFilter(_ *Session, args []Arg) (*Bound, error) {
	l, err := newLambdaCall("filter", args, 2, 2)
	if err != nil {
		return nil, err
	}
	t, err := l.array(0)
	if err != nil {
		return nil, err
	}
	f, err := l.body(1, schema.Field{Name: "x", Type: *t.Elem, Nullable: t.ElemNullable}, schema.Field{Name: "i", Type: tInt})
	if err == nil {
		err = l.predicate(1, f)
	}
	if err != nil {
		return nil, err
	}
	position := len(l.b.Lambdas[1]) > 1
	l.b.Result = t
	l.b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		e := c.elements()
		e.spread(c, out, args[0], args[0].Children[0])
		if position {
			e.positions(c)
		}
		r := e.run(c, args, 1)
		e.release()
		e.failRows(out, r)
		c.appendFiltered(out, args[0], r)
		r.Release()
	}
	return l.b, nil
}

// appendFiltered keeps the elements of the lists of v for which r, one row an
// element, is true.
func (c *Ctx) appendFiltered(out, v, r *vector) {
	failed := out.Errs.Any()
	next := 0
	rows := make([]int32, 0, 64)
	c.appendListsOf(out, v, failed, func(i int) {
		from, to := v.List(i)
		rows = rows[:0]
		for k := from; k < to; k++ {
			if r.Bool[next] && !r.Nulls.Get(next) {
				rows = append(rows, int32(k))
			}
			next++
		}
		for k, child := range v.Children {
			column.AppendRows(out.Children[k], child, rows)
		}
	}, func(n int) { next += n })
}

// appendListsOf is appendLists where rows that failed since the lambda ran
// still own results, which skip passes over.
func (c *Ctx) appendListsOf(out, v *vector, failed bool, f func(i int), skip func(n int)) {
	if !failed {
		c.appendLists(out, f)
		return
	}
	nulls := out.Nulls
	errs := out.Errs
	out.Nulls = nil
	c.appendLists(out, func(i int) {
		switch {
		case errs.At(i) != nil:
			from, to := v.List(i)
			skip(to - from)
		case !nulls.Get(i):
			f(i)
		}
	})
	out.Nulls = nulls
}

func bindQuantifier(args []Arg, name string, some bool) (*Bound, error) {
	l, err := newLambdaCall(name, args, 2, 2)
	if err != nil {
		return nil, err
	}
	t, err := l.array(0)
	if err != nil {
		return nil, err
	}
	f, err := l.exact(1, schema.Field{Name: "x", Type: *t.Elem, Nullable: t.ElemNullable})
	if err == nil {
		err = l.predicate(1, f)
	}
	if err != nil {
		return nil, err
	}
	l.b.Result, l.b.Nullable = tBool, l.b.Nullable || f.Nullable
	l.b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		e := c.elements()
		e.spread(c, out, args[0], args[0].Children[0])
		r := e.run(c, args, 1)
		e.release()
		next := 0
		c.live(out, func(i int) {
			from, to := args[0].List(i)
			end := next + to - from
			quantify(out, r, resultsOf{i, next, end}, some)
			next = end
		})
		r.Release()
	}
	return l.b, nil
}

// resultsOf are the results [from, to) of one row.
type resultsOf struct{ row, from, to int }

// quantify decides a row from its results: they are looked at in order, so
// that an error behind the decision does not count.
func quantify(out, r *vector, of resultsOf, some bool) {
	i, null := of.row, false
	out.Bool[i] = !some
	for k := of.from; k < of.to; k++ {
		if err := r.Errs.At(k); err != nil {
			out.Fail(i, err)
			return
		}
		switch {
		case r.Nulls.Get(k):
			null = true
		case r.Bool[k] == some:
			out.Bool[i] = some
			return
		}
	}
	if null {
		out.SetNull(i)
	}
}

func foldFunction(name string) *Function {
	return custom(name, "lambda", name+"(array, start, merge[, finish])", "The elements folded into one value.", func(_ *Session, args []Arg) (*Bound, error) {
		b, err := bindFold(name, args)
		if b != nil && len(args) == 3 {
			b.Print = func(a []string) string {
				return name + "(" + joinTexts(a) + ", lambdafunction(namedlambdavariable(), namedlambdavariable()))"
			}
		}
		return b, err
	}).example("SELECT "+name+"(array(1, 2, 3), 0, (acc, x) -> acc + x)", "6")
}

func bindFold(name string, args []Arg) (*Bound, error) {
	l, err := newLambdaCall(name, args, 3, 4)
	if err != nil {
		return nil, err
	}
	t, err := l.array(0)
	if err != nil {
		return nil, err
	}
	if args[1].Lambda != nil {
		return nil, errInputType(l.text(), 1, `"ANY"`, args[1])
	}
	zero := args[1].Type
	acc := schema.Field{Name: "acc", Type: zero, Nullable: true}
	f, err := l.exact(2, acc, schema.Field{Name: "x", Type: *t.Elem, Nullable: t.ElemNullable})
	if err != nil {
		return nil, err
	}
	if !sameStructure(zero, f.Type) {
		a := args[2]
		a.Type = f.Type
		return nil, errInputType(l.text(), 2, quoteType(zero), a)
	}
	result := schema.Field{Type: zero}
	if len(args) > 3 {
		if result, err = l.exact(3, acc); err != nil {
			return nil, err
		}
	}
	l.b.Result, l.b.Nullable, l.b.Nulls, l.b.Kernel = result.Type, true, NullAware, foldKernel
	return l.b, nil
}

// sameStructure compares types without field names and nullability.
func sameStructure(a, b schema.Type) bool {
	if a.Kind != schema.Struct || b.Kind != schema.Struct {
		return a.SameShape(b)
	}
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := range a.Fields {
		if !sameStructure(a.Fields[i].Type, b.Fields[i].Type) {
			return false
		}
	}
	return true
}

// foldState is the scratch of aggregate.
type foldState struct {
	rows  []int32 // batch rows, longest list first
	elems []int32
	place []int32 // batch row -> row of the results, -1 for null
}

// foldKernel folds all lists in step: step k evaluates the function once for
// the k-th elements of all lists that have one.
func foldKernel(c *Ctx, args []*vector, out *vector) {
	st, ok := c.Scratch.(*foldState)
	if !ok {
		st = &foldState{}
		c.Scratch = st
	}
	list := args[0]
	size := func(i int32) int {
		from, to := list.List(int(i))
		return to - from
	}
	st.rows, st.place = st.rows[:0], st.place[:0]
	for range c.Rows {
		st.place = append(st.place, -1)
	}
	c.Each(func(i int) {
		if !list.IsNull(i) {
			st.rows = append(st.rows, int32(i))
		}
	})
	slices.SortStableFunc(st.rows, func(a, b int32) int { return size(b) - size(a) })
	done := c.Pool.Vector(args[1].Type) // results, shortest list first
	acc := c.Pool.Vector(args[1].Type)
	column.AppendRows(acc, args[1], st.rows)
	active := len(st.rows)
	for k := 0; active > 0; k++ {
		left := active
		for left > 0 && size(st.rows[left-1]) == k {
			left--
			st.place[st.rows[left]] = int32(done.Len)
			column.AppendRow(done, acc, left)
		}
		if active = left; active > 0 {
			acc = st.step(c, args, acc, active, k)
		}
	}
	acc.Release()
	if len(args) > 3 {
		done = st.finish(c, args, done)
	}
	column.Gather(out, done, st.place)
	done.Release()
}

// step folds element k of the first n lists into acc and gives the new acc.
func (st *foldState) step(c *Ctx, args []*vector, acc *vector, n, k int) *vector {
	st.elems = st.elems[:0]
	for _, i := range st.rows[:n] {
		from, _ := args[0].List(int(i))
		st.elems = append(st.elems, int32(from+k))
	}
	x := c.Pool.Vector(args[0].Children[0].Type)
	column.AppendRows(x, args[0].Children[0], st.elems)
	if acc.Len > n {
		shorter := c.Pool.Vector(acc.Type)
		column.AppendRange(shorter, acc, 0, n)
		acc.Release()
		acc = shorter
	}
	r := c.runLambda(args, 2, []*vector{acc, x}, st.rows[:n])
	x.Release()
	if acc.Errs.Any() { // a failed row stays failed whatever the function does
		kept := c.Pool.Vector(r.Type)
		column.AppendRange(kept, r, 0, n)
		acc.Errs.Each(kept.FailOver)
		r.Release()
		r = kept
	}
	acc.Release()
	return r
}

// finish maps the accumulated values through the last function.
func (st *foldState) finish(c *Ctx, args []*vector, done *vector) *vector {
	outer := make([]int32, done.Len)
	for i, p := range st.place {
		if p >= 0 {
			outer[p] = int32(i)
		}
	}
	r := c.runLambda(args, 3, []*vector{done}, outer)
	done.Release()
	return r
}

func bindZipWith(_ *Session, args []Arg) (*Bound, error) {
	l, err := newLambdaCall("zip_with", args, 3, 3)
	if err != nil {
		return nil, err
	}
	a, err := l.array(0)
	if err != nil {
		return nil, err
	}
	b, err := l.array(1)
	if err != nil {
		return nil, err
	}
	f, err := l.exact(2, schema.Field{Name: "x", Type: *a.Elem, Nullable: true}, schema.Field{Name: "y", Type: *b.Elem, Nullable: true})
	if err != nil {
		return nil, err
	}
	l.b.Result, l.b.Kernel = schema.ArrayOf(f.Type, f.Nullable), zipWithKernel
	return l.b, nil
}

func zipWithKernel(c *Ctx, args []*vector, out *vector) {
	e := c.elements()
	left, right := c.Pool.Vector(args[0].Children[0].Type), c.Pool.Vector(args[1].Children[0].Type)
	size := func(i int) (n, a, b, af, bf int) {
		af, at := args[0].List(i)
		bf, bt := args[1].List(i)
		a, b = at-af, bt-bf
		return max(a, b), a, b, af, bf
	}
	c.live(out, func(i int) {
		n, a, b, af, bf := size(i)
		column.AppendRange(left, args[0].Children[0], af, af+a)
		column.AppendRange(right, args[1].Children[0], bf, bf+b)
		for range n - a {
			left.AppendNull()
		}
		for range n - b {
			right.AppendNull()
		}
		for range n {
			e.outer = append(e.outer, int32(i))
		}
	})
	e.params = append(e.params, left, right)
	r := e.run(c, args, 2)
	e.release()
	next := 0
	c.appendLists(out, func(i int) {
		n, _, _, _, _ := size(i)
		appendValues(out.Children[0], r, next, next+n)
		next += n
	})
	e.failRows(out, r)
	r.Release()
}
