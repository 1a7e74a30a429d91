package optest

import (
	"fmt"
	"slices"
	"testing"

	"pipelines/sqlplan/logical"
)

// Variations are the ways in which Matrix runs a plan.
func Variations() []Options {
	return []Options{
		{},
		{BatchSize: 1},
		{BatchSize: 7, Noise: true, Seed: 1},
		{BatchSize: 3, Lanes: 3, Seed: 2},
		{BatchSize: 64, Dictionary: true},
		{BatchSize: 2, Constant: true},
		{BatchSize: 5, Dictionary: true, Noise: true, Lanes: 2, Seed: 3},
		{BatchSize: 4, Lanes: 4, Concurrent: true, Seed: 4},
	}
}

// Matrix runs a bounded plan in all variations, which must give want. With
// ordered the order of one lane counts.
func Matrix(t *testing.T, root logical.Node, in Input, want []Row, ordered bool) {
	t.Helper()
	for _, o := range Variations() {
		got, err := Query(t, root, o, in)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if d := Diff(got, want, ordered && o.Lanes <= 1); d != "" {
			t.Fatalf("%+v: %s", o, d)
		}
	}
}

// Diff compares rows; "" when they are equal.
func Diff(got, want []Row, ordered bool) string {
	g, w := Text(got, ordered), Text(want, ordered)
	if slices.Equal(g, w) {
		return ""
	}
	return fmt.Sprintf("rows differ\n got %v\nwant %v", g, w)
}
