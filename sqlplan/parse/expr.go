package parse

import (
	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

// expr reads an expression: OR, AND, NOT, predicates, operators, operands.
func (p *parser) expr() ast.Expr {
	p.enter()
	defer p.leave()
	return p.logical(ast.Or)
}

// logical reads a chain of OR (or, one level down, of AND) into a balanced tree.
func (p *parser) logical(o ast.BinaryOp) ast.Expr {
	w := "OR"
	if o == ast.And {
		w = "AND"
	}
	operand := func() ast.Expr {
		if o == ast.Or {
			return p.logical(ast.And)
		}
		return p.not()
	}
	x := operand()
	if !p.isWords(w) {
		return x
	}
	xs := []ast.Expr{x}
	for p.accept(w) {
		xs = append(xs, operand())
	}
	return balance(o, xs)
}

// balance builds the tree of a chain the way Spark does, by halves.
func balance(o ast.BinaryOp, xs []ast.Expr) ast.Expr {
	if len(xs) == 1 {
		return xs[0]
	}
	mid := (len(xs)-1)/2 + 1
	l, r := balance(o, xs[:mid]), balance(o, xs[mid:])
	return binary(o, l, r)
}

func binary(o ast.BinaryOp, l, r ast.Expr) *ast.Binary {
	return &ast.Binary{Pos: ast.Pos{Span: l.Range().Join(r.Range())}, Op: o, L: l, R: r}
}

// not reads NOT x; "!" means the same.
func (p *parser) not() ast.Expr {
	start := p.start()
	if p.isOp("!") || p.isWords("NOT") && p.notAhead() {
		p.i++
		p.enter()
		defer p.leave()
		x := p.not()
		return &ast.Unary{Pos: p.pos(start), Op: ast.Not, X: x}
	}
	if p.isWords("EXISTS") && p.at(1).isOp("(") && p.isQuery(p.i+1) {
		p.i++
		q := p.parenQuery()
		return &ast.Exists{Pos: p.pos(start), Query: q}
	}
	return p.predicate()
}

// notAhead reports whether NOT is the operator and no name.
func (p *parser) notAhead() bool {
	n := p.at(1)
	if n.kind == op {
		return n.up == "(" || n.up == "-" || n.up == "+" || n.up == "~" || n.up == "?" || n.up == ":" || n.up == "!"
	}
	return n.kind != eof
}

// predicate reads an operand and what IS, IN, LIKE and BETWEEN say about it.
func (p *parser) predicate() ast.Expr {
	x := p.value(0)
	start := x.Range().Start
	save := p.i
	not := false
	if (p.isWords("NOT") || p.isOp("!")) && p.predicateWord(p.at(1)) {
		p.i++
		not = true
	}
	if p.tok().kind != word {
		return x
	}
	switch p.tok().up {
	case "BETWEEN":
		return p.between(x, not)
	case "IN":
		return p.in(x, not)
	case "RLIKE", "REGEXP":
		p.i++
		y := p.value(0)
		return &ast.Like{Pos: p.pos(start), Op: ast.RLikeMatch, X: x, Patterns: []ast.Expr{y}, Not: not}
	case "LIKE", "ILIKE":
		return p.like(x, not)
	case "IS":
		return p.is(x)
	}
	p.i = save
	return x
}

func (p *parser) predicateWord(t token) bool {
	switch {
	case t.kind != word:
		return false
	case t.up == "BETWEEN", t.up == "IN", t.up == "LIKE", t.up == "ILIKE", t.up == "RLIKE", t.up == "REGEXP":
		return true
	}
	return false
}

func (p *parser) between(x ast.Expr, not bool) ast.Expr {
	p.i++
	lo := p.value(0)
	p.expect("AND")
	hi := p.value(0)
	return &ast.Between{Pos: p.pos(x.Range().Start), X: x, Low: lo, High: hi, Not: not}
}

func (p *parser) in(x ast.Expr, not bool) ast.Expr {
	p.i++
	n := &ast.In{X: x, Not: not}
	if !p.isOp("(") {
		p.fail("expected '('")
	}
	open := p.i
	inner := p.toks[open].match
	// A parenthesized subquery alone is a value: x IN ((SELECT 1)).
	alone := p.at(1).isOp("(") && p.at(1).match+1 == inner
	if p.isQuery(open) && !alone {
		n.Query = p.parenQuery()
	} else {
		p.i++
		if p.isOp(")") {
			p.i++
			p.failCode(diag.Range{Start: x.Range().Start, End: p.toks[p.i-1].end},
				"INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE", "Invalid SQL syntax: IN predicate requires at least one value.")
		}
		n.List = list(p, p.expr)
		p.expectOp(")")
	}
	n.Pos = p.pos(x.Range().Start)
	return n
}

func (p *parser) like(x ast.Expr, not bool) ast.Expr {
	n := &ast.Like{X: x, Not: not, Op: ast.LikeMatch}
	if p.advance().up == "ILIKE" {
		n.Op = ast.ILikeMatch
	}
	if p.isAny("ANY", "SOME", "ALL") && p.at(1).isOp("(") {
		n.Quantifier = ast.Any
		if p.advance().up == "ALL" {
			n.Quantifier = ast.All
		}
		open := p.advance()
		if p.isOp(")") {
			p.failCode(diag.Range{Start: open.start, End: p.tok().end}, "_LEGACY_ERROR_TEMP_0064",
				"Expected something between '(' and ')'.")
		}
		n.Patterns = list(p, p.expr)
		p.expectOp(")")
	} else {
		n.Patterns = []ast.Expr{p.value(0)}
		if p.accept("ESCAPE") {
			n.Escape = p.escapeChar()
		}
	}
	n.Pos = p.pos(x.Range().Start)
	return n
}

// escapeChar reads the character after ESCAPE.
func (p *parser) escapeChar() ast.Expr {
	if p.isOp(":") || p.isOp("?") {
		return p.param()
	}
	s := p.stringLit()
	if len([]rune(s.Value)) != 1 {
		p.failCode(s.Span, "INVALID_ESC", "Found an invalid escape string: `EscapeChar` should be a string literal of length one, but got '"+clip(s.Value)+"'.")
	}
	return s
}

func (p *parser) is(x ast.Expr) ast.Expr {
	p.i++
	start := x.Range().Start
	not := p.accept("NOT") || p.acceptOp("!")
	switch w := p.expectAny("NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"); w {
	case "NULL":
		return &ast.IsNull{Pos: p.pos(start), X: x, Not: not}
	case "DISTINCT":
		p.expect("FROM")
		o := ast.DistinctFrom
		if not {
			o = ast.NotDistinctFrom
		}
		return binary(o, x, p.value(0))
	default:
		v := map[string]ast.Truth{"TRUE": ast.True, "FALSE": ast.False, "UNKNOWN": ast.Unknown}[w]
		return &ast.IsBool{Pos: p.pos(start), X: x, Value: v, Not: not}
	}
}

// The levels of operators between operands, loosest first.
const (
	levelCompare = iota
	levelOr
	levelXor
	levelAnd
	levelShift
	levelSum
	levelProduct
	levelUnary
)

// binaryOperators are the operators of one token but ">", which may be a part
// of a shift.
var binaryOperators = map[string]struct {
	op    ast.BinaryOp
	level int
}{
	"=":   {ast.Eq, levelCompare},
	"==":  {ast.Eq, levelCompare},
	"<=>": {ast.NullSafeEq, levelCompare},
	"<>":  {ast.NotEq, levelCompare},
	"!=":  {ast.NotEq, levelCompare},
	"<":   {ast.Less, levelCompare},
	"<=":  {ast.LessEq, levelCompare},
	"!>":  {ast.LessEq, levelCompare},
	">=":  {ast.GreaterEq, levelCompare},
	"!<":  {ast.GreaterEq, levelCompare},
	"|":   {ast.BitOr, levelOr},
	"^":   {ast.BitXor, levelXor},
	"&":   {ast.BitAnd, levelAnd},
	"<<":  {ast.ShiftLeft, levelShift},
	"+":   {ast.Add, levelSum},
	"-":   {ast.Sub, levelSum},
	"||":  {ast.Concat, levelSum},
	"*":   {ast.Mul, levelProduct},
	"/":   {ast.Div, levelProduct},
	"%":   {ast.Mod, levelProduct},
}

// operator returns the operator at the cursor, its level and its number of
// tokens, or a level of -1.
func (p *parser) operator() (o ast.BinaryOp, level, n int) {
	t := p.tok()
	switch {
	case t.kind == word && t.up == "DIV":
		return ast.IntDiv, levelProduct, 1
	case t.kind == op && t.up == ">":
		return p.greater()
	case t.kind == op:
		if b, ok := binaryOperators[t.up]; ok {
			return b.op, b.level, 1
		}
	}
	return 0, -1, 0
}

// greater joins ">" signs without blanks between them to shifts.
func (p *parser) greater() (ast.BinaryOp, int, int) {
	n := 1
	for n < 3 && p.at(n).isOp(">") && p.at(n).start == p.at(n-1).end {
		n++
	}
	switch n {
	case 2:
		return ast.ShiftRight, levelShift, 2
	case 3:
		return ast.ShiftRightUnsigned, levelShift, 3
	}
	return ast.Greater, levelCompare, 1
}

// value reads operands joined by operators of at least the given level.
func (p *parser) value(level int) ast.Expr {
	x := p.unary()
	for n := 1; ; n++ {
		o, l, toks := p.operator()
		if l < level || p.i >= p.end {
			return x
		}
		p.chain(n)
		p.i += toks
		x = binary(o, x, p.value(l+1))
	}
}

// unary reads signs before an operand. A minus directly before a number belongs
// to the number.
func (p *parser) unary() ast.Expr {
	t := p.tok()
	if t.kind != op || t.up != "-" && t.up != "+" && t.up != "~" {
		return p.postfix()
	}
	if t.up == "-" && p.at(1).kind == number {
		return p.postfix()
	}
	p.i++
	p.enter()
	defer p.leave()
	x := p.unary()
	o := map[string]ast.UnaryOp{"-": ast.Minus, "+": ast.Plus, "~": ast.BitNot}[t.up]
	return &ast.Unary{Pos: p.pos(t.start), Op: o, X: x}
}

// postfix reads an operand and what follows it: [i], .name, ::type, COLLATE,
// :path.
func (p *parser) postfix() ast.Expr {
	x := p.primary()
	for n := 1; p.i < p.end; n++ {
		p.chain(n)
		start := x.Range().Start
		t := p.tok()
		switch {
		case t.isOp("["):
			p.i++
			p.enter()
			i := p.value(0)
			p.leave()
			p.expectOp("]")
			x = &ast.Subscript{Pos: p.pos(start), X: x, Index: i}
		case t.isOp("."):
			p.i++
			id := p.ident()
			x = p.field(x, id)
		case t.isOp("::"):
			p.i++
			ty := p.dataType()
			x = &ast.Cast{Pos: p.pos(start), X: x, Type: ty, Colon: true}
		case t.isWord("COLLATE"):
			p.i++
			c := p.name()
			x = &ast.Collate{Pos: p.pos(start), X: x, Name: c}
		case t.isOp(":") && p.pathAhead():
			p.i++
			path := p.variantPath()
			x = &ast.VariantPath{Pos: p.pos(start), X: x, Path: path}
		default:
			return x
		}
	}
	return x
}

// field adds a name after a dot.
func (p *parser) field(x ast.Expr, id ast.Ident) ast.Expr {
	start := x.Range().Start
	if c, ok := x.(*ast.Column); ok {
		n := c.Name
		n.Parts = append(n.Parts[:len(n.Parts):len(n.Parts)], id)
		n.Pos = p.pos(start)
		return &ast.Column{Pos: n.Pos, Name: n}
	}
	return &ast.Field{Pos: p.pos(start), X: x, Name: id}
}
