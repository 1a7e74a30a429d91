package parse

import "pipelines/sqlplan/ast"

// pipeWords are the words that make | a pipe operator as |> is one. A column
// of such a name stands right of | only in front of an operator or an end.
var pipeWords = set("SELECT EXTEND SET DROP AS WHERE AGGREGATE PIVOT UNPIVOT TABLESAMPLE INNER CROSS LEFT RIGHT FULL SEMI ANTI " +
	"NATURAL JOIN UNION EXCEPT MINUS INTERSECT ORDER SORT CLUSTER DISTRIBUTE LIMIT OFFSET WINDOW LATERAL")

// pipes turns each | that stands before an operator's word into |>.
func (p *parser) pipes() {
	for i := range p.toks {
		if !p.toks[i].isOp("|") || i+2 >= len(p.toks) || p.toks[i+1].kind != word || !pipeWords[p.toks[i+1].up] {
			continue
		}
		if t := p.toks[i+2]; t.kind == eof || t.kind == op && !t.isOp("(") && !t.isOp("*") && !t.isOp("-") || t.isWord("FROM") || t.isWord("AS") {
			continue
		}
		p.toks[i].up = "|>"
	}
}

// pipeline reads one |> operator and makes the query so far its input.
func (p *parser) pipeline(q *ast.Query, start int) {
	p.i++
	input := q.Body
	if !q.Tail.Empty() {
		// ORDER BY and LIMIT before |> belong to the input.
		inner := &ast.Query{Pos: p.pos(start), Body: q.Body, Tail: q.Tail}
		input = &ast.NestedQuery{Pos: inner.Pos, Query: inner}
		q.Tail = ast.Tail{}
	}
	n := &ast.Pipe{Input: input}
	p.clause(func() { n.Op = p.pipeOp() })
	n.Pos = p.pos(start)
	q.Body = n
}

// pipeOp reads what stands after |>.
//
//tidy:allow-long one case per operator
func (p *parser) pipeOp() ast.PipeOp {
	t := p.tok()
	start := t.start
	switch {
	case t.isWord("SELECT"):
		s := &ast.Select{}
		p.selectItems(s)
		if p.isWords("GROUP", "BY") {
			s.GroupBy = p.groupBy(p.expr)
		}
		if p.isWords("WINDOW") {
			p.i++
			s.Windows = p.namedWindows()
		}
		s.Pos = p.pos(start)
		return &ast.PipeSelect{Pos: s.Pos, Select: s}
	case p.accept("EXTEND"):
		items := list(p, p.namedExpr)
		return &ast.PipeExtend{Pos: p.pos(start), Items: items}
	case p.accept("SET"):
		sets := list(p, p.assign)
		return &ast.PipeSet{Pos: p.pos(start), Sets: sets}
	case p.accept("DROP"):
		names := list(p, p.name)
		return &ast.PipeDrop{Pos: p.pos(start), Names: names}
	case p.accept("AS"):
		id := p.declared()
		return &ast.PipeAs{Pos: p.pos(start), Name: id}
	case p.accept("WHERE"):
		x := p.expr()
		if p.isWords("WINDOW") {
			p.failCode(tokRange(p.tok()), "NOT_ALLOWED_IN_PIPE_OPERATOR_WHERE.WINDOW_CLAUSE",
				"Not allowed in the pipe WHERE clause: WINDOW clause.")
		}
		return &ast.PipeWhere{Pos: p.pos(start), Cond: x}
	case p.accept("AGGREGATE"):
		return p.pipeAggregate(start)
	case p.joinAhead():
		j := p.join(nil)
		return &ast.PipeJoin{Pos: p.pos(start), Join: j}
	case p.isAny("UNION", "EXCEPT", "MINUS", "INTERSECT"):
		return p.pipeSetOp(start)
	case p.isWords("PIVOT"):
		v := p.pivot(nil)
		p.pivotClash(p.unpivotAhead(), start)
		return &ast.PipePivot{Pos: p.pos(start), Pivot: v}
	case p.isWords("UNPIVOT"):
		u := p.unpivot(nil)
		p.pivotClash(p.isWords("PIVOT") && p.at(1).isOp("("), start)
		return &ast.PipeUnpivot{Pos: p.pos(start), Unpivot: u}
	case p.isWords("TABLESAMPLE"):
		s := p.sample()
		return &ast.PipeSample{Pos: p.pos(start), Sample: s}
	case p.isWords("LATERAL", "VIEW"):
		v := p.lateralView(nil)
		return &ast.PipeLateralView{Pos: p.pos(start), View: v}
	}
	if p.clauseStart(p.i) {
		n := &ast.PipeTail{}
		p.tail(&n.Tail)
		if !n.Tail.Empty() {
			n.Pos = p.pos(start)
			p.oneClause(n)
			return n
		}
	}
	p.fail("expected an operator such as SELECT, WHERE, AGGREGATE, JOIN or ORDER BY")
	return nil
}

