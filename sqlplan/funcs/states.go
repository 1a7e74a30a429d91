package funcs

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// ValueColumn holds one replaceable value a group.
type ValueColumn struct {
	values *column.Vector // append-only store of values
	at     []int32        // group -> row in values, -1 for null
}

// ListColumn holds a list of values a group, as chains through an append-only
// store: pointer-free and cheap to append to.
type ListColumn struct {
	values      *column.Vector
	next        []int32 // row -> next row of the same group, -1 at the end
	first, last []int32 // group -> row, -1 when empty
	count       []int32
}

func newValueColumn(t schema.Type) *ValueColumn { return &ValueColumn{values: column.New(t)} }

func newListColumn(t schema.Type) *ListColumn { return &ListColumn{values: column.New(t)} }
