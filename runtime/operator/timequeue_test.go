package operator

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTimeQueue compares with a sorted list: buckets in and out of order,
// between removals up to moving limits.
func TestTimeQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q timeQueue
		var want []int64
		at := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			for range rapid.IntRange(0, 8).Draw(t, "pushes") {
				at += rapid.Int64Range(-6, 9).Draw(t, "move")
				if !slices.Contains(want, at) { // as timeIndex: a bucket is there once
					q.push(at)
					want = append(want, at)
				}
			}
			slices.Sort(want)
			limit := at + rapid.Int64Range(-12, 3).Draw(t, "limit")
			for {
				b, ok := q.pop(limit)
				if due := len(want) > 0 && want[0] <= limit; ok != due {
					t.Fatalf("pop(%d) = %d, %v with %v", limit, b, ok, want)
				}
				if !ok {
					break
				}
				if b != want[0] {
					t.Fatalf("pop(%d) = %d, want %d", limit, b, want[0])
				}
				want = want[1:]
			}
		}
	})
}
