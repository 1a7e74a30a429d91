package files

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestLedgerKnows compares the ledger with a map, while it is loaded and grows.
func TestLedgerKnows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, loaded := range []int{0, 7, 1000} {
		want := map[string]bool{}
		var l ledger
		err := l.load(func(fn func(key, value []byte) error) error {
			for i := range loaded {
				id := "a/" + strconv.Itoa(3*i)
				want[id] = true
				if err := fn([]byte(id), taken{log: int64(i), size: 1}.encode()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 5000 {
			id := "a/" + strconv.Itoa(r.IntN(6000))
			if l.knows([]byte(id)) != want[id] {
				t.Fatalf("%d loaded: %s is known: %t", loaded, id, !want[id])
			}
			if !want[id] && r.IntN(2) == 0 {
				want[id] = true
				l.add(id, taken{log: 9})
			}
		}
		if l.len() != len(want) {
			t.Errorf("%d known, want %d", l.len(), len(want))
		}
	}
}
