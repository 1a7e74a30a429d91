package parquet

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// refCompare orders model values as Spark does: NaN equals NaN and is greatest.
func refCompare(t schema.Type, a, b any) int {
	num := func(x any) float64 {
		if u, ok := x.(uint32); ok {
			return float64(math.Float32frombits(u))
		}
		return math.Float64frombits(x.(uint64))
	}
	switch a := a.(type) {
	case bool:
		x, y := 0, 0
		if a {
			x = 1
		}
		if b.(bool) {
			y = 1
		}
		return x - y
	case int64:
		switch {
		case a < b.(int64):
			return -1
		case a > b.(int64):
			return 1
		}
		return 0
	case column.Int128:
		return a.Cmp(b.(column.Int128))
	case string:
		switch {
		case a < b.(string):
			return -1
		case a > b.(string):
			return 1
		}
		return 0
	}
	x, y := num(a), num(b)
	switch {
	case x != x && y != y, x == y:
		return 0
	case y != y || x < y:
		return -1
	}
	return 1
}

func refMatch(t schema.Type, op format.TermOp, x, v any) bool {
	switch {
	case op == format.IsNull:
		return x == nil
	case op == format.IsNotNull:
		return x != nil
	case x == nil:
		return false
	}
	c := refCompare(t, x, v)
	return op == format.Equal && c == 0 || op == format.Less && c < 0 || op == format.LessEqual && c <= 0 ||
		op == format.Greater && c > 0 || op == format.GreaterEqual && c >= 0
}

// TestPruneRandom checks that no row that matches is skipped, in our files and
// in parquet-go's.
func TestPruneRandom(t *testing.T) {
	skipped, total := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := schema.Schema{Fields: []schema.Field{{Name: "id", Type: schema.Of(schema.Int64)}, {Name: "x", Type: genType(rt, 0)}}}
		var rows [][]any
		for len(rows) < 24 { // runs of equal values, so that pages and groups can be skipped
			v := genValue(rt, s.Fields[1].Type, true)
			for range 6 {
				rows = append(rows, []any{int64(len(rows)), v})
			}
		}
		var data []byte
		if rapid.Bool().Draw(rt, "ours") {
			var bs []*column.Batch
			for i := 0; i < len(rows); i += 6 {
				bs = append(bs, batchOf(s, rows[i:i+6]))
			}
			data, _ = writeAll(rt, s, map[string]string{"parquet.block.size": "1"}, bs...)
		} else {
			data = refWrite(rt, s, rows, pq.PageBufferSize(rapid.SampledFrom([]int{16, 64, 10000}).Draw(rt, "page")),
				pq.MaxRowsPerRowGroup(rapid.SampledFrom([]int64{6, 1000}).Draw(rt, "group")))
		}
		term := format.Term{Path: []string{"X"}, Op: format.TermOp(rapid.IntRange(0, 6).Draw(rt, "op"))}
		v := rows[rapid.IntRange(0, len(rows)-1).Draw(rt, "row")][1]
		if v == nil || rapid.Bool().Draw(rt, "other") {
			v = genValue(rt, s.Fields[1].Type, false)
		}
		term.Value = column.New(s.Fields[1].Type)
		push(term.Value, v)
		got, err := readAll(data, format.ReadSpec{Declared: s, Columns: s, Terms: []format.Term{term}, BatchRows: 4, Late: rapid.Bool().Draw(rt, "late")})
		if err != nil {
			rt.Fatal(err)
		}
		total += len(rows)
		skipped += len(rows) - len(got)
		keep := func(in [][]any) (out [][]any) {
			for _, r := range in {
				if refMatch(s.Fields[1].Type, term.Op, r[1], v) {
					out = append(out, r)
				}
			}
			return out
		}
		if d := cmp.Diff(keep(rows), keep(got), allowPair); d != "" {
			rt.Fatalf("%s op %d %v: %s", s.DDL(), term.Op, v, d)
		}
	})
	if skipped < total/20 {
		t.Errorf("only %d of %d rows were skipped", skipped, total)
	}
}

// TestPrunePages checks that pages are skipped within a row group and that all
// columns stay in step, nested ones too.
func TestPrunePages(t *testing.T) {
	list := schema.ArrayOf(schema.Of(schema.Int64), true)
	s := schema.Schema{Fields: []schema.Field{{Name: "id", Type: schema.Of(schema.Int64)}, {Name: "s", Type: schema.Of(schema.String)}, {Name: "l", Type: list}}}
	var bs []*column.Batch
	for b := range 60 {
		var rows [][]any
		for i := range 2048 {
			id := int64(b*2048 + i)
			l := []any{}
			for range id % 3 {
				l = append(l, id)
			}
			var str any = fmt.Sprint("v", id%100)
			if id%7 == 0 {
				str = nil
			}
			rows = append(rows, []any{id, str, l})
		}
		bs = append(bs, batchOf(s, rows))
	}
	data, _ := writeAll(t, s, nil, bs...)
	lo, hi := column.New(schema.Of(schema.Int64)), column.New(schema.Of(schema.Int64))
	push(lo, int64(70_000))
	push(hi, int64(70_100))
	for _, late := range []bool{false, true} {
		checkPruned(t, data, format.ReadSpec{Declared: s, Columns: s, Late: late, Terms: []format.Term{
			{Path: []string{"id"}, Op: format.GreaterEqual, Value: lo}, {Path: []string{"id"}, Op: format.Less, Value: hi}}})
	}
}

func checkPruned(t *testing.T, data []byte, spec format.ReadSpec) {
	t.Helper()
	got, err := readAll(data, spec)
	if err != nil {
		t.Fatal(err)
	}
	most := 25_000
	if spec.Late {
		most = 2048
	}
	if len(got) > most || len(got) < 100 {
		t.Errorf("%d rows read", len(got))
	}
	for _, r := range got {
		id := r[0].(int64)
		if len(r[2].([]any)) != int(id%3) || (r[1] == nil) != (id%7 == 0) || r[1] != nil && r[1] != fmt.Sprint("v", id%100) {
			t.Fatalf("columns out of step: %v", r)
		}
	}
}
