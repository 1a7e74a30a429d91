package operator_test

import (
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
)

// A join that keeps its left side, because that is the smaller one, gives the
// same rows; the scan of the build side comes first.
func TestJoinKeepsSmallerSide(t *testing.T) {
	for _, jt := range []logical.JoinType{logical.InnerJoin, logical.LeftJoin, logical.RightJoin, logical.FullJoin, logical.SemiJoin, logical.CrossJoin} {
		for _, cond := range []bool{false, true} {
			l, r := table("l", 1), table("r", 4)
			j := &logical.Join{Left: l, Right: r, Type: jt}
			if jt != logical.CrossJoin {
				j.LeftKeys, j.RightKeys, j.NullSafe = []logical.Expr{ref(l, 0)}, []logical.Expr{ref(r, 0)}, []bool{false}
			}
			if cond {
				j.Cond = optest.Call("<", ref(l, 2), ref(r, 2))
			}
			lr, rr := randomRows(11, 60, 8), randomRows(12, 40, 12)
			in := optest.Input{"l": lr, "r": rr}
			for _, o := range []optest.Options{{BatchSize: 7}, {BatchSize: 11, Lanes: 3, Concurrent: true}, {BatchSize: 9, Memory: 1, Spill: true}} {
				o.Sizes = map[string]int64{"l": 1, "r": 1 << 30}
				run := optest.NewRunner(t, j, o)
				if first := run.Plan().Scans()[0].Scan; (first == l) != (jt != logical.SemiJoin) {
					t.Errorf("type %v: %s is kept", jt, first.Relation.ID)
				}
				run.Close()
				got, err := optest.Query(t, j, o, in)
				if err != nil {
					t.Fatal(err)
				}
				if d := optest.Diff(got, joinModel(lr, rr, jt, cond), false); d != "" {
					t.Fatalf("type %v: %.2000s", jt, d)
				}
			}
		}
	}
}
