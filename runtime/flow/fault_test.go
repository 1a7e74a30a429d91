package flow

import (
	"fmt"
	"testing"

	"pipelines/stores/fault"
	"pipelines/stores/memory"
)

// TestStoreFaults lets every call to the table's store fail, once, in several
// ways: also by doing it and saying that it failed, which leaves open whether
// a commit was made. What runs after it must leave each row once.
func TestStoreFaults(t *testing.T) {
	total := 0
	for _, rule := range []string{"* nth %d : error retryable", "* nth %d : error permanent", "* nth %d : after retryable", "* nth %d : after permanent", "* nth %d : full", "get,read,write nth %d : torn 2"} {
		for n := 1; ; n++ {
			r := newRig(t, 150)
			r.dedup, r.beside = n%2 == 0, n%2 == 0
			inner := memory.New(memory.Options{})
			script := fault.MustParse(fmt.Sprintf(rule, n))
			r.store = fault.New(inner, script)
			if _, err := r.run(nil); err != nil {
				total++
			}
			idle := len(script.Idle()) > 0
			r.store = inner // the fault is gone: run again
			if _, err := r.run(nil); err != nil {
				t.Fatalf(rule+": %v", n, err)
			}
			r.check()
			if idle {
				break
			}
			if t.Failed() {
				t.Fatalf(rule, n)
			}
		}
	}
	t.Logf("%d runs failed", total)
}
