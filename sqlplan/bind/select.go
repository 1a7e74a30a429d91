package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// enclosing is what a query may see of the queries around it.
type enclosing struct {
	scope *scope
	refs  *outerRefs
	// env is where a subquery expression stands; nil for LATERAL.
	env *env
}

// over makes s see the enclosing queries.
func (u enclosing) over(s *scope) *scope {
	s.outer, s.outers, s.around = u.scope, u.refs, u.env
	return s
}

// core binds one SELECT. Its fields are filled in the order of the methods
// that run calls.
type core struct {
	b     *Binder
	sel   *ast.Select
	node  logical.Node // what has been stacked so far
	in    *scope       // the columns of FROM
	times *timeWindows
	env   *env // of the select list
	list  []entry
	items []item
	// gens are the generators by their place in list, genOrder those in the
	// order in which they read each other.
	gens     map[int]*genItem
	genOrder []*genCall
	// pre are expressions that are computed below the select list, because an
	// alias is used more than inlining allows.
	pre    []logical.Alias
	groups *groups // nil: no aggregation
	having logical.Expr
	qual   logical.Expr
	order  []orderKey
	// pipe names the pipe operator that this SELECT stands for and that takes
	// no aggregates.
	pipe string
	ok   bool
}

// entry is one item of the select list after * was expanded.
type entry struct {
	x    ast.Expr
	star *starCol
	// hidden columns are found by a qualified name only.
	hidden bool
}

// item is one bound output column.
type item struct {
	bound
	attr  logical.Attr
	alias string
	// field is the name that an item without an alias has for the items after
	// it: the last part of a name that reaches into a struct.
	field string
	quals []string
	gen   *genCall // the columns of a generator come from its node
	// repeats is the column of an earlier item, when this is the same.
	repeats logical.ColumnID
	// hidden items are found by a qualified name only.
	hidden bool
}

// col is the item as a column of what the SELECT gives.
func (it item) col() col {
	return col{attr: it.attr, quals: it.quals, repeats: it.repeats, char: it.char, hidden: it.hidden}
}

// selectQuery binds a SELECT with what follows it.
func (b *Binder) selectQuery(sel *ast.Select, tail *ast.Tail, up enclosing) (logical.Node, *scope) {
	node, in := b.from(sel.From, up)
	return b.selectFrom(sel, tail, node, in)
}

// selectFrom binds a SELECT over a bound FROM.
func (b *Binder) selectFrom(sel *ast.Select, tail *ast.Tail, node logical.Node, in *scope) (logical.Node, *scope) {
	return b.runSelect(&core{b: b, sel: sel, node: node, in: in, ok: node != nil}, tail)
}

// runSelect runs the methods of a core in order.
func (b *Binder) runSelect(c *core, tail *ast.Tail) (logical.Node, *scope) {
	sel, in := c.sel, c.in
	c.times = &timeWindows{in: in}
	c.where()
	c.env = &env{scope: in, clause: "SELECT", agg: true, win: true, times: c.times, windows: namedWindows(sel.Windows, tail), last: c.lateral}
	c.expand()
	if sel.GroupBy != nil && sel.GroupBy.All && c.namedAll() {
		sel = groupedByAll(sel)
		c.sel = sel
	}
	if sel.GroupBy != nil && !sel.GroupBy.All {
		c.groupBy()
	}
	c.bindItems()
	c.refuseAggregates()
	if sel.GroupBy != nil && sel.GroupBy.All && c.ok {
		c.groupAll()
	}
	if c.ok {
		c.bindHaving()
		c.bindOrder(tail)
	}
	if c.ok {
		c.checkGenerated()
	}
	if c.ok {
		c.checkOuter()
	}
	if c.ok {
		c.build(tail)
	}
	if !c.ok {
		return nil, c.brokenScope()
	}
	return c.node, c.output()
}

// brokenScope is the output of a failed SELECT.
func (c *core) brokenScope() *scope { return &scope{broken: true} }

func namedWindows(list []ast.NamedWindow, tail *ast.Tail) map[string]*ast.Window {
	out := map[string]*ast.Window{}
	for _, w := range list {
		out[strings.ToLower(w.Name.Name)] = w.Window
	}
	if tail != nil {
		for _, w := range tail.Windows {
			out[strings.ToLower(w.Name.Name)] = w.Window
		}
	}
	return out
}

// where binds WHERE and stacks the filter.
func (c *core) where() {
	if c.sel.Where == nil {
		return
	}
	cond, ok := c.b.filterCond(c.sel.Where, plain(c.in, "WHERE"))
	c.ok = c.ok && ok
	if c.ok {
		c.node = &logical.Filter{Input: c.node, Cond: cond}
	}
}

