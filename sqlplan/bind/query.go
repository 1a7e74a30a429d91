package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// cteScope holds the CTEs that are visible, innermost first.
type cteScope struct {
	name string
	cte  *ast.CTE
	up   *cteScope // what the CTE itself sees
	used bool
	loop *loop // inside its own step: the rows of the round before
	// recursive CTEs refer to themselves.
	recursive bool
	// around is what the query with the CTE may see of the queries around it.
	around enclosing
}

func (s *cteScope) find(name string) *cteScope {
	for ; s != nil; s = s.up {
		if strings.EqualFold(s.name, name) {
			return s
		}
	}
	return nil
}

// query binds a query; the node is nil when it failed.
func (b *Binder) query(q *ast.Query, up enclosing) (logical.Node, *scope) {
	saved := b.ctes
	defer func() { b.ctes = saved }()
	if q.With != nil && !b.with(q.With, up) {
		return nil, &scope{broken: true}
	}
	mine := b.ctes
	n, s := b.body(q.Body, &q.Tail, up)
	b.ctes = mine
	for c := mine; c != saved; c = c.up {
		if !c.used {
			b.checkUnused(c, up)
		}
	}
	return n, s
}

// with makes the CTEs of a WITH visible.
func (b *Binder) with(w *ast.With, up enclosing) bool {
	seen, outer := map[string]bool{}, b.ctes
	for i := range w.CTEs {
		c := &w.CTEs[i]
		k := strings.ToLower(c.Name.Name)
		if seen[k] {
			b.fail(c.Name.Span, "DUPLICATED_CTE_NAMES", "CTE definition can't have duplicate names: `%s`.", c.Name.Name)
			return false
		}
		seen[k] = true
		if strings.EqualFold(b.session.Conf["spark.sql.legacy.ctePrecedencePolicy"], "EXCEPTION") && outer.find(c.Name.Name) != nil {
			b.fail(c.Name.Span, "AMBIGUOUS_ALIAS_IN_NESTED_CTE", "Name `%s` is ambiguous in nested CTE. Please set \"spark.sql.legacy.ctePrecedencePolicy\" to \"CORRECTED\" so that the name defined in the inner CTE takes precedence.", c.Name.Name)
			return false
		}
		b.ctes = &cteScope{name: c.Name.Name, cte: c, up: b.ctes, recursive: w.Recursive, around: up}
	}
	return true
}

// checkUnused binds a CTE that nothing reads, for its errors.
func (b *Binder) checkUnused(c *cteScope, up enclosing) {
	reads := len(b.reads)
	up.refs = &outerRefs{}
	b.cteQuery(c, up)
	b.reads = b.reads[:reads]
}

// cteReference binds a CTE where it is read: the columns of outer queries that
// it takes count for the queries between too.
func (b *Binder) cteReference(c *cteScope, up enclosing) (logical.Node, *scope) {
	refs := &outerRefs{}
	around := c.around
	if around.scope != nil {
		around.refs = refs
	}
	n, s := b.cteQuery(c, around)
	for _, a := range refs.attrs {
		if up.refs != nil {
			up.refs.add(a)
		}
		for at := up.scope; at != nil && at != c.around.scope; at = at.outer {
			if at.outers != nil {
				at.outers.add(a)
			}
		}
	}
	return n, s
}

// cteQuery binds the query of a CTE afresh.
func (b *Binder) cteQuery(c *cteScope, up enclosing) (logical.Node, *scope) {
	c.used = true
	saved := b.ctes
	b.ctes = c.up
	var n logical.Node
	var s *scope
	if c.recursive && mentions(c.cte.Query, c.name) {
		n, s = b.recursive(c, up)
		b.ctes = saved
		return n, s
	}
	n, s = b.query(c.cte.Query, up)
	b.ctes = saved
	if n == nil || len(c.cte.Columns) == 0 {
		return n, s
	}
	return b.renamed(n, s, c.cte.Columns, c.cte.Name.Span)
}

// mentions reports whether a query reads the name; a query inside that defines
// it anew means its own.
func mentions(q *ast.Query, name string) bool {
	found := false
	ast.Walk(q, func(n ast.Node) bool {
		if in, ok := n.(*ast.Query); ok && in != q && in.With != nil {
			for _, c := range in.With.CTEs {
				if strings.EqualFold(c.Name.Name, name) {
					return false
				}
			}
		}
		if t, ok := n.(*ast.Table); ok && len(t.Name.Parts) == 1 && strings.EqualFold(t.Name.Parts[0].Name, name) {
			found = true
		}
		return !found
	})
	return found
}

