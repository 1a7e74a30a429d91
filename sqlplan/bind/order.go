package bind

import (
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// orderKey is a bound key of ORDER BY.
type orderKey struct {
	key logical.SortKey
	r   diag.Range
	out int // the item that it is, -1: another expression
}

// bindOrder binds ORDER BY (or SORT BY, CLUSTER BY) over outputs and FROM.
func (c *core) bindOrder(tail *ast.Tail) {
	if tail == nil {
		return
	}
	if all := tail.OrderByAll; all != nil && c.orderedAll() {
		it := *all
		it.X = columnNamed("all", all.Pos)
		c.bindKey(it)
		return
	}
	if tail.OrderByAll != nil {
		for i, it := range c.items {
			k, ok := c.b.keyOf(ast.SortItem{Pos: tail.OrderByAll.Pos, Desc: tail.OrderByAll.Desc, Nulls: tail.OrderByAll.Nulls},
				bound{e: it.attr.Ref(), text: it.attr.Name})
			c.ok = c.ok && ok
			c.order = append(c.order, orderKey{k, tail.OrderByAll.Span, i})
		}
		return
	}
	for _, it := range sortItems(tail) {
		c.bindKey(it)
	}
	for _, x := range tail.DistributeBy { // rows are dealt out anyway; the names must be right
		if _, isPos := ordinal(x); !isPos {
			_, ok := c.orderExpr(x)
			c.ok = c.ok && ok
		}
	}
}

// sortItems are the keys that order rows: SORT BY and CLUSTER BY count too.
func sortItems(t *ast.Tail) []ast.SortItem {
	switch {
	case len(t.OrderBy) > 0:
		return t.OrderBy
	case len(t.SortBy) > 0:
		return t.SortBy
	}
	var out []ast.SortItem
	for _, x := range t.ClusterBy {
		out = append(out, ast.SortItem{Pos: ast.Pos{Span: x.Range()}, X: x})
	}
	return out
}

func (c *core) bindKey(it ast.SortItem) {
	if n, ok := ordinal(it.X); ok && c.b.setting("spark.sql.orderByOrdinal") {
		if n < 1 || n > len(c.items) {
			c.b.fail(it.X.Range(), "ORDER_BY_POS_OUT_OF_RANGE", "ORDER BY position %d is not in select list (valid range is [1, %d]).", n, len(c.items))
			c.ok = false
			return
		}
		o := c.items[n-1]
		k, ok := c.b.keyOf(it, bound{e: o.attr.Ref(), text: o.attr.Name})
		c.ok = c.ok && ok
		c.order = append(c.order, orderKey{k, it.Span, n - 1})
		return
	}
	x, ok := c.orderExpr(it.X)
	if ok {
		var k logical.SortKey
		if k, ok = c.b.keyOf(it, x); ok {
			c.order = append(c.order, orderKey{k, it.Span, c.itemOf(x.e)})
		}
	}
	c.ok = c.ok && ok
}

// orderedAll reports whether all is a column: ORDER BY all means it then.
func (c *core) orderedAll() bool {
	name := []ast.Ident{{Name: "all"}}
	return c.output().find(name, c.b.session.CaseSensitive).ok || c.in.find(name, c.b.session.CaseSensitive).ok
}

// orderExpr binds an expression of ORDER BY: over the outputs, and where their
// names are ambiguous or have no such field, over the columns of FROM.
func (c *core) orderExpr(x ast.Expr) (bound, bool) {
	v := *c.env
	v.clause = "ORDER BY"
	v.first = c.orderName
	diags := c.b.diags
	y, ok := c.b.expr(x, &v)
	if ok || !nameless(c.b.diags[len(diags):]) {
		return y, ok
	}
	failed := c.b.diags
	c.b.diags = diags[:len(diags):len(diags)]
	v.first = nil
	if y, ok = c.b.expr(x, &v); ok {
		return y, true
	}
	c.b.diags = failed
	return y, false
}

// nameless reports errors of names and fields alone.
func nameless(l diag.List) bool {
	for _, d := range l {
		switch d.Code {
		case "AMBIGUOUS_REFERENCE", "FIELD_NOT_FOUND", "INVALID_EXTRACT_BASE_FIELD_TYPE", "INVALID_EXTRACT_FIELD_TYPE", "AMBIGUOUS_REFERENCE_TO_FIELDS":
		default:
			return false
		}
	}
	return len(l) > 0
}

// itemOf finds the item that an expression is, by identity or by form.
func (c *core) itemOf(e logical.Expr) int {
	if x, ok := e.(*logical.Column); ok {
		for i, it := range c.items {
			if it.attr.ID == x.Attr.ID {
				return i
			}
		}
	}
	k := key(e)
	for i, it := range c.items {
		if it.gen == nil && key(it.e) == k {
			return i
		}
	}
	return -1
}

// orderName resolves a name against the output columns.
func (c *core) orderName(parts []ast.Ident) (bound, bool) {
	s := &scope{}
	for _, it := range c.items {
		s.cols = append(s.cols, it.col())
	}
	f := s.find(parts, c.b.session.CaseSensitive)
	if !f.ok {
		return bound{}, false
	}
	if len(f.many) > 1 {
		c.b.ambiguous(parts[0].Span, parts, f.many)
		return bound{}, true
	}
	a := f.col.attr
	x := bound{e: &logical.Column{At: c.b.at(f.name.Span), Attr: a}, text: f.name.Name, name: f.name.Name}
	for _, p := range f.rest {
		var ok bool
		if x, ok = c.b.access(p.Span, x, p); !ok {
			return bound{}, true
		}
	}
	return x, true
}

// setting reads a switch of the session that is on unless it is set to false.
func (b *Binder) setting(key string) bool { return !strings.EqualFold(b.session.Conf[key], "false") }

// ordinal recognises an integer literal as a position.
func ordinal(e ast.Expr) (int, bool) {
	n, ok := e.(*ast.NumberLit)
	if !ok || n.Kind != ast.Integer {
		return 0, false
	}
	v, err := strconv.Atoi(n.Text)
	return v, err == nil
}

// sortKeys turns the bound keys into keys over the projection, with the extra
// columns that it needs.
func (c *core) sortKeys() (keys []logical.SortKey, extra []logical.Alias) {
	outs := map[logical.ColumnID]bool{}
	for _, it := range c.items {
		outs[it.attr.ID] = true
	}
	for _, o := range c.order {
		k := o.key
		if o.out >= 0 {
			k.Expr = c.items[o.out].attr.Ref()
			keys = append(keys, k)
			continue
		}
		used := map[logical.ColumnID]bool{}
		logical.Columns(k.Expr, used)
		missing := false
		for id := range used {
			missing = missing || !outs[id]
		}
		if missing && c.sel.Distinct {
			c.missingKey(o)
			return nil, nil
		}
		if missing {
			e := c.overItems(k.Expr)
			a := c.b.attr("_order"+strconv.Itoa(len(extra)), e.Type(), e.Nullable())
			extra = append(extra, logical.Alias{Expr: e, Attr: a})
			k.Expr = a.Ref()
		}
		keys = append(keys, k)
	}
	return keys, extra
}

// overItems replaces references to outputs by what they are.
func (c *core) overItems(e logical.Expr) logical.Expr {
	return logical.MapExpr(e, func(x logical.Expr) logical.Expr {
		if col, ok := x.(*logical.Column); ok {
			for _, it := range c.items {
				if it.attr.ID == col.Attr.ID {
					return it.e
				}
			}
		}
		return x
	})
}

// missingKey reports an ordering by a column that DISTINCT has dropped.
func (c *core) missingKey(o orderKey) {
	c.ok = false
	name := "?"
	logical.WalkExpr(o.key.Expr, func(x logical.Expr) bool {
		if col, ok := x.(*logical.Column); ok && name == "?" {
			name = col.Attr.Name
		}
		return true
	})
	c.b.unresolved(o.r, []ast.Ident{{Name: name}}, c.output())
}

// limit stacks LIMIT and OFFSET.
func (c *core) limit(t *ast.Tail) {
	n, ok := c.b.limitNode(c.node, t)
	c.node, c.ok = n, c.ok && ok
}

func (b *Binder) limitNode(n logical.Node, t *ast.Tail) (logical.Node, bool) {
	count, offset, ok, ok2 := int64(-1), int64(0), true, true
	if t.Limit != nil {
		count, ok = b.limitValue(t.Limit, "limit")
	}
	if t.Offset != nil {
		offset, ok2 = b.limitValue(t.Offset, "offset")
	}
	if !ok || !ok2 {
		return n, false
	}
	if t.LimitAll {
		unlimited(n)
	}
	if count < 0 && offset == 0 && t.Offset == nil {
		return n, true
	}
	return &logical.Limit{Input: n, Count: count, Offset: offset}, true
}

// unlimited lifts the bound on rows of the recursive queries below: that is
// what LIMIT ALL says.
func unlimited(n logical.Node) {
	switch m := n.(type) {
	case *logical.Recursion:
		m.MaxRows = -1
	case *logical.Project, *logical.Filter, *logical.Join, *logical.Union:
		for _, in := range m.Inputs() {
			unlimited(in)
		}
	}
}

func (b *Binder) limitValue(e ast.Expr, what string) (int64, bool) {
	x, ok := b.expr(e, plain(&scope{broken: true}, "LIMIT"))
	fail := func(sub diag.Code, msg string) (int64, bool) {
		b.fail(e.Range(), "INVALID_LIMIT_LIKE_EXPRESSION."+sub, "The %s like expression %s is invalid: %s.", what, strings.TrimSpace(x.text), msg)
		return 0, false
	}
	if !ok {
		if !b.Failed() {
			return fail("IS_UNFOLDABLE", "it must evaluate to a constant value")
		}
		return 0, false
	}
	if !x.typ().IsInteger() {
		return fail("DATA_TYPE", "it must be integer type, but got "+x.typ().SQL())
	}
	v, isConst := b.constant(x.e)
	if !isConst {
		return fail("IS_UNFOLDABLE", "it must evaluate to a constant value")
	}
	if v.IsNull(0) {
		return fail("IS_NULL", "it must not be null")
	}
	n, _ := column.At(v, 0).(int64)
	switch k := column.At(v, 0).(type) {
	case int8:
		n = int64(k)
	case int16:
		n = int64(k)
	case int32:
		n = int64(k)
	}
	if n < 0 {
		return fail("IS_NEGATIVE", "it must be equal to or greater than 0")
	}
	return n, true
}
