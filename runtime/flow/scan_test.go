package flow

import (
	"sync/atomic"
	"testing"
)

// TestSharedScans reads a source that the plan scans twice: once when the plan
// says that the scans are shared, else twice, for the same rows.
func TestSharedScans(t *testing.T) {
	reads := map[int]int64{}
	for _, shared := range []int{0, 1} {
		r := newRig(t, 300)
		r.twice, r.shared = true, shared
		var n atomic.Int64
		sum, err := r.run(func(point string) error {
			if point == ReadSplit {
				n.Add(1)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if sum.InputRows != 300 || sum.OutputRows != 600 {
			t.Errorf("shared %d: %d rows in, %d out", shared, sum.InputRows, sum.OutputRows)
		}
		for id, times := range r.ids() {
			if times != 2 {
				t.Errorf("shared %d: id %d comes %d times", shared, id, times)
			}
		}
		reads[shared] = n.Load()
	}
	if reads[0] != 2*reads[1] || reads[1] == 0 {
		t.Errorf("%d splits read apart, %d shared", reads[0], reads[1])
	}
}
