package parquet

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"

	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// checkDescribed demands that what the footer says is so: the counts are those
// of the rows, the bounds are the least and the greatest value.
func checkDescribed(t rapid.TB, s schema.Schema, data []byte, rows [][]any) (bounds int) {
	t.Helper()
	d, err := New().Describe(context.Background(), format.Input{Name: "f", Object: memFile(data)}, format.ReadSpec{})
	if err != nil || int(d.Rows) != len(rows) {
		t.Fatalf("%d rows of %d, %v", d.Rows, len(rows), err)
	}
	if c := d.Column("no such column", schema.Of(schema.Int32)); c.NullCount != d.Rows || c.Min != nil {
		t.Fatalf("a column that is not there: %+v", c)
	}
	for i, f := range s.Fields {
		c := d.Column(f.Name, f.Type)
		nulls := int64(0)
		var lo, hi any
		for _, r := range rows {
			switch {
			case r[i] == nil:
				nulls++
			case c.Min == nil:
			default:
				if lo == nil || refCompare(f.Type, r[i], lo) < 0 {
					lo = r[i]
				}
				if hi == nil || refCompare(f.Type, r[i], hi) > 0 {
					hi = r[i]
				}
			}
		}
		if c.NullCount >= 0 && c.NullCount != nulls {
			t.Fatalf("%s: %d nulls, want %d", f.Type, c.NullCount, nulls)
		}
		if c.Min == nil {
			continue
		}
		bounds++
		if a, b := at(c.Min, 0), at(c.Max, 0); a != lo || b != hi {
			t.Fatalf("%s: %v to %v, want %v to %v", f.Type, a, b, lo, hi)
		}
	}
	return bounds
}

// TestDescribe has columns of which the footer gives the exact bounds.
func TestDescribe(t *testing.T) {
	s := schema.Schema{Fields: []schema.Field{
		{Name: "a", Type: schema.Of(schema.Int32), Nullable: true}, {Name: "b", Type: schema.Of(schema.Timestamp), Nullable: true},
		{Name: "c", Type: schema.Of(schema.String), Nullable: true}, {Name: "d", Type: schema.Of(schema.Float64), Nullable: true},
	}}
	rows := [][]any{{int64(3), int64(-7), "x", nil}, {nil, int64(5), "y", nil}, {int64(-9), nil, nil, nil}}
	data, _ := writeAll(t, s, map[string]string{"parquet.block.size": "1"}, batchOf(s, rows[:2]), batchOf(s, rows[2:]))
	if n := checkDescribed(t, s, data, rows); n != 2 {
		t.Errorf("bounds of %d columns", n)
	}
	wide, err := New().Describe(t.Context(), format.Input{Name: "f", Object: memFile(data)}, format.ReadSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if c := wide.Column("A", schema.Of(schema.Int64)); c.NullCount != 1 || c.Min == nil || c.Min.I64[0] != -9 {
		t.Errorf("read wider: %+v", c)
	}
	if c := wide.Column("a", schema.Of(schema.Binary)); c.NullCount != -1 {
		t.Errorf("read as what it is not: %+v", c)
	}
	if _, err := New().Describe(t.Context(), format.Input{Name: "f", Object: memFile(bytes.Repeat([]byte{1}, 40))}, format.ReadSpec{}); err == nil {
		t.Error("no Parquet file is described")
	}
}
