package column_test

import (
	"math"
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// -0.0 is below 0.0 wherever it stands, and of NaNs one is left.
func TestCompareTotal(t *testing.T) {
	zero, other := math.Copysign(0, -1), math.Float64frombits(0xfff8000000000abc)
	field := schema.Field{Name: "f", Type: schema.Of(schema.Float64), Nullable: true}
	number := schema.Of(schema.Float64)
	for _, typ := range []schema.Type{number, schema.StructOf(field), {Kind: schema.Array, Elem: &number, ElemNullable: true}} {
		v := column.New(typ)
		for _, x := range []any{nil, -1.0, zero, 0.0, 1.0, math.NaN(), other} {
			if typ.Kind != schema.Float64 {
				x = []any{x}
			}
			column.AppendValue(v, x)
		}
		for i := range v.Len {
			for j := range v.Len {
				want := min(i, 5) - min(j, 5)
				if got := column.CompareTotal(v, i, v, j); got*want < 0 || (got == 0) != (want == 0) {
					t.Errorf("%s: %d to %d: %d", typ.SQL(), i, j, got)
				}
			}
		}
		column.Canonical(v, 3, true)
		flat := v
		for len(flat.Children) > 0 {
			flat = flat.Children[0]
		}
		if a, b := flat.F64[5], flat.F64[6]; math.Float64bits(a) != math.Float64bits(b) || !math.Signbit(flat.F64[2]) {
			t.Errorf("%s: %x %x", typ.SQL(), a, b)
		}
		if column.Canonical(v, 0, true); math.Signbit(flat.F64[2]) {
			t.Errorf("%s: -0.0 is left", typ.SQL())
		}
	}
}
