package logical

import (
	"math"

	"pipelines/sqlplan/funcs"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// RankLimit finds the window under a filter, maybe below projections, that
// keeps the first rows of each partition: those whose rank (the call with the
// column rank) is most at the limit. Limit 0: the filter has no such form.
func RankLimit(f *Filter) (w *Window, rank ColumnID, limit int64) {
	names := map[ColumnID]ColumnID{}
	n := f.Input
	for {
		p, ok := n.(*Project)
		if !ok {
			break
		}
		for _, a := range p.Exprs {
			if c, ok := a.Expr.(*Column); ok && a.Attr.ID != c.Attr.ID {
				names[a.Attr.ID] = c.Attr.ID
			}
		}
		n = p.Input
	}
	w, ok := n.(*Window)
	if !ok {
		return nil, 0, 0
	}
	for _, c := range Conjuncts(f.Cond) {
		id, k := rankBound(c, names)
		if k > 0 && (limit == 0 || k < limit) && isRank(w, id) {
			rank, limit = id, k
		}
	}
	return w, rank, limit
}

func isRank(w *Window, id ColumnID) bool {
	for _, c := range w.Calls {
		if c.Attr.ID == id && c.Fn != nil {
			switch c.Fn.Kind {
			case funcs.RowNumber, funcs.Rank, funcs.DenseRank:
				return true
			}
		}
	}
	return false
}

// rankBound reads rn = 1, rn <= n, rn < n and the same turned round. Names are
// the columns under other names.
func rankBound(e Expr, names map[ColumnID]ColumnID) (ColumnID, int64) {
	if c, ok := e.(*Common); ok {
		e = c.Input
	}
	call, ok := e.(*Call)
	if !ok || len(call.Args) != 2 || call.Fn.Fn == nil {
		return 0, 0
	}
	op, a, b := call.Fn.Fn.Name, bareInteger(call.Args[0]), bareInteger(call.Args[1])
	if _, ok := a.(*Literal); ok {
		a, b = b, a
		op = map[string]string{">": "<", ">=": "<=", "=": "=", "==": "="}[op]
	}
	c, ok := a.(*Column)
	lit, ok2 := b.(*Literal)
	if !ok || !ok2 || lit.Value.IsNull(0) || !lit.Value.Type.IsInteger() {
		return 0, 0
	}
	id := c.Attr.ID
	for {
		next, ok := names[id]
		if !ok {
			break
		}
		id = next
	}
	k := integerOf(lit.Value)
	switch {
	case k < 1 || k > math.MaxInt32:
	case op == "<=", (op == "=" || op == "==") && k == 1:
		return id, k
	case op == "<":
		return id, k - 1
	}
	return 0, 0
}

// bareInteger looks through casts between integers.
func bareInteger(e Expr) Expr {
	for {
		c, ok := e.(*Cast)
		if !ok || !c.To.IsInteger() {
			return e
		}
		e = c.Input
	}
}

func integerOf(v *column.Vector) int64 {
	switch v.Type.Kind {
	case schema.Int8:
		return int64(v.I8[0])
	case schema.Int16:
		return int64(v.I16[0])
	case schema.Int32:
		return int64(v.I32[0])
	}
	return v.I64[0]
}
