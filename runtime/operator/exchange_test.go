package operator_test

import (
	"testing"

	"pipelines/runtime/operator"
	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// TestPanesAreOnePart: the state of windows by panes is stored under the groups
// of their whole keys and divided by the other keys, so its entries cannot be
// handed to a part, or many at once, by the group that they stand under.
func TestPanesAreOnePart(t *testing.T) {
	e, cols := events("e", 1, 5*sec)
	a := counts(e, cols[0].Ref(), 10, 60, logical.Append)
	a.Input.(*logical.TimeWindow).Slide = 3 * sec
	a.Groups = append(a.Groups, logical.Alias{Expr: cols[1].Ref(), Attr: cols[1]})
	pool := column.NewPool()
	plan, err := operator.Build(a, operator.Env{Pool: pool, Session: optest.Session(), Lanes: 3, Output: func(int, *column.Batch) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	handles := plan.State()
	if len(handles) != 1 {
		t.Fatalf("%d handles", len(handles))
	}
	if p, ok := handles[0].(interface{ Parts() int }); ok && p.Parts() != 1 {
		t.Error("Parts must be 1, and RestoreAll must not go by the stored group")
	}
}
