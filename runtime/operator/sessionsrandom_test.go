package operator_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
)

// sessionsModel is coldSessions by the definition: the rows of a key in order of
// time, cut where nothing came for four seconds. With list, the numbers in order
// are another column.
func sessionsModel(rows []optest.Row, list bool) []optest.Row {
	byKey := map[int64][]optest.Row{}
	for _, r := range rows {
		k := r[2].(int64) / 10
		byKey[k] = append(byKey[k], r)
	}
	var out []optest.Row
	for key, rows := range byKey {
		slices.SortFunc(rows, func(a, b optest.Row) int { return compareValues(a[0], b[0]) })
		for from := 0; from < len(rows); {
			to, sum, seen, all := from, int64(0), map[any]bool{}, []any{}
			for to < len(rows) && (to == from || rows[to][0].(int64) <= rows[to-1][0].(int64)+4*sec) {
				sum += rows[to][2].(int64)
				seen[rows[to][2]] = true
				all = append(all, rows[to][2])
				to++
			}
			session := []any{rows[from][0], rows[to-1][0].(int64) + 4*sec}
			out = append(out, optest.Row{session, key, int64(to - from), int64(len(seen)), sum})
			if slices.SortFunc(all, compareValues); list {
				out[len(out)-1] = append(out[len(out)-1], all)
			}
			from = to
		}
	}
	return out
}

// TestColdSessionCopies: in complete mode, keys that are away come out a few at a
// time, as many as may be in memory at once, however many sessions they have.
func TestColdSessionCopies(t *testing.T) {
	var rows []optest.Row
	for i := range 100 * 65 {
		rows = append(rows, optest.Row{int64(i/100*10) * sec, "a", int64(i % 100 * 10)})
	}
	r := optest.NewRunner(t, coldSessions(logical.Complete, true, 0), optest.Options{Memory: 200 << 10, Spill: true, BatchSize: 50})
	defer r.Close()
	out, err := r.Step(stream.Step{}, optest.Input{"e": rows})
	if err != nil {
		t.Fatal(err)
	}
	if d := optest.Diff(out, sessionsModel(rows, false), false); d != "" {
		t.Fatalf("%.600s", d)
	}
	if r.Largest > 5*65 {
		t.Errorf("%d sessions came out at once", r.Largest)
	}
}

// TestSessionsModel compares sessions whose rows come in any order, in one step
// and over several, with their definition.
func TestSessionsModel(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 4))
		rows := make([]optest.Row, 400)
		for i := range rows {
			rows[i] = optest.Row{rng.Int64N(int64(200*(seed+1))) * sec, "a", rng.Int64N(30)}
		}
		for _, list := range []bool{false, true} {
			plan := coldSessions(logical.Append, false, 0)
			if list {
				v := plan.Aggs[2].Args[0]
				c := optest.Collect(23, v)
				c.OrderBy = []logical.SortKey{{Expr: v}}
				plan.Aggs = append(plan.Aggs, c)
			}
			optest.Matrix(t, plan, optest.Input{"e": rows}, sessionsModel(rows, list), false)
		}
		for _, o := range append(resumes(), optest.Options{Memory: 60 << 10, Spill: true, BatchSize: 20}) {
			d := drive(t, coldSessions(logical.Complete, true, 0), o, map[string]int64{"e": 1 << 40})
			for from := 0; from < len(rows); from += 80 {
				got := d.step(optest.Input{"e": rows[from : from+80]})
				if s := optest.Diff(got, sessionsModel(rows[:from+80], false), false); s != "" {
					t.Fatalf("seed %d, %+v, row %d: %.600s", seed, o, from, s)
				}
			}
			d.r.Close()
		}
	}
}
