package csv

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pipelines/tables/schema"
)

// FuzzReference compares what is read with the standard library's reader, on
// records that its writer wrote: texts, and numbers that strconv reads.
func FuzzReference(f *testing.F) {
	for _, s := range []string{"a,b|c\"d|x\ny", "\"|\"\"|\\", " a |\t| ", "|,|#c", "12|-7|1e3", "日本|é|,\"\n\""} {
		f.Add(s, int64(len(s)), 1.5)
	}
	s := schema.Schema{Fields: []schema.Field{{Name: "a", Type: schema.Of(schema.String)}, {Name: "n", Type: schema.Of(schema.Int64)},
		{Name: "b", Type: schema.Of(schema.String)}, {Name: "x", Type: schema.Of(schema.Float64)}, {Name: "c", Type: schema.Of(schema.String)}}}
	f.Fuzz(func(t *testing.T, in string, n int64, x float64) {
		parts := strings.SplitN(strings.ToValidUTF8(strings.ReplaceAll(in, "\r", ""), "?"), "|", 3)
		for len(parts) < 3 {
			parts = append(parts, "")
		}
		var buf bytes.Buffer
		w := csv.NewWriter(&buf)
		number := strconv.FormatFloat(x, 'g', -1, 64)
		for _, rec := range [][]string{
			{parts[0], strconv.FormatInt(n, 10), parts[1], number, parts[2]},
			{parts[2], strconv.FormatInt(-n, 10), parts[0], number, parts[1]},
		} {
			if err := w.Write(rec); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		want, err := csv.NewReader(bytes.NewReader(buf.Bytes())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		o := DefaultOptions()
		o.Escape, o.EscapeEscape = '"', 0
		d, err := NewDecoder(s, s, o)
		if err != nil {
			t.Fatal(err)
		}
		cols := vectors(s)
		d.BindColumns(cols)
		var at int
		if strings.ContainsRune(in, '\n') {
			at, err = d.DecodeRecords(buf.Bytes(), 0, 1<<30)
		} else {
			at, err = d.DecodeLines(buf.Bytes(), 0, buf.Len(), 1<<30)
		}
		if err != nil || at != buf.Len() {
			t.Fatal(at, buf.Len(), err)
		}
		d.Finish()
		var got [][]string
		for i := range d.Rows() {
			var row []string
			for k := range cols {
				switch c := cols[k]; {
				case c.IsNull(i):
					row = append(row, "") // an empty value is NULL
				case k == 1:
					row = append(row, strconv.FormatInt(c.I64[i], 10))
				case k == 3:
					row = append(row, strconv.FormatFloat(c.F64[i], 'g', -1, 64))
				default:
					row = append(row, string(c.Str(i)))
				}
			}
			got = append(got, row)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q:\n%q\nwant\n%q", buf.String(), got, want)
		}
	})
}
