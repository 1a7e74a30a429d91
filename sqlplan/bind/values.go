package bind

import (
	"strconv"

	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// oneRow is the input of a SELECT without FROM.
func oneRow() logical.Node { return &logical.Values{Rows: 1} }

// values binds an inline table.
func (b *Binder) values(q *ast.Values) (logical.Node, *scope) {
	broken := &scope{broken: true}
	var rows [][]bound
	ok := true
	for _, r := range q.Rows {
		items := []ast.Expr{r}
		if row, isRow := r.(*ast.Row); isRow {
			items = row.Items
		}
		xs, good := b.exprs(items, plain(&scope{}, "VALUES"))
		ok = ok && good
		if len(rows) > 0 && len(xs) != len(rows[0]) {
			b.fail(r.Range(), "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "Inline table expected %d columns but found %d columns in row %d.", len(rows[0]), len(xs), len(rows))
			return nil, broken
		}
		rows = append(rows, xs)
	}
	if !ok {
		return nil, broken
	}
	attrs, ok := b.valueTypes(q, rows)
	if !ok {
		return nil, broken
	}
	n, ok := b.valuesNode(q, rows, attrs)
	if !ok {
		return nil, broken
	}
	s := scopeOf(attrs, nil)
	if q.Alias != nil {
		if len(q.Alias.Columns) > 0 && len(q.Alias.Columns) != len(attrs) {
			b.fail(q.Alias.Span, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "Inline table expected %d columns but found %d columns.", len(q.Alias.Columns), len(attrs))
			return nil, broken
		}
		return b.aliased(n, s, q.Alias)
	}
	return n, s
}

// valueTypes finds the columns' types and casts the values to them.
func (b *Binder) valueTypes(q *ast.Values, rows [][]bound) ([]logical.Attr, bool) {
	var attrs []logical.Attr
	for c := range rows[0] {
		var types []schema.Type
		nullable := false
		for _, r := range rows {
			types = append(types, r[c].typ())
			nullable = nullable || r[c].e.Nullable()
		}
		t, ok := b.commonType(types, false)
		if !ok {
			b.fail(q.Span, "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE", "Found incompatible types in the column `col%d` of the inline table.", c+1)
			return nil, false
		}
		for i := range rows {
			e, ok := b.cast(q.Rows[i].Range(), rows[i][c].e, t)
			if !ok {
				return nil, false
			}
			rows[i][c].e = e
		}
		attrs = append(attrs, b.attr("col"+strconv.Itoa(c+1), t, nullable))
	}
	return attrs, true
}

// valuesNode evaluates the values; rows that are no constants become a union.
func (b *Binder) valuesNode(q *ast.Values, rows [][]bound, attrs []logical.Attr) (logical.Node, bool) {
	n := &logical.Values{Columns: attrs, Rows: len(rows)}
	for c := range attrs {
		vec := column.New(attrs[c].Type)
		for i, r := range rows {
			v, err := fold(r[c].e, b.session)
			if err != nil {
				b.fail(q.Rows[i].Range(), "INVALID_INLINE_TABLE.FAILED_SQL_EXPRESSION_EVALUATION",
					"Invalid inline table. Failed to evaluate the SQL expression %q: %s", r[c].text, err.Message)
				return nil, false
			}
			if v == nil && logical.Volatility(r[c].e) == funcs.Volatile {
				b.fail(q.Rows[i].Range(), "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE",
					"Invalid inline table. Cannot evaluate the expression %q in inline table definition.", r[c].text)
				return nil, false
			}
			if v == nil {
				return b.valuesUnion(rows, attrs), true
			}
			column.AppendRow(vec, v, 0)
		}
		n.Data = append(n.Data, vec)
	}
	return n, true
}

func (b *Binder) valuesUnion(rows [][]bound, attrs []logical.Attr) logical.Node {
	u := &logical.Union{Columns: attrs}
	for _, r := range rows {
		p := &logical.Project{Input: oneRow()}
		for c, a := range attrs {
			p.Exprs = append(p.Exprs, logical.Alias{Expr: r[c].e, Attr: b.attr(a.Name, a.Type, r[c].e.Nullable())})
		}
		u.Children = append(u.Children, p)
	}
	return u
}
