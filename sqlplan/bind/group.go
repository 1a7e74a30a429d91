package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// groups are the grouping expressions of a SELECT.
type groups struct {
	keys []groupKey
	sets [][]int // grouping sets over keys; nil: all keys
	// total is set for GROUPING SETS (()).
	total bool
}

type groupKey struct {
	bound
	r diag.Range
}

// maxSets bounds CUBE and ROLLUP.
const maxSets = 4096

// groupBy binds GROUP BY.
func (c *core) groupBy() {
	g := c.sel.GroupBy
	c.groups = &groups{}
	plainItems := g.Suffix == ast.GroupExpr && len(g.Sets) == 0
	for _, it := range g.Items {
		plainItems = plainItems && it.Kind == ast.GroupExpr
	}
	items := g.Items
	switch {
	case g.Suffix == ast.GroupCube || g.Suffix == ast.GroupRollup:
		items = []ast.GroupItem{{Pos: g.Pos, Kind: g.Suffix, Items: g.Items}}
	case len(g.Sets) > 0:
		for _, it := range g.Items {
			c.groupKey(it.X)
		}
		items = []ast.GroupItem{{Pos: g.Pos, Kind: ast.GroupSets, Items: g.Sets}}
	}
	sets := [][]int{nil}
	for _, it := range items {
		sets = cross(sets, c.groupItem(it))
		if len(sets) > maxSets {
			c.b.fail(it.Span, "GROUPING_SIZE_LIMIT_EXCEEDED", "Grouping sets size cannot be greater than %d.", maxSets)
			c.ok = false
			return
		}
	}
	if !plainItems {
		c.groups.sets = sets
	}
	if len(sets) == 1 && len(c.groups.keys) == 0 && c.ok {
		// GROUPING SETS (()) is the grand total, one row even over no rows.
		c.groups.sets, c.groups.total = nil, true
	}
}

func cross(a, b [][]int) [][]int {
	var out [][]int
	for _, x := range a {
		for _, y := range b {
			out = append(out, union(x, y))
		}
	}
	return out
}