// filterCond binds a condition that must be BOOLEAN.
func (b *Binder) filterCond(e ast.Expr, v *env) (logical.Expr, bool) {
	x, ok := b.expr(e, v)
	if !ok {
		return nil, false
	}
	if x.typ().Kind != schema.Boolean {
		b.fail(e.Range(), "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
			`Cannot resolve "%s" due to data type mismatch: Filter expression "%s" of type "%s" is not a boolean.`, x.text, x.text, x.typ().SQL())
		return nil, false
	}
	return x.e, true
}

// bindHaving binds HAVING and QUALIFY.
func (c *core) bindHaving() {
	if c.sel.Having != nil && c.sel.GroupBy == nil && c.ungrouped() {
		return
	}
	if c.sel.Having != nil {
		v := *c.env
		v.clause, v.win = "HAVING", false
		v.first = c.havingName
		x, ok := c.b.havingCond(c.sel.Having, &v)
		c.having, c.ok = x, c.ok && ok
	}
	if c.sel.Qualify != nil {
		v := *c.env
		v.clause, v.agg = "QUALIFY", false
		if c.aggregated() {
			v.scope = (enclosing{c.in.outer, c.in.outers, c.in.around}).over(&scope{})
			for _, it := range c.items {
				v.scope.cols = append(v.scope.cols, it.col())
			}
			v.first = c.outputName
		}
		x, ok := c.b.filterCond(c.sel.Qualify, &v)
		if ok && !hasWindow(x) && !c.windowed() {
			c.b.fail(c.sel.Qualify.Range(), "QUALIFY_REQUIRES_WINDOW_FUNCTION", "QUALIFY needs a window function, in the select list or in its condition.")
			ok = false
		}
		c.qual, c.ok = x, c.ok && ok
	}
}

// havingCond binds a condition of HAVING: what is no predicate is cast.
func (b *Binder) havingCond(e ast.Expr, v *env) (logical.Expr, bool) {
	x, ok := b.expr(e, v)
	if !ok {
		return nil, false
	}
	return b.cast(e.Range(), x.e, schema.Of(schema.Boolean))
}

// windowed reports whether the select list has a window function.
func (c *core) windowed() bool {
	for _, it := range c.items {
		if it.gen == nil && hasWindow(it.e) {
			return true
		}
	}
	return false
}

// ungrouped reports a column beside HAVING without GROUP BY.
func (c *core) ungrouped() bool {
	g := &grouping{c: c, byKey: map[string]logical.Attr{}, aggs: map[string]logical.Attr{}, node: &logical.Aggregate{}}
	for _, it := range c.items {
		if it.gen == nil {
			g.rewrite(it.e, "MISSING_AGGREGATION")
		}
	}
	c.ok = c.ok && !g.failed
	return g.failed
}

// outputName resolves a name against the aliases of the select list.
func (c *core) outputName(parts []ast.Ident) (bound, bool) {
	return c.aliasNamed(parts, false)
}

// havingName resolves a name of HAVING: a grouping column comes before an
// alias, an alias before other columns of FROM.
func (c *core) havingName(parts []ast.Ident) (bound, bool) {
	if f := c.in.find(parts, c.b.session.CaseSensitive); f.ok && len(f.many) == 1 && c.groups != nil && c.groups.holds(f.col.attr.ID) && hasFields(f.col.attr.Type, f.rest) {
		return bound{}, false
	}
	if len(parts) == 1 && c.ambiguousOutput(parts) {
		return bound{}, true
	}
	return c.aliasNamed(parts, false)
}

// hasFields reports whether a column of the type has the fields that follow its
// name.
func hasFields(t schema.Type, rest []ast.Ident) bool {
	for _, p := range rest {
		switch t.Kind {
		case schema.Void:
			return true
		case schema.Map, schema.Array:
			t = *t.Elem
		case schema.Struct:
			i := (schema.Schema{Fields: t.Fields}).Index(p.Name)
			if i < 0 {
				return false
			}
			t = t.Fields[i].Type
		default:
			return false
		}
	}
	return true
}

// ambiguousOutput reports a name that several different outputs have.
func (c *core) ambiguousOutput(parts []ast.Ident) bool {
	var many []col
	for _, it := range c.items {
		if strings.EqualFold(it.attr.Name, parts[0].Name) && !contains(many, it.col()) {
			many = append(many, it.col())
		}
	}
	if len(many) < 2 {
		return false
	}
	c.b.ambiguous(parts[0].Span, parts, many)
	return true
}

// aggregated reports whether the SELECT aggregates.
func (c *core) aggregated() bool {
	if c.sel.GroupBy != nil || c.sel.Having != nil {
		return true
	}
	for _, it := range c.items {
		if it.gen == nil && hasAgg(it.e) || it.gen != nil && it.gen.hasAgg() {
			return true
		}
	}
	for _, k := range c.order {
		if hasAgg(k.key.Expr) {
			return true
		}
	}
	return false
}

