package rewrite

import (
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/schema"
)

// inferRounds bounds how often what was inferred may lead to more.
const inferRounds = 4

// infer carries conditions over the keys of joins: with a = b and a > 5, b > 5
// holds for all rows of the other side that can match. Conditions are of one
// column and cannot fail; equal keys must be the same value in all respects,
// which floating-point zeros are not. Over streams this decides, as in Spark,
// which rows move a watermark and are kept in state.
func infer(c *Context, n logical.Node) logical.Node {
	for range inferRounds {
		f := &inferrer{c: c}
		n = logical.MapNode(n, f.node)
		if !f.changed {
			break
		}
	}
	return n
}

type inferrer struct {
	c       *Context
	changed bool
}

func (f *inferrer) node(n logical.Node) logical.Node {
	j, ok := n.(*logical.Join)
	if !ok || j.NullAware || j.Lateral {
		return n
	}
	toLeft, toRight := false, false
	switch j.Type {
	case logical.InnerJoin, logical.SemiJoin:
		toLeft, toRight = true, true
	case logical.LeftJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
		toRight = true
	case logical.RightJoin:
		toLeft = true
	}
	out := *j
	if toRight {
		out.Right = f.carry(j, j.Right, append(known(j.Left), alone(j.Cond)...))
	}
	if toLeft {
		out.Left = f.carry(j, j.Left, append(known(j.Right), alone(j.Cond)...))
	}
	if out.Left == j.Left && out.Right == j.Right {
		return n
	}
	return &out
}

// carry adds to a side what the conditions of the other side say of its keys.
// For a stream only what Spark infers, too: nothing from <=>.
func (f *inferrer) carry(j *logical.Join, to logical.Node, conds []logical.Expr) logical.Node {
	var add []logical.Expr
	from, keys := j.LeftKeys, j.RightKeys
	if to == j.Left {
		from, keys = keys, from
	}
	for i := range from {
		if to.Streaming() && i < len(j.NullSafe) && j.NullSafe[i] {
			continue
		}
		a, ok := from[i].(*logical.Column)
		b, ok2 := keys[i].(*logical.Column)
		if !ok || !ok2 || !a.Attr.Type.Equal(b.Attr.Type) || !exactEquality(a.Attr.Type) {
			continue
		}
		for _, e := range conds {
			if !columnsOf(e)[a.Attr.ID] {
				continue
			}
			x := substitute(e, map[logical.ColumnID]logical.Expr{a.Attr.ID: b})
			if !implied(to, x) && !among(add, x) {
				add = append(add, x)
			}
		}
	}
	if len(add) == 0 {
		return to
	}
	f.changed = true
	return f.c.push(to, add)
}

// exactEquality reports whether equal values of the type are the same to any
// function.
func exactEquality(t schema.Type) bool {
	switch t.Kind {
	case schema.Boolean, schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Decimal, schema.String, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ:
		return true
	}
	return false
}

func among(list []logical.Expr, e logical.Expr) bool {
	for _, x := range list {
		if logical.Text(x) == logical.Text(e) {
			return true
		}
	}
	return false
}

// alone lists the conjuncts that say something of one column and cannot fail.
func alone(cond logical.Expr) []logical.Expr {
	var out []logical.Expr
	for _, e := range logical.Conjuncts(cond) {
		if len(columnsOf(e)) == 1 && !logical.CanFail(e) && logical.Volatility(e) == funcs.Immutable && !logical.HasSubquery(e) {
			out = append(out, e)
		}
	}
	return out
}

// known lists conditions of one column that hold for all rows of n.
func known(n logical.Node) []logical.Expr {
	switch m := n.(type) {
	case *logical.Filter:
		return append(known(m.Input), alone(m.Cond)...)
	case *logical.Project:
		return renamed(known(m.Input), m.Exprs)
	case *logical.Aggregate:
		return renamed(known(m.Input), m.Groups)
	case *logical.Join:
		switch m.Type {
		case logical.InnerJoin, logical.CrossJoin:
			return append(append(known(m.Left), known(m.Right)...), alone(m.Cond)...)
		case logical.LeftJoin, logical.SemiJoin, logical.AntiJoin, logical.MarkJoin, logical.SingleJoin:
			return known(m.Left)
		case logical.RightJoin:
			return known(m.Right)
		}
	case *logical.Distinct, *logical.Sort, *logical.Limit, *logical.Sample, *logical.Window, *logical.Generate, *logical.TimeWindow, *logical.SessionWindow, *logical.Watermark, *logical.Deduplicate:
		return known(n.Inputs()[0])
	}
	return nil
}

// renamed gives the conditions on columns that pass, under their new names.
func renamed(conds []logical.Expr, exprs []logical.Alias) []logical.Expr {
	var out []logical.Expr
	for _, e := range conds {
		for _, a := range exprs {
			if col, ok := a.Expr.(*logical.Column); ok && columnsOf(e)[col.Attr.ID] {
				out = append(out, substitute(e, map[logical.ColumnID]logical.Expr{col.Attr.ID: a.Attr.Ref()}))
			}
		}
	}
	return out
}

// implied reports whether a filter in n sees to a condition already.
func implied(n logical.Node, cond logical.Expr) bool {
	switch m := n.(type) {
	case *logical.Filter:
		return among(logical.Conjuncts(m.Cond), cond) || implied(m.Input, cond)
	case *logical.Project:
		return implied(m.Input, through(cond, m.Exprs))
	case *logical.Aggregate:
		return columnsOf(cond).within(setOf(m.Output()[:len(m.Groups)])) && implied(m.Input, through(cond, m.Groups))
	case *logical.Join:
		ids := columnsOf(cond)
		switch {
		case m.Type == logical.FullJoin:
			return false
		case ids.within(setOf(m.Left.Output())):
			return m.Type != logical.RightJoin && implied(m.Left, cond)
		case ids.within(setOf(m.Right.Output())):
			inner := m.Type == logical.InnerJoin || m.Type == logical.CrossJoin
			return (inner || m.Type == logical.RightJoin) && implied(m.Right, cond) || inner && among(logical.Conjuncts(m.Cond), cond)
		}
		return false
	case *logical.Union:
		for _, in := range m.Children {
			by := map[logical.ColumnID]logical.Expr{}
			for i, a := range in.Output() {
				by[m.Columns[i].ID] = a.Ref()
			}
			if !implied(in, substitute(cond, by)) {
				return false
			}
		}
		return true
	case *logical.Distinct, *logical.Sort, *logical.Limit, *logical.Sample, *logical.Window, *logical.Generate, *logical.TimeWindow, *logical.SessionWindow, *logical.Watermark, *logical.Deduplicate:
		return implied(n.Inputs()[0], cond)
	}
	return false
}

// through is a condition below the expressions.
func through(cond logical.Expr, exprs []logical.Alias) logical.Expr {
	by := map[logical.ColumnID]logical.Expr{}
	for _, a := range exprs {
		by[a.Attr.ID] = a.Expr
	}
	return substitute(cond, by)
}
