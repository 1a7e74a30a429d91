package bind

import (
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

type form = func(b *Binder, e *ast.Call, name string, v *env) (bound, bool)

// specialForm returns the binder of a call that becomes a guarded expression
// or a plan node, or nil.
func specialForm(name string) form {
	switch name {
	case "if":
		return (*Binder).ifCall
	case "coalesce", "nvl", "ifnull":
		return (*Binder).coalesceCall
	case "nvl2":
		return (*Binder).nvl2Call
	case "nullif":
		return (*Binder).nullifCall
	case "nanvl":
		return (*Binder).nanvlCall
	case "nullifzero":
		return (*Binder).nullifzeroCall
	case "zeroifnull":
		return (*Binder).zeroifnullCall
	case "decode":
		return (*Binder).decodeCall
	case "struct":
		return (*Binder).structForm
	case "grouping", "grouping_id":
		return (*Binder).groupingCall
	case "window", "session_window":
		return (*Binder).windowCall
	case "window_time":
		return (*Binder).windowTimeCall
	}
	return nil
}

// count checks the number of arguments of a special form.
func (b *Binder) count(e *ast.Call, name string, lo, hi int) bool {
	n := len(e.Args)
	if n >= lo && (hi < 0 || n <= hi) {
		return true
	}
	want := strconv.Itoa(lo)
	switch {
	case hi < 0:
		want = "> " + strconv.Itoa(lo-1)
	case hi != lo:
		want = "[" + strconv.Itoa(lo) + ", " + strconv.Itoa(hi) + "]"
	}
	b.fail(e.Span, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "The `%s` requires %s parameters but the actual number is %d.", name, want, n)
	return false
}

// branches brings the results of a conditional to one type.
func (b *Binder) branches(r diag.Range, txt string, results []bound) (schema.Type, bool) {
	types := make([]schema.Type, len(results))
	names := make([]string, len(results))
	for i, x := range results {
		types[i], names[i] = x.typ(), `"`+x.typ().SQL()+`"`
	}
	t, ok := b.commonType(types, true)
	if !ok {
		b.fail(r, "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
			`Cannot resolve "%s" due to data type mismatch: Input should all be the same type, but it's [%s].`, txt, strings.Join(names, ", "))
		return t, false
	}
	for i := range results {
		c, ok := b.cast(r, results[i].e, t)
		if !ok {
			return t, false
		}
		results[i].e = c
	}
	return t, true
}

// boolean checks a WHEN condition: it must be BOOLEAN as it stands.
func (b *Binder) boolean(r diag.Range, x bound, txt, ordinal string) bool {
	if x.typ().Kind == schema.Boolean {
		return true
	}
	b.fail(r, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
		`Cannot resolve "%s" due to data type mismatch: The %s parameter requires the "BOOLEAN" type, however "%s" has the type "%s".`,
		txt, ordinal, x.text, x.typ().SQL())
	return false
}

// starred binds arguments, expanding stars.
func (b *Binder) starred(es []ast.Expr, v *env) ([]bound, bool) {
	var out []bound
	ok := true
	for _, e := range es {
		if s, isStar := e.(*ast.Star); isStar {
			cols, good := b.star(s, v.scope)
			ok = ok && good
			for _, c := range cols {
				out = append(out, c.bound)
			}
			continue
		}
		x, good := b.expr(e, v)
		out, ok = append(out, x), ok && good
	}
	return out, ok
}

func (b *Binder) caseExpr(e *ast.Case, v *env) (bound, bool) {
	ok := true
	var operand bound
	if e.Operand != nil {
		operand, ok = b.expr(e.Operand, v)
	}
	var conds, results []bound
	txt := "CASE"
	for _, w := range e.Whens {
		c, ok1 := b.expr(w.Cond, v)
		t, ok2 := b.expr(w.Then, v)
		if ok && ok1 && e.Operand != nil {
			c, ok1 = b.function(w.Span, "=", []bound{operand, c})
		}
		ok = ok && ok1 && ok2
		conds, results = append(conds, c), append(results, t)
		txt += " WHEN " + c.text + " THEN " + t.text
	}
	if e.Else != nil {
		x, good := b.expr(e.Else, v)
		ok = ok && good
		results = append(results, x)
		txt += " ELSE " + x.text
	}
	if !ok {
		return bound{}, false
	}
	txt += " END"
	for i, c := range conds {
		if !b.boolean(e.Whens[i].Cond.Range(), c, txt, "1st") {
			return bound{}, false
		}
	}
	t, ok := b.branches(e.Span, txt, results)
	if !ok {
		return bound{}, false
	}
	n := &logical.Case{At: b.at(e.Span), T: t}
	for i, c := range conds {
		n.Branches = append(n.Branches, logical.Branch{When: c.e, Then: results[i].e})
	}
	if e.Else != nil {
		n.Else = results[len(results)-1].e
	}
	return bound{e: n, text: txt}, true
}

func (b *Binder) ifCall(e *ast.Call, name string, v *env) (bound, bool) {
	if !b.count(e, name, 3, 3) {
		return bound{}, false
	}
	xs, ok := b.starred(e.Args, v)
	if !ok {
		return bound{}, false
	}
	txt := "(IF(" + xs[0].text + ", " + xs[1].text + ", " + xs[2].text + "))"
	cond := xs[0]
	if cond.typ().Kind == schema.Void {
		c, ok := b.condition(e.Span, cond, txt)
		if !ok {
			return bound{}, false
		}
		cond.e = c
	}
	if !b.boolean(e.Args[0].Range(), cond, txt, "first") {
		return bound{}, false
	}
	t, ok := b.branches(e.Span, txt, xs[1:])
	return bound{e: &logical.Case{
		At: b.at(e.Span), T: t, Branches: []logical.Branch{{When: cond.e, Then: xs[1].e}}, Else: xs[2].e,
	}, text: txt}, ok
}

func (b *Binder) coalesceCall(e *ast.Call, name string, v *env) (bound, bool) {
	lo, hi := 1, -1
	if name != "coalesce" {
		lo, hi = 2, 2
	}
	if !b.count(e, name, lo, hi) {
		return bound{}, false
	}
	xs, ok := b.starred(e.Args, v)
	if !ok {
		return bound{}, false
	}
	txt := printCall(name, textsOf(xs))
	if _, ok = b.branches(e.Span, txt, xs); !ok {
		return bound{}, false
	}
	if len(xs) == 1 {
		return bound{e: xs[0].e, text: txt}, true
	}
	return bound{e: &logical.Coalesce{At: b.at(e.Span), Args: exprsOf(xs)}, text: txt}, true
}

func textsOf(xs []bound) []string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = x.text
	}
	return out
}

