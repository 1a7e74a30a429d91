package display

import (
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

func TestValues(t *testing.T) {
	ints := schema.ArrayOf(schema.Of(schema.Int32), true)
	st := schema.StructOf(schema.Field{Name: "a", Type: schema.Of(schema.String), Nullable: true}, schema.Field{Name: "n", Type: ints, Nullable: true})
	f := func(typ schema.Type, value any, json, shell string) {
		t.Helper()
		v := column.FromValues(typ, value)
		if got := string(AppendJSON(nil, v, 0)); got != json {
			t.Errorf("%s json: got %s want %s", typ, got, json)
		}
		if value == nil {
			return
		}
		if got := string(AppendShell(nil, v, 0)); got != shell {
			t.Errorf("%s shell: got %s want %s", typ, got, shell)
		}
	}
	f(schema.Of(schema.Int32), nil, "null", "")
	f(schema.Of(schema.Boolean), true, "true", "true")
	f(schema.Of(schema.Int64), int64(-7), "-7", "-7")
	f(schema.Of(schema.Float64), 1e10, "1.0E10", "1.0E10")
	f(schema.DecimalOf(10, 2), int64(1250), `"12.50"`, "12.50")
	f(schema.Of(schema.String), "a\"b\n", `"a\"b\n"`, "a\"b\n")
	f(schema.Of(schema.Binary), []byte("ab"), `"YWI="`, "ab")
	f(schema.Of(schema.Date), int32(0), `"1970-01-01"`, "1970-01-01")
	f(schema.Of(schema.Timestamp), int64(1_500_000), `"1970-01-01T00:00:01.500Z"`, "1970-01-01 00:00:01.5")
	f(schema.Of(schema.Timestamp), int64(1_500_007), `"1970-01-01T00:00:01.500007Z"`, "1970-01-01 00:00:01.500007")
	f(schema.Of(schema.TimestampNTZ), int64(0), `"1970-01-01T00:00:00.000"`, "1970-01-01 00:00:00")
	f(ints, []any{int32(1), nil}, "[1,null]", "[1,null]")
	f(st, []any{"x", []any{int32(2)}}, `{"a":"x","n":[2]}`, `{"a":"x","n":[2]}`)
	f(schema.MapOf(schema.Of(schema.String), schema.Of(schema.Int32), true), []column.Entry{{Key: "k", Value: int32(1)}}, `{"k":1}`, `{"k":1}`)
	f(schema.MapOf(schema.Of(schema.Int32), schema.Of(schema.String), true), []column.Entry{{Key: int32(9), Value: "a"}, {Key: int32(10), Value: "b"}}, `{"9":"a","10":"b"}`, `{10:"b",9:"a"}`)
}

func TestBinaryStyles(t *testing.T) {
	v := column.FromValues(schema.ArrayOf(schema.Of(schema.Binary), true), []any{[]byte("Sp\xff"), []byte{}, nil})
	for style, want := range map[text.BinaryStyle]string{
		"": "[Sp\xff,,null]", text.BinaryText: "[Sp\xff,,null]", text.BinaryBasic: "[[83, 112, -1],[],null]",
		text.BinaryBase64: "[U3D/,,null]", text.BinaryHex: "[5370FF,,null]", text.BinaryDiscrete: "[[53 70 FF],[],null]",
	} {
		if got := string(Shell{Binary: style}.Append(nil, v, 0)); got != want {
			t.Errorf("%s: got %s want %s", style, got, want)
		}
	}
}
