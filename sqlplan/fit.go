package sqlplan

import (
	"fmt"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// Fit says how the columns of a query go into the columns of a table.
type Fit struct {
	Target schema.Schema
	// Source are the query's columns, from a first compilation.
	Source schema.Schema
	// Columns names the target's columns in the query's order; nil: all.
	Columns []string
	// ByName takes the query's columns by their names.
	ByName bool
	// Table is the table's name, for messages.
	Table string
	// Default names the variable that holds a column's default, "" when the
	// column has none and NULL stands for it.
	Default func(column string) string
}

// FitQuery wraps a query so that it gives exactly the target's columns, as
// Spark's ANSI store assignment allows; what it does not name is the column's
// default.
func FitQuery(q *Query, text *diag.Text, f Fit) (*Query, diag.List) {
	at := ast.Pos{Span: q.Range()}
	alias := &ast.TableAlias{Pos: at, Name: ast.Ident{Pos: at, Name: "__source"}}
	for i := range f.Source.Fields {
		alias.Columns = append(alias.Columns, ast.Ident{Pos: at, Name: fmt.Sprintf("__c%d", i)})
	}
	from, list := f.places(text, q.Range())
	if list.HasErrors() {
		return nil, list
	}
	sel := &ast.Select{Pos: at, From: &ast.SubqueryRel{Pos: at, Query: q, RelTail: ast.RelTail{Alias: alias}}}
	for i, field := range f.Target.Fields {
		var x Expr = f.missing(at, field.Name)
		source := schema.Of(schema.String)
		if from[i] >= 0 {
			x = columnNamed(at, alias.Columns[from[i]].Name)
			var err *funcs.Error
			source = f.Source.Fields[from[i]].Type
			if x, err = f.stored(at, x, f.Source.Fields[from[i]].Type, field); err != nil {
				list = append(list, diag.At(text, q.Range(), diag.Code(err.Class), err.Message))
				continue
			}
		}
		sel.Items = append(sel.Items, &ast.Alias{Pos: at, X: storeInto(at, x, source, field.Type), Names: []ast.Ident{{Pos: at, Name: field.Name, Quoted: true}}})
	}
	if list.HasErrors() {
		return nil, list
	}
	return &ast.Query{Pos: at, Body: sel}, nil
}

func columnNamed(at ast.Pos, name string) Expr {
	return &ast.Column{Pos: at, Name: ast.Name{Pos: at, Parts: []ast.Ident{{Pos: at, Name: name, Quoted: true}}}}
}

// ValueNamed is the expression that reads the column or variable of that name.
func ValueNamed(name string, at diag.Range) Expr { return columnNamed(ast.Pos{Span: at}, name) }

// storeTo is the cast of a value into a column.
func storeTo(at ast.Pos, x Expr, from, t schema.Type) Expr {
	if t.Kind == schema.String && t.Char && from.Kind != schema.String && from.Kind != schema.Void {
		x = storeTo(at, x, from, schema.Of(schema.String))
	}
	if c, ok := castTo(at, x, t).(*ast.Cast); ok {
		c.Store = true
		return c
	}
	return x
}

// storeInto is storeTo for a value of any type.
func storeInto(at ast.Pos, x Expr, from, t schema.Type) Expr {
	if plain := t.WithoutLength(); t.IsNested() && !t.SameShape(plain) {
		x, from = limitedParts(at, storeTo(at, x, from, plain), t, 0), plain
	}
	return storeTo(at, x, from, t)
}

// limitedParts stores the texts inside of a nested value, where its type has
// lengths: a cast alone does not look at them.
func limitedParts(at ast.Pos, x Expr, t schema.Type, depth int) Expr {
	if t.SameShape(t.WithoutLength()) {
		return x
	}
	part := func(x Expr, t schema.Type) Expr {
		if t.Kind == schema.String {
			return storeTo(at, x, t, t)
		}
		return limitedParts(at, x, t, depth+1)
	}
	call := func(name string, args ...ast.Expr) Expr {
		return &ast.Call{Pos: at, Name: ast.Name{Pos: at, Parts: []ast.Ident{{Pos: at, Name: name}}}, Args: args}
	}
	each := func(what string, of int) (ast.Ident, *ast.Lambda) {
		ids := []ast.Ident{{Pos: at, Name: fmt.Sprintf("_%s%d", "key", depth), Quoted: true}, {Pos: at, Name: fmt.Sprintf("_%s%d", what, depth), Quoted: true}}
		return ids[1], &ast.Lambda{Pos: at, Params: ids[2-of:]}
	}
	switch t.Kind {
	case schema.Struct:
		var args []ast.Expr
		for _, f := range t.Fields {
			value := &ast.Field{Pos: at, X: x, Name: ast.Ident{Pos: at, Name: f.Name, Quoted: true}}
			args = append(args, &ast.StringLit{Pos: at, Value: f.Name}, part(value, f.Type))
		}
		return &ast.Case{Pos: at, Whens: []ast.When{{Pos: at, Cond: &ast.IsNull{Pos: at, X: x}, Then: &ast.NullLit{Pos: at}}}, Else: call("named_struct", args...)}
	case schema.Array:
		id, l := each("value", 1)
		l.Body = part(columnNamed(at, id.Name), *t.Elem)
		return call("transform", x, l)
	case schema.Map:
		id, l := each("value", 2)
		l.Body = part(columnNamed(at, id.Name), *t.Elem)
		_, k := each("value", 2)
		k.Body = part(columnNamed(at, k.Params[0].Name), *t.Key)
		return call("transform_keys", call("transform_values", x, l), k)
	}
	return x
}

// missing is what a column holds that an insert does not name.
func (f Fit) missing(at ast.Pos, name string) Expr {
	if f.Default != nil {
		if v := f.Default(name); v != "" {
			return columnNamed(at, v)
		}
	}
	return &ast.NullLit{Pos: at}
}

// stored checks that values of type from may go into a column, and gives
// structs the column's order of fields when columns go by name.
func (f Fit) stored(at ast.Pos, x Expr, from schema.Type, to schema.Field) (Expr, *funcs.Error) {
	x, err := f.shaped(at, x, from, to.Type, to.Name)
	if err == nil && !f.ByName && !funcs.StoreAssignable(from, to.Type) {
		err = f.wrong("CANNOT_SAFELY_CAST", "Cannot safely cast %s %q to %q.", quoteName(to.Name), from.SQL(), to.Type.SQL())
	}
	return x, err
}

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func (f Fit) wrong(class, format string, args ...any) *funcs.Error {
	return funcs.NewError("INCOMPATIBLE_DATA_FOR_TABLE."+class,
		"Cannot write incompatible data for the table "+quoteName(f.Table)+": "+fmt.Sprintf(format, args...), nil)
}

// shaped fits structs: by name their fields are put into the column's order,
// else only their number is checked.
func (f Fit) shaped(at ast.Pos, x Expr, from, to schema.Type, path string) (Expr, *funcs.Error) {
	switch {
	case from.Kind != to.Kind || !to.IsNested():
		if f.ByName && !funcs.StoreAssignable(from, to) {
			return nil, f.wrong("CANNOT_SAFELY_CAST", "Cannot safely cast %s %q to %q.", quoteName(path), from.SQL(), to.SQL())
		}
		return x, nil
	case to.Kind == schema.Struct:
		return f.shapedStruct(at, x, from, to, path)
	case to.Kind == schema.Map:
		if err := f.same(*from.Key, *to.Key, path+".key"); err != nil {
			return nil, err
		}
		return x, f.same(*from.Elem, *to.Elem, path+".value")
	}
	return x, f.same(*from.Elem, *to.Elem, path+".element")
}

// same checks the part of a list or map: its structs must have the column's
// order already.
func (f Fit) same(from, to schema.Type, path string) *funcs.Error {
	x, err := f.shaped(ast.Pos{}, nil, from, to, path)
	if _, sorted := x.(*ast.Case); sorted && err == nil {
		return funcs.NewError("FEATURE_NOT_AVAILABLE", "INSERT BY NAME does not sort the fields of structs inside arrays and maps ("+quoteName(path)+"): give them in the table's order", nil)
	}
	return err
}

func fieldNames(t schema.Type) []string { return schema.Schema{Fields: t.Fields}.Names() }

func (f Fit) shapedStruct(at ast.Pos, x Expr, from, to schema.Type, path string) (Expr, *funcs.Error) {
	source := schema.Schema{Fields: from.Fields}
	if !f.ByName {
		switch {
		case len(from.Fields) < len(to.Fields):
			return nil, f.wrong("STRUCT_MISSING_FIELDS", "Struct %s missing fields: %s.", quoteName(path), strings.Join(fieldNames(to)[len(from.Fields):], ", "))
		case len(from.Fields) > len(to.Fields):
			return nil, f.wrong("EXTRA_STRUCT_FIELDS", "Cannot write extra fields %s to the struct %s.", strings.Join(fieldNames(from)[len(to.Fields):], ", "), quoteName(path))
		}
	}
	sorted := &ast.Call{Pos: at, Name: ast.Name{Pos: at, Parts: []ast.Ident{{Pos: at, Name: "named_struct"}}}}
	inOrder := len(from.Fields) == len(to.Fields)
	for i, field := range to.Fields {
		k := i
		if f.ByName {
			if k = source.Index(field.Name); k < 0 {
				return nil, f.wrong("CANNOT_FIND_DATA", "Cannot find data for the output column %s.", quoteName(path+"."+field.Name))
			}
		}
		part, err := f.shaped(at, &ast.Field{Pos: at, X: x, Name: ast.Ident{Pos: at, Name: from.Fields[k].Name, Quoted: true}}, from.Fields[k].Type, field.Type, path+"."+field.Name)
		if err != nil {
			return nil, err
		}
		_, changed := part.(*ast.Case)
		inOrder = inOrder && k == i && !changed
		sorted.Args = append(sorted.Args, &ast.StringLit{Pos: at, Value: field.Name}, part)
	}
	if f.ByName && len(from.Fields) > len(to.Fields) {
		target := schema.Schema{Fields: to.Fields}
		for _, n := range fieldNames(from) {
			if target.Index(n) < 0 {
				return nil, f.wrong("EXTRA_STRUCT_FIELDS", "Cannot write extra fields %s to the struct %s.", quoteName(n), quoteName(path))
			}
		}
	}
	if inOrder {
		return x, nil
	}
	return &ast.Case{Pos: at, Whens: []ast.When{{Pos: at, Cond: &ast.IsNull{Pos: at, X: x}, Then: &ast.NullLit{Pos: at}}}, Else: sorted}, nil
}

// places finds for each target column the place in the source, -1 for none.
func (f Fit) places(text *diag.Text, at diag.Range) ([]int, diag.List) {
	fail := func(code diag.Code, msg string) diag.List { return diag.List{diag.At(text, at, code, msg)} }
	out := make([]int, len(f.Target.Fields))
	for i := range out {
		out[i] = -1
	}
	names := f.Columns
	switch {
	case f.ByName:
		names = f.Source.Names()
	case names == nil:
		names = f.Target.Names()
	}
	if len(names) != len(f.Source.Fields) {
		class := diag.Code("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS")
		if len(f.Source.Fields) > len(names) {
			class = "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"
		}
		return nil, fail(class, fmt.Sprintf("Cannot write to `%s`: the table takes %d columns (%s), the query gives %d (%s).",
			f.Table, len(names), strings.Join(names, ", "), len(f.Source.Fields), strings.Join(f.Source.Names(), ", ")))
	}
	for i, n := range names {
		k := f.Target.Index(n)
		switch {
		case k < 0 && f.ByName:
			return nil, fail("INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS", fmt.Sprintf("Cannot write extra columns %s to the table %s.", quoteName(n), quoteName(f.Table)))
		case k < 0:
			return nil, fail("UNRESOLVED_COLUMN.WITH_SUGGESTION", fmt.Sprintf("The table `%s` has no column `%s`.", f.Table, n))
		case out[k] >= 0 && f.ByName:
			return nil, fail("INCOMPATIBLE_DATA_FOR_TABLE.AMBIGUOUS_COLUMN_NAME", fmt.Sprintf("Ambiguous column name in the input data %s.", quoteName(n)))
		case out[k] >= 0:
			return nil, fail("COLUMN_ALREADY_EXISTS", fmt.Sprintf("The column `%s` is named twice.", n))
		}
		out[k] = i
	}
	return out, nil
}

// FillDefaults returns the query with each DEFAULT that stands for a whole
// value replaced by the variable of its column's default. columns are the
// target's columns in the query's order; by name an alias says the column.
func FillDefaults(q *Query, columns []string, f Fit) *Query {
	body := f.filledBody(q.Body, columns)
	if body == q.Body {
		return q
	}
	out := *q
	out.Body = body
	return &out
}

func (f Fit) filledBody(b ast.Body, columns []string) ast.Body {
	switch b := b.(type) {
	case *ast.Values:
		out := *b
		out.Rows = make([]Expr, len(b.Rows))
		for i, r := range b.Rows {
			if row, ok := r.(*ast.Row); ok {
				x := *row
				x.Items = f.filled(row.Items, columns)
				out.Rows[i] = &x
				continue
			}
			out.Rows[i] = f.filled([]Expr{r}, columns)[0]
		}
		return &out
	case *ast.Select:
		out := *b
		out.Items = f.filled(b.Items, columns)
		return &out
	case *ast.SetOp:
		out := *b
		out.L, out.R = f.filledBody(b.L, columns), f.filledBody(b.R, columns)
		return &out
	}
	return b
}

func (f Fit) filled(items []Expr, columns []string) []Expr {
	out := make([]Expr, len(items))
	for i, x := range items {
		name := ""
		if i < len(columns) {
			name = columns[i]
		}
		alias, isAlias := x.(*ast.Alias)
		if isAlias {
			x = alias.X
			if f.ByName && len(alias.Names) == 1 {
				name = alias.Names[0].Name
			}
		}
		if p, ok := x.(*ast.Paren); ok {
			x = p.X
		}
		d, ok := x.(*ast.Default)
		if !ok {
			out[i] = items[i]
			continue
		}
		out[i] = f.missing(d.Pos, name)
		if isAlias {
			a := *alias
			a.X = out[i]
			out[i] = &a
		}
	}
	return out
}

// A column's default must be an expression that means the same for each row.

// DefaultQuery is the query SELECT e of a column's default; the error says
// what the default may not hold.
func DefaultQuery(e Expr) (*Query, *Error) {
	var err *Error
	ast.Walk(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Subquery, *ast.Exists:
			err = NewError("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION", "A DEFAULT value may not hold a subquery expression.")
		case *ast.Default:
			err = NewError("DEFAULT_PLACEMENT_INVALID", "DEFAULT is not allowed here.")
		}
		return err == nil
	})
	return QueryOf(e, nil), err
}

// DefaultVolatile reports whether the plan of a default gives another value
// for each row.
func DefaultVolatile(p *Plan) bool {
	found := false
	logical.WalkNode(p.Node, func(n logical.Node) bool {
		logical.EachExpr(n, func(e logical.Expr) { found = found || logical.Volatility(e) == funcs.Volatile })
		return !found
	})
	return found
}

// StoreAssignable reports whether a value of type from may be inserted into a
// column of type to.
func StoreAssignable(from, to schema.Type) bool { return funcs.StoreAssignable(from, to) }

// ExactQuery asks whether a value keeps its value as type t.
func ExactQuery(e Expr, t schema.Type) *Query {
	at := ast.Pos{Span: e.Range()}
	cast, ok := castTo(at, e, t).(*ast.Cast)
	if !ok {
		return QueryOf(&ast.BoolLit{Pos: at, Value: true}, nil)
	}
	cast.Try = true
	return QueryOf(&ast.Binary{Pos: at, Op: ast.NullSafeEq, L: cast, R: e}, nil)
}
