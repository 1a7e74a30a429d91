package state

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// Entry is an entry that is read from a chain. Its slices are valid during the
// call only.
type Entry struct {
	Operator   string
	Key, Value []byte
	// File is the number in the chain of the file that it stands in, -1 where the
	// files are merged.
	File int
}

// newestOf reads several files, oldest first, as one, as Merge does, but within
// a key group in any order: from the newest file on it leaves out the keys that
// it has seen, for which nothing has to be sorted.
func newestOf(readers []*Reader, fn func(Entry) error) error {
	for _, r := range readers {
		if r.live = r.loose == nil; r.live {
			if err := r.advance(); err != nil {
				return err
			}
		}
	}
	var u union
	operator, first := "", true
	var gone lapse
	for {
		h, ok := leastHead(readers)
		if !ok {
			return nil
		}
		if first || h.operator != operator {
			operator, first = h.operator, false
			gone = lapseOf(readers, operator)
		}
		u.seen.reset()
		for i, r := range slices.Backward(readers) {
			if x, ok := r.head(); !ok || x != h {
				continue
			}
			u.scope, u.passed, u.file = gone.scope, gone.passed[i], r.file
			if err := u.take(r, h, fn); err != nil {
				return err
			}
		}
	}
}

// head is what a file has next.
type head struct {
	operator string
	group    int
}

func (r *Reader) head() (h head, ok bool) {
	if l := r.loose; l != nil {
		if len(l.parts) == 0 {
			return h, false
		}
		return head{l.parts[0].operator, l.parts[0].group}, true
	}
	return head{r.operator, groupOf(r.key)}, r.live
}

func leastHead(readers []*Reader) (least head, ok bool) {
	for _, r := range readers {
		h, any := r.head()
		if any && (!ok || h.operator < least.operator || h.operator == least.operator && h.group < least.group) {
			least, ok = h, true
		}
	}
	return least, ok
}

// union hands out the entries of a key group, of each key the newest.
type union struct {
	seen   keySet
	scope  *Scope
	passed int64
	file   int
}

// take hands out what a file has of a key group that no newer file had.
func (u *union) take(r *Reader, h head, fn func(Entry) error) error {
	if r.loose == nil {
		for {
			if err := u.entry(h.operator, r.key, r.value, fn); err != nil {
				return err
			}
			if err := r.advance(); err != nil {
				return err
			}
			if x, ok := r.head(); !ok || x != h {
				return nil
			}
		}
	}
	if err := r.loadPart(); err != nil {
		return err
	}
	g := &r.loose.group
	list := r.loose.sorter.places(g)
	for _, x := range slices.Backward(list) { // of one key the last counts
		_, key, value := g.at(x.at)
		if err := u.entry(h.operator, key, value, fn); err != nil {
			return err
		}
	}
	return nil
}

func (u *union) entry(operator string, key, value []byte, fn func(Entry) error) error {
	if !u.seen.add(key) || value == nil || u.scope != nil && u.scope.time(key, value) <= u.passed {
		return nil
	}
	return fn(Entry{operator, key, value, u.file})
}

// keySet is a set of keys.
type keySet struct {
	slots []uint64 // the upper half of the hash, number+1 below it; 0 is free
	keys  []byte
	ends  []int
	seed  maphash.Seed
}

const fewKeys = 1 << 10

// reset empties the set.
func (s *keySet) reset() {
	if s.slots == nil {
		s.slots, s.seed = make([]uint64, fewKeys), maphash.MakeSeed()
	}
	clear(s.slots)
	s.keys, s.ends = s.keys[:0], append(s.ends[:0], 0)
}

// add adds a key and says whether it was not there.
func (s *keySet) add(key []byte) bool {
	if len(s.ends)*3 > len(s.slots)*2 {
		s.grow()
	}
	h := maphash.Bytes(s.seed, key)
	mask := uint64(len(s.slots) - 1)
	i := h & mask
	for ; s.slots[i] != 0; i = (i + 1) & mask {
		if x := s.slots[i]; x>>32 == h>>32 {
			if k := uint32(x); bytes.Equal(s.keys[s.ends[k-1]:s.ends[k]], key) {
				return false
			}
		}
	}
	s.slots[i] = h&^(1<<32-1) | uint64(len(s.ends))
	s.keys = append(s.keys, key...)
	s.ends = append(s.ends, len(s.keys))
	return true
}

func (s *keySet) grow() {
	s.slots = make([]uint64, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for k := range len(s.ends) - 1 {
		h := maphash.Bytes(s.seed, s.keys[s.ends[k]:s.ends[k+1]])
		i := h & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = h&^(1<<32-1) | uint64(k+1)
	}
}
