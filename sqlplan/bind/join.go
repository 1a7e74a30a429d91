package bind

import (
	"strings"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

var joinTypes = map[ast.JoinKind]logical.JoinType{
	ast.CommaJoin: logical.CrossJoin, ast.CrossJoin: logical.CrossJoin, ast.InnerJoin: logical.InnerJoin,
	ast.LeftJoin: logical.LeftJoin, ast.RightJoin: logical.RightJoin, ast.FullJoin: logical.FullJoin,
	ast.LeftSemiJoin: logical.SemiJoin, ast.LeftAntiJoin: logical.AntiJoin,
}

// join binds a join. Both sides are bound even if one fails.
func (b *Binder) join(j *ast.Join, up enclosing) (logical.Node, *scope) {
	if j.Kind == ast.CommaJoin {
		if r := leftDeep(j.L, j.R, j.Pos); r != j.R {
			return b.relation(r, up)
		}
	}
	l, ls := b.relation(j.L, up)
	return b.joinRight(j, l, ls, up)
}

// leftDeep puts left below the first relation of right: in FROM a, b JOIN c ON
// ... the comma binds like JOIN, so that the condition may read a. It returns
// right itself when that is no join.
func leftDeep(left, right ast.Relation, pos ast.Pos) ast.Relation {
	comma := func(r ast.Relation) ast.Relation {
		if in := leftDeep(left, r, pos); in != r {
			return in
		}
		return &ast.Join{Pos: pos, Kind: ast.CommaJoin, L: left, R: r}
	}
	switch r := right.(type) {
	case *ast.Join:
		n := *r
		n.L = comma(r.L)
		return &n
	case *ast.Pivot:
		n := *r
		n.Input = comma(r.Input)
		return &n
	case *ast.Unpivot:
		n := *r
		n.Input = comma(r.Input)
		return &n
	}
	return right
}

// joinRight joins a bound left side.
func (b *Binder) joinRight(j *ast.Join, l logical.Node, ls *scope, up enclosing) (logical.Node, *scope) {
	if j.Nearest != nil {
		return b.nearest(j, l, ls, up)
	}
	if n, s, is := b.lateralFunc(j, l, ls, up); is {
		return n, s
	}
	rightUp := up
	refs := &outerRefs{}
	if j.Lateral || isLateral(j.R) {
		rightUp = enclosing{scope: up.over(&scope{cols: ls.cols, broken: ls.broken || l == nil}), refs: refs}
	}
	r, rs := b.relation(j.R, rightUp)
	if _, isQuery := j.R.(*ast.SubqueryRel); isQuery && isLateral(j.R) && l != nil && r != nil && volatile(r) && !single(l) {
		b.fail(j.R.Range(), subqueryCategory+"NON_DETERMINISTIC_LATERAL_SUBQUERIES",
			"Unsupported subquery expression: Non-deterministic lateral subqueries are not supported when joining with outer relations that produce more than one row.")
		return nil, &scope{broken: true}
	}
	both := &scope{cols: append(append([]col(nil), ls.cols...), rs.cols...), broken: ls.broken || rs.broken || l == nil || r == nil}
	n := &logical.Join{Left: l, Right: r, Type: joinTypes[j.Kind], Lateral: len(refs.attrs) > 0}
	s, ok := both, true
	switch {
	case j.Natural:
		s, ok = b.using(j, n, ls, rs, commonNames(ls, rs))
	case len(j.Using) > 0:
		s, ok = b.using(j, n, ls, rs, j.Using)
	case j.On != nil:
		n.Cond, ok = b.joinCond(j.On, up.over(&scope{cols: both.cols, broken: both.broken}))
		if _, isQuery := j.R.(*ast.SubqueryRel); ok && isQuery && isLateral(j.R) && logical.Volatility(n.Cond) == funcs.Volatile {
			b.fail(j.On.Range(), subqueryCategory+"LATERAL_JOIN_CONDITION_NON_DETERMINISTIC",
				"Unsupported subquery expression: Lateral join condition cannot be non-deterministic.")
			ok = false
		} else if ok && logical.Volatility(n.Cond) == funcs.Volatile && !isLateral(j.R) {
			b.fail(j.On.Range(), "INVALID_NON_DETERMINISTIC_EXPRESSIONS",
				"The operator expects a deterministic expression, but the join condition %q is not: compute it in a query of its own.", ast.String(j.On))
			ok = false
		}
	}
	if !ok || l == nil || r == nil {
		return nil, &scope{broken: true, cols: s.cols}
	}
	if n.Type == logical.SemiJoin || n.Type == logical.AntiJoin {
		s = &scope{cols: ls.cols}
		if j.Natural || len(j.Using) > 0 {
			s, _ = b.usingScope(j, n, ls, rs, usingNames(j, ls, rs))
			s.cols = s.cols[:len(s.visible())]
		}
		return n, s
	}
	m, s := b.mergeKeys(j, n, s)
	if m == nil {
		return nil, s
	}
	return b.joinOutput(m, s)
}

func usingNames(j *ast.Join, ls, rs *scope) []ast.Ident {
	if j.Natural {
		return commonNames(ls, rs)
	}
	return j.Using
}

func isLateral(r ast.Relation) bool {
	switch r := r.(type) {
	case *ast.SubqueryRel:
		return r.Lateral
	case *ast.TableFunc:
		return r.Lateral
	}
	return false
}

func (b *Binder) joinCond(e ast.Expr, s *scope) (logical.Expr, bool) {
	x, ok := b.expr(e, plain(s, "JOIN"))
	if !ok {
		return nil, false
	}
	if x.typ().Kind != schema.Boolean {
		b.fail(e.Range(), "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", `The join condition "%s" has the invalid type %q, expected "BOOLEAN".`, x.text, x.typ().SQL())
		return nil, false
	}
	return x.e, true
}

// joinOutput refreshes what the join made nullable.
func (b *Binder) joinOutput(n logical.Node, s *scope) (logical.Node, *scope) {
	null := map[logical.ColumnID]bool{}
	for _, a := range n.Output() {
		null[a.ID] = a.Nullable
	}
	out := &scope{}
	for _, c := range s.cols {
		if v, ok := null[c.attr.ID]; ok {
			c.attr.Nullable = v
		}
		out.cols = append(out.cols, c)
	}
	return n, out
}

// commonNames lists the names that both sides have, in the left order; one
// that both have twice comes twice.
func commonNames(ls, rs *scope) []ast.Ident {
	var out []ast.Ident
	taken := map[int]bool{}
	right := rs.visible()
	for _, c := range ls.visible() {
		for k, d := range right {
			if !taken[k] && strings.EqualFold(c.attr.Name, d.attr.Name) {
				taken[k] = true
				out = append(out, ast.Ident{Name: c.attr.Name})
				break
			}
		}
	}
	return out
}

// usingColumn is the column that a name of USING means on one side: the first
// of several.
func (b *Binder) usingColumn(s *scope, name ast.Ident) (col, bool) {
	for _, c := range s.visible() {
		if b.sameName(c.attr.Name, name.Name) {
			return c, true
		}
	}
	return col{}, false
}

func (b *Binder) sameName(x, y string) bool {
	if b.session.CaseSensitive {
		return x == y
	}
	return strings.EqualFold(x, y)
}

// using binds USING and NATURAL: the condition and the merged columns.
func (b *Binder) using(j *ast.Join, n *logical.Join, ls, rs *scope, names []ast.Ident) (*scope, bool) {
	if ls.broken || rs.broken {
		return &scope{broken: true}, false
	}
	var conds []logical.Expr
	for _, name := range names {
		l, okl := b.usingColumn(ls, name)
		r, okr := b.usingColumn(rs, name)
		for _, side := range []string{"left", "right"} {
			in, ok := ls, okl
			if side == "right" {
				in, ok = rs, okr
			}
			if !ok {
				b.fail(name.Span, "UNRESOLVED_USING_COLUMN_FOR_JOIN", "USING column `%s` cannot be resolved on the %s side of the join. The %s-side columns: [%s].", name.Name, side, side, columnList(in))
				return &scope{broken: true}, false
			}
		}
		r0 := j.Span
		eq, ok := b.function(r0, "=", []bound{
			{e: l.attr.Ref(), text: name.Name}, {e: r.attr.Ref(), text: name.Name},
		})
		if !ok {
			return &scope{broken: true}, false
		}
		conds = append(conds, eq.e)
	}
	n.Cond = logical.Conjunction(conds)
	if n.Cond == nil && n.Type == logical.InnerJoin {
		n.Type = logical.CrossJoin
	}
	return b.usingScope(j, n, ls, rs, names)
}

// usingScope puts the key columns first, once; the other side's are found by
// their qualifier only.
func (b *Binder) usingScope(_ *ast.Join, n *logical.Join, ls, rs *scope, names []ast.Ident) (*scope, bool) {
	out := &scope{}
	skip := map[logical.ColumnID]bool{}
	var hidden []col
	for _, name := range names {
		l, _ := b.usingColumn(ls, name)
		r, _ := b.usingColumn(rs, name)
		skip[l.attr.ID], skip[r.attr.ID] = true, true
		switch n.Type {
		case logical.RightJoin:
			out.cols = append(out.cols, r)
			l.hidden = true
			hidden = append(hidden, l)
		case logical.FullJoin:
			k := col{attr: b.attr(l.attr.Name, l.attr.Type, true), merged: []logical.Attr{l.attr, r.attr}}
			out.cols = append(out.cols, k)
			l.hidden, r.hidden = true, true
			hidden = append(hidden, l, r)
		default:
			out.cols = append(out.cols, l)
			r.hidden = true
			hidden = append(hidden, r)
		}
	}
	for _, side := range []*scope{ls, rs} {
		if side == rs && (n.Type == logical.SemiJoin || n.Type == logical.AntiJoin) {
			break
		}
		for _, c := range side.cols {
			if !skip[c.attr.ID] {
				out.cols = append(out.cols, c)
			}
		}
	}
	out.cols = append(out.cols, hidden...)
	return out, true
}

// mergeKeys computes the key columns of FULL JOIN ... USING above the join.
func (b *Binder) mergeKeys(j *ast.Join, n logical.Node, s *scope) (logical.Node, *scope) {
	p := &logical.Project{Input: n}
	for _, a := range n.Output() {
		p.Exprs = append(p.Exprs, logical.Alias{Expr: a.Ref(), Attr: a})
	}
	merged := false
	for i, c := range s.cols {
		if c.merged == nil {
			continue
		}
		merged = true
		l, r := c.merged[0], c.merged[1]
		l.Nullable, r.Nullable = true, true
		xs := []bound{{e: l.Ref(), text: l.Name}, {e: r.Ref(), text: r.Name}}
		t, ok := b.branches(j.Span, c.attr.Name, xs)
		if !ok {
			return nil, &scope{broken: true}
		}
		c.attr.Type, c.merged = t, nil
		s.cols[i] = c
		p.Exprs = append(p.Exprs, logical.Alias{Expr: &logical.Coalesce{At: b.at(j.Span), Args: exprsOf(xs)}, Attr: c.attr})
	}
	if !merged {
		return n, s
	}
	return p, s
}

// lateralFunc joins a generator in FROM that reads the left side: a Generate
// over it.
func (b *Binder) lateralFunc(j *ast.Join, l logical.Node, ls *scope, up enclosing) (logical.Node, *scope, bool) {
	f, ok := j.R.(*ast.TableFunc)
	if !ok || !(j.Lateral || f.Lateral) || len(f.Name.Parts) != 1 {
		return nil, nil, false
	}
	name := strings.ToLower(f.Name.Parts[0].Name)
	fn := generatorOf(name)
	if fn == nil {
		return nil, nil, false
	}
	broken := &scope{broken: true}
	if l == nil {
		return nil, broken, true
	}
	if j.Kind == ast.LeftJoin && j.On != nil {
		if lit, always := ast.Unparen(j.On).(*ast.BoolLit); !always || !lit.Value {
			return nil, nil, false // a lateral join like others
		}
	}
	call := &ast.Call{Pos: f.Pos, Name: f.Name, Args: f.Args}
	g, ok := b.genCall(call, name, fn, plain(up.over(&scope{cols: ls.cols}), "FROM"))
	if !ok {
		return nil, broken, true
	}
	switch j.Kind {
	case ast.LeftJoin:
		g.outer = true
	case ast.CommaJoin, ast.CrossJoin, ast.InnerJoin:
	default:
		b.notYet(j.Span, "this kind of join with a LATERAL generator")
		return nil, broken, true
	}
	view := &ast.LateralView{Pos: f.Pos}
	if f.Alias != nil {
		if f.Alias.Name.Name != "" {
			view.Table = &f.Alias.Name
		}
		view.Columns = f.Alias.Columns
	}
	n, s := b.generated(view, l, ls, g)
	if n != nil && j.On != nil && j.Kind != ast.LeftJoin {
		cond, ok := b.joinCond(j.On, up.over(&scope{cols: s.cols}))
		if !ok {
			return nil, broken, true
		}
		n = &logical.Filter{Input: n, Cond: cond}
	}
	return n, s, true
}

// volatile reports an expression in the plan that gives another value each
// time.
func volatile(n logical.Node) bool {
	found := false
	logical.WalkNode(n, func(m logical.Node) bool {
		logical.EachExpr(m, func(e logical.Expr) { found = found || e != nil && logical.Volatility(e) == funcs.Volatile })
		return !found
	})
	return found
}

// single reports a plan of one row.
func single(n logical.Node) bool {
	for {
		switch m := n.(type) {
		case *logical.Project:
			n = m.Input
		case *logical.Values:
			return m.Rows <= 1
		case *logical.Aggregate:
			return len(m.Groups) == 0
		default:
			return false
		}
	}
}
