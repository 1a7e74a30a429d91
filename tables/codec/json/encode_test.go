package json

import (
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestRoundTrip decodes a text and prints it again.
func TestRoundTrip(t *testing.T) {
	f := func(ddl, in, want string, options map[string]string) {
		t.Helper()
		o, err := ParseOptions(options)
		if err != nil {
			t.Error(err)
			return
		}
		typ := parseDDL(ddl)
		d, err := NewDecoder(typ, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		v := column.New(typ)
		d.Bind(v)
		if _, err := d.Decode([]byte(in)); err != nil {
			t.Fatal(err)
		}
		d.Finish()
		e, err := NewEncoder(typ, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(e.Append(nil, v, 0)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	f("a INT, b STRING", `{"a":1}`, `{"a":1}`, nil)
	f("a INT, b STRING", `{"a":1}`, `{"a":1,"b":null}`, map[string]string{"ignoreNullFields": "false"})
	f("MAP<STRING,INT>", `{"k":1,"l":null}`, `{"k":1,"l":null}`, nil)
	f("ARRAY<INT>", `[null,1]`, `[null,1]`, nil)
	f("s STRUCT<x: INT>", `{"s":{}}`, `{"s":{}}`, nil)
	f("d DECIMAL(10,2), f DOUBLE, s STRING", `{"d":1.5,"f":2.5,"s":"q\"\\\n\u0001é😀/<"}`, `{"d":1.50,"f":2.5,"s":"q\"\\\n\u0001é😀/<"}`, nil)
	f("d DATE, t TIMESTAMP, n TIMESTAMP_NTZ", `{"d":"2024-02-29","t":"2024-02-29 10:20:30.123456","n":"2024-02-29 10:20:30"}`,
		`{"d":"2024-02-29","t":"2024-02-29T10:20:30.123Z","n":"2024-02-29T10:20:30.000"}`, nil)
	f("nan DOUBLE, inf DOUBLE, z DOUBLE, e DOUBLE", `{"nan":NaN,"inf":"-INF","z":-0.0,"e":1e20}`, `{"nan":"NaN","inf":"-Infinity","z":-0.0,"e":1.0E20}`, nil)
	f("b STRUCT<z: INT, a: INT>, a MAP<STRING,INT>", `{"b":{"z":1,"a":2},"a":{"y":1,"x":2}}`, `{"a":{"x":2,"y":1},"b":{"a":2,"z":1}}`, map[string]string{"sortKeys": "true"})
	f("b BINARY", `{"b":"aGVsbG8="}`, `{"b":"aGVsbG8="}`, nil)
}

// TestSharedVectors prints constant and dictionary vectors.
func TestSharedVectors(t *testing.T) {
	one := column.New(schema.Of(schema.Int64))
	one.I64, one.Len, one.Const = append(one.I64, 7), 3, true
	words := column.New(schema.Of(schema.String))
	words.AppendStr([]byte("x"))
	words.AppendStr([]byte("y"))
	dict := column.New(schema.Of(schema.String))
	dict.Dict, dict.Index, dict.Len = words, []int32{1, 0, 1}, 3
	dict.SetNull(2)
	e, err := NewEncoder(schema.StructOf(schema.Field{Name: "a", Type: one.Type}, schema.Field{Name: "b", Type: dict.Type}), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{"a":7,"b":"y"}`, `{"a":7,"b":"x"}`, `{"a":7}`} {
		if got := string(e.AppendRow(nil, []*column.Vector{one, dict}, i)); got != want {
			t.Error(got)
		}
	}
}

func TestTypeOf(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"A","age":30,"active":true}`: "STRUCT<active: BOOLEAN, age: BIGINT, name: STRING>",
		`[1,2.5]`:                             "ARRAY<DOUBLE>", `[1,"two",true]`: "ARRAY<STRING>", `[1,null]`: "ARRAY<BIGINT>", `[null]`: "ARRAY<STRING>", `[]`: "ARRAY<STRING>",
		`9223372036854775808`: "DECIMAL(19,0)", `{"a":1,"a":"x"}`: "STRUCT<a: BIGINT, a: STRING>", ``: "STRING", `null`: "STRING", `{}`: "STRUCT<>",
	} {
		got, err := TypeOf([]byte(in), DefaultOptions())
		if err != nil || got.SQL() != want {
			t.Errorf("%s: %s %v, want %s", in, got.SQL(), err, want)
		}
	}
	for _, bad := range []string{`not json`, `{"a":1`} {
		if got, err := TypeOf([]byte(bad), DefaultOptions()); err == nil {
			t.Errorf("%s: %s", bad, got)
		}
	}
}
