package rewrite

import "pipelines/sqlplan/logical"

// lateMaterialisation asks the reader of a scan to look at the columns of its
// filters first, and to read the others only where rows can pass. The filter
// above stays.
func lateMaterialisation(_ *Context, n logical.Node) logical.Node {
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		s, ok := m.(*logical.Scan)
		if !ok || s.Late {
			return m
		}
		tested := idSet{}
		for _, f := range s.Filters {
			if col := testedColumn(f); col != nil {
				tested[col.Attr.ID] = true
			}
		}
		if len(tested) == 0 || len(tested) == len(s.Columns) {
			return m
		}
		c := *s
		c.Late = true
		return &c
	})
}

// testedColumn is the column that a filter compares with a constant, or tests
// for null.
func testedColumn(e logical.Expr) *logical.Column {
	call, ok := e.(*logical.Call)
	if !ok || call.Fn.Fn == nil || len(call.Args) == 0 || len(call.Args) > 2 {
		return nil
	}
	switch call.Fn.Fn.Name {
	case "=", "==", "<", "<=", ">", ">=", "isnull", "isnotnull":
	default:
		return nil
	}
	var col *logical.Column
	for _, a := range call.Args {
		switch a := a.(type) {
		case *logical.Column:
			if col != nil {
				return nil
			}
			col = a
		case *logical.Literal:
		default:
			return nil
		}
	}
	return col
}
