package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// misplacedAggregates gives the error class for each clause that refuses
// aggregates.
var misplacedAggregates = map[string]diag.Code{
	"WHERE": "INVALID_WHERE_CONDITION", "GROUP BY": "GROUP_BY_AGGREGATE",
	"QUALIFY": "UNRESOLVED_COLUMN.WITH_SUGGESTION",
	"VALUES":  "INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE",
}

// argEnv is the environment of an aggregate's arguments.
func (v *env) argEnv() *env {
	inner := *v
	inner.inAgg, inner.agg, inner.win, inner.times = true, false, false, nil
	if first, last := v.first, v.last; first != nil {
		inner.first = nil
		inner.last = func(parts []ast.Ident) (bound, bool) {
			if last != nil {
				if x, ok := last(parts); ok {
					return x, true
				}
			}
			return first(parts)
		}
	}
	return &inner
}

// aggregate binds an aggregate without OVER to a placeholder.
func (b *Binder) aggregate(e *ast.Call, name string, fn *funcs.Aggregate, v *env) (bound, bool) {
	if v.inAgg {
		b.fail(e.Span, "NESTED_AGGREGATE_FUNCTION",
			"It is not allowed to use an aggregate function in the argument of another aggregate function. Please use the inner aggregate function in a sub-query.")
		return bound{}, false
	}
	if !v.agg {
		if x, ok := b.outerAggregate(e, name, fn, v); ok {
			return x, true
		}
		code, ok := misplacedAggregates[v.clause]
		if !ok {
			code = "UNSUPPORTED_EXPR_FOR_OPERATOR"
		}
		b.fail(e.Span, code, "The aggregate function `%s` is not allowed in %s.", name, v.clause)
		return bound{}, false
	}
	call, txt, ok := b.aggCall(e, name, fn, v.argEnv())
	if !ok {
		return bound{}, false
	}
	for _, x := range call.Args {
		if logical.Volatility(x) == funcs.Volatile {
			b.fail(e.Span, "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION",
				"Non-deterministic expression %q should not appear in the arguments of an aggregate function.", txt)
			return bound{}, false
		}
	}
	return bound{e: &aggExpr{At: b.at(e.Span), call: call}, text: txt}, true
}

// outerAggregate binds an aggregate of a subquery that reads columns of the
// query around it alone, and so is that query's: HAVING EXISTS (SELECT ...
// WHERE x < min(outer.y)).
func (b *Binder) outerAggregate(e *ast.Call, name string, fn *funcs.Aggregate, v *env) (bound, bool) {
	around := v.scope.around
	if around == nil || !around.agg || v.scope.outers == nil {
		return bound{}, false
	}
	mine, any := false, false
	for _, a := range e.Args {
		ast.Walk(a, func(n ast.Node) bool {
			if c, ok := n.(*ast.Column); ok {
				any = true
				mine = mine || v.scope.find(c.Name.Parts, b.session.CaseSensitive).ok
			}
			return true
		})
	}
	if mine || !any {
		return bound{}, false
	}
	diags := b.diags
	call, txt, ok := b.aggCall(e, name, fn, around.argEnv())
	if !ok {
		b.diags = diags
		return bound{}, false
	}
	x := &aggExpr{At: b.at(e.Span), call: call}
	a := b.attr(txt, x.Type(), x.Nullable())
	if b.outerAggs == nil {
		b.outerAggs = map[logical.ColumnID]*aggExpr{}
	}
	b.outerAggs[a.ID] = x
	v.scope.outers.add(a)
	return bound{e: a.Ref(), text: txt}, true
}

