package shell

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/tables/schema"
)

const alreadyThere = "Cannot create table or view %s because it already exists. Choose a different name, drop or replace the existing object, or add the IF NOT EXISTS clause."

// createView makes a view. Its query is checked now and runs when the view is
// read. A view that is not temporary lies in a database of the session and
// lives as long.
func (r *run) createView(ctx context.Context) *Failure {
	st := r.st
	v := &view{name: st.Name[len(st.Name)-1]}
	if v.key = strings.ToLower(v.name); st.Global {
		v.key = lower(globalTemp, v.name)
	}
	v.comment, v.properties = st.Comment, st.Properties
	if !st.Temporary {
		full, f := r.newName(ctx)
		if f != nil {
			return f
		}
		v.full, v.key = full, lower(full...)
	}
	done, f := r.viewExists(v)
	if done || f != nil {
		return f
	}
	if st.Format != "" {
		ans, err := r.o.Reader.File(st.Format, st.Options, st.Columns)
		if err != nil {
			return r.refusedFile(err)
		}
		v.answer = ans
		if ans.Relation != nil {
			v.schema = ans.Relation.Schema
		}
		r.views[v.key] = v
		return nil
	}
	if f := r.viewQuery(v); f != nil {
		return f
	}
	if v.full != nil {
		r.stored[v.key] = v
	} else {
		r.views[v.key] = v
	}
	return nil
}

// viewExists looks for what stands in the way of a new view; done says that
// IF NOT EXISTS has nothing to do.
func (r *run) viewExists(v *view) (done bool, f *Failure) {
	st := r.st
	there := r.views[v.key]
	if v.full != nil {
		there = r.stored[v.key]
	}
	switch {
	case there != nil && st.Replace:
	case there != nil && st.IfNotExists:
		return true, nil
	case there != nil && v.full == nil:
		return false, r.refuse("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS", "Cannot create the temporary view `%s` because it already exists. Choose a different name, drop or replace the existing view, or add the IF NOT EXISTS clause.", v.name)
	case there != nil:
		return false, r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", alreadyThere, quoted(v.full))
	case v.full == nil:
	case r.tables[v.key] != nil && st.IfNotExists:
		return true, nil
	case r.tables[v.key] != nil && st.Replace:
		return false, r.refuse("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE", "The table %s does not support CREATE OR REPLACE VIEW.", quoted(v.full))
	case r.tables[v.key] != nil:
		return false, r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", alreadyThere, quoted(v.full))
	case r.exists(st.Name, r.text.Span(st.NameAt)):
		return false, r.refuse("TABLE_OR_VIEW_ALREADY_EXISTS", "%s belongs to the project: a pipeline's table is never written from here", quoted(v.full))
	}
	return false, nil
}

// viewQuery checks the query of a new view.
func (r *run) viewQuery(v *view) *Failure {
	st := r.st
	plan, f := r.compile(st.Query)
	if f != nil {
		return f
	}
	if r.touched[v.key] {
		shown := quoted([]string{v.name})
		return r.refuse("RECURSIVE_VIEW", "Recursive view %s detected (cycle: %s -> %s).", shown, shown, shown)
	}
	if v.full != nil {
		if f := r.lasts("VIEW", v.full); f != nil {
			return f
		}
	}
	v.schema, v.reads = plan.Declared, r.touched
	v.answer.View = &sqlplan.View{Name: []string{v.name}, Text: r.text, Query: st.Query, Columns: st.ColumnNames, Comments: st.Comments, Session: r.settings}
	if st.Global {
		v.answer.View.Name = []string{globalTemp, v.name}
	}
	if v.full != nil {
		v.answer.View.Name, v.answer.View.Catalog = v.full, r.lasting()
		v.answer.View.Binding = &sqlplan.ViewBinding{Mode: viewMode(st), Schema: plan.Schema}
	}
	if len(st.ColumnNames) > 0 {
		if n := len(v.schema.Fields); n != len(st.ColumnNames) {
			class := "CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
			if n > len(st.ColumnNames) {
				class = "CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
			}
			return r.refuse(diag.Code(class), "Cannot create view `%s`: it names %d columns and its query gives %d.", v.name, len(st.ColumnNames), n)
		}
		v.schema.Fields = slices.Clone(v.schema.Fields)
		for i := range v.schema.Fields {
			f := &v.schema.Fields[i]
			f.Name = st.ColumnNames[i]
			if i < len(st.Comments) && st.Comments[i] != "" {
				f.Comment, f.Type = st.Comments[i], f.Type.WithoutLength()
			}
		}
	}
	if d := duplicate(v.schema); d != "" {
		return r.refuse("COLUMN_ALREADY_EXISTS", "The column `%s` already exists. Choose another name or rename the existing column.", d)
	}
	return nil
}

