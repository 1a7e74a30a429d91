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

// key is the text by which equal expressions are found. It says all that their
// values depend on: types of constants and results, places of fields. Columns
// count by identity whatever their name, those that a lambda or a subquery
// makes by the order in which they are made; a + b is b + a, a > b is b < a.
func key(e logical.Expr) string { return (&keyer{}).expr(e) }

// keyer writes keys. made numbers the columns that stand inside.
type keyer struct {
	made map[logical.ColumnID]int
}

func (k *keyer) define(attrs ...logical.Attr) {
	for _, a := range attrs {
		if k.made == nil {
			k.made = map[logical.ColumnID]int{}
		}
		if _, ok := k.made[a.ID]; !ok {
			k.made[a.ID] = len(k.made)
		}
	}
}

// commutative are the operators whose operands may change places.
var commutative = map[string]bool{"+": true, "*": true, "=": true, "<=>": true, "&": true, "|": true, "^": true}

// chained are those of them that may also be regrouped.
var chained = map[string]bool{"+": true, "*": true, "&": true, "|": true, "^": true}

// mirrored are comparisons by what they are with their sides exchanged.
var mirrored = map[string]string{">": "<", ">=": "<="}

//tidy:allow-long one case an expression kind
func (k *keyer) expr(e logical.Expr) string {
	switch x := e.(type) {
	case nil:
		return ""
	case *logical.Column:
		if n, ok := k.made[x.Attr.ID]; ok {
			return "$" + strconv.Itoa(n)
		}
		return "#" + strconv.Itoa(int(x.Attr.ID))
	case *logical.Literal:
		return fmt.Sprintf("%s'%#v'", x.Value.Type, column.At(x.Value, 0))
	case *logical.Call:
		return k.call(x)
	case *logical.Cast:
		return fmt.Sprintf("cast%d(%s AS %s)", x.Mode, k.expr(x.Input), x.To)
	case *logical.FieldAccess:
		return k.expr(x.Input) + "." + strconv.Itoa(x.Index)
	case *logical.And:
		return k.sorted(" AND ", x.Args)
	case *logical.Or:
		return k.sorted(" OR ", x.Args)
	case *logical.Case:
		s := "case(" + x.T.String()
		for _, b := range x.Branches {
			s += ", " + k.expr(b.When) + ": " + k.expr(b.Then)
		}
		return s + ", " + k.expr(x.Else) + ")"
	case *logical.Coalesce:
		return "coalesce(" + k.list(x.Args) + ")"
	case *logical.Lambda:
		k.define(x.Params...)
		return "(" + strconv.Itoa(len(x.Params)) + ") -> " + k.expr(x.Body)
	case *logical.Subquery:
		return k.subquery(x)
	case *aggExpr:
		return "agg:" + k.agg(&x.call)
	case *winExpr:
		return "win:" + k.window(&x.call) + " over " + k.spec(x.partition, x.order)
	case *groupingExpr:
		return "grouping(" + k.list(x.args) + ")"
	}
	return logical.Text(e)
}

func (k *keyer) list(es []logical.Expr) string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = k.expr(e)
	}
	return strings.Join(out, ", ")
}

// sorted is a list whose order means nothing.
func (k *keyer) sorted(sep string, es []logical.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = k.expr(e)
	}
	sort.Strings(parts)
	return "(" + strings.Join(parts, sep) + ")"
}

func (k *keyer) call(x *logical.Call) string {
	name := "?"
	if x.Fn.Fn != nil {
		name = x.Fn.Fn.Name
	}
	result := ":" + x.Fn.Result.String()
	if x.Fn.CanFail {
		result += "!"
	}
	if len(x.Args) != 2 || x.Fn.Fn == nil {
		return name + result + "(" + k.list(x.Args) + ")"
	}
	switch m, ok := mirrored[name]; {
	case ok:
		return m + result + "(" + k.expr(x.Args[1]) + ", " + k.expr(x.Args[0]) + ")"
	case chained[name]:
		return k.sorted(" "+name+result+" ", chain(x, x))
	case commutative[name]:
		return k.sorted(" "+name+result+" ", x.Args)
	}
	return name + result + "(" + k.list(x.Args) + ")"
}

// chain lists the operands of a chain of the operator of x.
func chain(x *logical.Call, e logical.Expr) []logical.Expr {
	c, ok := e.(*logical.Call)
	if !ok || c.Fn.Fn != x.Fn.Fn || len(c.Args) != 2 || !c.Fn.Result.SameShape(x.Fn.Result) || c.Fn.CanFail != x.Fn.CanFail {
		return []logical.Expr{e}
	}
	return append(chain(x, c.Args[0]), chain(x, c.Args[1])...)
}

func (k *keyer) agg(a *logical.AggCall) string {
	s := a.Fn.Fn.Name + ":" + a.Fn.Result.String() + "("
	if a.Distinct {
		s += "DISTINCT "
	}
	return s + k.list(a.Args) + ") filter " + k.expr(a.Filter) + k.keys(a.OrderBy)
}

