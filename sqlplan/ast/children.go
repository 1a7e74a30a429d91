package ast

import "fmt"

// EachChild calls f for the direct child nodes of n. Names are children where
// they hold an expression (IDENTIFIER).
func EachChild(n Node, f func(Node)) {
	v := visitor{f}
	switch n := n.(type) {
	case Expr:
		v.expr(n)
	case Statement:
		v.statement(n)
	case Relation: // before Body: Values is both
		v.relation(n)
	case Body:
		v.body(n)
	case PipeOp:
		v.pipe(n)
	default:
		v.part(n)
	}
}

// visitor hands nodes to f, skipping the ones that are not there.
type visitor struct{ f func(Node) }

// opt visits a node that may be missing.
func opt[T interface {
	comparable
	Node
}](v visitor, n T) {
	var none T
	if n != none {
		v.f(n)
	}
}

func (v visitor) x(e Expr)         { opt(v, e) }
func (v visitor) q(q *Query)       { opt(v, q) }
func (v visitor) rel(r Relation)   { opt(v, r) }
func (v visitor) window(w *Window) { opt(v, w) }
func (v visitor) name(n Name)      { v.x(n.Dynamic) }

func (v visitor) xs(es []Expr) {
	for _, e := range es {
		v.x(e)
	}
}

func (v visitor) names(ns []Name) {
	for _, n := range ns {
		v.name(n)
	}
}

func (v visitor) sorts(ss []SortItem) {
	for i := range ss {
		v.f(&ss[i])
	}
}

func (v visitor) windows(ws []NamedWindow) {
	for _, w := range ws {
		v.window(w.Window)
	}
}

func (v visitor) props(ps []Property) {
	for _, p := range ps {
		v.x(p.Value)
	}
}

func (v visitor) columns(cs []ColumnDef) {
	for _, c := range cs {
		v.x(c.Default)
		v.x(c.Generated)
	}
}

// expr visits the children of an expression.
//
//tidy:allow-long one case per kind
func (v visitor) expr(n Expr) {
	switch n := n.(type) {
	case *NullLit, *BoolLit, *NumberLit, *StringLit, *BinaryLit, *TypedLit, *IntervalLit, *Param, *Default:
	case *Column:
		v.name(n.Name)
	case *Star:
		v.names(n.Except)
	case *Field:
		v.x(n.X)
	case *Subscript:
		v.x(n.X)
		v.x(n.Index)
	case *VariantPath:
		v.x(n.X)
	case *Paren:
		v.x(n.X)
	case *Unary:
		v.x(n.X)
	case *Binary:
		v.x(n.L)
		v.x(n.R)
	case *Between:
		v.x(n.X)
		v.x(n.Low)
		v.x(n.High)
	case *In:
		v.x(n.X)
		v.xs(n.List)
		v.q(n.Query)
	case *Like:
		v.x(n.X)
		v.xs(n.Patterns)
		v.x(n.Escape)
	case *IsNull:
		v.x(n.X)
	case *IsBool:
		v.x(n.X)
	case *Case:
		v.x(n.Operand)
		for _, w := range n.Whens {
			v.x(w.Cond)
			v.x(w.Then)
		}
		v.x(n.Else)
	case *Cast:
		v.x(n.X)
	case *Collate:
		v.x(n.X)
	case *Call:
		v.name(n.Name)
		v.xs(n.Args)
		v.sorts(n.WithinGroup)
		v.x(n.Filter)
		v.window(n.Over)
	case *Lambda:
		v.x(n.Body)
	case *Row:
		v.xs(n.Items)
	case *Alias:
		v.x(n.X)
	case *NamedArg:
		v.x(n.Value)
	case *TableArg:
		v.q(n.Query)
		if n.Table != nil {
			v.name(*n.Table)
		}
		v.xs(n.PartitionBy)
		v.sorts(n.OrderBy)
	case *Subquery:
		v.q(n.Query)
	case *Exists:
		v.q(n.Query)
	default:
		panic(fmt.Sprintf("bug: EachChild does not know %T", n))
	}
}

