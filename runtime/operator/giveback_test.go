package operator

import (
	"strings"
	"testing"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// TestFirstRowsGiveBack: what a step with many rows held does not stay.
func TestFirstRowsGiveBack(t *testing.T) {
	i64 := schema.Of(schema.Int64)
	k, v := logical.Attr{ID: 1, Type: i64}, logical.Attr{ID: 2, Type: schema.Of(schema.String)}
	n := &logical.Window{
		PartitionBy: []logical.Expr{k.Ref()}, OrderBy: []logical.SortKey{{Expr: v.Ref()}}, First: 1, FirstBy: 3,
		Calls: []logical.WindowCall{{Fn: &funcs.BoundWindow{Kind: funcs.RowNumber}, Attr: logical.Attr{ID: 3}}},
	}
	f := newFirstRows(n, make([]sortOrder, 2))
	keys := []*column.Vector{column.New(k.Type), column.New(v.Type)}
	for i := range 4000 {
		keys[0].I64 = append(keys[0].I64, int64(i))
		keys[0].Len++
		keys[1].AppendStr([]byte(strings.Repeat("x", 2000)))
	}
	if rows := f.filter(keys, identity(4000)); len(rows) != 4000 || f.held < bigVector {
		t.Fatalf("%d rows, %d bytes are too few to tell", len(rows), f.held)
	}
	f.reset(false)
	if cap(f.best) > 0 || f.held > 0 {
		t.Errorf("the best keys of %d partitions stay", cap(f.best))
	}
}

// TestRemovedKeysCount: the log knows what it holds of removed keys, and a large
// list of them does not stay.
func TestRemovedKeysCount(t *testing.T) {
	var log changeLog
	key := make([]byte, 1000)
	for range bigVector / 500 {
		log.forget(key)
	}
	if n := log.goneBytes(); n < 2*bigVector {
		t.Errorf("%d bytes", n)
	}
	gone := 0
	log.flush(&entryWriter{put: func(_, value []byte) {
		if value == nil {
			gone++
		}
	}}, func(int32) {})
	if n := log.goneBytes(); n != 0 || gone != bigVector/500 {
		t.Errorf("%d bytes stay; %d keys went", n, gone)
	}
}

// TestTimeIndexBytes: lists of due numbers and of free lists count.
func TestTimeIndexBytes(t *testing.T) {
	var x timeIndex
	for i := range int32(10000) {
		x.add(int64(i)<<bucketShift, i)
	}
	before := x.bytes()
	if due := x.expire(10000 << bucketShift); len(due) != 10000 {
		t.Fatal(len(due))
	}
	if n := x.bytes(); n < before+4*2*10000-48*10000 { // each of two lists; the map of buckets is empty
		t.Errorf("%d bytes, %d before", n, before)
	}
}
