package logical

import "pipelines/sqlplan/funcs"

// MayFail returns the columns of n whose values may be marks of failed rows:
// an expression below can fail, and nobody has used its value yet. Whoever
// reads such a column for a row makes the row fail.
func MayFail(n Node) map[ColumnID]bool {
	out := map[ColumnID]bool{}
	mayFail(n, out)
	return out
}

// mayFail adds the columns of n to the set.
func mayFail(n Node, set map[ColumnID]bool) {
	switch n := n.(type) {
	case *Scan, *Values, *RangeScan, *RecursionRef:
	case *Project:
		below := MayFail(n.Input)
		for _, a := range n.Exprs {
			if Fails(a.Expr, below) {
				set[a.Attr.ID] = true
			}
		}
	case *Aggregate:
		for _, a := range n.Aggs {
			if overflows(a.Fn) {
				set[a.Attr.ID] = true
			}
		}
	case *Expand:
		below := MayFail(n.Input)
		for i, a := range n.Columns {
			for _, p := range n.Projections {
				if Fails(p[i], below) {
					set[a.ID] = true
				}
			}
		}
	case *Join:
		mayFail(n.Left, set)
		mayFail(n.Right, set)
		for id := range keyColumns(n) {
			delete(set, id)
		}
	case *Union:
		for _, c := range n.Children {
			below := MayFail(c)
			for i, a := range c.Output() {
				if below[a.ID] {
					set[n.Columns[i].ID] = true
				}
			}
		}
	case *Distinct, *SetOp, *Recursion: // all columns are used
	case *Expect:
		if !n.DropErrors { // else they are, to find the rows to drop
			mayFail(n.Input, set)
		}
	case *Window:
		mayFail(n.Input, set)
		for _, c := range n.Calls {
			if c.Agg != nil && overflows(c.Agg) || c.Fn != nil && c.Fn.CanFail {
				set[c.Attr.ID] = true
			}
		}
	default:
		for _, c := range n.Inputs() {
			mayFail(c, set)
		}
	}
}

// overflows reports whether an aggregate's result may be a failure. (A failed
// argument fails the row that has it.)
func overflows(fn *funcs.BoundAggregate) bool {
	switch fn.Fn.Name {
	case "count", "min", "max", "first", "last", "any_value", "count_if", "bool_and", "bool_or", "min_by", "max_by", "collect_list", "collect_set", "collect_union", ":collect_list", ":collect_set", ":collect_union":
		return false
	}
	return true
}

// Fails reports whether evaluating e may make a row fail, given the columns
// that may be marks of failed rows.
func Fails(e Expr, marked map[ColumnID]bool) bool {
	if CanFail(e) {
		return true
	}
	if len(marked) == 0 {
		return false
	}
	ids := map[ColumnID]bool{}
	Columns(e, ids)
	for id := range ids {
		if marked[id] {
			return true
		}
	}
	return false
}

// keyColumns are the columns that are keys of a join as they are: their values
// are used for all rows of their side.
func keyColumns(n *Join) map[ColumnID]bool {
	out := map[ColumnID]bool{}
	for _, keys := range [][]Expr{n.LeftKeys, n.RightKeys} {
		for _, k := range keys {
			if c, ok := k.(*Column); ok {
				out[c.Attr.ID] = true
			}
		}
	}
	return out
}
