package parse

import "pipelines/sqlplan/ast"

// properties reads (key = value, 'key' 'value', ...).
func (p *parser) properties() []ast.Property {
	p.expectOp("(")
	var s []ast.Property
	if !p.isOp(")") {
		s = list(p, p.property)
	}
	p.expectOp(")")
	return s
}

func (p *parser) property() ast.Property {
	start := p.start()
	pr := ast.Property{}
	if p.isString() {
		pr.Key = p.stringLit().Value
	} else {
		pr.Key = p.propertyKey()
	}
	if p.acceptOp("=") || p.acceptOp("==") || !p.isOp(",") && !p.isOp(")") {
		pr.Value = p.expr()
	}
	pr.Pos = p.pos(start)
	return pr
}

// propertyKey reads a.b.c as text.
func (p *parser) propertyKey() string {
	s := p.ident().Name
	for p.isOp(".") || p.isOp("-") {
		s += p.advance().up + p.ident().Name
	}
	return s
}
