package sqlplan

import (
	"fmt"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// offsetZone is the name of a zone at a fixed offset, or "" out of range.
func offsetZone(micros int64) string {
	sec := micros / 1_000_000
	sign := "+"
	if sec < 0 {
		sign, sec = "-", -sec
	}
	if sec > 18*3600 || micros%1_000_000 != 0 {
		return ""
	}
	out := fmt.Sprintf("%s%02d:%02d", sign, sec/3600, sec/60%60)
	if sec%60 != 0 {
		out += fmt.Sprintf(":%02d", sec%60)
	}
	return out
}

// QueryOf makes the query SELECT value, with the value cast to t if t is set.
func QueryOf(value Expr, t *schema.Type) *Query {
	at := ast.Pos{Span: value.Range()}
	if t != nil {
		value = castTo(at, value, *t)
	}
	return &ast.Query{Pos: at, Body: &ast.Select{Pos: at, Items: []ast.Expr{value}}}
}

func castTo(at ast.Pos, x Expr, t schema.Type) Expr {
	if t.Kind == schema.Void {
		return x
	}
	name, list := parse.Type(diag.NewText("type", t.SQL()))
	if list.HasErrors() {
		panic("bug: sqlplan: type " + t.SQL() + " does not parse")
	}
	return &ast.Cast{Pos: at, X: x, Type: name}
}

// Fit says how the columns of a query go into the columns of a table.
type Fit struct {
	Target schema.Schema
	// Source are the query's columns, from a first compilation.
	Source schema.Schema
	// Columns names the target's columns in the query's order; nil: all.
	Columns []string
	// ByName takes the query's columns by their names.
	ByName bool
	// Table is the table's name, for messages.
	Table string
}

// FitQuery wraps a query so that it gives exactly the target's columns; what
// it does not name is NULL.
func FitQuery(q *Query, text *diag.Text, f Fit) (*Query, diag.List) {
	at := ast.Pos{Span: q.Range()}
	alias := &ast.TableAlias{Pos: at, Name: ast.Ident{Pos: at, Name: "__source"}}
	for i := range f.Source.Fields {
		alias.Columns = append(alias.Columns, ast.Ident{Pos: at, Name: fmt.Sprintf("__c%d", i)})
	}
	from, list := f.places(text, q.Range())
	if list.HasErrors() {
		return nil, list
	}
	sel := &ast.Select{Pos: at, From: &ast.SubqueryRel{Pos: at, Query: q, RelTail: ast.RelTail{Alias: alias}}}
	for i, field := range f.Target.Fields {
		var x Expr = &ast.NullLit{Pos: at}
		if from[i] >= 0 {
			x = &ast.Column{Pos: at, Name: ast.Name{Pos: at, Parts: []ast.Ident{alias.Columns[from[i]]}}}
		}
		x = castTo(at, x, field.Type)
		sel.Items = append(sel.Items, &ast.Alias{Pos: at, X: x, Names: []ast.Ident{{Pos: at, Name: field.Name, Quoted: true}}})
	}
	return &ast.Query{Pos: at, Body: sel}, nil
}

// places finds for each target column the place in the source, -1 for none.
func (f Fit) places(text *diag.Text, at diag.Range) ([]int, diag.List) {
	fail := func(code diag.Code, msg string) diag.List { return diag.List{diag.At(text, at, code, msg)} }
	out := make([]int, len(f.Target.Fields))
	for i := range out {
		out[i] = -1
	}
	names := f.Columns
	switch {
	case f.ByName:
		names = f.Source.Names()
	case names == nil:
		names = f.Target.Names()
	}
	if len(names) != len(f.Source.Fields) {
		class := diag.Code("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS")
		if len(f.Source.Fields) > len(names) {
			class = "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
		}
		return nil, fail(class, fmt.Sprintf("Cannot write to `%s`: the table takes %d columns (%s), the query gives %d (%s).",
			f.Table, len(names), strings.Join(names, ", "), len(f.Source.Fields), strings.Join(f.Source.Names(), ", ")))
	}
	for i, n := range names {
		k := f.Target.Index(n)
		if k < 0 {
			code := diag.Code("UNRESOLVED_COLUMN.WITH_SUGGESTION")
			if f.ByName {
				code = "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS"
			}
			return nil, fail(code, fmt.Sprintf("The table `%s` has no column `%s`.", f.Table, n))
		}
		if out[k] >= 0 {
			return nil, fail("COLUMN_ALREADY_EXISTS", fmt.Sprintf("The column `%s` is named twice.", n))
		}
		out[k] = i
	}
	return out, nil
}

// FunctionNames lists the functions, sorted.
func FunctionNames() []string { return funcs.Names() }

// DescribeFunction returns the signature and the description of a function; ok
// is false when there is none.
func DescribeFunction(name string) (usage, doc string, ok bool) {
	if f := funcs.Lookup(name); f != nil {
		return f.Usage, f.Doc, true
	}
	if f := funcs.LookupAggregate(name); f != nil {
		return f.Usage, f.Doc, true
	}
	if f := funcs.LookupGenerator(name); f != nil {
		return f.Usage, f.Doc, true
	}
	if f := funcs.LookupWindow(name); f != nil {
		return f.Usage, f.Doc, true
	}
	return "", "", false
}