func union(a, b []int) []int {
	out := append([]int(nil), a...)
	for _, k := range b {
		if !containsInt(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func containsInt(list []int, k int) bool {
	for _, x := range list {
		if x == k {
			return true
		}
	}
	return false
}

// groupItem returns the grouping sets of one item.
func (c *core) groupItem(it ast.GroupItem) [][]int {
	switch it.Kind {
	case ast.GroupExpr:
		return [][]int{c.groupKey(it.X)}
	case ast.GroupSet:
		var set []int
		for _, x := range it.Exprs {
			set = union(set, c.groupKey(x))
		}
		return [][]int{set}
	case ast.GroupSets:
		var out [][]int
		for _, n := range it.Items {
			out = append(out, c.groupItem(n)...)
		}
		return out
	}
	var parts [][]int
	for _, n := range it.Items {
		parts = append(parts, c.groupItem(n)...)
	}
	if it.Kind == ast.GroupRollup {
		out := [][]int{}
		for n := len(parts); n >= 0; n-- {
			var set []int
			for _, p := range parts[:n] {
				set = union(set, p)
			}
			out = append(out, set)
		}
		return out
	}
	if len(parts) > 12 {
		c.b.fail(it.Span, "GROUPING_SIZE_LIMIT_EXCEEDED", "Grouping sets size cannot be greater than %d.", maxSets)
		c.ok = false
		return nil
	}
	var out [][]int
	for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
		var set []int
		for i, p := range parts {
			if mask&(1<<(len(parts)-1-i)) != 0 {
				set = union(set, p)
			}
		}
		out = append(out, set)
	}
	return out
}

// groupKey binds one grouping expression and returns its place, or nil.
func (c *core) groupKey(x ast.Expr) []int {
	if a, ok := x.(*ast.Alias); ok {
		x = a.X
	}
	v := *c.env
	v.clause, v.agg, v.win, v.last = "GROUP BY", false, false, c.groupName
	y, ok := bound{}, false
	if n, isOrdinal := ordinal(x); isOrdinal && c.b.setting("spark.sql.groupByOrdinal") {
		y, ok = c.groupPosition(x, n)
	} else {
		y, ok = c.b.expr(x, &v)
	}
	if !ok {
		c.ok = false
		return nil
	}
	return []int{c.addKey(y, x.Range())}
}

// addKey adds a key unless an equal one is there.
func (c *core) addKey(y bound, r diag.Range) int {
	if hasWindow(y.e) {
		c.b.fail(r, "UNSUPPORTED_EXPR_FOR_OPERATOR", "A query operator contains one or more unsupported expressions: the window function %q cannot be grouped by.", y.text)
		c.ok = false
	}
	k := key(y.e)
	for i, g := range c.groups.keys {
		if key(g.e) == k {
			return i
		}
	}
	if y.typ().Kind == schema.Variant {
		c.b.fail(r, "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", `The expression "%s" cannot be used as a grouping expression because its data type "%s" is not an orderable data type.`, y.text, y.typ().SQL())
		c.ok = false
	}
	c.groups.keys = append(c.groups.keys, groupKey{y, r})
	return len(c.groups.keys) - 1
}

// groupPosition binds GROUP BY n.
func (c *core) groupPosition(x ast.Expr, n int) (bound, bool) {
	if n < 1 || n > len(c.list) {
		c.b.fail(x.Range(), "GROUP_BY_POS_OUT_OF_RANGE", "GROUP BY position %d is not in select list (valid range is [1, %d]).", n, len(c.list))
		return bound{}, false
	}
	en := c.list[n-1]
	if en.star != nil {
		return en.star.bound, true
	}
	if call, _ := c.generatorEntry(en); call != nil {
		return c.generatorPosition(n - 1)
	}
	y, ok := c.b.expr(en.x, c.env)
	if ok && hasAgg(y.e) {
		c.b.fail(x.Range(), "GROUP_BY_POS_AGGREGATE", "GROUP BY %d refers to an expression %s that contains an aggregate function. Aggregate functions are not allowed in GROUP BY.", n, y.text)
		return bound{}, false
	}
	return y, ok
}

// generatorPosition is the argument that the position of a generator means.
func (c *core) generatorPosition(i int) (bound, bool) {
	g := c.genAt(i)
	if !g.ok {
		return bound{}, false
	}
	for _, a := range g.items[0].gen.args {
		if !logical.IsConstant(a) {
			return bound{e: a, text: logical.Text(a)}, true
		}
	}
	return bound{e: g.items[0].gen.args[0], text: "generator"}, len(g.items[0].gen.args) > 0
}

// groupName resolves a name against the aliases of the select list.
func (c *core) groupName(parts []ast.Ident) (bound, bool) {
	if !c.b.setting("spark.sql.groupByAliases") {
		return bound{}, false
	}
	for _, en := range c.list {
		a, ok := en.x.(*ast.Alias)
		if !ok || len(a.Names) != 1 || !strings.EqualFold(a.Names[0].Name, parts[0].Name) {
			continue
		}
		if g, _ := ast.Unparen(a.X).(*ast.Call); g != nil && c.isGenerator(g) {
			continue
		}
		v := *c.env
		v.last = func(parts []ast.Ident) (bound, bool) { return c.groupedAlias(parts) }
		y, good := c.b.expr(a.X, &v)
		if good && hasAgg(y.e) {
			c.b.fail(parts[0].Span, "GROUP_BY_AGGREGATE", "Aggregate functions are not allowed in GROUP BY, but found %s.", y.text)
			good = false
		}
		if !good {
			return bound{}, true
		}
		for _, p := range parts[1:] {
			if y, good = c.b.access(p.Span, y, p); !good {
				return bound{}, true
			}
		}
		return y, true
	}
	if len(parts) == 1 {
		return c.groupPrinted(parts[0])
	}
	return bound{}, false
}

// groupPrinted finds the item whose automatic name is written: GROUP BY
// `(a + 1)`.
func (c *core) groupPrinted(name ast.Ident) (bound, bool) {
	for _, en := range c.list {
		switch ast.Unparen(en.x).(type) {
		case nil, *ast.Alias, *ast.Column, *ast.Star:
			continue
		case *ast.Call:
			if c.isGenerator(ast.Unparen(en.x).(*ast.Call)) {
				continue
			}
		}
		v, diags := *c.env, c.b.diags
		v.last = nil
		y, ok := c.b.expr(en.x, &v)
		c.b.diags = diags
		if ok && strings.EqualFold(y.columnName(), name.Name) && !hasAgg(y.e) && !hasWindow(y.e) {
			return y, true
		}
	}
	return bound{}, false
}

// groupedAlias refuses an alias of the select list inside another one that
// GROUP BY names.
func (c *core) groupedAlias(parts []ast.Ident) (bound, bool) {
	for _, en := range c.list {
		if a, ok := en.x.(*ast.Alias); ok && len(a.Names) == 1 && strings.EqualFold(a.Names[0].Name, parts[0].Name) {
			c.b.fail(parts[0].Span, "UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_GROUP_BY",
				"The feature is not supported: Referencing a lateral column alias via GROUP BY alias/ALL is not supported yet.")
			return bound{}, true
		}
	}
	return bound{}, false
}

// holds reports whether a column is a grouping expression.
func (g *groups) holds(id logical.ColumnID) bool {
	for _, k := range g.keys {
		if x, ok := k.e.(*logical.Column); ok && x.Attr.ID == id {
			return true
		}
	}
	return false
}

// namedAll reports whether all is a column or an alias: GROUP BY all means it
// then.
func (c *core) namedAll() bool {
	name := []ast.Ident{{Name: "all"}}
	if c.in.find(name, c.b.session.CaseSensitive).ok {
		return true
	}
	for _, en := range c.list {
		if a, ok := en.x.(*ast.Alias); ok && len(a.Names) == 1 && strings.EqualFold(a.Names[0].Name, "all") {
			return true
		}
	}
	return false
}

// groupedByAll is sel grouped by the column named all.
func groupedByAll(sel *ast.Select) *ast.Select {
	out, g := *sel, *sel.GroupBy
	g.All = false
	g.Items = []ast.GroupItem{{Pos: g.Pos, Kind: ast.GroupExpr, X: columnNamed("all", g.Pos)}}
	out.GroupBy = &g
	return &out
}

func columnNamed(name string, at ast.Pos) *ast.Column {
	return &ast.Column{Pos: at, Name: ast.Name{Pos: at, Parts: []ast.Ident{{Pos: at, Name: name}}}}
}

// groupAll makes the keys of GROUP BY ALL: what is no aggregate.
func (c *core) groupAll() {
	c.groups = &groups{}
	for i, en := range c.list {
		if g := c.gens[i]; g != nil && len(g.items) > 0 {
			c.groupGenerator(g.items[0].gen, en.x)
		}
	}
	for i, it := range c.items {
		if it.gen == nil && !hasAgg(it.e) && !hasWindow(it.e) {
			r := c.sel.GroupBy.Span
			if i < len(c.list) && c.list[i].x != nil {
				r = c.list[i].x.Range()
			}
			c.addKey(it.bound, r)
		}
	}
}

// grouping rewrites what stands above an Aggregate.
type grouping struct {
	c      *core
	node   *logical.Aggregate
	byKey  map[string]logical.Attr
	aggs   map[string]logical.Attr
	renew  map[logical.ColumnID]logical.Attr // grouping column -> its new identity
	gid    *logical.Attr
	failed bool
}

// aggregate stacks the Aggregate and rewrites everything above it.
func (c *core) aggregate() {
	if c.groups == nil {
		c.groups = &groups{}
	}
	g := &grouping{c: c, byKey: map[string]logical.Attr{}, aggs: map[string]logical.Attr{}, renew: map[logical.ColumnID]logical.Attr{}}
	g.node = &logical.Aggregate{}
	g.makeKeys()
	g.node.Input = c.node
	for i := range c.items {
		it := &c.items[i]
		if it.gen != nil {
			it.gen.rewrite(func(e logical.Expr) logical.Expr { return g.rewrite(e, "MISSING_AGGREGATION") })
			continue
		}
		it.e = g.rewrite(it.e, "MISSING_AGGREGATION")
		if x, ok := it.e.(*logical.Column); ok && it.alias == "" && len(c.groups.sets) > 0 {
			it.attr.ID = x.Attr.ID
		}
	}
	if c.having != nil {
		c.having = g.rewrite(c.having, "UNRESOLVED_COLUMN")
	}
	if c.qual != nil {
		c.qual = g.rewrite(c.qual, "UNRESOLVED_COLUMN")
	}
	for i := range c.order {
		if o := &c.order[i]; o.out < 0 {
			o.key.Expr = g.rewrite(o.key.Expr, "UNRESOLVED_COLUMN")
		}
	}
	c.node, c.ok = g.node, c.ok && !g.failed
}

// makeKeys gives each grouping expression its column.
func (g *grouping) makeKeys() {
	c := g.c
	if c.groups.sets != nil {
		g.expand()
		return
	}
	for _, k := range c.groups.keys {
		a := logical.Attr{}
		if x, ok := k.e.(*logical.Column); ok {
			a = x.Attr
		} else {
			a = c.b.attr(k.columnName(), k.typ(), k.e.Nullable())
			a.Watermark = watermarkOf(k.e)
		}
		g.byKey[key(k.e)] = a
		g.node.Groups = append(g.node.Groups, logical.Alias{Expr: k.e, Attr: a})
	}
}

// expand stacks the Expand of grouping sets.
func (g *grouping) expand() {
	c := g.c
	in := c.node.Output()
	ex := &logical.Expand{Input: c.node, Columns: append([]logical.Attr(nil), in...)}
	for _, k := range c.groups.keys {
		a := c.b.attr(k.columnName(), k.typ(), true)
		a.Watermark = watermarkOf(k.e)
		g.byKey[key(k.e)] = a
		if x, ok := k.e.(*logical.Column); ok {
			g.renew[x.Attr.ID] = a
		}
		ex.Columns = append(ex.Columns, a)
		g.node.Groups = append(g.node.Groups, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	gid := c.b.attr("spark_grouping_id", schema.Of(schema.Int64), false)
	g.gid = &gid
	extra := []logical.Attr{gid}
	if repeated(c.groups.sets) {
		extra = append(extra, c.b.attr("_gen_grouping_pos", schema.Of(schema.Int32), false))
	}
	for _, a := range extra {
		ex.Columns = append(ex.Columns, a)
		g.node.Groups = append(g.node.Groups, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	at := c.b.at(c.sel.GroupBy.Span)
	for pos, set := range c.groups.sets {
		var p []logical.Expr
		for _, a := range in {
			p = append(p, a.Ref())
		}
		bits := int64(0)
		for i, k := range c.groups.keys {
			bits <<= 1
			if containsInt(set, i) {
				p = append(p, k.e)
			} else {
				bits |= 1
				p = append(p, nullLiteral(at, k.typ()))
			}
		}
		p = append(p, longLiteral(at, bits))
		if len(extra) > 1 {
			p = append(p, intLiteral(at, int32(pos)))
		}
		ex.Projections = append(ex.Projections, p)
	}
	c.node = ex
}

func repeated(sets [][]int) bool {
	seen := map[string]bool{}
	for _, s := range sets {
		var b strings.Builder
		for _, k := range sortedInts(s) {
			b.WriteString(string(rune('A' + k)))
		}
		if seen[b.String()] {
			return true
		}
		seen[b.String()] = true
	}
	return false
}

func sortedInts(s []int) []int {
	out := append([]int(nil), s...)
	for i := range out {
		for k := i; k > 0 && out[k] < out[k-1]; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// rewrite turns an expression over FROM into one over the Aggregate's output.
// Columns that are not grouped are reported under the given class.
func (g *grouping) rewrite(e logical.Expr, class string) logical.Expr {
	if a, ok := g.byKey[key(e)]; ok {
		if x, isCol := e.(*logical.Column); isCol {
			a.Name = x.Attr.Name
		}
		return &logical.Column{At: logical.At{Place: e.Span()}, Attr: a}
	}
	switch x := e.(type) {
	case *aggExpr:
		return g.agg(x).Ref()
	case *groupingExpr:
		return g.groupingID(x)
	case *logical.Column:
		if g.c.in.has(x.Attr.ID) || g.c.times.has(x.Attr.ID) {
			g.missing(x, class)
		}
		return e
	case *logical.Subquery:
		return g.subquery(x, class)
	}
	return logical.MapChildren(e, func(x logical.Expr) logical.Expr { return g.rewrite(x, class) })
}

// agg registers an aggregate once.
func (g *grouping) agg(x *aggExpr) logical.Attr {
	k := key(x)
	if logical.Volatility(x) == 0 {
		if a, ok := g.aggs[k]; ok {
			return a
		}
	}
	a := g.c.b.attr(x.call.Fn.Fn.Name, x.Type(), x.Nullable())
	call := x.call
	call.Attr = a
	g.node.Aggs = append(g.node.Aggs, call)
	g.aggs[k] = a
	return a
}

func (g *grouping) subquery(s *logical.Subquery, class string) logical.Expr {
	n := logical.MapChildren(s, func(x logical.Expr) logical.Expr { return g.rewrite(x, class) }).(*logical.Subquery)
	for _, o := range s.Outer {
		ref := o.Ref()
		a, grouped := g.byKey[key(ref)]
		if x := g.c.b.outerAggs[o.ID]; x != nil {
			a, grouped = g.agg(x), true
		}
		switch {
		case grouped && a.ID != o.ID:
			n = replaceOuter(n, o.ID, a)
		case !grouped && g.c.in.has(o.ID):
			ref.Place = s.Place
			g.missing(ref, class)
		}
	}
	return n
}

func (g *grouping) missing(x *logical.Column, class string) {
	if g.failed {
		return
	}
	g.failed = true
	b := g.c.b
	place := x.Place
	switch {
	case class == "UNRESOLVED_COLUMN":
		known := g.c.output().names()
		b.report(diag.AtSpan(b.text.File(), place, "UNRESOLVED_COLUMN.WITH_SUGGESTION",
			"A column, variable, or function parameter with name `"+x.Attr.Name+"` cannot be resolved.").WithHint(diag.DidYouMean(x.Attr.Name, known)))
	case g.c.sel.GroupBy == nil || g.c.groups.total:
		b.report(diag.AtSpan(b.text.File(), place, "MISSING_GROUP_BY",
			"The query does not include a GROUP BY clause. Add GROUP BY or turn it into the window functions using OVER clauses."))
	case g.c.sel.GroupBy.All:
		b.report(diag.AtSpan(b.text.File(), place, "UNRESOLVED_ALL_IN_GROUP_BY",
			"Cannot infer grouping columns for GROUP BY ALL based on the select clause. Please explicitly specify the grouping columns."))
	default:
		b.report(diag.AtSpan(b.text.File(), place, "MISSING_AGGREGATION",
			`The non-aggregating expression "`+x.Attr.Name+`" is based on columns which are not participating in the GROUP BY clause.`).
			WithHint("add the column to the GROUP BY, aggregate it, or use any_value(" + x.Attr.Name + ") if you do not care which of the values within a group is returned"))
	}
}

// allKeys reports whether the arguments of grouping_id, if any, are the
// grouping columns in order.
func (g *grouping) allKeys(args []logical.Expr) bool {
	keys := g.c.groups.keys
	if len(args) == 0 {
		return true
	}
	if len(args) != len(keys) {
		return false
	}
	for i, k := range keys {
		if key(k.e) != key(args[i]) {
			return false
		}
	}
	return true
}

// groupingID rewrites grouping(x) and grouping_id().
func (g *grouping) groupingID(x *groupingExpr) logical.Expr {
	b := g.c.b
	fail := func(class diag.Code, msg string) logical.Expr {
		if !g.failed {
			b.report(diag.AtSpan(b.text.File(), x.Place, class, msg))
			g.failed = true
		}
		return x
	}
	if g.gid == nil && g.c.groups.total && x.id && len(x.args) == 0 {
		return longLiteral(x.At, 0)
	}
	if g.gid == nil {
		return fail("UNSUPPORTED_GROUPING_EXPRESSION", "grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup.")
	}
	gid := g.gid.Ref()
	gid.Place = x.Place
	if x.id {
		if !g.allKeys(x.args) {
			return fail("GROUPING_ID_COLUMN_MISMATCH", "Columns of grouping_id does not match grouping columns.")
		}
		return gid
	}
	at := -1
	for i, k := range g.c.groups.keys {
		if key(k.e) == key(x.args[0]) {
			at = i
		}
	}
	if at < 0 {
		return fail("GROUPING_COLUMN_MISMATCH", "The column of grouping() is not in the GROUP BY clause.")
	}
	shift := int32(len(g.c.groups.keys) - 1 - at)
	r := g.c.sel.GroupBy.Span
	y, ok := b.function(r, ">>", []bound{{e: gid}, {e: intLiteral(x.At, shift)}})
	if ok {
		y, ok = b.function(r, "&", []bound{y, {e: longLiteral(x.At, 1)}})
	}
	if !ok {
		g.failed = true
		return x
	}
	c, ok := b.cast(r, y.e, schema.Of(schema.Int8))
	if !ok {
		g.failed = true
		return x
	}
	return c
}