func exprsOf(xs []bound) []logical.Expr {
	out := make([]logical.Expr, len(xs))
	for i, x := range xs {
		out[i] = x.e
	}
	return out
}

// nvl2Call is nvl2(x, a, b): CASE WHEN x IS NOT NULL THEN a ELSE b END.
func (b *Binder) nvl2Call(e *ast.Call, name string, v *env) (bound, bool) {
	if !b.count(e, name, 3, 3) {
		return bound{}, false
	}
	xs, ok := b.starred(e.Args, v)
	if !ok {
		return bound{}, false
	}
	txt := printCall(name, textsOf(xs))
	c, ok := b.function(e.Span, "isnotnull", xs[:1])
	if !ok {
		return bound{}, false
	}
	t, ok := b.branches(e.Span, txt, xs[1:])
	return bound{e: &logical.Case{
		At: b.at(e.Span), T: t, Branches: []logical.Branch{{When: c.e, Then: xs[1].e}}, Else: xs[2].e,
	}, text: txt}, ok
}

// nanvlCall is nanvl(a, b): where b can fail it is asked only where a is NaN.
func (b *Binder) nanvlCall(e *ast.Call, name string, v *env) (bound, bool) {
	xs, ok := b.starred(e.Args, v)
	if !ok {
		return bound{}, false
	}
	y, ok := b.function(e.Span, name, xs)
	if !ok || !logical.CanFail(xs[1].e) || logical.Volatility(xs[0].e) == funcs.Volatile {
		return y, ok
	}
	for i := range xs {
		if xs[i].e, ok = b.cast(e.Span, xs[i].e, y.typ()); !ok {
			return bound{}, false
		}
	}
	c, ok := b.function(e.Span, "isnan", xs[:1])
	return bound{e: &logical.Case{
		At: b.at(e.Span), T: y.typ(), Branches: []logical.Branch{{When: c.e, Then: xs[1].e}}, Else: xs[0].e,
	}, text: y.text}, ok
}

// nullifCall is nullif(a, b): NULL when a = b, else a.
func (b *Binder) nullifCall(e *ast.Call, name string, v *env) (bound, bool) {
	if !b.count(e, name, 2, 2) {
		return bound{}, false
	}
	xs, ok := b.starred(e.Args, v)
	if !ok {
		return bound{}, false
	}
	return b.nullWhenEqual(e, xs[0], xs[1], printCall(name, textsOf(xs)))
}

func (b *Binder) nullWhenEqual(e *ast.Call, x, y bound, txt string) (bound, bool) {
	c, ok := b.function(e.Span, "=", []bound{x, y})
	if !ok {
		return bound{}, false
	}
	at := b.at(e.Span)
	return bound{e: &logical.Case{
		At: at, T: x.typ(), Branches: []logical.Branch{{When: c.e, Then: nullLiteral(at, x.typ())}}, Else: x.e,
	}, text: txt}, true
}

