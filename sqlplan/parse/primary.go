package parse

import (
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// primary reads an operand without what follows it.
func (p *parser) primary() ast.Expr {
	t := p.tok()
	if p.i >= p.end {
		p.fail("expected an expression")
	}
	switch t.kind {
	case number:
		return p.number(t)
	case str, rawStr:
		return p.stringLit()
	case quoted:
		return p.named()
	case op:
		return p.operand(t)
	case word:
		return p.word(t)
	}
	p.fail("expected an expression")
	return nil
}

// operand reads what starts with a sign.
func (p *parser) operand(t token) ast.Expr {
	switch t.up {
	case "(":
		return p.paren()
	case "*":
		p.i++
		s := &ast.Star{Except: p.starExcept()}
		s.Pos = p.pos(t.start)
		return s
	case "-":
		if p.at(1).kind == number {
			return p.number(t)
		}
	case ":", "?":
		return p.param()
	}
	p.fail("expected an expression")
	return nil
}

// param reads :name or ?.
func (p *parser) param() ast.Expr {
	t := p.advance()
	if t.up == "?" {
		n := &ast.Param{Pos: p.pos(t.start), Index: p.params}
		p.params++
		return n
	}
	id := p.ident()
	return &ast.Param{Pos: p.pos(t.start), Name: id.Name}
}

// starExcept reads EXCEPT (a, b.c) after a star.
func (p *parser) starExcept() []ast.Name {
	if p.isWords("EXCEPT") && p.at(1).isOp("(") && !p.isQuery(p.i+1) {
		p.i++
		return parenList(p, p.name)
	}
	return nil
}

// paren reads a parenthesis: a query, lambda parameters, a row or an expression.
func (p *parser) paren() ast.Expr {
	t := p.tok()
	if t.match > 0 && p.at(t.match-p.i+1).isOp("->") {
		return p.lambda()
	}
	if p.isQuery(p.i) {
		q := p.parenQuery()
		return &ast.Subquery{Pos: p.pos(t.start), Query: q}
	}
	p.i++
	xs := list(p, p.namedExpr)
	p.expectOp(")")
	if len(xs) > 1 {
		return &ast.Row{Pos: p.pos(t.start), Items: xs}
	}
	if a, ok := xs[0].(*ast.Alias); ok {
		p.failCode(a.Span, "PARSE_SYNTAX_ERROR", "Syntax error at or near '"+clip(a.Names[0].Name)+"': expected ')'")
	}
	return &ast.Paren{Pos: p.pos(t.start), X: xs[0]}
}

// lambda reads (x, y) -> body or x -> body.
func (p *parser) lambda() ast.Expr {
	start := p.start()
	var ps []ast.Ident
	if p.isOp("(") {
		if p.at(1).isOp(")") {
			p.i++
			p.fail("expected a parameter of the lambda")
		}
		ps = parenList(p, p.ident)
	} else {
		ps = []ast.Ident{p.ident()}
	}
	p.expectOp("->")
	body := p.expr()
	return &ast.Lambda{Pos: p.pos(start), Params: ps, Body: body}
}

// word reads an operand that starts with a word: literals and the forms with
// keywords first, names last.
func (p *parser) word(t token) ast.Expr {
	next := p.at(1)
	switch t.up {
	case "NULL":
		if !next.isOp("(") {
			p.i++
			return &ast.NullLit{Pos: p.pos(t.start)}
		}
	case "TRUE", "FALSE":
		if !next.isOp("(") && !next.isOp("->") {
			p.i++
			return &ast.BoolLit{Pos: p.pos(t.start), Value: t.up == "TRUE"}
		}
	case "CASE":
		if p.caseAhead() {
			return p.caseExpr()
		}
	case "DEFAULT":
		if p.inserting && !next.isOp(".") && !next.isOp("(") {
			p.i++
			return &ast.Default{Pos: p.pos(t.start)}
		}
	case "INTERVAL":
		if p.intervalAhead() {
			return p.interval()
		}
	}
	if next.kind == str || next.kind == rawStr {
		return p.typedLiteral()
	}
	if !next.isOp("(") && !p.operandAhead() {
		if t.up == "FROM" && p.i > 0 && p.toks[p.i-1].isOp(",") {
			comma := p.toks[p.i-1]
			p.failCode(tokRange(comma), "TRAILING_COMMA_IN_SELECT", "Trailing comma detected in SELECT clause. Remove the trailing comma before the FROM clause.")
		}
		p.fail("expected an expression")
	}
	return p.named()
}

// named reads a column, a star with a qualifier, a call, or a lambda.
func (p *parser) named() ast.Expr {
	t := p.tok()
	if p.at(1).isOp("->") {
		return p.lambda()
	}
	if p.identifierCall() {
		return p.dynamic()
	}
	if p.at(1).isOp("(") && t.kind == word {
		if x := p.specialCall(); x != nil {
			return x
		}
	}
	parts := []ast.Ident{p.ident()}
	for p.isOp(".") && p.i < p.end {
		if p.at(1).isOp("*") {
			p.i += 2
			s := &ast.Star{Qualifier: parts, Except: p.starExcept()}
			s.Pos = p.pos(t.start)
			return s
		}
		p.i++
		parts = append(parts, p.ident())
	}
	n := ast.Name{Pos: p.pos(t.start), Parts: parts}
	if p.isOp("(") {
		return p.call(n)
	}
	return &ast.Column{Pos: n.Pos, Name: n}
}

// dynamic reads IDENTIFIER(x), a column, or IDENTIFIER(x)(args), a call.
func (p *parser) dynamic() ast.Expr {
	start := p.start()
	x := p.identifierArg()
	n := ast.Name{Pos: p.pos(start), Dynamic: x}
	if p.isOp("(") {
		return p.call(n)
	}
	return &ast.Column{Pos: n.Pos, Name: n}
}

// caseAhead reports whether CASE is the expression and no column of that name.
func (p *parser) caseAhead() bool {
	n := p.at(1)
	if n.kind == op {
		return n.up == "(" || n.up == "-" || n.up == "+" || n.up == "~" || n.up == "?" || n.up == ":"
	}
	return n.kind != eof && !n.isWord("FROM") && !n.isWord("AS")
}

func (p *parser) caseExpr() ast.Expr {
	start := p.start()
	p.i++
	n := &ast.Case{}
	if !p.isWords("WHEN") {
		n.Operand = p.expr()
	}
	for p.isWords("WHEN") {
		s := p.start()
		p.i++
		cond := p.expr()
		p.expect("THEN")
		then := p.expr()
		n.Whens = append(n.Whens, ast.When{Pos: p.pos(s), Cond: cond, Then: then})
	}
	if len(n.Whens) == 0 {
		p.fail("expected WHEN")
	}
	if p.accept("ELSE") {
		n.Else = p.expr()
	}
	p.expect("END")
	n.Pos = p.pos(start)
	return n
}

// pathAhead reports whether ":" starts a path into a variant.
func (p *parser) pathAhead() bool {
	n := p.at(1)
	return n.kind == word || n.kind == quoted || n.isOp("[")
}

// variantPath reads what stands after ":": a.b[0]['c'] becomes $.a.b[0]['c'].
func (p *parser) variantPath() string {
	var b strings.Builder
	b.WriteByte('$')
	if !p.isOp("[") {
		b.WriteString(pathName(p.ident().Name))
	}
	for {
		switch {
		case p.isOp(".") && (p.at(1).kind == word || p.at(1).kind == quoted):
			p.i++
			b.WriteString(pathName(p.ident().Name))
		case p.isOp("["):
			p.i++
			b.WriteString(p.pathIndex())
			p.expectOp("]")
		default:
			return b.String()
		}
	}
}

// pathName writes one name of a path. Points in it part it into several, as in
// Spark.
func pathName(s string) string {
	plain := true
	for part := range strings.SplitSeq(s, ".") {
		plain = plain && part != "" && plainName(part)
	}
	if plain {
		return "." + s
	}
	q := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 {
		q = '"'
	}
	return "[" + string(q) + s + string(q) + "]"
}

// pathIndex reads an index or a quoted name in brackets.
func (p *parser) pathIndex() string {
	t := p.tok()
	switch {
	case p.isString():
		return pathName2(p.stringLit().Value)
	case t.kind == number:
		p.i++
		if _, err := strconv.ParseInt(p.textOf(t), 10, 64); err == nil {
			return "[" + p.textOf(t) + "]"
		}
		p.failAt(t, "expected a whole number")
	case t.isOp("*"):
		p.i++
		return "[*]"
	}
	p.fail("expected an index or a name in quotes")
	return ""
}

// pathName2 writes a name that was given in quotes.
func pathName2(s string) string {
	if strings.IndexByte(s, '\'') >= 0 {
		return `["` + s + `"]`
	}
	return "['" + s + "']"
}

// namedExpr reads an expression with an optional alias.
func (p *parser) namedExpr() ast.Expr {
	x := p.expr()
	start := x.Range().Start
	as := p.isWords("AS")
	if n := p.at(1); as && (n.kind == eof || n.kind == cell || n.isOp(";") || n.isOp(",") || n.isOp(")")) {
		// Nothing follows, so AS itself is the alias, as Spark has it.
		return &ast.Alias{X: x, Names: []ast.Ident{p.ident()}, Pos: p.pos(start)}
	}
	if as {
		p.i++
	}
	switch {
	case p.isOp("(") && (as || p.aliasListAhead()):
		ids := p.identList()
		return &ast.Alias{Pos: p.pos(start), X: x, Names: ids, List: true}
	case as || p.aliasAhead(false):
		id := p.declared()
		return &ast.Alias{Pos: p.pos(start), X: x, Names: []ast.Ident{id}}
	}
	return x
}

// aliasListAhead reports whether "(" starts a list of aliases without AS.
func (p *parser) aliasListAhead() bool {
	for j := p.i + 1; j+1 < len(p.toks); j += 2 {
		if k := p.toks[j].kind; k != word && k != quoted {
			return false
		}
		if p.toks[j+1].isOp(")") {
			return true
		}
		if !p.toks[j+1].isOp(",") {
			return false
		}
	}
	return false
}

// typedLiteral reads DATE '...', X'...' and the like.
func (p *parser) typedLiteral() ast.Expr {
	t := p.advance()
	kinds := map[string]ast.TypedKind{"DATE": ast.DateLit, "TIME": ast.TimeLit, "TIMESTAMP": ast.TimestampLit,
		"TIMESTAMP_NTZ": ast.TimestampNTZLit, "TIMESTAMP_LTZ": ast.TimestampLTZLit}
	if k, ok := kinds[t.up]; ok {
		first := p.tok()
		p.i++
		return &ast.TypedLit{Pos: p.pos(t.start), Kind: k, Value: stringValue(first, p.src)}
	}
	if t.up == "X" {
		v := stringValue(p.advance(), p.src)
		b, ok := hexBytes(v)
		if !ok {
			p.failCode(p.since(t.start), "INVALID_TYPED_LITERAL", "The value of the typed literal \"X\" is invalid: '"+clip(v)+"'.")
		}
		return &ast.BinaryLit{Pos: p.pos(t.start), Value: b}
	}
	if noOperand[t.up] {
		p.failAt(t, "expected an expression")
	}
	r := diag.Range{Start: t.start, End: p.tok().end}
	p.failCode(r, "UNSUPPORTED_TYPED_LITERAL", "Literals of the type \""+t.up+
		"\" are not supported. Supported types are \"DATE\", \"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\", \"TIME\".")
	return nil
}

// hexBytes reads hexadecimal digits; an odd number of them has a 0 in front.
func hexBytes(s string) ([]byte, bool) {
	if len(s)%2 == 1 {
		s = "0" + s
	}
	b := make([]byte, len(s)/2)
	for i := range b {
		hi, ok1 := hexDigit(s[2*i])
		lo, ok2 := hexDigit(s[2*i+1])
		if !ok1 || !ok2 {
			return nil, false
		}
		b[i] = hi<<4 | lo
	}
	return b, true
}
