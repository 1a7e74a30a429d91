package bind

import (
	"strconv"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// loop is a recursive CTE while its step is bound.
type loop struct {
	number int
	attrs  []logical.Attr
}

// Spark's bounds where no setting says otherwise.
const (
	recursionLevels = 100
	recursionRows   = 1_000_000
)

const (
	invalidRecursion = "Invalid recursive definition found. Recursive queries must contain an UNION or an UNION ALL statement with 2 children. The first child needs to be the anchor term without any recursive references."
	invalidPlace     = "Invalid recursive reference found inside WITH RECURSIVE clause. Recursive references cannot be used on the right side of left outer/semi/anti joins, on the left side of right outer joins, in full outer joins, and in aggregates."
)

// recursive binds the query of a CTE that reads itself: anchor UNION ALL step.
func (b *Binder) recursive(c *cteScope, up enclosing) (logical.Node, *scope) {
	broken := &scope{broken: true}
	q := c.cte.Query
	if q.With != nil && !b.with(q.With, up) {
		return nil, broken
	}
	body := q.Body
	for {
		nested, ok := body.(*ast.NestedQuery)
		if !ok || nested.Query.With != nil || !nested.Query.Tail.Empty() {
			break
		}
		body = nested.Query.Body
	}
	u, ok := body.(*ast.SetOp)
	if !ok || u.Kind != ast.Union || !q.Tail.Empty() || bodyMentions(u.L, c.name) {
		b.fail(c.cte.Span, "INVALID_RECURSIVE_CTE", invalidRecursion)
		return nil, broken
	}
	if !u.All {
		b.fail(u.Span, "UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE",
			"The UNION operator is not yet supported within recursive common table expressions (WITH clauses that refer to themselves, directly or indirectly). Please use UNION ALL instead.")
		return nil, broken
	}
	anchor, as := b.body(u.L, nil, up)
	if anchor == nil {
		return nil, broken
	}
	cols := as.visible()
	if names := c.cte.Columns; len(names) > 0 {
		anchor, as = b.renamed(anchor, as, names, c.cte.Name.Span)
		if anchor == nil {
			return nil, broken
		}
		cols = as.visible()
	}
	b.loops++
	r := &logical.Recursion{Anchor: anchor, Loop: b.loops, Wanted: -1}
	if r.MaxLevel, r.MaxRows, ok = b.recursionBounds(c.cte); !ok {
		return nil, broken
	}
	self := *c
	self.up, self.loop = b.ctes, &loop{number: r.Loop}
	for _, k := range cols {
		a := k.attr
		a.Nullable = true
		self.loop.attrs = append(self.loop.attrs, a)
	}
	b.ctes = &self
	step, ss := b.body(u.R, nil, up)
	if step == nil {
		return nil, broken
	}
	return b.closeLoop(u, r, cols, step, ss.visible())
}

// closeLoop joins anchor and step; the anchor's types are the columns' types.
func (b *Binder) closeLoop(u *ast.SetOp, r *logical.Recursion, cols []col, step logical.Node, sc []col) (logical.Node, *scope) {
	broken := &scope{broken: true}
	if len(sc) != len(cols) {
		b.fail(u.R.Range(), "NUM_COLUMNS_MISMATCH",
			"UNION can only be performed on inputs with the same number of columns, but the first input has %d columns and the second input has %d columns.", len(cols), len(sc))
		return nil, broken
	}
	types := make([]schema.Type, len(cols))
	for i := range cols {
		types[i] = cols[i].attr.Type
		t, ok := b.commonType([]schema.Type{types[i], sc[i].attr.Type}, true)
		if !ok {
			b.fail(u.R.Range(), "INCOMPATIBLE_COLUMN_TYPE",
				"UNION can only be performed on tables with compatible column types. The %s column of the second table is %q type which is not compatible with %q at the same column of the first table.",
				nth(i), sc[i].attr.Type.SQL(), types[i].SQL())
			return nil, broken
		}
		if types[i].Kind == schema.Void {
			types[i] = t
		}
		if !t.SameShape(types[i]) {
			b.fail(u.R.Range(), "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
				"Failed to merge incompatible data types %q and %q: the recursive term must have the types of the anchor term.", types[i].SQL(), sc[i].attr.Type.SQL())
			return nil, broken
		}
	}
	if misplaced(step, r.Loop, false) {
		b.fail(u.R.Range(), "INVALID_RECURSIVE_REFERENCE.PLACE", invalidPlace)
		return nil, broken
	}
	var ok, ok2 bool
	r.Anchor, ok = b.align(u.L.Range(), r.Anchor, cols, types)
	r.Step, ok2 = b.align(u.R.Range(), step, sc, types)
	if !ok || !ok2 {
		return nil, broken
	}
	if r.Streaming() {
		b.fail(u.Span, "STREAM_FAILED", "A recursive query cannot read a stream.")
		return nil, broken
	}
	out := &scope{}
	for i, k := range cols {
		a := b.attr(k.attr.Name, types[i], true)
		r.Columns = append(r.Columns, a)
		out.cols = append(out.cols, col{attr: a})
	}
	return r, out
}

// recursionRef is a reference of a recursive CTE to itself.
func (b *Binder) recursionRef(c *cteScope, r diag.Range) (logical.Node, *scope) {
	ref := &logical.RecursionRef{Loop: c.loop.number, Name: c.name}
	out := &scope{}
	for _, a := range c.loop.attrs {
		a = b.attr(a.Name, a.Type, true)
		ref.Columns = append(ref.Columns, a)
		out.cols = append(out.cols, col{attr: a, quals: []string{c.name}})
	}
	return ref, out
}

// recursionBounds reads MAX RECURSION LEVEL and the settings.
func (b *Binder) recursionBounds(c *ast.CTE) (levels, rows int64, ok bool) {
	setting := func(key string, def int64) int64 {
		if n, err := strconv.ParseInt(b.session.Conf[key], 10, 64); err == nil {
			return n
		}
		return def
	}
	levels = setting("spark.sql.cteRecursionLevelLimit", recursionLevels)
	rows = setting("spark.sql.cteRecursionRowLimit", recursionRows)
	if c.MaxLevels != nil {
		levels, ok = b.limitValue(c.MaxLevels, "recursion level")
		return levels, rows, ok
	}
	return levels, rows, true
}

// bodyMentions is mentions for a body.
func bodyMentions(body ast.Body, name string) bool {
	return mentions(&ast.Query{Body: body}, name)
}

// misplaced reports a reference to the loop where a step may not have one.
func misplaced(n logical.Node, number int, forbidden bool) bool {
	bad := false
	logical.EachExpr(n, func(e logical.Expr) {
		logical.WalkExpr(e, func(x logical.Expr) bool {
			if s, ok := x.(*logical.Subquery); ok {
				bad = bad || misplaced(s.Plan, number, forbidden)
			}
			return true
		})
	})
	if bad {
		return true
	}
	switch m := n.(type) {
	case *logical.RecursionRef:
		return forbidden && m.Loop == number
	case *logical.Aggregate, *logical.Window, *logical.Sort:
		forbidden = true
	case *logical.Join:
		left, right := forbidden, forbidden
		switch m.Type {
		case logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.SingleJoin, logical.MarkJoin:
			right = true
		case logical.RightJoin:
			left = true
		case logical.FullJoin:
			left, right = true, true
		}
		return misplaced(m.Left, number, left) || misplaced(m.Right, number, right)
	}
	for _, in := range n.Inputs() {
		if misplaced(in, number, forbidden) {
			return true
		}
	}
	return false
}
