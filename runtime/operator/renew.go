package operator

import "math/bits"

// A changelog file can be dropped, without being read, when all that is still
// alive of it stands in newer ones too. So each number has a stamp, the changelog
// with which it was handed out last, and those of old changelogs are handed out
// again, some with each new one.

// renewer is a part that can hand out again what stands in old changelogs.
type renewer interface {
	// number says which changelog the next entries go to. keys is how many there
	// are, and ok whether renew works now.
	number(changelog uint32) (keys int, ok bool)
	// renew is Renew of a part.
	renew(r Renewal) (done bool)
}

// Renewal says what to hand out again: keys that were handed out last with a
// changelog up to Before, about Most at once. Begin marks the first of the calls
// with one Before, which follow each other until all is done.
type Renewal struct {
	Before uint32
	Most   int
	Begin  bool
}

// stamps tell of numbers with which changelog they were handed out last; 0 is
// before the first. They are kept from the first changelog on that has a number.
type stamps struct {
	now uint32
	of  [][]uint32
	at  int // renew goes on here: a word of numbers
}

func (s *stamps) grow(n int) {
	for len(s.of)<<segmentBits < n {
		s.of = append(s.of, make([]uint32, segmentGroups))
	}
}

// set notes that number g is handed out.
func (s *stamps) set(g int32) { s.to(g, s.now) }

// to stamps number g.
func (s *stamps) to(g int32, changelog uint32) {
	if i := int(g) >> segmentBits; i < len(s.of) {
		s.of[i][g&(segmentGroups-1)] = changelog
	}
}

// old are the numbers of a word that were handed out up to a changelog.
func (s *stamps) old(word int, before uint32) (mask uint64) {
	at := word << 6
	for k, x := range (*[64]uint32)(s.of[at>>segmentBits][at&(segmentGroups-1):]) {
		if x <= before {
			mask |= 1 << k
		}
	}
	return mask
}

// renewWords is how many words of numbers are looked at at once.
const renewWords = 1 << 16

// renewable is the least number of groups worth it.
const renewable = segmentGroups

func (s *aggState) number(changelog uint32) (keys int, ok bool) {
	keys = s.a.table.live()
	if !s.plain() || s.a.table.groups < renewable && !s.a.p.env.Eager {
		s.log.stamps = stamps{}
		return keys, false
	}
	s.log.stamps.now = changelog
	s.log.stamps.grow(s.a.table.groups)
	return keys, true
}

func (s *aggState) renew(r Renewal) (done bool) {
	st, log := &s.log.stamps, &s.log
	if r.Begin {
		st.at = 0
	}
	n, words := 0, min(len(s.alive), len(st.of)<<(segmentBits-6))
	log.dirty = log.dirty.Grow(64 * words)
	for to := min(words, st.at+renewWords); st.at < to && n < r.Most; st.at++ {
		more := s.alive[st.at] &^ log.dirty[st.at]
		if more != 0 {
			more &= st.old(st.at, r.Before)
		}
		if more != 0 {
			log.dirty[st.at] |= more
			n += bits.OnesCount64(more)
		}
	}
	log.many = log.many || n > 0
	return st.at >= words
}

// Number says to which changelog the next entries go.
func (x *exchange) Number(changelog uint32) (keys int, ok bool) {
	ok = true
	for _, s := range x.shares {
		r, can := s.(renewer)
		if !can {
			return 0, false
		}
		n, can := r.number(changelog)
		keys, ok = keys+n, ok && can
	}
	return keys, ok
}

// Renew has entries of old changelogs handed out again.
func (x *exchange) Renew(r Renewal) (done bool) {
	done = true
	r.Most = r.Most/len(x.shares) + 1
	for _, s := range x.shares {
		done = s.(renewer).renew(r) && done
	}
	return done
}

// Number says that a limit does not hand out anything again.
func (s *limitState) Number(uint32) (keys int, ok bool) { return 0, false }

// Renew has nothing to do.
func (s *limitState) Renew(Renewal) (done bool) { return true }
