package operator

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// runValues pushes an inline table and ends.
func runValues(p *Plan, n *logical.Values, out port) error {
	if n.Rows > 0 {
		b := p.env.Pool.Batch()
		defer b.Release()
		for _, v := range n.Data {
			b.Cols = append(b.Cols, v.Retain())
		}
		b.Len = n.Rows
		if err := out.push(0, b); err != nil {
			return err
		}
	}
	return out.end()
}

// runRange pushes range(start, end, step), as far as it is wanted, and ends.
func runRange(p *Plan, n *logical.RangeScan, out port, wanted func() bool) error {
	if n.Step == 0 {
		panic("bug: operator: range with step 0")
	}
	more := func(x int64) bool { return n.Step > 0 && x < n.End || n.Step < 0 && x > n.End }
	for x := n.Start; more(x) && wanted(); {
		b := p.env.Pool.Batch()
		v := p.env.Pool.Vector(n.Column.Type)
		for len(v.I64) < column.BatchRows && more(x) {
			v.I64 = append(v.I64, x)
			next := x + n.Step
			if n.Step > 0 != (next > x) { // past the end of BIGINT
				next = n.End
			}
			x = next
		}
		v.Len = len(v.I64)
		b.Cols, b.Len = append(b.Cols, v), v.Len
		err := out.push(0, b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return out.end()
}
