package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type model map[string]string // operator/key -> value

func restore(t *testing.T, s *Store, chain []Ref) model {
	t.Helper()
	got := model{}
	last := ""
	loose := slices.ContainsFunc(chain, func(r Ref) bool { return r.Index > 0 })
	err := s.Restore(chain, func(e Entry) error {
		op, key, value := e.Operator, e.Key, e.Value
		k := op + "/" + string(key)
		at := k
		if loose {
			at = op + "/" + string(key[:1])
		}
		if _, twice := got[k]; twice || at < last || at == last && !loose {
			t.Fatalf("%q after %q", k, last)
		}
		last = at
		got[k] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestChainAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for try := range 3 {
		s := Open(t.TempDir())
		s.inline = 4000 * try // none, some, most
		s.large = int64(500 * try)
		want, chain := model{}, []Ref(nil)
		for epoch := range int64(40) {
			c := &Changes{}
			add := func() {
				op, key := fmt.Sprintf("op%d", rng.IntN(3)), []byte{byte(rng.IntN(4)), byte(rng.IntN(50))}
				if rng.IntN(4) == 0 {
					c.Operator(op).Add(key, nil)
					delete(want, op+"/"+string(key))
					return
				}
				v := bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(40)*(1+rng.IntN(30)*rng.IntN(2)))
				c.Operator(op).Add(key, v)
				want[op+"/"+string(key)] = string(v)
			}
			for range rng.IntN(200) {
				add()
			}
			var ref Ref
			var err error
			if rng.IntN(2) == 0 {
				ref, err = s.Write(epoch, c, false)
			} else {
				ref, err = s.WriteLoose(epoch, c, false, Later{Bytes: rng.IntN(2) * SmallMerge, Add: func() {
					for range rng.IntN(300) {
						add()
					}
				}})
			}
			if err != nil {
				t.Fatal(err)
			}
			chain = append(chain, ref)
			if from, ok := Compaction(chain, math.MaxInt64); ok {
				before := chain
				if chain, err = s.Compact(chain, from, nil); err != nil {
					t.Fatal(err)
				}
				if err := s.Drop(before, chain); err != nil {
					t.Fatal(err)
				}
			}
			if got := restore(t, s, chain); !maps.Equal(got, want) {
				t.Fatalf("epoch %d: %d entries, want %d", epoch, len(got), len(want))
			}
		}
		if len(chain) > 14 {
			t.Errorf("chain has %d files", len(chain))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		files, _ := os.ReadDir(s.dir)
		if len(files) > len(chain)+minMerge {
			t.Errorf("%d files for a chain of %d", len(files), len(chain))
		}
	}
}

func TestBaseCutsChain(t *testing.T) {
	s := Open(t.TempDir())
	a, b := &Changes{}, &Changes{}
	a.Operator("op").Add([]byte{1}, []byte("old"))
	b.Operator("op").Add([]byte{2}, []byte("new"))
	r1, _ := s.Write(1, a, false)
	r2, err := s.Write(2, b, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := restore(t, s, []Ref{r1, r2}); !maps.Equal(got, model{"op/\x02": "new"}) {
		t.Fatalf("got %v", got)
	}
}

// TestDamage flips, cuts, lengthens and swaps files: all is refused.
func TestDamage(t *testing.T) {
	for name, write := range map[string]func(*Store, int64, *Changes) (Ref, error){
		"in order": func(s *Store, epoch int64, c *Changes) (Ref, error) { return s.Write(epoch, c, false) },
		"loose": func(s *Store, epoch int64, c *Changes) (Ref, error) {
			c.Scope("op", Scope{At: 0, Passed: NotPassed})
			return s.WriteLoose(epoch, c, false, Later{Add: func() {}})
		},
	} {
		t.Run(name, func(t *testing.T) { damage(t, write) })
	}
}

func damage(t *testing.T, write func(*Store, int64, *Changes) (Ref, error)) {
	s := Open(t.TempDir())
	s.inline = 0
	c, d := &Changes{}, &Changes{}
	for i := range 50 {
		c.Operator("op").Add([]byte{byte(i)}, []byte("value"))
		d.Operator("op").Add([]byte{byte(i)}, []byte("other"))
	}
	ref, _ := write(s, 1, c)
	other, _ := write(s, 2, d)
	path := filepath.Join(s.dir, ref.Name)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify([]Ref{ref}); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		refuse(fmt.Sprintf("byte %d flipped", i), bad)
	}
	for n := range good {
		refuse(fmt.Sprintf("cut to %d", n), good[:n])
	}
	refuse("longer", append(bytes.Clone(good), 0))
	swapped, _ := os.ReadFile(filepath.Join(s.dir, other.Name))
	refuse("swapped", swapped)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify([]Ref{ref}); err == nil {
		t.Fatal("a missing file must be refused")
	}
}

func FuzzReader(f *testing.F) {
	var buf bytes.Buffer
	w := newWriter(&buf, scopes{{"a", Scope{At: 0, Passed: 5}}}, 0)
	w.Put("a", []byte{1, 2}, []byte("x"))
	w.Put("b", []byte{1}, nil)
	if _, err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes(), int64(0))
	for _, n := range []int{1, 40} {
		var c Changes
		c.Scope("a", Scope{At: 0, Passed: 5})
		for i := range n {
			c.Operator("a").Add([]byte{byte(i % 3), byte(i)}, []byte("12345678"))
			c.Operator("b").Add([]byte{1, byte(i % 5)}, nil)
		}
		buf.Reset()
		l := newLoose(&buf, c.scopes)
		for _, o := range c.operators {
			for g := range o.groups {
				if o.groups[g].used > 0 {
					l.take(o.id, g, &o.groups[g])
				}
			}
		}
		ref, err := l.close()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(buf.Bytes()), ref.Index)
	}
	f.Fuzz(func(t *testing.T, data []byte, index int64) {
		for _, groups := range []Groups{nil, func(string) (from, to int) { return 1, 3 }} {
			ref := Ref{Name: "f", Bytes: int64(len(data)), Index: index}
			r, err := NewReader(bytes.NewReader(data), ref, groups)
			for err == nil {
				var ok bool
				if ok, err = r.Next(); !ok {
					break
				}
			}
			if r, err := NewReader(bytes.NewReader(data), ref, groups); err == nil {
				_ = newestOf([]*Reader{r}, func(Entry) error { return nil }) // must end
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	s := Open(b.TempDir())
	rng := rand.New(rand.NewPCG(1, 2))
	c := &Changes{}
	for range 100000 {
		k := make([]byte, 9)
		for i := range k {
			k[i] = byte(rng.IntN(256))
		}
		c.Operator("op").Add(k, make([]byte, 50))
	}
	b.ResetTimer()
	for i := range b.N {
		if _, err := s.Write(int64(i), c, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*100000/b.Elapsed().Seconds()/1e6, "Mentries/s")
}

// TestLargestEntry: an entry that the reader would refuse is refused when it is
// written. Its bytes are never touched.
func TestLargestEntry(t *testing.T) {
	var buf bytes.Buffer
	w := newWriter(&buf, nil, 0)
	w.Put("op", []byte("a"), []byte("x"))
	w.record("op", make([]byte, maxBlock-blockBytes), []byte("b"), nil)
	w.Put("op", []byte("c"), []byte("x"))
	if _, err := w.Close(); err == nil || !strings.Contains(err.Error(), "operator op: the state of one key takes 1023 MiB") {
		t.Fatal(err)
	}
}

// TestChangesHeld: what is held is counted by what is allocated, also by what is
// kept for the next epoch.
func TestChangesHeld(t *testing.T) {
	var c Changes
	o := c.Operator("o")
	for i := range 20_000 {
		o.Add([]byte{byte(i), byte(i >> 8), 1}, make([]byte, 90))
	}
	held, size := c.Held(), int64(c.Bytes())
	if held < size || held > 2*size {
		t.Errorf("%d bytes are held for %d", held, size)
	}
	if c.Reset(); c.Bytes() != 0 || c.Held() != held {
		t.Errorf("%d bytes are held after a reset, %d before", c.Held(), held)
	}
}
