package funcs

import (
	"errors"

	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var tVariant = typ(schema.Variant)

// pOnlyString takes texts only; pVariant variants only.
var (
	pOnlyString = param{`"STRING"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		return tString, t.Kind == schema.String || t.Kind == schema.Void
	}}
	pVariant = param{`"VARIANT"`, func(_ *Session, t schema.Type) (schema.Type, bool) {
		return tVariant, t.Kind == schema.Variant || t.Kind == schema.Void
	}}
)

var variantFunctions = []*Function{
	define("parse_json", "variant", "parse_json(jsonStr)", "Variant of a JSON text.", signature{
		params: []param{pOnlyString}, result: tVariant, canFail: true, kernel: parseJSONKernel(false),
	}).example(`SELECT parse_json('{"a":1,"b":0.8}')`, `{"a":1,"b":0.8}`),
	define("try_parse_json", "variant", "try_parse_json(jsonStr)", "Variant of a JSON text, NULL when it is none.", signature{
		params: []param{pOnlyString}, result: tVariant, mayNull: true, kernel: parseJSONKernel(true),
	}).example(`SELECT try_parse_json('{"a":1')`, "NULL"),
	custom("variant_get", "variant", "variant_get(v, path[, type])", "What stands at a path in a variant, as a type.", func(s *Session, args []Arg) (*Bound, error) {
		return bindVariantGet(s, "variant_get", args, false)
	}).example(`SELECT variant_get(parse_json('{"a":1}'), '$.a', 'int')`, "1"),
	custom("try_variant_get", "variant", "try_variant_get(v, path[, type])", "variant_get that gives NULL where the value does not fit.", func(s *Session, args []Arg) (*Bound, error) {
		return bindVariantGet(s, "try_variant_get", args, true)
	}).example(`SELECT try_variant_get(parse_json('[1, "2"]'), '$[2]', 'string')`, "NULL"),
	define("is_variant_null", "variant", "is_variant_null(v)", "True for the null that is a variant.", signature{
		params: []param{pVariant}, result: tBool, nulls: NullAware, neverNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.Each(func(i int) { out.Bool[i] = !args[0].IsNull(i) && variantAt(args[0], i).Kind() == variant.Null })
		},
	}).example("SELECT is_variant_null(parse_json('null'))", "true"),
	define("is_valid_variant", "variant", "is_valid_variant(v)", "True when the variant is encoded as it should be.", signature{
		params: []param{pVariant}, result: tBool, nulls: NullIfAny,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			v := args[0]
			c.live(out, func(i int) { out.Bool[i] = variant.Valid(v.Children[0].Str(v.Row(i)), v.Children[1].Str(v.Row(i))) })
		},
	}).example("SELECT is_valid_variant(parse_json('null'))", "true"),
	define("schema_of_variant", "variant", "schema_of_variant(v)", "Type of a variant in DDL.", signature{
		params: []param{pVariant}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				return appendVariantType(b, variantType(c.Session, variantAt(args[0], i), 0))
			})
		},
	}).example(`SELECT schema_of_variant(parse_json('[{"b":true,"a":0}]'))`, "ARRAY<OBJECT<a: BIGINT, b: BOOLEAN>>"),
	custom("to_variant_object", "variant", "to_variant_object(expr)", "Variant of a struct, an array or a map.", bindToVariant).
		example("SELECT to_variant_object(named_struct('a', 1))", `{"a":1}`),
}

// variantAt looks at row i of a variant vector, which is not null.
func variantAt(v *vector, i int) variant.Value {
	i = v.Row(i)
	return variant.Of(v.Children[0].Str(i), v.Children[1].Str(i))
}

// appendVariants fills a variant vector: f builds the value of a row and
// reports whether there is one.
func (c *Ctx) appendVariants(out *vector, b *variant.Builder, f func(i int) bool) {
	next := 0
	for _, child := range out.Children {
		child.Resize(0)
	}
	null := func() {
		for _, child := range out.Children {
			child.AppendNull()
		}
		next++
	}
	c.Each(func(i int) {
		for next < i {
			null()
		}
		if out.Nulls.Get(i) {
			null()
			return
		}
		b.Reset()
		if !f(i) {
			out.SetNull(i)
			null()
			return
		}
		if err := b.AppendTo(out); err != nil {
			c.Fail(out, i, NewError("VARIANT_SIZE_LIMIT", "Cannot build variant bigger than 128 MiB.", nil))
			null()
			return
		}
		next++
	})
	for next < c.Rows {
		null()
	}
	out.Len = c.Rows
}

// variantParser is the scratch of parse_json.
type variantParser struct {
	b *variant.Builder
	p *variant.Parser
}

func parseJSONKernel(try bool) Kernel {
	return func(c *Ctx, args []*vector, out *vector) {
		p, ok := c.Scratch.(*variantParser)
		if !ok {
			b := variant.NewBuilder()
			p = &variantParser{b, variant.NewParser(b)}
			c.Scratch = p
		}
		c.appendVariants(out, p.b, func(i int) bool {
			err := p.p.Parse(args[0].Str(i))
			if err == nil {
				return true
			}
			if !try {
				c.Fail(out, i, errVariantText(err, args[0].Str(i)))
			}
			return false
		})
	}
}

func errVariantText(err error, record []byte) *Error {
	if errors.Is(err, variant.ErrSize) {
		return NewError("VARIANT_SIZE_LIMIT", "Cannot build variant bigger than 128 MiB in `parse_json`.", map[string]string{"functionName": "`parse_json`"})
	}
	return errMalformed(record)
}

func errVariantCast(v variant.Value, s *Session, to schema.Type) *Error {
	value := string(v.AppendJSON(nil, s.zone()))
	return NewError("INVALID_VARIANT_CAST", "The variant value `"+value+"` cannot be cast into "+quoteType(to)+". Please use `try_variant_get` instead.",
		map[string]string{"value": value, "dataType": quoteType(to)})
}

func bindVariantGet(s *Session, name string, args []Arg, try bool) (*Bound, error) {
	if err := checkCount(name, 2, 3, len(args)); err != nil {
		return nil, err
	}
	call := callText(name, args)
	to := tVariant
	if len(args) > 2 {
		ddl, ok := constString(args[2])
		if !ok {
			return nil, NewError("INVALID_SCHEMA.NON_STRING_LITERAL", `The input schema "`+args[2].Text+`" is not a valid schema string. The input expression must be string literal and not null.`, map[string]string{"inputSchema": `"` + args[2].Text + `"`})
		}
		var err error
		if to, err = parseType(s, ddl); err != nil {
			return nil, err
		}
		to = nullable(to)
	}
	if k := args[0].Type.Kind; k != schema.Variant && k != schema.Void {
		return nil, errInputType(call, 0, `"VARIANT"`, args[0])
	}
	if k := args[1].Type.Kind; k != schema.String && k != schema.Void {
		return nil, errInputType(call, 1, `"STRING"`, args[1])
	}
	if !fromVariant(to) {
		return nil, errMismatch("CAST_WITHOUT_SUGGESTION", call, "cannot cast \"VARIANT\" to "+quoteType(to)+".",
			map[string]string{"srcType": `"VARIANT"`, "targetType": quoteType(to)})
	}
	if p, ok := constString(args[1]); ok {
		if _, ok := variant.ParsePath(p); !ok {
			return nil, errVariantPath(name, p)
		}
	}
	types := []schema.Type{tVariant, tString, tString}[:len(args)]
	return &Bound{
		Args: types, Result: to, Nullable: true, Nulls: NullAware, CanFail: true,
		Print:  func(a []string) string { return name + "(" + a[0] + ", " + a[1] + ")" },
		Kernel: variantGetter{to, name, try}.kernel,
	}, nil
}

func errVariantPath(name, path string) *Error {
	return NewError("INVALID_VARIANT_GET_PATH", "The path `"+path+"` is not a valid variant extraction path in `"+name+
		"`. A valid path should start with `$` and is followed by zero or more segments like `[123]`, `.name`, `['name']`, or `[\"name\"]`.",
		map[string]string{"path": path, "functionName": "`" + name + "`"})
}

// variantFinder is the scratch of variant_get.
type variantFinder struct {
	cast  variantCast
	text  string
	path  *variant.Path
	vals  []variant.Value
	place []int32
}

// variantGetter is a bound variant_get.
type variantGetter struct {
	to   schema.Type
	name string
	try  bool
}

func (g variantGetter) kernel(c *Ctx, args []*vector, out *vector) {
	f, ok := c.Scratch.(*variantFinder)
	if !ok {
		f = &variantFinder{}
		c.Scratch = f
	}
	f.vals, f.place = f.vals[:0], f.place[:0]
	var failed []badRow
	for range c.Rows {
		f.place = append(f.place, -1)
	}
	c.Each(func(i int) {
		if args[0].IsNull(i) || args[1].IsNull(i) {
			return
		}
		if s := args[1].Str(i); f.text != string(s) || f.path == nil {
			f.text = string(s)
			if f.path, _ = variant.ParsePath(f.text); f.path == nil {
				failed = append(failed, badRow{i, errVariantPath(g.name, f.text)})
				return
			}
		}
		if found, ok := f.path.Get(variantAt(args[0], i)); ok {
			f.place[i] = int32(len(f.vals))
			f.vals = append(f.vals, found)
		}
	})
	r := f.cast.run(c, f.vals, g.to)
	if g.try {
		r.Errs = nil
	}
	column.Gather(out, r, f.place)
	r.Release()
	for _, b := range failed {
		c.Fail(out, b.row, b.err)
	}
}

func bindToVariant(s *Session, args []Arg) (*Bound, error) {
	const name = "to_variant_object"
	if err := checkCount(name, 1, 1, len(args)); err != nil {
		return nil, err
	}
	t := args[0].Type
	if !t.IsNested() || !toVariant(t, true) {
		return nil, errMismatch("CAST_WITHOUT_SUGGESTION", callText(name, args), "cannot cast "+quoteType(t)+" to \"VARIANT\".",
			map[string]string{"srcType": quoteType(t), "targetType": `"VARIANT"`})
	}
	return &Bound{Args: []schema.Type{t}, Result: tVariant, Nullable: args[0].Nullable, CanFail: true, Kernel: toVariantKernel}, nil
}
