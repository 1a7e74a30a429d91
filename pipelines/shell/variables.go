package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// declare makes session variables: their default is computed once for all.
func (r *run) declare(ctx context.Context) *Failure {
	st := r.st
	var names []string
	for _, v := range st.Sets {
		key, ok := variableName(v.Name)
		switch {
		case !ok:
			return r.unknownVariable(v.Name)
		case slices.Contains(names, key):
			return r.refuse("DUPLICATE_VARIABLE_NAME_INSIDE_DECLARE", "Found duplicate variable %s in the declare variable list. Please, remove one of them.", quoted(v.Name))
		case r.variables[key] != nil && !st.Replace:
			return r.refuse("VARIABLE_ALREADY_EXISTS", "Cannot create the variable %s because it already exists. Choose a different name, or drop or replace the existing variable.", quoted([]string{"system", "session", v.Name[len(v.Name)-1]}))
		}
		names = append(names, key)
	}
	typ := schema.Of(schema.Void)
	if st.Type != nil {
		typ = *st.Type
	}
	def := null(typ)
	if e := st.Sets[0].Value; e != nil {
		if _, err := sqlplan.DefaultQuery(e); err != nil {
			return findings(diag.List{diag.At(r.text, e.Range(), diag.Code(err.Class), err.Message)})
		}
		lit, f := r.value(ctx, e, st.Type)
		if f != nil {
			return f
		}
		def = lit
	}
	for i, v := range st.Sets {
		r.variables[names[i]] = &variable{name: v.Name[len(v.Name)-1], typ: def.Value.Type, def: def, value: def}
	}
	return nil
}

func (r *run) unknownVariable(name []string) *Failure {
	return r.refuse("UNRESOLVED_VARIABLE", "Cannot resolve variable %s on search path `SYSTEM`.`SESSION`.", quoted(name))
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
		key, ok := variableName(v.Name)
		x := r.variables[key]
		if x == nil || !ok {
			return r.unknownVariable(v.Name)
		}
		if slices.Contains(targets, x) {
			return r.refuse("DUPLICATE_ASSIGNMENTS", "The columns or variables [`%s`] appear more than once as assignment targets.", x.name)
		}
		targets = append(targets, x)
	}
	defer func() { r.hidden = nil }()
	values := make([]*logical.Literal, len(targets))
	if r.st.Query != nil {
		var f *Failure
		if values, f = r.queried(ctx, targets); f != nil {
			return f
		}
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

// queried computes the values of SET VAR (…) = (query), cast to the variables'
// types. DEFAULT in its select list is the variable's.
func (r *run) queried(ctx context.Context, targets []*variable) ([]*logical.Literal, *Failure) {
	r.hidden = map[string]*logical.Literal{}
	names := make([]string, len(targets))
	for i, x := range targets {
		names[i] = x.name
		r.hidden[hiddenPrefix+lower(x.name)] = x.def
	}
	q := sqlplan.FillDefaults(r.st.Query, names, sqlplan.Fit{Default: func(name string) string { return hiddenPrefix + lower(name) }})
	got, f := r.row(ctx, q)
	if f != nil {
		return nil, f
	}
	if len(got) != len(targets) {
		return nil, r.refuse("ASSIGNMENT_ARITY_MISMATCH", "The number of columns or variables assigned or aliased: %d does not match the number of source expressions: %d.", len(targets), len(got))
	}
	for i, x := range targets {
		name := fmt.Sprintf("%s%d", hiddenPrefix, i)
		r.hidden[name] = got[i]
		if got[i], f = r.value(ctx, sqlplan.ValueNamed(name, r.st.Query.Range()), &x.typ); f != nil {
			return nil, f
		}
	}
	return got, nil
}

// variableName is the key of a variable: only the session has variables.
func variableName(parts []string) (string, bool) {
	rest, ok := sqlplan.SessionName(parts)
	return strings.ToLower(rest[0]), ok
}

// variableOf reports whether a key of SET names a variable.
func (r *run) variableOf(key string) bool {
	name, ok := variableName(strings.Split(key, "."))
	return ok && r.variables[name] != nil
}
