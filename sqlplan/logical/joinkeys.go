package logical

import "pipelines/sqlplan/funcs"

// SplitJoin moves the equalities between the sides from the condition to the
// keys. An equality that can fail stays where a conjunct before it may guard
// it, and one over values that failed before likewise. A cross join with keys or a condition becomes an inner one.
func SplitJoin(n *Join) *Join {
	if n.Cond == nil {
		return n
	}
	left, right := idSet(n.Left.Output()), idSet(n.Right.Output())
	m := *n
	m.LeftKeys = append([]Expr(nil), n.LeftKeys...)
	m.RightKeys = append([]Expr(nil), n.RightKeys...)
	m.NullSafe = append([]bool(nil), n.NullSafe...)
	var rest []Expr
	var marked map[ColumnID]bool
	for _, c := range Conjuncts(n.Cond) {
		l, r, safe, ok := equality(c, left, right)
		if ok && len(rest) > 0 && marked == nil {
			marked = sideMarks(n)
		}
		if ok && (len(rest) == 0 || !Fails(c, marked)) {
			m.LeftKeys, m.RightKeys, m.NullSafe = append(m.LeftKeys, l), append(m.RightKeys, r), append(m.NullSafe, safe)
			continue
		}
		rest = append(rest, c)
	}
	if len(m.LeftKeys) == 0 && n.Left.Streaming() && n.Right.Streaming() {
		rest = guardedKey(&m, rest, left, right)
	}
	if len(rest) == len(Conjuncts(n.Cond)) {
		if n.Type != CrossJoin {
			return n
		}
	}
	m.Cond = Conjunction(rest)
	if m.Type == CrossJoin {
		m.Type = InnerJoin
	}
	return &m
}

// guardedKey takes the first equality as the key of a join of streams that has
// no other: without one it could not run. As in Spark, it is evaluated for all
// rows then, though it may fail.
func guardedKey(m *Join, conds []Expr, left, right map[ColumnID]bool) (rest []Expr) {
	for _, c := range conds {
		l, r, safe, ok := equality(c, left, right)
		if !ok || len(m.LeftKeys) > 0 {
			rest = append(rest, c)
			continue
		}
		m.LeftKeys, m.RightKeys, m.NullSafe = []Expr{l}, []Expr{r}, []bool{safe}
	}
	return rest
}

// sideMarks are the columns of both sides that may be marks of failed rows. A
// join of streams takes its keys as they always were: they name its state.
func sideMarks(n *Join) map[ColumnID]bool {
	out := map[ColumnID]bool{}
	if !n.Left.Streaming() || !n.Right.Streaming() {
		mayFail(n.Left, out)
		mayFail(n.Right, out)
	}
	return out
}

func idSet(attrs []Attr) map[ColumnID]bool {
	out := make(map[ColumnID]bool, len(attrs))
	for _, a := range attrs {
		out[a.ID] = true
	}
	return out
}

// equality recognises an equality of an expression of each side.
func equality(e Expr, left, right map[ColumnID]bool) (l, r Expr, safe, ok bool) {
	c, isCall := e.(*Call)
	if !isCall || len(c.Args) != 2 || c.Fn.Fn == nil || (c.Fn.Fn.Name != "=" && c.Fn.Fn.Name != "<=>") {
		return nil, nil, false, false
	}
	if Volatility(e) == funcs.Volatile || HasSubquery(e) {
		return nil, nil, false, false
	}
	a, b := c.Args[0], c.Args[1]
	safe = c.Fn.Fn.Name == "<=>"
	switch {
	case onlyOf(a, left) && onlyOf(b, right):
		return a, b, safe, true
	case onlyOf(a, right) && onlyOf(b, left):
		return b, a, safe, true
	}
	return nil, nil, false, false
}

// onlyOf reports whether e reads columns, all of them from the set.
func onlyOf(e Expr, set map[ColumnID]bool) bool {
	ids := map[ColumnID]bool{}
	Columns(e, ids)
	for id := range ids {
		if !set[id] {
			return false
		}
	}
	return len(ids) > 0
}
