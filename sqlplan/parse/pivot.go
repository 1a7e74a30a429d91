package parse

import "pipelines/sqlplan/ast"

// lateralView reads LATERAL VIEW [OUTER] f(args) [t] [AS a, b].
func (p *parser) lateralView(input ast.Relation) *ast.LateralView {
	start := p.start()
	if input != nil {
		start = input.Range().Start
	}
	p.expect("LATERAL", "VIEW")
	v := &ast.LateralView{Input: input}
	v.Outer = p.accept("OUTER")
	n := p.name()
	v.Call = p.call(n)
	if p.isIdent() && !p.isWords("AS") && p.aliasAhead(true) {
		id := p.declared()
		v.Table = &id
	}
	if p.accept("AS") || v.Table != nil && p.isIdent() && p.aliasAhead(false) {
		v.Columns = []ast.Ident{p.declared()}
		for p.isOp(",") && (p.at(1).kind == word || p.at(1).kind == quoted) {
			p.i++
			v.Columns = append(v.Columns, p.declared())
		}
	}
	v.Pos = p.pos(start)
	return v
}

// pivot reads PIVOT (aggregates FOR columns IN (values)) [alias].
func (p *parser) pivot(input ast.Relation) *ast.Pivot {
	start := p.start()
	if input != nil {
		start = input.Range().Start
	}
	p.expect("PIVOT")
	p.expectOp("(")
	v := &ast.Pivot{Input: input}
	v.Aggregates = list(p, p.pivotAggregate)
	p.expect("FOR")
	if p.isOp("(") {
		v.Columns = parenList(p, p.name)
	} else {
		v.Columns = []ast.Name{p.name()}
	}
	p.expect("IN")
	v.Values = parenList(p, p.namedExpr)
	p.expectOp(")")
	v.Alias = p.tableAlias()
	v.Pos = p.pos(start)
	return v
}

// pivotAggregate reads one aggregate; FOR ends it.
func (p *parser) pivotAggregate() ast.Expr {
	x := p.expr()
	as := p.accept("AS")
	if as || p.isIdent() && !p.isWords("FOR") {
		id := p.declared()
		return &ast.Alias{Pos: p.pos(x.Range().Start), X: x, Names: []ast.Ident{id}}
	}
	return x
}

// unpivotAhead reports whether UNPIVOT ( or UNPIVOT INCLUDE NULLS ( follows.
func (p *parser) unpivotAhead() bool {
	return p.isWords("UNPIVOT") && (p.at(1).isOp("(") || p.at(2).isWord("NULLS"))
}

// unpivot reads UNPIVOT [INCLUDE|EXCLUDE NULLS] (...) [alias].
func (p *parser) unpivot(input ast.Relation) *ast.Unpivot {
	start := p.start()
	if input != nil {
		start = input.Range().Start
	}
	p.expect("UNPIVOT")
	u := &ast.Unpivot{Input: input}
	switch p.acceptAny("INCLUDE", "EXCLUDE") {
	case "INCLUDE":
		u.IncludeNulls = true
		p.expect("NULLS")
	case "EXCLUDE":
		u.ExcludeNulls = true
		p.expect("NULLS")
	}
	p.expectOp("(")
	if p.isOp("(") {
		u.Multi = true
		u.Values = p.identList()
	} else {
		u.Values = []ast.Ident{p.ident()}
	}
	p.expect("FOR")
	u.NameColumn = p.ident()
	p.expect("IN")
	u.Columns = parenList(p, func() ast.UnpivotColumn { return p.unpivotColumn(u.Multi) })
	p.expectOp(")")
	u.Alias = p.tableAlias()
	u.Pos = p.pos(start)
	return u
}

func (p *parser) unpivotColumn(multi bool) ast.UnpivotColumn {
	start := p.start()
	c := ast.UnpivotColumn{}
	if multi {
		c.Names = parenList(p, p.name)
	} else {
		c.Names = []ast.Name{p.name()}
	}
	if p.accept("AS") || p.isIdent() {
		id := p.declared()
		c.Alias = &id
	}
	c.Pos = p.pos(start)
	return c
}
