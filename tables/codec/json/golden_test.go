package json

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"pipelines/tables/column"
)

var (
	callForm   = regexp.MustCompile(`from_json\((NULL|"[^"]*"|'(?:[^'\\]|\\.)*'), '((?:[^'\\]|\\.)*)'(?:, map\(([^)]*)\))?\) AS (r\d*)`)
	optionForm = regexp.MustCompile(`'([^']*)'`)
)

// unescapeSQL resolves the escapes of a SQL literal.
func unescapeSQL(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\'`, `'`).Replace(s)
}

// TestGolden runs each from_json call of the measured SQL cases.
func TestGolden(t *testing.T) {
	file, err := os.ReadFile("../../../testdata/conformance/sql/json.txt")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, block := range strings.Split(string(file), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			lines = lines[1:]
		}
		if len(lines) < 5 || lines[0] != "query" {
			continue
		}
		calls := callForm.FindAllStringSubmatch(lines[1], -1)
		want := strings.Split(lines[4], "\t")
		if strings.Count(lines[1], " AS r") != len(calls) || len(want) != len(calls) {
			continue
		}
		for i, c := range calls {
			w := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(want[i])
			got := runCall(t, c)
			ran++
			if got != w {
				t.Errorf("%s\n got %s\nwant %s", c[0], got, w)
			}
		}
	}
	if ran < 150 {
		t.Errorf("only %d calls found", ran)
	}
}

func runCall(t *testing.T, c []string) string {
	t.Helper()
	opts := map[string]string{}
	kv := optionForm.FindAllStringSubmatch(c[3], -1)
	for i := 0; i+1 < len(kv); i += 2 {
		opts[kv[i][1]] = kv[i+1][1]
	}
	o, err := ParseOptions(opts)
	if err != nil {
		t.Fatal(err)
	}
	typ := parseDDL(c[2])
	d, err := NewDecoder(typ, o)
	if err != nil {
		t.Fatal(err)
	}
	if c[1] == "NULL" {
		return "NULL"
	}
	v := column.New(typ)
	d.Bind(v)
	blank, err := d.Decode([]byte(unescapeSQL(c[1][1 : len(c[1])-1])))
	if err != nil {
		return "error"
	}
	if blank {
		d.AppendNull()
	}
	d.Finish()
	if v.Len != 1 {
		t.Fatalf("%s: %d rows", c[0], v.Len)
	}
	if v.IsNull(0) {
		return "NULL"
	}
	return show(v, 0)
}
