package expr

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// sharedNode is a sub-expression that the plan marks as common: it runs once a
// batch. A value is reused when it was computed for all selected rows of the
// batch; one that a guard asked for on fewer rows is not.
type sharedNode struct {
	inner  node
	value  *column.Vector
	serial uint64
	all    bool // value covers all rows that the frame was asked for
}

func (s *sharedNode) eval(f *frame, sel []int32) *column.Vector {
	if s.value != nil && s.serial == f.serial && s.all {
		return s.value.Retain()
	}
	v := s.inner.eval(f, sel)
	s.drop()
	s.value, s.serial, s.all = v.Retain(), f.serial, f.whole(sel)
	return v
}

func (s *sharedNode) drop() {
	if s.value != nil {
		s.value.Release()
		s.value = nil
	}
}

// compileCommon compiles a common expression, once for all its places in the
// program.
func (c *compiler) compileCommon(e *logical.Common) (node, error) {
	if s := c.common[e.Number]; s != nil {
		return s, nil
	}
	n, err := c.compile(e.Input)
	if err != nil || c.places[e.Number] < 2 {
		return n, err
	}
	if _, constant := n.(*constNode); constant {
		return n, nil
	}
	s := &sharedNode{inner: n}
	c.common[e.Number] = s
	c.program.shared = append(c.program.shared, s)
	return s, nil
}

// placesOf counts the places of the common expressions.
func placesOf(es []logical.Expr) map[int]int {
	out := map[int]int{}
	for _, e := range es {
		logical.WalkExpr(e, func(x logical.Expr) bool {
			if c, ok := x.(*logical.Common); ok {
				out[c.Number]++
			}
			return true
		})
	}
	return out
}
