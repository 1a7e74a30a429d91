package rewrite

import (
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// pruneFields narrows the structs that scans read to the fields that are used.
// A struct that is used as a whole anywhere stays whole.
func pruneFields(c *Context, n logical.Node) logical.Node {
	f := &fieldPruner{uses: map[logical.ColumnID]*fieldUse{}, types: map[logical.ColumnID]schema.Type{}}
	logical.WalkNode(n, func(m logical.Node) bool {
		if s, ok := m.(*logical.Scan); ok && s.Relation != nil {
			for i, a := range s.Columns {
				if _, meta := s.Metadata[i]; !meta && a.Type.Kind == schema.Struct {
					f.uses[a.ID] = &fieldUse{}
				}
			}
		}
		return true
	})
	if len(f.uses) == 0 {
		return n
	}
	for _, a := range n.Output() {
		f.whole(a.ID)
	}
	logical.WalkNode(n, func(m logical.Node) bool {
		f.collect(m)
		return true
	})
	narrowed := false
	logical.WalkNode(n, func(m logical.Node) bool {
		if s, ok := m.(*logical.Scan); ok {
			for _, a := range s.Columns {
				if u := f.uses[a.ID]; u != nil && !u.all && len(u.fields) > 0 {
					f.types[a.ID] = narrow(a.Type, u)
					narrowed = narrowed || !f.types[a.ID].Equal(a.Type)
				}
			}
		}
		return true
	})
	if !narrowed {
		return n
	}
	return logical.MapNode(n, f.node)
}

// fieldUse says which fields of a struct are read.
type fieldUse struct {
	all    bool
	fields map[int]*fieldUse
}

func (u *fieldUse) field(i int) *fieldUse {
	if u.fields == nil {
		u.fields = map[int]*fieldUse{}
	}
	if u.fields[i] == nil {
		u.fields[i] = &fieldUse{}
	}
	return u.fields[i]
}

type fieldPruner struct {
	uses  map[logical.ColumnID]*fieldUse
	types map[logical.ColumnID]schema.Type
}

func (f *fieldPruner) whole(id logical.ColumnID) {
	if u := f.uses[id]; u != nil {
		u.all = true
	}
}

// collect notes the uses of one node. A projection that passes a column on is
// no use; nodes that compare or rename whole rows use all of them.
func (f *fieldPruner) collect(n logical.Node) {
	switch m := n.(type) {
	case *logical.Project:
		for _, a := range m.Exprs {
			if c, ok := a.Expr.(*logical.Column); ok && c.Attr.ID == a.Attr.ID {
				continue
			}
			f.expr(a.Expr)
		}
		return
	case *logical.Union, *logical.Recursion, *logical.SetOp, *logical.Distinct, *logical.Deduplicate, *logical.Expand:
		for _, in := range n.Inputs() {
			for _, a := range in.Output() {
				f.whole(a.ID)
			}
		}
	case *logical.Watermark:
		f.whole(m.Column)
	}
	logical.EachExpr(n, f.expr)
}

// expr notes the fields that an expression reads.
func (f *fieldPruner) expr(e logical.Expr) {
	if e == nil || f.path(e, nil) {
		return
	}
	for _, c := range e.Children() {
		f.expr(c)
	}
}

// path notes a chain of field accesses that ends in a column.
func (f *fieldPruner) path(e logical.Expr, below []int) bool {
	switch x := e.(type) {
	case *logical.FieldAccess:
		return f.path(x.Input, append([]int{x.Index}, below...))
	case *logical.Column:
		u := f.uses[x.Attr.ID]
		if u == nil {
			return true
		}
		for _, i := range below {
			u = u.field(i)
		}
		u.all = true
		return true
	}
	return false
}

// narrow keeps the used fields of a struct type, in order.
func narrow(t schema.Type, u *fieldUse) schema.Type {
	if u.all || t.Kind != schema.Struct {
		return t
	}
	out := schema.Type{Kind: schema.Struct}
	for i, fl := range t.Fields {
		if sub := u.fields[i]; sub != nil {
			fl.Type = narrow(fl.Type, sub)
			out.Fields = append(out.Fields, fl)
		}
	}
	return out
}

func (f *fieldPruner) attr(a logical.Attr) logical.Attr {
	if t, ok := f.types[a.ID]; ok {
		a.Type = t
	}
	return a
}

func (f *fieldPruner) node(n logical.Node) logical.Node {
	switch m := n.(type) {
	case *logical.Scan:
		s := *m
		s.Columns = append([]logical.Attr(nil), m.Columns...)
		for i := range s.Columns {
			s.Columns[i] = f.attr(s.Columns[i])
		}
		n = &s
	case *logical.Project:
		p := &logical.Project{Input: m.Input, Exprs: append([]logical.Alias(nil), m.Exprs...)}
		for i := range p.Exprs {
			p.Exprs[i].Attr = f.attr(p.Exprs[i].Attr)
		}
		n = p
	}
	return logical.MapExprs(n, f.rewrite)
}

// rewrite gives columns their narrow types and field accesses their new places.
func (f *fieldPruner) rewrite(e logical.Expr) logical.Expr {
	if e == nil {
		return nil
	}
	switch x := e.(type) {
	case *logical.Column:
		if _, ok := f.types[x.Attr.ID]; ok {
			return &logical.Column{At: x.At, Attr: f.attr(x.Attr)}
		}
		return e
	case *logical.FieldAccess:
		in := f.rewrite(x.Input)
		if in == x.Input {
			return e
		}
		name := x.Input.Type().Fields[x.Index].Name
		for i, fl := range in.Type().Fields {
			if fl.Name == name {
				return &logical.FieldAccess{At: x.At, Input: in, Index: i}
			}
		}
		panic("bug: rewrite: field " + name + " was pruned but is used")
	}
	return logical.MapChildren(e, f.rewrite)
}
