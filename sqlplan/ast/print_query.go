package ast

import (
	"fmt"
	"strconv"
)

func (p *printer) query(q *Query) {
	if q.With != nil {
		p.with(q.With)
		p.w(" ")
	}
	p.body(q.Body)
	p.tail(q.Tail, true)
}

func (p *printer) with(w *With) {
	p.w("WITH ")
	if w.Recursive {
		p.w("RECURSIVE ")
	}
	each(p, w.CTEs, ", ", func(c CTE) {
		p.ident(c.Name)
		listClause(p, " (", c.Columns, p.idents)
		clause(p, " MAX RECURSION LEVEL ", c.MaxLevels)
		p.w(" AS ")
		p.paren(c.Query)
	})
}

// tail writes the clauses after a body, with a blank before each; lead says
// whether the first has one too.
func (p *printer) tail(t Tail, lead bool) {
	word := func(s string) {
		if lead {
			p.w(" ")
		}
		lead = true
		p.w(s, " ")
	}
	if t.OrderByAll != nil {
		word("ORDER BY")
		p.w("ALL")
		p.sortOrder(*t.OrderByAll)
	}
	if t.OrderBy != nil {
		word("ORDER BY")
		each(p, t.OrderBy, ", ", p.sort)
	}
	if t.ClusterBy != nil {
		word("CLUSTER BY")
		p.exprs(t.ClusterBy)
	}
	if t.DistributeBy != nil {
		word("DISTRIBUTE BY")
		p.exprs(t.DistributeBy)
	}
	if t.SortBy != nil {
		word("SORT BY")
		each(p, t.SortBy, ", ", p.sort)
	}
	if t.Windows != nil {
		word("WINDOW")
		p.namedWindows(t.Windows)
	}
	if t.LimitAll {
		word("LIMIT")
		p.w("ALL")
	}
	if t.Limit != nil {
		word("LIMIT")
		p.expr(t.Limit)
	}
	if t.Offset != nil {
		word("OFFSET")
		p.expr(t.Offset)
	}
}

func (p *printer) namedWindows(ws []NamedWindow) {
	each(p, ws, ", ", func(w NamedWindow) {
		p.ident(w.Name)
		p.w(" AS ")
		p.window(w.Window)
	})
}

func (p *printer) body(b Body) {
	switch b := b.(type) {
	case *Select:
		p.selectBody(b)
	case *SetOp:
		p.body(b.L)
		p.w(" ")
		p.setOp(b)
	case *Values:
		p.values(b)
	case *TableQuery:
		p.w("TABLE ")
		p.name(b.Name)
	case *NestedQuery:
		p.paren(b.Query)
	case *Pipe:
		p.body(b.Input)
		p.w(" |> ")
		p.pipe(b.Op)
	default:
		panic(fmt.Sprintf("bug: String does not know %T", b))
	}
}

// setOp writes the operator and its right side.
func (p *printer) setOp(s *SetOp) {
	w := [...]string{"UNION", "EXCEPT", "INTERSECT"}[s.Kind]
	if s.Minus {
		w = "MINUS"
	}
	p.w(w, " ")
	switch {
	case s.All:
		p.w("ALL ")
	case s.Distinct:
		p.w("DISTINCT ")
	}
	p.body(s.R)
}

func (p *printer) values(v *Values) {
	p.w("VALUES ")
	p.exprs(v.Rows)
	p.tableAlias(v.Alias)
}

func (p *printer) selectBody(s *Select) {
	if s.Form != SelectFirst {
		p.from(s.From)
		if s.Form == FromOnly {
			return
		}
		p.w(" ")
	}
	p.selectItems(s)
	if s.Form == SelectFirst && s.From != nil {
		p.w(" ")
		p.from(s.From)
	}
	clause(p, " WHERE ", s.Where)
	if s.GroupBy != nil {
		p.w(" ")
		p.groupBy(s.GroupBy)
	}
	clause(p, " HAVING ", s.Having)
	clause(p, " QUALIFY ", s.Qualify)
	if s.Windows != nil {
		p.w(" WINDOW ")
		p.namedWindows(s.Windows)
	}
}

// from writes FROM and the relation. Without FROM only lateral views are there.
func (p *printer) from(r Relation) {
	if !rootless(r) {
		p.w("FROM ")
	}
	p.relation(r)
}

// rootless reports whether r is a chain of lateral views over no relation.
func rootless(r Relation) bool {
	for {
		v, ok := r.(*LateralView)
		if !ok {
			return r == nil
		}
		r = v.Input
	}
}

