package operator_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pipelines/runtime/operator/optest"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
)

// seeds are how many random cases a test runs: some, or PIPELINES_SEEDS.
func seeds(t *testing.T, some int) int {
	if s := os.Getenv("PIPELINES_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return some
}

// randomFrame is a frame that may have rows, up to a hundred away from its own
// but for unbounded ends.
func randomFrame(rng *rand.Rand) logical.Frame {
	unit := []logical.FrameUnit{logical.Rows, logical.Range}[rng.IntN(2)]
	for {
		bound := func(unbounded logical.BoundKind) (logical.FrameBound, int64) {
			n := []int64{0, 1, 2, 13, 90}[rng.IntN(5)]
			switch rng.IntN(4) {
			case 0:
				if unbounded == logical.UnboundedPreceding {
					return at(unbounded), -1000
				}
				return at(unbounded), 1000
			case 1:
				return by(logical.Preceding, n), -n
			case 2:
				return by(logical.Following, n), n
			}
			return at(logical.CurrentRow), 0
		}
		start, from := bound(logical.UnboundedPreceding)
		end, to := bound(logical.UnboundedFollowing)
		if from <= to {
			return frame(unit, start, end)
		}
	}
}

// randomCalls are some calls of a window, each with a frame of its own.
func randomCalls(rng *rand.Rand, s *logical.Scan) (calls []logical.WindowCall) {
	for range 1 + rng.IntN(6) {
		f, nulls := randomFrame(rng), rng.IntN(2) == 0
		fold := func(a logical.AggCall) logical.WindowCall {
			c := logical.WindowCall{Agg: a.Fn, Args: a.Args, Frame: f}
			if rng.IntN(2) == 0 {
				c.Filter = optest.Call("<", optest.Int(100), ref(s, 2))
			}
			return c
		}
		// What cannot take rows out again needs all rows up to an unbounded end.
		whole := f.End.Kind != logical.UnboundedFollowing || f.Start.Kind == logical.UnboundedPreceding
		switch k := rng.IntN(9); {
		case k == 0:
			calls = append(calls, fold(retractable(optest.Sum(0, ref(s, 2)))))
		case k == 1 && whole:
			calls = append(calls, fold(optest.Sum(0, ref(s, 2))))
		case k == 2 && whole:
			calls = append(calls, fold(optest.Count(0)))
		case k == 3:
			calls = append(calls, value([]funcs.WindowKind{funcs.RowNumber, funcs.Rank, funcs.DenseRank}[rng.IntN(3)], 0, false, logical.Frame{}))
		case k == 4:
			calls = append(calls, value([]funcs.WindowKind{funcs.PercentRank, funcs.CumeDist, funcs.NTile}[rng.IntN(3)], 1+rng.IntN(40), false, logical.Frame{}))
		case k == 5:
			calls = append(calls, value([]funcs.WindowKind{funcs.Lag, funcs.Lead}[rng.IntN(2)], rng.IntN(90)-20, nulls, logical.Frame{}, ref(s, 1)))
		default:
			calls = append(calls, value([]funcs.WindowKind{funcs.FirstValue, funcs.LastValue, funcs.NthValue}[k%3], 1+rng.IntN(9), nulls, f, ref(s, rng.IntN(3))))
		}
	}
	return withAttrs(calls...)
}

// randomLarge are rows of a few partitions, of which one or two are large, with
// few or many peers.
func randomLarge(rng *rand.Rand) []optest.Row {
	n, small := 2000+rng.IntN(2000), 1+rng.IntN(12)
	values := []int{n, n / 3, 40 * n}[rng.IntN(3)]
	var out []optest.Row
	for i := range n {
		r := optest.Row{int64(rng.IntN(2) * rng.IntN(2)), fmt.Sprint("s", rng.IntN(n)), int64(rng.IntN(values) - values/4)}
		switch rng.IntN(15) {
		case 0:
			r[2] = nil
		case 1, 2:
			r[1] = nil
		case 3:
			r[0] = int64(rng.IntN(small))
		case 4:
			r[0] = nil
		case 5:
			r[2] = int64(i) // in order of arrival
		}
		out = append(out, r)
	}
	return out
}

// TestRandomLargePartitions compares random windows over random partitions that
// do not fit with the same in memory.
func TestRandomLargePartitions(t *testing.T) {
	s := table("t", 1)
	for seed := range uint64(seeds(t, 25)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			w := &logical.Window{Input: s, Calls: randomCalls(rng, s),
				OrderBy: []logical.SortKey{{Expr: ref(s, 2), Descending: rng.IntN(2) == 0, NullsLast: rng.IntN(2) == 0}}}
			if rng.IntN(4) > 0 {
				w.PartitionBy = []logical.Expr{ref(s, 0)}
			}
			largeWindow(t, w, randomLarge(rng))
		})
	}
}