// lasts refuses temporary objects in what is made in a database.
func (r *run) lasts(kind string, full []string) *Failure {
	if len(r.temporary) == 0 {
		return nil
	}
	t := r.temporary[0]
	return r.refuse("INVALID_TEMP_OBJ_REFERENCE", "Cannot create the persistent object %s of the type %s because it references to the temporary object %s of the type %s. Please make the temporary object %s persistent, or make the persistent object %s temporary.",
		quoted(full), kind, quoted([]string{t.name}), t.kind, quoted([]string{t.name}), quoted(full))
}

// viewMode is what WITH SCHEMA says. A view that names its columns keeps them.
func viewMode(st *sqlplan.Statement) sqlplan.ViewMode {
	switch st.Binding {
	case "BINDING":
		return sqlplan.ViewStrict
	case "TYPE EVOLUTION":
		return sqlplan.ViewTypeEvolution
	case "EVOLUTION":
		if len(st.ColumnNames) > 0 {
			return sqlplan.ViewTypeEvolution
		}
		return sqlplan.ViewEvolution
	}
	return sqlplan.ViewCompensation
}

// schemaOfView are a view's columns; those that may change are looked up anew.
func (r *run) schemaOfView(v *view) schema.Schema {
	q := v.answer.View
	if q == nil || q.Binding == nil || q.Binding.Mode != sqlplan.ViewEvolution && q.Binding.Mode != sqlplan.ViewTypeEvolution {
		return v.schema
	}
	o := r.options()
	o.Session = q.Session
	plan, list := sqlplan.CompileQuery(sqlplan.QueryOfTable(v.full), q.Text, r.lasting(), o)
	if list.HasErrors() || plan == nil {
		return v.schema
	}
	return plan.Declared
}

// create is the statement that SHOW CREATE TABLE prints.
func (v *view) create() string {
	var b strings.Builder
	b.WriteString("CREATE VIEW " + v.full[1] + "." + v.full[2] + " (\n  ")
	for i, f := range v.schema.Fields {
		if i > 0 {
			b.WriteString(",\n  ")
		}
		b.WriteString(schema.QuoteIfNeeded(f.Name))
	}
	b.WriteString(")\n")
	if v.comment != "" {
		b.WriteString("COMMENT " + sqlplan.QuoteText(v.comment) + "\n")
	}
	b.WriteString(propertyLines(v.properties))
	q := v.answer.View
	b.WriteString("WITH SCHEMA " + viewModes[q.Binding.Mode] + "\nAS " + v.sql())
	return b.String()
}

// propertyLines is TBLPROPERTIES as SHOW CREATE TABLE prints it.
func propertyLines(ps map[string]string) string {
	if len(ps) == 0 {
		return ""
	}
	var out []string
	for _, k := range sorted(ps) {
		out = append(out, sqlplan.QuoteText(k)+" = "+sqlplan.QuoteText(shownProperty(k, ps[k])))
	}
	return "TBLPROPERTIES (\n  " + strings.Join(out, ",\n  ") + ")\n"
}

var secretKey = regexp.MustCompile(`(?i)secret|password|token|access[.]?key|credential`)

// shownProperty hides the value of a key that names a secret.
func shownProperty(key, value string) string {
	if secretKey.MatchString(key) {
		return "*********(redacted)"
	}
	return value
}

// sql is the view's query as it was written.
func (v *view) sql() string {
	at := v.answer.View.Query.Range()
	return v.answer.View.Text.Body[at.Start:at.End]
}

var viewModes = map[sqlplan.ViewMode]string{
	sqlplan.ViewCompensation: "COMPENSATION", sqlplan.ViewStrict: "BINDING",
	sqlplan.ViewTypeEvolution: "TYPE EVOLUTION", sqlplan.ViewEvolution: "EVOLUTION",
}

// describe are the lines of DESCRIBE EXTENDED about a view of a database.
func (v *view) describe() [][]string {
	q := v.answer.View
	names := q.Binding.Schema.Names()
	for i := range names {
		names[i] = quoted(names[i : i+1])
	}
	inside, _ := q.Catalog.(interface{ namespace() string })
	out := detailed(v.full, "VIEW", v.comment)
	return append(out, [][]string{
		{"View Text", v.sql(), ""}, {"View Original Text", v.sql(), ""}, {"View Schema Mode", viewModes[q.Binding.Mode], ""},
		{"View Catalog and Namespace", inside.namespace(), ""}, {"View Query Output Columns", "[" + strings.Join(names, ", ") + "]", ""},
	}...)
}

// detailed is the start of what DESCRIBE EXTENDED says of a thing of the session.
func detailed(full []string, kind, comment string) [][]string {
	out := [][]string{
		{"", "", ""}, {"# Detailed Table Information", "", ""}, {"Catalog", full[0], ""}, {"Database", full[1], ""}, {"Table", full[2], ""}, {"Type", kind, ""},
	}
	if comment != "" {
		out = append(out, []string{"Comment", comment, ""})
	}
	return out
}

func (n names) namespace() string { return n.catalog + "." + n.database }
