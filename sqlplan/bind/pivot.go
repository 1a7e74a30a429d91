package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// pivotValue is one value of IN, with its column name.
type pivotValue struct {
	vals []bound
	name string
}

// pivot binds PIVOT: the aggregates by group and pivot columns, then one
// column for each value, taken from the row that has it.
func (b *Binder) pivot(p *ast.Pivot, n logical.Node, s *scope) (logical.Node, *scope) {
	broken := &scope{broken: true}
	if n == nil {
		return nil, s
	}
	v := &env{scope: s, clause: "PIVOT", agg: true}
	var cols []bound
	ok := true
	for _, c := range p.Columns {
		x, good := b.column(&ast.Column{Pos: c.Pos, Name: c}, v)
		ok = ok && good
		cols = append(cols, x)
	}
	aggs, names, good := b.pivotAggregates(p, v)
	if !ok || !good {
		return nil, broken
	}
	values, ok := b.pivotValues(p, cols, s)
	if !ok {
		return nil, broken
	}
	used := map[logical.ColumnID]bool{}
	for _, x := range append(append([]bound(nil), cols...), aggs...) {
		logical.Columns(x.e, used)
	}
	first := &logical.Aggregate{Input: n}
	second := &logical.Aggregate{}
	out := &scope{}
	for _, k := range s.visible() {
		if !used[k.attr.ID] {
			ref := logical.Alias{Expr: k.attr.Ref(), Attr: k.attr}
			first.Groups, second.Groups = append(first.Groups, ref), append(second.Groups, ref)
			out.cols = append(out.cols, k)
		}
	}
	var pivots []logical.Attr
	for _, c := range cols {
		a := b.attr(c.columnName(), c.typ(), c.e.Nullable())
		first.Groups = append(first.Groups, logical.Alias{Expr: c.e, Attr: a})
		pivots = append(pivots, a)
	}
	results := b.pivotFirst(first, aggs)
	return b.pivotSecond(p, pivotParts{first, second, out, pivots, results, names, values})
}

type pivotParts struct {
	first, second *logical.Aggregate
	out           *scope
	pivots        []logical.Attr
	results       []logical.Alias // the aggregate expressions over first
	names         []string
	values        []pivotValue
}

// pivotFirst registers the aggregates of the first step.
func (b *Binder) pivotFirst(first *logical.Aggregate, aggs []bound) []logical.Alias {
	g := &grouping{c: &core{b: b, in: &scope{}, times: &timeWindows{}}, node: first, byKey: map[string]logical.Attr{}, aggs: map[string]logical.Attr{}}
	var out []logical.Alias
	for _, x := range aggs {
		e := g.rewrite(x.e, "MISSING_AGGREGATION")
		out = append(out, logical.Alias{Expr: e, Attr: b.attr(x.text, e.Type(), true)})
	}
	return out
}

// pivotSecond spreads the values over columns.
func (b *Binder) pivotSecond(p *ast.Pivot, q pivotParts) (logical.Node, *scope) {
	broken := &scope{broken: true}
	proj := &logical.Project{Input: q.first}
	for _, g := range q.first.Groups {
		proj.Exprs = append(proj.Exprs, logical.Alias{Expr: g.Attr.Ref(), Attr: g.Attr})
	}
	proj.Exprs = append(proj.Exprs, q.results...)
	q.second.Input = proj
	pick := lookupAggregate("any_value")
	if pick == nil {
		pick = lookupAggregate("first")
	}
	if pick == nil {
		b.notYet(p.Span, "PIVOT")
		return nil, broken
	}
	for _, val := range q.values {
		cond, ok := b.pivotCond(p, q.pivots, val)
		if !ok {
			return nil, broken
		}
		for i, r := range q.results {
			call := logical.AggCall{At: b.at(p.Span), Filter: cond}
			if !b.resolveAgg(&ast.Call{Pos: p.Pos}, pick, []bound{{e: r.Attr.Ref(), text: r.Attr.Name}}, &call) {
				return nil, broken
			}
			name := val.name
			if len(q.results) > 1 {
				name += "_" + q.names[i]
			}
			call.Attr = b.attr(name, call.Fn.Result, true)
			q.second.Aggs = append(q.second.Aggs, call)
			q.out.cols = append(q.out.cols, col{attr: call.Attr})
		}
	}
	if p.Alias != nil {
		return b.aliased(q.second, q.out, p.Alias)
	}
	return q.second, q.out
}

