package operator

import (
	"cmp"
	"slices"
)

// prune gives up the runs without entries.
func (c *cold) prune() {
	c.runs = slices.DeleteFunc(c.runs, func(r *coldRun) bool {
		if r.left > 0 {
			return false
		}
		if c.read.r == r {
			c.read.r = nil
		}
		c.mem.p.closeSpill(r.file)
		return true
	})
}

// tidy merges runs when there are many: the small ones, so that an entry is
// written again only when its run has grown a good deal, and those that hold
// little of what they held.
func (c *cold) tidy() error {
	c.prune()
	if len(c.runs) <= coldRunsMax {
		return nil
	}
	slices.SortStableFunc(c.runs, func(a, b *coldRun) int { return cmp.Compare(a.left, b.left) })
	n, sum := 0, 0
	for n < len(c.runs) && (n < len(c.runs)/2 || c.runs[n].left <= 2*sum || c.runs[n].left*4 < c.runs[n].all) {
		sum += c.runs[n].left
		n++
	}
	old := c.runs[:n:n]
	c.runs = slices.Clone(c.runs[n:])
	c.kept -= sum
	c.read = coldReader{}
	m, err := mergeOf(old)
	if err != nil {
		return err
	}
	err = c.write(sum, m.each)
	for _, r := range old {
		c.mem.p.closeSpill(r.file)
	}
	return err
}

// coldMerge walks through runs in order of the hash.
type coldMerge struct {
	cursors []coldCursor
	last    *coldCursor // gave the entry that is out
}

func mergeOf(runs []*coldRun) (*coldMerge, error) {
	m := &coldMerge{cursors: make([]coldCursor, len(runs))}
	for i, r := range runs {
		m.cursors[i].r = r
		if err := m.cursors[i].next(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// next gives the next entry, which is valid until the next call; nil at the end.
func (m *coldMerge) next() (*coldEntry, error) {
	if m.last != nil {
		if err := m.last.next(); err != nil {
			return nil, err
		}
	}
	m.last = nil
	for i := range m.cursors {
		if x := &m.cursors[i]; x.ok && (m.last == nil || x.e.hash < m.last.e.hash) {
			m.last = x
		}
	}
	if m.last == nil {
		return nil, nil
	}
	return &m.last.e, nil
}

// coldCursor walks through what a run still has.
type coldCursor struct {
	r     *coldRun
	read  coldReader
	block int // the next one
	e     coldEntry
	ok    bool
}

func (x *coldCursor) next() error {
	for {
		if x.read.r != nil {
			if x.e, _, x.ok = x.read.entry(); x.ok {
				return nil
			}
		}
		for x.block < len(x.r.blocks) && x.r.blocks[x.block].left == 0 {
			x.block++
		}
		if x.block == len(x.r.blocks) {
			x.ok = false
			return nil
		}
		if err := x.read.loadNext(x.r, x.block, cursorSpan, x.r.has); err != nil {
			return err
		}
		x.block++
	}
}

// each calls f for all entries.
func (m *coldMerge) each(f func(e *coldEntry) error) error {
	for {
		e, err := m.next()
		if err != nil || e == nil {
			return err
		}
		if err := f(e); err != nil {
			return err
		}
	}
}

// sweep calls f for all entries in order of their hash, and leaves them.
func (c *cold) sweep(f func(e *coldEntry) error) error {
	m, err := mergeOf(c.runs)
	if err != nil {
		return err
	}
	return m.each(f)
}
