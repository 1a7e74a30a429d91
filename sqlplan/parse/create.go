package parse

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// created is what stands between CREATE and the kind of thing.
type created struct {
	replace, replaceOnly, refresh bool
	temporary, global, private    bool
	external, live, streaming     bool
}

// create reads the statements that start with CREATE.
func (p *parser) create() ast.Statement {
	start, first := p.start(), p.i
	p.i++
	c := p.createWords()
	switch {
	case p.isWords("VIEW"):
		return p.createView(start, c)
	case p.isWords("FLOW"):
		return p.createFlow(start)
	case p.isWords("MATERIALIZED", "VIEW"):
		p.i += 2
		return p.createDataset(start, ast.MaterializedView, c)
	case p.isWords("TABLE") && c.live:
		p.i++
		kind := ast.MaterializedView
		if c.streaming {
			kind = ast.StreamingTable
		}
		return p.createDataset(start, kind, c)
	case p.isWords("TABLE") && c.streaming:
		p.i++
		return p.createDataset(start, ast.StreamingTable, c)
	case p.isWords("TABLE"):
		return p.createTable(start, c)
	case p.isWords("FUNCTION") && !c.private && !c.live:
		return p.createFunction(start, c)
	case p.isAny("SCHEMA", "DATABASE", "NAMESPACE") && c == (created{}):
		return p.createSchema(start)
	}
	kind := "CREATE"
	if t := p.tok(); t.kind == word {
		kind += " " + t.up
		known := set("SCHEMA DATABASE NAMESPACE CATALOG INDEX ROLE MACRO VOLUME CONNECTION SHARE RECIPIENT EXTERNAL LOCATION SERVER GROUP USER PROCEDURE POLICY BLOOMFILTER ONCE")
		if known[t.up] {
			p.i = first
			u := p.unsupported(start, 0).(*ast.Unsupported)
			u.Kind = kind
			return u
		}
	}
	const want = "expected TABLE, VIEW, STREAMING TABLE, MATERIALIZED VIEW, FLOW or FUNCTION"
	if near := nearest(p.tok().up, strings.Fields("TABLE VIEW STREAMING MATERIALIZED FLOW FUNCTION TEMPORARY")); near != "" && p.tok().kind == word {
		d := diag.At(p.text, tokRange(p.tok()), "PARSE_SYNTAX_ERROR", "Syntax error at or near '"+clip(p.textOf(p.tok()))+"': "+want)
		panic(bailout{d: d.WithHint("did you mean " + near + "?")})
	}
	p.fail(want)
	return nil
}

// createWords reads OR REPLACE, TEMPORARY, PRIVATE, LIVE and the like.
func (p *parser) createWords() created {
	var c created
	if p.accept("OR") {
		c.refresh = p.expectAny("REPLACE", "REFRESH") == "REFRESH"
		c.replace = !c.refresh
	}
	for {
		next := p.at(1).kind == word
		switch {
		case p.isWords("GLOBAL") && next:
			c.global = true
		case p.isAny("TEMPORARY", "TEMP") && next:
			c.temporary = true
		case p.isWords("PRIVATE") && next:
			c.private = true
		case p.isWords("EXTERNAL") && p.at(1).isWord("TABLE"):
			c.external = true
		case p.isAny("LIVE", "INCREMENTAL") && next:
			c.live = true
			c.streaming = c.streaming || p.tok().up == "INCREMENTAL"
		case p.isWords("STREAMING") && next:
			c.streaming = true
		default:
			return c
		}
		p.i++
	}
}

// ifNotExists reads IF NOT EXISTS.
func (p *parser) ifNotExists() bool { return p.accept("IF", "NOT", "EXISTS") }

// define reads the name of what is made and remembers it for Broken.
func (p *parser) define() ast.Name {
	n := p.name()
	p.defines = &n
	return n
}

