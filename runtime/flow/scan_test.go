package flow

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/table"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/format/parquet"
	"pipelines/tables/schema"
)

// TestSharedScans reads a source that the plan scans twice: once when the plan
// says that the scans are shared, else twice, for the same rows.
func TestSharedScans(t *testing.T) {
	reads := map[int]int64{}
	for _, shared := range []int{0, 1} {
		r := newRig(t, 300)
		r.twice, r.shared = true, shared
		var n atomic.Int64
		sum, err := r.run(func(point string) error {
			if point == ReadSplit {
				n.Add(1)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if sum.InputRows != 300 || sum.OutputRows != 600 {
			t.Errorf("shared %d: %d rows in, %d out", shared, sum.InputRows, sum.OutputRows)
		}
		for id, times := range r.ids() {
			if times != 2 {
				t.Errorf("shared %d: id %d comes %d times", shared, id, times)
			}
		}
		reads[shared] = n.Load()
	}
	if reads[0] != 2*reads[1] || reads[1] == 0 {
		t.Errorf("%d splits read apart, %d shared", reads[0], reads[1])
	}
}

// TestFacts reads what a table's files say of themselves before a plan runs.
func TestFacts(t *testing.T) {
	r := newRig(t, 300)
	if _, err := r.run(nil); err != nil {
		t.Fatal(err)
	}
	w := &table.Whole{Reader: table.Reader{Table: r.table(), Format: parquet.New()}}
	var got logical.Facts
	var rows, low, high int64 = 0, 1 << 60, -1
	_, err := RunBounded(context.Background(), BoundedOptions{
		Plan: r.scan(), Session: &funcs.Session{ANSI: true, Location: time.UTC}, Tables: map[string]connector.Bounded{"gen": w}, Now: time.Now(),
		Refine: func(f logical.Facts) logical.Node {
			got = f
			for _, file := range f.Files("gen") {
				c := file.Column("id")
				rows, low, high = rows+file.Rows, min(low, c.Min.I64[0]), max(high, c.Max.I64[0])
				if c.Nulls != 0 || file.Column("no such").Nulls != -1 {
					t.Errorf("%+v", c)
				}
			}
			v := column.Constant(schema.Of(schema.Int64), 1, rows)
			return &logical.Values{Columns: r.scan().Columns[:1], Data: []*column.Vector{v}, Rows: 1}
		},
		Output: func(_ int, b *column.Batch) error {
			if b.Len != 1 || b.Cols[0].I64[0] != 300 {
				t.Errorf("the refined plan did not run: %d rows", b.Len)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if rows != 300 || low != 0 || high != 299 || got.Bytes("gen") <= 0 || got.Bytes("other") != -1 || got.Files("other") != nil {
		t.Errorf("%d rows from %d to %d, %d bytes", rows, low, high, got.Bytes("gen"))
	}
}
