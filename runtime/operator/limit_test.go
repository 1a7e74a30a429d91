package operator_test

import (
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
)

// TestJoinUnderLimit joins with a condition that fails for the last row of the
// inner side: a join whose limit is full must not come so far.
func TestJoinUnderLimit(t *testing.T) {
	a, b := table("a", 1), table("b", 4)
	in := optest.Input{"a": {{int64(1), "x", int64(1)}, {int64(1), "y", int64(1)}}}
	for range 10000 {
		in["b"] = append(in["b"], optest.Row{int64(1), "z", int64(1)})
	}
	in["b"] = append(in["b"], optest.Row{int64(1), "z", int64(0)})
	fails := optest.Call(">=", optest.Call("div", ref(a, 2), ref(b, 2)), optest.Int(0))
	keyed := &logical.Join{Left: a, Right: b, Type: logical.InnerJoin, LeftKeys: []logical.Expr{ref(a, 0)}, RightKeys: []logical.Expr{ref(b, 0)}, NullSafe: []bool{false}, Cond: fails}
	loop := &logical.Join{Left: a, Right: b, Type: logical.LeftJoin, Cond: fails}
	for name, j := range map[string]*logical.Join{"keyed": keyed, "loop": loop} {
		limited := &logical.Limit{Input: &logical.Project{Input: j, Exprs: []logical.Alias{optest.Named(10, "v", ref(b, 2))}}, Count: 3}
		for _, o := range []optest.Options{{}, {BatchSize: 1}, {Lanes: 2}} {
			rows, err := optest.Query(t, limited, o, in)
			if err != nil || len(rows) != 3 {
				t.Errorf("%s %+v: %d rows, %v", name, o, len(rows), err)
			}
		}
		if _, err := optest.Query(t, j, optest.Options{}, in); err == nil {
			t.Errorf("%s: without the limit the last row must fail", name)
		}
	}
	cross := &logical.Join{Left: a, Right: b, Type: logical.CrossJoin}
	if rows, err := optest.Query(t, &logical.Limit{Input: cross, Count: 0}, optest.Options{}, in); err != nil || len(rows) != 0 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