func (p *printer) selectItems(s *Select) {
	p.w("SELECT ")
	if s.Hints != nil {
		p.w("/*+ ")
		each(p, s.Hints, ", ", func(h Hint) {
			p.ident(h.Name)
			listClause(p, "(", h.Args, p.exprs)
		})
		p.w(" */ ")
	}
	switch {
	case s.Distinct:
		p.w("DISTINCT ")
	case s.All:
		p.w("ALL ")
	}
	p.exprs(s.Items)
}

func (p *printer) groupBy(g *GroupBy) {
	p.w("GROUP BY ")
	if g.All {
		p.w("ALL")
		return
	}
	each(p, g.Items, ", ", p.groupItem)
	switch g.Suffix {
	case GroupCube:
		p.w(" WITH CUBE")
	case GroupRollup:
		p.w(" WITH ROLLUP")
	case GroupSets:
		p.w(" GROUPING SETS (")
		each(p, g.Sets, ", ", p.groupItem)
		p.w(")")
	}
}

func (p *printer) groupItem(g GroupItem) {
	switch g.Kind {
	case GroupExpr:
		p.expr(g.X)
	case GroupSet:
		p.w("(")
		p.exprs(g.Exprs)
		p.w(")")
	default:
		p.w([...]string{"", "", "CUBE", "ROLLUP", "GROUPING SETS"}[g.Kind], " (")
		each(p, g.Items, ", ", p.groupItem)
		p.w(")")
	}
}

// pipe writes what stands after |>.
//
//tidy:allow-long one case per operator
func (p *printer) pipe(o PipeOp) {
	switch o := o.(type) {
	case *PipeSelect:
		p.selectItems(o.Select)
		if o.Select.Windows != nil {
			p.w(" WINDOW ")
			p.namedWindows(o.Select.Windows)
		}
	case *PipeExtend:
		p.w("EXTEND ")
		p.exprs(o.Items)
	case *PipeSet:
		p.w("SET ")
		each(p, o.Sets, ", ", p.assign)
	case *PipeDrop:
		p.w("DROP ")
		p.names(o.Names)
	case *PipeAs:
		p.w("AS ")
		p.ident(o.Name)
	case *PipeWhere:
		p.w("WHERE ")
		p.expr(o.Cond)
	case *PipeAggregate:
		p.w("AGGREGATE ")
		p.exprs(o.Items)
		if o.GroupBy != nil {
			if len(o.Items) > 0 {
				p.w(" ")
			}
			p.groupBy(o.GroupBy)
		}
	case *PipeJoin:
		p.join(o.Join)
	case *PipeSetOp:
		p.setOp(o.SetOp)
	case *PipeTail:
		p.tail(o.Tail, false)
	case *PipePivot:
		p.pivot(o.Pivot)
	case *PipeUnpivot:
		p.unpivot(o.Unpivot)
	case *PipeSample:
		p.sample(o.Sample)
	case *PipeLateralView:
		p.lateralView(o.View)
	default:
		panic(fmt.Sprintf("bug: String does not know %T", o))
	}
}

func (p *printer) assign(a Assign) {
	p.name(a.Name)
	p.w(" = ")
	p.expr(a.Value)
}

func (p *printer) tableAlias(a *TableAlias) {
	if a == nil {
		return
	}
	p.w(" AS ")
	if a.Name.Name != "" {
		p.ident(a.Name)
	}
	listClause(p, "(", a.Columns, p.idents)
}

func (p *printer) relTail(t RelTail) {
	if t.Sample != nil {
		p.w(" ")
		p.sample(t.Sample)
	}
	if t.Watermark != nil {
		p.w(" ")
		p.watermark(t.Watermark)
	}
	p.tableAlias(t.Alias)
}

func (p *printer) watermark(w *Watermark) {
	p.w("WATERMARK ")
	p.expr(w.X)
	p.w(" DELAY OF ")
	p.interval(w.Delay)
}

func (p *printer) sample(s *Sample) {
	p.w("TABLESAMPLE (")
	if s.Kind == SampleBucket {
		p.w("BUCKET ", strconv.Itoa(s.Bucket), " OUT OF ", strconv.Itoa(s.Of))
	} else {
		p.expr(s.X)
		p.w([...]string{" PERCENT", " ROWS"}[s.Kind])
	}
	p.w(")")
	if s.Seed != nil {
		p.w(" REPEATABLE (")
		p.expr(s.Seed)
		p.w(")")
	}
}

