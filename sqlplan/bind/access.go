package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// access binds x.name.
func (b *Binder) access(r diag.Range, x bound, name ast.Ident) (bound, bool) {
	text := x.text + "." + name.Name
	switch t := x.typ(); t.Kind {
	case schema.Struct:
		i, ok := b.fieldIndex(r, t.Fields, name.Name)
		if !ok {
			return bound{}, false
		}
		return bound{e: &logical.FieldAccess{At: b.at(r), Input: x.e, Index: i}, text: text, name: name.Name}, true
	case schema.Map:
		k := stringLiteral(b.at(r), name.Name)
		y, ok := b.function(r, "element_at_subscript", []bound{x, {e: k, text: name.Name}})
		y.text, y.name = x.text+"["+name.Name+"]", name.Name
		return y, ok
	case schema.Array:
		if t.Elem.Kind == schema.Struct {
			y, ok := b.fieldOfEach(r, x, *t.Elem, name)
			y.text, y.name = text, name.Name
			return y, ok
		}
		b.wrongIndex(r, x, name.Name, "STRING")
		return bound{}, false
	case schema.Void:
		return bound{e: nullLiteral(b.at(r), t), text: text, name: name.Name}, true
	}
	b.fail(r, "INVALID_EXTRACT_BASE_FIELD_TYPE",
		`Can't extract a value from "%s". Need a complex type [STRUCT, ARRAY, MAP] but got "%s".`, x.text, x.typ().SQL())
	return bound{}, false
}

func (b *Binder) fieldIndex(r diag.Range, fields []schema.Field, name string) (int, bool) {
	at := -1
	for i, f := range fields {
		if f.Name == name && b.session.CaseSensitive || !b.session.CaseSensitive && strings.EqualFold(f.Name, name) {
			if at >= 0 {
				b.fail(r, "AMBIGUOUS_REFERENCE_TO_FIELDS", "Ambiguous reference to the field `%s`. It appears more than once in the schema.", name)
				return 0, false
			}
			at = i
		}
	}
	if at < 0 {
		b.fieldNotFound(r, name, fields)
	}
	return at, at >= 0
}

func (b *Binder) fieldNotFound(r diag.Range, name string, fields []schema.Field) {
	names := (schema.Schema{Fields: fields}).Names()
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	b.failHint(r, "FIELD_NOT_FOUND", diag.DidYouMean(name, names),
		"No such struct field `"+name+"` in "+strings.Join(quoted, ", ")+".")
}

// fieldOfEach is array.field: the field of each element, as transform(array, e -> e.field).
func (b *Binder) fieldOfEach(r diag.Range, x bound, elem schema.Type, name ast.Ident) (bound, bool) {
	i, ok := b.fieldIndex(r, elem.Fields, name.Name)
	if !ok {
		return bound{}, false
	}
	fn := lookupScalar("transform")
	if fn == nil {
		b.notYet(r, "a field of each element of an array")
		return bound{}, false
	}
	var lambda *logical.Lambda
	arg := funcs.Arg{Text: "lambdafunction", Lambda: &funcs.LambdaArg{Params: 1, Bind: func(p []schema.Field) (schema.Field, error) {
		a := b.attr("element", p[0].Type, p[0].Nullable)
		body := &logical.FieldAccess{At: b.at(r), Input: a.Ref(), Index: i}
		lambda = &logical.Lambda{At: b.at(r), Params: []logical.Attr{a}, Body: body}
		return schema.Field{Name: name.Name, Type: body.Type(), Nullable: body.Nullable()}, nil
	}}}
	bd, err := fn.Bind(b.session, []funcs.Arg{b.arg(x), arg})
	if err != nil {
		b.failErr(r, err)
		return bound{}, false
	}
	return bound{e: &logical.Call{At: b.at(r), Fn: bd, Args: []logical.Expr{x.e, lambda}}}, true
}

