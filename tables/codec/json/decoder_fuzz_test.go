package json

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pipelines/tables/column"
	"pipelines/tables/text"
)

const fuzzDDL = "a BIGINT, s STRING, f DOUBLE, o STRUCT<a: BIGINT, l: ARRAY<BIGINT>>, m MAP<STRING, BOOLEAN>, _corrupt_record STRING"

// FuzzDecoder compares the decoder with encoding/json on lines, whole and in
// small batches.
func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"s":"x","f":1.5,"o":{"a":2,"l":[1,2,null]},"m":{"k":true,"l":null}}`,
		`{"a":"x","s":5}` + "\n" + `{"s":"\u00e9\ud83d\ude00\n","zz":[{"q":[1,{}]}]}` + "\r\n\n" + `{"a":1,"a":2,"o":null}`,
		`{"a":01}` + "\n" + `{"a":1,}` + "\n" + `{"a":1}}` + "\n" + `{"o":{"l":[1,"x"]},"a":3}`,
		`[{"a":1},{"a":2}]` + "\n[]\n[1]\n" + `{"m":{"k":true,"k":false}}`, "{\"s\":\"\xff\"}\n{\"s\":\"" + strings.Repeat("long text ", 20) + "\"}",
		strings.Repeat(`{"zz":{"q":-1.5e3,"r":{"s":"x\"é","t":[]}, "u" : null},"a":1}`+"\n", 4) + `{"zz":{"q":1,}}` + "\n" + `{"zz":{"q":01},"a":1}` + "\n" + `{"zz":{},"a":7}`,
		"  {\"a\":x}\n" + `{"s":"\ud800x\udc00\ud83d\ude00","\ud800":1}`, `{"a":9223372036854775807,"f":1e400}` + "\n" + `{"a":-9223372036854775808,"f":-0.0}` + "\n" + `{"a":9223372036854775808}`,
	} {
		f.Add([]byte(s))
	}
	typ := parseDDL(fuzzDDL)
	f.Fuzz(func(t *testing.T, data []byte) {
		o := DefaultOptions()
		o.AllowSingleQuotes, o.AllowNonNumericNumbers = false, false // as encoding/json
		end := len(data) + 1
		buf := append(append(append([]byte{}, data...), '\n'), make([]byte, Padding)...)
		run := func(limit int) []string {
			d, err := NewDecoder(typ, o)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for at := 0; at < end; {
				var cols []*column.Vector
				for _, c := range typ.Fields {
					cols = append(cols, column.New(c.Type))
				}
				d.BindColumns(cols)
				if at, err = d.DecodeLines(buf, at, end, limit); err != nil {
					t.Fatal(err)
				}
				d.Finish()
				for i := range d.Rows() {
					row := ""
					for k, c := range cols {
						if err := check(c, d.Rows()); err != nil {
							t.Fatal(err)
						}
						if k > 0 {
							row += "|"
						}
						row += show(c, i)
					}
					out = append(out, row)
				}
			}
			return out
		}
		want := reference(data)
		for _, limit := range []int{1 << 30, 1, 3} {
			if got := run(limit); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Fatalf("limit %d:\n got %q\nwant %q", limit, got, want)
			}
		}
	})
}

// reference is the slow, obvious decoder of the fuzzed schema.
func reference(data []byte) []string {
	var out []string
	for _, line := range bytes.FieldsFunc(data, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(bytes.TrimLeft(line, " \t")) == 0 {
			continue
		}
		raw, ok := firstValue(withoutHalves(line))
		if !ok || raw[0] != '{' && raw[0] != '[' {
			out = append(out, `null|null|null|null|null|"`+string(line)+`"`)
			continue
		}
		rows := []stdjson.RawMessage{raw}
		if raw[0] == '[' {
			rows = nil
			_ = stdjson.Unmarshal(raw, &rows)
			for _, r := range rows {
				if r[0] != '{' {
					ok = false
				}
			}
		}
		if !ok {
			out = append(out, `null|null|null|null|null|"`+string(line)+`"`)
			continue
		}
		good := true
		var cells [][]string
		for _, r := range rows {
			c := []string{"null", "null", "null", "null", "null"}
			good = structOf(r, c, map[string]int{"a": 0, "s": 1, "f": 2, "o": 3, "m": 4}, refField) && good
			cells = append(cells, c)
		}
		for _, c := range cells {
			corrupt := "null"
			if !good {
				corrupt = `"` + string(line) + `"`
			}
			out = append(out, strings.Join(append(c, corrupt), "|"))
		}
	}
	return out
}

// withoutHalves puts a question mark for each escape that is half of a
// surrogate pair, as Java does where it writes UTF-8.
func withoutHalves(line []byte) []byte {
	unit := func(i int) rune {
		if i+6 > len(line) || line[i] != '\\' || line[i+1] != 'u' {
			return 0
		}
		n, err := strconv.ParseUint(string(line[i+2:i+6]), 16, 16)
		if err != nil {
			return 0
		}
		return rune(n)
	}
	var out []byte
	for i := 0; i < len(line); {
		n := 1
		switch r := unit(i); {
		case utf16.IsSurrogate(r) && utf16.DecodeRune(r, unit(i+6)) != utf8.RuneError:
			n = 12
		case utf16.IsSurrogate(r):
			out = append(out, '?')
			i += 6
			continue
		case line[i] == '\\' && i+1 < len(line):
			n = 2
		}
		out = append(out, line[i:i+n]...)
		i += n
	}
	return out
}

// firstValue returns the first value of a line if its syntax is right.
func firstValue(line []byte) (stdjson.RawMessage, bool) {
	var raw stdjson.RawMessage
	d := stdjson.NewDecoder(bytes.NewReader(line))
	if d.Decode(&raw) != nil {
		return nil, false
	}
	return raw, utf8.Valid(raw)
}

// pairs returns the fields of an object in order.
func pairs(raw stdjson.RawMessage) (keys []string, values []stdjson.RawMessage) {
	d := stdjson.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token()
	for d.More() {
		k, _ := d.Token()
		var v stdjson.RawMessage
		_ = d.Decode(&v)
		keys, values = append(keys, k.(string)), append(values, v)
	}
	return keys, values
}

func structOf(raw stdjson.RawMessage, cells []string, place map[string]int, field func(string, stdjson.RawMessage) (string, bool)) bool {
	good := true
	keys, values := pairs(raw)
	for i, k := range keys {
		if at, ok := place[k]; ok {
			v, fits := field(k, values[i])
			cells[at], good = v, good && fits
		}
	}
	return good
}

func refField(name string, v stdjson.RawMessage) (string, bool) {
	if string(v) == "null" {
		return "null", true
	}
	switch name {
	case "a":
		return refInt(v)
	case "s":
		return refText(v)
	case "f":
		f, ok := text.ParseNumber(v)
		if !ok {
			return "null", false
		}
		return string(text.AppendDouble(nil, f)), true
	case "o":
		if v[0] != '{' {
			return "null", false
		}
		c := []string{"null", "null"}
		good := structOf(v, c, map[string]int{"a": 0, "l": 1}, func(name string, v stdjson.RawMessage) (string, bool) {
			if name == "a" || string(v) == "null" {
				return refField("a", v)
			}
			return refList(v)
		})
		return `{"a":` + c[0] + `,"l":` + c[1] + `}`, good
	}
	return refMap(v)
}

func refInt(v stdjson.RawMessage) (string, bool) {
	if n, ok := text.ParseInt64(v); ok && v[0] != '"' {
		return fmt.Sprint(n), true
	}
	return "null", false
}

func refList(v stdjson.RawMessage) (string, bool) {
	if v[0] != '[' {
		return "null", false
	}
	var items []stdjson.RawMessage
	_ = stdjson.Unmarshal(v, &items)
	var parts []string
	for _, e := range items {
		p, ok := refField("a", e)
		if !ok {
			return "null", false
		}
		parts = append(parts, p)
	}
	return "[" + strings.Join(parts, ",") + "]", true
}

func refMap(v stdjson.RawMessage) (string, bool) {
	if v[0] != '{' {
		return "null", false
	}
	keys, values := pairs(v)
	var order []string
	last := map[string]string{}
	for i, k := range keys {
		if s := string(values[i]); s != "true" && s != "false" && s != "null" {
			return "null", false
		}
		if _, ok := last[k]; !ok {
			order = append(order, k)
		}
		last[k] = string(values[i])
	}
	for i, k := range order {
		order[i] = `"` + k + `":` + last[k]
	}
	return "{" + strings.Join(order, ",") + "}", true
}

// refText prints any value as Spark reads it into STRING.
func refText(v stdjson.RawMessage) (string, bool) {
	if v[0] == '"' {
		var s string
		_ = stdjson.Unmarshal(v, &s)
		return `"` + s + `"`, true
	}
	return `"` + refPrint(v) + `"`, true
}

func refPrint(v stdjson.RawMessage) string {
	switch v[0] {
	case '{':
		keys, values := pairs(v)
		for i, k := range keys {
			keys[i] = string(text.AppendJSONString(nil, []byte(k))) + ":" + refPrint(values[i])
		}
		return "{" + strings.Join(keys, ",") + "}"
	case '[':
		var items []stdjson.RawMessage
		_ = stdjson.Unmarshal(v, &items)
		var parts []string
		for _, e := range items {
			parts = append(parts, refPrint(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '"':
		var s string
		_ = stdjson.Unmarshal(v, &s)
		return string(text.AppendJSONString(nil, []byte(s)))
	case 't', 'f', 'n':
		return string(v)
	}
	if !bytes.ContainsAny(v, ".eE") {
		if string(v) == "-0" {
			return "0"
		}
		return string(v)
	}
	f, _ := text.ParseNumber(v)
	if s := string(text.AppendDouble(nil, f)); !math.IsInf(f, 0) {
		return s
	}
	return `"` + string(text.AppendDouble(nil, f)) + `"`
}
