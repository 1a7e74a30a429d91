package parse

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// script reads one statement of a script and goes to its end whatever happens.
func (p *parser) script() (s ast.Statement) {
	first, faults := p.i, len(p.errs)
	p.setEnd()
	end := p.end // what is read inside of brackets sets another, and may not come back
	p.params, p.defines = 0, nil
	p.inserting, p.failed, p.cdcSourcing = false, false, false
	defer func() {
		p.catch(recover())
		p.depth = 0
		p.i = max(p.i, end)
		if p.toks[first].kind == bad || p.i == first {
			p.i = max(p.i, min(first+1, len(p.toks)-1))
		}
		if p.failed || len(p.errs) > faults || s == nil || p.openEnded(p.toks[first].start) {
			s = &ast.Broken{Pos: ast.Pos{Span: diag.Range{Start: p.toks[first].start, End: p.toks[max(p.i-1, first)].end}}, Name: p.defines}
		}
		p.end = len(p.toks) - 1
	}()
	s = p.statement()
	if !p.ended() {
		p.fail("")
	}
	return s
}

// openEnded reports whether the lexer found an open quote or comment in the
// statement that starts at start: it took all text to the end.
func (p *parser) openEnded(start int) bool {
	n := len(p.lexed.errs)
	return n > 0 && p.lexed.errs[n-1].start >= start && p.toks[p.i].kind == eof
}

// setEnd finds the token that ends the statement at the cursor.
func (p *parser) setEnd() {
	for j := p.i; j < len(p.toks); j++ {
		if t := p.toks[j]; t.kind == eof || t.kind == cell || t.isOp(";") {
			p.end = j
			return
		}
	}
}

// statement reads one statement.
//
//tidy:allow-long one case per statement
func (p *parser) statement() ast.Statement {
	p.enter()
	defer p.leave()
	t := p.tok()
	start := t.start
	if p.ended() {
		p.failCode(tokRange(t), "PARSE_EMPTY_STATEMENT", "Syntax error, unexpected empty statement.")
	}
	if t.isOp("(") {
		return p.queryStatement()
	}
	if t.kind != word {
		p.fail("expected a statement")
	}
	switch t.up {
	case "SELECT", "FROM", "VALUES", "TABLE":
		return p.queryStatement()
	case "WITH":
		return p.withStatement()
	case "INSERT":
		return p.insert(start, nil)
	case "CREATE":
		return p.create()
	case "REPLACE":
		return p.createTable(start, created{replaceOnly: true})
	case "DROP":
		return p.drop()
	case "SET":
		return p.set()
	case "RESET":
		p.i++
		key := p.confKey(";")
		return &ast.Reset{Pos: p.pos(start), Key: key}
	case "USE":
		return p.use()
	case "SHOW":
		return p.show()
	case "DESCRIBE", "DESC":
		return p.describe()
	case "EXPLAIN":
		p.i++
		mode := p.acceptAny("LOGICAL", "FORMATTED", "EXTENDED", "CODEGEN", "COST")
		s := p.statement()
		return &ast.Explain{Pos: p.pos(start), Mode: mode, Statement: s}
	case "DECLARE":
		return p.declare()
	case "TRUNCATE":
		p.i++
		p.expect("TABLE")
		s := &ast.Truncate{Table: p.name(), Partition: p.partition()}
		s.Pos = p.pos(start)
		return s
	case "CACHE", "UNCACHE", "CLEAR", "REFRESH":
		return p.cache()
	case "APPLY", "AUTO":
		if p.at(1).isWord("CHANGES") || p.at(1).isWord("CDC") {
			return p.autoCDC(start)
		}
	}
	return p.outside()
}

func (p *parser) queryStatement() ast.Statement {
	start := p.start()
	q := p.queryExpr()
	return &ast.QueryStmt{Pos: p.pos(start), Query: q}
}

// withStatement reads WITH ... before a query or an INSERT.
func (p *parser) withStatement() ast.Statement {
	start, first, faults := p.start(), p.i, len(p.errs)
	w := p.with()
	if p.isWords("INSERT") {
		return p.insert(start, w)
	}
	if p.isAny("DELETE", "UPDATE", "MERGE") {
		return p.outside()
	}
	p.i = first
	p.errs = p.errs[:faults] // what with noted is noted again below
	return p.queryStatement()
}

