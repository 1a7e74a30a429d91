package csv

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"pipelines/tables/codec/record"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

var kinds = map[string]schema.Type{"INT": schema.Of(schema.Int32), "BIGINT": schema.Of(schema.Int64), "STRING": schema.Of(schema.String),
	"DOUBLE": schema.Of(schema.Float64), "BOOLEAN": schema.Of(schema.Boolean), "DATE": schema.Of(schema.Date), "TIMESTAMP": schema.Of(schema.Timestamp),
	"DECIMAL(5,2)": schema.DecimalOf(5, 2)}

func parseDDL(s string) schema.Schema {
	var out schema.Schema
	for _, f := range regexp.MustCompile(`(\w+) (\w+(?:\([0-9,]+\))?)`).FindAllStringSubmatch(s, -1) {
		out.Fields = append(out.Fields, schema.Field{Name: f[1], Type: kinds[f[2]], Nullable: true})
	}
	return out
}

// show prints a row in the shell's form.
func show(s schema.Schema, cols []*column.Vector, i int) string {
	var parts []string
	for k, f := range s.Fields {
		v := string(text.AppendValue(nil, cols[k], i, text.UTC))
		if f.Type.Kind == schema.String && !cols[k].IsNull(i) {
			v = `"` + v + `"`
		}
		parts = append(parts, `"`+f.Name+`":`+v)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func vectors(s schema.Schema) []*column.Vector {
	var cols []*column.Vector
	for _, f := range s.Fields {
		cols = append(cols, column.New(f.Type))
	}
	return cols
}

var (
	callForm   = regexp.MustCompile(`from_csv\((NULL|'(?:[^'\\]|\\.)*'), '((?:[^'\\]|\\.)*)'(?:, map\(([^)]*)\))?\) AS (r\d*)`)
	optionForm = regexp.MustCompile(`'([^']*)'`)
)

// TestGolden runs each from_csv call of the measured SQL cases.
func TestGolden(t *testing.T) {
	file, err := os.ReadFile("../../../testdata/conformance/sql/csv_variant.txt")
	if err != nil {
		t.Fatal(err)
	}
	un := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	ran := 0
	for _, block := range strings.Split(string(file), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if len(lines) < 5 || lines[0] != "query" {
			continue
		}
		want := strings.Split(lines[4], "\t")
		for i, c := range callForm.FindAllStringSubmatch(lines[1], -1) {
			if c[1] == "NULL" || i >= len(want) {
				continue
			}
			opts := map[string]string{}
			kv := optionForm.FindAllStringSubmatch(c[3], -1)
			for i := 0; i+1 < len(kv); i += 2 {
				opts[kv[i][1]] = kv[i+1][1]
			}
			o, err := ParseOptions(opts)
			if err != nil {
				t.Fatal(err)
			}
			s := parseDDL(c[2])
			d, err := NewDecoder(s, s, o)
			if err != nil {
				t.Fatal(err)
			}
			cols := vectors(s)
			d.BindColumns(cols)
			if err := d.Decode([]byte(un.Replace(c[1][1 : len(c[1])-1]))); err != nil {
				t.Fatal(err)
			}
			d.Finish()
			ran++
			if got := show(s, cols, 0); got != un.Replace(want[i]) {
				t.Errorf("%s\n got %s\nwant %s", c[0], got, un.Replace(want[i]))
			}
		}
	}
	if ran < 24 {
		t.Errorf("only %d calls", ran)
	}
}

func TestTokens(t *testing.T) {
	f := func(in, options, want string) {
		t.Helper()
		m := map[string]string{}
		for _, kv := range strings.Fields(options) {
			k, v, _ := strings.Cut(kv, "=")
			m[k] = v
		}
		o, err := ParseOptions(m)
		if err != nil {
			t.Error(err)
			return
		}
		tk := newTokenizer(&o)
		tk.split([]byte(in), 0, true)
		var got []string
		for k := range tk.tokens {
			got = append(got, string(tk.value([]byte(in), k)))
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("%s: %s, want %s", in, g, want)
		}
	}
	f(`a,b,c`, "", `a|b|c`)
	f(`a,,`, "", `a||`)
	f(``, "", ``)
	f(`"a,b",c`, "", `a,b|c`)
	f(`"a"`, "", `a`)
	f(`"say ""hi""",1`, "", `"say ""hi"""|1`)
	f(`"say ""hi""",1`, `escape="`, `say "hi"|1`)
	f(`"a"",b`, "", `a"|b`)
	f(`"q\"x",1`, "", `q"x|1`)
	f(`"a\\b\n",1`, "", `a\b\n|1`)
	f(`"a" ,b`, "", `a|b`)
	f(`"a" x,b`, "", `"a" x|b`)
	f(`"a\"b"c,d`, "", `"a"b"c|d`)
	f(`"open,b`, "", `open,b`)
	f(` x , "y"`, "", ` x | "y"`)
	f(` x , "y"`, "ignoreLeadingWhiteSpace=true ignoreTrailingWhiteSpace=true", `x|y`)
	f(`a||b|c`, "sep=||", `a|b|c`)
	f("a\tb", `sep=\t`, `a|b`)
	f(`'a,b',c`, "quote='", `a,b|c`)
	f(`"a,b"`, "quote=", `"a|b"`)
}

func TestEncode(t *testing.T) {
	f := func(in, options, want string) {
		t.Helper()
		m := map[string]string{}
		for _, kv := range strings.Fields(options) {
			k, v, _ := strings.Cut(kv, "=")
			m[k] = v
		}
		o, _ := ParseOptions(m)
		e, err := NewEncoder(o)
		if err != nil {
			t.Fatal(err)
		}
		v := column.New(schema.Of(schema.String))
		v.AppendStr([]byte(in))
		if got := string(e.AppendRow(nil, []*column.Vector{v}, 0)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	f("x,y", "", `"x,y"`)
	f(`say "hi"`, "", `"say \"hi\""`)
	f(`say "hi"`, "escapeQuotes=false", `say "hi"`)
	f("", "", `""`)
	f(" x ", "", "x")
	f("\x01\x02", "", `""`)
	f("x\ny", "", "\"x\ny\"")
	f("x", "quoteAll=true", `"x"`)
	f("a#b,c", "escape=#", `"a##b,c"`)
	f(`q\r`, "", `q\r`)
	v := column.New(schema.Of(schema.Int32))
	v.I32, v.Len = append(v.I32, 0), 1
	v.SetNull(0)
	e, _ := NewEncoder(DefaultOptions())
	if got := string(e.AppendRow(nil, []*column.Vector{v, v}, 0)); got != "," {
		t.Error(got)
	}
}

func TestTypeOf(t *testing.T) {
	for in, want := range map[string]string{"1,abc": "STRUCT<_c0: INT, _c1: STRING>", "1.5,true,2024-01-01": "STRUCT<_c0: DOUBLE, _c1: BOOLEAN, _c2: DATE>",
		"2024-01-01 10:00:00": "STRUCT<_c0: TIMESTAMP>", "3000000000,x": "STRUCT<_c0: BIGINT, _c1: STRING>", "99999999999999999999": "STRUCT<_c0: DECIMAL(20,0)>"} {
		got, err := TypeOf([]byte(in), DefaultOptions())
		if err != nil || got.SQL() != want {
			t.Errorf("%s: %s %v", in, got.SQL(), err)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for k, v := range map[string]string{"header": "garbage", "quote": "ab", "encoding": "KOI8-R", "unescapedQuoteHandling": "SKIP_VALUE", "sep": ""} {
		_, err := ParseOptions(map[string]string{k: v})
		if e, ok := errors.AsType[*record.OptionError](err); !ok || e.Option != k {
			t.Error(k, err)
		}
	}
	if o, err := ParseOptions(map[string]string{"HEADER": "FaLsE"}); err != nil || o.Header {
		t.Error(err)
	}
}

// FuzzLines compares the quick way for lines without quotes with the slow one,
// and small blocks with large ones.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\"a\nb\",\r\n,\r\r\n", "\"x\"\"y\",\"\\\"\"\n", ",,,\n\n \n#c\n"} {
		f.Add([]byte(s))
	}
	s := schema.Schema{Fields: []schema.Field{{Name: "a", Type: schema.Of(schema.String)}, {Name: "b", Type: schema.Of(schema.Int64)}, {Name: "_corrupt_record", Type: schema.Of(schema.String)}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(data, '\n')
		run := func(limit int, slow bool) string {
			o := DefaultOptions()
			if slow {
				o.Sep = ",,"[:1]
			}
			d, err := NewDecoder(s, s, o)
			if err != nil {
				t.Fatal(err)
			}
			d.long = slow
			var out strings.Builder
			for at := 0; at < len(data); {
				cols := vectors(s)
				d.BindColumns(cols)
				if at, err = d.DecodeLines(data, at, len(data), limit); err != nil {
					t.Fatal(err)
				}
				d.Finish()
				for i := range d.Rows() {
					fmt.Fprintln(&out, show(s, cols, i))
				}
			}
			return out.String()
		}
		want := run(1<<30, true)
		for _, limit := range []int{1, 3, 1 << 30} {
			if got := run(limit, false); got != want {
				t.Errorf("limit %d:\n%s\nwant\n%s", limit, got, want)
			}
		}
	})
}
