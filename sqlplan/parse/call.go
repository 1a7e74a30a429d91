package parse

import (
	"pipelines/sqlplan/ast"
)

// call reads the arguments of a function and what follows them.
func (p *parser) call(n ast.Name) *ast.Call {
	c := &ast.Call{Name: n}
	p.expectOp("(")
	if !p.isOp(")") {
		if p.isWords("DISTINCT") && !p.at(1).isOp(",") && !p.at(1).isOp(")") {
			p.i++
			c.Distinct = true
		} else if p.isWords("ALL") && p.at(1).kind != op {
			p.i++
		}
		c.Args = list(p, p.argument)
		p.innerNulls(c)
	}
	p.expectOp(")")
	p.callTail(c)
	c.Pos = p.pos(n.Span.Start)
	return c
}

// argument reads one argument: name => value, a table, or an expression.
func (p *parser) argument() ast.Expr {
	start := p.start()
	if p.isIdent() && p.at(1).isOp("=>") {
		id := p.ident()
		p.i++
		var v ast.Expr
		if p.tableArgAhead() {
			v = p.tableArg()
		} else {
			v = p.expr()
		}
		return &ast.NamedArg{Pos: p.pos(start), Name: id, Value: v}
	}
	if p.tableArgAhead() {
		return p.tableArg()
	}
	return p.expr()
}

// tableArgAhead reports whether TABLE starts a table argument.
func (p *parser) tableArgAhead() bool {
	if !p.isWords("TABLE") {
		return false
	}
	n := p.at(1)
	return n.isOp("(") || n.kind == word || n.kind == quoted
}

// tableArg reads TABLE t or TABLE(query) with its partitioning.
func (p *parser) tableArg() ast.Expr {
	start := p.start()
	p.i++
	a := &ast.TableArg{}
	switch {
	case p.isOp("(") && p.isQuery(p.i):
		a.Query = p.parenQuery()
	case p.isOp("("):
		p.i++
		n := p.name()
		a.Table = &n
		p.expectOp(")")
	default:
		n := p.name()
		a.Table = &n
	}
	switch {
	case p.accept("WITH", "SINGLE", "PARTITION"):
		a.SinglePartition = true
	case p.accept("PARTITION", "BY"), p.accept("DISTRIBUTE", "BY"):
		a.PartitionBy = p.maybeParens(p.expr)
	}
	if p.accept("ORDER", "BY") || p.accept("SORT", "BY") {
		if p.isOp("(") {
			a.OrderBy = parenList(p, p.sortItem)
		} else {
			a.OrderBy = []ast.SortItem{p.sortItem()}
		}
	}
	a.Pos = p.pos(start)
	return a
}

// maybeParens reads (a, b) or a single item.
func (p *parser) maybeParens(item func() ast.Expr) []ast.Expr {
	if p.isOp("(") {
		return parenList(p, item)
	}
	return []ast.Expr{item()}
}

// innerNulls reads IGNORE NULLS inside the parentheses of first, last and the
// like.
func (p *parser) innerNulls(c *ast.Call) {
	switch {
	case p.accept("IGNORE", "NULLS"):
		c.Nulls = ast.IgnoreNulls
	case p.accept("RESPECT", "NULLS"):
		c.Nulls = ast.RespectNulls
	}
}

// callTail reads WITHIN GROUP, FILTER, IGNORE NULLS and OVER.
func (p *parser) callTail(c *ast.Call) {
	if p.isWords("WITHIN", "GROUP") && p.at(2).isOp("(") {
		p.i += 3
		p.expect("ORDER", "BY")
		c.WithinGroup = list(p, p.sortItem)
		p.expectOp(")")
	}
	if p.isWords("FILTER") && p.at(1).isOp("(") {
		p.i += 2
		p.expect("WHERE")
		c.Filter = p.expr()
		p.expectOp(")")
	}
	p.innerNulls(c)
	if p.isWords("OVER") && (p.at(1).isOp("(") || p.at(1).kind == word || p.at(1).kind == quoted) {
		p.i++
		c.Over = p.window()
	}
}

// specialCall reads the calls with words between their arguments. It returns
// nil if the call has the plain form.
func (p *parser) specialCall() ast.Expr {
	switch p.tok().up {
	case "CAST", "TRY_CAST":
		if p.wordInside("AS") {
			return p.cast()
		}
	case "STRUCT":
		return p.structCall()
	case "EXTRACT":
		return p.extract()
	case "TRIM":
		return p.trim()
	case "POSITION":
		return p.position()
	case "SUBSTR", "SUBSTRING":
		return p.substring()
	case "OVERLAY":
		return p.overlay()
	case "TIMESTAMPADD", "DATEADD", "DATE_ADD", "TIMESTAMPDIFF", "DATEDIFF", "DATE_DIFF", "TIMEDIFF":
		return p.unitCall()
	}
	return nil
}

func (p *parser) cast() ast.Expr {
	t := p.advance()
	p.expectOp("(")
	x := p.expr()
	p.expect("AS")
	ty := p.dataType()
	p.expectOp(")")
	return &ast.Cast{Pos: p.pos(t.start), X: x, Type: ty, Try: t.up == "TRY_CAST"}
}

// structCall reads struct(a AS x, b): its arguments may have aliases.
func (p *parser) structCall() ast.Expr {
	id := p.ident()
	c := &ast.Call{Name: ast.Name{Pos: id.Pos, Parts: []ast.Ident{id}}}
	p.expectOp("(")
	if !p.isOp(")") {
		c.Args = list(p, func() ast.Expr {
			if p.isIdent() && p.at(1).isOp("=>") {
				return p.argument()
			}
			return p.namedExpr()
		})
	}
	p.expectOp(")")
	p.callTail(c)
	c.Pos = p.pos(id.Span.Start)
	return c
}