// outsideWords are first words of statements that are SQL but no part of the
// product, with the number of further words that name them.
var outsideWords = map[string]int{"ALTER": 1, "MERGE": 0, "DELETE": 0, "UPDATE": 0, "GRANT": 0, "REVOKE": 0, "ANALYZE": 1,
	"MSCK": 1, "REPAIR": 1, "LOAD": 1, "ADD": 1, "LIST": 1, "EXECUTE": 1, "COMMENT": 1, "LOCK": 1, "UNLOCK": 1, "START": 1, "COMMIT": 0,
	"ROLLBACK": 0, "EXPORT": 1, "IMPORT": 1, "DFS": 0, "CALL": 0, "OPTIMIZE": 0, "VACUUM": 0, "RESTORE": 0, "COPY": 1, "UNDROP": 1,
	"BEGIN": 0, "IF": 0, "WHILE": 0, "FOR": 0, "REPEAT": 0, "LOOP": 0, "SYNC": 0, "CLONE": 0, "DENY": 0, "FSCK": 0, "REORG": 0, "GENERATE": 0,
	"CONVERT": 0, "PURGE": 0, "MAP": 0, "REDUCE": 0, "FETCH": 0, "OPEN": 0, "CLOSE": 0, "SIGNAL": 0, "RESIGNAL": 0, "ITERATE": 0, "LEAVE": 0}

// outside reads a statement that the product does not have.
func (p *parser) outside() ast.Statement {
	t := p.tok()
	n, ok := outsideWords[t.up]
	if !ok {
		if w := nearest(t.up, statementWords); w != "" {
			d := diag.At(p.text, tokRange(t), "PARSE_SYNTAX_ERROR", "Syntax error at or near '"+clip(p.textOf(t))+"'")
			panic(bailout{d: d.WithHint("did you mean " + w + "?")})
		}
		p.fail("expected a statement")
	}
	return p.unsupported(t.start, n)
}

// unsupported takes the statement as text. n is the number of words after the
// first that name it.
func (p *parser) unsupported(start, n int) ast.Statement {
	first := p.i
	kind := p.tok().up
	for k := 1; k <= n && p.at(k).kind == word; k++ {
		kind += " " + p.at(k).up
	}
	if kind == "BEGIN" {
		p.compound()
	}
	for !p.ended() {
		p.i++
	}
	if p.i == first {
		p.i++
	}
	pos := p.pos(start)
	return &ast.Unsupported{Pos: pos, Kind: kind, Text: p.src[pos.Span.Start:pos.Span.End]}
}

// compound goes over BEGIN ... END with the statements inside.
func (p *parser) compound() {
	depth := 0
	for p.tok().kind != eof {
		t := p.advance()
		switch {
		case t.isWord("BEGIN"), t.isWord("CASE"):
			depth++
		case t.isWord("END"):
			if p.acceptAny("IF", "WHILE", "FOR", "LOOP", "REPEAT") == "" {
				p.accept("CASE")
				depth--
			}
		}
		if depth <= 0 {
			break
		}
	}
	p.setEnd()
}

var statementWords = strings.Fields("SELECT WITH FROM VALUES INSERT CREATE DROP SET RESET USE SHOW DESCRIBE EXPLAIN DECLARE TRUNCATE CACHE REFRESH ALTER MERGE DELETE UPDATE")

// nearest returns the word of the list that differs from w by one letter more,
// less, changed or swapped; "" if none does.
func nearest(w string, list []string) string {
	for _, c := range list {
		if d := len(w) - len(c); d >= -1 && d <= 1 && oneEdit(w, c) {
			return c
		}
	}
	return ""
}

func oneEdit(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	ra, rb := a[i:len(a)-j], b[i:len(b)-j]
	return len(ra) <= 1 && len(rb) <= 1 || len(ra) == 2 && len(rb) == 2 && ra[0] == rb[1] && ra[1] == rb[0]
}

// rest takes everything up to the end of the statement as text.
func (p *parser) rest() string {
	if p.ended() {
		return ""
	}
	start := p.start()
	for !p.ended() {
		p.i++
	}
	return p.src[start:p.toks[p.i-1].end]
}

// unquoteName drops the back quotes around a whole text.
func unquoteName(s string) string {
	if len(s) >= 2 && s[0] == '`' && s[len(s)-1] == '`' && !strings.Contains(s[1:len(s)-1], "`") {
		return s[1 : len(s)-1]
	}
	return s
}

// insert reads INSERT INTO|OVERWRITE after an optional WITH.
func (p *parser) insert(start int, w *ast.With) *ast.Insert {
	p.expect("INSERT")
	s := &ast.Insert{With: w}
	switch p.expectAny("INTO", "OVERWRITE") {
	case "OVERWRITE":
		s.Overwrite = true
		if p.isWords("DIRECTORY") || p.isWords("LOCAL", "DIRECTORY") {
			p.fail("INSERT OVERWRITE DIRECTORY is not supported")
		}
		p.accept("TABLE")
	default:
		if p.isWords("ONCE") && p.at(1).kind != op && !p.clauseStart(p.i+1) && !p.at(1).isWord("BY") && !p.at(1).isWord("VALUES") {
			p.i++
			s.Once = true
		}
		p.accept("TABLE")
	}
	s.Table = p.name()
	p.insertClauses(s)
	p.inserting = true
	s.Query = p.queryExpr()
	p.inserting = false
	s.Pos = p.pos(start)
	return s
}

