package expr

import (
	"fmt"
	"strings"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// sharedNode is a sub-expression that occurs several times: it runs once a
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

// sharing knows which sub-expressions occur more than once.
type sharing struct {
	ids   map[string]int
	exprs map[logical.Expr]int
	count []int
	pure  []bool
	made  map[int]*sharedNode
}

func countShared(es []logical.Expr) *sharing {
	s := &sharing{ids: map[string]int{}, exprs: map[logical.Expr]int{}, made: map[int]*sharedNode{}}
	for _, e := range es {
		s.number(e)
	}
	return s
}

// number gives equal expressions equal numbers and counts them.
func (s *sharing) number(e logical.Expr) int {
	var key strings.Builder
	pure := true
	switch e := e.(type) {
	case *logical.Column:
		fmt.Fprintf(&key, "col %d", e.Attr.ID)
	case *logical.Literal:
		fmt.Fprintf(&key, "lit %s %#v", e.Value.Type, column.At(e.Value, 0))
	case *logical.Call:
		pure = e.Fn.Fn == nil || e.Fn.Fn.Volatility != funcs.Volatile
		name := ""
		if e.Fn.Fn != nil {
			name = e.Fn.Fn.Name
		}
		fmt.Fprintf(&key, "call %q %s", name, e.Fn.Result)
	case *logical.Cast:
		fmt.Fprintf(&key, "cast %s %d", e.To, e.Mode)
	case *logical.FieldAccess:
		fmt.Fprintf(&key, "field %d", e.Index)
	case *logical.And:
		key.WriteString("and")
	case *logical.Or:
		key.WriteString("or")
	case *logical.Case:
		fmt.Fprintf(&key, "case %t", e.Else != nil)
	case *logical.Coalesce:
		key.WriteString("coalesce")
	default: // lambdas and whatever else: each its own
		fmt.Fprintf(&key, "own %p", e)
		pure = false
	}
	if _, lambda := e.(*logical.Lambda); !lambda {
		for _, c := range e.Children() {
			id := s.number(c)
			pure = pure && s.pure[id]
			fmt.Fprintf(&key, " %d", id)
		}
	}
	k := key.String()
	id, ok := s.ids[k]
	if !ok {
		id = len(s.count)
		s.ids[k] = id
		s.count, s.pure = append(s.count, 0), append(s.pure, pure)
	}
	s.count[id]++
	s.exprs[e] = id
	return id
}

// find returns the number of e and whether its result should be shared.
func (s *sharing) find(e logical.Expr) (id int, shared bool) {
	switch e.(type) {
	case *logical.Call, *logical.Cast, *logical.Case, *logical.Coalesce:
		id, ok := s.exprs[e]
		return id, ok && s.count[id] > 1 && s.pure[id]
	}
	return -1, false
}
