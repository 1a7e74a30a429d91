package bind

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// userArgs binds the arguments of a SQL function, cast to its parameters.
func (b *Binder) userArgs(e *ast.Call, u *UserFunction, v *env) ([]bound, bool) {
	params := make([]namedParam, len(u.Params))
	for i, p := range u.Params {
		params[i].name = p.Name
		if i < len(u.Default) {
			params[i].value = u.Default[i]
		}
	}
	list, ok := b.placeArgs(e, u.Name, params)
	if !ok {
		return nil, false
	}
	wrong := func() ([]bound, bool) {
		b.fail(e.Span, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `%s` requires %d parameters but the actual number is %d.", u.Name, len(u.Params), len(e.Args))
		return nil, false
	}
	if len(list) > len(u.Params) {
		return wrong()
	}
	vals := make([]bound, len(u.Params))
	for i, p := range u.Params {
		x, at := ast.Expr(nil), v
		switch {
		case i < len(list):
			x = list[i]
		case params[i].value != nil:
			x, at = params[i].value, plain(&scope{}, "DEFAULT")
		default:
			return wrong()
		}
		if vals[i], ok = b.expr(x, at); !ok {
			return nil, false
		}
		c, ok := b.cast(e.Span, vals[i].e, p.Type)
		if !ok {
			return nil, false
		}
		vals[i] = bound{e: c, text: vals[i].text, name: p.Name}
	}
	return vals, true
}

// enterFunction counts the nesting of functions.
func (b *Binder) enterFunction(e *ast.Call, u *UserFunction) bool {
	if b.views++; b.views > maxViewDepth {
		b.fail(e.Span, "VIEW_EXCEED_MAX_NESTED_DEPTH", "The function `%s` is nested too deeply.", u.Name)
		b.views--
		return false
	}
	return true
}

// enterBody makes the names and settings those of the function until leave.
func (b *Binder) enterBody(u *UserFunction) (leave func()) {
	text, ctes, catalog, session := b.text, b.ctes, b.catalog, b.session
	b.text, b.ctes = u.Text, nil
	if u.Catalog != nil {
		b.catalog = u.Catalog
	}
	if u.Session != nil {
		b.session = u.Session
	}
	return func() { b.text, b.ctes, b.catalog, b.session = text, ctes, catalog, session }
}

func (b *Binder) columnCount(r diag.Range, u *UserFunction, got int) {
	b.fail(r, "USER_DEFINED_FUNCTIONS.RETURN_COLUMN_COUNT_MISMATCH",
		"User defined function is invalid: the number of columns produced by the RETURN clause (num: `%d`) does not match the number of column names specified by the RETURNS clause (num: `%d`) of `%s`.", got, len(u.Columns), u.Name)
}

// Define checks a function that is being made: its defaults and its body. It
// returns the function with the type or columns that it did not say.
func (b *Binder) Define(u *UserFunction) (*UserFunction, diag.List) {
	out := *u
	for i, e := range u.Default {
		if e != nil && !b.defaultOf(e, u.Params[i]) {
			return nil, b.diags
		}
	}
	params, _ := b.paramScope(u, nil)
	ok := true
	if u.Table {
		ok = b.defineTable(&out, params)
	} else {
		ok = b.defineScalar(&out, params)
	}
	if !ok || b.diags.HasErrors() {
		return nil, b.diags
	}
	return &out, b.diags
}

// defaultOf checks the default of a parameter: a value without a subquery.
func (b *Binder) defaultOf(e ast.Expr, p schema.Field) bool {
	x, ok := b.expr(e, plain(&scope{}, "DEFAULT"))
	if !ok {
		return false
	}
	if logical.HasSubquery(x.e) || hasAgg(x.e) || hasWindow(x.e) {
		b.fail(e.Range(), "USER_DEFINED_FUNCTIONS.NOT_A_VALID_DEFAULT_EXPRESSION",
			"User defined function is invalid: the DEFAULT expression of the parameter `%s` contains subqueries or aggregates. Only constants and functions of them are supported.", p.Name)
		return false
	}
	_, ok = b.cast(e.Range(), x.e, p.Type)
	return ok
}

func (b *Binder) defineTable(u *UserFunction, params *scope) bool {
	n, s := b.query(u.Query, enclosing{scope: params, refs: &outerRefs{}})
	if n == nil {
		return false
	}
	cols := s.visible()
	if u.Columns == nil {
		for _, c := range cols {
			u.Columns = append(u.Columns, schema.Field{Name: c.attr.Name, Type: c.attr.Type, Nullable: true})
		}
		return true
	}
	if len(cols) != len(u.Columns) {
		b.columnCount(u.Query.Range(), u, len(cols))
		return false
	}
	for i, c := range cols {
		if _, ok := b.cast(u.Query.Range(), c.attr.Ref(), u.Columns[i].Type); !ok {
			return false
		}
	}
	return true
}

func (b *Binder) defineScalar(u *UserFunction, params *scope) bool {
	body := u.Body
	if body == nil {
		body = &ast.Subquery{Pos: ast.Pos{Span: u.Query.Range()}, Query: u.Query}
	}
	x, ok := b.expr(body, plain(params, "FUNCTION"))
	if !ok {
		return false
	}
	if u.Returns == nil {
		t := x.typ()
		u.Returns = &t
		return true
	}
	_, ok = b.cast(body.Range(), x.e, *u.Returns)
	return ok
}

// paramScope makes the parameters of a function visible as columns.
func (b *Binder) paramScope(u *UserFunction, vals []bound) (*scope, []logical.Attr) {
	s := &scope{params: true}
	var attrs []logical.Attr
	for i, p := range u.Params {
		a := b.attr(p.Name, p.Type, vals == nil || vals[i].e.Nullable())
		attrs = append(attrs, a)
		s.cols = append(s.cols, col{attr: a, quals: []string{u.Name}})
	}
	return s, attrs
}

// userCall inlines a SQL function.
func (b *Binder) userCall(e *ast.Call, u *UserFunction, v *env) (bound, bool) {
	if u.Table {
		b.fail(e.Name.Span, "NOT_A_SCALAR_FUNCTION", "%s appears as a scalar expression here, but the function was defined as a table function.", quoteNames([]string{u.Name}))
		return bound{}, false
	}
	vals, ok := b.userArgs(e, u, v)
	if !ok || !b.enterFunction(e, u) {
		return bound{}, false
	}
	defer func() { b.views-- }()
	params, attrs := b.paramScope(u, vals)
	body := u.Body
	if body == nil {
		body = &ast.Subquery{Pos: ast.Pos{Span: u.Query.Range()}, Query: u.Query}
	}
	leave := b.enterBody(u)
	x, ok := b.expr(body, plain(params, "FUNCTION"))
	leave()
	if !ok {
		return x, false
	}
	y := bound{e: x.e, text: printCall(u.shown(), textsOf(vals[:min(len(e.Args), len(vals))]))}
	if u.Returns != nil {
		if y.e, ok = b.cast(e.Span, x.e, *u.Returns); !ok {
			return bound{}, false
		}
	}
	if !logical.HasSubquery(y.e) {
		y.e = withArgs(y.e, attrs, vals)
		return y, true
	}
	y.e, ok = b.overArgs(e, y.e, attrs, vals)
	return y, ok
}

// withArgs puts the arguments in the place of the parameters.
func withArgs(e logical.Expr, attrs []logical.Attr, vals []bound) logical.Expr {
	return logical.MapExpr(e, func(x logical.Expr) logical.Expr {
		if c, ok := x.(*logical.Column); ok {
			for i, a := range attrs {
				if a.ID == c.Attr.ID {
					return vals[i].e
				}
			}
		}
		return x
	})
}

// overArgs makes the value of a body with subqueries: (SELECT body FROM
// (SELECT arguments)), or the body itself when the arguments are columns.
func (b *Binder) overArgs(e *ast.Call, body logical.Expr, attrs []logical.Attr, vals []bound) (logical.Expr, bool) {
	columns := true
	for _, x := range vals {
		_, isCol := x.e.(*logical.Column)
		columns = columns && isCol
		if hasAgg(x.e) || hasWindow(x.e) {
			b.notYet(e.Span, "an aggregate or window function as an argument of a SQL function that holds a query")
			return nil, false
		}
	}
	if columns {
		return logical.MapExpr(withArgs(body, attrs, vals), func(x logical.Expr) logical.Expr {
			if s, ok := x.(*logical.Subquery); ok {
				for i, a := range attrs {
					s = replaceOuter(s, a.ID, vals[i].e.(*logical.Column).Attr)
				}
				return s
			}
			return x
		}), true
	}
	n, outer := argsRow(attrs, vals)
	a := b.attr("result", body.Type(), true)
	n = &logical.Project{Input: n, Exprs: []logical.Alias{{Expr: body, Attr: a}}}
	return &logical.Subquery{At: b.at(e.Span), Kind: logical.ScalarSubquery, Plan: n, Outer: outer, T: a.Type}, true
}

// argsRow is one row of the arguments, and the columns that they read.
func argsRow(attrs []logical.Attr, vals []bound) (logical.Node, []logical.Attr) {
	p := &logical.Project{Input: oneRow()}
	refs := &outerRefs{}
	for i, a := range attrs {
		p.Exprs = append(p.Exprs, logical.Alias{Expr: vals[i].e, Attr: a})
		logical.WalkExpr(vals[i].e, func(x logical.Expr) bool {
			switch x := x.(type) {
			case *logical.Column:
				refs.add(x.Attr)
			case *logical.Subquery:
				for _, a := range x.Outer {
					refs.add(a)
				}
			}
			return true
		})
	}
	return p, refs.attrs
}

// userTable binds a call of a table function: a lateral join of the arguments
// with its query.
func (b *Binder) userTable(f *ast.TableFunc, u *UserFunction, up enclosing) (logical.Node, *scope) {
	broken := &scope{broken: true}
	call := &ast.Call{Pos: f.Pos, Name: f.Name, Args: f.Args}
	vals, ok := b.userArgs(call, u, plain(up.over(&scope{}), "FROM"))
	if !ok || !b.enterFunction(call, u) {
		return nil, broken
	}
	defer func() { b.views-- }()
	params, attrs := b.paramScope(u, vals)
	leave := b.enterBody(u)
	n, s := b.query(u.Query, enclosing{scope: params, refs: &outerRefs{}})
	leave()
	if n == nil {
		return nil, broken
	}
	cols := s.visible()
	if u.Columns != nil && len(u.Columns) != len(cols) {
		b.columnCount(f.Span, u, len(cols))
		return nil, broken
	}
	row, _ := argsRow(attrs, vals)
	if len(attrs) == 0 {
		row = oneRow()
	}
	out := &scope{}
	p := &logical.Project{Input: &logical.Join{Left: row, Right: n, Type: logical.InnerJoin, Lateral: true}}
	for i, c := range cols {
		e, a := logical.Expr(c.attr.Ref()), c.attr
		if u.Columns != nil {
			if e, ok = b.cast(f.Span, e, u.Columns[i].Type); !ok {
				return nil, broken
			}
			a = b.attr(u.Columns[i].Name, u.Columns[i].Type, true)
		}
		p.Exprs = append(p.Exprs, logical.Alias{Expr: e, Attr: a})
		out.cols = append(out.cols, col{attr: a, quals: []string{u.Name}})
	}
	return p, out
}
