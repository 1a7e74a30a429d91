package funcs

import (
	"strconv"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var nestedFunctions = []*Function{
	custom("array", "array", "array(expr, ...)", "An array of the values.", bindArray).example("SELECT array(1, 2, 3)", "[1,2,3]"),
	custom("map", "map", "map(key0, value0, key1, value1, ...)", "A map of the pairs.", bindMap).example("SELECT map(1.0, '2')", `{1.0:"2"}`),
	custom("named_struct", "struct", "named_struct(name1, val1, ...)", "A struct with the given field names.", bindNamedStruct).example("SELECT named_struct('a', 1)", `{"a":1}`),
	custom("struct", "struct", "struct(expr, ...)", "A struct whose fields are named after the columns, or col1, col2.", bindStruct).example("SELECT struct(1, 2)", `{"col1":1,"col2":2}`),
	custom("[]", "collection", "expr[index]", "An element of an array (from 0) or the value of a map's key.", bindIndex),
	custom("get", "array", "get(array, index)", "Element of an array, from 0; NULL outside.", func(_ *Session, args []Arg) (*Bound, error) {
		return bindElement(args, "get", false)
	}).example("SELECT get(array(1, 2), 0)", "1"),
	custom("element_at", "collection", "element_at(array, index), element_at(map, key)", "Element of an array, from 1, negative from the end; value of a key.", func(s *Session, args []Arg) (*Bound, error) {
		return bindElementAt(s, "element_at", args, false)
	}).example("SELECT element_at(array(1, 2, 3), 2)", "2"),
	custom("try_element_at", "collection", "try_element_at(array, index), try_element_at(map, key)", "element_at that gives NULL outside.", func(s *Session, args []Arg) (*Bound, error) {
		return bindElementAt(s, "try_element_at", args, true)
	}).example("SELECT try_element_at(array(1, 2, 3), 2)", "2"),
	sizeFunction("size", "Number of elements of an array or map.").alias("cardinality").example("SELECT size(array(1, 2))", "2"),
	define("array_size", "array", "array_size(array)", "Number of elements.", signature{
		params: []param{pArray}, result: tInt, kernel: sizeKernel,
	}).example("SELECT array_size(array('b', 'd'))", "2"),
}

func bindArray(s *Session, args []Arg) (*Bound, error) {
	t, err := commonArgs(s, "array", args, false)
	if err != nil {
		return nil, err
	}
	nullable := false
	for _, a := range args {
		nullable = nullable || a.Nullable
	}
	return &Bound{
		Args: repeatType(t, len(args)), Result: schema.ArrayOf(t, nullable), Nulls: NullAware,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendLists(out, func(i int) {
				for _, v := range args {
					column.AppendRow(out.Children[0], v, i)
				}
			})
		},
	}, nil
}

func bindMap(s *Session, args []Arg) (*Bound, error) {
	if len(args)%2 != 0 {
		return nil, errNumArgs("map", "2n (n > 0)", len(args))
	}
	var keys, values []Arg
	for i, a := range args {
		if i%2 == 0 {
			keys = append(keys, a)
		} else {
			values = append(values, a)
		}
	}
	kt, err := commonArgs(s, "map", keys, false)
	if err != nil {
		return nil, errMismatch("CREATE_MAP_KEY_DIFF_TYPES", callText("map", args), "The given keys of function `map` should all be the same type.", nil)
	}
	vt, err := commonArgs(s, "map", values, false)
	if err != nil {
		return nil, errMismatch("CREATE_MAP_VALUE_DIFF_TYPES", callText("map", args), "The given values of function `map` should all be the same type.", nil)
	}
	if typeHolds(kt, schema.Map) {
		return nil, errMapKey(callText("map", args), kt)
	}
	b := &Bound{Result: schema.MapOf(kt, vt, false), Nulls: NullAware, CanFail: true}
	for i, a := range args {
		if i%2 == 0 {
			b.Args = append(b.Args, kt)
		} else {
			b.Args = append(b.Args, vt)
			b.Result.ElemNullable = b.Result.ElemNullable || a.Nullable
		}
	}
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		c.appendLists(out, func(i int) {
			start := out.Children[0].Len
			for k := 0; k < len(args); k += 2 {
				if err := appendEntry(c.Session, out, start, entry{args[k], i, args[k+1], i}); err != nil {
					dropEntries(out, start)
					c.Fail(out, i, err)
					return
				}
			}
		})
	}
	return b, nil
}

