package funcs

import (
	"math"
	"strconv"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// maxElements bounds the elements that one batch of a generated array column
// may have in all: offsets are 32 bits wide, and memory is not free.
const maxElements = 1 << 28

var arrayFunctions = []*Function{
	custom("array_contains", "array", "array_contains(array, value)", "True when an element equals the value.", bindContains).
		example("SELECT array_contains(array(1, 2, 3), 2)", "true"),
	custom("array_position", "array", "array_position(array, element)", "Position of the first element that equals the value, from 1; 0 when there is none.", bindPosition).
		example("SELECT array_position(array(312, 773, 708, 708), 708)", "3"),
	custom("array_remove", "array", "array_remove(array, element)", "The array without the elements that equal the value.", bindRemove).
		example("SELECT array_remove(array(1, 2, 3, NULL, 3), 3)", "[1,2,null]"),
	custom("array_append", "array", "array_append(array, element)", "The array with a value behind it.", func(s *Session, args []Arg) (*Bound, error) {
		return bindAddElement(s, "array_append", args, false)
	}).example("SELECT array_append(array('b', 'd'), 'a')", `["b","d","a"]`),
	custom("array_prepend", "array", "array_prepend(array, element)", "The array with a value before it.", func(s *Session, args []Arg) (*Bound, error) {
		return bindAddElement(s, "array_prepend", args, true)
	}).example("SELECT array_prepend(array('b', 'd'), 'a')", `["a","b","d"]`),
	custom("array_insert", "array", "array_insert(array, pos, val)", "The array with a value put in at a position from 1, negative from the end.", bindInsert).
		example("SELECT array_insert(array(1, 2, 3, 4), 5, 5)", "[1,2,3,4,5]"),
	define("array_compact", "array", "array_compact(array)", "The array without its nulls.", signature{
		params: []param{pArray}, infer: func(t []schema.Type) schema.Type { return schema.ArrayOf(*t[0].Elem, false) },
		kernel: func(c *Ctx, args []*vector, out *vector) {
			elems := args[0].Children[0]
			c.appendLists(out, func(i int) {
				from, to := args[0].List(i)
				for k := from; k < to; k++ {
					if !elems.IsNull(k) {
						column.AppendRow(out.Children[0], elems, k)
					}
				}
			})
		},
	}).example("SELECT array_compact(array(1, 2, 3, NULL))", "[1,2,3]"),
	define("array_repeat", "array", "array_repeat(element, count)", "An array that holds a value several times.", signature{
		params: []param{pAny, pStrictInt}, infer: func(t []schema.Type) schema.Type { return schema.ArrayOf(t[0], true) },
		nulls: NullAware, canFail: true, kernel: repeatKernel,
	}).example("SELECT array_repeat('123', 2)", `["123","123"]`),
	define("slice", "array", "slice(array, start, length)", "Part of an array, from position 1 or, negative, from the end.", signature{
		params: []param{pArray, pInt, pInt}, infer: firstType, canFail: true, kernel: sliceKernel,
	}).example("SELECT slice(array(1, 2, 3, 4), 2, 2)", "[2,3]"),
	define("flatten", "array", "flatten(arrayOfArrays)", "The arrays of an array one behind the other.", signature{
		params: []param{{`"ARRAY" of "ARRAY"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
			return t, t.Kind == schema.Array && t.Elem.Kind == schema.Array
		}}},
		infer: func(t []schema.Type) schema.Type { return *t[0].Elem }, mayNull: true, kernel: flattenKernel,
	}).example("SELECT flatten(array(array(1, 2), array(3, 4)))", "[1,2,3,4]"),
	define("array_join", "array", "array_join(array, delimiter[, nullReplacement])", "The strings of an array, joined; nulls are left out or replaced.", signature{
		params: []param{pStrings, pOnlyString, pOnlyString}, min: 2, result: tString, kernel: arrayJoinKernel,
	}).example("SELECT array_join(array('hello', NULL, 'world'), ' ', ',')", "hello , world"),
	custom("arrays_zip", "array", "arrays_zip(a1, a2, ...)", "Structs of the elements that stand at the same position.", bindArraysZip).
		example("SELECT arrays_zip(array(1, 2), array(3, 4))", `[{"0":1,"1":3},{"0":2,"1":4}]`),
	define("shuffle", "array", "shuffle(array[, seed])", "The array in a random order.", signature{
		params: []param{pArray, pBigint}, min: 1, infer: firstType, kernel: shuffleKernel, check: func(_ *Session, call string, args []Arg) error {
			return foldableSeed(call, args[1:])
		},
	}).volatility(Volatile),
}

// pStrictInt takes INT and smaller only.
var pStrictInt = param{`"INT"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
	return tInt, t.Kind == schema.Int8 || t.Kind == schema.Int16 || t.Kind == schema.Int32 || t.Kind == schema.Void
}}

// pStrings takes arrays whose elements cast to strings.
var pStrings = param{`"ARRAY<STRING>"`, func(s *Session, t schema.Type) (schema.Type, bool) {
	return schema.ArrayOf(tString, true), t.Kind == schema.Void || t.Kind == schema.Array && !t.Elem.IsNested() && Implicit(s, *t.Elem, tString)
}}

func errNullType(name, call string) *Error {
	return errMismatch("NULL_TYPE", call, "Null typed values cannot be used as arguments of `"+name+"`.", map[string]string{"functionName": "`" + name + "`"})
}

func errArrayElement(name, call string, array, elem schema.Type) *Error {
	return errMismatch("ARRAY_FUNCTION_DIFF_TYPES", call, "Input to `"+name+`" should have been "ARRAY" followed by a value with same element type, but it's [`+
		quoteType(array)+", "+quoteType(elem)+"].", map[string]string{
		"functionName": "`" + name + "`", "dataType": `"ARRAY"`, "leftType": quoteType(array), "rightType": quoteType(elem),
	})
}

func errTooManyElements(name string, n int64) *Error {
	class := "COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER"
	if name == "array_insert" {
		class = "COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION"
	}
	return NewError(class, "Can't create array with "+strconv.FormatInt(n, 10)+" elements which exceeding the array size limit "+
		strconv.Itoa(maxElements)+", the function `"+name+"` makes too many of them.", map[string]string{"numberOfElements": strconv.FormatInt(n, 10), "functionName": "`" + name + "`"})
}

// widerType is the common type of two types where strings stay strings.
func widerType(s *Session, a, b schema.Type) (schema.Type, bool) {
	if t, ok := tightest(s, a, b); ok {
		return t, true
	}
	return commonNested(s, a, b)
}

// elementArgs checks that args are an array and a value of its elements' kind
// and returns the types they are cast to. nullOK says that an untyped NULL is
// taken for the value.
func elementArgs(s *Session, name string, args []Arg, nullOK bool) ([]schema.Type, error) {
	if err := checkCount(name, 2, 2, len(args)); err != nil {
		return nil, err
	}
	call, t, e := callText(name, args), args[0].Type, args[1].Type
	switch {
	case t.Kind == schema.Void || e.Kind == schema.Void && !nullOK:
		return nil, errNullType(name, call)
	case t.Kind != schema.Array && (name == "array_remove" || name == "array_insert"):
		return nil, errArrayElement(name, call, t, e)
	case t.Kind != schema.Array:
		return nil, errInputType(call, 0, `"ARRAY"`, args[0])
	}
	et, ok := widerType(s, *t.Elem, e)
	if !ok {
		return nil, errArrayElement(name, call, t, e)
	}
	if name == "array_remove" || name == "array_position" || name == "array_insert" {
		if et, ok = exactNumber(*t.Elem, e, et); !ok {
			return nil, errArrayElement(name, call, t, e)
		}
	}
	return []schema.Type{schema.ArrayOf(et, t.ElemNullable), et}, nil
}

// exactNumber is the common type wider of two types where numbers are taken
// as one of the two only: a decimal for an integer that it holds, and a float
// for any integer.
func exactNumber(a, b, wider schema.Type) (schema.Type, bool) {
	switch {
	case !a.IsNumeric() || !b.IsNumeric() || a.Equal(b):
		return wider, true
	case a.Kind == schema.Decimal && b.Kind == schema.Decimal:
		return wider, false
	case a.Kind == schema.Decimal || b.Kind == schema.Decimal:
		if a.Kind != schema.Decimal {
			a, b = b, a
		}
		return a, b.IsInteger() && a.Precision-a.Scale >= decimalFor(b).Precision
	case a.Kind == schema.Float64 || b.Kind == schema.Float64:
		return tDouble, true
	case a.IsFloat():
		return a, true
	case b.IsFloat():
		return b, true
	}
	return wider, true
}

func bindContains(s *Session, args []Arg) (*Bound, error) {
	types, err := elementArgs(s, "array_contains", args, false)
	if err != nil {
		return nil, err
	}
	if !Orderable(types[1]) {
		return nil, errOrdering("array_contains", callText("array_contains", args), types[1])
	}
	return &Bound{
		Args: types, Result: tBool, Nullable: args[0].Nullable || args[1].Nullable || types[0].ElemNullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			elems := args[0].Children[0]
			c.live(out, func(i int) {
				from, to := args[0].List(i)
				out.Bool[i] = false
				null := false
				for k := from; k < to; k++ {
					if elems.IsNull(k) {
						null = true
					} else if column.Equal(elems, k, args[1], i) {
						out.Bool[i] = true
						return
					}
				}
				if null {
					out.SetNull(i)
				}
			})
		},
	}, nil
}

func bindPosition(s *Session, args []Arg) (*Bound, error) {
	types, err := elementArgs(s, "array_position", args, true)
	if err != nil {
		return nil, err
	}
	if !Orderable(types[1]) {
		return nil, errOrdering("array_position", callText("array_position", args), types[1])
	}
	return &Bound{
		Args: types, Result: tBigint, Nullable: args[0].Nullable || args[1].Nullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			elems := args[0].Children[0]
			c.live(out, func(i int) {
				from, to := args[0].List(i)
				out.I64[i] = 0
				for k := from; k < to; k++ {
					if column.Equal(elems, k, args[1], i) {
						out.I64[i] = int64(k-from) + 1
						return
					}
				}
			})
		},
	}, nil
}

func bindRemove(s *Session, args []Arg) (*Bound, error) {
	types, err := elementArgs(s, "array_remove", args, true)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: types, Result: types[0], Nullable: args[0].Nullable || args[1].Nullable,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			elems := args[0].Children[0]
			c.appendLists(out, func(i int) {
				from, to := args[0].List(i)
				for k := from; k < to; k++ {
					if !column.Equal(elems, k, args[1], i) {
						column.AppendRow(out.Children[0], elems, k)
					}
				}
			})
		},
	}, nil
}

