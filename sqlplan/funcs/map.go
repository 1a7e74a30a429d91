package funcs

import (
	"bytes"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var mapFunctions = []*Function{
	define("map_keys", "map", "map_keys(map)", "The keys of a map.", signature{
		params: []param{pMap}, infer: func(t []schema.Type) schema.Type { return schema.ArrayOf(*t[0].Key, false) },
		kernel: func(c *Ctx, args []*vector, out *vector) { childLists(c, args[0], 0, out) },
	}).example("SELECT map_keys(map(1, 'a', 2, 'b'))", "[1,2]"),
	define("map_values", "map", "map_values(map)", "The values of a map.", signature{
		params: []param{pMap}, infer: func(t []schema.Type) schema.Type { return schema.ArrayOf(*t[0].Elem, t[0].ElemNullable) },
		kernel: func(c *Ctx, args []*vector, out *vector) { childLists(c, args[0], 1, out) },
	}).example("SELECT map_values(map(1, 'a', 2, 'b'))", `["a","b"]`),
	define("map_entries", "map", "map_entries(map)", "The entries of a map as structs.", signature{
		params: []param{pMap}, infer: func(t []schema.Type) schema.Type { return schema.ArrayOf(entryType(t[0]), false) },
		kernel: func(c *Ctx, args []*vector, out *vector) {
			dst, m := out.Children[0], args[0]
			c.appendLists(out, func(i int) {
				from, to := m.List(i)
				for k, child := range m.Children {
					column.AppendRange(dst.Children[k], child, from, to)
				}
				dst.Len += to - from
			})
		},
	}).example("SELECT map_entries(map(1, 'a', 2, 'b'))", `[{"key":1,"value":"a"},{"key":2,"value":"b"}]`),
	custom("map_contains_key", "map", "map_contains_key(map, key)", "True when the map has the key.", bindMapContains).
		example("SELECT map_contains_key(map(1, 'a', 2, 'b'), 1)", "true"),
	define("map_from_arrays", "map", "map_from_arrays(keys, values)", "A map of an array of keys and one of values.", signature{
		params: []param{pArray, pArray}, infer: func(t []schema.Type) schema.Type {
			return schema.MapOf(*t[0].Elem, *t[1].Elem, t[1].ElemNullable)
		},
		canFail: true, kernel: mapFromArraysKernel,
		check: func(_ *Session, call string, args []Arg) error {
			if t := args[0].Type; t.Kind == schema.Array && typeHolds(*t.Elem, schema.Map) {
				return errMapKey(call, *t.Elem)
			}
			return nil
		},
	}).example("SELECT map_from_arrays(array(1.0, 3.0), array('2', '4'))", `{1.0:"2",3.0:"4"}`),
	custom("map_from_entries", "map", "map_from_entries(arrayOfEntries)", "A map of an array of structs of key and value.", bindMapFromEntries).
		example("SELECT map_from_entries(array(struct(1, 'a'), struct(2, 'b')))", `{1:"a",2:"b"}`),
	custom("map_concat", "map", "map_concat(map, ...)", "The entries of all maps in one.", bindMapConcat).
		example("SELECT map_concat(map(1, 'a', 2, 'b'), map(3, 'c'))", `{1:"a",2:"b",3:"c"}`),
	custom("str_to_map", "map", "str_to_map(text[, pairDelim[, keyValueDelim]])", "A map of a text of pairs; the delimiters are regular expressions.", bindStrToMap).
		example("SELECT str_to_map('a:1,b:2,c:3', ',', ':')", `{"a":"1","b":"2","c":"3"}`),
}

// entryType is the struct of key and value of a map's entries.
func entryType(t schema.Type) schema.Type {
	return schema.StructOf(schema.Field{Name: "key", Type: *t.Key}, schema.Field{Name: "value", Type: *t.Elem, Nullable: t.ElemNullable})
}

func childLists(c *Ctx, m *vector, k int, out *vector) {
	c.appendLists(out, func(i int) {
		from, to := m.List(i)
		column.AppendRange(out.Children[0], m.Children[k], from, to)
	})
}

func bindMapContains(s *Session, args []Arg) (*Bound, error) {
	const name = "map_contains_key"
	if err := checkCount(name, 2, 2, len(args)); err != nil {
		return nil, err
	}
	call, t, k := callText(name, args), args[0].Type, args[1].Type
	if k.Kind == schema.Void {
		return nil, errNullType(name, call)
	}
	ok, kt := false, tVoid
	if t.Kind == schema.Map {
		kt, ok = widerType(s, *t.Key, k)
	}
	if !ok {
		return nil, errMismatch("MAP_FUNCTION_DIFF_TYPES", call, "Input to `"+name+`" should have been "MAP" followed by a value with same key type, but it's [`+
			quoteType(t)+", "+quoteType(k)+"].", map[string]string{"functionName": "`" + name + "`", "dataType": `"MAP"`, "leftType": quoteType(t), "rightType": quoteType(k)})
	}
	return &Bound{
		Args: []schema.Type{schema.MapOf(kt, *t.Elem, t.ElemNullable), kt}, Result: tBool, Nullable: args[0].Nullable || args[1].Nullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			keys := args[0].Children[0]
			c.live(out, func(i int) {
				from, to := args[0].List(i)
				k := from
				for k < to && !column.Equal(keys, k, args[1], i) {
					k++
				}
				out.Bool[i] = k < to
			})
		},
	}, nil
}

