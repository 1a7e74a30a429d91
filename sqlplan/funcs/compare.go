package funcs

import (
	"bytes"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var comparisonFunctions = []*Function{
	comparison("=", "expr1 = expr2", "True when both are equal.").alias("==").example("SELECT 1 = 1", "true"),
	comparison("!=", "expr1 != expr2", "True when both differ.").alias("<>").example("SELECT 1 != 1", "false"),
	comparison("<", "expr1 < expr2", "True when the first is smaller.").example("SELECT 1 < 2", "true"),
	comparison("<=", "expr1 <= expr2", "True when the first is not greater.").example("SELECT 2 <= 2", "true"),
	comparison(">", "expr1 > expr2", "True when the first is greater.").example("SELECT 3 > 4", "false"),
	comparison(">=", "expr1 >= expr2", "True when the first is not smaller.").example("SELECT 4 >= 4", "true"),
	comparison("<=>", "expr1 <=> expr2", "Equality that treats nulls as equal values.").example("SELECT NULL <=> NULL", "true"),
	comparison("equal_null", "equal_null(expr1, expr2)", "Equality that treats nulls as equal values.").example("SELECT equal_null(1, NULL)", "false"),
	define("isnull", "predicate", "isnull(expr)", "True when the value is null.", signature{
		params: []param{pAny}, result: tBool, nulls: NullAware, neverNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) { nullness(c, args[0], out, true) },
	}).printed(func(a []string) string { return "(" + a[0] + " IS NULL)" }).example("SELECT isnull(1)", "false"),
	define("isnotnull", "predicate", "isnotnull(expr)", "True when the value is not null.", signature{
		params: []param{pAny}, result: tBool, nulls: NullAware, neverNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) { nullness(c, args[0], out, false) },
	}).printed(func(a []string) string { return "(" + a[0] + " IS NOT NULL)" }).example("SELECT isnotnull(1)", "true"),
	define("isnan", "predicate", "isnan(expr)", "True when the value is NaN; false for null.", signature{
		params: []param{pDouble}, result: tBool, nulls: NullAware, neverNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[0]
			for i := range c.Rows {
				x := v.F64[v.Row(i)]
				out.Bool[i] = !v.IsNull(i) && x != x
			}
		},
	}).example("SELECT isnan(double('NaN'))", "true"),
	define("not", "predicate", "NOT expr", "Logical negation.", signature{
		params: []param{pBool}, result: tBool, kernel: unary(bools, bools, func(x bool) bool { return !x }),
	}).alias("!").printed(func(a []string) string { return "(NOT " + a[0] + ")" }).example("SELECT NOT true", "false"),
	inFunction(),
}

// printed gives the calls of f Spark's automatic column text.
func (f *Function) printed(text func(args []string) string) *Function {
	bind := f.Bind
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		b, err := bind(s, args)
		if b != nil {
			b.Print = text
		}
		return b, err
	}
	return f
}

func nullness(c *Ctx, v *vector, out *vector, want bool) {
	if v.Nulls == nil && v.Type.Kind != schema.Void {
		for i := range c.Rows {
			out.Bool[i] = !want
		}
		return
	}
	for i := range c.Rows {
		out.Bool[i] = v.IsNull(i) == want
	}
}

func comparison(name, usage, doc string) *Function {
	f := &Function{Name: name, Group: "predicate", Usage: usage, Doc: doc}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 2, 2, len(args)); err != nil {
			return nil, err
		}
		b, err := bindComparison(s, name, args)
		if b != nil {
			b.Fn = f
		}
		return b, err
	}
	return f
}

func bindComparison(s *Session, name string, args []Arg) (*Bound, error) {
	symbol := name
	if name == "equal_null" {
		symbol = "<=>"
	}
	call := "(" + args[0].Text + " " + symbol + " " + args[1].Text + ")"
	t, ok := comparisonType(s, args[0].Type, args[1].Type)
	if !ok && !s.ANSI && (symbol == "=" || symbol == "!=" || symbol == "<=>") {
		// without ANSI a boolean equals the number 1 or 0
		switch l, r := args[0].Type, args[1].Type; {
		case l.Kind == schema.Boolean && r.IsNumeric():
			t, ok = r, true
		case r.Kind == schema.Boolean && l.IsNumeric():
			t, ok = l, true
		}
	}
	if !ok {
		return nil, errDiffTypes(call, args[0].Type, args[1].Type)
	}
	if !Orderable(t) {
		return nil, errOrdering(symbol, call, t)
	}
	b := &Bound{Args: []schema.Type{t, t}, Result: tBool}
	switch name {
	case "<=>", "equal_null":
		b.Nulls, b.Kernel = NullAware, nullSafeEqual
	case "!=":
		b.Kernel, b.Nullable = compareKernel("!=", t), args[0].Nullable || args[1].Nullable
		b.Print = func(a []string) string { return "(NOT (" + a[0] + " = " + a[1] + "))" }
		return b, nil
	default:
		b.Kernel, b.Nullable = compareKernel(name, t), args[0].Nullable || args[1].Nullable
	}
	if name != "equal_null" {
		b.Print = func(a []string) string { return "(" + a[0] + " " + symbol + " " + a[1] + ")" }
	}
	return b, nil
}