// nestedText names the column of a nested pivot value by what it prints as.
func (b *Binder) nestedText(r diag.Range, x *bound) {
	if !x.typ().IsNested() {
		return
	}
	if y, ok := b.castTo(r, *x, schema.Of(schema.String), logical.CastANSI); ok {
		if v, isConst := b.constant(y.e); isConst && !v.IsNull(0) {
			x.text = string(v.Str(0))
		}
	}
}

func (b *Binder) pivotAggregates(p *ast.Pivot, v *env) (out []bound, names []string, ok bool) {
	ok = true
	for _, a := range p.Aggregates {
		x, good := b.expr(a, v)
		ok = ok && good
		if !good {
			continue
		}
		if !hasAgg(x.e) {
			b.fail(a.Range(), "_LEGACY_ERROR_TEMP_1006", "Aggregate expression required for pivot, but %q did not appear in any aggregate function.", x.text)
			ok = false
		}
		name := x.text
		if al, isAlias := a.(*ast.Alias); isAlias && len(al.Names) == 1 {
			name = al.Names[0].Name
		}
		out, names = append(out, x), append(names, name)
	}
	return out, names, ok
}

// pivotValues binds the constants of IN, cast to the pivot columns' types.
func (b *Binder) pivotValues(p *ast.Pivot, cols []bound, in *scope) ([]pivotValue, bool) {
	var out []pivotValue
	for _, c := range cols {
		if !groupable(c.typ()) {
			b.fail(p.Span, "INCOMPARABLE_PIVOT_COLUMN", "Invalid pivot column `%s`. Pivot columns must be comparable.", c.columnName())
			return nil, false
		}
	}
	for _, e := range p.Values {
		x, name := e, ""
		if a, ok := e.(*ast.Alias); ok && len(a.Names) == 1 {
			x, name = a.X, a.Names[0].Name
		}
		items := []ast.Expr{x}
		if row, ok := ast.Unparen(x).(*ast.Row); ok && len(cols) > 1 {
			items = row.Items
		}
		vals, ok := b.exprs(items, plain(&scope{cols: in.cols}, "PIVOT"))
		if !ok {
			return nil, false
		}
		if len(vals) != len(cols) {
			b.fail(e.Range(), "PIVOT_VALUE_DATA_TYPE_MISMATCH", "The number of pivot values does not match the number of pivot columns.")
			return nil, false
		}
		for i := range vals {
			if _, isConst := b.constant(vals[i].e); !isConst {
				b.fail(e.Range(), "NON_LITERAL_PIVOT_VALUES", "Literal expressions required for pivot values, found %q.", vals[i].text)
				return nil, false
			}
			c, ok := b.cast(e.Range(), vals[i].e, cols[i].typ())
			if !ok {
				return nil, false
			}
			vals[i].e = c
			b.nestedText(e.Range(), &vals[i])
		}
		if name == "" {
			name = strings.Join(textsOf(vals), ", ")
			if len(vals) > 1 {
				name = "{" + name + "}"
			} else {
				name = strings.ReplaceAll(name, "NULL", "null")
			}
		}
		out = append(out, pivotValue{vals, name})
	}
	return out, true
}

