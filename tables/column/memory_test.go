package column_test

import (
	"testing"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestMemory counts what is allocated, with children, and not what is filled.
func TestMemory(t *testing.T) {
	v := column.New(schema.ArrayOf(schema.Of(schema.Int64), true))
	v.Offsets = make([]int32, 1, 100)
	v.Children[0].I64 = make([]int64, 0, 1000)
	if n := v.Memory(); n != 4*100+8*1000 {
		t.Errorf("%d bytes", n)
	}
	b := &column.Batch{Cols: []*column.Vector{v, v.Children[0]}}
	if n := b.Memory(); n != 4*100+2*8*1000 {
		t.Errorf("%d bytes in a batch", n)
	}
}
