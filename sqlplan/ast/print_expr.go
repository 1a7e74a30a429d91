package ast

import (
	"fmt"
	"strings"
)

var binaryText = [...]string{Or: "OR", And: "AND", Eq: "=", NullSafeEq: "<=>", NotEq: "<>", Less: "<", LessEq: "<=",
	Greater: ">", GreaterEq: ">=", DistinctFrom: "IS DISTINCT FROM", NotDistinctFrom: "IS NOT DISTINCT FROM", BitOr: "|", BitXor: "^",
	BitAnd: "&", ShiftLeft: "<<", ShiftRight: ">>", ShiftRightUnsigned: ">>>", Add: "+", Sub: "-", Concat: "||", Mul: "*", Div: "/",
	Mod: "%", IntDiv: "DIV"}

// String returns the operator as it is written.
func (o BinaryOp) String() string { return binaryText[o] }

// String returns the operator as it is written.
func (o UnaryOp) String() string {
	return [...]string{Not: "NOT", Minus: "-", Plus: "+", BitNot: "~"}[o]
}

// expr writes an expression. Trees keep their parentheses as nodes, so none are
// added.
//
//tidy:allow-long one case per kind
func (p *printer) expr(x Expr) {
	if p.literal(x) {
		return
	}
	switch x := x.(type) {
	case *Column:
		p.name(x.Name)
	case *Star:
		p.star(x)
	case *Field:
		p.expr(x.X)
		if _, ok := x.X.(*NumberLit); ok {
			p.w(" ") // "1.a" would be a decimal and a word
		}
		p.w(".")
		p.ident(x.Name)
	case *Subscript:
		p.expr(x.X)
		p.w("[")
		p.expr(x.Index)
		p.w("]")
	case *VariantPath:
		p.expr(x.X)
		p.w(":", strings.TrimPrefix(strings.TrimPrefix(x.Path, "$"), "."))
	case *Paren:
		p.w("(")
		p.expr(x.X)
		p.w(")")
	case *Unary:
		p.unary(x)
	case *Binary:
		p.expr(x.L)
		p.w(" ", x.Op.String(), " ")
		p.expr(x.R)
	case *Between:
		p.expr(x.X)
		p.not(x.Not)
		p.w(" BETWEEN ")
		p.expr(x.Low)
		p.w(" AND ")
		p.expr(x.High)
	case *In:
		p.in(x)
	case *Like:
		p.like(x)
	case *IsNull:
		p.expr(x.X)
		p.w(" IS")
		p.not(x.Not)
		p.w(" NULL")
	case *IsBool:
		p.expr(x.X)
		p.w(" IS")
		p.not(x.Not)
		p.w(" ", [...]string{"TRUE", "FALSE", "UNKNOWN"}[x.Value])
	case *Case:
		p.caseExpr(x)
	case *Cast:
		p.cast(x)
	case *Collate:
		p.expr(x.X)
		p.w(" COLLATE ")
		p.name(x.Name)
	case *Call:
		p.call(x)
	case *Lambda:
		p.lambda(x)
	case *Row:
		p.w("(")
		p.exprs(x.Items)
		p.w(")")
	case *Alias:
		p.alias(x)
	case *NamedArg:
		p.ident(x.Name)
		p.w(" => ")
		p.expr(x.Value)
	case *TableArg:
		p.tableArg(x)
	case *Subquery:
		p.paren(x.Query)
	case *Exists:
		p.w("EXISTS ")
		p.paren(x.Query)
	default:
		panic(fmt.Sprintf("bug: String does not know %T", x))
	}
}

func (p *printer) paren(q *Query) {
	p.w("(")
	p.query(q)
	p.w(")")
}

func (p *printer) not(not bool) {
	if not {
		p.w(" NOT")
	}
}

func (p *printer) star(x *Star) {
	each(p, x.Qualifier, ".", p.ident)
	if len(x.Qualifier) > 0 {
		p.w(".")
	}
	p.w("*")
	if len(x.Except) > 0 {
		p.w(" EXCEPT (")
		p.names(x.Except)
		p.w(")")
	}
}