func errMapKey(call string, t schema.Type) *Error {
	return errMismatch("INVALID_MAP_KEY_TYPE", call, "The key of map cannot be/contain "+quoteType(t)+".", map[string]string{"keyType": quoteType(t)})
}

// entry is one entry to be added to a map: where key and value are.
type entry struct {
	keys   *vector
	key    int
	values *vector
	value  int
}

// appendEntry adds an entry to the map that is being built in out from child
// row start on. A second equal key is an error, or wins in the first one's
// place when the session asks for LAST_WIN.
func appendEntry(s *Session, out *vector, start int, e entry) *Error {
	keys, values := out.Children[0], out.Children[1]
	if e.keys.IsNull(e.key) {
		return NewError("NULL_MAP_KEY", "Cannot use null as map key.", nil)
	}
	for k := start; k < keys.Len; k++ {
		if !column.Equal(keys, k, e.keys, e.key) {
			continue
		}
		if !strings.EqualFold(s.conf("spark.sql.mapKeyDedupPolicy", "EXCEPTION"), "LAST_WIN") {
			text := string(AppendValueText(nil, s, e.keys, e.key))
			return NewError("DUPLICATED_MAP_KEY", "Duplicate map key "+text+" was found, please check the input data. If you want to remove the duplicated keys, "+
				`you can set "spark.sql.mapKeyDedupPolicy" to "LAST_WIN" so that the key inserted at last takes precedence.`,
				map[string]string{"key": text, "mapKeyDedupPolicy": `"spark.sql.mapKeyDedupPolicy"`})
		}
		replaceRow(values, k, e.values, e.value)
		return nil
	}
	column.AppendRow(keys, e.keys, e.key)
	column.AppendRow(values, e.values, e.value)
	return nil
}

// replaceRow rewrites one row of a vector that is being built.
func replaceRow(v *vector, k int, src *vector, row int) {
	fresh := column.New(v.Type)
	column.AppendRange(fresh, v, k+1, v.Len)
	v.Truncate(k)
	column.AppendRow(v, src, row)
	column.AppendRange(v, fresh, 0, fresh.Len)
}

func dropEntries(out *vector, start int) {
	for _, c := range out.Children {
		c.Truncate(start)
	}
}

func bindNamedStruct(_ *Session, args []Arg) (*Bound, error) {
	if len(args)%2 != 0 {
		return nil, errNumArgs("named_struct", "2n (n > 0)", len(args))
	}
	var names []string
	var values []Arg
	for i := 0; i < len(args); i += 2 {
		name, ok := constString(args[i])
		if !ok {
			return nil, errMismatch("CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING", callText("named_struct", args),
				`Only foldable "STRING" expressions are allowed to appear at odd position, but they are ["`+args[i].Text+`"].`,
				map[string]string{"inputExprs": `["` + args[i].Text + `"]`})
		}
		names, values = append(names, name), append(values, args[i+1])
	}
	b := structOf(names, values)
	b.Args = nil
	for i := range values {
		b.Args = append(b.Args, args[2*i].Type, values[i].Type)
	}
	inner := b.Kernel
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		fields := make([]*vector, 0, 8)
		for i := 1; i < len(args); i += 2 {
			fields = append(fields, args[i])
		}
		inner(c, fields, out)
	}
	return b, nil
}

func bindStruct(_ *Session, args []Arg) (*Bound, error) {
	if err := checkCount("struct", 1, 1<<20, len(args)); err != nil {
		return nil, err
	}
	names := make([]string, len(args))
	for i, a := range args {
		if names[i] = a.Name; a.Name == "" {
			names[i] = "col" + strconv.Itoa(i+1)
		}
	}
	return structOf(names, args), nil
}

