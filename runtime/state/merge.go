package state

import (
	"bytes"
	"slices"
)

// Merge reads several files, oldest first, as one: emit gets each key once, in
// order, with its newest value, unless its time has passed. With keepDeleted
// false keys that are gone are left out.
func Merge(readers []*Reader, keepDeleted bool, emit func(operator string, key, value []byte) error) error {
	return merge(readers, keepDeleted, func(r *Reader) error { return emit(r.operator, r.key, r.value) })
}

// merge is Merge that hands out readers which stand at the entry.
func merge(readers []*Reader, keepDeleted bool, emit func(*Reader) error) error {
	live := make([]*Reader, 0, len(readers))
	for _, r := range readers {
		r.live = true
		if err := r.advance(); err != nil {
			return err
		}
	}
	for {
		operator, any := "", false
		for _, r := range readers {
			if r.live && (!any || r.operator < operator) {
				operator, any = r.operator, true
			}
		}
		if !any {
			return nil
		}
		live = live[:0]
		gone := lapseOf(readers, operator)
		for i, r := range readers {
			if r.live && r.operator == operator {
				r.passed = gone.passed[i]
				live = append(live, r)
			}
		}
		t := tree{readers: live, operator: operator, scope: gone.scope, keepDeleted: keepDeleted}
		if err := t.run(emit); err != nil {
			return err
		}
	}
}

// advance reads the next entry and notes when there is none.
func (r *Reader) advance() error {
	if !r.live {
		return nil
	}
	ok, err := r.Next()
	r.live = ok && err == nil
	return err
}

// tree merges the entries of one operator: a tree of losers over the readers,
// which are given oldest first.
type tree struct {
	readers     []*Reader
	operator    string
	scope       *Scope
	keepDeleted bool
	losers      []int32 // losers[0] is the winner
	last        []byte  // the key that was handed out last
	prefix      uint64
	any         bool
}

// less says whether the entry of reader a comes before that of b; of equal keys
// the newest file's comes first. A reader without an entry is -1.
func (t *tree) less(a, b int32) bool {
	x, y := t.readers[a], t.readers[b]
	if x.done != y.done || x.done {
		return !x.done
	}
	if x.prefix != y.prefix {
		return x.prefix < y.prefix
	}
	if c := bytes.Compare(x.key, y.key); c != 0 {
		return c < 0
	}
	return a > b
}

// build plays all matches below node n and returns their winner.
func (t *tree) build(n int) int32 {
	k := len(t.readers)
	if n >= k {
		return int32(n - k)
	}
	a, b := t.build(2*n), t.build(2*n+1)
	if t.less(b, a) {
		a, b = b, a
	}
	t.losers[n] = b
	return a
}

func (t *tree) run(emit func(*Reader) error) error {
	k := len(t.readers)
	t.losers = make([]int32, k)
	for _, r := range t.readers {
		r.done, r.began = false, r.turn
	}
	best := int32(0)
	if k > 1 {
		best = t.build(1)
	}
	for {
		r := t.readers[best]
		if r.done {
			return nil
		}
		if !t.any || r.prefix != t.prefix || !bytes.Equal(r.key, t.last) {
			t.any, t.prefix, t.last = true, r.prefix, append(t.last[:0], r.key...)
			if (r.value != nil || t.keepDeleted) && !(t.scope != nil && r.value != nil && t.scope.time(r.key, r.value) <= r.passed) {
				if err := emit(r); err != nil {
					return err
				}
			}
		}
		if err := r.advance(); err != nil {
			return err
		}
		r.done = !r.live || r.turn != r.began && r.operator != t.operator
		for n := (int(best) + k) / 2; n > 0; n /= 2 {
			if t.less(t.losers[n], best) {
				best, t.losers[n] = t.losers[n], best
			}
		}
	}
}

// lapse tells which entries of an operator are gone by themselves: those of each
// file whose time is not after what the file and the newer ones say.
type lapse struct {
	scope  *Scope
	passed []int64
}

func lapseOf(readers []*Reader, operator string) lapse {
	l := lapse{passed: make([]int64, len(readers))}
	passed := NotPassed
	for k, r := range slices.Backward(readers) {
		if s := r.scopes.of(operator); s != nil {
			if l.scope == nil {
				l.scope = s
			}
			passed = max(passed, s.Passed)
		}
		l.passed[k] = passed
	}
	return l
}