func mapFromArraysKernel(c *Ctx, args []*vector, out *vector) {
	keys, values := args[0], args[1]
	c.appendLists(out, func(i int) {
		kf, kt := keys.List(i)
		vf, vt := values.List(i)
		if kt-kf != vt-vf {
			c.Fail(out, i, NewError("ILLEGAL_ARGUMENT", "The key array and value array of MapData must have the same length.", nil))
			return
		}
		start := out.Children[0].Len
		for k := range kt - kf {
			if err := appendEntry(c.Session, out, start, entry{keys.Children[0], kf + k, values.Children[0], vf + k}); err != nil {
				dropEntries(out, start)
				c.Fail(out, i, err)
				return
			}
		}
	})
}

func bindMapFromEntries(_ *Session, args []Arg) (*Bound, error) {
	const name = "map_from_entries"
	if err := checkCount(name, 1, 1, len(args)); err != nil {
		return nil, err
	}
	t := args[0].Type
	if t.Kind != schema.Array || t.Elem.Kind != schema.Struct || len(t.Elem.Fields) != 2 {
		return nil, errInputType(callText(name, args), 0, `"ARRAY" of pair "STRUCT"`, args[0])
	}
	key, value := t.Elem.Fields[0], t.Elem.Fields[1]
	if typeHolds(key.Type, schema.Map) {
		return nil, errMapKey(callText(name, args), key.Type)
	}
	return &Bound{
		Args: []schema.Type{t}, Result: schema.MapOf(key.Type, value.Type, value.Nullable), Nullable: args[0].Nullable || t.ElemNullable, CanFail: true,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			entries := args[0].Children[0]
			c.appendLists(out, func(i int) {
				from, to := args[0].List(i)
				start := out.Children[0].Len
				for k := from; k < to; k++ {
					if entries.IsNull(k) {
						out.SetNull(i)
						return
					}
				}
				for k := from; k < to; k++ {
					if err := appendEntry(c.Session, out, start, entry{entries.Children[0], k, entries.Children[1], k}); err != nil {
						dropEntries(out, start)
						c.Fail(out, i, err)
						return
					}
				}
			})
		},
	}, nil
}

func bindMapConcat(s *Session, args []Arg) (*Bound, error) {
	const name = "map_concat"
	t, nullable := schema.MapOf(tString, tString, false), false
	for i, a := range args {
		if a.Type.Kind != schema.Map && a.Type.Kind != schema.Void {
			types := make([]string, len(args))
			for k, x := range args {
				types[k] = quoteType(x.Type)
			}
			return nil, errMismatch("MAP_CONCAT_DIFF_TYPES", callText(name, args), "The `"+name+"` should all be of type map, but it's ["+joinTexts(types)+"].",
				map[string]string{"functionName": "`" + name + "`", "dataType": "[" + joinTexts(types) + "]"})
		}
		nullable = nullable || a.Nullable
		switch {
		case i == 0:
			t = a.Type
		default:
			var ok bool
			if t, ok = widerType(s, t, a.Type); !ok {
				return nil, errDataDiffTypes(name, callText(name, args), args)
			}
		}
	}
	return &Bound{
		Args: repeatType(t, len(args)), Result: t, Nullable: nullable, CanFail: true,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendLists(out, func(i int) {
				start := out.Children[0].Len
				for _, m := range args {
					from, to := m.List(i)
					for k := from; k < to; k++ {
						if err := appendEntry(c.Session, out, start, entry{m.Children[0], k, m.Children[1], k}); err != nil {
							dropEntries(out, start)
							c.Fail(out, i, err)
							return
						}
					}
				}
			})
		},
	}, nil
}

