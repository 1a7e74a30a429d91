package bind

import (
	"slices"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/parse"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// env is what an expression may use where it stands.
type env struct {
	scope  *scope
	clause string // for messages: "WHERE", "SELECT", ...
	agg    bool   // aggregates are allowed
	win    bool   // window functions are allowed
	inAgg  bool   // inside an aggregate's argument
	inWin  bool   // inside a window function
	// times collects window(...) calls of the SELECT; nil: not allowed.
	times *timeWindows
	// windows are the named windows of the SELECT.
	windows map[string]*ast.Window
	lambdas []lambdaScope
	// first is tried before the scope (outputs, in ORDER BY), last after it
	// (aliases of the select list).
	first, last func(parts []ast.Ident) (bound, bool)
}

type lambdaScope struct {
	names []string
	attrs []logical.Attr
}

// plain returns an environment without aggregates and windows.
func plain(s *scope, clause string) *env { return &env{scope: s, clause: clause} }

// expr binds an expression. False means that an error was reported.
func (b *Binder) expr(e ast.Expr, v *env) (bound, bool) {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > maxExprDepth {
		b.fail(e.Range(), "EXPRESSION_TOO_DEEP", "The expression is nested too deeply.")
		return bound{}, false
	}
	switch e := e.(type) {
	case *ast.NullLit, *ast.BoolLit, *ast.NumberLit, *ast.StringLit, *ast.BinaryLit, *ast.TypedLit, *ast.IntervalLit:
		return b.literal(e)
	case *ast.Param:
		return b.param(e)
	case *ast.Column:
		return b.column(e, v)
	case *ast.Field:
		x, ok := b.expr(e.X, v)
		if !ok {
			return x, false
		}
		y, ok := b.access(e.Span, x, e.Name)
		y.name = ""
		return y, ok
	case *ast.Subscript:
		return b.subscript(e, v)
	case *ast.VariantPath:
		return b.variantPath(e, v)
	case *ast.Paren:
		return b.expr(e.X, v)
	case *ast.Unary:
		return b.unary(e, v)
	case *ast.Binary:
		return b.binary(e, v)
	case *ast.Between:
		return b.between(e, v)
	case *ast.In:
		return b.in(e, v)
	case *ast.Like:
		return b.like(e, v)
	case *ast.IsNull:
		return b.isNull(e, v)
	case *ast.IsBool:
		return b.isBool(e, v)
	case *ast.Case:
		return b.caseExpr(e, v)
	case *ast.Cast:
		return b.castExpr(e, v)
	case *ast.Call:
		return b.call(e, v)
	case *ast.Collate:
		x, ok := b.expr(e.X, v)
		name, _ := b.literal(&ast.StringLit{Pos: e.Pos, Value: strings.Join(e.Name.Strings(), ".")})
		if !ok {
			return x, false
		}
		return b.function(e.Span, "collate", []bound{x, name})
	case *ast.Row:
		return b.row(e, v)
	case *ast.Alias:
		// Only select lists and struct() use the name.
		return b.expr(e.X, v)
	case *ast.Subquery:
		return b.scalarSubquery(e, v)
	case *ast.Exists:
		return b.exists(e, v)
	}
	return b.misplaced(e)
}

// misplaced reports kinds of expressions that mean nothing where they stand.
func (b *Binder) misplaced(e ast.Expr) (bound, bool) {
	switch e := e.(type) {
	case *ast.Star:
		b.fail(e.Span, "INVALID_USAGE_OF_STAR_OR_REGEX", "Invalid usage of '*' in expression.")
	case *ast.Lambda:
		b.fail(e.Span, "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION",
			"A lambda function should only be used in a higher order function.")
	case *ast.NamedArg:
		b.fail(e.Span, "NAMED_PARAMETERS_NOT_SUPPORTED", "Named parameters are not supported here.")
	case *ast.Default:
		b.fail(e.Span, "DEFAULT_PLACEMENT_INVALID", "DEFAULT is not allowed here.")
	default:
		b.fail(e.Range(), "UNSUPPORTED_EXPR_FOR_OPERATOR", "This expression is not allowed here.")
	}
	return bound{}, false
}

// exprs binds a list; false if one fails, after all have been tried.
func (b *Binder) exprs(es []ast.Expr, v *env) ([]bound, bool) {
	out := make([]bound, len(es))
	ok := true
	for i, e := range es {
		x, good := b.expr(e, v)
		out[i], ok = x, ok && good
	}
	return out, ok
}

// column resolves a name.
func (b *Binder) column(e *ast.Column, v *env) (bound, bool) {
	parts, ok := b.nameParts(e.Name, v)
	if !ok {
		return bound{}, false
	}
	if x, ok := b.lambdaParam(e.Span, parts, v); ok {
		return x, x.e != nil
	}
	if v.first != nil {
		if x, ok := v.first(parts); ok {
			return x, x.e != nil
		}
	}
	if v.scope.params { // a function goes before a parameter
		if x, ok, known := b.bareWord(e, parts, v); known {
			return x, ok
		}
	}
	for s := v.scope; s != nil; s = s.outer {
		f := s.find(parts, b.session.CaseSensitive)
		if f.ok {
			return b.columnOf(e.Span, parts, f, v.scope, s)
		}
		if s == v.scope {
			if v.times != nil {
				if x, ok := v.times.named(b, e.Span, parts); ok {
					return x, x.e != nil
				}
			}
			if x, ok, known := b.bareWord(e, parts, v); known {
				return x, ok
			}
			if v.last != nil {
				if x, ok := v.last(parts); ok {
					return x, x.e != nil
				}
			}
		}
	}
	if x, ok, known := b.variable(e, parts); known {
		return x, ok
	}
	b.unresolved(e.Span, parts, v.scope)
	return bound{}, false
}

// columnOf makes the expression for a name found in scope s, seen from scope
// from: columns of outer queries are noted.
func (b *Binder) columnOf(r diag.Range, parts []ast.Ident, f found, from, s *scope) (bound, bool) {
	if len(f.many) > 1 {
		b.ambiguous(r, parts, f.many)
		return bound{}, false
	}
	if f.col.meta != nil {
		return b.metadata(r, f)
	}
	a := f.col.attr
	for at := from; at != s; at = at.outer {
		if at.outers != nil {
			at.outers.add(a)
		}
	}
	a.Name = f.name.Name
	x := bound{e: &logical.Column{At: b.at(r), Attr: a}, text: a.Name, name: a.Name, char: f.col.char}
	if from != s {
		x.text = "outer(" + strings.Join(append(append([]string(nil), f.col.quals...), a.Name), ".") + ")"
	}
	for _, p := range f.rest {
		var ok bool
		if x, ok = b.access(r, x, p); !ok {
			return x, false
		}
	}
	return x, true
}

func (b *Binder) ambiguous(r diag.Range, parts []ast.Ident, many []col) {
	names := make([]string, len(many))
	for i, c := range many {
		names[i] = quoteNames(append(append([]string(nil), lastOf(c.quals)...), c.attr.Name))
	}
	b.fail(r, "AMBIGUOUS_REFERENCE", "Reference %s is ambiguous, could be: [%s].", quoteParts(parts), strings.Join(names, ", "))
}

func lastOf(quals []string) []string {
	if len(quals) == 0 {
		return nil
	}
	return quals[len(quals)-1:]
}

// metadata gives a field of _metadata, which the scan then reads too.
func (b *Binder) metadata(r diag.Range, f found) (bound, bool) {
	if len(f.rest) == 0 {
		return b.metadataStruct(r, f)
	}
	m := f.col.meta
	name := strings.ToLower(f.rest[0].Name)
	a, ok := m.made[name]
	if !ok {
		i := (schema.Schema{Fields: m.fields}).Index(name)
		if i < 0 {
			b.fieldNotFound(r, f.rest[0].Name, m.fields)
			return bound{}, false
		}
		a = b.attr(m.fields[i].Name, m.fields[i].Type, m.fields[i].Nullable)
		if m.scan.Metadata == nil {
			m.scan.Metadata = map[int]string{}
		}
		m.scan.Metadata[len(m.scan.Columns)] = a.Name
		m.scan.Columns = append(m.scan.Columns, a)
		m.scan.Fields = append(m.scan.Fields, -1)
		m.made[name] = a
	}
	a.Name = f.rest[0].Name
	x := bound{e: &logical.Column{At: b.at(r), Attr: a}, text: f.name.Name + "." + a.Name, name: a.Name}
	for _, p := range f.rest[1:] {
		var good bool
		if x, good = b.access(r, x, p); !good {
			return x, false
		}
	}
	return x, true
}

// metadataStruct gives the whole of _metadata.
func (b *Binder) metadataStruct(r diag.Range, f found) (bound, bool) {
	var args []bound
	for _, field := range f.col.meta.fields {
		one := f
		one.rest = []ast.Ident{{Name: field.Name}}
		x, ok := b.metadata(r, one)
		if !ok {
			return bound{}, false
		}
		name := &logical.Literal{At: b.at(r), Value: column.Constant(schema.Of(schema.String), 1, field.Name)}
		args = append(args, bound{e: name, text: field.Name}, x)
	}
	x, ok := b.function(r, "named_struct", args)
	x.text, x.name = f.name.Name, f.name.Name
	return x, ok
}

// lambdaParam resolves a name against the lambda parameters around.
func (b *Binder) lambdaParam(r diag.Range, parts []ast.Ident, v *env) (bound, bool) {
	for i := len(v.lambdas) - 1; i >= 0; i-- {
		l := v.lambdas[i]
		for k, n := range l.names {
			if !strings.EqualFold(n, parts[0].Name) {
				continue
			}
			x := bound{e: &logical.Column{At: b.at(r), Attr: l.attrs[k]}, text: "namedlambdavariable()", name: parts[0].Name}
			for _, p := range parts[1:] {
				var ok bool
				if x, ok = b.access(r, x, p); !ok {
					return bound{}, true
				}
			}
			return x, true
		}
	}
	return bound{}, false
}

// bareWords are functions that are called without parentheses.
var bareWords = map[string]bool{
	"current_date": true, "current_timestamp": true, "current_user": true, "user": true, "session_user": true,
	"current_catalog": true, "current_database": true, "current_schema": true, "current_path": true, "localtimestamp": true, "current_timezone": true,
}

// bareWord resolves current_date and the like.
func (b *Binder) bareWord(e *ast.Column, parts []ast.Ident, v *env) (x bound, ok, known bool) {
	if len(parts) != 1 || parts[0].Quoted {
		return bound{}, false, false
	}
	name := strings.ToLower(parts[0].Name)
	switch {
	case name == "grouping__id" && v.agg && v.clause != "WHERE":
		parts = []ast.Ident{{Pos: parts[0].Pos, Name: "grouping_id"}}
	case !bareWords[name]:
		return bound{}, false, false
	}
	x, ok = b.call(&ast.Call{Pos: e.Pos, Name: ast.Name{Pos: e.Pos, Parts: parts}}, v)
	if name == "grouping__id" {
		x.text, x.name = parts[0].Name+"()", "grouping__id"
	}
	return x, ok, true
}

// variable resolves a session variable.
func (b *Binder) variable(e *ast.Column, parts []ast.Ident) (x bound, ok, known bool) {
	vars, is := b.catalog.(Variables)
	if !is {
		return bound{}, false, false
	}
	k := Qualifiers(ast.Name{Parts: parts}.Strings(), SessionSpace)
	rest := parts[k:]
	l := vars.Variable(rest[0].Name)
	if l == nil && k == 1 {
		rest = parts // session.a may be a field of the variable session
		l = vars.Variable(rest[0].Name)
	}
	if l == nil {
		return bound{}, false, false
	}
	x, ok = bound{e: l, text: b.variableText(rest[0].Name, l), name: rest[0].Name}, true
	if e.Name.Dynamic != nil {
		x.name = ""
	}
	for _, p := range rest[1:] {
		if x, ok = b.access(p.Span, x, p); !ok {
			return x, false, true
		}
	}
	return x, true, true
}

// variableText is how a variable prints inside of an expression.
func (b *Binder) variableText(name string, l *logical.Literal) string {
	v := "NULL"
	if t := l.Value.Type; !l.Value.IsNull(0) {
		switch v = b.literalText(l.Value); t.Kind {
		case schema.String:
			v = ast.Quote(v)
		case schema.Float32:
			v = "CAST(" + v + " AS FLOAT)"
		case schema.Int8, schema.Int16, schema.Int64, schema.Float64, schema.Decimal:
			v += map[schema.Kind]string{schema.Int8: "Y", schema.Int16: "S", schema.Int64: "L", schema.Float64: "D", schema.Decimal: "BD"}[t.Kind]
		}
	} else if t.Kind != schema.Void {
		v = "CAST(NULL AS " + t.SQL() + ")"
	}
	return "variablereference(system.session." + strings.ToLower(name) + "=" + v + ")"
}

// Name finds the parts of a name, evaluating IDENTIFIER(...).
func (b *Binder) Name(n ast.Name) ([]string, diag.List) {
	parts, ok := b.nameParts(n, plain(&scope{}, "IDENTIFIER"))
	if !ok {
		return nil, b.diags
	}
	return ast.Name{Parts: parts}.Strings(), nil
}

// nameParts returns the parts of a name, evaluating IDENTIFIER(...).
func (b *Binder) nameParts(n ast.Name, v *env) ([]ast.Ident, bool) {
	if n.Dynamic == nil {
		return n.Parts, true
	}
	diags := b.diags
	x, ok := b.expr(n.Dynamic, plain(&scope{}, "IDENTIFIER"))
	var val *column.Vector
	if ok {
		val, ok = b.constant(x.e)
	}
	class := diag.Code("")
	switch {
	case !ok && slices.ContainsFunc(b.diags[len(diags):], func(d diag.Diagnostic) bool { return d.Code == "UNBOUND_SQL_PARAMETER" }):
		return nil, false
	case !ok:
		class, b.diags = "NOT_A_CONSTANT_STRING.NOT_CONSTANT", diags
	case x.typ().Kind != schema.String:
		class = "NOT_A_CONSTANT_STRING.WRONG_TYPE"
	case val.IsNull(0):
		class = "NOT_A_CONSTANT_STRING.NULL"
	}
	if class != "" {
		b.fail(n.Span, class, "The expression used for the routine or clause IDENTIFIER must be a constant STRING which is NOT NULL.")
		return nil, false
	}
	if len(val.Str(0)) == 0 {
		b.fail(n.Span, "PARSE_EMPTY_STATEMENT", "Syntax error, unexpected empty statement.")
		return nil, false
	}
	names, ok := parse.DialectOf(b.session.Conf).SplitName(string(val.Str(0)))
	if !ok {
		b.fail(n.Span, "PARSE_SYNTAX_ERROR", "Syntax error in the identifier %q.", string(val.Str(0)))
		return nil, false
	}
	var parts []ast.Ident
	for _, p := range names {
		parts = append(parts, ast.Ident{Pos: n.Pos, Name: p})
	}
	return append(parts, n.Parts...), true
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
