package operator

import (
	"fmt"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// checked sits between two operators and panics when a batch breaks the rules:
// number, type and length of columns, order of the selection, rows after the
// end of the step.
type checked struct {
	out  port
	want []logical.Attr
}

func (c *checked) push(lane int, b *column.Batch) error {
	if len(b.Cols) != len(c.want) {
		panic(fmt.Sprintf("bug: operator: batch of %d columns, want %d", len(b.Cols), len(c.want)))
	}
	for i, v := range b.Cols {
		if v.Len != b.Len {
			panic(fmt.Sprintf("bug: operator: column %s has %d rows of %d", c.want[i].Name, v.Len, b.Len))
		}
		if column.PhysicalOf(v.Type) != column.PhysicalOf(c.want[i].Type) {
			panic(fmt.Sprintf("bug: operator: column %s has kind %d, want %d", c.want[i].Name, v.Type.Kind, c.want[i].Type.Kind))
		}
	}
	last := int32(-1)
	for _, r := range b.Sel {
		if r <= last || int(r) >= b.Len {
			panic("bug: operator: selection is not ascending")
		}
		last = r
	}
	return c.out.push(lane, b)
}

func (c *checked) end() error { return c.out.end() }