// aggCall binds an aggregate's arguments, filter and ordering.
func (b *Binder) aggCall(e *ast.Call, name string, fn *funcs.Aggregate, v *env) (logical.AggCall, string, bool) {
	call := logical.AggCall{At: b.at(e.Span), Distinct: e.Distinct}
	if !b.withinGroup(e, name) {
		return call, "", false
	}
	if e.Nulls == ast.RespectNulls {
		if r := funcs.RespectingNulls(name); r != nil {
			fn = r
		}
	}
	args, ok := b.aggArgs(e, name, v)
	if ok && readsLambda(args, v) {
		b.fail(e.Span, "UNSUPPORTED_EXPR_FOR_OPERATOR", "The aggregate function `%s` reads a parameter of a lambda function: use aggregate() or reduce() for the elements of an array.", name)
		return call, "", false
	}
	var keyTexts []string
	for _, k := range e.WithinGroup {
		key, x, good := b.sortKey(k, v)
		ok = ok && good
		keyTexts = append(keyTexts, x.text)
		call.OrderBy = append(call.OrderBy, key)
		if orderedSet[name] {
			// percentile_cont(p) WITHIN GROUP (ORDER BY x) is a function of (x, p).
			args = append([]bound{x}, args...)
			if key.Descending && len(args) == 2 {
				args = append(args, bound{e: boolLiteral(b.at(e.Span), true), text: "true"})
			}
		}
	}
	if name == "mode" && len(call.OrderBy) == 1 && len(args) == 0 {
		// mode() WITHIN GROUP (ORDER BY x): of equal counts the first in order.
		at := b.at(e.Span)
		args = append(args, bound{e: call.OrderBy[0].Expr, text: keyTexts[0]},
			bound{e: boolLiteral(at, true), text: "true"}, bound{e: boolLiteral(at, call.OrderBy[0].Descending), text: "true"})
		call.OrderBy = nil
	}
	if orderedSet[name] {
		call.OrderBy = nil
	}
	if ok && e.Distinct && len(call.OrderBy) > 0 && len(args) > 0 {
		ok = b.distinctOrder(e, name, args[0].e, call.OrderBy)
	}
	filterText := ""
	if e.Filter != nil {
		f, good := b.aggFilter(e.Filter, v)
		call.Filter, filterText = f.e, " FILTER (WHERE "+f.text+")"
		ok = ok && good
	}
	if !ok {
		return call, "", false
	}
	if !b.resolveAgg(e, fn, args, &call) {
		return call, "", false
	}
	txt := ""
	switch {
	case orderedSet[name] && len(args) > 1:
		txt = inverseText(name, args[1].text, args[0].text, e.WithinGroup[0].Desc)
	case name == "mode" && len(e.WithinGroup) == 1:
		txt = inverseText(name, "", keyTexts[0], !e.WithinGroup[0].Desc) // as Spark prints it
	default:
		txt = aggText(e, name, textsOf(args), &call, keyTexts)
	}
	return call, txt + filterText, true
}

// aggFilter binds the condition of FILTER.
func (b *Binder) aggFilter(e ast.Expr, v *env) (bound, bool) {
	inner := *v
	inner.inAgg, inner.agg, inner.win = false, true, true
	f, ok := b.expr(e, &inner)
	if !ok {
		return f, false
	}
	class, msg := diag.Code(""), ""
	switch {
	case hasWindow(f.e):
		class, msg = "CONTAINS_WINDOW_FUNCTION", "It should not contain a window function."
	case hasAgg(f.e):
		class, msg = "CONTAINS_AGGREGATE", "It should not contain an aggregate function."
	case logical.Volatility(f.e) == funcs.Volatile:
		class, msg = "NON_DETERMINISTIC", "It should be deterministic."
	case f.typ().Kind != schema.Boolean && f.typ().Kind != schema.Void:
		class, msg = "NOT_BOOLEAN", "Expected a BOOLEAN type."
	default:
		f.e, ok = b.condition(e.Range(), f, f.text)
		return f, ok
	}
	b.fail(e.Range(), "INVALID_AGGREGATE_FILTER."+class, "The FILTER expression %q in an aggregate function is invalid. %s", f.text, msg)
	return f, false
}

