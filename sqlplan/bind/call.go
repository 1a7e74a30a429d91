package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// call binds a function call of any kind.
func (b *Binder) call(e *ast.Call, v *env) (bound, bool) {
	name, ok := b.functionName(e, v)
	if !ok {
		return bound{}, false
	}
	if e.Over != nil {
		return b.over(e, name, v)
	}
	if f := specialForm(name); f != nil {
		return f(b, e, name, v)
	}
	if t, ok := castFunctions[name]; ok {
		if len(e.Args) != 1 {
			b.fail(e.Span, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `%s` requires 1 parameters but the actual number is %d.", name, len(e.Args))
			return bound{}, false
		}
		return b.castCall(e, t, v)
	}
	if agg := lookupAggregate(name); agg != nil {
		return b.aggregate(e, name, agg, v)
	}
	if !plainCall(e) {
		b.fail(e.Span, "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX",
			"The function `%s` does not support DISTINCT, FILTER, WITHIN GROUP or a treatment of nulls.", name)
		return bound{}, false
	}
	if fn := lookupScalar(name); fn != nil {
		return b.scalarCall(e, name, fn, v)
	}
	return b.otherCall(e, name, v)
}

func plainCall(e *ast.Call) bool {
	return !e.Distinct && e.Filter == nil && len(e.WithinGroup) == 0 && e.Nulls == ast.DefaultNulls
}

// functionName is the name in lower case without the built-in namespaces.
func (b *Binder) functionName(e *ast.Call, v *env) (string, bool) {
	parts, ok := b.nameParts(e.Name, v)
	if !ok {
		return "", false
	}
	if len(parts) == 1 {
		return strings.ToLower(parts[0].Name), true
	}
	names := ast.Name{Parts: parts}.Strings()
	k := Qualifiers(names, BuiltinSpace)
	if last := strings.ToLower(names[len(names)-1]); k > 0 && k == len(names)-1 && listed(last) {
		return last, true
	}
	if u := b.userFunction(names); u != nil && k == 0 {
		return strings.Join(names, "."), true
	}
	if len(names) > 2 && !strings.EqualFold(names[0], b.session.Catalog) {
		b.fail(e.Name.Span, "REQUIRES_SINGLE_PART_NAMESPACE", "%s requires a single-part namespace, but got %s.", quoteNames([]string{b.session.Catalog}), quoteNames(names[:len(names)-1]))
		return "", false
	}
	b.fail(e.Name.Span, "UNRESOLVED_ROUTINE", "Cannot resolve routine %s on search path [`system`.`builtin`, `system`.`session`].", quoteParts(parts))
	return "", false
}

// listed reports a function that is built in.
func listed(name string) bool {
	return lookupScalar(name) != nil || lookupAggregate(name) != nil || lookupWindow(name) != nil || specialForm(name) != nil || generatorOf(name) != nil
}

func (b *Binder) userFunction(parts []string) *UserFunction {
	if f, ok := b.catalog.(Functions); ok {
		return f.Function(parts)
	}
	return nil
}

// otherCall handles names that are no scalar function.
func (b *Binder) otherCall(e *ast.Call, name string, v *env) (bound, bool) {
	if u := b.userFunction(strings.Split(name, ".")); u != nil {
		return b.userCall(e, u, v)
	}
	if lookupWindow(name) != nil {
		b.fail(e.Span, "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "Window function `%s` needs an OVER clause.", name)
		return bound{}, false
	}
	if g := generatorOf(name); g != nil && g.TableOnly {
		b.fail(e.Name.Span, "NOT_A_SCALAR_FUNCTION", "%s appears as a scalar expression here, but the function was defined as a table function.", quoteNames([]string{name}))
		return bound{}, false
	} else if g != nil {
		if outsideSelect[v.clause] {
			b.fail(e.Span, "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", "The generator is not supported: outside the SELECT clause, found: %s.", v.clause)
			return bound{}, false
		}
		b.fail(e.Span, "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS",
			"The generator is not supported: nested in expressions %q.", ast.String(e))
		return bound{}, false
	}
	if name == "cast" || name == "try_cast" {
		b.fail(e.Span, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `%s` requires 2 parameters but the actual number is %d.", name, len(e.Args))
		return bound{}, false
	}
	b.unknownRoutine(e, name)
	return bound{}, false
}

func (b *Binder) unknownRoutine(e *ast.Call, name string) {
	b.failHint(e.Name.Span, "UNRESOLVED_ROUTINE", diag.DidYouMean(name, functionNames()),
		"Cannot resolve routine `"+name+"` on search path [`system`.`builtin`, `system`.`session`].")
}

// scalarCall binds a call of a listed scalar function.
func (b *Binder) scalarCall(e *ast.Call, name string, fn *funcs.Function, v *env) (bound, bool) {
	if e.Form == ast.UnitCall { // dateadd(DAY, n, x) and its like
		name = "timestampdiff"
		if strings.HasSuffix(strings.ToLower(e.Name.Parts[len(e.Name.Parts)-1].Name), "add") {
			name = "timestampadd"
		}
		fn = lookupScalar(name)
	}
	args, ok := b.args(e, name, v)
	if !ok {
		return bound{}, false
	}
	if e.Form == ast.TrimCall && len(args) == 2 { // trim(c FROM x) is the function trim(c, x)
		args[0], args[1] = args[1], args[0]
	}
	y, ok := b.resolve(e.Span, name, fn, args)
	if ok {
		y.text = formText(e.Form, args, y.text)
	}
	return y, ok
}

// argument is a bound argument; lambdas are bound when the function asks.
type argument struct {
	bound
	lambda *ast.Lambda
	env    *env
}

// args binds the arguments of a call in the function's order.
func (b *Binder) args(e *ast.Call, name string, v *env) ([]argument, bool) {
	list, ok := b.namedArgs(e, name)
	if !ok {
		return nil, false
	}
	var out []argument
	for _, a := range list {
		switch a := a.(type) {
		case *ast.Lambda:
			out = append(out, argument{lambda: a, env: v, bound: bound{text: ast.String(a)}})
			continue
		case *ast.Star:
			cols, good := b.star(a, v.scope)
			ok = ok && good
			for _, c := range cols {
				out = append(out, argument{bound: c.bound})
			}
			continue
		}
		x, good := b.expr(a, v)
		ok = ok && good
		out = append(out, argument{bound: x})
	}
	return out, ok
}

// function binds a call of a function by name over bound arguments.
func (b *Binder) function(r diag.Range, name string, args []bound) (bound, bool) {
	if name == "element_at_subscript" {
		name = subscriptFunction(args[0].typ())
	}
	fn := lookupScalar(name)
	if fn == nil {
		b.fail(r, "FEATURE_NOT_AVAILABLE", "the function %s is not available yet", name)
		return bound{}, false
	}
	list := make([]argument, len(args))
	for i, a := range args {
		list[i].bound = a
	}
	return b.resolve(r, name, fn, list)
}

// resolve picks the overload, casts the arguments and prints the call.
func (b *Binder) resolve(r diag.Range, name string, fn *funcs.Function, args []argument) (bound, bool) {
	fargs := make([]funcs.Arg, len(args))
	lambdas := make([]*logical.Lambda, len(args))
	texts := make([]string, len(args))
	failed := false
	for i := range args {
		if l := args[i].lambda; l != nil {
			fargs[i] = b.lambdaArg(&args[i], &lambdas[i], &failed)
		} else {
			fargs[i] = b.arg(args[i].bound)
		}
		texts[i] = args[i].text
	}
	bd, err := fn.Bind(b.session, fargs)
	if failed {
		return bound{}, false
	}
	if err != nil {
		b.failErr(r, err)
		return bound{}, false
	}
	out := make([]logical.Expr, len(args))
	for i := range args {
		if lambdas[i] != nil {
			out[i], texts[i] = lambdas[i], args[i].text
			continue
		}
		if args[i].lambda != nil {
			b.fail(args[i].lambda.Span, "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION",
				"A lambda function should only be used in a higher order function. However, its class is `%s`, which is not a higher order function.", name)
			return bound{}, false
		}
		out[i] = args[i].e
		if i < len(bd.Args) {
			mode := b.castMode()
			if bd.TryCasts {
				mode = logical.CastTry
			}
			c, ok := args[i].e, true
			if bd.Via != nil {
				c, ok = b.implicit(r, c, bd.Via[i], mode)
			}
			if ok {
				c, ok = b.implicit(r, c, bd.Args[i], mode)
			}
			if !ok {
				return bound{}, false
			}
			out[i] = c
		}
	}
	y := bound{e: &logical.Call{At: b.at(r), Fn: bd, Args: out}}
	types := make([]schema.Type, len(fargs))
	for i, a := range fargs {
		types[i] = a.Type
	}
	switch text, special := printSpecial(name, texts, types); {
	case special:
		y.text = text
	case bd.Print != nil:
		y.text = bd.Print(texts)
	default:
		y.text = printCall(name, texts)
	}
	return y, true
}

// printCall prints a call; names that are symbols are operators.
func printCall(name string, args []string) string {
	if !isWord(name[0]) || name == "div" {
		switch len(args) {
		case 1:
			return name + args[0]
		case 2:
			return "(" + args[0] + " " + name + " " + args[1] + ")"
		}
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// lambdaArg describes a lambda; its body is bound when the function gives the
// types of the parameters.
func (b *Binder) lambdaArg(a *argument, out **logical.Lambda, failed *bool) funcs.Arg {
	l := a.lambda
	return funcs.Arg{Text: a.text, Lambda: &funcs.LambdaArg{Params: len(l.Params), Bind: func(params []schema.Field) (schema.Field, error) {
		if len(params) != len(l.Params) {
			return schema.Field{}, funcs.NewError("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH",
				"A higher order function expects a lambda with another number of arguments.", nil)
		}
		ls := lambdaScope{}
		for i, p := range params {
			ls.names = append(ls.names, l.Params[i].Name)
			ls.attrs = append(ls.attrs, b.attr(l.Params[i].Name, p.Type, p.Nullable))
		}
		inner := *a.env
		inner.lambdas = append(append([]lambdaScope(nil), a.env.lambdas...), ls)
		body, ok := b.expr(l.Body, &inner)
		if !ok {
			*failed = true
			return schema.Field{}, funcs.NewError("INVALID_LAMBDA_FUNCTION_CALL", "The lambda cannot be resolved.", nil)
		}
		*out = &logical.Lambda{At: b.at(l.Span), Params: ls.attrs, Body: body.e}
		texts := make([]string, 0, len(params)+1)
		texts = append(texts, body.text)
		for range params {
			texts = append(texts, "namedlambdavariable()")
		}
		a.text = "lambdafunction(" + strings.Join(texts, ", ") + ")"
		return schema.Field{Name: "lambda", Type: body.typ(), Nullable: body.e.Nullable()}, nil
	}}}
}

// castFunctions are types that are used as functions: date(x).
var castFunctions = map[string]schema.Type{
	"boolean": schema.Of(schema.Boolean), "tinyint": schema.Of(schema.Int8), "smallint": schema.Of(schema.Int16),
	"int": schema.Of(schema.Int32), "bigint": schema.Of(schema.Int64), "float": schema.Of(schema.Float32),
	"double": schema.Of(schema.Float64), "decimal": schema.Of(schema.Decimal), "string": schema.Of(schema.String),
	"binary": schema.Of(schema.Binary), "date": schema.Of(schema.Date), "timestamp": schema.Of(schema.Timestamp),
}

func (b *Binder) castCall(e *ast.Call, t schema.Type, v *env) (bound, bool) {
	x, ok := b.expr(e.Args[0], v)
	if !ok {
		return x, false
	}
	mode := logical.CastANSI
	if !b.session.ANSI {
		mode = logical.CastLegacy
	}
	y, ok := b.castTo(e.Span, x, t, mode)
	y.text = x.text // as Spark prints a cast that is not written as one
	if _, isCol := x.e.(*logical.Column); isCol || x.name != "" {
		y.name = x.columnName()
	}
	return y, ok
}

// outsideSelect are the clauses that are no part of a select list.
var outsideSelect = map[string]bool{"WHERE": true, "ORDER BY": true, "ON": true, "JOIN": true, "LIMIT": true, "HAVING": true, "QUALIFY": true}