// oneClause refuses several clauses in one operator; LIMIT with OFFSET is one.
func (p *parser) oneClause(n *ast.PipeTail) {
	count := 0
	for _, is := range []bool{
		n.OrderBy != nil || n.OrderByAll != nil || n.ClusterBy != nil || n.SortBy != nil || n.DistributeBy != nil, // see checkOrder
		n.Windows != nil, n.Limit != nil || n.LimitAll || n.Offset != nil,
	} {
		if is {
			count++
		}
	}
	if count > 1 {
		p.failCode(n.Span, "MULTIPLE_QUERY_RESULT_CLAUSES_WITH_PIPE_OPERATORS",
			"ORDER BY, SORT BY, CLUSTER BY, DISTRIBUTE BY, LIMIT, OFFSET and WINDOW cannot coexist in the same SQL pipe operator using '|>'. Please separate the multiple result clauses into separate pipe operators and then retry the query again.")
	}
}

// pivotClash refuses PIVOT and UNPIVOT in one operator.
func (p *parser) pivotClash(clash bool, start int) {
	if clash {
		p.failCode(p.since(start), "NOT_ALLOWED_IN_FROM.UNPIVOT_WITH_PIVOT",
			"Not allowed in the FROM clause: UNPIVOT clause together with PIVOT clause.")
	}
}

// assign reads name = expr.
func (p *parser) assign() ast.Assign {
	start := p.start()
	n := p.name()
	p.expectOp("=")
	var x ast.Expr
	if n := p.at(1); p.isWords("DEFAULT") && (n.kind != op || n.isOp(",") || n.isOp(";") || n.isOp(")")) {
		t := p.advance()
		x = &ast.Default{Pos: ast.Pos{Span: tokRange(t)}}
	} else {
		x = p.expr()
	}
	return ast.Assign{Pos: p.pos(start), Name: n, Value: x}
}

func (p *parser) pipeAggregate(start int) ast.PipeOp {
	a := &ast.PipeAggregate{}
	if !p.isWords("GROUP", "BY") {
		a.Items = list(p, p.namedExpr)
	}
	if p.isWords("GROUP", "BY") {
		a.GroupBy = p.groupBy(p.namedExpr)
		p.pipeGrouping(a.GroupBy)
	}
	a.Pos = p.pos(start)
	return a
}

// pipeGrouping refuses what |> AGGREGATE does not take.
func (p *parser) pipeGrouping(g *ast.GroupBy) {
	what := ""
	for _, it := range g.Items {
		if it.Kind != ast.GroupExpr {
			what = "GROUPING SETS, CUBE and ROLLUP"
		}
	}
	if g.Suffix != ast.GroupExpr {
		what = "GROUPING SETS, CUBE and ROLLUP"
	}
	if g.All {
		what = "GROUP BY ALL"
	}
	if what != "" {
		p.failCode(g.Span, "UNSUPPORTED_FEATURE.PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE",
			"The SQL pipe operator syntax with aggregation (using |> AGGREGATE) does not support "+what+".")
	}
}

func (p *parser) pipeSetOp(start int) ast.PipeOp {
	w := p.advance().up
	o := &ast.SetOp{Minus: w == "MINUS"}
	switch w {
	case "INTERSECT":
		o.Kind = ast.Intersect
	case "EXCEPT", "MINUS":
		o.Kind = ast.Except
	}
	p.quantifier(o)
	o.R = p.queryPrimary()
	o.Pos = p.pos(start)
	return &ast.PipeSetOp{Pos: o.Pos, SetOp: o}
}
