package shell

import (
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// view is a temporary view or one of a database: a query, or files by format
// and options.
type view struct {
	name   string
	key    string         // in the session's maps
	full   []string       // of a view of a database; nil for a temporary one
	answer sqlplan.Answer // what the name means; its View has the query
	schema schema.Schema
	reads  map[string]bool // views and functions that its query leads to

	comment    string
	properties map[string]string
}

// globalTemp is the database of temporary views that are global: here too
// they live as long as the session.
const globalTemp = "global_temp"

// temporaryUse is a temporary object that a statement reads.
type temporaryUse struct{ kind, name string }

// variable is a session variable.
type variable struct {
	name  string
	typ   schema.Type
	value *logical.Literal
	def   *logical.Literal // what DEFAULT sets
}

// names is what the names in a query mean: views and tables of the session
// first, then what the reader finds.
type names struct {
	s                 *Session
	catalog, database string // that complete names
	// stored hides what is temporary: inside of views and functions of a database.
	stored bool
}

// names are those of the session as it is now.
func (s *Session) names() names {
	return names{s: s, catalog: s.catalog, database: s.database}
}

// lasting are the names inside of a view or function of a database.
func (s *Session) lasting() names {
	n := s.names()
	n.stored = true
	return n
}

// Resolve implements sqlplan.Catalog.
func (n names) Resolve(req sqlplan.Request) (sqlplan.Answer, error) {
	s := n.s
	if req.Function {
		return s.o.Reader.Resolve(req)
	}
	s.data = true
	if v := n.view(req.Parts); v != nil {
		s.touched[v.key] = true
		if v.full == nil {
			s.temporary = append(s.temporary, temporaryUse{"VIEW", v.name})
		}
		for x := range v.reads {
			s.touched[x] = true
		}
		return v.answer, nil
	}
	if t := n.table(req.Parts); t != nil && t.files != nil && req.Version == "" && req.Timestamp == "" {
		return *t.files, nil
	} else if t != nil {
		if req.Version != "" || req.Timestamp != "" {
			return sqlplan.Answer{}, sqlplan.NewError("UNSUPPORTED_FEATURE.TIME_TRAVEL", "a session table has no versions")
		}
		rel := &logical.Relation{ID: "session:" + lower(t.name...), Name: t.name, Schema: t.schema.WithoutLength(), Streaming: req.Stream, Handle: t}
		return sqlplan.Answer{Relation: rel, Chars: t.chars(), Declared: &t.schema}, nil
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
		for _, v := range s.stored {
			nf.Names = append(nf.Names, v.name)
		}
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
	if n.catalog == c && n.database == d || len(req.Parts) != 1 {
		return req
	}
	full := req
	full.Parts = n.full(req.Parts)
	if ans, err := s.o.Reader.Resolve(full); err == nil && ans.Relation != nil {
		return full
	}
	return req
}

// Function implements sqlplan.Functions.
func (n names) Function(parts []string) *sqlplan.UserFunction {
	f := n.function(parts)
	if f == nil {
		return nil
	}
	n.s.touched[functionKey+f.key] = true
	for x := range f.reads {
		n.s.touched[x] = true
	}
	n.s.data = n.s.data || f.data
	if !f.stored {
		n.s.temporary = append(n.s.temporary, temporaryUse{"FUNCTION", f.sql.Name})
	}
	return f.sql
}

// functionKey starts the keys of functions among what a statement touches.
const functionKey = "\x00function."

// function finds a function: a temporary one first.
func (n names) function(parts []string) *function {
	if name, ok := sqlplan.SessionName(parts); ok && !n.stored {
		if f := n.s.functions[strings.ToLower(name[0])]; f != nil {
			return f
		}
	}
	if len(parts) > 3 {
		return nil
	}
	return n.s.functions[lower(n.full(parts)...)]
}

// Variable implements sqlplan.Variables.
func (n names) Variable(name string) *logical.Literal {
	if v := n.s.hidden[name]; v != nil {
		return v
	}
	if n.stored {
		return nil
	}
	if v := n.s.variables[strings.ToLower(name)]; v != nil {
		n.s.temporary = append(n.s.temporary, temporaryUse{"VARIABLE", v.name})
		return v.value
	}
	return nil
}

// view finds a view: a temporary one first.
func (n names) view(parts []string) *view {
	if !n.stored {
		if len(parts) == 2 && strings.EqualFold(parts[0], globalTemp) {
			return n.s.views[lower(parts...)]
		}
		if name, ok := sqlplan.SessionName(parts); ok {
			if v := n.s.views[strings.ToLower(name[0])]; v != nil || len(parts) > 1 {
				return v
			}
		}
	}
	if len(parts) > 3 {
		return nil
	}
	return n.s.stored[lower(n.full(parts)...)]
}

func (n names) table(parts []string) *memoryTable {
	if len(parts) > 3 {
		return nil
	}
	return n.s.tables[lower(n.full(parts)...)]
}

// full completes a name with the catalog and database.
func (n names) full(parts []string) []string {
	switch len(parts) {
	case 1:
		return []string{n.catalog, n.database, parts[0]}
	case 2:
		return []string{n.catalog, parts[0], parts[1]}
	}
	return parts
}

func (s *Session) findView(parts []string) *view { return s.names().view(parts) }

func (s *Session) findTable(parts []string) *memoryTable { return s.names().table(parts) }

// fullName completes a name with the current catalog and database.
func (s *Session) fullName(parts []string) []string { return s.names().full(parts) }

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
	for _, v := range s.stored {
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