func structOf(names []string, values []Arg) *Bound {
	fields := make([]schema.Field, len(values))
	b := &Bound{Nulls: NullAware}
	for i, a := range values {
		fields[i] = schema.Field{Name: names[i], Type: a.Type, Nullable: a.Nullable}
		b.Args = append(b.Args, a.Type)
	}
	b.Result = schema.StructOf(fields...)
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		for i, v := range args {
			child := out.Children[i]
			child.Resize(0)
			column.AppendRange(child, v, 0, c.Rows)
			child.Errs = nil
		}
	}
	return b
}

func bindIndex(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("[]", 2, 2, len(args)); err != nil {
		return nil, err
	}
	var b *Bound
	var err error
	if args[0].Type.Kind == schema.Map {
		b, err = bindMapValue(s, "[]", args)
	} else {
		b, err = bindElement(args, "[]", s.ANSI)
	}
	if b != nil {
		b.Print = func(a []string) string { return a[0] + "[" + a[1] + "]" }
	}
	return b, err
}

// bindElement resolves access by a position from 0; ansi makes positions
// outside an error.
func bindElement(args []Arg, name string, ansi bool) (*Bound, error) {
	if err := checkCount(name, 2, 2, len(args)); err != nil {
		return nil, err
	}
	t := args[0].Type
	if t.Kind != schema.Array {
		return nil, errInputType(callText(name, args), 0, `"ARRAY"`, args[0])
	}
	if !args[1].Type.IsNumeric() && args[1].Type.Kind != schema.Void && args[1].Type.Kind != schema.String {
		return nil, errInputType(callText(name, args), 1, `"INTEGRAL"`, args[1])
	}
	return &Bound{
		Args: []schema.Type{t, tBigint}, Result: *t.Elem, Nullable: true, Nulls: NullAware, CanFail: ansi,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			elementRows(c, args, out, func(i, size int, at int64) int {
				if at >= 0 && at < int64(size) {
					return int(at)
				}
				if ansi {
					c.Fail(out, i, errArrayIndex(int(at), size))
				}
				return -1
			})
		},
	}, nil
}

// elementRows appends for each row the element that place chooses; -1 is null.
func elementRows(c *Ctx, args []*vector, out *vector, place func(i, size int, at int64) int) {
	out.Resize(0)
	next := 0
	pad := func(to int) {
		for ; next < to; next++ {
			out.AppendNull()
		}
	}
	c.Each(func(i int) {
		pad(i)
		next++
		if args[0].IsNull(i) || args[1].IsNull(i) {
			out.AppendNull()
			return
		}
		from, to := args[0].List(i)
		out.AppendNull()
		at := place(i, to-from, intAt(args[1], i))
		if at >= 0 {
			out.Truncate(i)
			column.AppendRow(out, args[0].Children[0], from+at)
		}
	})
	pad(c.Rows)
}

func bindElementAt(s *Session, name string, args []Arg, try bool) (*Bound, error) {
	if err := checkCount(name, 2, 2, len(args)); err != nil {
		return nil, err
	}
	t := args[0].Type
	switch t.Kind {
	case schema.Map:
		return bindMapElement(s, name, args)
	case schema.Array:
	default:
		return nil, errInputType(callText(name, args), 0, `("ARRAY" or "MAP")`, args[0])
	}
	if !args[1].Type.IsInteger() && args[1].Type.Kind != schema.Void || args[1].Type.Kind == schema.Int64 {
		return nil, errInputType(callText(name, args), 1, `"INT"`, args[1])
	}
	return &Bound{
		Args: []schema.Type{t, tInt}, Result: *t.Elem, Nullable: true, Nulls: NullAware, CanFail: true,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			elementRows(c, args, out, func(i, size int, at int64) int {
				switch {
				case at == 0:
					c.Fail(out, i, errIndexZero())
				case at > 0 && at <= int64(size):
					return int(at - 1)
				case at < 0 && -at <= int64(size):
					return size + int(at)
				case c.Session.ANSI && !try:
					c.Fail(out, i, NewError("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "The index "+strconv.FormatInt(at, 10)+" is out of bounds. The array has "+
						strconv.Itoa(size)+" elements. Use `try_element_at` to tolerate accessing element at invalid index and return NULL instead.",
						map[string]string{"indexValue": strconv.FormatInt(at, 10), "arraySize": strconv.Itoa(size)}))
				}
				return -1
			})
		},
	}, nil
}

