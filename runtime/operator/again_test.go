package operator_test

import (
	"math/rand/v2"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// again runs a bounded plan over one input after the other, as the static side
// of a stream does, and compares each step with a fresh run of model.
func again(t *testing.T, plan, model logical.Node, o optest.Options, steps ...optest.Input) {
	t.Helper()
	r := optest.NewRunner(t, plan, o)
	defer r.Close()
	for k, in := range steps {
		want, err := optest.Query(t, model, o, in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Step(stream.Step{Bounded: true}, in)
		if err != nil {
			t.Fatal(err)
		}
		if d := optest.Diff(got, want, false); d != "" {
			t.Fatalf("%+v, step %d: %d rows, want %d: %.600s", o, k, len(got), len(want), d)
		}
	}
}

// TestSessionsAgain counts distinct values by session in one step after another.
func TestSessionsAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	steps := make([]optest.Input, 6)
	for k := range steps {
		rows := []optest.Row{}
		for range 60 {
			rows = append(rows, optest.Row{rng.Int64N(300) * sec, "a", rng.Int64N(30)})
		}
		steps[k] = optest.Input{"e": rows}
	}
	plan := coldSessions(logical.Append, false, 0)
	for _, o := range optest.Variations() {
		again(t, plan, plan, o, steps...)
	}
}

// TestFirstRowsAgain filters by rank in a step after one in which the filter
// gave up, for it left out too few rows.
func TestFirstRowsAgain(t *testing.T) {
	s := table("t", 1)
	rank := logical.Attr{ID: 10, Name: "rn", Type: i32}
	filtered := &logical.Window{
		Input: s, PartitionBy: []logical.Expr{ref(s, 0)}, OrderBy: []logical.SortKey{{Expr: ref(s, 2)}}, First: 1, FirstBy: rank.ID,
		Calls: []logical.WindowCall{{Fn: &funcs.BoundWindow{Fn: &funcs.WindowFunction{}, Kind: funcs.RowNumber, Result: i32, FixedFrame: true}, Attr: rank}},
	}
	plain := *filtered
	plain.First, plain.FirstBy = 0, 0
	first := func(in logical.Node) logical.Node {
		return &logical.Filter{Input: in, Cond: optest.Call("<=", rank.Ref(), optest.Value(i32, int32(1)))}
	}
	step := func(rows, keys int, seed uint64) optest.Input {
		out := randomRows(seed, rows, 5)
		for i := range out {
			out[i][0] = int64(i*7919) % int64(keys)
		}
		return optest.Input{"t": out}
	}
	for _, o := range []optest.Options{{}, {Noise: true}} {
		again(t, first(filtered), first(&plain), o, step(70000, 70000, 1), step(9000, 1500, 2), step(9000, 1500, 3))
	}
}