// delimiter is a compiled regular expression, or the bytes it stands for when
// nothing in it is special.
type delimiter struct {
	text    string
	literal []byte
	re      matcher
}

// load compiles a pattern unless it is the one that is loaded.
func (d *delimiter) load(pattern []byte) error {
	if (d.re != nil || d.literal != nil) && d.text == string(pattern) {
		return nil
	}
	d.text, d.literal, d.re = string(pattern), nil, nil
	if len(pattern) > 0 && !bytes.ContainsAny(pattern, `\.+*?()|[]{}^$`) {
		d.literal = []byte(d.text)
		return nil
	}
	re, err := compileRegexp(d.text)
	if err != nil {
		return NewError("INVALID_PARAMETER_VALUE.PATTERN", "The value of parameter(s) `delimiter` in `str_to_map` is invalid: "+quoteSQL(d.text)+" is no regular expression.",
			map[string]string{"parameter": "`delimiter`", "functionName": "`str_to_map`", "value": quoteSQL(d.text)})
	}
	d.re = re
	return nil
}

// each calls f with the place of each match that splits something off.
func (d *delimiter) each(s []byte, f func(from, to int) bool) {
	if d.literal == nil {
		d.re.all(s, func(at []int) bool { return at[1] == 0 || f(at[0], at[1]) })
		return
	}
	from := 0
	for {
		k := bytes.Index(s[from:], d.literal)
		if k < 0 || !f(from+k, from+k+len(d.literal)) {
			return
		}
		from += k + len(d.literal)
	}
}

// mapSplitter is the scratch of str_to_map: the delimiters, and one key and
// value.
type mapSplitter struct {
	pairs, parts delimiter
	key, value   *vector
}

func bindStrToMap(s *Session, args []Arg) (*Bound, error) {
	const name = "str_to_map"
	if err := checkCount(name, 1, 3, len(args)); err != nil {
		return nil, err
	}
	b := &Bound{Result: schema.MapOf(tString, tString, true), CanFail: true, Kernel: strToMapKernel}
	for i, a := range args {
		if _, ok := pOnlyString.take(s, a.Type); !ok {
			return nil, errInputType(callText(name, args), i, `"STRING"`, a)
		}
		b.Args = append(b.Args, tString)
		b.Nullable = b.Nullable || a.Nullable
	}
	if n := len(args); n < 3 {
		defaults := []string{"", ",", ":"}
		b.Print = func(a []string) string {
			return name + "(" + joinTexts(append(append([]string{}, a...), defaults[n:]...)) + ")"
		}
	}
	return b, nil
}

func strToMapKernel(c *Ctx, args []*vector, out *vector) {
	sp, ok := c.Scratch.(*mapSplitter)
	if !ok {
		sp = &mapSplitter{key: column.New(tString), value: column.New(tString)}
		c.Scratch = sp
	}
	load := func(d *delimiter, k int, def string, i int) error {
		if len(args) > k {
			return d.load(args[k].Str(i))
		}
		return d.load([]byte(def))
	}
	c.appendLists(out, func(i int) {
		err := load(&sp.pairs, 1, ",", i)
		if err == nil {
			err = load(&sp.parts, 2, ":", i)
		}
		if err != nil {
			c.Fail(out, i, asError(err))
			return
		}
		start := out.Children[0].Len
		if bad := sp.appendPairs(c.Session, out, args[0].Str(i)); bad != nil {
			dropEntries(out, start)
			c.Fail(out, i, bad)
		}
	})
}

// appendPairs appends the entries of one text.
func (sp *mapSplitter) appendPairs(s *Session, out *vector, in []byte) *Error {
	start, from := out.Children[0].Len, 0
	var bad *Error
	sp.pairs.each(in, func(a, b int) bool {
		bad = sp.appendPair(s, out, start, in[from:a])
		from = b
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	return sp.appendPair(s, out, start, in[from:])
}

func (sp *mapSplitter) appendPair(s *Session, out *vector, start int, pair []byte) *Error {
	sp.key.Resize(0)
	sp.value.Resize(0)
	found := false
	sp.parts.each(pair, func(a, b int) bool {
		sp.key.AppendStr(pair[:a])
		sp.value.AppendStr(pair[b:])
		found = true
		return false
	})
	if !found {
		sp.key.AppendStr(pair)
		sp.value.AppendNull()
	}
	return appendEntry(s, out, start, entry{sp.key, 0, sp.value, 0})
}
