package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// TestVectorForms writes constant and dictionary vectors, selected or not, at
// the top and inside structs and lists.
func TestVectorForms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inner := genType(rt, 1)
		n := rapid.IntRange(1, 30).Draw(rt, "rows")
		form := func(t schema.Type) *column.Vector {
			v := column.New(t)
			switch rapid.IntRange(0, 2).Draw(rt, "form") {
			case 0:
				push(v, genValue(rt, t, true))
				v.Const, v.Len = true, n
			case 1:
				v.Dict = column.New(t)
				k := rapid.IntRange(1, 4).Draw(rt, "entries")
				for range k {
					push(v.Dict, genValue(rt, t, false))
				}
				for i := range n {
					v.Index = append(v.Index, int32(rapid.IntRange(0, k-1).Draw(rt, "index")))
					v.Len++
					if rapid.IntRange(0, 4).Draw(rt, "null") == 0 {
						v.SetNull(i)
					}
				}
			default:
				for range n {
					push(v, genValue(rt, t, true))
				}
			}
			return v
		}
		st := schema.StructOf(field("x", inner), field("y", str))
		s := fields(field("a", inner), field("s", str), field("st", st))
		sv := column.New(st)
		sv.Children[0], sv.Children[1], sv.Len = form(inner), form(str), n
		b := &column.Batch{Cols: []*column.Vector{form(inner), form(str), sv}, Len: n}
		var want [][]any
		for i := range n {
			if i%3 == 1 {
				continue
			}
			b.Sel = append(b.Sel, int32(i))
			want = append(want, []any{at(b.Cols[0], i), at(b.Cols[1], i), at(b.Cols[2], i)})
		}
		data, _ := writeAll(rt, s, nil, b)
		if d := cmp.Diff(want, refRead(rt, s, data), allowPair); d != "" {
			rt.Fatalf("%s: %s", s.DDL(), d)
		}
	})
}

// TestStats compares the statistics of flat columns with the values.
func TestStats(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := schema.Schema{Fields: genFields(rt, 0, "c")}
		rows := genRows(rt, s, 30)
		_, stats := writeAll(rt, s, map[string]string{"parquet.block.size": "1"}, batchOf(s, rows[:len(rows)/2]), batchOf(s, rows[len(rows)/2:]))
		for c, f := range s.Fields {
			var lo, hi any
			nulls, known := int64(0), f.Type.Kind != schema.Binary
			for _, r := range rows {
				x := r[c]
				if x == nil {
					nulls++
					continue
				}
				if v := column.New(f.Type); f.Type.IsFloat() {
					push(v, x)
					known = known && floatAt(v) == floatAt(v)
				}
				if lo == nil || refCompare(f.Type, x, lo) < 0 {
					lo = x
				}
				if hi == nil || refCompare(f.Type, x, hi) > 0 {
					hi = x
				}
			}
			got := stats.Columns[c]
			if got.NullCount != nulls || got.Path[0] != f.Name {
				rt.Fatalf("%s: %d nulls, want %d", f.Type, got.NullCount, nulls)
			}
			if !known || lo == nil {
				if got.Min != nil || got.Max != nil {
					rt.Fatalf("%s: bounds of unknown values", f.Type)
				}
				continue
			}
			if got.Min == nil || refCompare(f.Type, at(got.Min, 0), lo) != 0 || refCompare(f.Type, at(got.Max, 0), hi) != 0 {
				rt.Fatalf("%s: %v to %v, want %v to %v", f.Type, at(got.Min, 0), at(got.Max, 0), lo, hi)
			}
		}
	})
}

func TestStatsLeaves(t *testing.T) {
	st := schema.StructOf(field("x", i32), field("l", schema.ArrayOf(i32, true)), field("y", str))
	s := fields(field("s", st), field("m", schema.MapOf(i32, i32, true)), field("v", schema.Of(schema.Void)), field("z", i64))
	var out bytes.Buffer
	w, err := New().Create(&out, format.WriteSpec{Schema: s, StatsColumns: 2})
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]any{{[]any{int64(4), []any{int64(1)}, strings.Repeat("s", 100)}, nil, nil, int64(9)}, {nil, nil, nil, nil}}
	if err := w.Write(batchOf(s, rows)); err != nil {
		t.Fatal(err)
	}
	if w.Size() <= 0 {
		t.Error("no size")
	}
	stats, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range stats.Columns {
		text := fmt.Sprint(pathText(c.Path), " ", c.Type, " ", c.NullCount)
		if c.Min != nil {
			text += fmt.Sprint(" ", at(c.Min, 0), "..", at(c.Max, 0))
		}
		got = append(got, text)
	}
	long := strings.Repeat("s", 100)
	if d := cmp.Diff([]string{"s.x int 1 4..4", "s.y string 1 " + long + ".." + long, "z bigint 1"}, got); d != "" {
		t.Error(d)
	}
}

