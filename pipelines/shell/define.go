package shell

import (
	"context"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/tables/schema"
)

func duplicate(s schema.Schema) string {
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if seen[strings.ToLower(f.Name)] {
			return strings.ToLower(f.Name)
		}
		seen[strings.ToLower(f.Name)] = true
	}
	return ""
}

// createTable makes a session table.
func (r *run) createTable(ctx context.Context) *Failure {
	st := r.st
	full, f := r.newName(ctx)
	if f != nil {
		return f
	}
	key := lower(full...)
	if r.stored[key] != nil && !st.IfNotExists {
		return r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", alreadyThere, quoted(full))
	}
	if r.stored[key] != nil {
		return nil
	}
	if r.tables[key] != nil && !st.Replace {
		if st.IfNotExists {
			return nil
		}
		return r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", alreadyThere, quoted(full))
	}
	if r.tables[key] == nil && r.exists(st.Name, r.text.Span(st.NameAt)) {
		return r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", "%s belongs to the project: a pipeline's table is never written from here", quoted(full))
	}
	m := &memoryTable{name: full, comment: st.Comment, format: st.Format, properties: st.Properties}
	switch {
	case pathOf(st.Options) != "":
		if f := r.external(m); f != nil {
			return f
		}
	case st.Like != nil:
		s, f := r.schemaOf(st.Like)
		if f != nil {
			return f
		}
		m.schema = s
	case st.Query != nil:
		plan, f := r.compile(st.Query)
		if f != nil {
			return f
		}
		m.Columns(plan.Schema)
		if f := r.execute(ctx, plan, m); f != nil {
			return f
		}
		m.schema = plan.Declared
		if st.Columns != nil || len(st.ColumnNames) > 0 {
			return r.refuse("FEATURE_NOT_AVAILABLE", "CREATE TABLE with columns and AS SELECT: leave the columns out")
		}
	case st.Columns != nil:
		m.schema = *st.Columns
	}
	if d := duplicate(m.schema); d != "" {
		return r.refuse("COLUMN_ALREADY_EXISTS", "The column `%s` already exists. Choose another name or rename the existing column.", d)
	}
	if f := r.partition(m); f != nil {
		return f
	}
	for _, field := range m.schema.Fields {
		if e := st.Defaults[field.Name]; e != nil {
			if f := r.checkDefault(ctx, field, e); f != nil {
				return f
			}
			if m.defaults == nil {
				m.defaults = map[string]columnDefault{}
			}
			m.defaults[lower(field.Name)] = columnDefault{value: e, text: r.text}
		}
	}
	r.tables[key] = m
	return nil
}

func pathOf(options map[string]string) string {
	for k, v := range options {
		if strings.EqualFold(k, "path") {
			return v
		}
	}
	return ""
}

// external makes a table over files that are there: it is read, never written.
func (r *run) external(m *memoryTable) *Failure {
	st := r.st
	if st.Query != nil {
		return r.refuse("FEATURE_NOT_AVAILABLE", "a session table lies in memory: leave LOCATION and the option path out of CREATE TABLE … AS SELECT")
	}
	if m.format == "" {
		m.format = "parquet"
	}
	ans, err := r.o.Reader.File(m.format, st.Options, st.Columns)
	if err != nil {
		return r.refusedFile(err)
	}
	if ans.Relation == nil {
		return r.refuse("FEATURE_NOT_AVAILABLE", "a table over %s is not available", m.format)
	}
	m.files, m.schema, m.location = &ans, ans.Relation.Schema, pathOf(st.Options)
	return nil
}

// partition puts the columns that a table is partitioned by behind the others,
// as Spark does for all formats but those that keep their own order.
func (r *run) partition(m *memoryTable) *Failure {
	by := r.st.Partitioned
	if len(by) == 0 {
		return nil
	}
	var last []schema.Field
	taken := map[int]bool{}
	for _, name := range by {
		i := m.schema.Index(name)
		if i < 0 {
			return r.refuse("COLUMN_NOT_DEFINED_IN_TABLE", "partition column %s is not defined in table %s, defined table columns are: %s.", quoted([]string{name}), quoted(m.name), strings.Join(m.schema.Names(), ", "))
		}
		if taken[i] {
			return r.refuse("COLUMN_ALREADY_EXISTS", "The column `%s` already exists. Choose another name or rename the existing column.", strings.ToLower(name))
		}
		taken[i] = true
		last = append(last, m.schema.Fields[i])
	}
	if len(last) == len(m.schema.Fields) {
		return r.refuse("ALL_PARTITION_COLUMNS_NOT_ALLOWED", "Cannot use all columns for partition columns.")
	}
	m.partitioned = schema.Schema{Fields: last}.Names()
	if strings.EqualFold(m.format, "delta") || m.files != nil {
		return nil
	}
	var order []int
	for i := range m.schema.Fields {
		if !taken[i] {
			order = append(order, i)
		}
	}
	for _, name := range m.partitioned {
		order = append(order, m.schema.Index(name))
	}
	m.reorder(order)
	return nil
}

