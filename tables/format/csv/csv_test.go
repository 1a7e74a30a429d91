package csv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pipelines/tables/format"
	"pipelines/tables/format/formattest"
	"pipelines/tables/schema"
)

func of(name string, k schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: schema.Of(k), Nullable: true}
}

var (
	ab      = schema.Schema{Fields: []schema.Field{of("id", schema.Int32), of("name", schema.String)}}
	pens    = schema.Schema{Fields: []schema.Field{of("id", schema.Int32), of("name", schema.String), of("price", schema.Float64), of("day", schema.Date)}}
	corrupt = schema.Schema{Fields: append(append([]schema.Field{}, pens.Fields...), of("_corrupt_record", schema.String))}
)

func TestContract(t *testing.T) {
	var data strings.Builder
	data.WriteString("id,name,price,day\n")
	for i := range 6000 {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&data, "%d,pen,%d.5,2024-01-02\n", i, i)
		case 1:
			fmt.Fprintf(&data, "%d,\"a, \\\"b\\\"\",,\r\n", i)
		case 2:
			fmt.Fprintf(&data, ",\"\",1e3,1997\r\n\n")
		case 3:
			fmt.Fprintf(&data, "%d, é ,NaN,\r", i)
		}
	}
	formattest.Run(t, formattest.Case{Format: New(), Name: "a.csv", Data: []byte(data.String()), Schema: pens, Options: map[string]string{"header": "true"}})
}

func run(t *testing.T, name, data string, s schema.Schema, options map[string]string, want ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		formattest.Run(t, formattest.Case{Format: New(), Name: "a.csv", Data: []byte(data), Schema: s, Options: options, Want: want, NoProjection: true})
	})
}

func TestMeasuredCases(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/conformance/pipelines/csv_permissive/inputs/step1/c/1.csv")
	if err != nil {
		t.Fatal(err)
	}
	run(t, "permissive", string(data), corrupt, map[string]string{"header": "true"},
		`1|"pen, blue"|1.5|2024-01-02|null`,
		`2|"ink"|null|2024-01-03|"2,ink,abc,2024-01-03"`,
		`3|""say ""hi""""|null|2024-01-04|null`,
		`null|"cap"|3.0|2024-01-05|"x4,cap,3.0,2024-01-05"`,
		`5|"short"|null|null|"5,short"`,
		`6|"long"|6.0|2024-01-07|"6,long,6.0,2024-01-07,extra"`,
		`7|"bad day"|7.0|null|"7,bad day,7.0,2024-13-40"`)
	run(t, "drop", string(data), pens, map[string]string{"header": "true", "mode": "DROPMALFORMED"},
		`1|"pen, blue"|1.5|2024-01-02`, `3|""say ""hi""""|null|2024-01-04`)
	_, err = formattest.Read(New(), formattest.Input("1.csv", data), format.ReadSpec{Declared: pens, Columns: pens, Options: map[string]string{"header": "true", "mode": "FAILFAST"}})
	e, ok := errors.AsType[*format.RecordError](err)
	if !ok || e.Record != "2,ink,abc,2024-01-03" || e.Offset != 48 || !strings.Contains(err.Error(), "FAILED_READ_FILE") {
		t.Errorf("%v", err)
	}
}

func TestRows(t *testing.T) {
	var b45 strings.Builder
	b45.WriteString("id,name\r\r\n")
	var want []string
	for i := range 3000 {
		fmt.Fprintf(&b45, "%d,x\r\r\n", i)
		want = append(want, fmt.Sprintf(`%d|"x"`, i))
	}
	header := map[string]string{"header": "true"}
	run(t, "B45 odd line ends", b45.String(), ab, header, want...)
	run(t, "B46 mixed line ends", "1,2\n4,5\r\n7,8\n", ab, nil, `1|"2"`, `4|"5"`, `7|"8"`)
	run(t, "B47 byte-order mark", "\xef\xbb\xbfid,name\n1,Mark\n2,Hannes", ab, map[string]string{"header": "true", "enforceschema": "false"}, `1|"Mark"`, `2|"Hannes"`)
	run(t, "B67 header only", "id,name\n", ab, header)
	run(t, "B67 quoted header", "\"id\",name\n1,x", ab, map[string]string{"header": "true", "enforceschema": "false"}, `1|"x"`)
	run(t, "multi line", "1,\"a\nb\"\r\n2,\"c\r\nd\"\n\n3,e", ab, map[string]string{"multiline": "true"}, `1|"a`+"\n"+`b"`, `2|"c`+"\r\n"+`d"`, `3|"e"`)
	run(t, "lines end inside quotes", "1,\"a\nb\"\n", ab, nil, `1|"a"`, `null|null`)
	run(t, "comment", "#x\n1,a\n", ab, map[string]string{"comment": "#"}, `1|"a"`)
	run(t, "line separator", "1,a;2,b;", ab, map[string]string{"linesep": ";"}, `1|"a"`, `2|"b"`)
	run(t, "null and empty", "1,NA\n2,\n3,\"\"\n", ab, map[string]string{"nullvalue": "NA", "emptyvalue": "E"}, `1|null`, `2|null`, `3|"E"`)
	run(t, "only separators and blank lines", ",\n\n  \n", ab, nil, `null|null`)
}

func TestHeaderMismatch(t *testing.T) {
	spec := format.ReadSpec{Declared: ab, Columns: ab, Options: map[string]string{"header": "true", "enforceschema": "false"}}
	if _, err := formattest.Read(New(), formattest.Input("a.csv", []byte("id,title\n1,x\n")), spec); err == nil {
		t.Error("no error")
	}
}

func TestInfer(t *testing.T) {
	f := func(data, want string, options map[string]string) {
		t.Helper()
		s, err := New().Infer(context.Background(), []format.Input{formattest.Input("a.csv", []byte(data))}, format.ReadSpec{Options: options, Location: time.UTC})
		if err != nil || s.DDL() != want {
			t.Errorf("%s\n got %s %v\nwant %s", data, s.DDL(), err, want)
		}
	}
	f("id,name\n1,x\n3000000000,\n", "id BIGINT, name STRING", map[string]string{"header": "true", "inferschema": "true"})
	f("a,a,\n1,2024-01-01,true\n1.5,2024-01-01 10:00:00,x", "a0 DOUBLE, a1 TIMESTAMP, _c2 STRING", map[string]string{"header": "true", "inferschema": "true"})
	f("1,x\n", "_c0 STRING, _c1 STRING", nil)
}

func TestWriteAndReadBack(t *testing.T) {
	data := "id,name\n1,\"a, b\"\n2,\n,\"x\\\"y\"\n"
	spec := format.ReadSpec{Declared: ab, Columns: ab, Options: map[string]string{"header": "true"}}
	out, err := formattest.WriteAll(New(), formattest.Input("a.csv", []byte(data)), spec, map[string]string{"header": "true"})
	if err != nil || string(out) != data {
		t.Errorf("%s %v", out, err)
	}
}

// TestFields decodes the option list.
func TestFields(t *testing.T) {
	formattest.Fields(t, New(), map[string]string{"encoding": "UTF-8", "COMPRESSION": "gzip"})
}

// TestSpark compares files of odd forms with what Spark reads from them.
func TestSpark(t *testing.T) { formattest.Spark(t, New(), "testdata/spark.jsonl") }