func bindAddElement(s *Session, name string, args []Arg, before bool) (*Bound, error) {
	types, err := elementArgs(s, name, args, true)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: types, Result: schema.ArrayOf(types[1], types[0].ElemNullable || args[1].Nullable), Nullable: args[0].Nullable, Nulls: NullAware,
		Kernel: func(c *Ctx, args []*vector, out *vector) {
			c.nullWhere(out, args[0])
			dst := out.Children[0]
			c.appendLists(out, func(i int) {
				from, to := args[0].List(i)
				if before {
					column.AppendRow(dst, args[1], i)
				}
				column.AppendRange(dst, args[0].Children[0], from, to)
				if !before {
					column.AppendRow(dst, args[1], i)
				}
			})
		},
	}, nil
}

// nullWhere marks the rows of out null where v is.
func (c *Ctx) nullWhere(out, v *vector) {
	if !v.HasNulls() {
		return
	}
	if out.Nulls == nil {
		out.MakeNulls(c.Rows)
	}
	for i := range c.Rows {
		if v.IsNull(i) {
			out.Nulls.Set(i)
		}
	}
}

func bindInsert(s *Session, args []Arg) (*Bound, error) {
	const name = "array_insert"
	if err := checkCount(name, 3, 3, len(args)); err != nil {
		return nil, err
	}
	types, err := elementArgs(s, name, []Arg{args[0], args[2]}, true)
	if err != nil {
		return nil, err
	}
	if !args[1].Type.IsInteger() && args[1].Type.Kind != schema.Void || args[1].Type.Kind == schema.Int64 {
		return nil, errInputType(callText(name, args), 1, `"INT"`, args[1])
	}
	return &Bound{
		Args: []schema.Type{types[0], tInt, types[1]}, Result: schema.ArrayOf(types[1], true),
		Nullable: args[0].Nullable || args[1].Nullable, Nulls: NullAware, CanFail: true, Kernel: insertKernel,
	}, nil
}

