package rewrite

import (
	"fmt"
	"strings"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// commonExpressions marks what occurs several times in the expressions that an
// operator evaluates together, so that it is computed once a batch. The marks
// move no evaluation: an expression behind a guard stays there.
func commonExpressions(c *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		if _, ok := m.(*logical.Scan); ok { // its filters are not evaluated
			return m
		}
		part := together(m)
		var parts []*sharing
		i := 0
		logical.EachExpr(m, func(e logical.Expr) {
			for len(parts) <= part(i) {
				parts = append(parts, newSharing(c))
			}
			parts[part(i)].number(e)
			parts[part(i)].uses(e)
			i++
		})
		i = 0
		return logical.MapExprs(m, func(e logical.Expr) logical.Expr {
			i++
			return parts[part(i-1)].mark(e)
		})
	})
}

// together says which of a node's expressions, in order, are evaluated in one
// program.
func together(n logical.Node) func(i int) int {
	switch m := n.(type) {
	case *logical.Join:
		keys := len(m.LeftKeys)
		return func(i int) int { return min(i/max(keys, 1), 2) }
	case *logical.Expand:
		return func(i int) int { return i / len(m.Columns) }
	}
	return func(int) int { return 0 }
}

// sharing knows which sub-expressions of one program have the same value.
type sharing struct {
	c     *Context
	ids   map[string]int
	exprs map[logical.Expr]int
	kinds []sharedKind // by id
	marks map[int]int  // numbers of Common by id
}

// sharedKind is what is known of one value.
type sharedKind struct {
	places int
	pure   bool // the same each time it is computed
}

func newSharing(c *Context) *sharing {
	return &sharing{c: c, ids: map[string]int{}, exprs: map[logical.Expr]int{}, marks: map[int]int{}}
}

// number gives equal expressions equal numbers.
func (s *sharing) number(e logical.Expr) int {
	if e == nil {
		return -1
	}
	if id, ok := s.exprs[e]; ok {
		return id
	}
	var key strings.Builder
	pure := describe(&key, e)
	if _, lambda := e.(*logical.Lambda); !lambda {
		for _, c := range e.Children() {
			id := s.number(c)
			pure = pure && s.kinds[id].pure
			fmt.Fprintf(&key, " %d", id)
		}
	}
	k := key.String()
	id, ok := s.ids[k]
	if !ok {
		id = len(s.kinds)
		s.ids[k] = id
		s.kinds = append(s.kinds, sharedKind{pure: pure})
	}
	s.exprs[e] = id
	return id
}

// describe writes what e does with its operands and reports whether it does
// so each time.
func describe(key *strings.Builder, e logical.Expr) (pure bool) {
	switch e := e.(type) {
	case *logical.Column:
		fmt.Fprintf(key, "col %d", e.Attr.ID)
	case *logical.Literal:
		fmt.Fprintf(key, "lit %s %#v", e.Value.Type, column.At(e.Value, 0))
	case *logical.Call:
		if e.Fn.Fn == nil {
			fmt.Fprintf(key, "own %p", e)
			return false
		}
		fmt.Fprintf(key, "call %q %s", e.Fn.Fn.Name, e.Fn.Result)
		return e.Fn.Fn.Volatility != funcs.Volatile
	case *logical.Cast:
		fmt.Fprintf(key, "cast %s %d", e.To, e.Mode)
	case *logical.FieldAccess:
		fmt.Fprintf(key, "field %d", e.Index)
	case *logical.And:
		key.WriteString("and")
	case *logical.Or:
		key.WriteString("or")
	case *logical.Case:
		fmt.Fprintf(key, "case %t", e.Else != nil)
	case *logical.Coalesce:
		key.WriteString("coalesce")
	default: // lambdas and whatever else: each its own
		fmt.Fprintf(key, "own %p", e)
		return false
	}
	return true
}

// uses counts the places at which a value is asked for. What stands inside of
// an expression that is counted already is not asked for once more.
func (s *sharing) uses(e logical.Expr) {
	if e == nil {
		return
	}
	id := s.exprs[e]
	s.kinds[id].places++
	if s.shareable(e) && s.kinds[id].places > 1 {
		return
	}
	if _, lambda := e.(*logical.Lambda); lambda {
		return
	}
	for _, c := range e.Children() {
		s.uses(c)
	}
}

// shareable reports whether keeping the value of e is worth it and right.
func (s *sharing) shareable(e logical.Expr) bool {
	switch e.(type) {
	case *logical.Call, *logical.Cast, *logical.Case, *logical.Coalesce:
		return s.kinds[s.exprs[e]].pure
	}
	return false
}

// mark wraps what is shared. The body of a lambda is a program of its own.
func (s *sharing) mark(e logical.Expr) logical.Expr {
	if e == nil {
		return nil
	}
	if l, ok := e.(*logical.Lambda); ok {
		inner := newSharing(s.c)
		inner.number(l.Body)
		inner.uses(l.Body)
		if body := inner.mark(l.Body); body != l.Body {
			return l.WithChildren([]logical.Expr{body})
		}
		return l
	}
	out := logical.MapChildren(e, s.mark)
	id := s.exprs[e]
	if s.kinds[id].places < 2 || !s.shareable(e) {
		return out
	}
	if s.marks[id] == 0 {
		s.c.commons++
		s.marks[id] = s.c.commons
	}
	return &logical.Common{At: logical.At{Place: e.Span()}, Number: s.marks[id], Input: out}
}