// part visits the children of the nodes that belong to bigger ones.
func (v visitor) part(n Node) {
	switch n := n.(type) {
	case *Query:
		opt(v, n.With)
		opt(v, n.Body)
		v.tail(n.Tail)
	case *With:
		for _, c := range n.CTEs {
			v.x(c.MaxLevels)
			v.q(c.Query)
		}
	case *SortItem:
		v.x(n.X)
	case *Window:
		v.xs(n.PartitionBy)
		v.sorts(n.OrderBy)
		if n.Frame != nil {
			v.x(n.Frame.Start.X)
			if n.Frame.End != nil {
				v.x(n.Frame.End.X)
			}
		}
	case *GroupBy:
		v.groups(n.Items)
		v.groups(n.Sets)
	case *Sample:
		v.x(n.X)
		v.x(n.Seed)
	case *Watermark:
		v.x(n.X)
		opt(v, n.Delay)
	default:
		panic(fmt.Sprintf("bug: EachChild does not know %T", n))
	}
}

func (v visitor) groups(gs []GroupItem) {
	for _, g := range gs {
		v.x(g.X)
		v.xs(g.Exprs)
		v.groups(g.Items)
	}
}

func (v visitor) tail(t Tail) {
	v.sorts(t.OrderBy)
	v.xs(t.ClusterBy)
	v.xs(t.DistributeBy)
	v.sorts(t.SortBy)
	v.windows(t.Windows)
	v.x(t.Limit)
	v.x(t.Offset)
}

// body visits the children of a query body.
func (v visitor) body(n Body) {
	switch n := n.(type) {
	case *Select:
		for _, h := range n.Hints {
			v.xs(h.Args)
		}
		v.xs(n.Items)
		v.rel(n.From)
		v.x(n.Where)
		opt(v, n.GroupBy)
		v.x(n.Having)
		v.windows(n.Windows)
		v.x(n.Qualify)
	case *SetOp:
		opt(v, n.L)
		opt(v, n.R)
	case *TableQuery:
		v.name(n.Name)
	case *NestedQuery:
		v.q(n.Query)
	case *Pipe:
		v.f(n.Input)
		opt(v, n.Op)
	default:
		panic(fmt.Sprintf("bug: EachChild does not know %T", n))
	}
}

// pipe visits the children of a pipe operator.
func (v visitor) pipe(n PipeOp) {
	switch n := n.(type) {
	case *PipeSelect:
		v.f(n.Select)
	case *PipeExtend:
		v.xs(n.Items)
	case *PipeSet:
		v.assigns(n.Sets)
	case *PipeDrop:
		v.names(n.Names)
	case *PipeAs:
	case *PipeWhere:
		v.x(n.Cond)
	case *PipeAggregate:
		v.xs(n.Items)
		opt(v, n.GroupBy)
	case *PipeJoin:
		v.f(n.Join)
	case *PipeSetOp:
		v.f(n.SetOp)
	case *PipeTail:
		v.tail(n.Tail)
	case *PipePivot:
		v.f(n.Pivot)
	case *PipeUnpivot:
		v.f(n.Unpivot)
	case *PipeSample:
		v.f(n.Sample)
	case *PipeLateralView:
		v.f(n.View)
	default:
		panic(fmt.Sprintf("bug: EachChild does not know %T", n))
	}
}

func (v visitor) assigns(as []Assign) {
	for _, a := range as {
		v.name(a.Name)
		v.x(a.Value)
	}
}

func (v visitor) relTail(t RelTail) {
	opt(v, t.Sample)
	opt(v, t.Watermark)
}

