package rewrite

import (
	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// fromStatistics answers count, min and max over all rows of a table, or of
// whole partitions of it, from what its files say of themselves. One file that
// does not say it exactly, and the rows are read.
func fromStatistics(c *Context, n logical.Node) logical.Node {
	if c.facts.Files == nil {
		return n
	}
	return logical.MapNode(n, func(m logical.Node) logical.Node {
		a, ok := m.(*logical.Aggregate)
		if !ok || a.State != nil || len(a.Groups) > 0 || len(a.Aggs) == 0 || a.Streaming() {
			return m
		}
		q, ok := describedBy(a)
		if !ok {
			return m
		}
		files := c.facts.Files(q.scan.Relation.ID)
		if files == nil {
			return m
		}
		v := &logical.Values{Rows: 1}
		answers := make([]answer, len(a.Aggs))
		for _, f := range files {
			wanted, ok := c.wants(q, f)
			if !ok {
				return m
			}
			for i := range answers {
				if wanted && !answers[i].add(q.calls[i], f) {
					return m
				}
			}
		}
		for i, g := range a.Aggs {
			data := answers[i].result(q.calls[i], g.Attr.Type)
			if !data.Type.Equal(g.Attr.Type) {
				return m
			}
			v.Columns, v.Data = append(v.Columns, g.Attr), append(v.Data, data)
		}
		return v
	})
}

// described is an aggregate over a scan as statistics may answer it.
type described struct {
	scan  *logical.Scan
	calls []describedCall
	conds []logical.Expr
}

// describedCall is count, min or max; column is its column, "" for count(*).
type describedCall struct{ fn, column string }

// describedBy reads an aggregate over filters and projections of one scan.
func describedBy(a *logical.Aggregate) (described, bool) {
	var q described
	args := make([]logical.Expr, len(a.Aggs))
	for i, g := range a.Aggs {
		name := g.Fn.Fn.Name
		if name != "count" && name != "min" && name != "max" || g.Filter != nil || g.Distinct && name == "count" || len(g.Args) != 1 {
			return q, false
		}
		q.calls = append(q.calls, describedCall{fn: name})
		args[i] = g.Args[0]
	}
	n := a.Input
	for q.scan == nil {
		switch m := n.(type) {
		case *logical.Project:
			for i := range args {
				args[i] = through(args[i], m.Exprs)
			}
			for i := range q.conds {
				q.conds[i] = through(q.conds[i], m.Exprs)
			}
			n = m.Input
		case *logical.Filter:
			q.conds = append(q.conds, logical.Conjuncts(m.Cond)...)
			n = m.Input
		case *logical.Scan:
			q.scan = m
		default:
			return q, false
		}
	}
	for i, e := range args {
		switch e := e.(type) {
		case *logical.Literal:
			if q.calls[i].fn != "count" || e.Value.IsNull(0) {
				return q, false
			}
		case *logical.Column:
			at := logical.IndexOf(q.scan.Columns, e.Attr.ID)
			if at < 0 || q.scan.Metadata[at] != "" {
				return q, false
			}
			q.calls[i].column = sourceOf(q.scan, at)
		default:
			return q, false
		}
	}
	return q, true
}

// wants reports whether the rows of a file are among those asked for; not ok
// when that is not the same for all of them.
func (c *Context) wants(q described, f logical.FileFacts) (wanted, ok bool) {
	if len(q.conds) == 0 {
		return true, true
	}
	by := map[logical.ColumnID]logical.Expr{}
	for i, a := range q.scan.Columns {
		if q.scan.Metadata[i] == "" {
			if v := f.Column(sourceOf(q.scan, i)).Constant; v != nil && v.Type.Equal(a.Type) {
				by[a.ID] = &logical.Literal{Value: v}
			}
		}
	}
	for _, e := range q.conds {
		v, err := expr.Fold(substitute(e, by), c.Session)
		if err != nil || v == nil {
			return false, false
		}
		if v.IsNull(0) || !v.Bool[0] {
			return false, true
		}
	}
	return true, true
}

// answer is what files have said so far.
type answer struct {
	count int64
	best  *column.Vector
}

// add takes one file; false when it does not tell.
func (a *answer) add(call describedCall, f logical.FileFacts) bool {
	if f.Rows < 0 {
		return false
	}
	if call.column == "" {
		a.count += f.Rows
		return true
	}
	col := f.Column(call.column)
	if col.Constant != nil {
		if f.Rows > 0 && !col.Constant.IsNull(0) {
			a.count += f.Rows
			a.offer(call, col.Constant)
		}
		return exactBounds(col.Constant.Type) || call.fn == "count"
	}
	if col.Nulls < 0 || col.Nulls > f.Rows {
		return false
	}
	a.count += f.Rows - col.Nulls
	if call.fn == "count" || col.Nulls == f.Rows {
		return true
	}
	v := col.Min
	if call.fn == "max" {
		v = col.Max
	}
	if v == nil || v.IsNull(0) || !exactBounds(v.Type) {
		return false
	}
	a.offer(call, v)
	return true
}

func (a *answer) offer(call describedCall, v *column.Vector) {
	if call.fn == "count" || !exactBounds(v.Type) {
		return
	}
	if a.best == nil {
		a.best = v
		return
	}
	if d := column.Compare(v, 0, a.best, 0); call.fn == "min" && d < 0 || call.fn == "max" && d > 0 {
		a.best = v
	}
}

func (a *answer) result(call describedCall, t schema.Type) *column.Vector {
	if call.fn == "count" {
		return column.Constant(schema.Of(schema.Int64), 1, a.count)
	}
	if a.best != nil {
		out := column.New(a.best.Type)
		column.AppendRow(out, a.best, 0)
		return out
	}
	out := column.New(t)
	out.AppendNull()
	return out
}

// exactBounds reports the types whose bounds statistics hold exactly.
func exactBounds(t schema.Type) bool {
	switch column.PhysicalOf(t) {
	case column.PhysI8, column.PhysI16, column.PhysI32, column.PhysI64:
		return true
	}
	return t.Kind == schema.String
}
