package column

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"pipelines/tables/schema"
)

func encodedTypes() []schema.Type {
	field := func(n string, t schema.Type) schema.Field { return schema.Field{Name: n, Type: t, Nullable: true} }
	str, i32 := schema.Of(schema.String), schema.Of(schema.Int32)
	out := []schema.Type{
		schema.Of(schema.Boolean), schema.Of(schema.Int8), schema.Of(schema.Int16), i32, schema.Of(schema.Int64), schema.Of(schema.Float32),
		schema.Of(schema.Float64), str, schema.Of(schema.Binary), schema.Of(schema.Date), schema.Of(schema.Timestamp),
		schema.ArrayOf(str, true), schema.MapOf(str, i32, true),
	}
	return append(out, schema.StructOf(field("a", i32), field("b", schema.ArrayOf(schema.StructOf(field("c", str)), true))))
}

func randomRow(rng *rand.Rand, v *Vector) {
	if rng.IntN(5) == 0 {
		v.AppendNull()
		return
	}
	switch PhysicalOf(v.Type) {
	case PhysBool:
		AppendValue(v, rng.IntN(2) == 0)
	case PhysI8, PhysI16, PhysI32, PhysI64:
		AppendValue(v, rng.IntN(200)-100)
	case PhysF32:
		AppendValue(v, []float32{0, float32(math.Copysign(0, -1)), 1, float32(math.NaN()), -2.5}[rng.IntN(5)])
	case PhysF64:
		AppendValue(v, []float64{0, math.Copysign(0, -1), 1, math.NaN(), math.Inf(-1)}[rng.IntN(5)])
	case PhysBytes:
		v.AppendStr([]byte("abcab"[rng.IntN(3):][:rng.IntN(3)]))
	case PhysList:
		for range rng.IntN(3) {
			for _, c := range v.Children {
				randomRow(rng, c)
			}
		}
		v.EndList()
	case PhysStruct:
		for _, c := range v.Children {
			randomRow(rng, c)
		}
		v.EndStruct()
	}
}

// Values come back as they were; keys are equal exactly where values are, and
// none is the start of another.
func TestEncode(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, typ := range encodedTypes() {
		v := New(typ)
		for range 60 {
			randomRow(rng, v)
		}
		back, keys := New(typ), New(typ)
		var text [][]byte
		for i := range v.Len {
			rest, err := DecodeValue(append(AppendExact(nil, v, i), 'x'), back)
			if err != nil || string(rest) != "x" {
				t.Fatalf("%s row %d: %v, rest %q", typ, i, err, rest)
			}
			text = append(text, AppendKey(nil, v, i))
			if rest, err = DecodeValue(text[i], keys); err != nil || len(rest) > 0 {
				t.Fatalf("%s row %d: %v, rest %q", typ, i, err, rest)
			}
		}
		for i := range v.Len {
			if !Equal(v, i, back, i) || !bytes.Equal(AppendExact(nil, v, i), AppendExact(nil, back, i)) {
				t.Errorf("%s row %d: %v came back as %v", typ, i, At(v, i), At(back, i))
			}
			for j := range v.Len {
				same := bytes.Equal(text[i], text[j])
				if typ.Kind != schema.Map && same != Equal(v, i, v, j) || !same && bytes.HasPrefix(text[j], text[i]) {
					t.Errorf("%s: keys of %v and %v are %x and %x", typ, At(v, i), At(v, j), text[i], text[j])
				}
				if typ.IsInteger() && bytes.Compare(text[i], text[j]) != Compare(v, i, v, j) {
					t.Errorf("%s: keys of %v and %v are not in order", typ, At(v, i), At(v, j))
				}
			}
		}
	}
}

func FuzzDecodeValue(f *testing.F) {
	types := encodedTypes()
	rng := rand.New(rand.NewPCG(3, 4))
	for n, typ := range types {
		v := New(typ)
		randomRow(rng, v)
		f.Add(uint8(n), AppendExact(nil, v, 0))
	}
	f.Add(uint8(11), []byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		v := New(types[int(n)%len(types)])
		rest, err := DecodeValue(data, v)
		if err != nil {
			return
		}
		again := New(v.Type)
		out := AppendExact(nil, v, 0)
		if more, err := DecodeValue(out, again); err != nil || len(more) > 0 || !bytes.Equal(AppendExact(nil, again, 0), out) {
			t.Fatalf("%x gives %x and rest %x: %v", data, out, rest, err)
		}
	})
}
