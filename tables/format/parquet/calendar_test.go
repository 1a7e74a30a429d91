package parquet

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// TestCalendar reads files that Spark wrote in the mode LEGACY, in several zones
// and as INT96, and compares with what Spark read from them. A filter with
// statistics must keep what it should.
func TestCalendar(t *testing.T) {
	const dir = "testdata/calendar"
	list, err := os.Open(filepath.Join(dir, "expected.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	want := map[string][]string{}
	for in := bufio.NewScanner(list); in.Scan(); {
		name, row, _ := strings.Cut(in.Text(), " ")
		want[name] = append(want[name], row)
	}
	cols := fields(field("i", i32), field("d", schema.Of(schema.Date)), field("t", schema.Of(schema.Timestamp)),
		field("n", schema.Of(schema.TimestampNTZ)), field("a", schema.ArrayOf(schema.Of(schema.Date), true)))
	for name, rows := range want {
		data, err := os.ReadFile(filepath.Join(dir, name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(data, format.ReadSpec{Columns: cols})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for k, r := range got {
			day := func(v any) string { return time.Unix(v.(int64)*86_400, 0).UTC().Format("2006-01-02") }
			row := fmt.Sprintf("%d %s %d %s %s", r[0], day(r[1]), r[2], time.UnixMicro(r[3].(int64)).UTC().Format("2006-01-02T15:04:05"), day(r[4].([]any)[0]))
			if k >= len(rows) || row != rows[k] {
				t.Errorf("%s: row %d is %s, Spark reads %v", name, k, row, rows[k])
			}
		}
		if len(got) != len(rows) {
			t.Errorf("%s: %d rows of %d", name, len(got), len(rows))
		}
	}
}

// TestCalendarOption reads dates of a file that does not name their calendar.
func TestCalendarOption(t *testing.T) {
	s := fields(field("d", schema.Of(schema.Date)))
	const day = -354_221 // 1000-02-29 in the Julian calendar
	data, _ := writeAll(t, s, nil, batchOf(s, [][]any{{int64(day)}, {int64(0)}}))
	for mode, want := range map[string]string{"": "1000-03-06", "corrected": "1000-03-06", "LEGACY": "1000-03-01", "EXCEPTION": "READ_ANCIENT_DATETIME"} {
		got, err := readAll(data, format.ReadSpec{Columns: s, Options: map[string]string{"datetimerebasemode": mode}})
		text := fmt.Sprint(err)
		if err == nil {
			text = time.Unix(got[0][0].(int64)*86_400, 0).UTC().Format("2006-01-02")
		}
		if !strings.Contains(text, want) {
			t.Errorf("%q: %s, want %s", mode, text, want)
		}
	}
}

// TestCalendarBounds compares the bounds of the footer with the values.
func TestCalendarBounds(t *testing.T) {
	data, err := os.ReadFile("testdata/calendar/legacy-la-micros.parquet")
	if err != nil {
		t.Fatal(err)
	}
	d, err := New().Describe(t.Context(), format.Input{Name: "f", Object: memFile(data)}, format.ReadSpec{})
	if err != nil {
		t.Fatal(err)
	}
	st := d.Column("d", schema.Of(schema.Date))
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86_400
	if st.Min == nil || int64(st.Min.I32[0]) != first {
		t.Errorf("the least date is %v, want %d", st.Min, first)
	}
	if st := d.Column("t", schema.Of(schema.Timestamp)); st.Min != nil || st.Max != nil {
		t.Errorf("the timestamps have bounds %v and %v", st.Min, st.Max)
	}
}
