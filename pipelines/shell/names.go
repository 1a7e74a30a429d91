package shell

import (
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// view is a temporary view: a query, or files by format and options.
type view struct {
	name   string
	answer sqlplan.Answer // what the name means; its View has the query
	schema schema.Schema
	reads  map[string]bool // views that its query leads to
}

// variable is a session variable.
type variable struct {
	name  string
	typ   schema.Type
	value *logical.Literal
	def   *logical.Literal // what DEFAULT sets
}

// names is what the names in a query mean: views and tables of the session
// first, then what the reader finds.
type names struct{ s *Session }

// Resolve implements sqlplan.Catalog.
func (n names) Resolve(req sqlplan.Request) (sqlplan.Answer, error) {
	s := n.s
	if req.Function {
		return s.o.Reader.Resolve(req)
	}
	if v := s.findView(req.Parts); v != nil {
		s.touched[strings.ToLower(v.name)] = true
		for x := range v.reads {
			s.touched[x] = true
		}
		return v.answer, nil
	}
	if t := s.findTable(req.Parts); t != nil {
		if req.Version != "" || req.Timestamp != "" {
			return sqlplan.Answer{}, sqlplan.NewError("UNSUPPORTED_FEATURE.TIME_TRAVEL", "a session table has no versions")
		}
		rel := &logical.Relation{ID: "session:" + lower(t.name...), Name: t.name, Schema: t.schema, Streaming: req.Stream, Handle: t}
		return sqlplan.Answer{Relation: rel}, nil
	}
	ans, err := s.o.Reader.Resolve(n.qualified(req))
	if nf, ok := err.(*sqlplan.NotFound); ok { //nolint:errorlint // the contract gives it as it is
		for _, v := range s.views {
			nf.Names = append(nf.Names, v.name)
		}
		for _, t := range s.tables {
			nf.Names = append(nf.Names, t.name[len(t.name)-1])
		}
		slices.Sort(nf.Names)
		if len(req.Parts) == 3 && !strings.EqualFold(req.Parts[0], s.catalog) {
			return ans, sqlplan.NewError("REQUIRES_SINGLE_PART_NAMESPACE", quoted([]string{s.catalog})+" requires a single-part namespace, but got "+quoted(req.Parts[:2])+".")
		}
	}
	return ans, err
}

// qualified completes a name after USE.
func (n names) qualified(req sqlplan.Request) sqlplan.Request {
	s := n.s
	c, d := s.o.Reader.Namespace()
	if s.catalog == c && s.database == d || len(req.Parts) != 1 {
		return req
	}
	full := req
	full.Parts = s.fullName(req.Parts)
	if ans, err := s.o.Reader.Resolve(full); err == nil && ans.Relation != nil {
		return full
	}
	return req
}

// Function implements sqlplan.Functions.
func (n names) Function(parts []string) *sqlplan.UserFunction {
	f := n.s.functions[strings.ToLower(parts[len(parts)-1])]
	if f == nil || len(parts) > 1 && !strings.EqualFold(parts[len(parts)-2], "session") && !strings.EqualFold(parts[len(parts)-2], n.s.database) {
		return nil
	}
	return f
}

// Variable implements sqlplan.Variables.
func (n names) Variable(name string) *logical.Literal {
	if v := n.s.hidden[name]; v != nil {
		return v
	}
	if v := n.s.variables[strings.ToLower(name)]; v != nil {
		return v.value
	}
	return nil
}

func (s *Session) findView(parts []string) *view {
	switch {
	case len(parts) == 1:
		return s.views[strings.ToLower(parts[0])]
	case len(parts) == 2 && (strings.EqualFold(parts[0], "global_temp") || strings.EqualFold(parts[0], "session")):
		return s.views[strings.ToLower(parts[1])]
	}
	return nil
}

func (s *Session) findTable(parts []string) *memoryTable {
	if len(parts) > 3 {
		return nil
	}
	return s.tables[lower(s.fullName(parts)...)]
}

// fullName completes a name with the current catalog and database.
func (s *Session) fullName(parts []string) []string {
	switch len(parts) {
	case 1:
		return []string{s.catalog, s.database, parts[0]}
	case 2:
		return []string{s.catalog, parts[0], parts[1]}
	}
	return parts
}

// quoted is a name as messages show it.
func quoted(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(out, ".")
}

// exists reports whether a name of one to three parts means something already
// outside the session.
func (s *Session) exists(parts []string, at diag.Span) bool {
	_, err := s.o.Reader.Resolve(sqlplan.Request{Parts: parts, Place: at})
	_, missing := err.(*sqlplan.NotFound) //nolint:errorlint // the contract gives it as it is
	return !missing
}

// Words are what a person may be typing: words of the language, functions,
// tables, views and variables.
func (s *Session) Words() []string {
	out := strings.Fields(commonWords)
	out = append(out, sqlplan.FunctionNames()...)
	out = append(out, s.o.Reader.Names()...)
	for _, v := range s.views {
		out = append(out, v.name)
	}
	for _, t := range s.tables {
		out = append(out, t.name[len(t.name)-1])
	}
	for _, v := range s.variables {
		out = append(out, v.name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

const commonWords = `SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET DISTINCT JOIN LEFT RIGHT FULL INNER CROSS ON USING UNION ALL EXCEPT
INTERSECT WITH CASE WHEN THEN ELSE END CAST BETWEEN LIKE NULL CREATE TEMPORARY VIEW TABLE INSERT INTO VALUES DROP SHOW TABLES VIEWS COLUMNS
FUNCTIONS DESCRIBE EXPLAIN INTERVAL TIMESTAMP DATE OVER PARTITION ROWS RANGE DECLARE`