// insertClauses reads what stands between the table and the query.
func (p *parser) insertClauses(s *ast.Insert) {
	if p.accept("REPLACE", "WHERE") {
		s.ReplaceWhere = p.expr()
		return
	}
	if p.isWords("PARTITION") {
		s.Partition = p.partition()
		s.IfNotExists = p.accept("IF", "NOT", "EXISTS")
	}
	switch {
	case p.accept("BY", "NAME"):
		s.ByName = true
	case p.isOp("(") && !p.isQuery(p.i):
		s.Columns = p.identList()
	}
	if p.accept("REPLACE", "WHERE") {
		s.ReplaceWhere = p.expr()
	}
}

// partition reads PARTITION (a = 1, b), or nothing.
func (p *parser) partition() []ast.Property {
	if !p.isWords("PARTITION") || !p.at(1).isOp("(") {
		return nil
	}
	p.i++
	return parenList(p, func() ast.Property {
		start := p.start()
		pr := ast.Property{Key: p.declared().Name}
		if p.acceptOp("=") {
			pr.Value = p.value(0)
		}
		pr.Pos = p.pos(start)
		return pr
	})
}

// drop reads DROP kind [IF EXISTS] name.
func (p *parser) drop() ast.Statement {
	start := p.start()
	first := p.i
	p.i++
	s := &ast.Drop{}
	s.Temporary = p.acceptAny("TEMPORARY", "TEMP") != ""
	switch {
	case p.accept("MATERIALIZED", "VIEW"):
		s.Kind = "MATERIALIZED VIEW"
	case p.accept("STREAMING", "TABLE"):
		s.Kind = "STREAMING TABLE"
	case p.isAny("NAMESPACE", "DATABASE", "SCHEMA"):
		p.i++
		s.Kind = "SCHEMA"
	case p.isAny("VARIABLE", "VAR"):
		if !s.Temporary {
			p.fail("variables are dropped by DROP TEMPORARY VARIABLE")
		}
		p.i++
		s.Kind = "VARIABLE"
	case p.isAny("TABLE", "VIEW", "FUNCTION"):
		s.Kind = p.advance().up
	default:
		if p.tok().kind == word {
			p.i = first
			return p.unsupported(start, 1)
		}
		p.fail("expected TABLE, VIEW, FUNCTION, VARIABLE or SCHEMA")
	}
	s.IfExists = p.accept("IF", "EXISTS")
	s.Name = p.name()
	switch p.acceptAny("CASCADE", "RESTRICT", "PURGE") {
	case "CASCADE":
		s.Cascade = true
	case "PURGE":
		s.Purge = true
	}
	s.Pos = p.pos(start)
	return s
}

// declare reads DECLARE [OR REPLACE] [VARIABLE] names [type] [DEFAULT|= expr].
func (p *parser) declare() ast.Statement {
	start := p.start()
	p.i++
	s := &ast.Declare{Replace: p.accept("OR", "REPLACE")}
	if p.isAny("VARIABLE", "VAR") && (p.at(1).kind == word || p.at(1).kind == quoted) {
		p.i++
	}
	if p.isWords("IF", "NOT", "EXISTS") {
		p.fail("a variable is declared anew by DECLARE OR REPLACE")
	}
	s.Names = list(p, p.name)
	if !p.ended() && !p.isWords("DEFAULT") && !p.isOp("=") {
		ty := p.dataType()
		s.Type = &ty
	}
	if p.accept("DEFAULT") || p.acceptOp("=") {
		s.Default = p.expr()
	}
	if s.Type == nil && s.Default == nil {
		p.failCode(p.pos(start).Span, "INVALID_SQL_SYNTAX.VARIABLE_TYPE_OR_DEFAULT_REQUIRED", "Invalid SQL syntax: the definition of a variable requires either a data type or a DEFAULT clause.")
	}
	s.Pos = p.pos(start)
	return s
}

// cache reads CACHE, UNCACHE, CLEAR CACHE and REFRESH.
func (p *parser) cache() ast.Statement {
	start := p.start()
	first := p.i
	s := &ast.Cache{What: p.advance().up}
	switch s.What {
	case "CLEAR":
		p.expect("CACHE")
	case "REFRESH":
		if !p.isWords("TABLE") && !p.isWords("MATERIALIZED", "VIEW") && !p.isWords("STREAMING", "TABLE") {
			p.i = first
			return p.unsupported(start, 0)
		}
		p.acceptAny("STREAMING", "MATERIALIZED")
		p.expectAny("TABLE", "VIEW")
		n := p.name()
		s.Table = &n
		p.acceptAny("FULL")
	default:
		s.Lazy = p.accept("LAZY")
		p.expect("TABLE")
		p.accept("IF", "EXISTS")
		n := p.name()
		s.Table = &n
		if p.accept("OPTIONS") {
			s.Options = p.properties()
		}
		if !p.ended() {
			p.accept("AS")
			s.Query = p.queryExpr()
		}
	}
	s.Pos = p.pos(start)
	return s
}