// schemaOf finds the columns of a table, view, source or path.
func (r *run) schemaOf(parts []string) (schema.Schema, *Failure) {
	if v := r.names().view(parts); v != nil {
		return r.schemaOfView(v), nil
	}
	if m := r.findTable(parts); m != nil {
		return m.schema, nil
	}
	ans, err := r.names().Resolve(sqlplan.Request{Parts: parts})
	if nf, ok := err.(*sqlplan.NotFound); ok { //nolint:errorlint // the contract gives it as it is
		return schema.Schema{}, r.notFound(parts, nf)
	}
	if err != nil {
		return schema.Schema{}, r.refused(err)
	}
	if ans.Relation != nil {
		return ans.Relation.Schema, nil
	}
	if ans.View == nil || ans.View.Query == nil {
		return schema.Schema{}, failf("VIEW_NOT_VALID", "%s has errors: use `pipelines validate`", quoted(parts))
	}
	if ans.View.Declared != nil {
		return *ans.View.Declared, nil
	}
	o := r.options()
	o.Wanted = sqlplan.Either
	plan, list := sqlplan.CompileQuery(ans.View.Query, ans.View.Text, r.names(), o)
	if list.HasErrors() {
		return schema.Schema{}, findings(list)
	}
	return plan.Schema, nil
}

// checkDefault refuses a DEFAULT that is no constant of the column's type.
func (r *run) checkDefault(ctx context.Context, field schema.Field, e sqlplan.Expr) *Failure {
	bad := func(class, why string) *Failure {
		d := columnDefault{value: e, text: r.text}
		return findings(diag.List{diag.At(r.text, e.Range(), diag.Code("INVALID_DEFAULT_VALUE."+class),
			"Failed to execute CREATE TABLE command because the destination column or variable "+quoted([]string{field.Name})+" has a DEFAULT value "+d.sql()+", which "+why)})
	}
	q, err := sqlplan.DefaultQuery(e)
	if err != nil {
		if err.Class == "INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION" {
			return bad("SUBQUERY_EXPRESSION", "contains subquery expressions.")
		}
		return findings(diag.List{diag.At(r.text, e.Range(), diag.Code(err.Class), err.Message)})
	}
	plan, f := r.compile(q)
	switch {
	case f != nil && strings.HasPrefix(f.Class, "UNRESOLVED_COLUMN"):
		return bad("NOT_CONSTANT", "is not a constant expression whose equivalent value is known at query planning time.")
	case f != nil:
		return f
	}
	from := plan.Schema.Fields[0].Type
	mismatch := "requires " + field.Type.SQL() + " type, but the statement provided a value of incompatible " + from.SQL() + " type."
	if !sqlplan.StoreAssignable(from, field.Type) {
		return bad("DATA_TYPE", mismatch)
	}
	if from.IsNumeric() && field.Type.IsNumeric() {
		exact, f := r.row(ctx, sqlplan.ExactQuery(e, field.Type))
		if f != nil {
			return f
		}
		if v := exact[0].Value; v.IsNull(0) || !v.Bool[0] {
			return bad("DATA_TYPE", mismatch)
		}
	}
	if sqlplan.DefaultVolatile(plan) {
		return bad("NON_DETERMINISTIC", "is non-deterministic.")
	}
	return nil
}

func (r *run) notFound(parts []string, _ *sqlplan.NotFound) *Failure {
	return r.refuse("TABLE_OR_VIEW_NOT_FOUND", "The table or view %s cannot be found. Verify the spelling and correctness of the schema and catalog.", quoted(parts))
}