func (k *keyer) keys(ks []logical.SortKey) string {
	s := ""
	for _, x := range ks {
		s += fmt.Sprintf(" by %s %t %t", k.expr(x.Expr), x.Descending, x.NullsLast)
	}
	return s
}

func (k *keyer) window(c *logical.WindowCall) string {
	name := ""
	if c.Fn != nil {
		name = c.Fn.Fn.Name + ":" + c.Fn.Result.String()
	} else {
		name = c.Agg.Fn.Name + ":" + c.Agg.Result.String()
	}
	s := fmt.Sprintf("%s(%t %s) filter %s nulls %t", name, c.Distinct, k.list(c.Args), k.expr(c.Filter), c.IgnoreNulls)
	f := c.Frame
	for _, x := range []logical.FrameBound{f.Start, f.End} {
		s += fmt.Sprintf(" %d %s", x.Kind, k.expr(x.Offset))
	}
	return s + fmt.Sprintf(" unit %d", f.Unit)
}

func (k *keyer) spec(partition []logical.Expr, order []logical.SortKey) string {
	return k.list(partition) + k.keys(order)
}

// subquery tells subqueries apart by their plans, whose own columns are
// numbered anew, and where a plan is not its rows by where they are written.
func (k *keyer) subquery(s *logical.Subquery) string {
	place := ""
	if volatile(s.Plan) {
		place = s.Place.String()
	}
	left := k.list(s.Left)
	return fmt.Sprintf("subquery:%d(%s)%s{%s}", s.Kind, left, place, k.plan(s.Plan, s.Place))
}

// plan is the key of a plan: its inputs, so that their columns have numbers,
// then the node.
//
//tidy:allow-long one case a node kind
func (k *keyer) plan(n logical.Node, place diag.Span) string {
	var b strings.Builder
	for _, in := range n.Inputs() {
		b.WriteString("{" + k.plan(in, place) + "}")
	}
	switch n := n.(type) {
	case *logical.Scan:
		at := n.Relation.ID
		if at == "" {
			at = place.String()
		}
		fmt.Fprintf(&b, "scan %q %v %v %t", at, n.Fields, n.Metadata, n.Relation.Streaming)
		k.define(n.Columns...)
	case *logical.Values:
		b.WriteString("values " + valuesKey(n, place))
		k.define(n.Columns...)
	case *logical.RangeScan:
		fmt.Fprintf(&b, "range %d %d %d", n.Start, n.End, n.Step)
		k.define(n.Column)
	case *logical.Filter:
		b.WriteString("filter " + k.expr(n.Cond))
	case *logical.Project:
		b.WriteString("project " + k.aliases(n.Exprs))
	case *logical.Aggregate:
		b.WriteString("aggregate " + k.aliases(n.Groups))
		for i := range n.Aggs {
			b.WriteString(", " + k.agg(&n.Aggs[i]))
			k.define(n.Aggs[i].Attr)
		}
	case *logical.Expand:
		b.WriteString("expand")
		for _, p := range n.Projections {
			b.WriteString(" [" + k.list(p) + "]")
		}
		k.define(n.Columns...)
	case *logical.Join:
		fmt.Fprintf(&b, "join %d %t %t %v [%s] [%s] %s", n.Type, n.NullAware, n.Lateral, n.NullSafe, k.list(n.LeftKeys), k.list(n.RightKeys), k.expr(n.Cond))
		if n.Type == logical.MarkJoin {
			k.define(n.Mark)
		}
	case *logical.Sort:
		fmt.Fprintf(&b, "sort %s limit %d", k.keys(n.Keys), n.Limit)
	case *logical.Limit:
		fmt.Fprintf(&b, "limit %d %d", n.Count, n.Offset)
	case *logical.Distinct:
		b.WriteString("distinct")
	case *logical.Union:
		b.WriteString("union")
		k.define(n.Columns...)
	case *logical.SetOp:
		fmt.Fprintf(&b, "setop %d %t", n.Op, n.All)
		k.define(n.Columns...)
	case *logical.Window:
		b.WriteString("window " + k.spec(n.PartitionBy, n.OrderBy))
		for i := range n.Calls {
			b.WriteString(", " + k.window(&n.Calls[i]))
			k.define(n.Calls[i].Attr)
		}
	default:
		fmt.Fprintf(&b, "%T at %s", n, place)
		k.define(n.Output()...)
	}
	return b.String()
}

func (k *keyer) aliases(as []logical.Alias) string {
	out := make([]string, len(as))
	for i, a := range as {
		out[i] = k.expr(a.Expr)
	}
	for _, a := range as {
		k.define(a.Attr)
	}
	return strings.Join(out, ", ")
}

// valuesKey prints the rows of a small inline table.
func valuesKey(n *logical.Values, place diag.Span) string {
	if n.Rows*len(n.Columns) > 1000 {
		return place.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows ", n.Rows)
	for _, v := range n.Data {
		fmt.Fprintf(&b, "%s:", v.Type)
		for i := range n.Rows {
			fmt.Fprintf(&b, "%#v,", column.At(v, i))
		}
	}
	return b.String()
}
