package rewrite

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// collapse merges a projection with the one below it when no work is repeated,
// and removes projections that change nothing.
func collapse(_ *Context, n logical.Node) logical.Node {
	root := n
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		p, ok := m.(*logical.Project)
		if !ok {
			return m
		}
		for {
			in, ok := p.Input.(*logical.Project)
			if !ok || !mergeable(p, in) {
				break
			}
			by := map[logical.ColumnID]logical.Expr{}
			for _, a := range in.Exprs {
				by[a.Attr.ID] = a.Expr
			}
			q := &logical.Project{Input: in.Input}
			for _, a := range p.Exprs {
				q.Exprs = append(q.Exprs, logical.Alias{Expr: substitute(a.Expr, by), Attr: a.Attr})
			}
			p = q
		}
		if identity(p) && m != root {
			return p.Input
		}
		if p.Input == m.(*logical.Project).Input {
			return m
		}
		return p
	})
}

// mergeable reports whether the inner expressions may move into the outer
// ones: each is used once at most, or is a column.
func mergeable(p, in *logical.Project) bool {
	uses := map[logical.ColumnID]int{}
	for _, a := range p.Exprs {
		logical.WalkExpr(a.Expr, func(x logical.Expr) bool {
			if c, ok := x.(*logical.Column); ok {
				uses[c.Attr.ID]++
			}
			return true
		})
	}
	for _, a := range in.Exprs {
		switch a.Expr.(type) {
		case *logical.Column, *logical.Literal:
			continue
		}
		if uses[a.Attr.ID] > 1 || logical.Volatility(a.Expr) == funcs.Volatile {
			return false
		}
	}
	return true
}

// identity reports a projection that gives its input as it is.
func identity(p *logical.Project) bool {
	in := p.Input.Output()
	if len(in) != len(p.Exprs) {
		return false
	}
	for i, a := range p.Exprs {
		c, ok := a.Expr.(*logical.Column)
		if !ok || c.Attr.ID != a.Attr.ID || in[i].ID != a.Attr.ID || in[i].Name != a.Attr.Name {
			return false
		}
	}
	return true
}
