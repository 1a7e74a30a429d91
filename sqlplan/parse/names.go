package parse

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// ident reads one name.
func (p *parser) ident() ast.Ident {
	t := p.tok()
	if p.identifierText() {
		return p.identOfText()
	}
	switch t.kind {
	case quoted:
		p.i++
		s := p.unquoted(t)
		if s == "" {
			p.failAt(t, "the name is empty")
		}
		return ast.Ident{Pos: ast.Pos{Span: tokRange(t)}, Name: s, Quoted: true}
	case word:
		p.i++
		s := p.textOf(t)
		if !plainName(s) {
			p.invalidName(tokRange(t), s)
		}
		return ast.Ident{Pos: ast.Pos{Span: tokRange(t)}, Name: s}
	}
	p.fail("expected a name")
	return ast.Ident{}
}

// plainName reports whether a word may stand without quotes.
func plainName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return true
}

func (p *parser) invalidName(r diag.Range, s string) {
	d := diag.At(p.text, r, "INVALID_IDENTIFIER", "The unquoted identifier "+s+" is invalid")
	panic(bailout{d: d.WithHint("write it in back quotes: `" + s + "`")})
}

// declared reads a name where no expression can follow, and says so clearly
// when a dash shows that quotes are missing (my-table).
func (p *parser) declared() ast.Ident {
	id := p.ident()
	last := p.toks[p.i-1]
	if p.isOp("-") && p.tok().start == last.end && p.at(1).kind == word && p.at(1).start == p.tok().end {
		end := p.at(1).end
		p.invalidName(diag.Range{Start: last.start, End: end}, p.src[last.start:end])
	}
	return id
}

// parts reads a.b.c.
func (p *parser) parts() []ast.Ident {
	s := []ast.Ident{p.declared()}
	for p.isOp(".") && !p.at(1).isOp("*") {
		p.i++
		s = append(s, p.declared())
	}
	return s
}

// name reads a name of several parts or IDENTIFIER(expr).
func (p *parser) name() ast.Name {
	start := p.start()
	if p.identifierCall() {
		x := p.identifierArg()
		n := ast.Name{Dynamic: x}
		for p.acceptOp(".") {
			n.Parts = append(n.Parts, p.declared())
		}
		n.Pos = p.pos(start)
		return n
	}
	s := p.parts()
	return ast.Name{Pos: p.pos(start), Parts: s}
}

// identifierCall reports whether IDENTIFIER( stands here.
func (p *parser) identifierCall() bool {
	return p.isWords("IDENTIFIER") && p.at(1).isOp("(")
}

// identifierText reports whether IDENTIFIER('text') stands here.
func (p *parser) identifierText() bool {
	if k := p.at(2).kind; !p.identifierCall() || k != str && k != rawStr {
		return false
	}
	n := 3
	for k := p.at(n).kind; k == str || k == rawStr; k = p.at(n).kind {
		n++
	}
	return p.at(n).isOp(")")
}

// identOfText reads IDENTIFIER('text') as one name.
func (p *parser) identOfText() ast.Ident {
	start := p.start()
	p.i += 2
	s := p.stringLit()
	p.expectOp(")")
	p.checkIdentifierText(s)
	parts, _ := p.dialect.SplitName(s.Value)
	if len(parts) > 1 {
		p.failCode(s.Span, "IDENTIFIER_TOO_MANY_NAME_PARTS", "`"+s.Value+"` is not a valid identifier as it has more than 1 name part.")
	}
	return ast.Ident{Pos: p.pos(start), Name: parts[0], Quoted: true}
}

// identifierArg reads IDENTIFIER(expr) and returns expr.
func (p *parser) identifierArg() ast.Expr {
	p.i += 2
	x := p.expr()
	p.expectOp(")")
	if s, ok := x.(*ast.StringLit); ok {
		p.checkIdentifierText(s)
	}
	return x
}

// checkIdentifierText refuses a literal argument of IDENTIFIER that is no name.
func (p *parser) checkIdentifierText(s *ast.StringLit) {
	if s.Value == "" {
		p.failCode(s.Span, "PARSE_EMPTY_STATEMENT", "Syntax error, unexpected empty statement.")
	}
	if _, ok := p.dialect.SplitName(s.Value); !ok {
		p.failCode(s.Span, "PARSE_SYNTAX_ERROR", "Syntax error at or near '"+clip(s.Value)+"': it is no name")
	}
}

// SplitName reads the text of a name (a.`b c`.d), as in the argument of
// IDENTIFIER. It reports false if the text is no name.
func (d Dialect) SplitName(text string) ([]string, bool) {
	l := lex(text)
	l.retag(0, d)
	if len(l.errs) > 0 {
		return nil, false
	}
	var parts []string
	for i := 0; i < len(l.toks); i++ {
		t := l.toks[i]
		switch {
		case i%2 == 0 && t.kind == quoted:
			parts = append(parts, l.unquoted(t))
		case i%2 == 0 && t.kind == word:
			parts = append(parts, text[t.start:t.end])
		case i%2 == 1 && t.isOp("."):
		default:
			return parts, t.kind == eof && i%2 == 1
		}
	}
	return parts, len(parts) > 0
}

// identList reads (a, b).
func (p *parser) identList() []ast.Ident { return parenList(p, p.declared) }

// stringLit reads one or more adjacent string literals.
func (p *parser) stringLit() *ast.StringLit {
	start := p.start()
	if !p.isString() {
		p.fail("expected a string")
	}
	first := p.advance()
	v := stringValue(first, p.src)
	if p.isString() {
		var b strings.Builder
		b.WriteString(v)
		for p.isString() {
			b.WriteString(stringValue(p.advance(), p.src))
		}
		v = b.String()
	}
	return &ast.StringLit{Pos: p.pos(start), Value: v}
}

// isString reports whether a string literal stands here.
func (p *parser) isString() bool {
	k := p.tok().kind
	return k == str || k == rawStr
}
