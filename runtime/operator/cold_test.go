package operator_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/logical"
)

// coldPlans are stateful plans whose keys can leave memory.
func coldPlans() map[string]func() (logical.Node, map[string]int64) {
	return map[string]func() (logical.Node, map[string]int64){
		"dedup": func() (logical.Node, map[string]int64) {
			e, _ := events("e", 1, 20*sec)
			return &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{2}, WithinWatermark: true, State: &logical.StateInfo{ID: "s", EventTime: 1}}, map[string]int64{"e": 20 * sec}
		},
		"dedup by time": func() (logical.Node, map[string]int64) {
			e, _ := events("e", 1, 20*sec)
			return &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{1, 3}, State: &logical.StateInfo{ID: "s", EventTime: 1}}, map[string]int64{"e": 20 * sec}
		},
		"dedup for ever": func() (logical.Node, map[string]int64) {
			e, _ := events("e", 1, 20*sec)
			return &logical.Deduplicate{Input: e, Keys: []logical.ColumnID{3}, State: &logical.StateInfo{ID: "s", EventTime: -1}}, map[string]int64{"e": 20 * sec}
		},
		"windows of a number":         func() (logical.Node, map[string]int64) { return coldWindows(2, logical.Append) },
		"windows of a text":           func() (logical.Node, map[string]int64) { return coldWindows(1, logical.Append) },
		"updated windows of a number": func() (logical.Node, map[string]int64) { return coldWindows(2, logical.Update) },
		"updated windows of a text":   func() (logical.Node, map[string]int64) { return coldWindows(1, logical.Update) },
		"updated keys": func() (logical.Node, map[string]int64) {
			e, cols := events("e", 1, 5*sec)
			return &logical.Aggregate{
				Input: e, Groups: []logical.Alias{{Expr: cols[1].Ref(), Attr: cols[1]}}, Aggs: []logical.AggCall{optest.Count(20), optest.Sum(21, cols[2].Ref())},
				State: &logical.StateInfo{ID: "s", EventTime: -1, Mode: logical.Update},
			}, map[string]int64{"e": 5 * sec}
		},
	}
}

// coldWindows counts by window and column i.
func coldWindows(i int, mode logical.OutputMode) (logical.Node, map[string]int64) {
	e, cols := events("e", 1, 5*sec)
	a := counts(e, cols[0].Ref(), 10, 10, mode)
	a.Groups = append(a.Groups, logical.Alias{Expr: cols[i].Ref(), Attr: cols[i]})
	a.Aggs = append(a.Aggs, optest.Sum(25, cols[2].Ref()))
	return a, map[string]int64{"e": 5 * sec}
}

// TestColdState runs over little memory what has all the memory there is: the
// rows are the same, also over restarts with other numbers of lanes.
func TestColdState(t *testing.T) {
	for name, plan := range coldPlans() {
		for seed := range uint64(1) {
			run := func(o optest.Options) (out [][]optest.Row) {
				root, delays := plan()
				d := drive(t, root, o, delays)
				defer d.r.Close()
				rng := rand.New(rand.NewPCG(seed, 3))
				at := 100.0
				for range 6 {
					var rows []optest.Row
					for range 4000 {
						at += rng.Float64() / 300
						r := optest.Row{int64((at - 30*rng.Float64()) * 1e6), fmt.Sprintf("key %d", rng.IntN(60000)), int64(rng.IntN(60000))}
						for i := range r {
							if rng.IntN(100) == 0 {
								r[i] = nil
							}
						}
						rows = append(rows, r)
					}
					out = append(out, d.step(optest.Input{"e": rows}))
				}
				return out
			}
			want := run(optest.Options{BatchSize: 500})
			for i, o := range []optest.Options{
				{BatchSize: 500, Resume: true, Snapshots: strings.HasPrefix(name, "dedup")}, {BatchSize: 400, Resume: true, LaneCounts: []int{1, 3, 2}},
			} {
				o.Memory, o.Spill = 500<<10, true
				got := run(o)
				for epoch := range want {
					if s := optest.Diff(got[epoch], want[epoch], false); s != "" {
						t.Fatalf("%s, seed %d, options %d, epoch %d: %s", name, seed, i, epoch, s)
					}
				}
			}
		}
	}
}
