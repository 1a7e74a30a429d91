package operator

import (
	"bytes"
	"testing"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func fuzzTypes() []schema.Type {
	i64, str := schema.Of(schema.Int64), schema.Of(schema.String)
	return []schema.Type{
		i64, str, schema.Of(schema.Float64), schema.DecimalOf(30, 2), schema.ArrayOf(str, true), schema.MapOf(str, i64, true),
		schema.StructOf(schema.Field{Name: "a", Type: schema.Of(schema.Boolean)}, schema.Field{Name: "b", Type: schema.Of(schema.Date)}),
	}
}

// FuzzDecodeRow feeds damaged rows to the decoder: it errs or gives a row that
// encodes to the same bytes.
func FuzzDecodeRow(f *testing.F) {
	c := newRowCodec(fuzzTypes())
	for _, v := range c.cols {
		v.AppendNull()
	}
	f.Add(c.encode(nil))
	c.clear()
	column.AppendValue(c.cols[0], int64(-5))
	column.AppendValue(c.cols[1], "text")
	column.AppendValue(c.cols[2], 1.5)
	column.AppendValue(c.cols[3], column.FromInt64(77))
	column.AppendValue(c.cols[4], []any{"a", nil})
	column.AppendValue(c.cols[5], []column.Entry{{Key: "k", Value: int64(1)}})
	column.AppendValue(c.cols[6], []any{true, int32(3)})
	f.Add(c.encode(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newRowCodec(fuzzTypes())
		if c.decode(data) != nil {
			return
		}
		first := c.encode(nil)
		d := newRowCodec(fuzzTypes())
		if err := d.decode(first); err != nil {
			t.Fatalf("own encoding does not decode: %v", err)
		}
		if !bytes.Equal(first, d.encode(nil)) {
			t.Fatal("encoding is not stable")
		}
	})
}

// FuzzRestore feeds damaged entries to each kind of state.
func FuzzRestore(f *testing.F) {
	f.Add(byte(0), []byte{1, 0, 2, 'a', 'b'}, []byte{0})
	f.Add(byte(1), []byte{1, 0, 2, 'a', 'b'}, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(byte(2), []byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 1}, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, kind byte, key, value []byte) {
		plan := statePlan(int(kind) % 3)
		defer plan.Close()
		h := plan.State()[0]
		if err := h.Restore(key, value); err != nil {
			return
		}
		h.Snapshot(func(_, _ []byte) {})
	})
}

func statePlan(kind int) *Plan {
	attrs := func(first logical.ColumnID) []logical.Attr {
		return []logical.Attr{
			{ID: first, Name: "t", Type: schema.Of(schema.Timestamp), Watermark: 0},
			{ID: first + 1, Name: "k", Type: schema.Of(schema.String), Watermark: -1},
		}
	}
	scan := func(first logical.ColumnID) logical.Node {
		return &logical.Scan{Relation: &logical.Relation{Streaming: true}, Columns: attrs(first)}
	}
	st := &logical.StateInfo{ID: "s", EventTime: 1}
	a, b := attrs(1), attrs(3)
	var n logical.Node
	switch kind {
	case 0:
		n = &logical.Aggregate{Input: scan(1), State: st, Groups: []logical.Alias{{Expr: a[0].Ref(), Attr: a[0]}, {Expr: a[1].Ref(), Attr: a[1]}}}
	case 1:
		n = &logical.Deduplicate{Input: scan(1), State: st}
	default:
		n = &logical.Join{Left: scan(1), Right: scan(3), State: st, LeftKeys: []logical.Expr{a[1].Ref()}, RightKeys: []logical.Expr{b[1].Ref()}, NullSafe: []bool{false},
			Time: &logical.TimeBounds{LeftTime: 1, RightTime: 3}}
	}
	p, err := Build(n, Env{Pool: column.NewPool()})
	if err != nil {
		panic(err)
	}
	return p
}
