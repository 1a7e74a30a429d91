package logical

import "pipelines/tables/schema"

// Ref returns the expression that reads a.
func (a Attr) Ref() *Column { return &Column{Attr: a} }

// Field returns the attribute as a schema field.
func (a Attr) Field() schema.Field {
	return schema.Field{Name: a.Name, Type: a.Type, Nullable: a.Nullable}
}

// SchemaOf returns the schema of a list of columns.
func SchemaOf(attrs []Attr) schema.Schema {
	s := schema.Schema{Fields: make([]schema.Field, len(attrs))}
	for i, a := range attrs {
		s.Fields[i] = a.Field()
	}
	return s
}

// DeclaredSchema is SchemaOf with the declarations of columns.
func DeclaredSchema(attrs []Attr) schema.Schema {
	s := SchemaOf(attrs)
	for i, a := range attrs {
		if d := a.Declared; d != nil {
			s.Fields[i].Comment = d.Comment
			if d.Type != nil {
				s.Fields[i].Type = *d.Type
			}
		}
	}
	return s
}

// DeclarationOf is what an expression keeps of the declaration of a column.
func DeclarationOf(e Expr) *Declaration {
	switch x := e.(type) {
	case *Column:
		return x.Attr.Declared
	case *FieldAccess:
		if t := x.Input.Type(); t.Kind == schema.Struct && t.Fields[x.Index].Comment != "" {
			return &Declaration{Comment: t.Fields[x.Index].Comment}
		}
	}
	return nil
}

// Find returns the column with the id.
func Find(attrs []Attr, id ColumnID) (Attr, bool) {
	for _, a := range attrs {
		if a.ID == id {
			return a, true
		}
	}
	return Attr{}, false
}

// IndexOf returns the place of the column with the id, or -1.
func IndexOf(attrs []Attr, id ColumnID) int {
	for i, a := range attrs {
		if a.ID == id {
			return i
		}
	}
	return -1
}

func nullable(attrs []Attr) []Attr {
	out := make([]Attr, len(attrs))
	for i, a := range attrs {
		a.Nullable = true
		out[i] = a
	}
	return out
}

func concat(a, b []Attr) []Attr { return append(append(make([]Attr, 0, len(a)+len(b)), a...), b...) }

func aliases(list []Alias) []Attr {
	out := make([]Attr, len(list))
	for i, a := range list {
		out[i] = a.Attr
	}
	return out
}

func anyStreaming(n Node) bool {
	for _, c := range n.Inputs() {
		if c.Streaming() {
			return true
		}
	}
	return false
}

// Output lists the columns.
func (n *Scan) Output() []Attr { return n.Columns }

// Output lists the columns.
func (n *Values) Output() []Attr { return n.Columns }

// Output is the one column.
func (n *RangeScan) Output() []Attr { return []Attr{n.Column} }

// Output is the input's.
func (n *Filter) Output() []Attr { return n.Input.Output() }

// Output lists the aliases.
func (n *Project) Output() []Attr { return aliases(n.Exprs) }

// Output is the groups, then the aggregates.
func (n *Aggregate) Output() []Attr {
	out := aliases(n.Groups)
	for _, a := range n.Aggs {
		out = append(out, a.Attr)
	}
	return out
}

// Output lists the columns.
func (n *Expand) Output() []Attr { return n.Columns }

// Output is the left columns, then the right ones (nullable on the side that
// may be missing), or the left ones alone for semi and anti joins, or the left
// ones and the mark.
func (n *Join) Output() []Attr {
	l := n.Left.Output()
	switch n.Type {
	case SemiJoin, AntiJoin:
		return l
	case MarkJoin:
		return concat(l, []Attr{n.Mark})
	case LeftJoin, SingleJoin:
		return concat(l, nullable(n.Right.Output()))
	case RightJoin:
		return concat(nullable(l), n.Right.Output())
	case FullJoin:
		return concat(nullable(l), nullable(n.Right.Output()))
	}
	return concat(l, n.Right.Output())
}

// Output is the input's.
func (n *Sort) Output() []Attr { return n.Input.Output() }

// Output is the input's.
func (n *Limit) Output() []Attr { return n.Input.Output() }

// Output lists the columns.
func (n *Union) Output() []Attr { return n.Columns }

// Output lists the columns.
func (n *SetOp) Output() []Attr { return n.Columns }

// Output is the input's.
func (n *Distinct) Output() []Attr { return n.Input.Output() }

// Output is the input's columns, then the calls'.
func (n *Window) Output() []Attr {
	in := n.Input.Output()
	out := append(make([]Attr, 0, len(in)+len(n.Calls)), in...)
	for _, c := range n.Calls {
		out = append(out, c.Attr)
	}
	return out
}

// Output is the input's columns, then the generated ones.
func (n *Generate) Output() []Attr { return concat(n.Input.Output(), n.Columns) }

// Output is the input's.
func (n *Sample) Output() []Attr { return n.Input.Output() }

// Output is the input's, with the watermark on its column.
func (n *Watermark) Output() []Attr {
	out := append([]Attr(nil), n.Input.Output()...)
	for i := range out {
		if out[i].ID == n.Column {
			out[i].Watermark = n.Delay
		}
	}
	return out
}

// Output is the input's columns, then the window.
func (n *TimeWindow) Output() []Attr { return concat(n.Input.Output(), []Attr{n.Column}) }

// Output is the input's columns, then the session.
func (n *SessionWindow) Output() []Attr { return concat(n.Input.Output(), []Attr{n.Column}) }

// Output is the input's.
func (n *Deduplicate) Output() []Attr { return n.Input.Output() }

// Output is the input's.
func (n *Expect) Output() []Attr { return n.Input.Output() }
