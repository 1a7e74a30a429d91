package logical

import "pipelines/sqlplan/funcs"

// MapExpr rebuilds e bottom-up: f gets each expression with its new children.
// Where nothing changes the very same value is returned.
func MapExpr(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	return f(MapChildren(e, func(c Expr) Expr { return MapExpr(c, f) }))
}

// MapChildren applies f to the direct children of e and returns e itself when
// none changes.
func MapChildren(e Expr, f func(Expr) Expr) Expr {
	old := e.Children()
	var out []Expr
	for i, c := range old {
		n := f(c)
		if n != c && out == nil {
			out = append(make([]Expr, 0, len(old)), old...)
		}
		if out != nil {
			out[i] = n
		}
	}
	if out == nil {
		return e
	}
	return e.WithChildren(out)
}

// WalkExpr calls visit for e and, while it returns true, for what is below.
// Plans of subqueries are not entered.
func WalkExpr(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, c := range e.Children() {
		WalkExpr(c, visit)
	}
}

// MapNode rebuilds the plan bottom-up.
func MapNode(n Node, f func(Node) Node) Node {
	return f(MapInputs(n, func(c Node) Node { return MapNode(c, f) }))
}

// MapInputs applies f to the inputs of n and returns n itself when none
// changes.
func MapInputs(n Node, f func(Node) Node) Node {
	old := n.Inputs()
	var out []Node
	for i, c := range old {
		m := f(c)
		if m != c && out == nil {
			out = append(make([]Node, 0, len(old)), old...)
		}
		if out != nil {
			out[i] = m
		}
	}
	if out == nil {
		return n
	}
	return n.WithInputs(out)
}

// WalkNode calls visit for n and, while it returns true, for its inputs.
func WalkNode(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	for _, c := range n.Inputs() {
		WalkNode(c, visit)
	}
}

// Columns adds the ids of the columns that e reads to set, those of the outer
// query inside subqueries included and lambda parameters excluded.
func Columns(e Expr, set map[ColumnID]bool) {
	WalkExpr(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Column:
			set[x.Attr.ID] = true
		case *Lambda:
			inner := map[ColumnID]bool{}
			Columns(x.Body, inner)
			for _, p := range x.Params {
				delete(inner, p.ID)
			}
			for id := range inner {
				set[id] = true
			}
			return false
		case *Subquery:
			for _, a := range x.Outer {
				set[a.ID] = true
			}
		}
		return true
	})
}

// CanFail reports whether evaluating e may mark a row as failed.
func CanFail(e Expr) bool {
	found := false
	WalkExpr(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Call:
			found = found || x.Fn.CanFail
		case *Cast:
			found = found || x.Mode != CastTry && (x.Fn == nil || x.Fn.CanFail)
		case *Subquery:
			found = true
		}
		return !found
	})
	return found
}

// Volatility returns the highest volatility in e.
func Volatility(e Expr) funcs.Volatility {
	v := funcs.Immutable
	WalkExpr(e, func(x Expr) bool {
		if c, ok := x.(*Call); ok && c.Fn.Fn != nil {
			v = max(v, c.Fn.Fn.Volatility)
		}
		if c, ok := x.(*Cast); ok && c.Fn != nil {
			v = max(v, c.Fn.Fn.Volatility)
		}
		return v < funcs.Volatile
	})
	return v
}

// Fixed reports whether e is given by its columns alone, at any time.
func Fixed(e Expr) bool { return Volatility(e) == funcs.Immutable && !HasSubquery(e) }

// HasSubquery reports whether e holds a subquery.
func HasSubquery(e Expr) bool {
	found := false
	WalkExpr(e, func(x Expr) bool {
		if _, ok := x.(*Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}

// IsConstant reports whether e reads no column and holds no subquery, so that
// its value is the same for all rows (Volatility says for how long).
func IsConstant(e Expr) bool {
	set := map[ColumnID]bool{}
	Columns(e, set)
	return len(set) == 0 && !HasSubquery(e)
}

// Conjuncts splits e at its ANDs, in order of evaluation.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if a, ok := e.(*And); ok {
		var out []Expr
		for _, x := range a.Args {
			out = append(out, Conjuncts(x)...)
		}
		return out
	}
	return []Expr{e}
}

// Conjunction joins conditions with AND; nil for none.
func Conjunction(args []Expr) Expr {
	switch len(args) {
	case 0:
		return nil
	case 1:
		return args[0]
	}
	return &And{At{args[0].Span()}, args}
}
