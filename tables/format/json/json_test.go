package json

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pipelines/tables/format"
	"pipelines/tables/format/formattest"
	"pipelines/tables/schema"
)

func of(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

var (
	str  = schema.Of(schema.String)
	i64  = schema.Of(schema.Int64)
	flat = schema.Schema{Fields: []schema.Field{of("a", i64), of("b", str)}}
)

func TestContract(t *testing.T) {
	var data strings.Builder
	for i := range 5000 {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&data, `{"a":%d,"b":"x%d","s":{"x":%d,"y":["p",null]},"m":{"k":%d}}`+"\n", i, i, i, i)
		case 1:
			fmt.Fprintf(&data, `{"b":"é\u00e9","a":null, "s":null}`+"\r\n")
		case 2:
			fmt.Fprintf(&data, "\n{ \"s\" : {\"y\":[]} , \"unknown\": [1,{\"z\":2}], \"a\": %d}\n", i)
		case 3:
			fmt.Fprintf(&data, "{\"ts\":\"2026-01-02T03:04:05.%dZ\"}\r", i)
		case 4:
			fmt.Fprintf(&data, `[{"a":%d},{"a":-%d}]`+"\n", i, i)
		}
	}
	s := schema.Schema{Fields: []schema.Field{of("a", i64), of("b", str), of("s", schema.StructOf(of("x", i64), of("y", schema.ArrayOf(str, true)))),
		of("m", schema.MapOf(str, i64, true)), of("ts", schema.Of(schema.Timestamp))}}
	formattest.Run(t, formattest.Case{Format: New(), Name: "a.json", Data: []byte(data.String()), Schema: s})
}

func TestRows(t *testing.T) {
	run := func(name, data string, s schema.Schema, options map[string]string, want ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			formattest.Run(t, formattest.Case{Format: New(), Name: "a.json", Data: []byte(data), Schema: s, Options: options, Want: want, NoProjection: true})
		})
	}
	corrupt := schema.Schema{Fields: append(append([]schema.Field{}, flat.Fields...), of("_corrupt_record", str))}
	bad := "{\"a\":1}\nnope\n[1]\n[]\n5\n\n{\"a\":\"x\",\"b\":\"y\"}\n{\"A\":9}\n{\"a\":2"
	run("permissive", bad, corrupt, nil, `1|null|null`, `null|null|"nope"`, `null|null|"[1]"`, `null|null|"5"`, `null|"y"|"{"a":"x","b":"y"}"`, `null|null|null`, `null|null|"{"a":2"`)
	run("drop", bad, flat, map[string]string{"mode": "dropMalformed"}, `1|null`, `null|null`)
	run("bom, last line without end", "\xef\xbb\xbf{\"a\":1}\n{\"a\":2}", flat, nil, `1|null`, `2|null`)
	run("empty", "", flat, nil)
	run("multiLine", "[{\"a\":1,\n\"b\":\"x\"},\n{\"a\":2}]", flat, map[string]string{"multiline": "true"}, `1|"x"`, `2|null`)
	run("multiLine, malformed", "[{\"a\":1},5]", flat, map[string]string{"multiline": "true"}, `null|null`)
	run("multiLine, partial", "[{\"a\":1},{\"a\":\"x\"},\n{\"a\":3}]", flat, map[string]string{"multiline": "true"}, `1|null`, `null|null`, `3|null`)
	run("lineSep", "{\"a\":1}|{\"a\":\n2}|", flat, map[string]string{"linesep": "|"}, `1|null`, `2|null`)
	run("bytes that are not UTF-8", "{\"b\":\"\xff\"}\n{\"b\":\"\xc3\xa9\"}\n", corrupt, nil, "null|null|\"{\"b\":\"\xff\"}\"", `null|"é"|null`)
	run("escapes", `{"b":"a\u0000b"}`+"\n"+`{"b":"\ud83d\ude00"}`+"\n"+`{"b":"\ud800"}`, flat, nil, "null|\"a\x00b\"", `null|"😀"`, `null|"?"`)
	run("64 bits", `{"a":228930314431312345}`+"\n"+`{"a":9223372036854775807}`+"\n"+`{"a":-9223372036854775808}`+"\n"+`{"a":9223372036854775808}`, flat, nil,
		"228930314431312345|null", "9223372036854775807|null", "-9223372036854775808|null", "null|null")
}