func insertKernel(c *Ctx, args []*vector, out *vector) {
	last := int64(1) // -1 is behind the last element, or before it as it was once
	if strings.EqualFold(c.Session.conf("spark.sql.legacy.negativeIndexInArrayInsert", "false"), "true") {
		last = 0
	}
	c.nullWhere(out, args[0])
	c.nullWhere(out, args[1])
	elems, dst := args[0].Children[0], out.Children[0]
	c.appendLists(out, func(i int) {
		from, to := args[0].List(i)
		n, pos := int64(to-from), intAt(args[1], i)
		if pos == 0 {
			c.Fail(out, i, errIndexZero())
			return
		}
		if grown := max(pos, 1-last-pos, n+1); int64(dst.Len)+grown > maxElements {
			c.Fail(out, i, errTooManyElements("array_insert", grown))
			return
		}
		at := pos - 1
		if pos < 0 {
			at = n + last + pos
		}
		if at < 0 { // before the first element, with nulls between
			column.AppendRow(dst, args[2], i)
			for range -at {
				dst.AppendNull()
			}
			column.AppendRange(dst, elems, from, to)
			return
		}
		column.AppendRange(dst, elems, from, from+int(min(at, n)))
		for k := n; k < at; k++ {
			dst.AppendNull()
		}
		column.AppendRow(dst, args[2], i)
		column.AppendRange(dst, elems, from+int(min(at, n)), to)
	})
}