// distinctOrder checks that the different values of listagg are ordered by
// themselves: as texts they must differ where they did before.
func (b *Binder) distinctOrder(e *ast.Call, name string, x logical.Expr, order []logical.SortKey) bool {
	by := order[0].Expr
	if c, ok := x.(*logical.Cast); ok && key(by) != key(x) && c.To.Kind == schema.String {
		x = c.Input
	}
	if len(order) > 1 || key(by) != key(x) {
		b.fail(e.Span, "INVALID_WITHIN_GROUP_EXPRESSION.MISMATCH_WITH_DISTINCT_INPUT",
			"Invalid function `%s` with WITHIN GROUP. Cannot be invoked with DISTINCT and WITHIN GROUP ordering by another expression.", name)
		return false
	}
	if t := by.Type(); t.IsFloat() || t.Kind == schema.Timestamp {
		b.fail(e.Span, "INVALID_WITHIN_GROUP_EXPRESSION.MISMATCH_WITH_DISTINCT_INPUT_UNSAFE_CAST",
			"Invalid function `%s` with WITHIN GROUP. The values are %q, and different ones may be equal as \"STRING\": cast them before.", name, t.SQL())
		return false
	}
	return true
}

// readsLambda reports whether arguments read parameters of the lambda
// functions around them.
func readsLambda(args []bound, v *env) bool {
	if len(v.lambdas) == 0 {
		return false
	}
	params, used := map[logical.ColumnID]bool{}, map[logical.ColumnID]bool{}
	for _, l := range v.lambdas {
		for _, a := range l.attrs {
			params[a.ID] = true
		}
	}
	for _, x := range args {
		logical.Columns(x.e, used)
	}
	for id := range used {
		if params[id] {
			return true
		}
	}
	return false
}

