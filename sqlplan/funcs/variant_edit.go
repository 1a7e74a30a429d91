package funcs

import (
	"errors"

	"pipelines/tables/codec/variant"
	"pipelines/tables/schema"
)

var variantEditFunctions = []*Function{
	custom("variant_delete", "variant", "variant_delete(v, path1[, path2, ...])", "The variant without what stands at the paths, which are taken one after the other; a NULL path is passed over.", bindVariantDelete).
		example(`SELECT variant_delete(parse_json('{"a":1,"b":[1,2,3]}'), '$.a', '$.b[0]')`, `{"b":[2,3]}`),
	variantPut("variant_insert", "A value put into the variant at a path: as a new field, or before the element that stands there. What the path lacks is made.", false, variantInsert).
		example(`SELECT variant_insert(parse_json('{"a":[1,2]}'), '$.a[1]', 'x')`, `{"a":[1,"x",2]}`),
	variantPut("try_variant_insert", "variant_insert that gives NULL where the field exists or the path does not fit.", true, variantInsert).
		example(`SELECT try_variant_insert(parse_json('{"a":1}'), '$.a', 2)`, "NULL"),
	variantPut("variant_set", "The variant with the value at a path, in the place of what stands there; what the path lacks is made unless the last argument is false.", false, variantSet).
		example(`SELECT variant_set(parse_json('{"a":{"b":1}}'), '$.a.c.d', 2)`, `{"a":{"b":1,"c":{"d":2}}}`),
	variantPut("try_variant_set", "variant_set that gives NULL where the path does not fit.", true, variantSet).
		example(`SELECT try_variant_set(parse_json('{"a":1}'), '$.a.b', 2)`, "NULL"),
	variantPut("variant_array_append", "The value put behind the last element of the array at a path; a path that leads nowhere changes nothing.", false, variantAppend).
		example(`SELECT variant_array_append(parse_json('{"a":[1,2]}'), '$.a', 3)`, `{"a":[1,2,3]}`),
	variantPut("try_variant_array_append", "variant_array_append that gives NULL where the path leads to no array.", true, variantAppend).
		example(`SELECT try_variant_array_append(parse_json('{"a":1}'), '$.a', 3)`, "NULL"),
	define("variant_strip_nulls", "variant", "variant_strip_nulls(v[, includeArrays])", "The variant without the fields that are null, at any depth, and without such elements of arrays unless includeArrays is false.", signature{
		params: []param{pVariant, pBool}, min: 1, result: tVariant, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			b := editorOf(c).b
			c.appendVariants(out, b, func(i int) bool {
				b.StripNulls(variantAt(args[0], i), len(args) < 2 || args[1].Bool[args[1].Row(i)])
				return true
			})
		},
	}).example(`SELECT variant_strip_nulls(parse_json('{"a":null,"b":[1,null]}'))`, `{"b":[1]}`).printed(withDefaults("variant_strip_nulls", "", "true")),
}

// variantEditor is the scratch of the functions that change variants.
type variantEditor struct {
	b, x        *variant.Builder // the result, the new value
	text        string
	path        *variant.Path
	value, meta []byte
}

func editorOf(c *Ctx) *variantEditor {
	e, ok := c.Scratch.(*variantEditor)
	if !ok {
		e = &variantEditor{b: variant.NewBuilder(), x: variant.NewBuilder()}
		c.Scratch = e
	}
	return e
}

// open reads a path, when it is not the one before.
func (e *variantEditor) open(name string, s []byte, root bool) *Error {
	if e.path == nil || e.text != string(s) {
		e.text = string(s)
		e.path, _ = variant.ParsePath(e.text)
	}
	if e.path == nil || e.path.IsRoot() && !root {
		return errVariantEditPath(name, e.text)
	}
	return nil
}

// made is row i of v as a variant.
func (e *variantEditor) made(v *vector, i int) variant.Value {
	if v.Type.Kind == schema.Variant {
		return variantAt(v, i)
	}
	e.x.Reset()
	buildVariant(e.x, v, i)
	e.value, e.meta = e.x.AppendValue(e.value[:0]), e.x.AppendMetadata(e.meta[:0])
	return variant.Of(e.value, e.meta)
}

func errVariantEditPath(name, path string) *Error {
	return NewError("INVALID_VARIANT_PATH", "The path `"+path+"` is not a valid variant path in `"+name+
		"`. A valid path starts with `$` and goes on with segments like `[123]`, `.name`, `['name']`, or `[\"name\"]`.",
		map[string]string{"path": path, "functionName": "`" + name + "`"})
}

// checkVariantPath refuses a constant path that cannot be read.
func checkVariantPath(name string, a Arg, root bool) error {
	s, ok := constString(a)
	if !ok {
		return nil
	}
	if p, ok := variant.ParsePath(s); !ok || p.IsRoot() && !root {
		return errVariantEditPath(name, s)
	}
	return nil
}

