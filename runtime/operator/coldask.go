package operator

import "slices"

// Many keys are looked up at once, in order of their hash: a run is read from
// front to back, blocks that lie close together at once, and its entries stay
// where they are.

// coldWant is a block that may hold the hash of some asks: asks[from:to], which
// have the same.
type coldWant struct {
	block    int
	from, to int
}

// coldFind is an entry in its place.
type coldFind struct {
	r             *coldRun
	block, number int
}

// ask calls f for the entries that have the hash of asks, which it sorts, with
// those that have it. What f does with an entry, it does by where it is.
func (c *cold) ask(asks []hashed, f func(e *coldEntry, at coldFind, asks []hashed) error) error {
	if len(asks) == 0 || c.kept == 0 {
		return nil
	}
	sortHashed(asks)
	for _, r := range c.runs {
		if r.left == 0 {
			continue
		}
		c.want(r, asks)
		if err := c.answer(r, asks, f); err != nil {
			return err
		}
	}
	return nil
}

// want lists the blocks of a run that may have what is asked for in c.wants.
func (c *cold) want(r *coldRun, asks []hashed) {
	c.wants = c.wants[:0]
	b := 0
	for i, k := 0, 0; i < len(asks); i = k {
		hash := asks[i].hash
		for k = i + 1; k < len(asks) && asks[k].hash == hash; {
			k++
		}
		if !r.may(hash) {
			continue
		}
		b = r.firstFrom(b, hash)
		for x := b; x < len(r.blocks) && r.blocks[x].hash <= hash; x++ {
			if r.has(x) {
				c.wants = append(c.wants, coldWant{x, i, k})
			}
		}
	}
}

// firstFrom is first for a hash that is not in a block before b: most are in one
// of the next.
func (r *coldRun) firstFrom(b int, hash uint64) int {
	step := 1
	for b+step < len(r.blocks) && r.blocks[b+step].hash < hash {
		b += step
		step *= 2
	}
	rest, _ := slices.BinarySearchFunc(r.blocks[b:min(b+step, len(r.blocks))], hash, func(b coldBlock, h uint64) int {
		if b.hash < h {
			return -1
		}
		return 1
	})
	return b + max(rest-1, 0)
}

// answer reads the blocks in c.wants, and calls f for what was asked for.
func (c *cold) answer(r *coldRun, asks []hashed, f func(e *coldEntry, at coldFind, asks []hashed) error) error {
	x, wants := &c.read, c.wants
	var body []byte
	number := 0
	for i, w := range wants {
		if i == 0 || w.block != wants[i-1].block {
			next := wants[i+1:]
			err := x.loadNext(r, w.block, c.span(), func(b int) bool {
				for len(next) > 0 && next[0].block < b {
					next = next[1:]
				}
				return len(next) > 0 && next[0].block == b
			})
			if err != nil {
				return err
			}
			body, number = x.body()
		}
		hash := asks[w.from].hash
		for ; body != nil && hashIn(body) <= hash; body, number = x.body() {
			if hashIn(body) != hash || r.taken.Get(number) {
				continue
			}
			c.e = r.of(body, number)
			if err := f(&c.e, coldFind{r, w.block, number}, asks[w.from:w.to]); err != nil {
				return err
			}
		}
	}
	return nil
}

// mark sets the first byte of an entry's value to 1; its checkpoint has another
// form then.
func (c *cold) mark(at coldFind) {
	r := at.r
	if r.marked.Get(at.number) {
		return
	}
	r.mark(at.number)
	if !r.dirty.Get(at.number) {
		r.dirty.Set(at.number)
		r.dirtyLeft++
	}
}