func TestRescued(t *testing.T) {
	s := schema.Schema{Fields: append(append([]schema.Field{}, flat.Fields...), of("r", str))}
	spec := format.ReadSpec{Declared: s, Columns: s, Options: map[string]string{"rescueddatacolumn": "r"}}
	s.Fields = append(s.Fields, of("s", schema.StructOf(of("x", i64))))
	spec.Declared.Fields = append(append([]schema.Field{}, flat.Fields...), of("r", str), of("s", schema.StructOf(of("x", i64), of("y", i64))), of("d", i64))
	spec.Columns = s
	data := `{"a":1,"c":[1, 2.0],"b":"x"}` + "\n" + `{"a":"q"}` + "\n" + `{"a":3,"d":4}` + "\n" + `{"s":{"x":1,"y":2,"z":3}}`
	got, err := formattest.Read(New(), formattest.Input("a.json", []byte(data)), spec)
	want := `[[1 "x" "{"c":[1,2.0],"_file_path":"a.json"}" null] [null null "{"a":"q","_file_path":"a.json"}" null] [3 null null null] [null null "{"s.z":3,"_file_path":"a.json"}" {"x":1}]]`
	if err != nil || fmt.Sprint(got) != want {
		t.Error(got, err)
	}
}

func TestFailFast(t *testing.T) {
	spec := format.ReadSpec{Declared: flat, Columns: flat, Options: map[string]string{"mode": "FAILFAST"}}
	_, err := formattest.Read(New(), formattest.Input("a.json", []byte("{\"a\":1}\n{\"a\":\n")), spec)
	e, ok := errors.AsType[*format.RecordError](err)
	if !ok || e.Offset != 8 || e.Record != `{"a":` || e.File != "a.json" {
		t.Errorf("%#v", err)
	}
}

func TestCutGzip(t *testing.T) {
	data := []byte(strings.Repeat("{\"a\":1}\n", 5000))
	out, err := formattest.WriteAll(New(), formattest.Input("a.json", data), format.ReadSpec{Declared: flat, Columns: flat}, map[string]string{"compression": "gzip"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = formattest.Read(New(), formattest.Input("b.json.gz", out[:len(out)-9]), format.ReadSpec{Declared: flat, Columns: flat})
	if err == nil || !strings.Contains(err.Error(), "b.json.gz") {
		t.Error(err)
	}
}

func TestInfer(t *testing.T) {
	f := func(data, want string, options map[string]string) {
		t.Helper()
		s, err := New().Infer(context.Background(), []format.Input{formattest.Input("a.json", []byte(data))}, format.ReadSpec{Options: options, Location: time.UTC})
		if err != nil {
			t.Error(err)
			return
		}
		if s.DDL() != want {
			t.Errorf("%s\n got %s\nwant %s", data, s.DDL(), want)
		}
	}
	f("{\"b\":1,\"a\":\"x\"}\n{\"b\":1.5,\"c\":[1,null],\"d\":{}}", "a STRING, b DOUBLE, c ARRAY<BIGINT>", nil)
	f("{\"test\":{\"one\":1,\"two\":\"2\"}}\n{\"test\":null}\n{\"test\":null}", "test STRUCT<one: BIGINT, two: STRING>", nil)
	f("{\"a\":9223372036854775808}\n{\"a\":1}", "a DECIMAL(20,0)", nil)
	f("{\"a\":1}\nbad", "_corrupt_record STRING, a BIGINT", nil)
	f("{\"a\":1}\nbad", "a BIGINT", map[string]string{"mode": "DROPMALFORMED"})
	f("{\"a\":1}\n{\"a\":{\"x\":1}}\n{\"a\":2}", "a STRING", nil)
	f("[{\"a\":1},{\"b\":true}]\n{\"a\":1.25}", "a DECIMAL(22,2), b BOOLEAN", map[string]string{"prefersdecimal": "true"})
	f("{\"a\":null,\"b\":\"\",\"c\":[]}", "a STRING, b STRING, c ARRAY<STRING>", nil)
	f("{\"a\":null,\"b\":1,\"c\":[]}", "b BIGINT", map[string]string{"dropfieldifallnull": "true"})
}

func TestWriteAndReadBack(t *testing.T) {
	data := `{"a":1,"b":"q\"\\\n\u0001é"}` + "\n{}\n" + `{"a":-5,"b":""}` + "\n"
	spec := format.ReadSpec{Declared: flat, Columns: flat}
	for _, c := range []string{"", ".gz", ".zst"} {
		opt := map[string]string{"compression": map[string]string{"": "none", ".gz": "gzip", ".zst": "zstd"}[c]}
		out, err := formattest.WriteAll(New(), formattest.Input("a.json", []byte(data)), spec, opt)
		if err != nil {
			t.Fatal(err)
		}
		if c == "" && string(out) != strings.ReplaceAll(data, "\\u00e9", "é") {
			t.Errorf("%s", out)
		}
		want, _ := formattest.Read(New(), formattest.Input("a.json", []byte(data)), spec)
		got, err := formattest.Read(New(), formattest.Input("a.json"+c, out), spec)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Error(got, want, err)
		}
	}
}

// TestFields decodes the option list.
func TestFields(t *testing.T) {
	formattest.Fields(t, New(), map[string]string{"encoding": "UTF-8", "COMPRESSION": "gzip"})
}

// TestSpark compares files of odd forms with what Spark reads from them.
func TestSpark(t *testing.T) { formattest.Spark(t, New(), "testdata/spark.jsonl") }
