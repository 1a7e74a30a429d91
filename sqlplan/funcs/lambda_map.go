package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var lambdaMapFunctions = []*Function{
	custom("map_filter", "lambda", "map_filter(map, func)", "The entries for which the function is true.", bindMapFilter).
		example("SELECT map_filter(map(1, 0, 2, 2, 3, -1), (k, v) -> k > v)", "{1:0,3:-1}"),
	custom("transform_values", "lambda", "transform_values(map, func)", "The map with the function's results for values.", bindTransformValues).
		example("SELECT transform_values(map(1, 1, 2, 2), (k, v) -> v + 1)", "{1:2,2:3}"),
	custom("transform_keys", "lambda", "transform_keys(map, func)", "The map with the function's results for keys.", bindTransformKeys).
		example("SELECT transform_keys(map(1, 1, 2, 2), (k, v) -> k + 1)", "{2:1,3:2}"),
	custom("map_zip_with", "lambda", "map_zip_with(map1, map2, func)", "The function's results for the values of each key of both maps.", bindMapZipWith).
		example("SELECT map_zip_with(map(1, 'a', 2, 'b'), map(1, 'x', 2, 'y'), (k, v1, v2) -> concat(v1, v2))", `{1:"ax",2:"by"}`),
}

// mapCall binds a call of one map and a function of key and value.
func mapCall(name string, args []Arg) (*lambdaCall, schema.Type, schema.Field, error) {
	l, err := newLambdaCall(name, args, 2, 2)
	if err != nil {
		return nil, schema.Type{}, schema.Field{}, err
	}
	t, err := l.mapArg(0)
	if err != nil {
		return nil, t, schema.Field{}, err
	}
	f, err := l.exact(1, schema.Field{Name: "k", Type: *t.Key}, schema.Field{Name: "v", Type: *t.Elem, Nullable: t.ElemNullable})
	return l, t, f, err
}

func (l *lambdaCall) mapArg(i int) (schema.Type, error) {
	a := l.args[i]
	if a.Lambda != nil || a.Type.Kind != schema.Map {
		return a.Type, errInputType(l.text(), i, `"MAP"`, a)
	}
	l.b.Nullable = l.b.Nullable || a.Nullable
	return a.Type, nil
}

// entryResults runs the function for all entries.
func entryResults(c *Ctx, args []*vector, out *vector) (*elements, *vector) {
	e := c.elements()
	e.spread(c, out, args[0], args[0].Children...)
	r := e.run(c, args, 1)
	e.release()
	return e, r
}

func bindMapFilter(_ *Session, args []Arg) (*Bound, error) {
	l, t, f, err := mapCall("map_filter", args)
	if err == nil {
		err = l.predicate(1, f)
	}
	if err != nil {
		return nil, err
	}
	l.b.Result = t
	l.b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		e, r := entryResults(c, args, out)
		e.failRows(out, r)
		c.appendFiltered(out, args[0], r)
		r.Release()
	}
	return l.b, nil
}

func bindTransformValues(_ *Session, args []Arg) (*Bound, error) {
	l, t, f, err := mapCall("transform_values", args)
	if err != nil {
		return nil, err
	}
	l.b.Result = schema.MapOf(*t.Key, f.Type, f.Nullable)
	l.b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		e, r := entryResults(c, args, out)
		next := 0
		c.appendLists(out, func(i int) {
			from, to := args[0].List(i)
			column.AppendRange(out.Children[0], args[0].Children[0], from, to)
			appendValues(out.Children[1], r, next, next+to-from)
			next += to - from
		})
		e.failRows(out, r)
		r.Release()
	}
	return l.b, nil
}

func bindTransformKeys(_ *Session, args []Arg) (*Bound, error) {
	l, t, f, err := mapCall("transform_keys", args)
	if err != nil {
		return nil, err
	}
	if typeHolds(f.Type, schema.Map) {
		return nil, errMapKey(l.text(), f.Type)
	}
	l.b.Result, l.b.CanFail = schema.MapOf(f.Type, *t.Elem, t.ElemNullable), true
	l.b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		e, r := entryResults(c, args, out)
		e.failRows(out, r)
		failed, next := out.Errs.Any(), 0
		c.appendListsOf(out, args[0], failed, func(i int) {
			from, to := args[0].List(i)
			start, first := out.Children[0].Len, next
			next += to - from
			for k := range to - from {
				if err := appendEntry(c.Session, out, start, entry{r, first + k, args[0].Children[1], from + k}); err != nil {
					dropEntries(out, start)
					e.bad = append(e.bad, badRow{i, err})
					return
				}
			}
		}, func(n int) { next += n })
		e.failBad(c, out)
		r.Release()
	}
	return l.b, nil
}