// weight is about how many values of eight bytes a row holds.
func weight(v *vector, i int) int64 {
	if v.IsNull(i) {
		return 1
	}
	switch v.Type.Kind { //nolint:exhaustive // the others are one value
	case schema.String, schema.Binary:
		return 1 + int64(len(v.Str(i)))/8
	case schema.Array, schema.Map:
		from, to := v.List(i)
		n := int64(1)
		for _, c := range v.Children {
			if !c.Type.IsNested() && c.Type.Kind != schema.String && c.Type.Kind != schema.Binary {
				n += int64(to - from)
				continue
			}
			for k := from; k < to; k++ {
				n += weight(c, k)
			}
		}
		return n
	case schema.Struct, schema.Variant:
		n := int64(1)
		for _, c := range v.Children {
			n += weight(c, i)
		}
		return n
	}
	return 1
}

func repeatKernel(c *Ctx, args []*vector, out *vector) {
	c.nullWhere(out, args[1])
	dst := out.Children[0]
	c.appendLists(out, func(i int) {
		n := intAt(args[1], i)
		if int64(dst.Len)+n > maxElements || n > 0 && weight(args[0], args[0].Row(i)) > maxElements/n {
			c.Fail(out, i, errTooManyElements("array_repeat", n))
			return
		}
		for range n {
			column.AppendRow(dst, args[0], i)
		}
	})
}

func sliceKernel(c *Ctx, args []*vector, out *vector) {
	c.appendLists(out, func(i int) {
		from, to := args[0].List(i)
		start, length := intAt(args[1], i), intAt(args[2], i)
		switch {
		case start == 0:
			c.Fail(out, i, errParam("START", "start", "slice", "Expects a positive or a negative value for `start`, but got 0.", nil))
			return
		case length < 0:
			c.Fail(out, i, errParam("LENGTH", "length", "slice", "Expects `length` greater than or equal to 0, but got "+strconv.FormatInt(length, 10)+".",
				map[string]string{"length": strconv.FormatInt(length, 10)}))
			return
		case start < 0:
			start += int64(to - from)
		default:
			start--
		}
		if start < 0 || start >= int64(to-from) {
			return
		}
		first := from + int(start)
		column.AppendRange(out.Children[0], args[0].Children[0], first, first+int(min(length, int64(to-first))))
	})
}