// renamed gives the columns of a scope other names.
func (b *Binder) renamed(n logical.Node, s *scope, names []ast.Ident, r diag.Range) (logical.Node, *scope) {
	cols := s.visible()
	if len(cols) != len(names) {
		b.fail(r, "ASSIGNMENT_ARITY_MISMATCH",
			"The number of columns or variables assigned or aliased: %d does not match the number of source expressions: %d.", len(names), len(cols))
		return nil, &scope{broken: true}
	}
	out := &scope{}
	for i, c := range cols {
		c.attr.Name = names[i].Name
		out.cols = append(out.cols, c)
	}
	return n, out
}

// body binds a query body with what follows it.
func (b *Binder) body(q ast.Body, tail *ast.Tail, up enclosing) (logical.Node, *scope) {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > maxExprDepth {
		b.fail(q.Range(), "EXPRESSION_TOO_DEEP", "The query is nested too deeply.")
		return nil, &scope{broken: true}
	}
	var n logical.Node
	var s *scope
	switch q := q.(type) {
	case *ast.Select:
		return b.selectQuery(q, tail, up)
	case *ast.SetOp:
		n, s = b.setOp(q, up)
	case *ast.Values:
		n, s = b.values(q)
	case *ast.TableQuery:
		n, s = b.table(&ast.Table{Pos: q.Pos, Name: q.Name}, up)
	case *ast.NestedQuery:
		n, s = b.query(q.Query, up)
	case *ast.Pipe:
		n, s = b.pipe(q, up)
	default:
		panic("bug: bind: unknown query body")
	}
	if n == nil || tail == nil || tail.Empty() {
		return n, s
	}
	return b.tail(n, s, tail, up)
}

// tail stacks ordering and limits over bound output columns.
func (b *Binder) tail(n logical.Node, s *scope, t *ast.Tail, up enclosing) (logical.Node, *scope) {
	cols := s.visible()
	v := plain(up.over(&scope{cols: s.cols, broken: s.broken}), "ORDER BY")
	var keys []logical.SortKey
	ok := true
	add := func(it ast.SortItem, x bound, good bool) {
		if good {
			var k logical.SortKey
			k, good = b.keyOf(it, x)
			keys = append(keys, k)
		}
		ok = ok && good
	}
	if all := t.OrderByAll; all != nil {
		for _, c := range cols {
			add(*all, bound{e: c.attr.Ref(), text: c.attr.Name}, true)
		}
	}
	for _, it := range sortItems(t) {
		if i, isPos := ordinal(it.X); isPos && b.setting("spark.sql.orderByOrdinal") {
			if i < 1 || i > len(cols) {
				b.fail(it.X.Range(), "ORDER_BY_POS_OUT_OF_RANGE", "ORDER BY position %d is not in select list (valid range is [1, %d]).", i, len(cols))
				ok = false
				continue
			}
			add(it, bound{e: cols[i-1].attr.Ref(), text: cols[i-1].attr.Name}, true)
			continue
		}
		x, good := b.expr(it.X, v)
		add(it, x, good)
	}
	if _, good := b.exprs(t.DistributeBy, v); !good {
		ok = false
	}
	if !ok {
		return nil, &scope{broken: true}
	}
	if len(keys) > 0 {
		n = &logical.Sort{Input: n, Keys: keys, Limit: -1}
	}
	if n, ok = b.limitNode(n, t); !ok {
		return nil, &scope{broken: true}
	}
	return n, s
}

// setOp binds UNION, INTERSECT and EXCEPT.
func (b *Binder) setOp(q *ast.SetOp, up enclosing) (logical.Node, *scope) {
	l, ls := b.body(q.L, nil, up)
	r, rs := b.body(q.R, nil, up)
	if l == nil || r == nil {
		return nil, &scope{broken: true}
	}
	return b.combine(q, l, r, ls, rs)
}

var setNames = map[ast.SetKind]string{ast.Union: "UNION", ast.Except: "EXCEPT", ast.Intersect: "INTERSECT"}

