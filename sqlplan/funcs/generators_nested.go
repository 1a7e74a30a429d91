package funcs

import (
	"pipelines/tables/codec/json"
	"pipelines/tables/codec/variant"
	"pipelines/tables/schema"
)

var nestedGenerators = []*Generator{
	{Name: "json_tuple", Usage: "json_tuple(jsonStr, p1, p2, ..., pn)", Doc: "The fields of a JSON object as columns of texts.", Bind: bindJSONTuple},
	{Name: "variant_explode", Usage: "variant_explode(expr)", Doc: "One row for each element of a variant that is an array, or field of one that is an object.", Bind: bindVariantExplode},
}

func bindJSONTuple(_ *Session, args []Arg) (*BoundGenerator, error) {
	const name = "json_tuple"
	if err := checkCount(name, 2, 1<<20, len(args)); err != nil {
		return nil, err
	}
	b := &BoundGenerator{}
	for i, a := range args {
		if a.Type.Kind != schema.String {
			return nil, errMismatch("NON_STRING_TYPE", callText(name, args), "All arguments of the function `"+name+"` must be strings.", map[string]string{"funcName": "`" + name + "`"})
		}
		b.Args = append(b.Args, tString)
		if i > 0 {
			b.Columns = append(b.Columns, schema.Field{Name: "c" + intLiteral(int64(i-1), tInt), Type: tString, Nullable: true})
		}
	}
	b.Generate = func(c *Ctx, args []*vector, out []*vector, rows []int32) []int32 {
		r := json.NewReader(pathOptions)
		found := make([][]byte, len(out))
		ok := make([]bool, len(out))
		c.Each(func(i int) {
			rows = append(rows, int32(i))
			clear(ok)
			if !args[0].IsNull(i) {
				valid := r.Fields(args[0].Str(i), func(name, value []byte, null bool) {
					for k := range out {
						if p := args[k+1]; !null && !p.IsNull(i) && string(p.Str(i)) == string(name) {
							found[k], ok[k] = append(found[k][:0], value...), true
						}
					}
				})
				if !valid {
					clear(ok)
				}
			}
			for k, v := range out {
				if ok[k] {
					v.AppendStr(found[k])
				} else {
					v.AppendNull()
				}
			}
		})
		return rows
	}
	return b, nil
}

func bindVariantExplode(_ *Session, args []Arg) (*BoundGenerator, error) {
	const name = "variant_explode"
	if err := bindGenerated(name, `"VARIANT"`, args, len(args) == 1 && (args[0].Type.Kind == schema.Variant || args[0].Type.Kind == schema.Void)); err != nil {
		return nil, err
	}
	b := &BoundGenerator{Args: []schema.Type{tVariant}, Columns: []schema.Field{
		{Name: "pos", Type: tInt}, {Name: "key", Type: tString, Nullable: true}, {Name: "value", Type: tVariant},
	}}
	b.Generate = func(c *Ctx, args []*vector, out []*vector, rows []int32) []int32 {
		builder := variant.NewBuilder()
		c.Each(func(i int) {
			if args[0].IsNull(i) {
				return
			}
			v := variantAt(args[0], i)
			kind := v.Kind()
			for k := range v.Len() {
				builder.Reset()
				builder.Value(v.At(k))
				if builder.AppendTo(out[2]) != nil {
					out[2].AppendNull()
				}
				out[0].I32 = append(out[0].I32, int32(k))
				out[0].Len++
				if kind == variant.Object {
					out[1].AppendStr(v.Name(k))
				} else {
					out[1].AppendNull()
				}
				rows = append(rows, int32(i))
			}
		})
		return rows
	}
	return b, nil
}
