package parse

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// isQuery reports whether the parenthesis at token i opens a query (and not an
// expression or a relation).
func (p *parser) isQuery(i int) bool {
	// Look through nested parentheses first, then decide from the inside out.
	open := i
	for p.toks[i].isOp("(") && p.query[i] == 0 && p.toks[min(i+1, len(p.toks)-1)].isOp("(") {
		i++
	}
	for ; i >= open; i-- {
		if p.query[i] == 0 {
			p.query[i] = 2
			if p.opensQuery(i) {
				p.query[i] = 1
			}
		}
	}
	return p.query[open] == 1
}

// opensQuery decides for one parenthesis; the next one is known already.
func (p *parser) opensQuery(i int) bool {
	if !p.toks[i].isOp("(") || i+1 >= len(p.toks) {
		return false
	}
	t := p.toks[i+1]
	if !t.isOp("(") {
		return p.queryStart(i + 1)
	}
	if p.query[i+1] != 1 {
		return false
	}
	if t.match < 0 {
		return true
	}
	after := p.toks[t.match+1]
	return after.isOp(")") || after.isOp("|>") || after.kind == word && p.queryGoesOn(t.match+1)
}

// queryGoesOn reports whether the words at token i go on with a query.
func (p *parser) queryGoesOn(i int) bool {
	switch p.toks[i].up {
	case "UNION", "EXCEPT", "MINUS", "INTERSECT", "LIMIT", "OFFSET", "WINDOW":
		return true
	case "ORDER", "SORT", "CLUSTER", "DISTRIBUTE":
		return p.clauseStart(i)
	}
	return false
}

// queryStart reports whether a query starts at token i.
func (p *parser) queryStart(i int) bool {
	t := p.toks[i]
	if t.kind != word || i+1 >= len(p.toks) {
		return false
	}
	n := p.toks[i+1]
	name := n.kind == word || n.kind == quoted
	switch t.up {
	case "SELECT":
		return true
	case "WITH":
		return name
	case "FROM":
		return name || n.isOp("(")
	case "VALUES":
		return n.kind != op && n.kind != eof && !n.isWord("FROM") && !n.isWord("AS") || n.isOp("(") || n.isOp("-") || n.isOp(":")
	case "TABLE":
		return name
	}
	return false
}

// parenQuery reads (query). Faults inside leave the rest of the text alone.
func (p *parser) parenQuery() *ast.Query {
	open := p.expectOp("(")
	end, cdc := p.end, p.cdcSourcing
	if open.match > 0 {
		p.end = open.match
	}
	p.cdcSourcing = false
	q := p.queryExpr()
	p.end, p.cdcSourcing = end, cdc
	p.expectOp(")")
	return q
}

// queryExpr reads WITH, a body and what follows it.
func (p *parser) queryExpr() *ast.Query {
	p.enter()
	defer p.leave()
	start := p.start()
	q := &ast.Query{}
	if p.isWords("WITH") {
		q.With = p.with()
	}
	q.Body = p.setOps(0)
	p.tail(&q.Tail)
	for n := 1; p.isOp("|>"); n++ {
		p.chain(n)
		p.pipeline(q, start)
		q.Body = p.setOpsAfter(q.Body)
		p.tail(&q.Tail)
	}
	q.Pos = p.pos(start)
	return q
}

// with reads WITH [RECURSIVE] name [(columns)] [MAX RECURSION LEVEL n] AS (query), ...
func (p *parser) with() *ast.With {
	start := p.start()
	p.expect("WITH")
	w := &ast.With{}
	if p.isWords("RECURSIVE") && (p.at(1).kind == word || p.at(1).kind == quoted) && !p.at(1).isWord("AS") {
		p.i++
		w.Recursive = true
	}
	w.CTEs = list(p, p.cte)
	w.Pos = p.pos(start)
	seen := map[string]bool{}
	for _, c := range w.CTEs {
		k := upper(c.Name.Name)
		if seen[k] {
			p.report(c.Name.Span, "DUPLICATED_CTE_NAMES", "CTE definition can't have duplicate names: `"+c.Name.Name+"`.")
		}
		seen[k] = true
	}
	return w
}

func (p *parser) cte() ast.CTE {
	start := p.start()
	c := ast.CTE{Name: p.declared()}
	if p.isOp("(") {
		c.Columns = p.identList()
	}
	if p.accept("MAX", "RECURSION", "LEVEL") {
		c.MaxLevels = p.value(0)
	}
	p.accept("AS")
	if !p.isOp("(") {
		p.fail("expected '('")
	}
	c.Query = p.parenQuery()
	c.Pos = p.pos(start)
	return c
}