// createView reads the rest of CREATE VIEW.
func (p *parser) createView(start int, c created) ast.Statement {
	p.i++
	v := &ast.CreateView{Replace: c.replace, Refresh: c.refresh, Temporary: c.temporary, Global: c.global, Private: c.private}
	switch {
	case c.live && c.streaming:
		v.Legacy = ast.StreamingLiveView
	case c.live:
		v.Legacy = ast.LiveView
	}
	v.IfNotExists = p.ifNotExists()
	v.Name = p.define()
	if p.isOp("(") {
		p.viewColumns(v)
	}
	if v.Temporary && !c.live && len(v.Name.Parts) > 1 && !p.isWords("USING") {
		p.report(v.Name.Span, "INVALID_TEMP_OBJ_QUALIFIER", "The name of a temporary view has one part, but this is "+v.Name.String()+".")
	}
	if v.Temporary && p.accept("USING") {
		n := p.name()
		v.Using = &n
		if p.accept("OPTIONS") {
			v.Options = p.properties()
		}
		v.Pos = p.pos(start)
		return v
	}
	p.viewClauses(v)
	p.expect("AS")
	v.Query = p.queryExpr()
	v.Pos = p.pos(start)
	return v
}

// viewColumns reads the column list of a view: names with comments, types for
// USING, expectations.
func (p *parser) viewColumns(v *ast.CreateView) {
	parenList(p, func() bool {
		if p.isWords("CONSTRAINT") && !p.at(1).isWord("COMMENT") && p.at(1).kind != op {
			v.Constraints = append(v.Constraints, p.constraint())
			return true
		}
		start := p.start()
		if n := p.at(1); n.kind == op && !n.isOp(":") || n.isWord("COMMENT") {
			c := ast.ColumnDef{Name: p.declared(), Untyped: true}
			if p.accept("COMMENT") {
				c.Comment = p.stringLit().Value
			}
			c.Pos = p.pos(start)
			v.Columns = append(v.Columns, c)
			return true
		}
		v.Columns = append(v.Columns, p.columnDef(true))
		return true
	})
}

// viewClauses reads COMMENT, TBLPROPERTIES and WITH SCHEMA.
func (p *parser) viewClauses(v *ast.CreateView) {
	for {
		start := p.start()
		switch {
		case p.accept("COMMENT"):
			p.stringClause(&v.Comment, "COMMENT", start)
		case p.accept("TBLPROPERTIES"):
			p.propertiesClause(&v.Properties, "TBLPROPERTIES", start)
		case p.accept("WITH", "SCHEMA"):
			if p.accept("TYPE") {
				p.expect("EVOLUTION")
				v.Schema = "TYPE EVOLUTION"
				break
			}
			v.Schema = p.expectAny("BINDING", "COMPENSATION", "EVOLUTION")
		case p.accept("DEFAULT", "COLLATION"):
			p.name()
		case p.accept("PARTITIONED", "ON"):
			p.identList()
		default:
			return
		}
	}
}

// duplicate fails if a clause comes twice.
func (p *parser) duplicate(seen bool, what string, start int) {
	if seen {
		p.failCode(p.since(start), "DUPLICATE_CLAUSES", "Found duplicate clauses: "+what+". Please, remove one of them.")
	}
}

// stringClause reads the string of a clause that may come once.
func (p *parser) stringClause(into **ast.StringLit, what string, start int) {
	p.duplicate(*into != nil, what, start)
	*into = p.stringLit()
}

// propertiesClause reads the properties of a clause that may come once.
func (p *parser) propertiesClause(into *[]ast.Property, what string, start int) {
	p.duplicate(*into != nil, what, start)
	*into = p.properties()
}

// createTable reads CREATE TABLE and REPLACE TABLE of the shell.
func (p *parser) createTable(start int, c created) ast.Statement {
	if c.replaceOnly {
		p.i++
	}
	p.expect("TABLE")
	s := &ast.CreateTable{Replace: c.replace, ReplaceOnly: c.replaceOnly, External: c.external, Temporary: c.temporary}
	s.IfNotExists = p.ifNotExists()
	s.Name = p.define()
	if p.accept("LIKE") {
		n := p.name()
		s.Like = &n
	}
	p.tableSpec(&s.TableSpec)
	if !p.ended() {
		p.accept("AS")
		if s.Like != nil {
			p.fail("")
		}
		s.Query = p.queryExpr()
		p.ctasColumns(s)
	}
	s.Pos = p.pos(start)
	return s
}