// withinGroup checks the form of WITHIN GROUP (ORDER BY ...).
func (b *Binder) withinGroup(e *ast.Call, name string) bool {
	n := len(e.WithinGroup)
	class, msg := diag.Code(""), ""
	switch {
	case n > 0 && !orderedSet[name] && name != "listagg" && name != "string_agg" && name != "mode":
		class, msg = "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "Invalid SQL syntax: The function `%s` does not support WITHIN GROUP (ORDER BY ...)."
	case (orderedSet[name] || name == "mode") && e.Distinct:
		class, msg = "INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED", "Invalid function `%s` with WITHIN GROUP. The function does not support DISTINCT with WITHIN GROUP."
	case orderedSet[name] && n == 0, name == "mode" && n == 0 && len(e.Args) == 0:
		class, msg = "INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING", "Invalid function `%s` with WITHIN GROUP. WITHIN GROUP is required for the function."
	case (orderedSet[name] || name == "mode") && n > 1, name == "mode" && n == 1 && len(e.Args) > 0:
		class, msg = "INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS", "Invalid function `%s` with WITHIN GROUP. The function requires 1 ordering."
	case orderedSet[name] && len(e.Args) != 1:
		b.fail(e.Span, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `%s` requires 1 parameters but the actual number is %d.", name, len(e.Args))
		return false
	default:
		return true
	}
	b.fail(e.Span, class, msg, name)
	return false
}

// orderedSet are the inverse distribution functions: the key of WITHIN GROUP
// is their first argument.
var orderedSet = map[string]bool{"percentile_cont": true, "percentile_disc": true}

// picksValue are the aggregates that IGNORE NULLS and RESPECT NULLS apply to.
var picksValue = map[string]bool{
	"first": true, "first_value": true, "last": true, "last_value": true, "any_value": true, "nth_value": true,
}

func (b *Binder) noNullTreatment(e *ast.Call, name string) {
	b.fail(e.Span, "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "Invalid SQL syntax: The function `%s` does not support IGNORE NULLS.", name)
}

func (b *Binder) aggArgs(e *ast.Call, name string, v *env) ([]bound, bool) {
	var out []bound
	list, ok := b.namedArgs(e, name)
	if name == "count" && len(list) == 0 && ok && !strings.EqualFold(b.session.Conf["spark.sql.legacy.allowParameterlessCount"], "true") {
		b.fail(e.Span, "WRONG_NUM_ARGS.WITH_SUGGESTION", "The `count` requires > 0 parameters but the actual number is 0. If you have to call this function with 0 parameters, set the legacy configuration \"spark.sql.legacy.allowParameterlessCount\" to \"true\".")
		return nil, false
	}
	for _, a := range list {
		s, isStar := a.(*ast.Star)
		legacyStar := strings.EqualFold(b.session.Conf["spark.sql.legacy.allowStarWithSingleTableIdentifierInCount"], "true")
		switch {
		case isStar && name == "count" && len(list) == 1 && len(s.Qualifier) == 0 && !e.Distinct && len(s.Except) == 0:
			out = append(out, bound{e: intLiteral(b.at(a.Range()), 1), text: "1"})
		case isStar && name == "count" && len(list) == 1 && len(s.Qualifier) > 0 && len(s.Except) == 0 && !legacyStar:
			b.fail(a.Range(), "INVALID_USAGE_OF_STAR_WITH_TABLE_IDENTIFIER_IN_COUNT", "count(%s.*) is not allowed. Please use count(*) or expand the columns manually, e.g. count(col1, col2).", ast.Name{Parts: s.Qualifier}.String())
			ok = false
		case isStar:
			cols, good := b.star(s, v.scope)
			ok = ok && good
			for _, c := range cols {
				out = append(out, c.bound)
			}
		default:
			x, good := b.expr(a, v)
			ok = ok && good
			out = append(out, x)
		}
	}
	if e.Nulls == ast.IgnoreNulls && !picksValue[name] && funcs.RespectingNulls(name) == nil {
		b.noNullTreatment(e, name)
		return out, false
	}
	if e.Nulls == ast.IgnoreNulls && picksValue[name] {
		out = append(out, bound{e: boolLiteral(b.at(e.Span), true), text: "true"})
	}
	return out, ok
}

// resolveAgg picks the overload and casts the arguments.
func (b *Binder) resolveAgg(e *ast.Call, fn *funcs.Aggregate, args []bound, call *logical.AggCall) bool {
	fargs := make([]funcs.Arg, len(args))
	for i, a := range args {
		fargs[i] = b.arg(a)
	}
	bd, err := fn.Bind(b.session, fargs)
	if err != nil {
		b.failErr(e.Span, err)
		return false
	}
	call.Fn = bd
	for i, a := range args {
		x := a.e
		if i < len(bd.Args) {
			var ok bool
			if x, ok = b.cast(e.Span, x, bd.Args[i]); !ok {
				return false
			}
		}
		call.Args = append(call.Args, x)
	}
	if fn.IgnoresDistinct {
		call.Distinct = false
	}
	return true
}

// sortKey binds one ordering key.
func (b *Binder) sortKey(it ast.SortItem, v *env) (logical.SortKey, bound, bool) {
	x, ok := b.expr(it.X, v)
	if !ok {
		return logical.SortKey{}, x, false
	}
	k, ok := b.keyOf(it, x)
	return k, x, ok
}

// keyOf makes a key of a bound expression: nulls come first when ascending.
func (b *Binder) keyOf(it ast.SortItem, x bound) (logical.SortKey, bool) {
	if t := x.typ(); !orderable(t) {
		b.fail(it.Span, "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
			`Cannot resolve "%s" due to data type mismatch: The sort order does not support ordering on type "%s".`, x.text, t.SQL())
		return logical.SortKey{}, false
	}
	k := logical.SortKey{Expr: x.e, Descending: it.Desc, NullsLast: it.Desc}
	switch it.Nulls {
	case ast.NullsFirst:
		k.NullsLast = false
	case ast.NullsLast:
		k.NullsLast = true
	}
	return k, true
}

// keyText prints a key as Spark does inside OVER.
func keyText(k logical.SortKey, txt string) string {
	if k.Descending {
		txt += " DESC"
	} else {
		txt += " ASC"
	}
	if k.NullsLast {
		return txt + " NULLS LAST"
	}
	return txt + " NULLS FIRST"
}

// orderable reports whether values of the type can be sorted.
func orderable(t schema.Type) bool {
	switch t.Kind {
	case schema.Map, schema.Variant, schema.CalendarInterval:
		return false
	case schema.Array:
		return orderable(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if !orderable(f.Type) {
				return false
			}
		}
	}
	return true
}