// setOps reads bodies joined by UNION, EXCEPT and (binding tighter) INTERSECT.
func (p *parser) setOps(level int) ast.Body {
	return p.setOpsFrom(p.body(level), level)
}

// setOpsAfter reads the set operations that follow a pipe.
func (p *parser) setOpsAfter(x ast.Body) ast.Body {
	return p.setOpsFrom(p.setOpsFrom(x, 1), 0)
}

func (p *parser) setOpsFrom(x ast.Body, level int) ast.Body {
	for n := 1; p.i < p.end; n++ {
		p.chain(n)
		k, ok := p.setKind(level)
		if !ok {
			return x
		}
		o := &ast.SetOp{Kind: k, Minus: p.tok().up == "MINUS", L: x}
		p.i++
		p.quantifier(o)
		o.R = p.body(level)
		o.Pos = ast.Pos{Span: p.since(x.Range().Start)}
		x = o
	}
	return x
}

// body reads the operand of a set operation.
func (p *parser) body(level int) ast.Body {
	if level == 0 {
		return p.setOps(1)
	}
	return p.queryPrimary()
}

func (p *parser) setKind(level int) (ast.SetKind, bool) {
	if p.tok().kind != word {
		return 0, false
	}
	switch p.tok().up {
	case "INTERSECT":
		return ast.Intersect, level == 1
	case "UNION":
		return ast.Union, level == 0
	case "EXCEPT", "MINUS":
		return ast.Except, level == 0
	}
	return 0, false
}

func (p *parser) quantifier(o *ast.SetOp) {
	switch {
	case p.accept("ALL"):
		o.All = true
	case p.accept("DISTINCT"):
		o.Distinct = true
	}
}

// queryPrimary reads SELECT, FROM, VALUES, TABLE or a query in parentheses.
func (p *parser) queryPrimary() ast.Body {
	t := p.tok()
	switch {
	case t.isOp("("):
		if !p.isQuery(p.i) {
			p.i++
			p.fail("expected a query")
		}
		q := p.parenQuery()
		return &ast.NestedQuery{Pos: p.pos(t.start), Query: q}
	case t.isWord("SELECT"):
		return p.selectBody()
	case t.isWord("FROM"):
		return p.fromBody()
	case t.isWord("VALUES"):
		return p.values()
	case t.isWord("TABLE"):
		p.i++
		n := p.name()
		return &ast.TableQuery{Pos: p.pos(t.start), Name: n}
	}
	p.fail("expected a query")
	return nil
}

// values reads VALUES rows [alias].
func (p *parser) values() *ast.Values {
	start := p.start()
	p.expect("VALUES")
	v := &ast.Values{Rows: list(p, p.expr)}
	v.Alias = p.tableAlias()
	v.Pos = p.pos(start)
	return v
}

// selectBody reads a SELECT that starts with SELECT.
func (p *parser) selectBody() *ast.Select {
	start := p.start()
	s := &ast.Select{}
	p.selectItems(s)
	if p.isWords("FROM") {
		p.clause(func() { p.i++; s.From = p.from() })
	}
	p.selectRest(s)
	s.Pos = p.pos(start)
	return s
}

// selectItems reads SELECT [hints] [DISTINCT] items.
func (p *parser) selectItems(s *ast.Select) {
	p.clause(func() {
		p.expect("SELECT")
		for p.isOp("/*+") {
			s.Hints = append(s.Hints, p.hints()...)
		}
		switch {
		case p.isWords("DISTINCT") && !p.at(1).isOp(",") && !p.at(1).isOp("."):
			p.i++
			s.Distinct = true
		case p.isWords("ALL") && p.at(1).kind != eof && (p.at(1).kind != op || p.at(1).isOp("*") || p.at(1).isOp("(")) && !p.at(1).isWord("FROM"):
			p.i++
			s.All = true
		}
		if p.isWords("TRANSFORM") && p.at(1).isOp("(") && p.transformAhead() {
			p.failCode(tokRange(p.tok()), "UNSUPPORTED_FEATURE.TRANSFORM", "SELECT TRANSFORM ... USING runs an outside program and is not supported.")
		}
		s.Items = list(p, p.namedExpr)
	})
}

// transformAhead reports whether TRANSFORM(...) is followed by USING: the form
// that runs a script, not the function.
func (p *parser) transformAhead() bool {
	m := p.at(1).match
	return m > 0 && p.toks[m+1].isWord("USING")
}

