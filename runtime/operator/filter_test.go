package operator_test

import (
	"slices"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
)

// TestFilterPresence drops the nulls of one column, and of two, from batches
// with and without any, in every form that vectors take.
func TestFilterPresence(t *testing.T) {
	a := table("a", 1)
	present := func(i int) logical.Expr { return optest.Call("isnotnull", ref(a, i)) }
	for name, c := range map[string]struct {
		cond logical.Expr
		cols []int
	}{
		"one": {present(1), []int{1}},
		"two": {logical.Conjunction([]logical.Expr{present(0), present(1)}), []int{0, 1}},
	} {
		for seed := range 8 {
			var in, want []optest.Row
			for i := range 300 {
				row := optest.Row{int64(i), []string{"x", "y"}[i%2], int64(i % 3)}
				if i%100 < 50 && (i+seed)%7 == 0 { // some batches have none
					row[i%3] = nil
				}
				in = append(in, row)
				if !slices.ContainsFunc(c.cols, func(k int) bool { return row[k] == nil }) {
					want = append(want, row)
				}
			}
			for _, o := range []optest.Options{{}, {BatchSize: 1}, {BatchSize: 25}, {Lanes: 2}} {
				got, err := optest.Query(t, &logical.Filter{Input: a, Cond: c.cond}, o, optest.Input{"a": in})
				if err != nil || !slices.Equal(optest.Text(got, false), optest.Text(want, false)) {
					t.Fatalf("%s, seed %d, %+v: %d rows, want %d, %v", name, seed, o, len(got), len(want), err)
				}
			}
		}
	}
}
