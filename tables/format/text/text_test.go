package text

import (
	"testing"

	"pipelines/tables/format"
	"pipelines/tables/format/formattest"
	"pipelines/tables/schema"
)

func TestRows(t *testing.T) {
	s := schema.Schema{Fields: []schema.Field{{Name: "value", Type: schema.Of(schema.String), Nullable: true}}}
	run := func(data string, options map[string]string, want ...string) {
		t.Helper()
		formattest.Run(t, formattest.Case{Format: New(), Name: "a.txt", Data: []byte(data), Schema: s, Options: options, Want: want})
	}
	run("a\n\nb\r\nc\rd", nil, `"a"`, `""`, `"b"`, `"c"`, `"d"`)
	run("", nil)
	run("a|b\n|", map[string]string{"linesep": "|"}, `"a"`, "\"b\n\"")
	run("a\nb\n", map[string]string{"wholetext": "true"}, "\"a\nb\n\"")
	out, err := formattest.WriteAll(New(), formattest.Input("a.txt", []byte("a\n\nb\n")), format.ReadSpec{Declared: s, Columns: s}, nil)
	if err != nil || string(out) != "a\n\nb\n" {
		t.Errorf("%q %v", out, err)
	}
}

// TestFields decodes the option list.
func TestFields(t *testing.T) {
	formattest.Fields(t, New(), map[string]string{"encoding": "UTF-8", "COMPRESSION": "gzip"})
}
