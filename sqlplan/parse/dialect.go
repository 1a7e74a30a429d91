package parse

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// Dialect is what settings change in the grammar. Its methods read a text; the
// functions of the package read the dialect that is without settings.
type Dialect struct {
	// ANSI and DoubleQuoted are spark.sql.ansi.enabled and
	// spark.sql.ansi.doubleQuotedIdentifiers: with both on, "x" is a name and
	// no string.
	ANSI, DoubleQuoted bool
}

// The settings that a dialect is made of.
const (
	ansiKey         = "spark.sql.ansi.enabled"
	doubleQuotedKey = "spark.sql.ansi.doubleQuotedIdentifiers"
)

// DialectOf makes the dialect of a session's settings.
func DialectOf(conf map[string]string) Dialect {
	return Dialect{ANSI: !strings.EqualFold(conf[ansiKey], "false"), DoubleQuoted: strings.EqualFold(conf[doubleQuotedKey], "true")}
}

// Statements is Dialect.Statements without settings.
func Statements(t *diag.Text) ([]ast.Statement, diag.List) {
	d := DialectOf(nil)
	return d.Statements(t, d)
}

// Statement is Dialect.Statement without settings.
func Statement(t *diag.Text) (ast.Statement, diag.List) { return Dialect{}.Statement(t) }

// Query is Dialect.Query without settings.
func Query(t *diag.Text) (*ast.Query, diag.List) { return Dialect{}.Query(t) }

// Expr is Dialect.Expr without settings.
func Expr(t *diag.Text) (ast.Expr, diag.List) { return Dialect{}.Expr(t) }

// Type is Dialect.Type without settings.
func Type(t *diag.Text) (ast.TypeName, diag.List) { return Dialect{}.Type(t) }

// Columns is Dialect.Columns without settings.
func Columns(t *diag.Text) ([]ast.ColumnDef, diag.List) { return Dialect{}.Columns(t) }

// SplitName is Dialect.SplitName without settings.
func SplitName(text string) ([]string, bool) { return Dialect{}.SplitName(text) }

// after is the dialect behind a statement.
func (d Dialect) after(st ast.Statement, reset Dialect) Dialect {
	switch st := st.(type) {
	case *ast.Set:
		value := strings.Trim(st.Value, `'"`)
		on := strings.EqualFold(value, "true")
		switch {
		case !on && !strings.EqualFold(value, "false"): // refused when it runs
		case st.Key == ansiKey:
			d.ANSI = on
		case st.Key == doubleQuotedKey:
			d.DoubleQuoted = on
		}
	case *ast.Reset:
		if st.Key == "" || st.Key == ansiKey {
			d.ANSI = reset.ANSI
		}
		if st.Key == "" || st.Key == doubleQuotedKey {
			d.DoubleQuoted = reset.DoubleQuoted
		}
	}
	return d
}

// speak reads what is left in the dialect d.
func (p *parser) speak(d Dialect) {
	p.dialect = d
	p.retag(p.i, d)
}

// retag makes names or strings of the tokens in double quotes from token i on.
func (l *lexed) retag(i int, d Dialect) {
	kind := str
	if d.ANSI && d.DoubleQuoted {
		kind = quoted
	}
	for ; i < len(l.toks); i++ {
		if t := &l.toks[i]; (t.kind == str || t.kind == quoted) && l.src[t.start] == '"' {
			t.kind = kind
		}
	}
}

// unquoted is the name that a token in quotes stands for: only a doubled quote
// means something else than itself.
func (l *lexed) unquoted(t token) string {
	q, s := l.src[t.start:t.start+1], l.src[t.start+1:t.end-1]
	if !strings.Contains(s, q) {
		return s
	}
	return strings.ReplaceAll(s, q+q, q)
}