// build stacks the nodes above WHERE.
func (c *core) build(tail *ast.Tail) {
	c.node = c.times.stack(c.node)
	if len(c.pre) > 0 {
		c.stackPre()
	}
	grouped := c.aggregated()
	if grouped {
		c.aggregate()
	}
	if !c.ok {
		return
	}
	late := c.readsGenerated(c.having)
	if c.having != nil && !late {
		c.node = &logical.Filter{Input: c.node, Cond: c.having}
	}
	if grouped && !late {
		c.stackWindows()
	}
	c.stackGenerators()
	if late {
		c.node = &logical.Filter{Input: c.node, Cond: c.having}
	}
	c.stackWindows()
	if c.qual != nil {
		c.node = &logical.Filter{Input: c.node, Cond: c.qual}
	}
	c.project()
	if c.ok && tail != nil {
		c.limit(tail)
	}
}

// stackPre computes shared aliases below the select list.
func (c *core) stackPre() {
	if c.aggregated() {
		c.b.notYet(c.sel.Span, "a reference to an alias of a large or volatile expression in a grouped query")
		c.ok = false
		return
	}
	var exprs []logical.Alias
	for _, a := range c.node.Output() {
		exprs = append(exprs, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	// A later alias may use an earlier one: each gets a node of its own.
	for _, p := range c.pre {
		c.node = &logical.Project{Input: c.node, Exprs: append(append([]logical.Alias(nil), exprs...), p)}
		exprs = append(exprs, logical.Alias{Expr: p.Attr.Ref(), Attr: p.Attr})
	}
}

// project stacks the select list, DISTINCT and ORDER BY. Ordering keys that
// the output does not hold are computed beside it and dropped again.
func (c *core) project() {
	var exprs []logical.Alias
	for i := range c.items {
		it := &c.items[i]
		it.attr.Type, it.attr.Nullable = it.e.Type(), it.e.Nullable()
		it.attr.Watermark = watermarkOf(it.e)
		exprs = append(exprs, logical.Alias{Expr: it.e, Attr: it.attr})
	}
	visible := len(exprs)
	keys, extra := c.sortKeys()
	if !c.ok {
		return
	}
	c.node = &logical.Project{Input: c.node, Exprs: append(exprs, extra...)}
	if c.sel.Distinct {
		c.distinct()
	}
	if len(keys) > 0 {
		c.node = &logical.Sort{Input: c.node, Keys: keys, Limit: -1}
	}
	if len(extra) > 0 {
		var keep []logical.Alias
		for _, a := range exprs[:visible] {
			keep = append(keep, logical.Alias{Expr: a.Attr.Ref(), Attr: a.Attr})
		}
		c.node = &logical.Project{Input: c.node, Exprs: keep}
	}
}

func (c *core) distinct() {
	for _, it := range c.items {
		if !groupable(it.e.Type()) {
			kind := ungroupable(it.e.Type())
			c.b.fail(c.sel.Span, "UNSUPPORTED_FEATURE.SET_OPERATION_ON_"+diag.Code(kind)+"_TYPE",
				"The feature is not supported: Cannot have %s type columns in DataFrame which calls set operations (INTERSECT, EXCEPT, etc.), but the type of column `%s` is %q.", kind, it.attr.Name, it.e.Type().SQL())
			c.ok = false
			return
		}
	}
	c.node = &logical.Distinct{Input: c.node}
}

// groupable reports whether DISTINCT and set operations take the type.
func groupable(t schema.Type) bool {
	switch t.Kind {
	case schema.Map, schema.Variant:
		return false
	case schema.Array:
		return groupable(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if !groupable(f.Type) {
				return false
			}
		}
	}
	return true
}

// ungroupable names the kind of type that keeps t from being grouped.
func ungroupable(t schema.Type) string {
	switch t.Kind {
	case schema.Variant:
		return "VARIANT"
	case schema.Array:
		return ungroupable(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if !groupable(f.Type) {
				return ungroupable(f.Type)
			}
		}
	}
	return "MAP"
}

// watermarkOf is the event-time delay that a projected expression carries.
func watermarkOf(e logical.Expr) int64 {
	switch e := e.(type) {
	case *logical.Column:
		return e.Attr.Watermark
	case *logical.Call:
		// window_time: end - 1 microsecond.
		if e.Fn.Fn == nil || e.Fn.Fn.Name != "-" || len(e.Args) != 2 {
			return -1
		}
		end, ok := e.Args[0].(*logical.FieldAccess)
		one, ok2 := e.Args[1].(*logical.Literal)
		if ok && ok2 && end.Index == 1 && isWindowStruct(end.Input.Type()) && logical.LiteralText(one.Value) == "interval'1us'" {
			return watermarkOf(end.Input)
		}
	}
	return -1
}

// output is the scope that the SELECT gives.
func (c *core) output() *scope {
	s := &scope{}
	for _, it := range c.items {
		s.cols = append(s.cols, it.col())
	}
	return s
}
