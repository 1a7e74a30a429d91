package logical_test

import (
	"strings"
	"testing"

	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

func attr(id int, name string, k schema.Kind) logical.Attr {
	return logical.Attr{ID: logical.ColumnID(id), Name: name, Type: schema.Of(k), Nullable: true, Watermark: -1}
}

func scan(streaming bool, attrs ...logical.Attr) *logical.Scan {
	n := &logical.Scan{Relation: &logical.Relation{ID: "t", Name: []string{"t"}, Schema: logical.SchemaOf(attrs), Streaming: streaming}, Columns: attrs}
	for i := range attrs {
		n.Fields = append(n.Fields, i)
	}
	return n
}

func call(t *testing.T, name string, args ...logical.Expr) logical.Expr {
	t.Helper()
	fn := funcs.Lookup(name)
	fargs := make([]funcs.Arg, len(args))
	for i, a := range args {
		fargs[i] = funcs.Arg{Type: a.Type(), Nullable: a.Nullable()}
	}
	bd, err := fn.Bind(&funcs.Session{ANSI: true}, fargs)
	if err != nil {
		t.Fatal(err)
	}
	return &logical.Call{Fn: bd, Args: args}
}

func number(n int32) *logical.Literal {
	return &logical.Literal{Value: column.Constant(schema.Of(schema.Int32), 1, n)}
}

// nodes is one node of each kind over streams or tables.
func nodes(t *testing.T, streaming bool) []logical.Node {
	x, y := attr(1, "x", schema.Int32), attr(2, "y", schema.Int32)
	ts, w := attr(3, "ts", schema.Timestamp), attr(4, "w", schema.Int32)
	in, right := scan(streaming, x, ts), scan(streaming, y)
	cond := call(t, "=", x.Ref(), y.Ref())
	keys := []logical.SortKey{{Expr: x.Ref()}}
	return []logical.Node{
		in,
		&logical.Values{Columns: []logical.Attr{x}, Data: []*column.Vector{number(1).Value}, Rows: 1},
		&logical.RangeScan{End: 3, Step: 1, Column: attr(5, "id", schema.Int64)},
		&logical.Filter{Input: in, Cond: call(t, ">", x.Ref(), number(1))},
		&logical.Project{Input: in, Exprs: []logical.Alias{{Expr: x.Ref(), Attr: w}}},
		&logical.Aggregate{Input: in, Groups: []logical.Alias{{Expr: x.Ref(), Attr: x}}},
		&logical.Expand{Input: in, Projections: [][]logical.Expr{{x.Ref()}, {number(1)}}, Columns: []logical.Attr{w}},
		&logical.Join{Left: in, Right: right, Type: logical.LeftJoin, Cond: cond},
		&logical.Sort{Input: in, Keys: keys, Limit: 3},
		&logical.Limit{Input: in, Count: 3, Offset: 1},
		&logical.Union{Children: []logical.Node{right, right}, Columns: []logical.Attr{w}},
		&logical.SetOp{Left: right, Right: right, Op: logical.Except, All: true, Columns: []logical.Attr{w}},
		&logical.Distinct{Input: in},
		&logical.Window{Input: in, OrderBy: keys},
		&logical.Generate{Input: in, Fn: &funcs.BoundGenerator{Fn: funcs.LookupGenerator("explode")}, Args: []logical.Expr{x.Ref()}, Columns: []logical.Attr{w}},
		&logical.Sample{Input: in, Fraction: 0.5, Rows: -1},
		&logical.Watermark{Input: in, Column: ts.ID, Delay: 1_000_000},
		&logical.TimeWindow{Input: in, Time: ts.Ref(), Size: 10, Slide: 10, Column: w},
		&logical.SessionWindow{Input: in, Time: ts.Ref(), Gap: number(1), Column: w},
		&logical.Deduplicate{Input: in, Keys: []logical.ColumnID{x.ID}},
		&logical.Expect{Input: in, Rules: []logical.Expectation{{Name: "r", Cond: call(t, ">", x.Ref(), number(1))}}},
		&logical.Recursion{Anchor: right, Step: right, Columns: []logical.Attr{w}, Wanted: -1},
		&logical.RecursionRef{Loop: 1, Name: "r", Columns: []logical.Attr{w}},
	}
}

// TestKinds demands of each kind of node that it prints, that its inputs can
// be replaced, that it knows whether it streams, and that a map which changes
// nothing gives the very same node back.
func TestKinds(t *testing.T) {
	seen := map[logical.Kind]bool{}
	for _, streaming := range []bool{false, true} {
		for _, n := range nodes(t, streaming) {
			seen[n.Kind()] = true
			if logical.Describe(n) == "" || strings.Contains(logical.Explain(n), "%!") {
				t.Errorf("kind %d prints as %q", n.Kind(), logical.Explain(n))
			}
			if len(n.Output()) == 0 {
				t.Errorf("%s has no output", logical.Describe(n))
			}
			ins := n.Inputs()
			if len(ins) > 0 && n.Streaming() != streaming {
				t.Errorf("%s streams: %v", logical.Describe(n), n.Streaming())
			}
			if logical.Explain(n.WithInputs(ins)) != logical.Explain(n) {
				t.Errorf("%s is another node with the same inputs", logical.Describe(n))
			}
			if logical.MapNode(n, func(m logical.Node) logical.Node { return m }) != n {
				t.Errorf("%s: a map of nothing gives another node", logical.Describe(n))
			}
			if logical.MapExprs(n, func(e logical.Expr) logical.Expr { return e }) != n {
				t.Errorf("%s: a map of no expression gives another node", logical.Describe(n))
			}
		}
	}
	for k := logical.KindScan; k <= logical.KindRecursionRef; k++ {
		if !seen[k] {
			t.Errorf("no test node of kind %d", k)
		}
	}
}

// TestExprsAreMapped demands that MapExprs reaches each expression that
// EachExpr shows.
func TestExprsAreMapped(t *testing.T) {
	for _, n := range nodes(t, false) {
		before, after := 0, 0
		logical.EachExpr(n, func(logical.Expr) { before++ })
		m := logical.MapExprs(n, func(logical.Expr) logical.Expr { return number(7) })
		logical.EachExpr(m, func(e logical.Expr) {
			if l, ok := e.(*logical.Literal); ok && logical.Text(l) == "7" {
				after++
			}
		})
		if before != after {
			t.Errorf("%s: %d of %d expressions were mapped", logical.Describe(n), after, before)
		}
	}
}

func TestConjuncts(t *testing.T) {
	x := attr(1, "x", schema.Boolean).Ref()
	y := attr(2, "y", schema.Boolean).Ref()
	z := attr(3, "z", schema.Boolean).Ref()
	nested := &logical.And{Args: []logical.Expr{&logical.And{Args: []logical.Expr{x, y}}, z}}
	got := logical.Conjuncts(nested)
	if len(got) != 3 || got[0] != x || got[2] != z {
		t.Errorf("conjuncts %v", got)
	}
	if logical.Conjunction(nil) != nil || logical.Conjunction(got[:1]) != x || len(logical.Conjuncts(logical.Conjunction(got))) != 3 {
		t.Error("a conjunction does not give its conjuncts back")
	}
}

// TestColumns takes outer columns of subqueries in, parameters of lambdas not.
func TestColumns(t *testing.T) {
	x, p, o := attr(1, "x", schema.Int32), attr(2, "p", schema.Int32), attr(3, "o", schema.Int32)
	e := &logical.And{Args: []logical.Expr{
		&logical.Lambda{Params: []logical.Attr{p}, Body: call(t, "=", p.Ref(), x.Ref())},
		&logical.Subquery{Kind: logical.ExistsSubquery, Plan: scan(false, attr(4, "inner", schema.Int32)), Outer: []logical.Attr{o}, T: schema.Of(schema.Boolean)},
	}}
	set := map[logical.ColumnID]bool{}
	logical.Columns(e, set)
	if len(set) != 2 || !set[1] || !set[3] {
		t.Errorf("columns %v, want x and o", set)
	}
	if !logical.HasSubquery(e) || logical.IsConstant(e) || !logical.IsConstant(number(1)) {
		t.Error("wrong answer on subqueries or constants")
	}
}

// TestSplitJoin moves equalities to the keys, but none behind a guard that it
// could fail without.
func TestSplitJoin(t *testing.T) {
	x, y := attr(1, "x", schema.Int32), attr(2, "y", schema.Int32)
	l, r := scan(false, x), scan(false, y)
	eq := call(t, "=", x.Ref(), y.Ref())
	swapped := call(t, "<=>", y.Ref(), x.Ref())
	guard := call(t, ">", x.Ref(), y.Ref())
	failing := call(t, "=", call(t, "+", x.Ref(), number(1)), y.Ref())
	for _, c := range []struct {
		cond []logical.Expr
		keys int
		rest int
		kind logical.JoinType
	}{
		{[]logical.Expr{eq}, 1, 0, logical.InnerJoin},
		{[]logical.Expr{eq, swapped}, 2, 0, logical.InnerJoin},
		{[]logical.Expr{guard, eq}, 1, 1, logical.InnerJoin},
		{[]logical.Expr{guard, failing}, 0, 2, logical.InnerJoin},
		{[]logical.Expr{failing, guard}, 1, 1, logical.InnerJoin},
	} {
		j := logical.SplitJoin(&logical.Join{Left: l, Right: r, Type: logical.CrossJoin, Cond: logical.Conjunction(c.cond)})
		if len(j.LeftKeys) != c.keys || len(logical.Conjuncts(j.Cond)) != c.rest || j.Type != c.kind {
			t.Errorf("%s: %s", logical.Text(logical.Conjunction(c.cond)), logical.Describe(j))
		}
		for i := range j.LeftKeys {
			if set := map[logical.ColumnID]bool{}; true {
				logical.Columns(j.LeftKeys[i], set)
				if !set[x.ID] {
					t.Errorf("left key %s", logical.Text(j.LeftKeys[i]))
				}
			}
		}
	}
}
