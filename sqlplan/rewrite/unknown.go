package rewrite

import (
	"maps"

	"pipelines/sqlplan/expr"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Spark computes IN that is not a conjunct of a filter by a join that knows
// true and false only: NULL becomes false. One kind it computes by value, with
// NULL: one constant IN an uncorrelated query, in the condition of a join that
// cannot be pushed below it. NOT IN is NULL there too; that Spark's generated
// code takes it for true is a fault of its.

// keepsCondition reports joins whose condition over constants stays in place.
func keepsCondition(t logical.JoinType) bool {
	return t == logical.LeftJoin || t == logical.FullJoin || t == logical.AntiJoin
}

// constantIn is s over a constant, if it is a constant IN an uncorrelated query;
// columns that keep their value in the join and are constants count as such.
func constantIn(s *logical.Subquery, j *logical.Join) *logical.Subquery {
	if s.Kind != logical.InSubquery || len(s.Outer) > 0 || len(s.Left) != 1 || !keepsCondition(j.Type) {
		return nil
	}
	known := constantColumns(j.Left)
	if j.Type == logical.FullJoin {
		maps.Copy(known, constantColumns(j.Right))
	}
	t := *s
	t.Left = []logical.Expr{substitute(s.Left[0], known)}
	if !expr.Foldable(t.Left[0]) {
		return nil
	}
	return &t
}

// constantColumns are the columns that projections give one value for all rows.
func constantColumns(n logical.Node) map[logical.ColumnID]logical.Expr {
	switch m := n.(type) {
	case *logical.Filter:
		return constantColumns(m.Input)
	case *logical.Project:
		out := constantColumns(m.Input)
		for _, a := range m.Exprs {
			if e := substitute(a.Expr, out); expr.Foldable(e) {
				out[a.Attr.ID] = e
			}
		}
		return out
	}
	return map[logical.ColumnID]logical.Expr{}
}

// threeValued adds the two marks that tell true, false and NULL apart.
func (u *unnester) threeValued(s *logical.Subquery, negated bool) logical.Expr {
	t := schema.Of(schema.Boolean)
	yes := logical.Branch{When: u.mark(s, false), Then: boolean(true)}
	unknown := logical.Branch{When: u.mark(s, true), Then: &logical.Literal{Value: column.Constant(t, 1, nil)}}
	e := logical.Expr(&logical.Case{T: t, Branches: []logical.Branch{yes, unknown}, Else: boolean(false)})
	if negated {
		return u.c.call("not", e)
	}
	return e
}