// form starts a call with words between its arguments.
func (p *parser) form(f ast.CallForm) *ast.Call {
	id := p.ident()
	p.expectOp("(")
	return &ast.Call{Form: f, Name: ast.Name{Pos: id.Pos, Parts: []ast.Ident{id}}}
}

// closeForm ends it.
func (p *parser) closeForm(c *ast.Call) ast.Expr {
	p.expectOp(")")
	c.Pos = p.pos(c.Name.Span.Start)
	return c
}

// extract reads extract(field FROM x); with commas it is a plain call.
func (p *parser) extract() ast.Expr {
	if k := p.at(2).kind; (k != word && k != quoted) || !p.at(3).isWord("FROM") {
		return nil
	}
	c := p.form(ast.ExtractCall)
	id := p.ident()
	p.expect("FROM")
	c.Args = []ast.Expr{&ast.StringLit{Pos: id.Pos, Value: id.Name}, p.value(0)}
	return p.closeForm(c)
}

// trim reads the forms of trim with FROM or BOTH, LEADING, TRAILING.
func (p *parser) trim() ast.Expr {
	side := ""
	if t := p.at(2); t.kind == word && (t.up == "BOTH" || t.up == "LEADING" || t.up == "TRAILING") {
		if n := p.at(3); n.kind != op || n.up == "(" || n.up == "-" || n.up == ":" || n.up == "?" {
			side = t.up
		}
	}
	if side == "" && !p.fromInside() {
		return nil
	}
	c := p.form(ast.TrimCall)
	if side != "" {
		p.i++
	}
	name := map[string]string{"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side]
	c.Name.Parts[0].Name = name
	var chars ast.Expr
	if !p.isWords("FROM") {
		chars = p.value(0)
	}
	p.expect("FROM")
	c.Args = []ast.Expr{p.value(0)}
	if chars != nil {
		c.Args = append(c.Args, chars)
	}
	return p.closeForm(c)
}

// fromInside reports whether FROM stands directly inside the parentheses of the
// call at the cursor.
func (p *parser) fromInside() bool { return p.wordInside("FROM") }

// wordInside reports whether a word stands directly inside the parentheses of
// the call at the cursor, and not first.
func (p *parser) wordInside(w string) bool {
	close := p.at(1).match
	if close < 0 {
		return false
	}
	for j := p.i + 2; j < close; j++ {
		t := p.toks[j]
		if t.isOp("(") && t.match > 0 {
			j = t.match
			continue
		}
		if t.isWord(w) && !p.toks[j-1].isOp(".") {
			return true
		}
		if t.isOp(",") {
			return false
		}
	}
	return false
}

// position reads position(a IN b).
func (p *parser) position() ast.Expr {
	if !p.wordInside("IN") {
		return nil
	}
	c := p.form(ast.PositionCall)
	a := p.value(0)
	p.expect("IN")
	c.Args = []ast.Expr{a, p.value(0)}
	return p.closeForm(c)
}

// substring reads substring(x FROM n FOR m).
func (p *parser) substring() ast.Expr {
	if !p.fromInside() {
		return nil
	}
	c := p.form(ast.SubstringCall)
	x := p.value(0)
	p.expect("FROM")
	c.Args = []ast.Expr{x, p.value(0)}
	if p.accept("FOR") || p.acceptOp(",") {
		c.Args = append(c.Args, p.value(0))
	}
	return p.closeForm(c)
}

// overlay reads overlay(x PLACING r FROM n FOR m).
func (p *parser) overlay() ast.Expr {
	if !p.wordInside("PLACING") {
		return nil
	}
	c := p.form(ast.OverlayCall)
	x := p.value(0)
	p.expect("PLACING")
	r := p.value(0)
	p.expect("FROM")
	c.Args = []ast.Expr{x, r, p.value(0)}
	if p.accept("FOR") {
		c.Args = append(c.Args, p.value(0))
	}
	return p.closeForm(c)
}

var datetimeUnits = set("YEAR QUARTER MONTH WEEK DAY DAYOFYEAR HOUR MINUTE SECOND MILLISECOND MICROSECOND")

// unitCall reads dateadd(UNIT, n, x) and the like: with three arguments the
// first is a bare unit. With two it is a plain call.
func (p *parser) unitCall() ast.Expr {
	id := p.ident()
	c := p.call(ast.Name{Pos: id.Pos, Parts: []ast.Ident{id}})
	if len(c.Args) != 3 || c.Over != nil || c.Distinct {
		return c
	}
	switch a := c.Args[0].(type) {
	case *ast.Column:
		if len(a.Name.Parts) == 1 && a.Name.Dynamic == nil && !a.Name.Parts[0].Quoted {
			if u := a.Name.Parts[0].Name; datetimeUnits[upper(u)] {
				c.Form = ast.UnitCall
				c.Args[0] = &ast.StringLit{Pos: a.Pos, Value: u}
			}
		}
	case *ast.StringLit:
		p.failCode(a.Span, "INVALID_PARAMETER_VALUE.DATETIME_UNIT", "The value of parameter(s) `unit` in `"+id.Name+
			"` is invalid: expects one of the units without quotes YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND, but got the string literal '"+clip(a.Value)+"'.")
	}
	return c
}