func bindVariantDelete(s *Session, args []Arg) (*Bound, error) {
	const name = "variant_delete"
	if err := checkCount(name, 2, 1<<20, len(args)); err != nil {
		return nil, err
	}
	types := []schema.Type{tVariant}
	if _, ok := pVariant.take(s, args[0].Type); !ok {
		return nil, errInputType(callText(name, args), 0, pVariant.want, args[0])
	}
	for i, a := range args[1:] {
		if _, ok := pOnlyString.take(s, a.Type); !ok {
			return nil, errInputType(callText(name, args), i+1, pOnlyString.want, a)
		}
		if err := checkVariantPath(name, a, false); err != nil {
			return nil, err
		}
		types = append(types, tString)
	}
	return &Bound{Args: types, Result: tVariant, Nullable: args[0].Nullable, Nulls: NullAware, CanFail: true, Kernel: variantDeleteKernel}, nil
}

func variantDeleteKernel(c *Ctx, args []*vector, out *vector) {
	e := editorOf(c)
	c.appendVariants(out, e.b, func(i int) bool {
		if args[0].IsNull(i) {
			return false
		}
		v := variantAt(args[0], i)
		for _, p := range args[1:] {
			if p.IsNull(i) {
				continue
			}
			if err := e.open("variant_delete", p.Str(i), false); err != nil {
				c.Fail(out, i, err)
				return false
			}
			e.x.Reset()
			e.path.Delete(e.x, v)
			// v may lie in these buffers, but it has been copied by now
			e.value, e.meta = e.x.AppendValue(e.value[:0]), e.x.AppendMetadata(e.meta[:0])
			v = variant.Of(e.value, e.meta)
		}
		e.b.Value(v)
		return true
	})
}

// variantPutOp changes a variant at a path; create is variant_set's last argument.
type variantPutOp func(p *variant.Path, b *variant.Builder, v, x variant.Value, create bool) error

func variantInsert(p *variant.Path, b *variant.Builder, v, x variant.Value, _ bool) error {
	return p.Insert(b, v, x)
}

func variantSet(p *variant.Path, b *variant.Builder, v, x variant.Value, create bool) error {
	return p.Set(b, v, x, create)
}

func variantAppend(p *variant.Path, b *variant.Builder, v, x variant.Value, _ bool) error {
	return p.Append(b, v, x)
}

// variantPut makes a function that puts a value into a variant; try gives NULL
// where the value does not fit there.
func variantPut(name, doc string, try bool, op variantPutOp) *Function {
	plain, usage := name, name+"(v, path, val)"
	if try {
		plain = name[len("try_"):]
	}
	root := plain == "variant_array_append"
	sig := signature{
		params: []param{pVariant, pOnlyString, pAny}, result: tVariant, canFail: true, mayNull: try,
		check: func(_ *Session, call string, args []Arg) error {
			if t := args[2].Type; !toVariant(t, false) {
				return errMismatch("CAST_WITHOUT_SUGGESTION", call, "cannot cast "+quoteType(t)+" to \"VARIANT\".",
					map[string]string{"srcType": quoteType(t), "targetType": `"VARIANT"`})
			}
			return checkVariantPath(name, args[1], root)
		},
		kernel: func(c *Ctx, args []*vector, out *vector) {
			e := editorOf(c)
			c.appendVariants(out, e.b, func(i int) bool {
				err := e.open(name, args[1].Str(i), root)
				if err == nil {
					create := len(args) < 4 || args[3].Bool[args[3].Row(i)]
					err = errVariantPut(name, e, op(e.path, e.b, variantAt(args[0], i), e.made(args[2], i), create))
				}
				if err != nil && !(try && (err.Class == "VARIANT_PATH_TYPE_MISMATCH" || err.Class == "VARIANT_DUPLICATE_KEY")) {
					c.Fail(out, i, err)
				}
				return err == nil
			})
		},
	}
	if plain == "variant_set" {
		usage = name + "(v, path, val[, create_if_missing])"
		sig.params, sig.min = append(sig.params, pBool), 3
	}
	f := define(name, "variant", usage, doc, sig)
	if plain == "variant_set" {
		f.printed(withDefaults(name, "", "", "", "true"))
	}
	return f
}

func errVariantPut(name string, e *variantEditor, err error) *Error {
	var at *variant.PathError
	var dup *variant.DuplicateError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &at):
		where := e.path.Prefix(at.Depth)
		return NewError("VARIANT_PATH_TYPE_MISMATCH", "The path `"+e.text+"` of `"+name+"` does not fit the variant: the value at `"+where+"` is of another type.",
			map[string]string{"path": e.text, "prefix": where, "functionName": "`" + name + "`"})
	case errors.As(err, &dup):
		return errVariantDuplicate(dup.Name)
	}
	return NewError("VARIANT_SIZE_LIMIT", "Cannot build variant bigger than 128 MiB in `"+name+"`.", map[string]string{"functionName": "`" + name + "`"})
}

func errVariantDuplicate(name string) *Error {
	return NewError("VARIANT_DUPLICATE_KEY", "Failed to build variant because of a duplicate object key `"+name+"`.", map[string]string{"key": name})
}
