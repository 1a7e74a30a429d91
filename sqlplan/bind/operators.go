package bind

import (
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

var binaryNames = map[ast.BinaryOp]string{
	ast.Eq: "=", ast.NullSafeEq: "<=>", ast.Less: "<", ast.LessEq: "<=", ast.Greater: ">", ast.GreaterEq: ">=",
	ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.ShiftLeft: "<<", ast.ShiftRight: ">>",
	ast.ShiftRightUnsigned: ">>>", ast.Add: "+", ast.Sub: "-", ast.Concat: "concat", ast.Mul: "*",
	ast.Div: "/", ast.Mod: "%", ast.IntDiv: "div",
}

// binary binds an operator between two operands.
func (b *Binder) binary(e *ast.Binary, v *env) (bound, bool) {
	l, ok := b.expr(e.L, v)
	r, ok2 := b.expr(e.R, v)
	if !ok || !ok2 {
		return bound{}, false
	}
	if l.char > 0 || r.char > 0 {
		if l, r, ok = b.padded(e, l, r); !ok {
			return bound{}, false
		}
	}
	switch e.Op {
	case ast.And, ast.Or:
		return b.logic(e, l, r)
	case ast.NotEq:
		x, ok := b.function(e.Span, "=", []bound{l, r})
		return b.not(e.Span, x, ok)
	case ast.NotDistinctFrom:
		return b.function(e.Span, "<=>", []bound{l, r})
	case ast.DistinctFrom:
		x, ok := b.function(e.Span, "<=>", []bound{l, r})
		return b.not(e.Span, x, ok)
	}
	return b.function(e.Span, binaryNames[e.Op], []bound{l, r})
}

// logic binds AND and OR: chains become one node.
func (b *Binder) logic(e *ast.Binary, l, r bound) (bound, bool) {
	word := "AND"
	if e.Op == ast.Or {
		word = "OR"
	}
	txt := "(" + l.text + " " + word + " " + r.text + ")"
	if k := l.typ().Kind; k == r.typ().Kind && k != schema.Boolean && k != schema.Void && k != schema.String {
		b.fail(e.Span, "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE",
			`Cannot resolve "%s" due to data type mismatch: the binary operator requires the input type "BOOLEAN", not "%s".`, txt, l.typ().SQL())
		return bound{}, false
	}
	for _, x := range []bound{l, r} {
		if k := x.typ().Kind; k != schema.Boolean && k != schema.Void && !(k == schema.String && b.session.ANSI) {
			b.fail(e.Span, "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
				`Cannot resolve "%s" due to data type mismatch: the left and right operands of the binary operator have incompatible types ("%s" and "%s").`,
				txt, l.typ().SQL(), r.typ().SQL())
			return bound{}, false
		}
	}
	x, ok := b.condition(e.L.Range(), l, txt)
	y, ok2 := b.condition(e.R.Range(), r, txt)
	if !ok || !ok2 {
		return bound{}, false
	}
	at := b.at(e.Span)
	if e.Op == ast.And {
		return bound{e: &logical.And{At: at, Args: append(append([]logical.Expr(nil), logical.Conjuncts(x)...), logical.Conjuncts(y)...)}, text: txt}, true
	}
	return bound{e: &logical.Or{At: at, Args: append(append([]logical.Expr(nil), disjuncts(x)...), disjuncts(y)...)}, text: txt}, true
}

func disjuncts(e logical.Expr) []logical.Expr {
	if o, ok := e.(*logical.Or); ok {
		return o.Args
	}
	return []logical.Expr{e}
}

// not negates x; ok tells whether x was bound.
func (b *Binder) not(r diag.Range, x bound, ok bool) (bound, bool) {
	if !ok {
		return bound{}, false
	}
	txt := "(NOT " + x.text + ")"
	if x.typ().Kind == schema.String && !b.session.ANSI && !b.boolean(r, x, txt, "first") {
		return bound{}, false
	}
	c, ok := b.condition(r, x, txt)
	if !ok {
		return bound{}, false
	}
	y, ok := b.function(r, "not", []bound{{e: c, text: x.text}})
	y.text = txt
	return y, ok
}

func (b *Binder) unary(e *ast.Unary, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	if !ok {
		return x, false
	}
	switch e.Op {
	case ast.Not:
		return b.not(e.Span, x, true)
	case ast.Minus:
		y, ok := b.function(e.Span, "negative", []bound{x})
		y.text = "(- " + x.text + ")"
		return y, ok
	case ast.Plus:
		y, ok := b.function(e.Span, "positive", []bound{x})
		y.text = "(+ " + x.text + ")"
		return y, ok
	}
	y, ok := b.function(e.Span, "~", []bound{x})
	y.text = "~" + x.text
	return y, ok
}

// between binds x BETWEEN low AND high as two comparisons.
func (b *Binder) between(e *ast.Between, v *env) (bound, bool) {
	xs, ok := b.exprs([]ast.Expr{e.X, e.Low, e.High}, v)
	if !ok {
		return bound{}, false
	}
	lo, ok := b.function(e.Span, ">=", []bound{xs[0], xs[1]})
	hi, ok2 := b.function(e.Span, "<=", []bound{xs[0], xs[2]})
	if !ok || !ok2 {
		return bound{}, false
	}
	y := bound{
		e:    &logical.And{At: b.at(e.Span), Args: []logical.Expr{lo.e, hi.e}},
		text: "between(" + xs[0].text + ", " + xs[1].text + ", " + xs[2].text + ")",
	}
	if e.Not {
		return b.not(e.Span, y, true)
	}
	return y, true
}

// in binds x IN (list) and x IN (query).
func (b *Binder) in(e *ast.In, v *env) (bound, bool) {
	var y bound
	var ok bool
	if e.Query != nil {
		y, ok = b.inQuery(e, v)
	} else {
		y, ok = b.inList(e, v)
	}
	if e.Not {
		return b.not(e.Span, y, ok)
	}
	return y, ok
}

// fieldNamesOf gives the fields of a struct the names of another one's: a tuple
// is compared by place.
func fieldNamesOf(t, like schema.Type) schema.Type {
	if t.Kind != schema.Struct || like.Kind != schema.Struct || len(t.Fields) != len(like.Fields) {
		return t
	}
	fields := append([]schema.Field(nil), t.Fields...)
	for i := range fields {
		fields[i].Name = like.Fields[i].Name
		fields[i].Type = fieldNamesOf(fields[i].Type, like.Fields[i].Type)
	}
	return schema.StructOf(fields...)
}

func (b *Binder) inList(e *ast.In, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	list, ok2 := b.starred(e.List, v)
	if !ok || !ok2 {
		return bound{}, false
	}
	all := append([]bound{x}, list...)
	if x.char > 0 && !b.paddedList(e.Span, all) {
		return bound{}, false
	}
	types := make([]schema.Type, len(all))
	texts := make([]string, len(list))
	for i, y := range all {
		types[i] = y.typ()
		if i > 0 {
			texts[i-1] = y.text
		}
	}
	txt := "(" + x.text + " IN (" + strings.Join(texts, ", ") + "))"
	for i := range types {
		types[i] = fieldNamesOf(types[i], types[0])
	}
	t, ok := b.commonType(types, true)
	if !ok || t.Kind == schema.Map {
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = `"` + t.SQL() + `"`
		}
		b.fail(e.Span, "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
			`Cannot resolve "%s" due to data type mismatch: Input to in should all be the same type, but it's [%s].`, txt, strings.Join(names, ", "))
		return bound{}, false
	}
	for i := range all {
		c, ok := b.cast(e.Span, all[i].e, t)
		if !ok {
			return bound{}, false
		}
		all[i].e = c
	}
	if !b.laterFails(all[1:]) {
		y, ok := b.function(e.Span, "in", all)
		y.text = txt
		return y, ok
	}
	var alts []logical.Expr
	for _, c := range all[1:] {
		eq, ok := b.function(e.Span, "=", []bound{all[0], c})
		if !ok {
			return bound{}, false
		}
		alts = append(alts, eq.e)
	}
	if len(alts) == 1 {
		return bound{e: alts[0], text: txt}, true
	}
	return bound{e: &logical.Or{At: b.at(e.Span), Args: alts}, text: txt}, true
}

