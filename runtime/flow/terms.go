package flow

import (
	"slices"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/format"
)

// comparisons maps operators to terms; flipped is for `literal op column`.
var comparisons = map[string]struct{ op, flipped format.TermOp }{
	"=":  {format.Equal, format.Equal},
	"==": {format.Equal, format.Equal},
	"<":  {format.Less, format.Greater},
	"<=": {format.LessEqual, format.GreaterEqual},
	">":  {format.Greater, format.Less},
	">=": {format.GreaterEqual, format.LessEqual},
}

// terms turns a scan's filters into what a reader can use to skip rows. What
// has no such form is left to the filter above.
func terms(s *logical.Scan) []format.Term {
	var out []format.Term
	for _, f := range s.Filters {
		if t, ok := term(s, f); ok {
			out = append(out, t)
		}
	}
	return out
}

func term(s *logical.Scan, e logical.Expr) (format.Term, bool) {
	call, ok := e.(*logical.Call)
	if !ok {
		return format.Term{}, false
	}
	switch call.Fn.Fn.Name {
	case "isnull", "isnotnull":
		path, ok := columnPath(s, call.Args[0])
		op := format.IsNull
		if call.Fn.Fn.Name == "isnotnull" {
			op = format.IsNotNull
		}
		return format.Term{Path: path, Op: op}, ok
	}
	cmp, ok := comparisons[call.Fn.Fn.Name]
	if !ok || len(call.Args) != 2 {
		return format.Term{}, false
	}
	op := cmp.op
	left, right := call.Args[0], call.Args[1]
	lit, ok := right.(*logical.Literal)
	if !ok {
		if lit, ok = left.(*logical.Literal); !ok {
			return format.Term{}, false
		}
		left, op = right, cmp.flipped
	}
	path, ok := columnPath(s, left)
	if !ok || usableValue(lit.Value) == nil || !lit.Value.Type.SameShape(left.Type()) {
		return format.Term{}, false
	}
	return format.Term{Path: path, Op: op, Value: lit.Value}, true
}

func usableValue(v *column.Vector) *column.Vector {
	if v.IsNull(0) {
		return nil
	}
	return v
}

func columnPath(s *logical.Scan, e logical.Expr) ([]string, bool) {
	var path []string
	for {
		switch x := e.(type) {
		case *logical.FieldAccess:
			path = append(path, x.Input.Type().Fields[x.Index].Name)
			e = x.Input
		case *logical.Column:
			i := slices.IndexFunc(s.Columns, func(a logical.Attr) bool { return a.ID == x.Attr.ID })
			if i < 0 || s.Metadata[i] != "" {
				return nil, false
			}
			path = append(path, s.Columns[i].Name)
			slices.Reverse(path)
			return path, true
		default:
			return nil, false
		}
	}
}