// unary writes a blank after a sign: "--" would be a comment and "- 1" is no
// literal.
func (p *printer) unary(x *Unary) {
	p.w(x.Op.String())
	if n, ok := x.X.(*NumberLit); ok && x.Op == Minus && !strings.HasPrefix(n.Text, "-") {
		// -(1) as an operator cannot be written without parentheses.
		p.w("(")
		p.expr(x.X)
		p.w(")")
		return
	}
	p.w(" ")
	p.expr(x.X)
}

func (p *printer) in(x *In) {
	p.expr(x.X)
	p.not(x.Not)
	p.w(" IN ")
	if x.Query != nil {
		p.paren(x.Query)
		return
	}
	p.w("(")
	p.exprs(x.List)
	p.w(")")
}

func (p *printer) like(x *Like) {
	p.expr(x.X)
	p.not(x.Not)
	p.w(" ", [...]string{"LIKE", "ILIKE", "RLIKE"}[x.Op], " ")
	if x.Quantifier != NoQuantifier {
		p.w([...]string{"", "ANY", "ALL"}[x.Quantifier], " (")
		p.exprs(x.Patterns)
		p.w(")")
		return
	}
	p.exprs(x.Patterns)
	clause(p, " ESCAPE ", x.Escape)
}

func (p *printer) caseExpr(x *Case) {
	p.w("CASE")
	clause(p, " ", x.Operand)
	for _, w := range x.Whens {
		p.w(" WHEN ")
		p.expr(w.Cond)
		p.w(" THEN ")
		p.expr(w.Then)
	}
	clause(p, " ELSE ", x.Else)
	p.w(" END")
}

func (p *printer) cast(x *Cast) {
	if x.Colon {
		p.expr(x.X)
		p.w("::", x.Type.String())
		return
	}
	if x.Try {
		p.w("TRY_")
	}
	p.w("CAST(")
	p.expr(x.X)
	p.w(" AS ", x.Type.String(), ")")
}

func (p *printer) lambda(x *Lambda) {
	if len(x.Params) == 1 {
		p.ident(x.Params[0])
	} else {
		p.w("(")
		p.idents(x.Params)
		p.w(")")
	}
	p.w(" -> ")
	p.expr(x.Body)
}

func (p *printer) alias(x *Alias) {
	p.expr(x.X)
	p.w(" AS ")
	if x.List {
		p.w("(")
		p.idents(x.Names)
		p.w(")")
		return
	}
	p.ident(x.Names[0])
}

func (p *printer) tableArg(x *TableArg) {
	p.w("TABLE")
	switch {
	case x.Query != nil:
		p.paren(x.Query)
	default:
		p.w(" ")
		p.name(*x.Table)
	}
	if x.SinglePartition {
		p.w(" WITH SINGLE PARTITION")
	}
	listClause(p, " PARTITION BY (", x.PartitionBy, p.exprs)
	if x.OrderBy != nil {
		p.w(" ORDER BY (")
		each(p, x.OrderBy, ", ", p.sort)
		p.w(")")
	}
}

// call writes a call in its own form.
func (p *printer) call(x *Call) {
	if p.formCall(x) {
		return
	}
	p.name(x.Name)
	p.w("(")
	if x.Distinct {
		p.w("DISTINCT ")
	}
	if x.Form == UnitCall {
		p.w(x.Args[0].(*StringLit).Value)
		for _, a := range x.Args[1:] {
			p.w(", ")
			p.expr(a)
		}
	} else {
		p.exprs(x.Args)
	}
	p.w(")")
	if x.WithinGroup != nil {
		p.w(" WITHIN GROUP (ORDER BY ")
		each(p, x.WithinGroup, ", ", p.sort)
		p.w(")")
	}
	if x.Filter != nil {
		p.w(" FILTER (WHERE ")
		p.expr(x.Filter)
		p.w(")")
	}
	p.w([...]string{"", " IGNORE NULLS", " RESPECT NULLS"}[x.Nulls])
	if x.Over != nil {
		p.w(" OVER ")
		p.window(x.Over)
	}
}