// laterFails reports whether a value of a list, which is compared only where
// none before it is equal, can fail.
func (b *Binder) laterFails(list []bound) bool {
	for _, x := range list[1:] {
		if logical.CanFail(x.e) {
			if _, ok := b.constant(x.e); !ok {
				return true
			}
		}
	}
	return false
}

var likeNames = map[ast.LikeOp]string{ast.LikeMatch: "like", ast.ILikeMatch: "ilike", ast.RLikeMatch: "rlike"}

// like binds LIKE, ILIKE, RLIKE and their quantified forms.
func (b *Binder) like(e *ast.Like, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	pats, ok2 := b.exprs(e.Patterns, v)
	if !ok || !ok2 {
		return bound{}, false
	}
	name := likeNames[e.Op]
	var parts []logical.Expr
	var texts []string
	for _, p := range pats {
		args := []bound{x, p}
		if e.Escape != nil {
			esc, ok := b.expr(e.Escape, v)
			if !ok {
				return bound{}, false
			}
			args = append(args, esc)
		}
		y, ok := b.function(e.Span, name, args)
		if ok && e.Not && e.Quantifier != ast.NoQuantifier {
			y, ok = b.not(e.Span, y, ok)
		}
		if !ok {
			return bound{}, false
		}
		parts, texts = append(parts, y.e), append(texts, p.text)
		if e.Quantifier == ast.NoQuantifier {
			y.text = likeText(e, x.text, p.text)
			if e.Not {
				return b.not(e.Span, y, true)
			}
			return y, true
		}
	}
	return b.quantified(e, x, parts, texts)
}

