package json

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPathGolden runs each get_json_object call of the measured SQL cases.
func TestPathGolden(t *testing.T) {
	form := regexp.MustCompile(`get_json_object\((NULL|'(?:[^'\\]|\\.)*'), ('(?:[^'\\]|\\.)*'|NULL)\) AS r\d*`)
	o := DefaultOptions()
	ran := 0
	for _, name := range []string{"json.txt", "semantics_rows.txt"} {
		file, err := os.ReadFile("../../../testdata/conformance/sql/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(file), "\n\n") {
			lines := strings.Split(strings.TrimSpace(block), "\n")
			for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
				lines = lines[1:]
			}
			if len(lines) < 5 || lines[0] != "query" {
				continue
			}
			calls := form.FindAllStringSubmatch(lines[1], -1)
			want := strings.Split(lines[4], "\t")
			if len(calls) != len(want) {
				continue
			}
			for i, c := range calls {
				if c[1] == "NULL" || c[2] == "NULL" {
					continue
				}
				got := "NULL"
				if p, ok := ParsePath(unescapeSQL(c[2][1 : len(c[2])-1])); ok {
					if out, ok := p.Append(nil, []byte(unescapeSQL(c[1][1:len(c[1])-1])), &o); ok {
						got = string(out)
					}
				}
				ran++
				if got != want[i] {
					t.Errorf("%s: %s, want %s", c[0], got, want[i])
				}
			}
		}
	}
	if ran < 15 {
		t.Errorf("only %d calls", ran)
	}
}

func TestPath(t *testing.T) {
	o := DefaultOptions()
	f := func(rec, path, want string) {
		t.Helper()
		got := "none"
		if p, ok := ParsePath(path); ok {
			if out, ok := p.Append(nil, []byte(rec), &o); ok {
				got = string(out)
			}
		}
		if got != want {
			t.Errorf("%s of %s: %s, want %s", path, rec, got, want)
		}
	}
	f(`{"a":[{"b":1},{"b":"x"},{"c":3}]}`, "$.a[*].b", `[1,"x"]`)
	f(`{"a":[{"b":1},{"c":3}]}`, "$.a[*].b", `1`)
	f(`{"a":[[1,2],[3]]}`, "$.a[*][*]", `[1,2,3]`)
	f(`{"a.b":5}`, "$['a.b']", `5`)
	f(`{"a":{"x":null,"y":2}}`, "$.a.x", `none`)
	f(`{"a":1}`, "$.", `none`)
	f(`{"a":1}`, "a", `none`)
	f(`{"a":[1]}`, "$.a[1]", `none`)
	f(`{"a":"\u00e9\n"}`, "$.a", "é\n")
	f(`{"a": [1, {"k" : 1.10}]}`, "$", `{"a":[1,{"k":1.1}]}`)
	for rec, want := range map[string]int{`[1,[2,3],{}]`: 3, `[]`: 0, `{}`: -1, `bad`: -1, `[1,2`: -1} {
		n, ok := NewReader(&o).Length([]byte(rec))
		if !ok {
			n = -1
		}
		if n != want {
			t.Error(rec, n)
		}
	}
	var got []string
	if !NewReader(&o).Fields([]byte(`{"f1":"abc","f2":{"a":1},"f3":null}`), func(name, value []byte, null bool) {
		got = append(got, string(name)+"="+string(value))
	}) || strings.Join(got, " ") != `f1=abc f2={"a":1} f3=null` {
		t.Error(got)
	}
}
