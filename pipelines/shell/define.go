package shell

import (
	"context"
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// createView makes a temporary view. Its query is checked now and runs when
// the view is read.
func (r *run) createView(_ context.Context) *Failure {
	st := r.st
	name := st.Name[len(st.Name)-1]
	key := strings.ToLower(name)
	if !st.Temporary {
		return r.refuse("FEATURE_NOT_AVAILABLE", "CREATE VIEW would store the view: use CREATE TEMPORARY VIEW here, or a SQL file of the project")
	}
	if r.views[key] != nil && !st.Replace {
		if st.IfNotExists {
			return nil
		}
		return r.refuse("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "Cannot create the temporary view `%s` because it already exists. Choose a different name, drop or replace the existing view, or add the IF NOT EXISTS clause.", name)
	}
	v := &view{name: name}
	if st.Format != "" {
		ans, err := r.o.Reader.File(st.Format, st.Options, st.Columns)
		if err != nil {
			return r.refused(err)
		}
		v.answer = ans
		if ans.Relation != nil {
			v.schema = ans.Relation.Schema
		}
		r.views[key] = v
		return nil
	}
	plan, f := r.compile(st.Query)
	if f != nil {
		return f
	}
	if r.touched[key] {
		return r.refuse("RECURSIVE_VIEW", "Recursive view `%s` detected (cycle: `%s` -> `%s`).", name, name, name)
	}
	v.schema, v.reads = plan.Schema, r.touched
	if len(st.ColumnNames) > 0 {
		if n := len(v.schema.Fields); n != len(st.ColumnNames) {
			class := "CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
			if n > len(st.ColumnNames) {
				class = "CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
			}
			return r.refuse(diag.Code(class), "Cannot create view `%s`: it names %d columns and its query gives %d.", name, len(st.ColumnNames), n)
		}
		v.schema.Fields = slices.Clone(v.schema.Fields)
		for i := range v.schema.Fields {
			v.schema.Fields[i].Name = st.ColumnNames[i]
		}
	}
	if d := duplicate(v.schema); d != "" {
		return r.refuse("COLUMN_ALREADY_EXISTS", "The column `%s` already exists. Choose another name or rename the existing column.", d)
	}
	v.answer.View = &sqlplan.View{Name: []string{name}, Text: r.text, Query: st.Query, Columns: st.ColumnNames, Session: r.settings}
	r.views[key] = v
	return nil
}

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
	if len(st.Name) > 3 {
		return r.refuse("IDENTIFIER_TOO_MANY_NAME_PARTS", "a name has at most three parts: catalog, database, name")
	}
	full := r.fullName(st.Name)
	key := lower(full...)
	if r.tables[key] != nil && !st.Replace {
		if st.IfNotExists {
			return nil
		}
		return r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", "Cannot create table or view %s because it already exists. Choose a different name, drop or replace the existing object, or add the IF NOT EXISTS clause.", quoted(full))
	}
	if r.tables[key] == nil && r.exists(st.Name, r.text.Span(st.NameAt)) {
		return r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", "%s belongs to the project: a pipeline's table is never written from here", quoted(full))
	}
	m := &memoryTable{name: full}
	switch {
	case st.Like != nil:
		s, f := r.schemaOf(st.Like)
		if f != nil {
			return f
		}
		m.schema = s
	case st.Query != nil:
		got, f := r.collect(ctx, st.Query)
		if f != nil {
			return f
		}
		m.schema, m.batches, m.rows = got.schema, got.batches, got.rows
		if st.Columns != nil || len(st.ColumnNames) > 0 {
			return r.refuse("FEATURE_NOT_AVAILABLE", "CREATE TABLE with columns and AS SELECT: leave the columns out")
		}
	case st.Columns != nil:
		m.schema = *st.Columns
	}
	if d := duplicate(m.schema); d != "" {
		return r.refuse("COLUMN_ALREADY_EXISTS", "The column `%s` already exists. Choose another name or rename the existing column.", d)
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

// schemaOf finds the columns of a table, view, source or path.
func (r *run) schemaOf(parts []string) (schema.Schema, *Failure) {
	if v := r.findView(parts); v != nil {
		return v.schema, nil
	}
	ans, err := names{r.Session}.Resolve(sqlplan.Request{Parts: parts})
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
	o := r.options()
	o.Wanted = sqlplan.Either
	plan, list := sqlplan.CompileQuery(ans.View.Query, ans.View.Text, names{r.Session}, o)
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

func (r *run) createFunction() *Failure {
	st := r.st
	name := strings.ToLower(st.Name[len(st.Name)-1])
	if r.functions[name] != nil && !st.Replace {
		if st.IfNotExists {
			return nil
		}
		return r.refuse("ROUTINE_ALREADY_EXISTS", "Cannot create the function `%s` because a function of that name already exists.", name)
	}
	r.functions[name] = st.Function
	return nil
}

// declare makes session variables.
func (r *run) declare(ctx context.Context) *Failure {
	for _, v := range r.st.Sets {
		name := v.Name[len(v.Name)-1]
		if r.variables[strings.ToLower(name)] != nil && !r.st.Replace {
			return r.refuse("VARIABLE_ALREADY_EXISTS", "Cannot create the variable %s because it already exists. Choose a different name, or drop or replace the existing variable.", quoted([]string{"system", "session", name}))
		}
		x := &variable{name: name, typ: schema.Of(schema.Void)}
		if r.st.Type != nil {
			x.typ = *r.st.Type
		}
		if v.Value != nil {
			lit, f := r.value(ctx, v.Value, r.st.Type)
			if f != nil {
				return f
			}
			x.def, x.typ = lit, lit.Value.Type
		} else {
			x.def = null(x.typ)
		}
		x.value = x.def
		r.variables[strings.ToLower(name)] = x
	}
	return nil
}

func null(t schema.Type) *logical.Literal { return &logical.Literal{Value: column.FromValues(t, nil)} }

// value computes an expression, cast to t if that is set.
func (r *run) value(ctx context.Context, e sqlplan.Expr, t *schema.Type) (*logical.Literal, *Failure) {
	row, f := r.row(ctx, sqlplan.QueryOf(e, t))
	if f != nil {
		return nil, f
	}
	return row[0], nil
}

// row computes the one row of a query; no row is all nulls.
func (r *run) row(ctx context.Context, q *sqlplan.Query) ([]*logical.Literal, *Failure) {
	m, f := r.collect(ctx, q)
	if f != nil {
		return nil, f
	}
	if m.rows > 1 {
		return nil, &Failure{Class: "ROW_SUBQUERY_TOO_MANY_ROWS", SQLState: "21000", Message: "More than one row returned by a subquery used as a row."}
	}
	out := make([]*logical.Literal, len(m.schema.Fields))
	for i, field := range m.schema.Fields {
		if m.rows == 0 {
			out[i] = null(field.Type)
			continue
		}
		v := column.New(field.Type)
		column.AppendRow(v, m.batches[0].Cols[i], 0)
		out[i] = &logical.Literal{Value: v}
	}
	return out, nil
}

// setVariables is SET VAR.
func (r *run) setVariables(ctx context.Context) *Failure {
	var targets []*variable
	for _, v := range r.st.Sets {
		x := r.variables[strings.ToLower(v.Name[len(v.Name)-1])]
		if x == nil {
			return r.refuse("UNRESOLVED_VARIABLE", "Cannot resolve variable %s on search path `SYSTEM`.`SESSION`.", quoted(v.Name))
		}
		if slices.Contains(targets, x) {
			return r.refuse("DUPLICATE_ASSIGNMENTS", "The variable `%s` is assigned twice.", x.name)
		}
		targets = append(targets, x)
	}
	values := make([]*logical.Literal, len(targets))
	if r.st.Query != nil {
		got, f := r.row(ctx, r.st.Query)
		if f != nil {
			return f
		}
		if len(got) != len(targets) {
			return r.refuse("ASSIGNMENT_ARITY_MISMATCH", "The number of columns or variables assigned or aliased: %d does not match the number of source expressions: %d.", len(targets), len(got))
		}
		copy(values, got)
	}
	for i, v := range r.st.Sets {
		switch {
		case v.Value != nil:
			lit, f := r.value(ctx, v.Value, &targets[i].typ)
			if f != nil {
				return f
			}
			values[i] = lit
		case values[i] == nil:
			values[i] = targets[i].def
		}
	}
	for i, x := range targets {
		x.value = values[i]
	}
	return nil
}
