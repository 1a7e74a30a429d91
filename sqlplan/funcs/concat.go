package funcs

import (
	"slices"
	"strconv"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func errArrayIndex(index, size int) *Error {
	return NewError("INVALID_ARRAY_INDEX", "The index "+strconv.Itoa(index)+" is out of bounds. The array has "+strconv.Itoa(size)+
		" elements. Use the SQL function `get()` to tolerate accessing element at invalid index and return NULL instead.",
		map[string]string{"indexValue": strconv.Itoa(index), "arraySize": strconv.Itoa(size)})
}

var concatFunctions = []*Function{
	concatFunction("concat"), concatFunction("||"), concatWSFunction(),
	custom("reverse", "collection", "reverse(expr)", "A string or array in reverse order.", bindReverse).example("SELECT reverse('abc')", "cba"),
}

func concatFunction(name string) *Function {
	f := &Function{
		Name: name, Group: "collection", Usage: "concat(expr1, expr2, ...)", Doc: "Strings, binaries or arrays one behind the other.",
		Example: "SELECT concat('a', 'b')", Result: "ab",
	}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		call := callText("concat", args)
		b := &Bound{Fn: f}
		if name == "||" {
			b.Print = func(a []string) string { return "concat(" + joinTexts(a) + ")" }
		}
		t, arrays := tString, false
		binary := len(args) > 0 && !strings.EqualFold(s.conf("spark.sql.function.concatBinaryAsString", "false"), "true")
		for _, a := range args {
			b.Nullable = b.Nullable || a.Nullable
			arrays = arrays || a.Type.Kind == schema.Array
			binary = binary && a.Type.Kind == schema.Binary
		}
		switch {
		case arrays:
			types := make([]schema.Type, len(args))
			for i, a := range args {
				if a.Type.Kind != schema.Array && !Implicit(s, a.Type, tString) {
					return nil, errInputType(call, i, `("STRING" or "BINARY" or "ARRAY")`, a)
				}
				types[i] = a.Type
			}
			var ok bool
			untyped := slices.ContainsFunc(types, func(t schema.Type) bool { return t.Kind == schema.Void })
			if t, ok = CommonOf(s, types); !ok || untyped { // an untyped NULL is a text
				return nil, errDataDiffTypes("concat", call, args)
			}
			b.Kernel = concatArrays
		case binary:
			t, b.Kernel = tBinary, concatStrings
		default:
			b.Kernel = concatStrings
		}
		for i, a := range args {
			if !arrays && !Implicit(s, a.Type, tString) && !binary {
				return nil, errInputType(call, i, `("STRING" or "BINARY" or "ARRAY")`, a)
			}
			b.Args = append(b.Args, t)
		}
		b.Result = t
		return b, nil
	}
	return f
}

func concatStrings(c *Ctx, args []*vector, out *vector) {
	c.appendRows(out, func(i int, b []byte) []byte {
		for _, v := range args {
			b = append(b, v.Str(i)...)
		}
		return b
	})
}

func concatArrays(c *Ctx, args []*vector, out *vector) {
	c.appendLists(out, func(i int) {
		for _, v := range args {
			from, to := v.List(i)
			column.AppendRange(out.Children[0], v.Children[0], from, to)
		}
	})
}

func concatWSFunction() *Function {
	p := param{`("STRING" or "ARRAY<STRING>")`, func(s *Session, t schema.Type) (schema.Type, bool) {
		if t.Kind == schema.Array {
			return schema.ArrayOf(tString, true), Implicit(s, *t.Elem, tString)
		}
		return tString, Implicit(s, t, tString)
	}}
	return define("concat_ws", "string", "concat_ws(sep[, str | array(str)]+)", "The strings that are not null, joined by a separator.", signature{
		params: []param{pString, p}, min: 1, variadic: true, result: tString, nulls: NullAware,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			sep := args[0]
			c.appendRows(out, func(i int, b []byte) []byte {
				if sep.IsNull(i) {
					out.SetNull(i)
					return b
				}
				first := true
				for _, v := range args[1:] {
					b, first = appendJoined(b, sep.Str(i), v, i, first)
				}
				return b
			})
		},
	}).example("SELECT concat_ws(',', 'a', NULL, 'c')", "a,c")
}

func appendJoined(b, sep []byte, v *vector, i int, first bool) ([]byte, bool) {
	if v.IsNull(i) {
		return b, first
	}
	start := len(b)
	add := func(s []byte) {
		if textRoom(b, start) <= 0 {
			return
		}
		if !first {
			b = append(b, sep...)
		}
		b, first = append(b, s...), false
	}
	if v.Type.Kind != schema.Array {
		add(v.Str(i))
		return b, first
	}
	from, to := v.List(i)
	for k := from; k < to; k++ {
		if !v.Children[0].IsNull(k) {
			add(v.Children[0].Str(k))
		}
	}
	return b, first
}

func bindReverse(s *Session, args []Arg) (*Bound, error) {
	if err := checkCount("reverse", 1, 1, len(args)); err != nil {
		return nil, err
	}
	b := &Bound{Nullable: args[0].Nullable}
	t := args[0].Type
	if t.Kind == schema.Array {
		b.Args, b.Result = []schema.Type{t}, t
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			c.appendLists(out, func(i int) {
				from, to := args[0].List(i)
				for k := to - 1; k >= from; k-- {
					column.AppendRow(out.Children[0], args[0].Children[0], k)
				}
			})
		}
		return b, nil
	}
	if !Implicit(s, t, tString) {
		return nil, errInputType(callText("reverse", args), 0, `("STRING" or "ARRAY")`, args[0])
	}
	b.Args, b.Result = []schema.Type{tString}, tString
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		c.appendRows(out, func(i int, b []byte) []byte {
			s := args[0].Str(i)
			if isASCII(s) {
				b = slices.Grow(b, len(s))
				at := len(b)
				b = b[:at+len(s)]
				for k, c := range s {
					b[at+len(s)-1-k] = c
				}
				return b
			}
			for len(s) > 0 {
				k := len(s) - 1
				for k > 0 && s[k]&0xc0 == 0x80 {
					k--
				}
				b = append(b, s[k:]...)
				s = s[:k]
			}
			return b
		})
	}
	return b, nil
}
