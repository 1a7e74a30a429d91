package sqlplan

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// Reference is one mention of a relation in a query.
type Reference struct {
	// Parts is the name as written; of a file path, the format and the path.
	Parts []string
	// Stream says that it is read with STREAM.
	Stream bool
	// Function is set for table functions that read something (read_files).
	Function bool
	At       diag.Range
}

// References lists the relations that a query reads, in the order of the text,
// each mention once; its own CTEs and functions that only compute are left
// out. It needs no catalog: graphs are built with it. Names made with
// IDENTIFIER of anything but a text are left out too.
func References(q *Query) []Reference {
	r := &referrer{}
	r.node(q, nil)
	return r.out
}

// ReferencesOf is References for an expression (subqueries in it).
func ReferencesOf(e Expr) []Reference {
	r := &referrer{}
	r.node(e, nil)
	return r.out
}

type referrer struct{ out []Reference }

// names is a chain of CTE names in scope.
type names struct {
	name string
	up   *names
}

func (s *names) has(n string) bool {
	for ; s != nil; s = s.up {
		if strings.EqualFold(s.name, n) {
			return true
		}
	}
	return false
}

func (r *referrer) node(n ast.Node, ctes *names) {
	switch n := n.(type) {
	case *ast.Query:
		if n.With != nil {
			for i := range n.With.CTEs {
				c := &n.With.CTEs[i]
				inner := ctes
				if n.With.Recursive {
					inner = &names{c.Name.Name, ctes}
				}
				r.node(c.Query, inner)
				ctes = &names{c.Name.Name, ctes}
			}
		}
		r.node(n.Body, ctes)
		tail := *n
		tail.With, tail.Body = nil, &ast.Values{}
		ast.EachChild(&tail, func(c ast.Node) { r.node(c, ctes) })
		return
	case *ast.Table:
		if parts := nameOf(n.Name); len(parts) > 1 || len(parts) == 1 && !ctes.has(parts[0]) {
			r.out = append(r.out, Reference{Parts: parts, Stream: n.Stream, At: n.Name.Span})
		}
	case *ast.TableQuery:
		if parts := nameOf(n.Name); len(parts) > 1 || len(parts) == 1 && !ctes.has(parts[0]) {
			r.out = append(r.out, Reference{Parts: parts, At: n.Name.Span})
		}
	case *ast.TableFunc:
		if reads(n) {
			r.out = append(r.out, Reference{Parts: n.Name.Strings(), Stream: n.Stream, Function: true, At: n.Name.Span})
		}
	}
	ast.EachChild(n, func(c ast.Node) { r.node(c, ctes) })
}

// reads reports a table function that reads from outside.
func reads(f *ast.TableFunc) bool {
	switch strings.ToLower(f.Name.Last().Name) {
	case "read_files", "read_kafka", "cloud_files", "read_delta":
		return true
	}
	return false
}

func nameOf(n ast.Name) []string {
	if n.Dynamic == nil {
		return n.Strings()
	}
	if s, ok := ast.Unparen(n.Dynamic).(*ast.StringLit); ok {
		return append(strings.Split(s.Value, "."), n.Strings()...)
	}
	return nil
}