// hints reads /*+ a(b), c */.
func (p *parser) hints() []ast.Hint {
	p.i++
	var hs []ast.Hint
	for !p.isOp("*/") {
		start := p.start()
		h := ast.Hint{Name: p.ident()}
		if p.acceptOp("(") {
			if !p.isOp(")") {
				h.Args = list(p, p.primaryHint)
			}
			p.expectOp(")")
		}
		h.Pos = p.pos(start)
		hs = append(hs, h)
		p.acceptOp(",")
	}
	p.i++
	return hs
}

func (p *parser) primaryHint() ast.Expr { return p.postfix() }

// selectRest reads the clauses after FROM.
func (p *parser) selectRest(s *ast.Select) {
	for p.isWords("LATERAL", "VIEW") {
		p.clause(func() { s.From = p.lateralView(s.From) })
	}
	if p.isWords("WHERE") {
		p.clause(func() { p.i++; s.Where = p.expr() })
	}
	if p.isWords("GROUP", "BY") {
		p.clause(func() { s.GroupBy = p.groupBy(p.expr) })
	}
	if p.isWords("HAVING") {
		p.clause(func() { p.i++; s.Having = p.expr() })
	}
	if p.isWords("QUALIFY") {
		p.clause(func() { p.i++; s.Qualify = p.expr() })
	}
	if p.isWords("WINDOW") {
		p.clause(func() { p.i++; s.Windows = p.namedWindows() })
	}
	if p.isWords("QUALIFY") && s.Qualify == nil {
		p.clause(func() { p.i++; s.Qualify = p.expr() })
	}
}

// fromBody reads FROM t [SELECT ...]...
func (p *parser) fromBody() ast.Body {
	start := p.start()
	s := &ast.Select{Form: ast.FromOnly}
	p.clause(func() { p.i++; s.From = p.from() })
	for p.isWords("LATERAL", "VIEW") {
		p.clause(func() { s.From = p.lateralView(s.From) })
	}
	if !p.isWords("SELECT") {
		s.Pos = p.pos(start)
		s.Items = []ast.Expr{&ast.Star{Pos: s.Pos}}
		return s
	}
	var all ast.Body
	for p.isWords("SELECT") {
		one := &ast.Select{Form: ast.FromFirst, From: s.From}
		p.selectItems(one)
		p.selectRest(one)
		one.Pos = p.pos(start)
		if all == nil && !p.isTailThenSelect() {
			return one
		}
		q := &ast.Query{Body: one}
		p.tail(&q.Tail)
		q.Pos = p.pos(start)
		n := &ast.NestedQuery{Pos: q.Pos, Query: q}
		if all == nil {
			all = n
			continue
		}
		all = &ast.SetOp{Pos: p.pos(start), Kind: ast.Union, All: true, L: all, R: n}
	}
	return all
}

// isTailThenSelect reports whether another SELECT of the same FROM follows, if
// need be after ordering clauses.
func (p *parser) isTailThenSelect() bool {
	for j := p.i; j < p.end; j++ {
		t := p.toks[j]
		switch {
		case t.isOp("(") && t.match > 0:
			j = t.match
		case t.isWord("UNION"), t.isWord("EXCEPT"), t.isWord("MINUS"), t.isWord("INTERSECT"), t.isOp("|>"):
			return false
		case t.isWord("SELECT"):
			return true
		}
	}
	return false
}

// groupBy reads GROUP BY; item reads one expression of it.
func (p *parser) groupBy(item func() ast.Expr) *ast.GroupBy {
	start := p.start()
	p.expect("GROUP", "BY")
	g := &ast.GroupBy{}
	if p.isWords("ALL") && p.allEnds() {
		p.i++
		g.All = true
		g.Pos = p.pos(start)
		return g
	}
	g.Items = list(p, func() ast.GroupItem { return p.groupItem(item) })
	switch {
	case p.isWords("WITH", "CUBE"):
		p.i += 2
		g.Suffix = ast.GroupCube
	case p.isWords("WITH", "ROLLUP"):
		p.i += 2
		g.Suffix = ast.GroupRollup
	case p.isWords("GROUPING", "SETS"):
		p.i += 2
		g.Suffix = ast.GroupSets
		g.Sets = parenList(p, p.groupSet)
	}
	g.Pos = p.pos(start)
	return g
}

// allEnds reports whether ALL stands alone in its clause.
func (p *parser) allEnds() bool {
	p.i++
	ok := p.clauseEnd()
	p.i--
	return ok
}