// formCall writes the calls with words between their arguments.
func (p *printer) formCall(x *Call) bool {
	a := x.Args
	tail := func(words ...string) {
		for i, w := range words {
			if i < len(a) {
				p.w(w)
				p.expr(a[i])
			}
		}
		p.w(")")
	}
	switch x.Form {
	case ExtractCall:
		p.name(x.Name)
		p.w("(")
		p.ident(Ident{Name: a[0].(*StringLit).Value})
		p.w(" FROM ")
		p.expr(a[1])
		p.w(")")
	case SubstringCall:
		p.name(x.Name)
		tail("(", " FROM ", " FOR ")
	case OverlayCall:
		p.name(x.Name)
		tail("(", " PLACING ", " FROM ", " FOR ")
	case PositionCall:
		p.name(x.Name)
		tail("(", " IN ")
	case TrimCall:
		p.w("TRIM(", map[string]string{"trim": "BOTH ", "ltrim": "LEADING ", "rtrim": "TRAILING "}[x.Name.Last().Name])
		if len(a) > 1 {
			p.expr(a[1])
			p.w(" ")
		}
		p.w("FROM ")
		p.expr(a[0])
		p.w(")")
	default:
		return false
	}
	return true
}

func (p *printer) sort(s SortItem) {
	p.expr(s.X)
	p.sortOrder(s)
}

func (p *printer) sortOrder(s SortItem) {
	switch {
	case s.Desc:
		p.w(" DESC")
	case s.Asc:
		p.w(" ASC")
	}
	p.w([...]string{"", " NULLS FIRST", " NULLS LAST"}[s.Nulls])
}

func (p *printer) window(w *Window) {
	if w.Bare {
		p.ident(w.Ref)
		return
	}
	p.w("(")
	sep := ""
	if w.Ref.Name != "" {
		p.ident(w.Ref)
		sep = " "
	}
	if w.PartitionBy != nil {
		p.w(sep, "PARTITION BY ")
		p.exprs(w.PartitionBy)
		sep = " "
	}
	if w.OrderBy != nil {
		p.w(sep, "ORDER BY ")
		each(p, w.OrderBy, ", ", p.sort)
		sep = " "
	}
	if f := w.Frame; f != nil {
		p.w(sep, [...]string{"ROWS", "RANGE"}[f.Unit], " ")
		if f.End == nil {
			p.bound(f.Start)
		} else {
			p.w("BETWEEN ")
			p.bound(f.Start)
			p.w(" AND ")
			p.bound(*f.End)
		}
	}
	p.w(")")
}

func (p *printer) bound(b Bound) {
	if b.X != nil {
		p.expr(b.X)
		p.w(" ")
	}
	p.w([...]string{"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING"}[b.Kind])
}

// String writes the type as SQL.
func (t TypeName) String() string {
	var p printer
	p.typeName(t)
	return p.sb.String()
}

func (p *printer) typeName(t TypeName) {
	switch t.Name {
	case "array", "map":
		p.w(t.Name, "<")
		each(p, t.Elem, ", ", p.typeName)
		p.w(">")
		return
	case "struct":
		p.w("struct<")
		each(p, t.Fields, ", ", p.structField)
		p.w(">")
		return
	case "interval":
		p.w("interval")
		if t.Start != NoField {
			p.w(" ", t.Start.String())
		}
		if t.End != t.Start {
			p.w(" to ", t.End.String())
		}
		return
	}
	p.w(t.Name)
	if len(t.Args) > 0 {
		p.w("(")
		each(p, t.Args, ", ", func(n int) { p.w(fmt.Sprint(n)) })
		p.w(")")
	}
	if t.Collation != "" {
		p.w(" COLLATE ", t.Collation)
	}
}

func (p *printer) structField(f StructField) {
	p.ident(f.Name)
	p.w(": ")
	p.typeName(f.Type)
	if f.NotNull {
		p.w(" NOT NULL")
	}
	if f.Comment != "" {
		p.w(" COMMENT ", Quote(f.Comment))
	}
}
