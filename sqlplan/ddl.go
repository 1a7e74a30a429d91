package sqlplan

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// ParseSchema reads a column list in DDL ("id BIGINT, item STRUCT<sku: STRING>").
// The settings of s say what TIMESTAMP means; without s, as in texts that we
// have written ourselves, it is the one with a zone.
func ParseSchema(s *Session, t *diag.Text) (schema.Schema, diag.List) {
	out, _, list := parseColumns(s, t)
	return out, list
}

// ParseColumns reads the columns of a table or of files as ParseSchema does; a
// name may stand once among them, and once in each struct.
func ParseColumns(s *Session, t *diag.Text) (schema.Schema, diag.List) {
	out, cols, list := parseColumns(s, t)
	if list.HasErrors() {
		return out, list
	}
	u := uniqueNames{session: s, text: t}
	var fields []ast.StructField
	for _, c := range cols {
		fields = append(fields, ast.StructField{Name: c.Name, Type: c.Type})
	}
	u.check(fields)
	return out, append(list, u.list...)
}

// uniqueNames reports names that stand twice.
type uniqueNames struct {
	session *Session
	text    *diag.Text
	list    diag.List
}

func (u *uniqueNames) check(fields []ast.StructField) {
	seen := map[string]bool{}
	for _, f := range fields {
		name := f.Name.Name
		if u.session == nil || !u.session.CaseSensitive {
			name = strings.ToLower(name)
		}
		if seen[name] {
			u.list = append(u.list, diag.At(u.text, f.Name.Span, "COLUMN_ALREADY_EXISTS",
				"The column `"+name+"` already exists. Choose another name or rename the existing column."))
		}
		seen[name] = true
		u.checkType(f.Type)
	}
}

func (u *uniqueNames) checkType(t ast.TypeName) {
	u.check(t.Fields)
	for _, e := range t.Elem {
		u.checkType(e)
	}
}

func parseColumns(s *Session, t *diag.Text) (schema.Schema, []ast.ColumnDef, diag.List) {
	if s == nil {
		s = &Session{}
	}
	cols, list := dialect(s).Columns(t)
	var out schema.Schema
	for _, c := range cols {
		typ, more := bind.TypeIn(s, t, c.Type)
		list = append(list, more...)
		out.Fields = append(out.Fields, schema.Field{Name: c.Name.Name, Type: typ, Nullable: !c.NotNull, Comment: c.Comment})
	}
	return out, cols, list
}

// dialect is the grammar under a session's settings.
func dialect(s *Session) parse.Dialect { return parse.DialectOf(s.Conf) }

// parseDDL reads a list of columns, or else a type, as functions such as
// from_json take it.
func parseDDL(s *Session, text string) (schema.Type, *funcs.Error) {
	t := diag.NewText("schema", text)
	columns, list := ParseSchema(s, t)
	if !list.HasErrors() {
		return columns.Type(), nil
	}
	for _, d := range list {
		if d.Severity == diag.Error && d.Code == "UNSUPPORTED_TIME_TYPE" {
			return schema.Type{}, funcs.NewError(string(d.Code), d.Message, nil)
		}
	}
	name, list := dialect(s).Type(t)
	var typ schema.Type
	if !list.HasErrors() {
		typ, list = bind.TypeIn(s, t, name)
	}
	for _, d := range list {
		if d.Severity == diag.Error {
			return schema.Type{}, funcs.NewError(string(d.Code), d.Message, nil)
		}
	}
	return typ, nil
}