// relation visits the children of a relation.
//
//tidy:allow-long one case per kind
func (v visitor) relation(n Relation) {
	switch n := n.(type) {
	case *Values:
		v.xs(n.Rows)
	case *Table:
		v.name(n.Name)
		v.x(n.Version)
		v.x(n.Time)
		if n.Changes != nil {
			v.x(n.Changes.From)
			v.x(n.Changes.To)
		}
		v.props(n.Options)
		v.relTail(n.RelTail)
	case *TableFunc:
		v.name(n.Name)
		v.xs(n.Args)
		v.relTail(n.RelTail)
	case *SubqueryRel:
		v.q(n.Query)
		v.relTail(n.RelTail)
	case *ParenRel:
		v.rel(n.Rel)
		v.relTail(n.RelTail)
	case *Join:
		v.rel(n.L)
		v.rel(n.R)
		v.x(n.On)
		if n.Nearest != nil {
			v.x(n.Nearest.Count)
			v.x(n.Nearest.By)
		}
	case *Pivot:
		v.rel(n.Input)
		v.xs(n.Aggregates)
		v.names(n.Columns)
		v.xs(n.Values)
	case *Unpivot:
		v.rel(n.Input)
		for _, c := range n.Columns {
			v.names(c.Names)
		}
	case *LateralView:
		v.rel(n.Input)
		opt(v, n.Call)
	default:
		panic(fmt.Sprintf("bug: EachChild does not know %T", n))
	}
}

func (v visitor) maybeName(n *Name) {
	if n != nil {
		v.name(*n)
	}
}

func (v visitor) spec(s TableSpec) {
	v.columns(s.Columns)
	v.constraints(s.Constraints)
	v.maybeName(s.Using)
	v.xs(s.Partitioned)
	v.names(s.ClusterBy)
	v.props(s.Properties)
	v.props(s.Options)
}

func (v visitor) constraints(cs []Constraint) {
	for _, c := range cs {
		v.x(c.Cond)
	}
}

func (v visitor) list(l *ColumnList) {
	if l != nil {
		v.xs(l.Names)
	}
}

// statement visits the children of a statement.
//
//tidy:allow-long one case per kind
func (v visitor) statement(n Statement) {
	switch n := n.(type) {
	case *QueryStmt:
		v.q(n.Query)
	case *Insert:
		opt(v, n.With)
		v.name(n.Table)
		v.props(n.Partition)
		v.x(n.ReplaceWhere)
		v.q(n.Query)
	case *CreateView:
		v.name(n.Name)
		v.columns(n.Columns)
		v.constraints(n.Constraints)
		v.props(n.Properties)
		v.maybeName(n.Using)
		v.props(n.Options)
		v.q(n.Query)
	case *CreateTable:
		v.name(n.Name)
		v.maybeName(n.Like)
		v.spec(n.TableSpec)
		v.q(n.Query)
	case *CreateDataset:
		v.name(n.Name)
		v.spec(n.TableSpec)
		v.q(n.Query)
		opt(v, n.CDC)
	case *CreateFlow:
		v.name(n.Name)
		opt(v, n.Insert)
		opt(v, n.CDC)
	case *AutoCDC:
		v.name(n.Target)
		v.rel(n.Source)
		v.xs(n.Keys)
		v.list(n.IgnoreNulls)
		v.x(n.DeleteWhen)
		v.x(n.TruncateWhen)
		v.x(n.SequenceBy)
		v.list(n.Columns)
		v.list(n.TrackHistory)
	case *CreateFunction:
		v.name(n.Name)
		v.columns(n.Params)
		v.columns(n.Columns)
		v.x(n.Body)
		v.q(n.Query)
	case *CreateSchema:
		v.name(n.Name)
		v.props(n.Properties)
	case *Drop:
		v.name(n.Name)
	case *SetTimeZone:
		opt(v, n.Interval)
	case *SetVar:
		v.assigns(n.Sets)
		v.q(n.Query)
	case *Use:
		v.name(n.Name)
	case *Show:
		v.maybeName(n.Name)
		v.maybeName(n.In)
	case *Describe:
		v.maybeName(n.Name)
		v.maybeName(n.Column)
		v.props(n.Partition)
		v.q(n.Query)
	case *Explain:
		v.f(n.Statement)
	case *Declare:
		v.names(n.Names)
		v.x(n.Default)
	case *Truncate:
		v.name(n.Table)
		v.props(n.Partition)
	case *Cache:
		v.maybeName(n.Table)
		v.props(n.Options)
		v.q(n.Query)
	case *Set, *Reset, *Unsupported, *Broken:
	default:
		panic(fmt.Sprintf("bug: EachChild does not know %T", n))
	}
}
