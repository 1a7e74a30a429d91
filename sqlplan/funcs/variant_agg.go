package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var variantAggregates = []*Aggregate{
	aggregate("schema_of_variant_agg", "schema_of_variant_agg(v)", "The type, in DDL, that all the variants have together.", aggSpec{
		sig: signature{params: []param{pVariant}}, build: buildVariantSchema,
	}).anyOrder().example(`SELECT schema_of_variant_agg(parse_json(j)) FROM VALUES ('{"a":1}'), ('{"b":true}') AS t(j)`, "OBJECT<a: BIGINT, b: BOOLEAN>"),
}

// example adds an example and its result as the shell prints it.
func (f *Aggregate) example(sql, result string) *Aggregate {
	f.Example, f.Result = sql, result
	return f
}

// typeText keeps the type of a group as its JSON text.
type typeText struct{ text *vector }

func (t typeText) get(st *States, g int32) schema.Type {
	v, r := st.Values[0].Value(g)
	if r < 0 {
		return tVoid
	}
	out, err := schema.ParseTypeJSON(string(v.Str(r)))
	if err != nil {
		panic("bug: funcs: stored type: " + err.Error())
	}
	return out
}

func (t typeText) set(st *States, g int32, x schema.Type) {
	t.text.Resize(0)
	t.text.AppendStr([]byte(x.JSON()))
	st.Values[0].Set(g, t.text, 0)
}

func buildVariantSchema(s *Session, _ []Arg, _ []schema.Type) (*BoundAggregate, error) {
	return &BoundAggregate{
		Result: tString, State: []StateColumn{{"type", tString, StateValue}},
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			// types of the groups of this batch, so that each is stored once
			seen := map[int32]schema.Type{}
			for k, r := range rows {
				if vs[0].IsNull(int(r)) {
					continue
				}
				t, ok := seen[groups[k]]
				if !ok {
					t = tVoid
				}
				seen[groups[k]] = mergeVariantTypes(s, t, variantType(s, variantAt(vs[0], int(r)), 0))
			}
			tt := typeText{column.New(tString)}
			for g, t := range seen {
				tt.set(st, g, mergeVariantTypes(s, tt.get(st, g), t))
			}
		},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			tt := typeText{column.New(tString)}
			for k, r := range rows {
				tt.set(st, groups[k], mergeVariantTypes(s, tt.get(st, groups[k]), tt.get(other, r)))
			}
		},
		Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
			tt := typeText{}
			for _, g := range groups {
				out.AppendStr(appendVariantType(nil, tt.get(st, g)))
			}
		},
	}, nil
}