func (b *Binder) pivotCond(p *ast.Pivot, pivots []logical.Attr, v pivotValue) (logical.Expr, bool) {
	var conds []logical.Expr
	for i, a := range pivots {
		x, ok := b.function(p.Span, "<=>", []bound{{e: a.Ref(), text: a.Name}, v.vals[i]})
		if !ok {
			return nil, false
		}
		conds = append(conds, x.e)
	}
	return logical.Conjunction(conds), true
}

// unpivot binds UNPIVOT: one row for each column of IN.
func (b *Binder) unpivot(u *ast.Unpivot, n logical.Node, s *scope) (logical.Node, *scope) {
	broken := &scope{broken: true}
	if n == nil {
		return nil, s
	}
	width := len(u.Values)
	cells := make([][]bound, len(u.Columns))
	labels := make([]string, len(u.Columns))
	used := map[logical.ColumnID]bool{}
	ok := true
	for i, c := range u.Columns {
		var names []string
		for _, name := range c.Names {
			x, good := b.column(&ast.Column{Pos: name.Pos, Name: name}, plain(s, "UNPIVOT"))
			ok = ok && good
			if good {
				logical.Columns(x.e, used)
			}
			cells[i], names = append(cells[i], x), append(names, x.columnName())
		}
		labels[i] = strings.Join(names, "_")
		if c.Alias != nil {
			labels[i] = c.Alias.Name
		}
		if ok && len(c.Names) != width {
			b.fail(c.Span, "UNPIVOT_VALUE_SIZE_MISMATCH", "All unpivot value columns must have the same size as there are value column names: %d.", width)
			ok = false
		}
	}
	if !ok {
		return nil, broken
	}
	ex := &logical.Expand{Input: n}
	out := &scope{}
	for _, c := range s.visible() {
		if !used[c.attr.ID] {
			ex.Columns = append(ex.Columns, c.attr)
			out.cols = append(out.cols, c)
		}
	}
	return b.unpivotRows(u, ex, out, cells, labels)
}

func (b *Binder) unpivotRows(u *ast.Unpivot, ex *logical.Expand, out *scope, cells [][]bound, labels []string) (logical.Node, *scope) {
	broken := &scope{broken: true}
	keep := len(ex.Columns)
	add := func(a logical.Attr) {
		ex.Columns = append(ex.Columns, a)
		out.cols = append(out.cols, col{attr: a})
	}
	add(b.attr(u.NameColumn.Name, schema.Of(schema.String), false))
	for k, name := range u.Values {
		var types []schema.Type
		for _, row := range cells {
			types = append(types, row[k].typ())
		}
		t, ok := b.commonType(types, false)
		if !ok {
			b.fail(u.Span, "UNPIVOT_VALUE_DATA_TYPE_MISMATCH", "Unpivot value columns must share a least common type, some types do not: column `%s`.", name.Name)
			return nil, broken
		}
		for i := range cells {
			c, ok := b.cast(u.Span, cells[i][k].e, t)
			if !ok {
				return nil, broken
			}
			cells[i][k].e = c
		}
		add(b.attr(name.Name, t, true))
	}
	for i, row := range cells {
		var p []logical.Expr
		for _, a := range ex.Columns[:keep] {
			p = append(p, a.Ref())
		}
		p = append(p, stringLiteral(b.at(u.Span), labels[i]))
		ex.Projections = append(ex.Projections, append(p, exprsOf(row)...))
	}
	n := logical.Node(ex)
	if !u.IncludeNulls {
		var conds []logical.Expr
		for _, a := range ex.Columns[keep+1:] {
			x, ok := b.function(u.Span, "isnotnull", []bound{{e: a.Ref(), text: a.Name}})
			if !ok {
				return nil, broken
			}
			conds = append(conds, x.e)
		}
		var cond logical.Expr = &logical.Or{At: b.at(u.Span), Args: conds}
		if len(conds) == 1 {
			cond = conds[0]
		}
		n = &logical.Filter{Input: n, Cond: cond}
	}
	if u.Alias != nil {
		return b.aliased(n, out, u.Alias)
	}
	return n, out
}