// ctasColumns refuses typed columns together with a query.
func (p *parser) ctasColumns(s *ast.CreateTable) {
	if len(s.Columns) > 0 {
		p.failCode(s.Columns[0].Span, "_LEGACY_ERROR_TEMP_0062", "Schema may not be specified in a Create Table As Select (CTAS) statement.")
	}
}

// tableSpec reads columns and clauses of a table.
//
//tidy:allow-long one case per clause
func (p *parser) tableSpec(s *ast.TableSpec) {
	if p.isOp("(") && !p.isQuery(p.i) {
		p.tableColumns(s)
	}
	for {
		start := p.start()
		switch {
		case p.accept("USING"):
			p.duplicate(s.Using != nil, "USING", start)
			n := p.name()
			s.Using = &n
		case p.accept("PARTITIONED", "BY"):
			p.duplicate(s.Partitioned != nil, "PARTITIONED BY", start)
			s.Partitioned = parenList(p, p.partitionField)
		case p.accept("CLUSTER", "BY"):
			p.duplicate(s.ClusterBy != nil || s.ClusterAuto, "CLUSTER BY", start)
			switch {
			case p.accept("AUTO"):
				s.ClusterAuto = true
			case p.isWords("NONE"):
				p.i++
			default:
				s.ClusterBy = parenList(p, p.name)
			}
		case p.accept("COMMENT"):
			p.stringClause(&s.Comment, "COMMENT", start)
		case p.accept("TBLPROPERTIES"):
			p.propertiesClause(&s.Properties, "TBLPROPERTIES", start)
		case p.accept("OPTIONS"):
			p.propertiesClause(&s.Options, "OPTIONS", start)
		case p.accept("LOCATION"):
			p.stringClause(&s.Location, "LOCATION", start)
		default:
			if !p.otherClause(s) {
				return
			}
		}
	}
}

// otherClauses are clauses that have no meaning here, by their first words.
var otherClauses = []string{"ROW FORMAT", "ROW FILTER", "STORED AS", "STORED BY", "CLUSTERED BY", "SKEWED BY", "SCHEDULE",
	"TRIGGER ON", "DEFAULT COLLATION", "WITH ROW FILTER", "REFRESH POLICY", "POLICY", "TAGS", "WITH BUCKETS"}

// otherClause takes a clause that has no meaning here as text.
func (p *parser) otherClause(s *ast.TableSpec) bool {
	start := p.start()
	for _, w := range otherClauses {
		words := strings.Fields(w)
		if !p.isWords(words...) {
			continue
		}
		p.i += len(words)
		for !p.ended() && !p.specWord() {
			if m := p.tok().match; p.isOp("(") && m > 0 {
				p.i = m
			}
			p.i++
		}
		pos := p.pos(start)
		s.Other = append(s.Other, ast.Clause{Pos: pos, Kind: w, Text: p.src[pos.Span.Start:pos.Span.End]})
		return true
	}
	return false
}

// specWord reports whether another clause of a table or its query starts.
func (p *parser) specWord() bool {
	switch {
	case p.isWords("AS"):
		return p.at(1).isWord("SELECT") || p.at(1).isWord("WITH") || p.at(1).isWord("FROM") || p.at(1).isWord("VALUES") ||
			p.at(1).isWord("TABLE") || p.at(1).isOp("(")
	case p.isWords("FLOW"):
		return true
	}
	return p.isAny("USING", "PARTITIONED", "COMMENT", "TBLPROPERTIES", "OPTIONS", "LOCATION", "SELECT")
}

// partitionField reads a name, a transform such as year(x), or a typed column
// of the older form.
func (p *parser) partitionField() ast.Expr {
	x := p.postfix()
	if !p.isOp(",") && !p.isOp(")") {
		p.failCode(p.since(x.Range().Start), "_LEGACY_ERROR_TEMP_0061", "PARTITIONED BY with typed columns is not supported; list the columns in the schema.")
	}
	return x
}

