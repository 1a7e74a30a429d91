package sqlplan

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// ParseSchema reads a column list in DDL ("id BIGINT, item STRUCT<sku: STRING>").
func ParseSchema(t *diag.Text) (schema.Schema, diag.List) {
	return parseSchemaIn(&Session{}, t)
}

// parseSchemaIn is ParseSchema under a session's settings.
func parseSchemaIn(s *Session, t *diag.Text) (schema.Schema, diag.List) {
	cols, list := parse.Columns(t)
	var out schema.Schema
	for _, c := range cols {
		typ, more := bind.TypeIn(s, t, c.Type)
		list = append(list, more...)
		out.Fields = append(out.Fields, schema.Field{Name: c.Name.Name, Type: typ, Nullable: !c.NotNull, Comment: c.Comment})
	}
	return out, list
}

// parseDDL reads a list of columns, or else a type, as functions such as
// from_json take it.
func parseDDL(s *Session, text string) (schema.Type, *funcs.Error) {
	t := diag.NewText("schema", text)
	columns, list := parseSchemaIn(s, t)
	if !list.HasErrors() {
		return columns.Type(), nil
	}
	for _, d := range list {
		if d.Severity == diag.Error && d.Code == "UNSUPPORTED_TIME_TYPE" {
			return schema.Type{}, funcs.NewError(string(d.Code), d.Message, nil)
		}
	}
	name, list := parse.Type(t)
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