func (b *Binder) nullifzeroCall(e *ast.Call, name string, v *env) (bound, bool) {
	if !b.count(e, name, 1, 1) {
		return bound{}, false
	}
	x, ok := b.expr(e.Args[0], v)
	if !ok {
		return x, false
	}
	return b.nullWhenEqual(e, x, bound{e: intLiteral(b.at(e.Span), 0), text: "0"}, printCall(name, []string{x.text}))
}

func (b *Binder) zeroifnullCall(e *ast.Call, name string, v *env) (bound, bool) {
	if !b.count(e, name, 1, 1) {
		return bound{}, false
	}
	x, ok := b.expr(e.Args[0], v)
	if !ok {
		return x, false
	}
	xs := []bound{x, {e: intLiteral(b.at(e.Span), 0), text: "0"}}
	txt := printCall(name, []string{x.text})
	if _, ok = b.branches(e.Span, txt, xs); !ok {
		return bound{}, false
	}
	return bound{e: &logical.Coalesce{At: b.at(e.Span), Args: exprsOf(xs)}, text: txt}, true
}

// decodeCall is decode(x, s1, r1, ..., default) as CASE with null-safe
// equality; decode(binary, charset) is a plain function.
func (b *Binder) decodeCall(e *ast.Call, name string, v *env) (bound, bool) {
	if len(e.Args) < 3 {
		if fn := lookupScalar(name); fn != nil {
			return b.scalarCall(e, name, fn, v)
		}
	}
	if !b.count(e, name, 2, -1) {
		return bound{}, false
	}
	xs, ok := b.starred(e.Args, v)
	if !ok {
		return bound{}, false
	}
	txt := printCall(name, textsOf(xs))
	n := &logical.Case{At: b.at(e.Span)}
	var results []bound
	for i := 1; i+1 < len(xs); i += 2 {
		c, ok := b.function(e.Span, "<=>", []bound{xs[0], xs[i]})
		if !ok {
			return bound{}, false
		}
		n.Branches = append(n.Branches, logical.Branch{When: c.e})
		results = append(results, xs[i+1])
	}
	if len(xs)%2 == 0 {
		results = append(results, xs[len(xs)-1])
	} else { // what is left out is a text
		results = append(results, bound{e: nullLiteral(b.at(e.Span), schema.Of(schema.String)), text: "NULL"})
	}
	if n.T, ok = b.branches(e.Span, txt, results); !ok {
		return bound{}, false
	}
	for i := range n.Branches {
		n.Branches[i].Then = results[i].e
	}
	n.Else = results[len(results)-1].e
	return bound{e: n, text: txt}, true
}

// structForm is struct(a, b AS x): named_struct with the arguments' names.
func (b *Binder) structForm(e *ast.Call, _ string, v *env) (bound, bool) {
	return b.structCall(e.Span, e.Args, v, "struct")
}

func (b *Binder) structCall(r diag.Range, items []ast.Expr, v *env, printed string) (bound, bool) {
	var args []bound
	var texts, alone []string
	ok := true
	add := func(name string, x bound, as string) {
		args = append(args, bound{e: stringLiteral(b.at(r), name), text: name}, x)
		if printed == "named_struct" {
			texts, alone = append(texts, name), append(alone, name)
		}
		texts, alone = append(texts, x.text), append(alone, x.text+as)
	}
	for i, it := range items {
		if s, isStar := it.(*ast.Star); isStar {
			cols, good := b.star(s, v.scope)
			ok = ok && good
			for _, c := range cols {
				add(c.name, c.bound, "")
			}
			continue
		}
		x, good := b.expr(it, v)
		ok = ok && good
		if !good {
			continue
		}
		name, as := "col"+strconv.Itoa(i+1), ""
		if a, isAlias := it.(*ast.Alias); isAlias && len(a.Names) == 1 {
			name = a.Names[0].Name
			as = " AS " + name
		} else if x.name != "" {
			name = x.name
		}
		add(name, x, as)
	}
	if !ok {
		return bound{}, false
	}
	y, ok := b.function(r, "named_struct", args)
	y.text, y.alone = printCall(printed, texts), printCall(printed, alone)
	return y, ok
}

// groupingCall is grouping(x) and grouping_id(...).
func (b *Binder) groupingCall(e *ast.Call, name string, v *env) (bound, bool) {
	if !v.agg {
		b.fail(e.Span, "UNSUPPORTED_GROUPING_EXPRESSION", "%s() can only be used with GroupingSets/Cube/Rollup.", name)
		return bound{}, false
	}
	if name == "grouping" && !b.count(e, name, 1, 1) {
		return bound{}, false
	}
	xs, ok := b.starred(e.Args, v)
	if !ok {
		return bound{}, false
	}
	return bound{
		e:    &groupingExpr{At: b.at(e.Span), id: name == "grouping_id", args: exprsOf(xs)},
		text: printCall(name, textsOf(xs)),
	}, true
}

// subscriptFunction is the function behind x[i].
func subscriptFunction(t schema.Type) string { return "[]" }
