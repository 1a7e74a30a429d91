package ast

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// printer writes nodes as SQL on one line.
type printer struct{ sb strings.Builder }

// String prints a node as SQL text that parses to an equal node (apart from
// ranges). Comments and the layout of the source are not kept.
func String(n Node) string {
	var p printer
	switch n := n.(type) {
	case nil:
	case Expr:
		p.expr(n)
	case Statement:
		p.statement(n)
	case Relation:
		p.relation(n)
	case Body:
		p.body(n)
	case PipeOp:
		p.pipe(n)
	case *Query:
		p.query(n)
	case *With:
		p.with(n)
	case *SortItem:
		p.sort(*n)
	case *Window:
		p.window(n)
	case *GroupBy:
		p.groupBy(n)
	case *Sample:
		p.sample(n)
	case *Watermark:
		p.watermark(n)
	default:
		panic(fmt.Sprintf("bug: String does not know %T", n))
	}
	return p.sb.String()
}

func (p *printer) w(ss ...string) {
	for _, s := range ss {
		p.sb.WriteString(s)
	}
}

// each writes items with a separator.
func each[T any](p *printer, items []T, sep string, write func(T)) {
	for i, it := range items {
		if i > 0 {
			p.w(sep)
		}
		write(it)
	}
}

// clause writes a word and its expression, unless there is none.
func clause[T interface {
	comparable
	Expr
}](p *printer, word string, x T) {
	var none T
	if x != none {
		p.w(word)
		p.expr(x)
	}
}

// listClause writes items in the parenthesis that word opens, unless there is
// no list; an empty list counts.
func listClause[T any](p *printer, word string, items []T, write func([]T)) {
	if items != nil {
		p.w(word)
		write(items)
		p.w(")")
	}
}

func (p *printer) exprs(xs []Expr) { each(p, xs, ", ", p.expr) }

// plain reports whether a name needs no back quotes anywhere.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (p *printer) ident(id Ident) {
	if id.Quoted || !plain(id.Name) && !digitsName(id.Name) {
		p.w("`", strings.ReplaceAll(id.Name, "`", "``"), "`")
		return
	}
	p.w(id.Name)
}

// digitsName reports whether a name that starts with a digit is written as it
// is: 1a is a name, 1e5 would be a number.
func digitsName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (p *printer) idents(ids []Ident) { each(p, ids, ", ", p.ident) }

func (p *printer) name(n Name) {
	if n.Dynamic != nil {
		p.w("IDENTIFIER(")
		p.expr(n.Dynamic)
		p.w(")")
		if len(n.Parts) > 0 {
			p.w(".")
		}
	}
	each(p, n.Parts, ".", p.ident)
}

func (p *printer) names(ns []Name) { each(p, ns, ", ", p.name) }

// Quote writes a text as a string literal.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'':
			b.WriteString(`\'`)
		case '\\':
			// \% and \_ stay as they are when they are read again.
			if i+1 < len(s) && (s[i+1] == '%' || s[i+1] == '_') {
				b.WriteByte('\\')
				break
			}
			b.WriteString(`\\`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case 0:
			b.WriteString(`\u0000`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// literal writes the literals; it reports false for other kinds.
func (p *printer) literal(x Expr) bool {
	switch x := x.(type) {
	case *NullLit:
		p.w("NULL")
	case *BoolLit:
		p.w(map[bool]string{true: "true", false: "false"}[x.Value])
	case *NumberLit:
		p.w(x.Text, [...]string{"", "", "", "Y", "S", "L", "F", "D", "BD"}[x.Kind])
	case *StringLit:
		p.w(Quote(x.Value))
	case *BinaryLit:
		p.w("X'", strings.ToUpper(hex.EncodeToString(x.Value)), "'")
	case *TypedLit:
		p.w([...]string{"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"}[x.Kind], " ", Quote(x.Value))
	case *IntervalLit:
		p.interval(x)
	case *Param:
		if x.Name == "" {
			p.w("?")
			break
		}
		p.w(":")
		p.ident(Ident{Name: x.Name})
	case *Default:
		p.w("DEFAULT")
	default:
		return false
	}
	return true
}

// interval writes an interval in the form INTERVAL '1-2' YEAR TO MONTH, which
// says fields and value at once.
func (p *printer) interval(x *IntervalLit) {
	p.w("INTERVAL ")
	from, to := strings.ToUpper(x.Start.String()), strings.ToUpper(x.End.String())
	switch {
	case x.Start == NoField:
		p.w(Quote(fmt.Sprintf("%d months %d days %d microseconds", x.Months, x.Days, x.Micros)))
		return
	case x.End <= Month:
		p.w(Quote(yearMonthText(x)))
	default:
		p.w(Quote(dayTimeText(x)))
	}
	p.w(" ", from)
	if from != to {
		p.w(" TO ", to)
	}
}

func yearMonthText(x *IntervalLit) string {
	m, sign := int64(x.Months), ""
	if m < 0 {
		m, sign = -m, "-"
	}
	switch {
	case x.Start != x.End:
		return fmt.Sprintf("%s%d-%d", sign, m/12, m%12)
	case x.Start == Year:
		return sign + strconv.FormatInt(m/12, 10)
	}
	return sign + strconv.FormatInt(m, 10)
}

// dayTimeText writes the value in the fields from Start to End.
func dayTimeText(x *IntervalLit) string {
	u, sign := uint64(x.Micros), ""
	if x.Micros < 0 {
		u, sign = uint64(-x.Micros), "-"
	}
	const second = 1_000_000
	size := map[IntervalField]uint64{Day: 86400 * second, Hour: 3600 * second, Minute: 60 * second, Second: second}
	var b strings.Builder
	b.WriteString(sign)
	for f := x.Start; f <= x.End; f++ {
		n := u / size[f]
		u -= n * size[f]
		switch {
		case f == x.Start:
			b.WriteString(strconv.FormatUint(n, 10))
		case f == Hour:
			fmt.Fprintf(&b, " %02d", n)
		default:
			fmt.Fprintf(&b, ":%02d", n)
		}
	}
	if x.End == Second && u > 0 {
		b.WriteString(strings.TrimRight(fmt.Sprintf(".%06d", u), "0"))
	}
	return b.String()
}
