package json

import (
	"testing"

	"pipelines/tables/codec/variant"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestVariant decodes a batch of records with a VARIANT column, also ones that
// are given up half way.
func TestVariant(t *testing.T) {
	typ := schema.StructOf(schema.Field{Name: "v", Type: schema.Of(schema.Variant), Nullable: true}, schema.Field{Name: "n", Type: schema.Of(schema.Int32), Nullable: true})
	d, err := NewDecoder(typ, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ in, want string }{
		{`{"v":{"b":[1,2.50,null],"a":"x"},"n":1}`, `{"a":"x","b":[1,2.5,null]}`},
		{`{"n":2}`, "NULL"},
		{`{"v":[1],"n":`, "NULL"},
		{`{"v":1,"v":true}`, "true"},
		{`{"v":null}`, "null"},
		{`{"v":{"a":1,"a":2},"n":3}`, "NULL"},
		{`{"v":'q'}`, `"q"`},
		{`{"v":"\u00e9"}`, `"é"`},
		{`{"v":1e2}`, "100.0"},
		{`{"v":{"a":1},"n":"bad"}`, `{"a":1}`},
	}
	for round := range 2 {
		out := column.New(typ)
		d.Bind(out)
		for _, c := range cases {
			if _, err := d.Decode([]byte(c.in)); err != nil {
				t.Fatal(err)
			}
		}
		d.Finish()
		v := out.Children[0]
		for i, c := range cases {
			got := "NULL"
			if !v.IsNull(i) {
				got = string(variant.AppendJSON(nil, v.Children[0].Str(i), v.Children[1].Str(i), nil))
			}
			if got != c.want {
				t.Errorf("round %d: %s gives %s, want %s", round, c.in, got, c.want)
			}
		}
		if v.Len != len(cases) || v.Children[0].Len != len(cases) || v.Children[1].Len != len(cases) {
			t.Errorf("lengths %d %d %d", v.Len, v.Children[0].Len, v.Children[1].Len)
		}
	}
}