func TestRefused(t *testing.T) {
	for _, ty := range []schema.Type{schema.Of(schema.Variant), schema.Of(schema.CalendarInterval), schema.Of(schema.DayTimeInterval),
		schema.Of(schema.YearMonthInterval), schema.StructOf(), schema.ArrayOf(schema.Of(schema.Void), true), schema.StructOf(field("v", schema.Of(schema.Void)))} {
		if _, err := New().Create(&bytes.Buffer{}, format.WriteSpec{Schema: fields(field("c", ty))}); err == nil {
			t.Errorf("%s was taken", ty)
		}
	}
	if _, err := New().Create(&bytes.Buffer{}, format.WriteSpec{Options: map[string]string{"compression": "lzo"}}); err == nil {
		t.Error("lzo was taken")
	}
	s := fields(field("a", i32))
	b := batchOf(s, [][]any{{int64(1)}, {int64(2)}})
	b.Cols[0].Fail(1, errors.New("overflow"))
	w, _ := New().Create(&bytes.Buffer{}, format.WriteSpec{Schema: s})
	if err := w.Write(b); err == nil || err.Error() != "overflow" {
		t.Errorf("a failed row was written: %v", err)
	}
	b.Sel = []int32{0}
	if err := w.Write(b); err != nil {
		t.Errorf("a failed row that is not selected: %v", err)
	}
}

func TestNoColumns(t *testing.T) {
	data, stats := writeAll(t, schema.Schema{}, nil, &column.Batch{Len: 5})
	rows, err := readAll(data, format.ReadSpec{})
	if err != nil || len(rows) != 5 || stats.Rows != 5 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestCutBounds(t *testing.T) {
	for _, s := range []string{strings.Repeat("a", 70), strings.Repeat("é", 40), strings.Repeat("\U0010ffff", 20), "a" + strings.Repeat("\U0010ffff", 20),
		strings.Repeat("\ud7ff", 30), strings.Repeat("\xff", 80), strings.Repeat("a", 63) + "é"} {
		lo := cutLeast([]byte(s), true)
		if string(lo) > s || len(lo) > maxBound {
			t.Errorf("least of %q: %q", s, lo)
		}
		for _, text := range []bool{true, false} {
			if hi, ok := cutGreatest([]byte(s), text); ok && (string(hi) < s || len(hi) > maxBound+3) {
				t.Errorf("greatest of %q: %q", s, hi)
			}
		}
	}
	if _, ok := cutGreatest(bytes.Repeat([]byte{0xff}, 65), false); ok {
		t.Error("a bound above all bytes")
	}
}

// TestDictionaryLimits writes strings whose dictionary stops paying midway.
func TestDictionaryLimits(t *testing.T) {
	s := fields(field("s", str))
	var bs []*column.Batch
	var want [][]any
	for b := range 40 {
		var rows [][]any
		for i := range 2048 {
			x := fmt.Sprint("low", i%10)
			if b >= 15 {
				x = fmt.Sprint(strings.Repeat("high", 20), b*2048+i)
			}
			rows = append(rows, []any{x})
		}
		want = append(want, rows...)
		bs = append(bs, batchOf(s, rows))
	}
	data, st := writeAll(t, s, nil, bs...)
	got, err := readAll(data, format.ReadSpec{Columns: s})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d[:min(len(d), 500)])
	}
	if d := cmp.Diff(want, refRead(t, s, data)); d != "" {
		t.Error(d[:min(len(d), 500)])
	}
	if lo, hi := at(st.Columns[0].Min, 0), at(st.Columns[0].Max, 0); lo != strings.Repeat("high", 20)+"30720" || hi != "low9" {
		t.Errorf("%v to %v", lo, hi)
	}
}