// subscript binds x[i].
func (b *Binder) subscript(e *ast.Subscript, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	i, ok2 := b.expr(e.Index, v)
	if !ok || !ok2 {
		return bound{}, false
	}
	switch t := x.typ(); t.Kind {
	case schema.Struct:
		val, isConst := b.constant(i.e)
		if !isConst || i.typ().Kind != schema.String || val.IsNull(0) {
			b.fail(e.Index.Range(), "INVALID_EXTRACT_FIELD_TYPE",
				`Field name should be a non-null string literal, but it's "%s".`, i.text)
			return bound{}, false
		}
		y, ok := b.access(e.Span, x, ast.Ident{Name: string(val.Str(0))})
		y.name = ""
		return y, ok
	case schema.Array, schema.Map:
		if t.Kind == schema.Array && t.Elem.Kind == schema.Struct && i.typ().Kind == schema.String {
			if val, isConst := b.constant(i.e); isConst && !val.IsNull(0) {
				return b.access(e.Span, x, ast.Ident{Name: string(val.Str(0))})
			}
		}
		if t.Kind == schema.Array && !i.typ().IsInteger() && i.typ().Kind != schema.Void {
			b.wrongIndex(e.Index.Range(), x, i.text, i.typ().SQL())
			return bound{}, false
		}
		y, ok := b.function(e.Span, "element_at_subscript", []bound{x, i})
		y.text, y.name = x.text+"["+i.text+"]", ""
		return y, ok
	case schema.Void:
		return bound{e: nullLiteral(b.at(e.Span), t), text: x.text + "[" + i.text + "]"}, true
	}
	b.fail(e.Span, "INVALID_EXTRACT_BASE_FIELD_TYPE",
		`Can't extract a value from "%s". Need a complex type [STRUCT, ARRAY, MAP] but got "%s".`, x.text, x.typ().SQL())
	return bound{}, false
}

func (b *Binder) wrongIndex(r diag.Range, x bound, index, kind string) {
	b.fail(r, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
		`Cannot resolve "%s[%s]" due to data type mismatch: The second parameter requires the "INTEGRAL" type, however "%s" has the type "%s".`,
		x.text, index, index, kind)
}

// variantPath binds x:path.
func (b *Binder) variantPath(e *ast.VariantPath, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	if !ok {
		return bound{}, false
	}
	if x.typ().Kind != schema.Variant {
		b.fail(e.Span, "COLUMN_IS_NOT_VARIANT_TYPE", `The column "%s" is of type "%s", not VARIANT.`, x.text, x.typ().SQL())
		return bound{}, false
	}
	at := b.at(e.Span)
	path := bound{e: stringLiteral(at, e.Path), text: e.Path}
	y, ok := b.function(e.Span, "variant_get", []bound{x, path, {e: stringLiteral(at, "variant"), text: "variant"}})
	if y.name = lastName(e.Path); y.name != "" {
		y.text += " AS " + y.name // as Spark prints it within an expression
	}
	return y, ok
}

// lastName is the last field name in the path of a variant, "" when there is
// none: the column's name.
func lastName(path string) string {
	name := ""
	for i := 0; i < len(path); {
		switch {
		case path[i] == '.':
			n := strings.IndexAny(path[i+1:], ".[")
			if n < 0 {
				n = len(path) - i - 1
			}
			name, i = path[i+1:i+1+n], i+1+n
		case strings.HasPrefix(path[i:], "['"):
			n := strings.Index(path[i+2:], "']")
			if n < 0 {
				return name
			}
			name, i = path[i+2:i+2+n], i+4+n
		default:
			i++
		}
	}
	return name
}

func stringLiteral(at logical.At, s string) *logical.Literal {
	return &logical.Literal{At: at, Value: column.Constant(schema.Of(schema.String), 1, s)}
}

func boolLiteral(at logical.At, v bool) *logical.Literal {
	return &logical.Literal{At: at, Value: column.Constant(schema.Of(schema.Boolean), 1, v)}
}

func longLiteral(at logical.At, v int64) *logical.Literal {
	return &logical.Literal{At: at, Value: column.Constant(schema.Of(schema.Int64), 1, v)}
}

func intLiteral(at logical.At, v int32) *logical.Literal {
	return &logical.Literal{At: at, Value: column.Constant(schema.Of(schema.Int32), 1, int64(v))}
}

func nullLiteral(at logical.At, t schema.Type) *logical.Literal {
	return &logical.Literal{At: at, Value: column.NullVector(nil, t, 1)}
}
