package bind

import (
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
)

// pipe binds input |> op.
//
//tidy:allow-long one case an operator
func (b *Binder) pipe(p *ast.Pipe, up enclosing) (logical.Node, *scope) {
	var n logical.Node
	var s *scope
	if sel, ok := p.Input.(*ast.Select); ok && sel.Form == ast.FromOnly && sel.From != nil {
		// FROM t |> keeps the qualifiers of t.
		n, s = b.from(sel.From, up)
	} else {
		n, s = b.body(p.Input, nil, up)
	}
	broken := &scope{broken: true}
	if n == nil {
		return nil, broken
	}
	in := up.over(&scope{cols: s.cols, broken: s.broken})
	switch op := p.Op.(type) {
	case *ast.PipeSelect:
		return b.selectFrom(op.Select, nil, n, in)
	case *ast.PipeExtend:
		for _, it := range op.Items {
			if _, ok := it.(*ast.Star); ok {
				b.fail(it.Range(), "INVALID_USAGE_OF_STAR_OR_REGEX", "Invalid usage of '*' in expression `pipeexpression`.")
				return nil, broken
			}
		}
		items := append([]ast.Expr{&ast.Star{}}, op.Items...)
		return b.pipeSelect("EXTEND", &ast.Select{Pos: op.Pos, Items: items}, n, in)
	case *ast.PipeSet:
		return b.pipeSet(op, n, in)
	case *ast.PipeDrop:
		star := &ast.Star{Pos: op.Pos, Except: op.Names}
		return b.pipeSelect("DROP", &ast.Select{Pos: op.Pos, Items: []ast.Expr{star}}, n, in)
	case *ast.PipeAs:
		return b.aliased(n, s, &ast.TableAlias{Pos: op.Pos, Name: op.Name})
	case *ast.PipeWhere:
		cond, ok := b.filterCond(op.Cond, plain(in, "WHERE"))
		if !ok {
			return nil, broken
		}
		return &logical.Filter{Input: n, Cond: cond}, s
	case *ast.PipeAggregate:
		return b.pipeAggregate(op, n, in)
	case *ast.PipeJoin:
		return b.joinRight(op.Join, n, s, up)
	case *ast.PipeSetOp:
		r, rs := b.body(op.SetOp.R, nil, up)
		if r == nil {
			return nil, broken
		}
		set := *op.SetOp
		set.L = p.Input
		return b.combine(&set, n, r, s, rs)
	case *ast.PipeTail:
		return b.tail(n, s, &op.Tail, up)
	case *ast.PipePivot:
		return b.pivot(op.Pivot, n, s)
	case *ast.PipeUnpivot:
		return b.unpivot(op.Unpivot, n, s)
	case *ast.PipeSample:
		m, ok := b.sample(n, op.Sample)
		if !ok {
			return nil, broken
		}
		return m, s
	case *ast.PipeLateralView:
		return b.lateralView(op.View, n, s, up)
	}
	panic("bug: bind: unknown pipe operator")
}

// pipeSelect binds a SELECT that stands for a pipe operator.
func (b *Binder) pipeSelect(clause string, sel *ast.Select, n logical.Node, in *scope) (logical.Node, *scope) {
	return b.runSelect(&core{b: b, sel: sel, node: n, in: in, ok: n != nil, pipe: clause}, nil)
}

// refuseAggregates reports the aggregates of a pipe operator that takes none.
func (c *core) refuseAggregates() {
	if c.pipe == "" {
		return
	}
	for i, it := range c.items {
		if it.gen != nil || !hasAgg(it.e) {
			continue
		}
		r := c.sel.Span
		if i < len(c.list) && c.list[i].x != nil {
			r = c.list[i].x.Range()
		}
		c.b.fail(r, "PIPE_OPERATOR_CONTAINS_AGGREGATE_FUNCTION",
			"Aggregate function %s is not allowed when using the pipe operator |> %s clause; please use the pipe operator |> AGGREGATE clause instead.", it.text, c.pipe)
		c.ok = false
	}
}

