package shell

import (
	"context"
	"strings"

	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

const zoneKey = "spark.sql.session.timeZone"

// target finds the session table that a statement changes.
func (r *run) target() (*memoryTable, *Failure) {
	if m := r.findTable(r.st.Name); m != nil && m.files != nil {
		return nil, r.refuse("FEATURE_NOT_AVAILABLE", "%s reads the files at %s: the SQL shell never writes there", quoted(r.st.Name), m.location)
	} else if m != nil {
		return m, nil
	}
	if r.findView(r.st.Name) != nil {
		return nil, r.refuse("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "The operation expects a table but %s is a view.", quoted(r.st.Name))
	}
	if r.exists(r.st.Name, r.text.Span(r.st.NameAt)) {
		return nil, r.refuse("FEATURE_NOT_AVAILABLE", "%s belongs to the project: a pipeline's table is never written from the SQL shell", quoted(r.st.Name))
	}
	return nil, r.notFound(r.st.Name, nil)
}

func (r *run) insert(ctx context.Context) *Failure {
	m, f := r.target()
	if f != nil {
		return f
	}
	fit := sqlplan.Fit{Target: m.schema, Columns: r.columnList(), ByName: r.st.ByName, Table: m.name[len(m.name)-1]}
	if fit.Default, f = r.defaultValues(ctx, m); f != nil {
		return f
	}
	defer func() { r.hidden = nil }()
	columns := fit.Columns
	if columns == nil {
		columns = m.schema.Names()
	}
	source := sqlplan.FillDefaults(r.st.Query, columns, fit)
	plan, f := r.compile(source)
	if f != nil {
		return f
	}
	fit.Source = plan.Schema
	q, list := sqlplan.FitQuery(source, r.text, fit)
	if list.HasErrors() {
		return findings(list)
	}
	rows, f := r.collect(ctx, q)
	if f != nil {
		return f
	}
	if f := notNull(m.schema, rows); f != nil {
		return f
	}
	if r.st.Overwrite {
		m.clear()
	}
	m.append(rows)
	return nil
}

// defaultValues computes a table's defaults for one statement, as variables
// that no other statement sees.
func (r *run) defaultValues(ctx context.Context, m *memoryTable) (variable func(column string) string, f *Failure) {
	hidden := map[string]*logical.Literal{}
	for _, field := range m.schema.Fields {
		d, ok := m.defaults[lower(field.Name)]
		if !ok {
			continue
		}
		inner := &run{Session: r.Session, st: r.st, text: d.text, out: r.out}
		typ := field.Type.WithoutLength()
		v, f := inner.value(ctx, d.value, &typ)
		if f != nil {
			return nil, f
		}
		hidden[hiddenPrefix+lower(field.Name)] = v
	}
	r.hidden = hidden
	return func(column string) string {
		if name := hiddenPrefix + lower(column); hidden[name] != nil {
			return name
		}
		return ""
	}, nil
}

// hiddenPrefix starts the names of variables that nobody can write.
const hiddenPrefix = "\x00default."

func (r *run) columnList() []string {
	if len(r.st.ColumnNames) == 0 {
		return nil
	}
	return r.st.ColumnNames
}

// notNull refuses nulls in columns that are declared NOT NULL.
func notNull(s schema.Schema, rows *memoryTable) *Failure {
	for i, f := range s.Fields {
		if f.Nullable {
			continue
		}
		for _, b := range rows.batches {
			for k := range b.Len {
				if b.Cols[i].IsNull(k) {
					return &Failure{Class: "NOT_NULL_ASSERT_VIOLATION", SQLState: "42000", Message: "NULL value appeared in non-nullable field: " + f.Name}
				}
			}
		}
	}
	return nil
}

func (r *run) truncate() *Failure {
	m, f := r.target()
	if f == nil {
		m.clear()
	}
	return f
}

func (r *run) drop(ctx context.Context) *Failure {
	switch {
	case r.st.What == "VARIABLE":
		return r.dropVariable()
	case r.st.What == "FUNCTION":
		return r.dropFunction()
	case r.st.What == "SCHEMA":
		return r.dropSchema(ctx)
	case r.st.What == "VIEW" || r.st.What == "TABLE":
		return r.dropRelation()
	}
	return r.refuse("FEATURE_NOT_AVAILABLE", "DROP %s is not available in the SQL shell", r.st.What)
}

func (r *run) dropVariable() *Failure {
	name, ok := variableName(r.st.Name)
	if !ok {
		return r.unknownVariable(r.st.Name)
	}
	if r.variables[name] == nil {
		if r.st.IfExists {
			return nil
		}
		return r.refuse("VARIABLE_NOT_FOUND", "The variable %s cannot be found. Verify the spelling and correctness of the schema and catalog.", quoted(r.st.Name))
	}
	delete(r.variables, name)
	return nil
}

func (r *run) dropRelation() *Failure {
	if len(r.st.Name) == 3 && !strings.EqualFold(r.st.Name[0], r.catalog) {
		return r.refuse("REQUIRES_SINGLE_PART_NAMESPACE", "%s requires a single-part namespace, but got %s.", quoted([]string{r.catalog}), quoted(r.st.Name[:2]))
	}
	if v := r.findView(r.st.Name); v != nil {
		switch {
		case v.full == nil:
			delete(r.views, v.key)
		case r.st.What == "TABLE":
			return r.refuse("WRONG_COMMAND_FOR_OBJECT_TYPE", "The operation DROP TABLE requires a EXTERNAL or MANAGED. But %s is a VIEW. Use DROP VIEW instead.", quoted(v.full))
		default:
			delete(r.stored, v.key)
		}
		return nil
	}
	if m := r.findTable(r.st.Name); m != nil {
		if r.st.What == "VIEW" {
			return r.refuse("WRONG_COMMAND_FOR_OBJECT_TYPE", "The operation DROP VIEW requires a VIEW. But %s is a table. Use DROP TABLE instead.", quoted(m.name[len(m.name)-1:]))
		}
		delete(r.tables, lower(m.name...))
		return nil
	}
	if r.exists(r.st.Name, r.text.Span(r.st.NameAt)) {
		return r.refuse("FEATURE_NOT_AVAILABLE", "%s belongs to the project: a pipeline's table is never dropped from the SQL shell", quoted(r.st.Name))
	}
	if r.st.IfExists {
		return nil
	}
	return r.notFound(r.st.Name, nil)
}

// setConf changes one setting; a bad value leaves the old one.
func (r *run) setConf(key, value string) *Failure {
	old, had := r.conf[key]
	r.conf[key] = value
	if err := r.configure(); err != nil {
		if delete(r.conf, key); had {
			r.conf[key] = old
		}
		return r.refused(err)
	}
	return nil
}

// unquoted drops the quotes around a value.
func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

func (r *run) set() *Failure {
	switch {
	case r.st.HasValue && r.variableOf(r.st.Key):
		return r.refuse("UNSUPPORTED_FEATURE.SET_VARIABLE_USING_SET", "%s is a VARIABLE and cannot be updated using the SET statement. Use SET VARIABLE %s = ... instead.", quoted([]string{r.st.Key}), quoted([]string{r.st.Key}))
	case r.st.HasValue:
		if f := r.setConf(r.st.Key, unquoted(r.st.Value)); f != nil {
			return f
		}
		r.rows([]string{"key", "value"}, [][]string{{r.st.Key, r.st.Value}})
	case r.st.Key != "":
		v, ok := r.conf[r.st.Key]
		if !ok {
			if v, ok = sqlplan.Defaults()[r.st.Key]; !ok {
				v = "<undefined>"
			}
		}
		r.rows([]string{"key", "value"}, [][]string{{r.st.Key, v}})
	default:
		var out [][]string
		for _, k := range sorted(r.conf) {
			out = append(out, []string{k, r.conf[k]})
		}
		r.rows([]string{"key", "value"}, out)
	}
	return nil
}

func (r *run) reset() *Failure {
	before := r.o.Reader.Conf()
	restore := func(k string) {
		delete(r.conf, k)
		if v, ok := before[k]; ok {
			r.conf[k] = v
		}
	}
	if r.st.Key != "" {
		restore(r.st.Key)
	} else {
		for _, k := range sorted(r.conf) {
			restore(k)
		}
	}
	if err := r.configure(); err != nil {
		return failure(err, r.text)
	}
	return nil
}

// noEffect checks what a statement like CACHE TABLE reads, and does nothing.
func (r *run) noEffect(_ context.Context) *Failure {
	if r.st.Query != nil && len(r.st.Name) == 1 { // CACHE TABLE t AS query is a view
		plan, f := r.compile(r.st.Query)
		if f != nil {
			return f
		}
		v := &view{name: r.st.Name[0], key: strings.ToLower(r.st.Name[0]), schema: plan.Schema, reads: r.touched}
		v.answer.View = &sqlplan.View{Name: r.st.Name, Text: r.text, Query: r.st.Query, Session: r.settings}
		r.views[v.key] = v
		return nil
	}
	if len(r.st.Name) > 0 {
		_, f := r.schemaOf(r.st.Name)
		return f
	}
	return nil
}

// rows gives a result of texts; a column named isTemporary holds booleans.
func (r *run) rows(columns []string, data [][]string) {
	var s schema.Schema
	for _, c := range columns {
		f := schema.Field{Name: c, Type: schema.Of(schema.String), Nullable: true}
		if c == "isTemporary" {
			f.Type = schema.Of(schema.Boolean)
		}
		s.Fields = append(s.Fields, f)
	}
	r.out.Columns(s)
	if len(data) == 0 {
		return
	}
	b := (*column.Pool)(nil).Batch()
	b.Len = len(data)
	for i := range columns {
		v := column.New(s.Fields[i].Type)
		for _, row := range data {
			if v.Type.Kind == schema.Boolean {
				v.Bool = append(v.Bool, row[i] == "true")
				v.Len++
				continue
			}
			v.AppendStr([]byte(row[i]))
		}
		b.Cols = append(b.Cols, v)
	}
	r.out.Rows(b)
	b.Release()
}
