package bind

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"pipelines/spec/diag"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// key is the text by which equal expressions are found: columns count by
// identity whatever their case, a + b is b + a, a > b is b < a.
func key(e logical.Expr) string { return logical.Text(canonical(e)) }

// keyed is an expression with the text that stands for it in a key.
type keyed struct {
	logical.Expr
	text string
	// op and parts are the operands of a chain of one commutative operator.
	op    string
	parts []string
}

func (k *keyed) String() string { return k.text }

// commutative are the operators whose operands may change places.
var commutative = map[string]bool{"+": true, "*": true, "=": true, "<=>": true, "&": true, "|": true, "^": true}

// chained are those of them that may also be regrouped.
var chained = map[string]bool{"+": true, "*": true, "&": true, "|": true, "^": true}

// mirrored are comparisons by what they are with their sides exchanged.
var mirrored = map[string]string{">": "<", ">=": "<="}

// canonical gives e the form in which equal expressions print alike.
func canonical(e logical.Expr) logical.Expr {
	switch x := e.(type) {
	case nil, *logical.Literal:
		return e
	case *logical.Column:
		a := x.Attr
		a.Name = ""
		return &logical.Column{Attr: a}
	case *logical.Subquery:
		return &keyed{Expr: e, text: subqueryKey(x)}
	}
	e = logical.MapChildren(e, canonical)
	switch x := e.(type) {
	case *logical.And:
		return ordered(e, " AND ", "", x.Args)
	case *logical.Or:
		return ordered(e, " OR ", "", x.Args)
	case *logical.Call:
		return canonicalCall(x)
	}
	return e
}

func canonicals(es []logical.Expr) []logical.Expr {
	out := make([]logical.Expr, len(es))
	for i, e := range es {
		out[i] = canonical(e)
	}
	return out
}

func canonicalCall(x *logical.Call) logical.Expr {
	if x.Fn.Fn == nil || len(x.Args) != 2 {
		return x
	}
	name := x.Fn.Fn.Name
	if m, ok := mirrored[name]; ok {
		return &keyed{Expr: x, text: "(" + logical.Text(x.Args[1]) + " " + m + " " + logical.Text(x.Args[0]) + ")"}
	}
	if !commutative[name] {
		return x
	}
	op := ""
	if chained[name] {
		op = name + x.Type().String()
	}
	return ordered(x, " "+name+" ", op, x.Args)
}

// ordered prints operands in the order of their texts; chains of one operator
// are one list.
func ordered(e logical.Expr, sep, op string, args []logical.Expr) logical.Expr {
	var parts []string
	for _, a := range args {
		if k, ok := a.(*keyed); ok && op != "" && k.op == op {
			parts = append(parts, k.parts...)
			continue
		}
		parts = append(parts, logical.Text(a))
	}
	sort.Strings(parts)
	return &keyed{Expr: e, text: "(" + strings.Join(parts, sep) + ")", op: op, parts: parts}
}

// subqueryKey tells subqueries apart: by their plans, whose own columns are
// numbered anew, and where the text of a plan does not say all by where they
// are written.
func subqueryKey(s *logical.Subquery) string {
	outer := map[string]bool{}
	for _, a := range s.Outer {
		outer["#"+strconv.Itoa(int(a.ID))] = true
	}
	where := ""
	logical.WalkNode(s.Plan, func(n logical.Node) bool {
		switch n := n.(type) {
		case *logical.Scan:
			where += n.Relation.ID + ","
		case *logical.Values:
			where += valuesKey(n, s.Place)
		case *logical.Project, *logical.Filter, *logical.Aggregate, *logical.Sort, *logical.Limit, *logical.Distinct, *logical.Join,
			*logical.Union, *logical.SetOp, *logical.Window, *logical.Expand, *logical.RangeScan:
		default:
			where += s.Place.String()
		}
		return true
	})
	if volatile(s.Plan) {
		where += s.Place.String()
	}
	return fmt.Sprintf("subquery:%d(%s)%s{%s}", s.Kind, listKey(s.Left), where, renumbered(logical.Explain(s.Plan), outer))
}

// valuesKey prints the rows of a small inline table.
func valuesKey(n *logical.Values, place diag.Span) string {
	if n.Rows*len(n.Columns) > 1000 {
		return place.String()
	}
	var b strings.Builder
	for _, v := range n.Data {
		fmt.Fprintf(&b, "%s:", v.Type)
		for i := range n.Rows {
			fmt.Fprintf(&b, "%#v,", column.At(v, i))
		}
	}
	return b.String()
}

func listKey(es []logical.Expr) string {
	var b strings.Builder
	writeList(&b, canonicals(es))
	return b.String()
}

// renumbered replaces the column ids in the text of a plan by the order in
// which they appear, except those to keep. Quoted texts stay as they are.
func renumbered(text string, keep map[string]bool) string {
	var b strings.Builder
	seen := map[string]int{}
	for i := 0; i < len(text); {
		j := i + 1
		switch text[i] {
		case '"':
			for j < len(text) && text[j] != '"' {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(text))
		case '#':
			for j < len(text) && text[j] >= '0' && text[j] <= '9' {
				j++
			}
			if id := text[i:j]; !keep[id] {
				if seen[id] == 0 {
					seen[id] = len(seen) + 1
				}
				b.WriteString("#" + strconv.Itoa(seen[id]) + "'")
				i = j
				continue
			}
		}
		b.WriteString(text[i:j])
		i = j
	}
	return b.String()
}
