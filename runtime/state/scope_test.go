package state

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
)

// TestScopesAgainstModel lets entries go by their time: in the value for one
// operator, in the key for another, a third has none.
func TestScopesAgainstModel(t *testing.T) {
	for try := range 6 {
		scopesAgainstModel(t, try)
	}
}

//tidy:allow-long the changes and the model's side by side
func scopesAgainstModel(t *testing.T, try int) {
	rng := rand.New(rand.NewPCG(uint64(try), 2))
	s := Open(t.TempDir())
	s.inline = 2000 * (try % 3)
	want, chain := model{}, []Ref(nil)
	times := map[string]int64{} // of what goes by itself
	passed := map[string]int64{"inkey": NotPassed, "invalue": NotPassed}
	now, pruned := int64(0), 0
	for epoch := range int64(60) {
		c := &Changes{}
		now += rng.Int64N(50)
		put := func(op string, key []byte, at int64, value []byte) {
			c.Operator(op).Add(key, value)
			want[op+"/"+string(key)], times[op+"/"+string(key)] = string(value), at
		}
		for range rng.IntN(60) {
			at, id := now+rng.Int64N(100), byte(rng.IntN(50))
			switch rng.IntN(4) {
			case 0: // an id meets any times, so each time is a key of its own
				put("inkey", binary.LittleEndian.AppendUint64([]byte{id}, uint64(at)), at, []byte{id})
			case 1, 2:
				key := fmt.Sprintf("invalue/%c", id)
				at = max(at, times[key])
				put("invalue", []byte{id}, at, binary.LittleEndian.AppendUint64([]byte{7}, uint64(at)))
			default:
				if try < 3 && rng.IntN(3) == 0 {
					c.Operator("invalue").Add([]byte{id}, nil)
					delete(want, fmt.Sprintf("invalue/%c", id))
					delete(times, fmt.Sprintf("invalue/%c", id))
				} else if try%2 == 0 {
					put("plain", []byte{id}, stays, []byte{1})
				}
			}
		}
		for op := range passed {
			p := NotPassed
			if rng.IntN(3) == 0 && now > passed[op] {
				p, passed[op] = now-1, now-1
			}
			c.Scope(op, Scope{InKey: op == "inkey", At: 1, Passed: p})
		}
		for k, at := range times {
			if p, ok := passed[opOf(k)]; ok && at <= p {
				delete(want, k)
			}
		}
		if c.Len() > 0 {
			ref, err := s.Write(epoch, c, len(chain) == 0)
			if err != nil {
				t.Fatal(err)
			}
			chain = append(chain, ref)
		}
		before := len(chain)
		chain = Prune(chain)
		pruned += before - len(chain)
		if got := restore(t, s, chain); !maps.Equal(got, want) {
			t.Fatalf("try %d epoch %d: %d entries, want %d", try, epoch, len(got), len(want))
		}
		if from, ok := Compaction(chain, math.MaxInt64); ok {
			var err error
			if chain, err = s.Compact(chain, from, nil); err != nil {
				t.Fatal(err)
			}
			if got := restore(t, s, chain); !maps.Equal(got, want) {
				t.Fatalf("try %d epoch %d merged: %d entries, want %d", try, epoch, len(got), len(want))
			}
		}
	}
	if pruned == 0 && try >= 3 && try%2 == 1 {
		t.Error("no file was left out")
	}
}

func opOf(k string) string {
	for i := range k {
		if k[i] == '/' {
			return k[:i]
		}
	}
	return k
}

// TestPruneWholeState leaves nothing of a state that is gone.
func TestPruneWholeState(t *testing.T) {
	s := Open(t.TempDir())
	s.inline = 0
	var chain []Ref
	for epoch := range int64(10) {
		c := &Changes{}
		for k := range 100 {
			c.Operator("op").Add([]byte{byte(k), byte(epoch)}, binary.LittleEndian.AppendUint64(nil, uint64(epoch)))
		}
		c.Scope("op", Scope{Passed: epoch - 2})
		ref, err := s.Write(epoch, c, len(chain) == 0)
		if err != nil {
			t.Fatal(err)
		}
		if chain = Prune(append(chain, ref)); len(chain) > 2 {
			t.Fatalf("epoch %d: %d files", epoch, len(chain))
		}
	}
	c := &Changes{}
	c.Scope("op", Scope{Passed: 100})
	ref, err := s.Write(10, c, false)
	if err != nil {
		t.Fatal(err)
	}
	if chain = Prune(append(chain, ref)); len(chain) != 0 {
		t.Fatalf("%d files of no state", len(chain))
	}
}

// TestRestoreGroups reads a chain by ranges of key groups and finds what is
// there as a whole.
func TestRestoreGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := Open(t.TempDir())
	s.inline = 1000
	want, chain := model{}, []Ref(nil)
	for epoch := range int64(6) {
		c := &Changes{}
		for range 20_000 * int(epoch%3) {
			op := fmt.Sprintf("op%d", rng.IntN(3))
			key := []byte{byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(4))}
			if op == "op1" {
				key[0] &= 3 // few groups, many blocks each
			}
			value := make([]byte, 20+rng.IntN(5))
			c.Operator(op).Add(key, value)
			want[op+"/"+string(key)] = string(value)
		}
		ref, err := s.Write(epoch, c, len(chain) == 0)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, ref)
	}
	for _, n := range []int{1, 2, 5, 32} {
		got := model{}
		for i := range n {
			groups := func(op string) (from, to int) {
				if op == "op2" { // all in one
					return 0, 256 * (1 - min(i, 1))
				}
				return (i*256 + n - 1) / n, ((i+1)*256 + n - 1) / n
			}
			err := s.RestoreGroups(chain, groups, func(e Entry) error {
				op, key, value := e.Operator, e.Key, e.Value
				if from, to := groups(op); int(key[0]) < from || int(key[0]) >= to {
					t.Fatalf("group %d of %s for part %d of %d", key[0], op, i, n)
				}
				got[op+"/"+string(key)] = string(value)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%d parts: %d entries, want %d", n, len(got), len(want))
		}
	}
}
