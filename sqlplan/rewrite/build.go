package rewrite

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// call builds a call of a listed function over arguments that have the types
// that it wants.
func (c *Context) call(name string, args ...logical.Expr) logical.Expr {
	fn := funcs.Lookup(name)
	if fn == nil {
		panic("bug: rewrite: no function " + name)
	}
	fargs := make([]funcs.Arg, len(args))
	for i, a := range args {
		fargs[i] = funcs.Arg{Type: a.Type(), Nullable: a.Nullable(), Text: logical.Text(a)}
	}
	bd, err := fn.Bind(c.Session, fargs)
	if err != nil {
		panic("bug: rewrite: " + err.Error())
	}
	return &logical.Call{At: logical.At{Place: args[0].Span()}, Fn: bd, Args: args}
}

func (c *Context) attr(name string, e logical.Expr) logical.Attr {
	return logical.Attr{ID: c.id(), Name: name, Type: e.Type(), Nullable: e.Nullable(), Watermark: -1}
}

func boolean(v bool) *logical.Literal {
	return &logical.Literal{Value: column.Constant(schema.Of(schema.Boolean), 1, v)}
}

// passing projects exactly the columns.
func passing(n logical.Node, attrs []logical.Attr) *logical.Project {
	p := &logical.Project{Input: n}
	for _, a := range attrs {
		p.Exprs = append(p.Exprs, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	return p
}

// substitute replaces columns by expressions.
func substitute(e logical.Expr, by map[logical.ColumnID]logical.Expr) logical.Expr {
	return logical.MapExpr(e, func(x logical.Expr) logical.Expr {
		if col, ok := x.(*logical.Column); ok {
			if y, ok := by[col.Attr.ID]; ok {
				return y
			}
		}
		return x
	})
}

type idSet map[logical.ColumnID]bool

func setOf(attrs []logical.Attr) idSet {
	out := idSet{}
	for _, a := range attrs {
		out[a.ID] = true
	}
	return out
}

func columnsOf(e logical.Expr) idSet {
	out := idSet{}
	if e != nil {
		logical.Columns(e, out)
	}
	return out
}

func (s idSet) within(o idSet) bool {
	for id := range s {
		if !o[id] {
			return false
		}
	}
	return true
}

func (s idSet) meets(o idSet) bool {
	for id := range s {
		if o[id] {
			return true
		}
	}
	return false
}

func (s idSet) addAll(o idSet) {
	for id := range o {
		s[id] = true
	}
}
