package shell

import (
	"context"
	"maps"
	"slices"
	"strings"

	"pipelines/runtime/flow"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// like filters by a pattern of SHOW: * stands for anything, | separates
// patterns, case is ignored.
func (r *run) like(name string) bool {
	if !r.st.HasValue {
		return true
	}
	for p := range strings.SplitSeq(strings.ToLower(r.st.Value), "|") {
		if matches(strings.TrimSpace(p), strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// matches is a match with * for any run of characters.
func matches(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], next
	}
}

func (r *run) show(ctx context.Context) *Failure {
	switch r.st.What {
	case "TABLES":
		return r.showTables(ctx)
	case "VIEWS":
		return r.showViews(ctx)
	case "DATABASES", "SCHEMAS", "NAMESPACES":
		return r.showDatabases(ctx)
	case "CATALOGS":
		r.list("catalog", []string{r.catalog})
	case "CURRENT NAMESPACE":
		r.rows([]string{"catalog", "namespace"}, [][]string{{r.catalog, r.database}})
	case "COLUMNS":
		name := r.st.Name
		if n := len(r.st.InSchema); n > 0 {
			if k := len(name); k > 1 && !strings.EqualFold(name[k-2], r.st.InSchema[n-1]) {
				return r.refuse("SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE", "SHOW COLUMNS with conflicting namespace: %s != %s.", quoted(name[:k-1]), quoted(r.st.InSchema))
			}
			name = append(append([]string(nil), r.st.InSchema...), name[len(name)-1])
		}
		s, f := r.schemaOf(name)
		if f != nil {
			return f
		}
		r.list("col_name", s.Names())
	case "FUNCTIONS", "ALL FUNCTIONS", "SYSTEM FUNCTIONS", "USER FUNCTIONS":
		var out []string
		if r.st.What != "USER FUNCTIONS" {
			out = append(out, sqlplan.FunctionNames()...)
		}
		if r.st.What != "SYSTEM FUNCTIONS" {
			out = append(out, r.functionNames()...)
		}
		slices.Sort(out)
		r.list("function", out)
	case "VARIABLES":
		r.list("name", sorted(r.variables))
	case "CREATE TABLE":
		return r.showCreate()
	case "TBLPROPERTIES":
		return r.showProperties()
	default:
		return r.refuse("FEATURE_NOT_AVAILABLE", "SHOW %s is not available", r.st.What)
	}
	return nil
}

func (r *run) showCreate() *Failure {
	s, f := r.schemaOf(r.st.Name)
	if f != nil {
		return f
	}
	name, rest := r.fullName(r.st.Name), ""
	var defaults map[string]columnDefault
	if v := r.findView(r.st.Name); v != nil {
		if v.full == nil {
			return r.refuse("UNSUPPORTED_SHOW_CREATE_TABLE.ON_TEMPORARY_VIEW", "Unsupported a SHOW CREATE TABLE command. The command is not supported on a temporary view %s.", quoted([]string{v.name}))
		}
		r.rows([]string{"createtab_stmt"}, [][]string{{v.create()}})
		return nil
	}
	if m := r.findTable(r.st.Name); m != nil {
		defaults = m.defaults
		if m.format != "" {
			rest += "\nUSING " + m.format
		}
		if m.comment != "" {
			rest += "\nCOMMENT " + sqlplan.QuoteText(m.comment)
		}
		if len(m.partitioned) > 0 {
			rest += "\nPARTITIONED BY (" + strings.Join(m.partitioned, ", ") + ")"
		}
		if m.location != "" {
			rest += "\nLOCATION " + sqlplan.QuoteText(m.location)
		}
		if len(m.properties) > 0 {
			rest += "\n" + strings.TrimSuffix(propertyLines(m.properties), "\n")
		}
	}
	r.rows([]string{"createtab_stmt"}, [][]string{{"CREATE TABLE " + strings.Join(name, ".") + " (\n  " +
		strings.Join(ddlLines(s, defaults), ",\n  ") + ")" + rest}})
	return nil
}

// showProperties is SHOW TBLPROPERTIES of what the session has made.
func (r *run) showProperties() *Failure {
	var ps map[string]string
	var name string
	if v := r.findView(r.st.Name); v != nil {
		ps = v.properties
		name = strings.Join(v.full, ".")
	} else if m := r.findTable(r.st.Name); m != nil {
		ps, name = m.properties, strings.Join(m.name, ".")
	} else if _, f := r.schemaOf(r.st.Name); f != nil {
		return f
	} else {
		return r.refuse("FEATURE_NOT_AVAILABLE", "SHOW TBLPROPERTIES is available for what the session has made")
	}
	var out [][]string
	for _, k := range sorted(ps) {
		if r.st.Key == "" || r.st.Key == k {
			out = append(out, []string{k, shownProperty(k, ps[k])})
		}
	}
	if r.st.Key != "" && len(out) == 0 {
		out = [][]string{{r.st.Key, "Table " + name + " does not have property: " + r.st.Key}}
	}
	r.rows([]string{"key", "value"}, out)
	return nil
}

func ddlLines(s schema.Schema, defaults map[string]columnDefault) []string {
	var out []string
	for _, f := range s.Fields {
		comment := ""
		if f.Comment != "" {
			comment = " COMMENT " + sqlplan.QuoteText(f.Comment)
			f.Comment = ""
		}
		line := schema.Schema{Fields: []schema.Field{f}}.DDL()
		if d, ok := defaults[lower(f.Name)]; ok {
			line += " DEFAULT " + d.sql()
		}
		out = append(out, line+comment)
	}
	return out
}

// list gives the names that match the statement's pattern.
func (r *run) list(header string, names []string) {
	var out [][]string
	for _, n := range names {
		if r.like(n) {
			out = append(out, []string{n})
		}
	}
	r.rows([]string{header}, out)
}

// namespace is the database that SHOW … IN names, or the current one.
func (r *run) namespace() (catalog, database string) {
	n := r.st.Name
	switch len(n) {
	case 0:
		return r.catalog, r.database
	case 1:
		return r.catalog, n[0]
	}
	return n[0], n[1]
}

func (r *run) showTables(ctx context.Context) *Failure {
	c, d := r.namespace()
	if f := r.needSchema(ctx, c, d); f != nil && !strings.EqualFold(d, globalTemp) {
		return f
	}
	var out [][]string
	stored, err := r.o.Reader.Tables(ctx)
	if err != nil {
		return failure(err, r.text)
	}
	for _, t := range stored {
		if len(t.Name) == 3 && strings.EqualFold(t.Name[0], c) && strings.EqualFold(t.Name[1], d) && r.like(t.Name[2]) {
			out = append(out, []string{t.Name[1], t.Name[2], "false"})
		}
	}
	for _, k := range sorted(r.tables) {
		if n := r.tables[k].name; strings.EqualFold(n[0], c) && strings.EqualFold(n[1], d) && r.like(n[2]) {
			out = append(out, []string{n[1], n[2], "false"})
		}
	}
	out = append(out, r.listViews(c, d)...)
	r.rows([]string{"namespace", "tableName", "isTemporary"}, out)
	return nil
}

func (r *run) showViews(ctx context.Context) *Failure {
	c, d := r.namespace()
	if f := r.needSchema(ctx, c, d); f != nil && !strings.EqualFold(d, globalTemp) {
		return f
	}
	var out [][]string
	stored, err := r.o.Reader.Tables(ctx)
	if err != nil {
		return failure(err, r.text)
	}
	for _, t := range stored {
		if t.Kind == "view" && strings.EqualFold(t.Name[0], c) && strings.EqualFold(t.Name[1], d) && r.like(t.Name[2]) {
			out = append(out, []string{t.Name[1], t.Name[2], "false"})
		}
	}
	out = append(out, r.listViews(c, d)...)
	r.rows([]string{"namespace", "viewName", "isTemporary"}, out)
	return nil
}

// listViews are the views of a database that match, and the temporary ones.
func (r *run) listViews(catalog, database string) (out [][]string) {
	for _, k := range sorted(r.stored) {
		if n := r.stored[k].full; strings.EqualFold(n[0], catalog) && strings.EqualFold(n[1], database) && r.like(n[2]) {
			out = append(out, []string{n[1], n[2], "false"})
		}
	}
	global := strings.EqualFold(database, globalTemp)
	for _, k := range sorted(r.views) {
		v := r.views[k]
		space := ""
		if strings.HasPrefix(k, globalTemp+keySep) {
			space = globalTemp
		}
		if (space == "" || global) && r.like(v.name) {
			out = append(out, []string{space, v.name, "true"})
		}
	}
	return out
}

func (r *run) showDatabases(ctx context.Context) *Failure {
	found, f := r.databases(ctx, r.catalog)
	if f != nil {
		return f
	}
	names := make([]string, 0, len(found))
	for _, k := range sorted(found) {
		names = append(names, found[k])
	}
	r.list("namespace", names)
	return nil
}

func (r *run) describe(ctx context.Context) *Failure {
	var s schema.Schema
	switch r.st.What {
	case "FUNCTION":
		return r.describeFunction()
	case "QUERY":
		plan, f := r.compile(r.st.Query)
		if f != nil {
			return f
		}
		s = plan.Declared
		for i := range s.Fields {
			s.Fields[i].Type = plan.Schema.Fields[i].Type
		}
	case "TABLE":
		got, f := r.schemaOf(r.st.Name)
		if f != nil {
			return f
		}
		s = got
		if len(r.st.ColumnNames) > 0 {
			return r.describeColumn(s)
		}
	default:
		return r.refuse("FEATURE_NOT_AVAILABLE", "DESCRIBE %s is not available", r.st.What)
	}
	var out [][]string
	for _, f := range s.Fields {
		out = append(out, []string{f.Name, f.Type.String(), f.Comment})
	}
	if m := r.findTable(r.st.Name); r.st.What == "TABLE" && m != nil && len(m.partitioned) > 0 {
		out = append(out, []string{"# Partition Information", "", ""}, []string{"# col_name", "data_type", "comment"})
		for _, name := range m.partitioned {
			f := s.Fields[s.Index(name)]
			out = append(out, []string{f.Name, f.Type.String(), f.Comment})
		}
	}
	if m := r.findTable(r.st.Name); r.st.What == "TABLE" && m != nil {
		out = append(out, m.describeDefaults()...)
	}
	if v := r.findView(r.st.Name); r.st.Extended && r.st.What == "TABLE" && v != nil {
		if v.full != nil {
			out = append(out, v.describe()...)
		}
	} else if m := r.findTable(r.st.Name); r.st.Extended && m != nil {
		kind := "MANAGED"
		if m.files != nil {
			kind = "EXTERNAL"
		}
		out = append(out, detailed(m.name, kind, m.comment)...)
	} else if r.st.Extended && r.st.What == "TABLE" {
		more, f := r.details(ctx)
		if f != nil {
			return f
		}
		out = append(out, more...)
	}
	r.rows([]string{"col_name", "data_type", "comment"}, out)
	return nil
}

// describeDefaults are the lines of DESCRIBE about defaults.
func (m *memoryTable) describeDefaults() (out [][]string) {
	for _, f := range m.schema.Fields {
		d, ok := m.defaults[lower(f.Name)]
		if !ok {
			continue
		}
		if out == nil {
			out = [][]string{{"", "", ""}, {"# Column Default Values", "", ""}}
		}
		out = append(out, []string{f.Name, f.Type.String(), d.sql()})
	}
	return out
}

// details are the lines of DESCRIBE EXTENDED about a stored table.
func (r *run) details(ctx context.Context) ([][]string, *Failure) {
	stored, err := r.o.Reader.Tables(ctx)
	if err != nil {
		return nil, failure(err, r.text)
	}
	full := lower(r.fullName(r.st.Name)...)
	for _, t := range stored {
		if lower(t.Name...) == full && t.Stored {
			return [][]string{
				{"", "", ""}, {"# Detailed Table Information", "", ""}, {"Catalog", t.Name[0], ""}, {"Database", t.Name[1], ""},
				{"Table", t.Name[2], ""}, {"Owner", t.Owner, ""}, {"Type", t.Kind, ""}, {"Provider", "delta", ""},
				{"Comment", t.Comment, ""}, {"Location", t.Path, ""},
			}, nil
		}
	}
	return nil, nil
}

func (r *run) describeColumn(s schema.Schema) *Failure {
	i := s.Index(r.st.ColumnNames[0])
	if i < 0 || len(r.st.ColumnNames) > 1 {
		return r.refuse("UNRESOLVED_COLUMN.WITH_SUGGESTION", "A column with name %s cannot be resolved.", quoted(r.st.ColumnNames))
	}
	f := s.Fields[i]
	comment := f.Comment
	if comment == "" {
		comment = "NULL"
	}
	out := [][]string{{"col_name", f.Name}, {"data_type", f.Type.String()}, {"comment", comment}}
	if r.st.Extended { // statistics that ANALYZE makes in Spark
		for _, k := range []string{"min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len", "histogram"} {
			out = append(out, []string{k, "NULL"})
		}
	}
	r.rows([]string{"info_name", "info_value"}, out)
	return nil
}

func (r *run) explain(ctx context.Context) *Failure {
	in := r.st.Inner
	if in.Query == nil {
		return r.refuse("FEATURE_NOT_AVAILABLE", "EXPLAIN takes a query")
	}
	plan, f := r.compile(in.Query)
	if f != nil {
		return f
	}
	physical := logical.Explain(plan.Node)
	if tables, err := r.reads(plan); err == nil { // as it would run now
		lanes, err := flow.Explain(ctx, flow.BoundedOptions{
			Plan: plan.Node, Refine: plan.Refine, Session: r.settings, Tables: tables, Lanes: r.o.Lanes, Pool: r.pool, Budget: r.budget, TempDir: r.o.TempDir,
		})
		if err == nil {
			physical = lanes
		}
	}
	text := "== Physical Plan ==\n" + physical
	if r.st.What != "" && r.st.What != "FORMATTED" {
		text = "== Analyzed Logical Plan ==\n" + logical.Explain(plan.Bound) + "\n== Optimized Logical Plan ==\n" + logical.Explain(plan.Node) + "\n" + text
	}
	r.rows([]string{"plan"}, [][]string{{text}})
	return nil
}
