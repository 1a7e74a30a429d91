package operator

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

type kept struct {
	until int64
	value string
	flags byte
}

// TestColdRuns compares runs with a map: keys go away, come back one by one or
// by their time, and runs are merged.
func TestColdRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &Plan{env: Env{TempDir: t.TempDir()}}
	c := newCold(&memory{p: p, name: "test"})
	defer c.close()
	model, gone := map[string]kept{}, int64(0)
	hash := func(key string) uint64 {
		return uint64(len(key))<<60 | uint64(binary.BigEndian.Uint16([]byte(key[1:])))/7
	} // many are equal
	for step := range 60 {
		away := map[string]kept{}
		for range 400 {
			key := fmt.Sprintf("k%d", 10+rng.IntN(5000))
			if _, ok := model[key]; !ok {
				away[key] = kept{gone + 1 + rng.Int64N(4000), fmt.Sprint("value ", rng.IntN(1000)), byte(rng.IntN(8))}
			}
		}
		var keys []string
		for k := range away {
			keys = append(keys, k)
			model[k] = away[k]
		}
		slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(hash(a), hash(b)) })
		err := c.write(len(keys), func() (e coldEntry, ok bool, err error) {
			if len(keys) == 0 {
				return e, false, nil
			}
			k, x := keys[0], away[keys[0]]
			keys = keys[1:]
			return coldEntry{hash: hash(k), until: x.until, key: []byte(k), value: []byte(x.value), flags: x.flags}, true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.tidy(); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			key := fmt.Sprintf("k%d", 10+rng.IntN(5000))
			e, ok, err := c.take(hash(key), []byte(key))
			want, there := model[key]
			if err != nil || ok != there || ok && (string(e.value) != want.value || e.until != want.until || e.flags != want.flags) {
				t.Fatalf("step %d, %s: %v %v %q %d, want %v", step, key, err, ok, e.value, e.flags, want)
			}
			delete(model, key)
		}
		if step%5 == 0 {
			gone += 300
			err := c.each(-1, func(r *coldRun) bool { return r.first <= gone }, func(e coldEntry) (bool, error) {
				return e.until <= gone, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			c.lapse(gone)
			for k, x := range model {
				if x.until <= gone {
					delete(model, k)
				}
			}
		}
		if c.kept != len(model) {
			t.Fatalf("step %d: %d kept, want %d", step, c.kept, len(model))
		}
	}
}
