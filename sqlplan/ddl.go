package sqlplan

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// ParseSchema reads a column list in DDL ("id BIGINT, item STRUCT<sku: STRING>").
func ParseSchema(t *diag.Text) (schema.Schema, diag.List) {
	cols, list := parse.Columns(t)
	var out schema.Schema
	for _, c := range cols {
		typ, more := bind.TypeOf(t, c.Type)
		list = append(list, more...)
		out.Fields = append(out.Fields, schema.Field{Name: c.Name.Name, Type: typ, Nullable: !c.NotNull, Comment: c.Comment})
	}
	return out, list
}