func flattenKernel(c *Ctx, args []*vector, out *vector) {
	inner := args[0].Children[0]
	c.appendLists(out, func(i int) {
		from, to := args[0].List(i)
		for k := from; k < to; k++ {
			if inner.IsNull(k) {
				out.SetNull(i)
				return
			}
		}
		for k := from; k < to; k++ {
			a, b := inner.List(k)
			column.AppendRange(out.Children[0], inner.Children[0], a, b)
		}
	})
}

func arrayJoinKernel(c *Ctx, args []*vector, out *vector) {
	elems := args[0].Children[0]
	c.appendRows(out, func(i int, b []byte) []byte {
		from, to := args[0].List(i)
		sep, first, start := args[1].Str(i), true, len(b)
		for k := from; k < to && textRoom(b, start) > 0; k++ {
			null := elems.IsNull(k)
			if null && len(args) < 3 {
				continue
			}
			if !first {
				b = append(b, sep...)
			}
			first = false
			if null {
				b = append(b, args[2].Str(i)...)
			} else {
				b = append(b, elems.Str(k)...)
			}
		}
		return b
	})
}

func bindArraysZip(_ *Session, args []Arg) (*Bound, error) {
	b := &Bound{}
	fields := make([]schema.Field, len(args))
	for i, a := range args {
		t := a.Type
		if t.Kind == schema.Void {
			t = schema.ArrayOf(tVoid, true)
		}
		if t.Kind != schema.Array {
			return nil, errInputType(callText("arrays_zip", args), i, `"ARRAY"`, a)
		}
		b.Args = append(b.Args, t)
		b.Nullable = b.Nullable || a.Nullable
		fields[i] = schema.Field{Name: zipName(a, i), Type: *t.Elem, Nullable: true}
	}
	b.Result = schema.ArrayOf(schema.StructOf(fields...), false)
	b.Kernel = func(c *Ctx, args []*vector, out *vector) {
		dst := out.Children[0]
		c.appendLists(out, func(i int) {
			n := 0
			for _, v := range args {
				from, to := v.List(i)
				n = max(n, to-from)
			}
			for f, v := range args {
				from, to := v.List(i)
				column.AppendRange(dst.Children[f], v.Children[0], from, to)
				for range n - (to - from) {
					dst.Children[f].AppendNull()
				}
			}
			dst.Len += n
		})
	}
	return b, nil
}

// zipName is the name of a field of arrays_zip: that of the column, or the
// argument's number.
func zipName(a Arg, i int) string {
	if a.Name != "" {
		return a.Name
	}
	s, from := a.Text, 0
	for k := range len(s) {
		switch ch := s[k]; {
		case ch == '.':
			from = k + 1
		case ch == '_' || ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z' || ch >= '0' && ch <= '9' && k > from || ch >= 0x80:
		default:
			return strconv.Itoa(i)
		}
	}
	if a.Const != nil || from == len(s) {
		return strconv.Itoa(i)
	}
	return s[from:]
}

// splitMix is a small generator of random numbers.
type splitMix uint64

func (r *splitMix) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n).
func (r *splitMix) below(n int) int { return int(r.next() % uint64(n)) }

func shuffleKernel(c *Ctx, args []*vector, out *vector) {
	if len(args) > 1 && !args[1].IsNull(0) {
		shuffleSeeded(c, args[0], intAt(args[1], 0), out)
		return
	}
	order, _ := c.Scratch.(*[]int32)
	if order == nil {
		order = new([]int32)
		c.Scratch = order
	}
	c.appendLists(out, func(i int) {
		from, to := args[0].List(i)
		r := splitMix(uint64(c.Seed) + uint64(c.Row+int64(i))*0x9e3779b97f4a7c15&math.MaxUint64)
		rows := (*order)[:0]
		for k := from; k < to; k++ {
			rows = append(rows, int32(k))
		}
		for k := len(rows) - 1; k > 0; k-- {
			j := r.below(k + 1)
			rows[k], rows[j] = rows[j], rows[k]
		}
		column.AppendRows(out.Children[0], args[0].Children[0], rows)
		*order = rows
	})
}