// combine makes the node of a set operation over two bound queries.
func (b *Binder) combine(q *ast.SetOp, l, r logical.Node, ls, rs *scope) (logical.Node, *scope) {
	lc, rc := ls.visible(), rs.visible()
	if len(lc) != len(rc) {
		b.fail(q.R.Range(), "NUM_COLUMNS_MISMATCH",
			"%s can only be performed on inputs with the same number of columns, but the first input has %d columns and the second input has %d columns.", setNames[q.Kind], len(lc), len(rc))
		return nil, &scope{broken: true}
	}
	types := make([]schema.Type, len(lc))
	ok := true
	for i := range lc {
		t, good := b.commonType([]schema.Type{lc[i].attr.Type, rc[i].attr.Type}, true)
		if !good {
			b.fail(q.R.Range(), "INCOMPATIBLE_COLUMN_TYPE",
				"%s can only be performed on tables with compatible column types. The %s column of the second table is %q type which is not compatible with %q at the same column of the first table.",
				setNames[q.Kind], nth(i), rc[i].attr.Type.SQL(), lc[i].attr.Type.SQL())
			ok = false
		}
		types[i] = t
		if q.Kind != ast.Union || !q.All {
			if !groupable(t) {
				kind := ungroupable(t)
				b.fail(q.Span, "UNSUPPORTED_FEATURE.SET_OPERATION_ON_"+diag.Code(kind)+"_TYPE", "The feature is not supported: Cannot have %s type columns in set operations, but the type of column `%s` is %q.", kind, lc[i].attr.Name, t.SQL())
				ok = false
			}
		}
	}
	if !ok {
		return nil, &scope{broken: true}
	}
	l, ok = b.align(q.L.Range(), l, lc, types)
	r, ok2 := b.align(q.R.Range(), r, rc, types)
	if !ok || !ok2 {
		return nil, &scope{broken: true}
	}
	out := &scope{}
	var attrs []logical.Attr
	for i := range lc {
		a := b.attr(lc[i].attr.Name, types[i], lc[i].attr.Nullable || rc[i].attr.Nullable)
		a.Watermark, a.Declared = lc[i].attr.Watermark, lc[i].attr.Declared
		attrs = append(attrs, a)
		k := col{attr: a}
		for j := range i { // twice the same on both sides is the same once more
			if lc[j].origin() == lc[i].origin() && rc[j].origin() == rc[i].origin() && k.repeats == 0 {
				k.repeats = out.cols[j].origin()
			}
		}
		out.cols = append(out.cols, k)
	}
	return setNode(q, l, r, attrs), out
}

func setNode(q *ast.SetOp, l, r logical.Node, attrs []logical.Attr) logical.Node {
	switch q.Kind {
	case ast.Except:
		return &logical.SetOp{Left: l, Right: r, Op: logical.Except, All: q.All, Columns: attrs}
	case ast.Intersect:
		return &logical.SetOp{Left: l, Right: r, Op: logical.Intersect, All: q.All, Columns: attrs}
	}
	var children []logical.Node
	if u, ok := l.(*logical.Union); ok && q.All {
		children = append(children, u.Children...)
	} else {
		children = append(children, l)
	}
	n := logical.Node(&logical.Union{Children: append(children, r), Columns: attrs})
	if !q.All {
		n = &logical.Distinct{Input: n}
	}
	return n
}

func nth(i int) string {
	names := []string{"first", "second", "third", "fourth", "fifth"}
	if i < len(names) {
		return names[i]
	}
	return "later"
}

// align projects exactly the visible columns, with the given types.
func (b *Binder) align(r diag.Range, n logical.Node, cols []col, types []schema.Type) (logical.Node, bool) {
	out := n.Output()
	same := len(out) == len(cols)
	for i := range cols {
		same = same && out[i].ID == cols[i].attr.ID && cols[i].attr.Type.SameShape(types[i])
	}
	if same {
		return n, true
	}
	p := &logical.Project{Input: n}
	for i, c := range cols {
		e, ok := b.cast(r, c.attr.Ref(), types[i])
		if !ok {
			return nil, false
		}
		a := c.attr
		if _, plain := e.(*logical.Column); !plain {
			a = b.attr(c.attr.Name, types[i], e.Nullable())
		}
		p.Exprs = append(p.Exprs, logical.Alias{Expr: e, Attr: a})
	}
	return p, true
}