// comparisonType is the common type of the sides of a comparison. Structs
// compare by position, whatever their fields are called.
func comparisonType(s *Session, a, b schema.Type) (schema.Type, bool) {
	if a.Kind == schema.Struct && b.Kind == schema.Struct && len(a.Fields) == len(b.Fields) {
		fields := make([]schema.Field, len(a.Fields))
		for i, f := range a.Fields {
			t, ok := comparisonType(s, f.Type, b.Fields[i].Type)
			if !ok {
				return schema.Type{}, false
			}
			fields[i] = schema.Field{Name: f.Name, Type: t, Nullable: f.Nullable || b.Fields[i].Nullable}
		}
		return schema.StructOf(fields...), true
	}
	if a.Kind == schema.Array && b.Kind == schema.Array {
		e, ok := comparisonType(s, *a.Elem, *b.Elem)
		return schema.ArrayOf(e, a.ElemNullable || b.ElemNullable), ok
	}
	if a.Kind == schema.String && isInterval(b) || isInterval(a) && b.Kind == schema.String {
		return schema.Type{}, false
	}
	return CommonType(s, a, b)
}

// Orderable reports whether values of t can be compared and sorted.
func Orderable(t schema.Type) bool {
	switch t.Kind {
	case schema.Map, schema.Variant, schema.CalendarInterval:
		return false
	case schema.Array:
		return Orderable(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if !Orderable(f.Type) {
				return false
			}
		}
	}
	return true
}

func nullSafeEqual(c *Ctx, args []*vector, out *vector) {
	a, b := args[0], args[1]
	c.Each(func(i int) { out.Bool[i] = column.Equal(a, i, b, i) })
}

// compareKernel compares two vectors of one type.
func compareKernel(op string, t schema.Type) Kernel {
	switch column.PhysicalOf(t) {
	case column.PhysI8:
		return orderedKernel(op, i8s)
	case column.PhysI16:
		return orderedKernel(op, i16s)
	case column.PhysI32:
		return orderedKernel(op, i32s)
	case column.PhysI64:
		return orderedKernel(op, i64s)
	case column.PhysF32:
		return floatCompare(op, f32s)
	case column.PhysF64:
		return floatCompare(op, f64s)
	case column.PhysBytes:
		return bytesCompare(op)
	}
	test := compareTest(op)
	return func(c *Ctx, args []*vector, out *vector) {
		a, b := args[0], args[1]
		c.live(out, func(i int) { out.Bool[i] = test(column.Compare(a, i, b, i)) })
	}
}

func compareTest(op string) func(int) bool {
	switch op {
	case "=":
		return func(d int) bool { return d == 0 }
	case "!=":
		return func(d int) bool { return d != 0 }
	case "<":
		return func(d int) bool { return d < 0 }
	case "<=":
		return func(d int) bool { return d <= 0 }
	case ">":
		return func(d int) bool { return d > 0 }
	}
	return func(d int) bool { return d >= 0 }
}

// orderedKernel has one loop for each operator; > and >= swap their sides.
func orderedKernel[T signedInt](op string, get slice[T]) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a, b := operand(c, args, 0, get), operand(c, args, 1, get)
		o := out.Bool[:len(a)]
		if op == ">" || op == ">=" {
			a, b = b, a
		}
		b = b[:len(a)]
		switch op {
		case "=":
			for i, x := range a {
				o[i] = x == b[i]
			}
		case "!=":
			for i, x := range a {
				o[i] = x != b[i]
			}
		case "<", ">":
			for i, x := range a {
				o[i] = x < b[i]
			}
		default:
			for i, x := range a {
				o[i] = x <= b[i]
			}
		}
	}
}

// floatCompare is orderedKernel with Spark's NaN: equal to itself, greatest.
func floatCompare[T floating](op string, get slice[T]) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		a, b := operand(c, args, 0, get), operand(c, args, 1, get)
		o := out.Bool[:len(a)]
		if op == ">" || op == ">=" {
			a, b = b, a
		}
		b = b[:len(a)]
		switch op {
		case "=":
			for i, x := range a {
				y := b[i]
				o[i] = x == y || x != x && y != y
			}
		case "!=":
			for i, x := range a {
				y := b[i]
				o[i] = x != y && (x == x || y == y)
			}
		case "<", ">":
			for i, x := range a {
				y := b[i]
				o[i] = x < y || y != y && x == x
			}
		default:
			for i, x := range a {
				y := b[i]
				o[i] = x <= y || y != y
			}
		}
	}
}