// tableColumns reads the column list with its constraints.
func (p *parser) tableColumns(s *ast.TableSpec) {
	p.expectOp("(")
	for {
		if p.constraintAhead() {
			s.Constraints = append(s.Constraints, p.constraint())
		} else {
			s.Columns = append(s.Columns, p.columnDef(true))
		}
		// Constraints may follow a column without a comma.
		if p.isWords("CONSTRAINT") {
			continue
		}
		if !p.acceptOp(",") {
			break
		}
		if p.isOp(")") && len(s.Constraints) > 0 {
			break
		}
	}
	p.expectOp(")")
}

// constraintAhead reports whether a table constraint starts here.
func (p *parser) constraintAhead() bool {
	switch {
	case p.isWords("CONSTRAINT"):
		n := p.at(2)
		return n.isWord("EXPECT") || n.isWord("CHECK") || n.isWord("PRIMARY") || n.isWord("UNIQUE") || n.isWord("FOREIGN")
	case p.isWords("PRIMARY", "KEY"), p.isWords("FOREIGN", "KEY"):
		return true
	}
	return p.isAny("CHECK", "UNIQUE") && p.at(1).isOp("(")
}

// constraint reads [CONSTRAINT name] EXPECT|CHECK|PRIMARY KEY|UNIQUE|FOREIGN KEY ...
func (p *parser) constraint() ast.Constraint {
	start := p.start()
	c := ast.Constraint{}
	if p.accept("CONSTRAINT") {
		id := p.ident()
		c.Name = &id
	}
	switch {
	case p.accept("EXPECT"):
		p.expectOp("(")
		c.Cond = p.expr()
		p.expectOp(")")
		c.Action = p.violation()
	case p.accept("CHECK"):
		c.Kind = ast.Check
		p.expectOp("(")
		c.Cond = p.expr()
		p.expectOp(")")
		p.constraintTraits()
	case p.accept("PRIMARY", "KEY"):
		c.Kind = ast.PrimaryKey
		c.Columns = p.identList()
		p.constraintTraits()
	case p.accept("UNIQUE"):
		c.Kind = ast.Unique
		c.Columns = p.identList()
		p.constraintTraits()
	case p.accept("FOREIGN", "KEY"):
		c.Kind = ast.ForeignKey
		c.Columns = p.identList()
		p.expect("REFERENCES")
		p.name()
		if p.isOp("(") {
			p.identList()
		}
		p.constraintTraits()
	default:
		p.fail("expected EXPECT, CHECK, PRIMARY KEY, UNIQUE or FOREIGN KEY")
	}
	c.Pos = p.pos(start)
	c.Text = p.src[c.Span.Start:c.Span.End]
	return c
}

// violation reads ON VIOLATION DROP ROW | FAIL UPDATE.
func (p *parser) violation() ast.ViolationAction {
	if !p.accept("ON", "VIOLATION") {
		return ast.Keep
	}
	if p.expectAny("DROP", "FAIL") == "DROP" {
		p.expect("ROW")
		return ast.DropRow
	}
	p.expect("UPDATE")
	return ast.FailUpdate
}

// constraintTraits skips NOT ENFORCED, RELY and the like.
func (p *parser) constraintTraits() {
	for {
		switch {
		case p.accept("NOT", "ENFORCED"), p.accept("ENFORCED"), p.accept("RELY"), p.accept("NORELY"), p.accept("DEFERRABLE"),
			p.accept("INITIALLY", "DEFERRED"), p.accept("MATCH", "FULL"), p.accept("ON", "UPDATE", "NO", "ACTION"), p.accept("ON", "DELETE", "NO", "ACTION"):
		default:
			return
		}
	}
}

// createSchema reads CREATE SCHEMA.
func (p *parser) createSchema(start int) ast.Statement {
	p.i++
	s := &ast.CreateSchema{IfNotExists: p.ifNotExists(), Name: p.name()}
	for {
		at := p.start()
		switch {
		case p.accept("COMMENT"):
			p.stringClause(&s.Comment, "COMMENT", at)
		case p.accept("LOCATION"):
			p.stringClause(&s.Location, "LOCATION", at)
		case p.accept("WITH", "DBPROPERTIES"), p.accept("WITH", "PROPERTIES"):
			p.propertiesClause(&s.Properties, "WITH PROPERTIES", at)
		default:
			s.Pos = p.pos(start)
			return s
		}
	}
}

