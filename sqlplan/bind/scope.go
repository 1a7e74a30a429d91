package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// scope says which names an expression may use.
type scope struct {
	cols []col
	// outer is the scope of the query around a subquery or of the left side of
	// a LATERAL; outers collects what is taken from there.
	outer  *scope
	outers *outerRefs
	// around is the environment of the subquery expression.
	around *env
	// broken scopes resolve nothing and report nothing: the relation behind
	// them has errors.
	broken bool
	// absent scopes belong to no FROM clause; a relation may be without columns.
	absent bool
	// params marks the parameters of a SQL function.
	params bool
}

// col is one visible column.
type col struct {
	attr  logical.Attr
	quals []string // parts of the relation's name; one for an alias
	// repeats is the column that this one is once more, as in SELECT a, a: both
	// names mean the same.
	repeats logical.ColumnID
	// hidden columns are found by a qualified name only and are not in *.
	hidden bool
	// unlisted columns are found by name but are not in *.
	unlisted bool
	// merged are the two sides of a FULL JOIN key until it is computed.
	merged []logical.Attr
	// char is the length of a column of type CHAR.
	char int
	// meta is set for hidden file metadata: the scan that can give them.
	meta *metaSource
}

// outerRefs collects the columns of outer queries that a subquery reads.
type outerRefs struct {
	attrs []logical.Attr
}

func (o *outerRefs) add(a logical.Attr) {
	if _, ok := logical.Find(o.attrs, a.ID); !ok {
		o.attrs = append(o.attrs, a)
	}
}

// metaSource makes _metadata columns of a scan on demand.
type metaSource struct {
	scan   *logical.Scan
	fields []schema.Field
	made   map[string]logical.Attr
}

// found is the result of a look-up.
type found struct {
	col  col
	rest []ast.Ident // what follows the column: struct fields
	name ast.Ident   // the part that names the column
	many []col       // more than one: ambiguous
	ok   bool
}

// find looks a name up in this scope alone: the longest qualifier wins.
func (s *scope) find(parts []ast.Ident, caseSensitive bool) found {
	eq := strings.EqualFold
	if caseSensitive {
		eq = func(a, b string) bool { return a == b }
	}
	for k := min(len(parts)-1, 3); k >= 0; k-- {
		var hits []col
		for _, c := range s.cols {
			if !eq(c.attr.Name, parts[k].Name) || k == 0 && c.hidden {
				continue
			}
			if matches(c.quals, parts[:k]) && !contains(hits, c) {
				hits = append(hits, c)
			}
		}
		if len(hits) > 0 {
			return found{col: hits[0], rest: parts[k+1:], name: parts[k], many: hits, ok: true}
		}
	}
	return found{}
}

func (c col) origin() logical.ColumnID {
	if c.repeats != 0 {
		return c.repeats
	}
	return c.attr.ID
}

func contains(cols []col, x col) bool {
	for _, c := range cols {
		if c.origin() == x.origin() && c.meta == x.meta {
			return true
		}
	}
	return false
}

// matches reports whether the written qualifier is the end of a relation's name.
func matches(quals []string, written []ast.Ident) bool {
	if len(written) > len(quals) {
		return false
	}
	for i, w := range written {
		if !strings.EqualFold(w.Name, quals[len(quals)-len(written)+i]) {
			return false
		}
	}
	return true
}

// visible lists the columns that * gives.
func (s *scope) visible() []col {
	var out []col
	for _, c := range s.cols {
		if !c.hidden && !c.unlisted {
			out = append(out, c)
		}
	}
	return out
}

// names lists what could have been meant, for suggestions.
func (s *scope) names() []string {
	var out []string
	for _, c := range s.cols {
		if c.meta != nil {
			continue
		}
		if !c.hidden {
			out = append(out, c.attr.Name)
		}
		if len(c.quals) > 0 {
			out = append(out, c.quals[len(c.quals)-1]+"."+c.attr.Name)
		}
	}
	return out
}

// has reports whether the column belongs to this scope.
func (s *scope) has(id logical.ColumnID) bool {
	for _, c := range s.cols {
		if c.attr.ID == id {
			return true
		}
	}
	return false
}

// scopeOf makes a scope of a node's output under one qualifier.
func scopeOf(attrs []logical.Attr, quals []string) *scope {
	s := &scope{}
	for _, a := range attrs {
		s.cols = append(s.cols, col{attr: a, quals: quals})
	}
	return s
}

// unresolved reports a column that is not there, with suggestions.
func (b *Binder) unresolved(r diag.Range, parts []ast.Ident, s *scope) {
	name := quoteParts(parts)
	var known []string
	for ; s != nil; s = s.outer {
		if s.broken {
			return
		}
		known = append(known, s.names()...)
	}
	if len(known) == 0 {
		b.fail(r, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
			"A column, variable, or function parameter with name %s cannot be resolved.", name)
		return
	}
	hint := diag.DidYouMean(parts[len(parts)-1].Name, known)
	b.failHint(r, "UNRESOLVED_COLUMN.WITH_SUGGESTION", hint,
		"A column, variable, or function parameter with name "+name+" cannot be resolved.")
}

func quoteParts(parts []ast.Ident) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = "`" + strings.ReplaceAll(p.Name, "`", "``") + "`"
	}
	return strings.Join(out, ".")
}

func quoteNames(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(out, ".")
}
