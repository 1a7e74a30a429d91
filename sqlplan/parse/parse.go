package parse

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// Statements reads a whole script: statements separated by ";" (or by the cells
// of a notebook export). A statement with errors comes as ast.Broken. SET and
// RESET change the dialect of what follows them; reset is the one that RESET
// goes back to.
func (d Dialect) Statements(t *diag.Text, reset Dialect) ([]ast.Statement, diag.List) {
	p := newParser(t, d)
	var all []ast.Statement
	for {
		for p.ended() && p.tok().kind != eof {
			p.i++
		}
		if p.tok().kind == eof {
			break
		}
		st := p.script()
		if next := p.dialect.after(st, reset); next != p.dialect {
			p.speak(next)
		}
		all = append(all, st)
	}
	p.errs.Sort()
	return all, p.errs
}

// Statement reads a text that is one statement; one ";" at its end is fine.
func (d Dialect) Statement(t *diag.Text) (ast.Statement, diag.List) {
	return whole(d, t, true, func(p *parser) ast.Statement { return p.statement() })
}

// Query reads a text that is one query; one ";" at its end is fine.
func (d Dialect) Query(t *diag.Text) (*ast.Query, diag.List) {
	return whole(d, t, true, func(p *parser) *ast.Query { return p.queryExpr() })
}

// Expr reads a text that is one expression.
func (d Dialect) Expr(t *diag.Text) (ast.Expr, diag.List) {
	return whole(d, t, false, func(p *parser) ast.Expr { return p.expr() })
}

// Type reads a data type, such as "array<struct<a: int>>".
func (d Dialect) Type(t *diag.Text) (ast.TypeName, diag.List) {
	ty, errs := whole(d, t, false, func(p *parser) ast.TypeName { return p.dataType() })
	return ty, syntaxFirst(errs)
}

// Columns reads a schema, such as "a INT NOT NULL, b STRUCT<x: STRING> COMMENT 'c'".
func (d Dialect) Columns(t *diag.Text) ([]ast.ColumnDef, diag.List) {
	cs, errs := whole(d, t, false, func(p *parser) []ast.ColumnDef {
		return list(p, func() ast.ColumnDef { return p.columnDef(false) })
	})
	return cs, syntaxFirst(errs)
}

// syntaxFirst drops unknown types when the text has a syntax error, as Spark
// does: "a b" is no type, whatever "a" may be.
func syntaxFirst(errs diag.List) diag.List {
	var syntax diag.List
	for _, e := range errs {
		if e.Code == "PARSE_SYNTAX_ERROR" {
			syntax = append(syntax, e)
		}
	}
	if syntax != nil {
		return syntax
	}
	return errs
}

// whole reads a text with read and demands that nothing is left.
func whole[T any](d Dialect, t *diag.Text, semicolon bool, read func(*parser) T) (v T, errs diag.List) {
	p := newParser(t, d)
	if p.tok().kind == eof && len(p.errs) == 0 {
		return v, diag.List{diag.At(t, diag.Range{}, "PARSE_EMPTY_STATEMENT", "Syntax error, unexpected empty statement.")}
	}
	defer func() {
		p.catch(recover())
		errs = p.errs
		errs.Sort()
	}()
	v = read(p)
	if semicolon {
		for p.acceptOp(";") {
		}
	}
	if p.tok().kind != eof {
		if semicolon && p.i > 0 && p.toks[p.i-1].isOp(";") {
			p.fail("only one statement may stand here")
		}
		p.fail("")
	}
	return v, nil
}
