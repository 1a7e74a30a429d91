package operator

import (
	"math/bits"

	"pipelines/tables/column"
)

// cutter is a part whose changes can be noted at once and handed out later.
type cutter interface {
	// cut notes what has changed, if that can be done, and how many keys it is.
	cut(put Put) (keys int, ok bool)
	// drain hands out some of what was noted, and says whether there is more.
	drain() bool
}

// aggCut is what has changed in an aggregate before a cut and is still to be
// handed out, while the next step changes groups again: each is handed out
// before it changes.
type aggCut struct {
	put     Put // nil: there is nothing
	pending column.Bits
	word    int // all before are handed out
	scratch []int32
}

// drainAtOnce is how many words of groups are handed out while a part is held.
const drainAtOnce = 64

// cut takes the changed groups over. What is not a group in memory cannot wait.
func (s *aggState) cut(put Put) (keys int, ok bool) {
	if !s.plain() || !s.log.many {
		return 0, false
	}
	s.passed = nonePassed
	keys = s.log.takeDirty(&entryWriter{put: put}, &s.later.pending)
	s.later.put, s.later.word = put, 0
	return keys, true
}

// plain says that the state is that of groups in memory and nothing else.
func (s *aggState) plain() bool {
	return !s.distinct && s.a.panes == nil && s.idle.ttl <= 0 && len(s.cold.runs) == 0
}

// takeDirty hands out the removed keys and moves the changed numbers, which count
// as saved, to another set, whose memory is used again.
func (c *changeLog) takeDirty(w *entryWriter, to *column.Bits) (n int) {
	from := 0
	for _, end := range c.ends {
		w.delete(c.gone[from:end])
		from = end
	}
	c.saved = c.saved.Grow(64 * len(c.dirty))
	for i, word := range c.dirty {
		c.saved[i] |= word
		n += bits.OnesCount64(word)
	}
	clear(*to)
	c.dirty, *to = *to, c.dirty
	c.list, c.gone, c.ends, c.many = c.list[:0], c.gone[:0], c.ends[:0], false
	return n
}

func (s *aggState) drain() bool {
	l := &s.later
	if l.put == nil {
		return false
	}
	l.scratch = l.scratch[:0]
	to := min(l.word+drainAtOnce, len(l.pending))
	for i := l.word; i < to; i++ {
		for word := l.pending[i]; word != 0; word &= word - 1 {
			g := int32(i<<6 + bits.TrailingZeros64(word))
			l.scratch = append(l.scratch, g)
			s.log.stamps.set(g)
		}
		l.pending[i] = 0
	}
	w := &entryWriter{put: l.put}
	for rest := l.scratch; len(rest) > 0; {
		n := min(len(rest), touchAhead)
		s.putGroups(w, rest[:n])
		rest = rest[n:]
	}
	if l.word = to; to == len(l.pending) {
		l.put = nil
	}
	return l.put != nil
}

// saveFirst hands out those of some groups that a cut still has to, before they
// change.
func (s *aggState) saveFirst(groups []int32) {
	l := &s.later
	if l.put == nil {
		return
	}
	w := &entryWriter{put: l.put}
	for _, g := range groups {
		if l.pending.Get(int(g)) {
			l.pending.Unset(int(g))
			s.log.stamps.set(g)
			s.putGroup(w, g)
		}
	}
}

// drained hands out all that a cut still has to.
func (s *aggState) drained() {
	for s.drain() {
	}
}

// Cut is Changes as of now that may leave some of it for later: if keys is not 0,
// drain hands that out; it may run beside the pushes of the next step, which
// waits for it before its end.
func (x *exchange) Cut(put Put) (keys int, drain func(), err error) {
	if x.rows.Load() < wideEnd && !x.p.env.Eager {
		return 0, nil, x.Changes(put)
	}
	left := make([]int, len(x.shares))
	err = x.p.parallel(len(x.shares), true, func(i int) error {
		if c, ok := x.shares[i].(cutter); ok {
			if n, ok := c.cut(put); ok {
				left[i] = n
				return nil
			}
		}
		return x.shares[i].Changes(put)
	})
	for _, n := range left {
		keys += n
	}
	return keys, x.drain, err
}

// drain hands out what a cut has left, a part at a time.
func (x *exchange) drain() {
	for i, s := range x.shares {
		c, ok := s.(cutter)
		if !ok {
			continue
		}
		one := func() bool {
			x.outlets[i].mu.Lock()
			defer x.outlets[i].mu.Unlock()
			return c.drain()
		}
		for one() {
		}
	}
}

// Cut is Changes: entries of different parts may have the same key group.
func (r *routed) Cut(put Put) (keys int, drain func(), err error) {
	return 0, nil, r.Changes(put)
}