func bytesCompare(op string) Kernel {
	test := compareTest(op)
	if op == "=" || op == "!=" {
		want := op == "="
		return func(c *Ctx, args []*vector, out *vector) {
			a, b := args[0], args[1]
			c.live(out, func(i int) { out.Bool[i] = bytes.Equal(a.Str(i), b.Str(i)) == want })
		}
	}
	return func(c *Ctx, args []*vector, out *vector) {
		a, b := args[0], args[1]
		c.live(out, func(i int) { out.Bool[i] = test(bytes.Compare(a.Str(i), b.Str(i))) })
	}
}

// inFunction is expr IN (a, b, ...): the first argument is looked for among
// the others; null where it is not found and a null is about.
func inFunction() *Function {
	f := &Function{
		Name: "in", Group: "predicate", Usage: "expr IN (expr1, expr2, ...)", Doc: "True when the value equals one of the list.",
		Example: "SELECT 1 IN (1, 2, 3)", Result: "true",
	}
	f.Bind = func(s *Session, args []Arg) (*Bound, error) {
		if err := checkCount("in", 2, 1<<20, len(args)); err != nil {
			return nil, err
		}
		types := make([]schema.Type, len(args))
		for i, a := range args {
			types[i] = a.Type
		}
		t, ok := inType(s, types)
		call := inText(args)
		if !ok {
			return nil, errDataDiffTypes("in", call, args)
		}
		if !Orderable(t) {
			return nil, errOrdering("in", call, t)
		}
		b := &Bound{Fn: f, Result: tBool, Nulls: NullAware, Kernel: inKernel}
		constant := true
		for i, a := range args {
			b.Args = append(b.Args, t)
			b.Nullable = b.Nullable || a.Nullable
			constant = constant && (i == 0 || a.Const != nil)
		}
		if constant && len(args) > 4 {
			b.Kernel = inSetKernel
		}
		b.Print = func(a []string) string {
			return "(" + a[0] + " IN (" + joinTexts(a[1:]) + "))"
		}
		return b, nil
	}
	return f
}

func inType(s *Session, types []schema.Type) (schema.Type, bool) {
	if types[0].Kind != schema.Struct {
		return CommonOf(s, types)
	}
	t := types[0]
	for _, x := range types[1:] {
		var ok bool
		if t, ok = comparisonType(s, t, x); !ok {
			return t, false
		}
	}
	return t, true
}

func inText(args []Arg) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.Text
	}
	return "(" + texts[0] + " IN (" + joinTexts(texts[1:]) + "))"
}

func joinTexts(texts []string) string { return strings.Join(texts, ", ") }

func inKernel(c *Ctx, args []*vector, out *vector) {
	x := args[0]
	c.Each(func(i int) {
		if x.IsNull(i) {
			out.SetNull(i)
			return
		}
		unknown := false
		for _, v := range args[1:] {
			if v.IsNull(i) {
				unknown = true
			} else if column.Equal(x, i, v, i) {
				out.Bool[i] = true
				return
			}
		}
		out.Bool[i] = false
		if unknown {
			out.SetNull(i)
		}
	})
}

// inSet is a hash table over a constant list, made at the first batch.
type inSet struct {
	values *vector
	slots  []int32 // row in values + 1, 0: empty
	null   bool
}

func newInSet(args []*vector) *inSet {
	set := &inSet{values: column.New(args[0].Type)}
	for _, v := range args {
		if v.IsNull(0) {
			set.null = true
		} else {
			column.AppendRow(set.values, v, 0)
		}
	}
	size := 8
	for size < 2*set.values.Len {
		size *= 2
	}
	set.slots = make([]int32, size)
	for r := range set.values.Len {
		h := int(column.HashRow(set.values, r, 0)) & (size - 1)
		for set.slots[h] != 0 {
			h = (h + 1) & (size - 1)
		}
		set.slots[h] = int32(r + 1)
	}
	return set
}

func (s *inSet) has(v *vector, i int) bool {
	mask := len(s.slots) - 1
	h := int(column.HashRow(v, i, 0)) & mask
	for s.slots[h] != 0 {
		if column.Equal(s.values, int(s.slots[h]-1), v, i) {
			return true
		}
		h = (h + 1) & mask
	}
	return false
}

func inSetKernel(c *Ctx, args []*vector, out *vector) {
	set, ok := c.Scratch.(*inSet)
	if !ok {
		set = newInSet(args[1:])
		c.Scratch = set
	}
	x := args[0]
	c.Each(func(i int) {
		if x.IsNull(i) {
			out.SetNull(i)
			return
		}
		out.Bool[i] = set.has(x, i)
		if set.null && !out.Bool[i] {
			out.SetNull(i)
		}
	})
}
