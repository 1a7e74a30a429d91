package parse

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// properties reads (key = value, 'key' 'value', ...).
func (p *parser) properties() []ast.Property {
	open := p.expectOp("(")
	s := []ast.Property{}
	if !p.isOp(")") {
		s = list(p, p.property)
	}
	p.expectOp(")")
	seen := map[string]bool{}
	for _, pr := range s {
		if seen[pr.Key] {
			p.failCode(diag.Range{Start: open.start, End: p.toks[p.i-1].end}, "DUPLICATE_KEY", "Found duplicate keys `"+pr.Key+"`.")
		}
		seen[pr.Key] = true
	}
	return s
}

func (p *parser) property() ast.Property {
	start := p.start()
	pr := ast.Property{}
	if p.isString() {
		pr.Key = stringValue(p.advance(), p.src) // the next string is the value
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

// set reads the statements that start with SET.
func (p *parser) set() ast.Statement {
	start := p.start()
	p.i++
	next := p.at(1)
	switch {
	case p.isWords("TIME", "ZONE"):
		p.i += 2
		return p.timeZone(start)
	case p.isAny("VARIABLE", "VAR") && (next.kind == word || next.kind == quoted || next.isOp("(")):
		p.i++
		return p.setVar(start)
	case p.isWords("CATALOG") && !next.isOp("=") && !next.isOp(".") && next.kind != eof:
		p.i++
		n := p.catalogName()
		return &ast.Use{Pos: p.pos(start), Kind: "CATALOG", Name: n}
	case p.isWords("ROLE"), p.isWords("COLLATION"):
		p.i--
		return p.unsupported(start, 1)
	}
	return p.setConf(start)
}

// catalogName reads a name or a string.
func (p *parser) catalogName() ast.Name {
	if p.isString() {
		s := p.stringLit()
		return ast.Name{Pos: s.Pos, Parts: []ast.Ident{{Pos: s.Pos, Name: s.Value, Quoted: true}}}
	}
	return p.name()
}

func (p *parser) timeZone(start int) ast.Statement {
	s := &ast.SetTimeZone{}
	switch {
	case p.isString():
		s.Zone = p.stringLit().Value
	case p.accept("LOCAL"):
		s.Local = true
	case p.isWords("INTERVAL"):
		s.Interval = p.interval()
		if f := s.Interval; f.Start < ast.Hour {
			p.failCode(f.Span, "INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE", "The interval value must be in the range of [-18, +18] hours with second precision.")
		} else if f.Micros%microsPerSecond != 0 || f.Micros > 18*microsPerHour || f.Micros < -18*microsPerHour {
			p.failCode(f.Span, "INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE",
				"The interval value must be in the range of [-18, +18] hours with second precision.")
		}
	default:
		p.fail("expected a zone in quotes, LOCAL or INTERVAL")
	}
	s.Pos = p.pos(start)
	return s
}

// setVar reads SET VAR a = x, b = y or SET VAR (a, b) = (query).
func (p *parser) setVar(start int) ast.Statement {
	s := &ast.SetVar{}
	if p.acceptOp("(") {
		if p.isOp(")") {
			p.failCode(tokRange(p.tok()), "INVALID_SET_SYNTAX", "Expected format is 'SET', 'SET key', or 'SET key=value'. If you want to include special characters in key, or include semicolon in value, please use backquotes, e.g., SET `key`=`value`.")
		}
		s.Sets = list(p, func() ast.Assign { n := p.name(); return ast.Assign{Pos: n.Pos, Name: n} })
		p.expectOp(")")
		p.expectOp("=")
		p.inserting = true
		s.Query = p.parenQuery()
		p.inserting = false
	} else {
		p.inserting = true
		s.Sets = list(p, p.assign)
		p.inserting = false
	}
	s.Pos = p.pos(start)
	return s
}

// setConf reads SET [key [= value]] from the raw text.
func (p *parser) setConf(start int) ast.Statement {
	s := &ast.Set{}
	keyStart := p.start()
	if p.isOp("-") && p.at(1).isWord("V") {
		p.i += 2
		s.Verbose = true
		s.Pos = p.pos(start)
		return s
	}
	s.Key = p.confKey("=")
	if s.Key != "" {
		s.KeySpan = p.pos(keyStart)
	}
	if p.acceptOp("=") {
		if s.Key == "" {
			p.i--
			p.fail("expected a key")
		}
		s.HasValue = true
		s.Value = unquoteName(strings.TrimSpace(p.rest()))
	}
	s.Pos = p.pos(start)
	return s
}

// confKey reads the text of a key up to the operator stop or the end.
func (p *parser) confKey(stop string) string {
	first := p.i
	start := p.start()
	for !p.ended() && !p.isOp(stop) {
		p.i++
	}
	if p.i == first {
		return ""
	}
	r := p.since(start)
	text := p.src[r.Start:r.End]
	if p.toks[first].kind == quoted && p.i == first+1 {
		return p.unquoted(p.toks[first])
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; !isWordByte(c) && c != '.' && c != ':' && c != '-' {
			p.failCode(r, "INVALID_SET_SYNTAX", "Expected format is 'SET', 'SET key', or 'SET key=value'. If you want to include special characters in key, or include semicolon in value, please use backquotes, e.g., SET `key`=`value`.")
		}
	}
	return text
}

// use reads USE [kind] name.
func (p *parser) use() ast.Statement {
	start := p.start()
	p.i++
	s := &ast.Use{}
	if p.isAny("NAMESPACE", "SCHEMA", "DATABASE", "CATALOG") && (p.at(1).kind == word || p.at(1).kind == quoted || p.at(1).kind == str) {
		s.Kind = p.advance().up
	}
	if s.Kind == "CATALOG" {
		s.Name = p.catalogName()
	} else {
		s.Name = p.name()
	}
	s.Pos = p.pos(start)
	return s
}

// show reads SHOW what ...
func (p *parser) show() ast.Statement {
	start, first := p.start(), p.i
	p.i++
	s := &ast.Show{}
	switch w := p.tok(); {
	case p.accept("CREATE", "TABLE"):
		s.What = "CREATE TABLE"
		n := p.name()
		s.Name = &n
		p.accept("AS", "SERDE")
	case p.isAny("TBLPROPERTIES", "PARTITIONS"):
		s.What = p.advance().up
		n := p.name()
		s.Name = &n
		if s.What == "PARTITIONS" {
			p.partition()
		} else if p.acceptOp("(") {
			s.Key = p.showKey()
			p.expectOp(")")
		}
	case p.isWords("TABLES"), p.isWords("VIEWS"), p.isWords("COLUMNS"), p.isWords("SCHEMAS"), p.isWords("DATABASES"),
		p.isWords("NAMESPACES"), p.isWords("CATALOGS"), p.isWords("FUNCTIONS"):
		p.i++
		p.showList(s, w.up)
	case p.accept("CURRENT", "NAMESPACE"), p.accept("CURRENT", "SCHEMA"), p.accept("CURRENT", "DATABASE"):
		s.What = "CURRENT NAMESPACE"
	case p.isAny("USER", "SYSTEM", "ALL") && p.at(1).isWord("FUNCTIONS"):
		p.i += 2
		p.showList(s, w.up+" FUNCTIONS")
	default:
		p.i = first
		return p.unsupported(start, 2)
	}
	s.Pos = p.pos(start)
	return s
}

func (p *parser) showKey() string {
	if p.isString() {
		return p.stringLit().Value
	}
	return p.propertyKey()
}

// showList reads [FROM|IN name] [FROM|IN db] [LIKE] 'pattern'.
func (p *parser) showList(s *ast.Show, what string) {
	switch what {
	case "DATABASES", "NAMESPACES":
		what = "SCHEMAS"
	}
	s.What = what
	if p.acceptAny("FROM", "IN") != "" {
		n := p.name()
		s.Name = &n
		if what == "COLUMNS" && p.acceptAny("FROM", "IN") != "" {
			in := p.name()
			s.In = &in
		}
	} else if what == "COLUMNS" {
		p.fail("expected FROM or IN")
	}
	like := p.accept("LIKE")
	switch {
	case p.isString():
		s.Like, s.HasLike = p.stringLit().Value, true
	case what == "FUNCTIONS" && p.isIdent():
		s.Like, s.HasLike = strings.Join(p.name().Strings(), "."), true
	case like:
		p.fail("expected a pattern")
	}
}

// describe reads DESCRIBE of a function, namespace, query or table.
func (p *parser) describe() ast.Statement {
	start := p.start()
	p.i++
	s := &ast.Describe{}
	next := p.at(1)
	named := next.kind == word || next.kind == quoted
	switch {
	case p.isWords("FUNCTION") && (named || next.kind == str || next.isOp("=") || p.at(1).kind == op && !next.isOp(".")):
		p.i++
		s.What, s.Extended = "FUNCTION", p.accept("EXTENDED")
		n := p.functionName()
		s.Name = &n
	case p.isAny("NAMESPACE", "DATABASE", "SCHEMA") && named:
		p.i++
		s.What, s.Extended = "NAMESPACE", p.accept("EXTENDED")
		n := p.name()
		s.Name = &n
	case p.isWords("QUERY") && (named || next.isOp("(")), p.queryStart(p.i) && !p.isWords("TABLE"), p.isOp("("):
		p.accept("QUERY")
		s.What = "QUERY"
		s.Query = p.queryExpr()
	default:
		p.describeTable(s)
	}
	s.Pos = p.pos(start)
	return s
}

// functionName reads a name, a string or an operator as a function's name.
func (p *parser) functionName() ast.Name {
	if p.isString() {
		return p.catalogName()
	}
	if p.tok().kind == op {
		t := p.advance()
		pos := p.pos(t.start)
		return ast.Name{Pos: pos, Parts: []ast.Ident{{Pos: pos, Name: t.up, Quoted: true}}}
	}
	return p.name()
}

func (p *parser) describeTable(s *ast.Describe) {
	s.What = "TABLE"
	if p.isWords("TABLE") && (p.at(1).kind == word || p.at(1).kind == quoted) {
		p.i++
	}
	if p.isAny("EXTENDED", "FORMATTED") && (p.at(1).kind == word || p.at(1).kind == quoted) && !p.at(1).isWord("AS") {
		p.i++
		s.Extended = true
	}
	n := p.name()
	s.Name = &n
	s.Partition = p.partition()
	if p.accept("AS", "JSON") {
		s.AsJSON = true
		return
	}
	if p.isIdent() {
		c := p.name()
		s.Column = &c
	}
	s.AsJSON = p.accept("AS", "JSON")
}
