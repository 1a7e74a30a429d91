package bind

import (
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// maxNearest is the largest number of rows that NEAREST takes for a row.
const maxNearest = 100_000

// nearest binds l JOIN r APPROX|EXACT NEAREST n BY DISTANCE|SIMILARITY x: each
// row of l with the n rows of r whose x is least or greatest. It is a lateral
// join with the first n rows of r in that order.
func (b *Binder) nearest(j *ast.Join, l logical.Node, ls *scope, up enclosing) (logical.Node, *scope) {
	broken := &scope{broken: true}
	r, rs := b.relation(j.R, up)
	if l == nil || r == nil {
		return nil, broken
	}
	n := j.Nearest
	if j.Kind != ast.InnerJoin && j.Kind != ast.LeftJoin {
		b.fail(n.Span, "NEAREST_BY_JOIN.UNSUPPORTED_JOIN_TYPE", "The NEAREST BY join supports INNER and LEFT OUTER only.")
		return nil, broken
	}
	if !b.setting("spark.sql.crossJoin.enabled") {
		b.fail(n.Span, "NEAREST_BY_JOIN.CROSS_JOIN_NOT_ENABLED", "The NEAREST BY join compares all rows of both sides, which spark.sql.crossJoin.enabled=false refuses.")
		return nil, broken
	}
	count, ok := b.nearestCount(n)
	if !ok {
		return nil, broken
	}
	in := &scope{cols: append(append([]col(nil), ls.cols...), rs.cols...), broken: ls.broken || rs.broken}
	x, ok := b.expr(n.By, plain(up.over(in), "NEAREST"))
	if !ok {
		return nil, broken
	}
	if !orderable(x.typ()) {
		b.fail(n.By.Range(), "NEAREST_BY_JOIN.NON_ORDERABLE_RANKING_EXPRESSION", `The ranking expression "%s" of the NEAREST BY join has the type "%s", which has no order.`, x.text, x.typ().SQL())
		return nil, broken
	}
	known, ok := b.function(n.Span, "isnotnull", []bound{x})
	if !ok {
		return nil, broken
	}
	right := r.Output()
	rank := b.attr("ranking", x.typ(), x.e.Nullable())
	p := &logical.Project{Input: r}
	for _, a := range right {
		p.Exprs = append(p.Exprs, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	p.Exprs = append(p.Exprs, logical.Alias{Expr: x.e, Attr: rank})
	known.e = logical.MapChildren(known.e, func(logical.Expr) logical.Expr { return rank.Ref() })
	var first logical.Node = &logical.Filter{Input: p, Cond: known.e}
	first = &logical.Sort{Input: first, Keys: []logical.SortKey{{Expr: rank.Ref(), Descending: n.Similarity}}, Limit: -1}
	first = &logical.Limit{Input: first, Count: count}
	keep := &logical.Project{Input: first}
	for _, a := range right {
		keep.Exprs = append(keep.Exprs, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	out := &logical.Join{Left: l, Right: keep, Type: joinTypes[j.Kind], Lateral: true}
	return b.joinOutput(out, in)
}

// nearestCount is the number of rows that NEAREST takes.
func (b *Binder) nearestCount(n *ast.Nearest) (int64, bool) {
	if n.Count == nil {
		return 1, true
	}
	count := int64(0)
	x, ok := b.expr(n.Count, plain(&scope{}, "NEAREST"))
	if !ok {
		return 0, false
	}
	c, ok := b.cast(n.Count.Range(), x.e, schema.Of(schema.Int64))
	if !ok {
		return 0, false
	}
	if v, isConst := b.constant(c); isConst && !v.IsNull(0) {
		count, _ = column.At(v, 0).(int64)
	}
	if count < 1 || count > maxNearest {
		b.fail(n.Count.Range(), "NEAREST_BY_JOIN.NUM_RESULTS_OUT_OF_RANGE", "The number of results of the NEAREST BY join must be between 1 and %d.", maxNearest)
		return 0, false
	}
	return count, true
}
