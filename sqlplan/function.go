package sqlplan

import (
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/bind"
	"pipelines/tables/schema"
)

// DefineFunction checks the body and the defaults of a function and completes
// its result type.
func DefineFunction(u *UserFunction, text *diag.Text, cat Catalog, opts Options) (*UserFunction, diag.List) {
	return bind.New(text, cat, bind.Options{Session: opts.session(), Params: opts.Params}).Define(u)
}

// SessionName takes the namespace of the session off a name of temporary things
// (session.a, system.session.a); ok says that one part is left.
func SessionName(parts []string) (rest []string, ok bool) {
	rest = parts[bind.Qualifiers(parts, bind.SessionSpace):]
	return rest, len(rest) == 1
}

// function reads CREATE FUNCTION.
func (r *reader) function(s *Statement, st *ast.CreateFunction) {
	s.Kind, s.Replace, s.IfNotExists, s.Temporary = CreateFunctionStatement, st.Replace, st.IfNotExists, st.Temporary
	r.name(s, st.Name)
	if st.Class != "" || st.Body == nil && st.Query == nil {
		r.fail(st.Span, "FEATURE_NOT_AVAILABLE", "only SQL functions are available")
		return
	}
	f := &UserFunction{Name: s.Name[len(s.Name)-1], Text: r.text, Body: st.Body, Query: st.Query, Table: st.Table}
	if sub, ok := st.Body.(*ast.Subquery); ok && st.Table {
		f.Body, f.Query = nil, sub.Query
	}
	if f.Table && f.Query == nil {
		r.fail(st.Span, "USER_DEFINED_FUNCTIONS.SQL_TABLE_UDF_BODY_MUST_BE_A_QUERY", "User defined function is invalid: the body of a SQL table function must be a query.")
		return
	}
	f.Columns = r.fields(f, st.Columns, "DUPLICATE_ROUTINE_RETURNS_COLUMNS", "Found duplicate column(s) in the RETURNS clause column list of the user-defined routine")
	f.Params = r.fields(f, st.Params, "DUPLICATE_ROUTINE_PARAMETER_NAMES", "Found duplicate name(s) in the parameter list of the user-defined routine")
	for i, c := range st.Params {
		f.Default = append(f.Default, c.Default)
		if i > 0 && c.Default == nil && st.Params[i-1].Default != nil {
			r.fail(c.Span, "USER_DEFINED_FUNCTIONS.NOT_A_VALID_DEFAULT_PARAMETER_POSITION",
				"User defined function is invalid: the parameter `"+c.Name.Name+"` without a default follows the parameter `"+st.Params[i-1].Name.Name+"` with one.")
			break
		}
	}
	if st.Returns != nil {
		t := r.functionType(*st.Returns)
		f.Returns = &t
	}
	s.Function = f
	s.ContainsSQL, s.ReadsSQL = slices.Contains(st.Traits, "CONTAINS SQL"), slices.Contains(st.Traits, "READS SQL DATA")
}

// fields reads the parameters or the result columns of a function.
func (r *reader) fields(f *UserFunction, cols []ast.ColumnDef, class diag.Code, twice string) []schema.Field {
	var out []schema.Field
	seen := map[string]bool{}
	for _, c := range cols {
		if k := strings.ToLower(c.Name.Name); seen[k] {
			r.fail(c.Span, class, twice+" `"+f.Name+"`: `"+c.Name.Name+"`.")
		} else {
			seen[k] = true
		}
		switch {
		case c.NotNull:
			r.fail(c.Span, "USER_DEFINED_FUNCTIONS.NOT_NULL_ON_FUNCTION_PARAMETERS", "User defined function is invalid: NOT NULL cannot be specified on function parameters and result columns.")
		case c.Generated != nil || c.Identity != nil:
			r.fail(c.Span, "INVALID_SQL_SYNTAX.CREATE_FUNC_WITH_GENERATED_COLUMNS_AS_PARAMETERS", "Invalid SQL syntax: CREATE FUNCTION with generated columns as parameters is not allowed.")
		}
		out = append(out, schema.Field{Name: c.Name.Name, Type: r.functionType(c.Type), Nullable: true})
	}
	return out
}

// functionType is a type in the signature of a function: texts have no length.
func (r *reader) functionType(t ast.TypeName) schema.Type {
	out := r.typeOf(t)
	if out.Kind == schema.String && out.Length > 0 {
		r.fail(t.Span, "UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING", "The char/varchar type can't be used in the signature of a function. Use STRING.")
	}
	return out
}