// pipeSet replaces columns in place.
func (b *Binder) pipeSet(op *ast.PipeSet, n logical.Node, in *scope) (logical.Node, *scope) {
	for _, set := range op.Sets {
		name := set.Name.Last()
		if len(set.Name.Parts) > 1 {
			b.fail(set.Name.Span, "_LEGACY_ERROR_TEMP_0035", "Operation not allowed: SQL pipe syntax |> SET operator with multi-part assignment key (only single-part keys are allowed).")
			return nil, &scope{broken: true}
		}
		var items []ast.Expr
		hit := false
		for _, c := range in.visible() {
			ref := ast.Expr(&ast.Column{Pos: set.Pos, Name: ast.Name{Pos: set.Pos, Parts: []ast.Ident{{Name: c.attr.Name}}}})
			if strings.EqualFold(c.attr.Name, name.Name) {
				hit = true
				ref = &ast.Alias{Pos: set.Pos, X: set.Value, Names: []ast.Ident{{Pos: name.Pos, Name: c.attr.Name}}}
			}
			items = append(items, ref)
		}
		if !hit {
			b.unresolved(set.Name.Span, set.Name.Parts, in)
			return nil, &scope{broken: true}
		}
		var s *scope
		n, s = b.pipeSelect("SET", &ast.Select{Pos: op.Pos, Items: items}, n, in)
		if n == nil {
			return nil, s
		}
		s.outer, s.outers, s.around = in.outer, in.outers, in.around
		in = s
	}
	return n, in
}

// pipeAggregate is a grouped SELECT of keys and aggregates.
func (b *Binder) pipeAggregate(op *ast.PipeAggregate, n logical.Node, in *scope) (logical.Node, *scope) {
	sel := &ast.Select{Pos: op.Pos, GroupBy: op.GroupBy}
	if op.GroupBy != nil {
		var items []ast.GroupItem
		for _, g := range op.GroupBy.Items {
			if g.Kind != ast.GroupExpr {
				b.notYet(g.Span, "grouping sets in |> AGGREGATE")
				return nil, &scope{broken: true}
			}
			x, ok := b.pipeOrdinal(g.X, in)
			if !ok {
				return nil, &scope{broken: true}
			}
			items = append(items, ast.GroupItem{Pos: g.Pos, Kind: g.Kind, X: x})
			sel.Items = append(sel.Items, x)
		}
		by := *op.GroupBy
		by.Items = items
		sel.GroupBy = &by
	}
	for _, it := range op.Items {
		probe := *b
		x, ok := probe.expr(it, &env{scope: in, clause: "AGGREGATE", agg: true, win: true})
		b.next = max(b.next, probe.next)
		if ok && hasGrouping(x.e) {
			b.fail(it.Range(), "UNSUPPORTED_FEATURE.PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE",
				"The SQL pipe operator syntax with aggregation (using |> AGGREGATE) does not support GROUPING and GROUPING_ID.")
			return nil, &scope{broken: true}
		}
		if ok && hasWindow(x.e) {
			b.fail(it.Range(), "UNSUPPORTED_FEATURE.PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE",
				"The SQL pipe operator syntax with aggregation (using |> AGGREGATE) does not support window functions; please update the query to move the window functions to a subsequent |> SELECT operator instead.")
			return nil, &scope{broken: true}
		}
		if ok && !hasAgg(x.e) {
			b.fail(it.Range(), "PIPE_OPERATOR_AGGREGATE_EXPRESSION_CONTAINS_NO_AGGREGATE_FUNCTION",
				"Non-grouping expression %s is provided as an argument to the |> AGGREGATE pipe operator but does not contain any aggregate function; please update it to include an aggregate function and then retry the query again.", x.text)
			return nil, &scope{broken: true}
		}
	}
	sel.Items = append(sel.Items, op.Items...)
	if len(sel.Items) == 0 {
		b.fail(op.Span, "PARSE_SYNTAX_ERROR", "|> AGGREGATE needs an aggregate or a grouping.")
		return nil, &scope{broken: true}
	}
	if op.GroupBy == nil {
		sel.Having = nil
	}
	return b.selectFrom(sel, nil, n, in)
}

func hasGrouping(e logical.Expr) bool {
	found := false
	logical.WalkExpr(e, func(x logical.Expr) bool {
		if _, is := x.(*groupingExpr); is {
			found = true
		}
		return !found
	})
	return found
}

// pipeOrdinal turns the number of a grouping into that column of the input.
func (b *Binder) pipeOrdinal(x ast.Expr, in *scope) (ast.Expr, bool) {
	i, is := ordinal(x)
	if !is {
		return x, true
	}
	cols := in.visible()
	if i < 1 || i > len(cols) {
		b.fail(x.Range(), "GROUP_BY_POS_OUT_OF_RANGE", "GROUP BY position %d is not in select list (valid range is [1, %d]).", i, len(cols))
		return nil, false
	}
	pos := ast.Pos{Span: x.Range()}
	return &ast.Column{Pos: pos, Name: ast.Name{Pos: pos, Parts: []ast.Ident{{Pos: pos, Name: cols[i-1].attr.Name}}}}, true
}
