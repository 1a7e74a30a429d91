package sqlplan

import (
	"fmt"
	"slices"

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

// QueryOfTable makes the query SELECT * FROM the table or view of that name.
func QueryOfTable(parts []string) *Query {
	name := ast.Name{}
	for _, p := range parts {
		name.Parts = append(name.Parts, ast.Ident{Name: p, Quoted: true})
	}
	return &ast.Query{Body: &ast.Select{Items: []ast.Expr{&ast.Star{}}, From: &ast.Table{Name: name}}}
}

// QuoteText writes a text as a string literal.
func QuoteText(s string) string { return ast.Quote(s) }

func castTo(at ast.Pos, x Expr, t schema.Type) Expr {
	if t.Kind == schema.Void {
		return x
	}
	name, list := parse.Type(diag.NewText("type", t.SQL()))
	if list.HasErrors() {
		panic("bug: sqlplan: type " + t.SQL() + " does not parse")
	}
	return &ast.Cast{Pos: at, X: x, Type: zoned(name)}
}

// zoned names the timestamps of a type that was printed so that no setting
// changes their meaning.
func zoned(t ast.TypeName) ast.TypeName {
	if t.Name == "timestamp" {
		t.Name = "timestamp_ltz"
	}
	t.Elem, t.Fields = slices.Clone(t.Elem), slices.Clone(t.Fields)
	for i, e := range t.Elem {
		t.Elem[i] = zoned(e)
	}
	for i, f := range t.Fields {
		t.Fields[i].Type = zoned(f.Type)
	}
	return t
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