// badRow is a row whose map could not be built.
type badRow struct {
	row int
	err *Error
}

// failBad reports the rows that were put aside while lists were built.
func (e *elements) failBad(c *Ctx, out *vector) {
	for _, b := range e.bad {
		c.Fail(out, b.row, b.err)
	}
	e.bad = e.bad[:0]
}

func bindMapZipWith(s *Session, args []Arg) (*Bound, error) {
	const name = "map_zip_with"
	l, err := newLambdaCall(name, args, 3, 3)
	if err != nil {
		return nil, err
	}
	a, err := l.mapArg(0)
	if err != nil {
		return nil, err
	}
	b, err := l.mapArg(1)
	if err != nil {
		return nil, err
	}
	key, ok := widerType(s, *a.Key, *b.Key)
	if !ok {
		return nil, errMismatch("MAP_ZIP_WITH_DIFF_TYPES", l.text(), "Input to the `"+name+`" should have been two "MAP"s with compatible key types, but it's [`+
			quoteType(*a.Key)+", "+quoteType(*b.Key)+"].", map[string]string{"functionName": "`" + name + "`", "leftType": quoteType(*a.Key), "rightType": quoteType(*b.Key)})
	}
	if !Orderable(key) {
		return nil, errOrdering(name, l.text(), key)
	}
	l.b.Args[0], l.b.Args[1] = schema.MapOf(key, *a.Elem, a.ElemNullable), schema.MapOf(key, *b.Elem, b.ElemNullable)
	f, err := l.exact(2, schema.Field{Name: "k", Type: key}, schema.Field{Name: "v1", Type: *a.Elem, Nullable: true}, schema.Field{Name: "v2", Type: *b.Elem, Nullable: true})
	if err != nil {
		return nil, err
	}
	l.b.Result, l.b.Kernel = schema.MapOf(key, f.Type, f.Nullable), mapZipWithKernel
	return l.b, nil
}

func mapZipWithKernel(c *Ctx, args []*vector, out *vector) {
	e := c.elements()
	a, b := args[0], args[1]
	keys := c.Pool.Vector(a.Children[0].Type)
	v1, v2 := c.Pool.Vector(a.Children[1].Type), c.Pool.Vector(b.Children[1].Type)
	e.sizes = e.sizes[:0]
	c.live(out, func(i int) {
		start := keys.Len
		e.zipMaps([3]*vector{keys, v1, v2}, a, b, i)
		for range keys.Len - start {
			e.outer = append(e.outer, int32(i))
		}
		e.sizes = append(e.sizes, int32(keys.Len-start))
	})
	e.params = append(e.params, keys, v1, v2)
	r := e.run(c, args, 2)
	row, next := 0, 0
	c.appendLists(out, func(i int) {
		n := int(e.sizes[row])
		row++
		column.AppendRange(out.Children[0], keys, next, next+n)
		appendValues(out.Children[1], r, next, next+n)
		next += n
	})
	e.failRows(out, r)
	e.release()
	r.Release()
}

// zipMaps appends the keys of both maps of row i, each once, with their values
// or nulls.
func (e *elements) zipMaps(dst [3]*vector, a, b *vector, i int) {
	keys, v1, v2 := dst[0], dst[1], dst[2]
	af, at := a.List(i)
	bf, bt := b.List(i)
	e.set.load(b.Children[0], bf, bt)
	for k := af; k < at; k++ {
		column.AppendRow(keys, a.Children[0], k)
		column.AppendRow(v1, a.Children[1], k)
		if j := e.set.find(a.Children[0], k); j >= 0 {
			column.AppendRow(v2, b.Children[1], j)
		} else {
			v2.AppendNull()
		}
	}
	e.set.load(a.Children[0], af, at)
	for k := bf; k < bt; k++ {
		if !e.set.has(b.Children[0], k) {
			column.AppendRow(keys, b.Children[0], k)
			v1.AppendNull()
			column.AppendRow(v2, b.Children[1], k)
		}
	}
}