// createFunction reads CREATE FUNCTION with an SQL body or a class.
func (p *parser) createFunction(start int, c created) ast.Statement {
	p.i++
	f := &ast.CreateFunction{Replace: c.replace, Temporary: c.temporary}
	f.IfNotExists = p.ifNotExists()
	f.Name = p.define()
	if p.accept("AS") && p.isString() {
		f.Class = p.stringLit().Value
		if p.accept("USING") {
			list(p, func() string { p.ident(); return p.stringLit().Value })
		}
		f.Pos = p.pos(start)
		return f
	}
	p.expectOp("(")
	if !p.isOp(")") {
		f.Params = list(p, p.functionColumn)
	}
	p.expectOp(")")
	if p.accept("RETURNS") {
		p.returns(f)
	}
	p.functionTraits(f)
	p.expect("RETURN")
	if p.queryStart(p.i) || p.isOp("(") && p.isQuery(p.i) && p.queryAlone() {
		f.Query = p.queryExpr()
	} else {
		f.Body = p.expr()
	}
	f.Pos = p.pos(start)
	return f
}

// functionColumn reads a parameter or a result column of a function.
func (p *parser) functionColumn() ast.ColumnDef {
	c := p.columnDef(true)
	if p.isAny("UNIQUE", "CHECK", "PRIMARY", "REFERENCES", "CONSTRAINT") {
		p.failCode(c.Span, "INVALID_SQL_SYNTAX.CREATE_FUNC_WITH_COLUMN_CONSTRAINTS", "Invalid SQL syntax: CREATE FUNCTION with constraints on parameters is not allowed.")
	}
	return c
}

// queryAlone reports whether the parenthesis at the cursor ends the statement.
func (p *parser) queryAlone() bool {
	m := p.tok().match
	return m > 0 && m+1 >= p.end
}

// returns reads the type after RETURNS.
func (p *parser) returns(f *ast.CreateFunction) {
	if p.isWords("TABLE") {
		p.i++
		f.Table = true
		if p.acceptOp("(") {
			f.Columns = list(p, func() ast.ColumnDef {
				c := p.functionColumn()
				if c.Default != nil {
					p.failCode(c.Default.Range(), "PARSE_SYNTAX_ERROR", "Syntax error at or near 'DEFAULT': a result column has no default")
				}
				return c
			})
			p.expectOp(")")
		}
		return
	}
	ty := p.dataType()
	f.Returns = &ty
}

// functionTraits reads LANGUAGE SQL, DETERMINISTIC, COMMENT and the like.
func (p *parser) functionTraits(f *ast.CreateFunction) {
	for {
		switch {
		case p.accept("COMMENT"):
			f.Comment = p.stringLit()
		case p.isWords("LANGUAGE"):
			p.i++
			f.Traits = append(f.Traits, "LANGUAGE "+upper(p.ident().Name))
		case p.accept("SQL", "SECURITY"):
			f.Traits = append(f.Traits, "SQL SECURITY "+p.expectAny("DEFINER", "INVOKER"))
		case p.isWords("SPECIFIC"):
			p.i++
			f.Traits = append(f.Traits, "SPECIFIC "+p.name().String())
		default:
			if !p.trait(f, "NOT DETERMINISTIC", "DETERMINISTIC", "CONTAINS SQL", "READS SQL DATA", "RETURNS NULL ON NULL INPUT", "CALLED ON NULL INPUT") {
				return
			}
		}
	}
}

// trait takes one of the phrases.
func (p *parser) trait(f *ast.CreateFunction, phrases ...string) bool {
	for _, ph := range phrases {
		if p.accept(strings.Fields(ph)...) {
			f.Traits = append(f.Traits, ph)
			return true
		}
	}
	return false
}

// clauseError refuses a clause that a dataset cannot have.
func (p *parser) clauseError(r diag.Range, what string) {
	p.report(r, "_LEGACY_ERROR_TEMP_0035", "Operation not allowed: "+what+" for a dataset of a pipeline.")
}