// groupItem reads an expression, CUBE(...), ROLLUP(...) or GROUPING SETS(...).
func (p *parser) groupItem(item func() ast.Expr) ast.GroupItem {
	start := p.start()
	if k, ok := p.analytics(); ok {
		g := ast.GroupItem{Kind: k}
		each := p.groupSet
		if k == ast.GroupSets {
			each = func() ast.GroupItem { return p.groupElement() }
		}
		g.Items = parenList(p, each)
		g.Pos = p.pos(start)
		return g
	}
	x := item()
	return ast.GroupItem{Pos: p.pos(start), Kind: ast.GroupExpr, X: x}
}

// analytics takes CUBE, ROLLUP or GROUPING SETS before a parenthesis.
func (p *parser) analytics() (ast.GroupKind, bool) {
	switch {
	case p.isWords("CUBE") && p.at(1).isOp("("):
		p.i++
		return ast.GroupCube, true
	case p.isWords("ROLLUP") && p.at(1).isOp("("):
		p.i++
		return ast.GroupRollup, true
	case p.isWords("GROUPING", "SETS") && p.at(2).isOp("("):
		p.i += 2
		return ast.GroupSets, true
	}
	return 0, false
}

// groupElement reads one entry of GROUPING SETS, which may nest.
func (p *parser) groupElement() ast.GroupItem {
	p.enter()
	defer p.leave()
	if p.isAny("CUBE", "ROLLUP", "GROUPING") {
		return p.groupItem(p.expr)
	}
	return p.groupSet()
}

// groupSet reads (a, b), () or a single expression.
func (p *parser) groupSet() ast.GroupItem {
	start := p.start()
	if p.isOp("(") && !p.isQuery(p.i) && p.setEnds(p.tok().match) {
		p.i++
		g := ast.GroupItem{Kind: ast.GroupSet}
		if !p.isOp(")") {
			g.Exprs = list(p, p.expr)
		}
		p.expectOp(")")
		g.Pos = p.pos(start)
		return g
	}
	x := p.expr()
	return ast.GroupItem{Pos: p.pos(start), Kind: ast.GroupExpr, X: x}
}

// setEnds reports whether a grouping set ends with the parenthesis at token m.
func (p *parser) setEnds(m int) bool {
	return m > 0 && (p.toks[m+1].isOp(",") || p.toks[m+1].isOp(")"))
}

// tail reads the clauses after a body.
func (p *parser) tail(t *ast.Tail) {
	if p.isWords("ORDER", "BY") {
		p.clause(func() { p.i += 2; p.orderBy(t) })
	}
	if p.isWords("CLUSTER", "BY") {
		p.clause(func() { p.i += 2; t.ClusterBy = list(p, p.expr) })
	}
	if p.isWords("DISTRIBUTE", "BY") {
		p.clause(func() { p.i += 2; t.DistributeBy = list(p, p.expr) })
	}
	if p.isWords("SORT", "BY") {
		p.clause(func() { p.i += 2; t.SortBy = list(p, p.sortItem) })
	}
	p.checkOrder(t)
	if p.isWords("WINDOW") && p.i < p.end {
		p.clause(func() { p.i++; t.Windows = p.namedWindows() })
	}
	if p.isWords("LIMIT") {
		p.clause(func() {
			p.i++
			if p.isWords("ALL") && p.allEnds() {
				p.i++
				t.LimitAll = true
				return
			}
			t.Limit = p.expr()
		})
	}
	if p.isWords("OFFSET") {
		p.clause(func() { p.i++; t.Offset = p.expr() })
	}
}

// checkOrder refuses orderings that exclude each other.
func (p *parser) checkOrder(t *ast.Tail) {
	order := t.OrderBy != nil || t.OrderByAll != nil
	cluster := t.ClusterBy != nil
	other := t.SortBy != nil || t.DistributeBy != nil
	if order && (cluster || other) || cluster && other {
		p.report(tokRange(p.toks[max(p.i-1, 0)]), "UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES",
			"The feature is not supported: Combination of ORDER BY/SORT BY/DISTRIBUTE BY/CLUSTER BY.")
	}
}

// orderBy reads the items of ORDER BY, or ALL.
func (p *parser) orderBy(t *ast.Tail) {
	if p.isWords("ALL") && !p.at(1).isOp(".") && !p.at(1).isOp(",") {
		start := p.start()
		save := p.i
		p.i++
		s := &ast.SortItem{}
		p.sortOrder(s)
		if p.clauseEnd() {
			s.Pos = ast.Pos{Span: diag.Range{Start: start, End: p.toks[p.i-1].end}}
			t.OrderByAll = s
			return
		}
		p.i = save
	}
	t.OrderBy = list(p, p.sortItem)
}