// relation writes a relation.
//
//tidy:allow-long one case per kind
func (p *printer) relation(r Relation) {
	switch r := r.(type) {
	case *Values:
		p.values(r)
	case *Table:
		p.table(r)
	case *TableFunc:
		p.tableFunc(r)
	case *SubqueryRel:
		if r.Lateral {
			p.w("LATERAL ")
		}
		if r.Stream {
			p.w("STREAM ")
		}
		p.paren(r.Query)
		p.relTail(r.RelTail)
	case *ParenRel:
		p.w("(")
		p.relation(r.Rel)
		p.w(")")
		p.relTail(r.RelTail)
	case *Join:
		p.relation(r.L)
		if r.Kind == CommaJoin {
			p.w(", ")
			p.relation(r.R)
			return
		}
		p.w(" ")
		p.join(r)
	case *Pivot:
		p.relation(r.Input)
		p.w(" ")
		p.pivot(r)
	case *Unpivot:
		p.relation(r.Input)
		p.w(" ")
		p.unpivot(r)
	case *LateralView:
		if r.Input != nil {
			p.relation(r.Input)
			p.w(" ")
		}
		p.lateralView(r)
	default:
		panic(fmt.Sprintf("bug: String does not know %T", r))
	}
}

func (p *printer) table(t *Table) {
	if t.Stream {
		p.w("STREAM ")
	}
	p.name(t.Name)
	clause(p, " VERSION AS OF ", t.Version)
	clause(p, " TIMESTAMP AS OF ", t.Time)
	if c := t.Changes; c != nil {
		p.w(" CHANGES FROM ", map[bool]string{true: "TIMESTAMP ", false: "VERSION "}[c.ByTime])
		p.expr(c.From)
		clause(p, " TO ", c.To)
	}
	if t.Options != nil {
		p.w(" WITH ")
		p.properties(t.Options)
	}
	p.relTail(t.RelTail)
}

func (p *printer) tableFunc(f *TableFunc) {
	if f.Lateral {
		p.w("LATERAL ")
	}
	if f.Stream {
		p.w("STREAM ")
	}
	if f.Table {
		p.w("TABLE(")
	}
	p.name(f.Name)
	p.w("(")
	p.exprs(f.Args)
	p.w(")")
	if f.Table {
		p.w(")")
	}
	p.relTail(f.RelTail)
}

// join writes the join words, the right side and the condition.
func (p *printer) join(j *Join) {
	if j.Natural {
		p.w("NATURAL ")
	}
	p.w([...]string{"", "CROSS ", "INNER ", "LEFT ", "RIGHT ", "FULL ", "LEFT SEMI ", "LEFT ANTI "}[j.Kind], "JOIN ")
	p.relation(j.R)
	clause(p, " ON ", j.On)
	listClause(p, " USING (", j.Using, p.idents)
	if n := j.Nearest; n != nil {
		p.w(map[bool]string{true: " EXACT", false: " APPROX"}[n.Exact], " NEAREST")
		clause(p, " ", n.Count)
		p.w(" BY ", map[bool]string{true: "SIMILARITY ", false: "DISTANCE "}[n.Similarity])
		p.expr(n.By)
	}
}

func (p *printer) pivot(v *Pivot) {
	p.w("PIVOT (")
	p.exprs(v.Aggregates)
	p.w(" FOR (")
	p.names(v.Columns)
	p.w(") IN (")
	p.exprs(v.Values)
	p.w("))")
	p.tableAlias(v.Alias)
}

func (p *printer) unpivot(u *Unpivot) {
	p.w("UNPIVOT ")
	switch {
	case u.IncludeNulls:
		p.w("INCLUDE NULLS ")
	case u.ExcludeNulls:
		p.w("EXCLUDE NULLS ")
	}
	open, end := "", ""
	if u.Multi {
		open, end = "(", ")"
	}
	p.w("(", open)
	p.idents(u.Values)
	p.w(end, " FOR ")
	p.ident(u.NameColumn)
	p.w(" IN (")
	each(p, u.Columns, ", ", func(c UnpivotColumn) {
		p.w(open)
		p.names(c.Names)
		p.w(end)
		if c.Alias != nil {
			p.w(" AS ")
			p.ident(*c.Alias)
		}
	})
	p.w("))")
	p.tableAlias(u.Alias)
}

func (p *printer) lateralView(v *LateralView) {
	p.w("LATERAL VIEW ")
	if v.Outer {
		p.w("OUTER ")
	}
	p.call(v.Call)
	if v.Table != nil {
		p.w(" ")
		p.ident(*v.Table)
	}
	if v.Columns != nil {
		p.w(" AS ")
		p.idents(v.Columns)
	}
}
