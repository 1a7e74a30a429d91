package state

import (
	"encoding/binary"
	"math"
)

// Scope says how the entries of an operator go by themselves: each holds a time,
// 8 bytes little-endian at offset At of its key or its value, and is gone when
// the time is not after Passed. A file's Passed counts for its own entries and
// for those of all older files. The time of a key must not get less from one of
// its entries to the next.
type Scope struct {
	InKey  bool
	At     int
	Passed int64 // NotPassed: nothing has gone by itself
}

// NotPassed is before all times.
const NotPassed = int64(math.MinInt64)

// stays is the time of entries that do not go by themselves.
const stays = int64(math.MaxInt64)

// time is when an entry goes. A removal stays: it may hide an older entry.
func (s *Scope) time(key, value []byte) int64 {
	if s == nil || value == nil {
		return stays
	}
	b := value
	if s.InKey {
		b = key
	}
	if len(b) < s.At+8 {
		return stays
	}
	return int64(binary.LittleEndian.Uint64(b[s.At:]))
}

type scoped struct {
	operator string
	Scope
}

type scopes []scoped

// of returns the operator's scope; of several the last counts.
func (x scopes) of(operator string) *Scope {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i].operator == operator {
			return &x[i].Scope
		}
	}
	return nil
}

// passed lists what has passed by operator, nil for nothing.
func (x scopes) passed() map[string]int64 {
	var out map[string]int64
	for _, s := range x {
		if s.Passed == NotPassed {
			continue
		}
		if out == nil {
			out = map[string]int64{}
		}
		out[s.operator] = s.Passed
	}
	return out
}

// join is the scopes of several files, oldest first, in one.
func join(readers []*Reader) scopes {
	var out scopes
	for _, r := range readers {
		for _, s := range r.scopes {
			if old := out.of(s.operator); old != nil {
				old.InKey, old.At, old.Passed = s.InKey, s.At, max(old.Passed, s.Passed)
				continue
			}
			out = append(out, s)
		}
	}
	return out
}

func (s scoped) append(dst []byte) []byte {
	dst = appendBytes(dst, []byte(s.operator))
	in := byte(0)
	if s.InKey {
		in = 1
	}
	dst = binary.AppendUvarint(append(dst, in), uint64(s.At))
	return binary.LittleEndian.AppendUint64(dst, uint64(s.Passed))
}

func cutScope(b []byte) (s scoped, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n >= uint64(len(b)-w) {
		return s, nil, false
	}
	s.operator, b = string(b[w:w+int(n)]), b[w+int(n):]
	s.InKey = b[0] == 1
	at, w := binary.Uvarint(b[1:])
	if w <= 0 || b[0] > 1 || at > maxBlock || len(b) < 1+w+8 {
		return s, nil, false
	}
	s.At, s.Passed = int(at), int64(binary.LittleEndian.Uint64(b[1+w:]))
	return s, b[1+w+8:], true
}

// Prune leaves out the files of a chain that say nothing any more: all their
// entries have gone by themselves, and newer files say so.
func Prune(chain []Ref) []Ref {
	for i := len(chain) - 1; i > 0; i-- {
		if chain[i].Base {
			chain = chain[i:]
			break
		}
	}
	passed := map[string]int64{}
	covered := func(times map[string]int64) bool {
		for operator, t := range times {
			if p, ok := passed[operator]; !ok || t > p {
				return false
			}
		}
		return true
	}
	var kept []Ref // the newest first
	dead := func(r Ref) bool { return r.Entries == 0 || len(r.Last) > 0 && covered(r.Last) }
	for i := len(chain) - 1; i >= 0; i-- {
		if r := chain[i]; !dead(r) || !covered(r.Passed) {
			kept = append(kept, r)
		}
		for operator, t := range chain[i].Passed {
			if p, ok := passed[operator]; !ok || t > p {
				passed[operator] = t
			}
		}
	}
	// What the oldest file says about older ones does not count.
	for len(kept) > 0 && dead(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
	}
	out := make([]Ref, 0, len(kept))
	for i := len(kept) - 1; i >= 0; i-- {
		out = append(out, kept[i])
	}
	return out
}