func likeText(e *ast.Like, x, p string) string {
	switch e.Op {
	case ast.LikeMatch:
		s := x + " LIKE " + p
		if esc, ok := e.Escape.(*ast.StringLit); ok && esc.Value != `\` {
			s += " ESCAPE '" + esc.Value + "'"
		}
		return s
	case ast.RLikeMatch:
		return "RLIKE(" + x + ", " + p + ")"
	}
	return "ilike(" + x + ", " + p + ")"
}

func (b *Binder) quantified(e *ast.Like, x bound, parts []logical.Expr, texts []string) (bound, bool) {
	name := "likeany"
	if e.Quantifier == ast.All {
		name = "likeall"
	}
	if e.Not {
		name = "not" + name
	}
	txt := name + "(" + x.text + ", " + strings.Join(texts, ", ") + ")"
	if allTexts(e.Patterns) {
		txt = name + "(" + x.text + ")" // as Spark prints it
	}
	if len(parts) == 0 {
		b.fail(e.Span, "PARSE_SYNTAX_ERROR", "Expected something between '(' and ')'.")
		return bound{}, false
	}
	if len(parts) == 1 {
		return bound{e: parts[0], text: txt}, true
	}
	if e.Quantifier == ast.All {
		return bound{e: &logical.And{At: b.at(e.Span), Args: parts}, text: txt}, true
	}
	return bound{e: &logical.Or{At: b.at(e.Span), Args: parts}, text: txt}, true
}

func allTexts(list []ast.Expr) bool {
	for _, x := range list {
		if _, ok := x.(*ast.StringLit); !ok {
			return false
		}
	}
	return true
}

func (b *Binder) isNull(e *ast.IsNull, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	if !ok {
		return x, false
	}
	name, txt := "isnull", "("+x.text+" IS NULL)"
	if e.Not {
		name, txt = "isnotnull", "("+x.text+" IS NOT NULL)"
	}
	y, ok := b.function(e.Span, name, []bound{x})
	y.text = txt
	return y, ok
}

func (b *Binder) isBool(e *ast.IsBool, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	if !ok {
		return x, false
	}
	c, ok := b.condition(e.Span, x, x.text)
	if !ok {
		return bound{}, false
	}
	x.e = c
	if e.Value == ast.Unknown {
		name, txt := "isnull", "("+x.text+" IS NULL)"
		if e.Not {
			name, txt = "isnotnull", "("+x.text+" IS NOT NULL)"
		}
		y, ok := b.function(e.Span, name, []bound{x})
		y.text = txt
		return y, ok
	}
	val := e.Value == ast.True
	word := map[bool]string{true: "true", false: "false"}[val]
	y, ok := b.function(e.Span, "<=>", []bound{x, {e: boolLiteral(b.at(e.Span), val), text: word}})
	if e.Not {
		return b.not(e.Span, y, ok)
	}
	return y, ok
}

// row binds (a, b) as a struct.
func (b *Binder) row(e *ast.Row, v *env) (bound, bool) {
	return b.structCall(e.Span, e.Items, v, "named_struct")
}

// castExpr binds CAST, TRY_CAST and ::.
func (b *Binder) castExpr(e *ast.Cast, v *env) (bound, bool) {
	x, ok := b.expr(e.X, v)
	t, ok2 := b.typeName(e.Type)
	if !ok || !ok2 {
		return bound{}, false
	}
	if e.Store {
		return b.storeCast(e.Span, x, t)
	}
	t = t.WithoutLength() // a cast to CHAR(n) or VARCHAR(n) is one to STRING
	mode, word := logical.CastANSI, "CAST("
	switch {
	case e.Try:
		mode, word = logical.CastTry, "TRY_CAST("
	case !b.session.ANSI:
		mode = logical.CastLegacy
	}
	y, ok := b.castTo(e.Span, x, t, mode)
	y.text = word + x.text + " AS " + t.SQL() + ")"
	if t.IsNested() { // such casts do not print
		y.text = x.text
	}
	_, isCol := x.e.(*logical.Column)
	_, isField := x.e.(*logical.FieldAccess)
	if _, nested := x.e.(*logical.Cast); isCol || x.name != "" && !nested && !isField {
		y.name = x.columnName()
	}
	return y, ok
}

// castTo is a cast that the user asked for.
func (b *Binder) castTo(r diag.Range, x bound, t schema.Type, mode logical.CastMode) (bound, bool) {
	if x.typ().Equal(t) {
		return bound{e: x.e, computed: true}, true
	}
	bd, err := bindCast(b.session, b.arg(x), t, mode)
	if err != nil {
		b.failErr(r, err)
		return bound{}, false
	}
	return bound{e: &logical.Cast{At: b.at(r), Input: x.e, To: t, Mode: mode, Fn: bd}}, true
}

// storeCast is the cast of an inserted value into a table's column.
func (b *Binder) storeCast(r diag.Range, x bound, t schema.Type) (bound, bool) {
	if x.typ().Equal(t) {
		return bound{e: x.e, computed: true}, true
	}
	bd, err := bindStore(b.session, b.arg(x), t)
	if err != nil {
		b.failErr(r, err)
		return bound{}, false
	}
	return bound{e: &logical.Cast{At: b.at(r), Input: x.e, To: t, Mode: logical.CastANSI, Fn: bd}}, true
}