// bindMapElement is element_at of a map, whose keys and the key become the
// wider of their types; texts stay texts.
func bindMapElement(s *Session, name string, args []Arg) (*Bound, error) {
	t, e := args[0].Type, args[1].Type
	kt, ok := widerType(s, *t.Key, e)
	if ok {
		kt, ok = exactNumber(*t.Key, e, kt)
	}
	if !ok {
		return nil, errMapKeyType(name, args)
	}
	b, err := bindMapValue(s, name, args)
	if err == nil && !kt.SameShape(*t.Key) {
		b.Args = []schema.Type{schema.MapOf(kt, *t.Elem, t.ElemNullable), kt}
	}
	return b, err
}

func errMapKeyType(name string, args []Arg) *Error {
	t, e := args[0].Type, args[1].Type
	return errMismatch("MAP_FUNCTION_DIFF_TYPES", callText(name, args), "Input to `"+name+`" should have been "MAP" followed by a value with same key type, but it's [`+
		quoteType(t)+", "+quoteType(e)+"].", map[string]string{"functionName": "`" + name + "`", "leftType": quoteType(t), "rightType": quoteType(e)})
}

func bindMapValue(s *Session, name string, args []Arg) (*Bound, error) {
	t := args[0].Type
	kt, ok := CommonType(s, *t.Key, args[1].Type)
	if !ok || !kt.SameShape(*t.Key) && !Implicit(s, args[1].Type, *t.Key) {
		return nil, errMapKeyType(name, args)
	}
	return &Bound{
		Args: []schema.Type{t, *t.Key}, Result: *t.Elem, Nullable: true, Nulls: NullAware,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			m, key := args[0], args[1]
			out.Resize(0)
			next := 0
			pad := func(to int) {
				for ; next < to; next++ {
					out.AppendNull()
				}
			}
			c.Each(func(i int) {
				pad(i)
				next++
				if !m.IsNull(i) && !key.IsNull(i) {
					from, to := m.List(i)
					for k := from; k < to; k++ {
						if column.Equal(m.Children[0], k, key, i) {
							column.AppendRow(out, m.Children[1], k)
							return
						}
					}
				}
				out.AppendNull()
			})
			pad(c.Rows)
		},
	}, nil
}

func sizeFunction(name, doc string) *Function {
	p := param{`("ARRAY" or "MAP")`, func(s *Session, t schema.Type) (schema.Type, bool) {
		return t, t.Kind == schema.Array || t.Kind == schema.Map || t.Kind == schema.Void
	}}
	strict := signature{params: []param{p}, result: tInt, kernel: sizeKernel}
	old := strict // the size of NULL is -1
	old.nulls, old.neverNull = NullAware, true
	old.kernel = func(c *Ctx, args []*vector, out *vector) {
		c.Each(func(i int) {
			if out.I32[i] = -1; !args[0].IsNull(i) {
				from, to := args[0].List(i)
				out.I32[i] = int32(to - from)
			}
		})
	}
	f := &Function{Name: name, Group: "collection", Usage: name + "(expr)", Doc: doc}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		if !s.ANSI && !strings.EqualFold(s.conf("spark.sql.legacy.sizeOfNull", "true"), "false") {
			return old.bind(s, f, args)
		}
		return strict.bind(s, f, args)
	}
	return f
}

func sizeKernel(c *Ctx, args []*vector, out *vector) {
	c.live(out, func(i int) {
		from, to := args[0].List(i)
		out.I32[i] = int32(to - from)
	})
}
