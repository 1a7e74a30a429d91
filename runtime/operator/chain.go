package operator

// chains keeps lists of numbers, each in at most one list, in order of adding:
// a list a key, without pointers.
type chains struct {
	head, tail []int32 // by key, -1 for none
	next       []int32 // by number, -1 at the end
}

func (c *chains) add(key, number int32) {
	for int(key) >= len(c.head) {
		c.head, c.tail = append(c.head, -1), append(c.tail, -1)
	}
	for int(number) >= len(c.next) {
		c.next = append(c.next, -1)
	}
	c.next[number] = -1
	if c.head[key] < 0 {
		c.head[key] = number
	} else {
		c.next[c.tail[key]] = number
	}
	c.tail[key] = number
}

// first returns the first number of the list, -1 for none.
func (c *chains) first(key int32) int32 {
	if key < 0 || int(key) >= len(c.head) {
		return -1
	}
	return c.head[key]
}

// each calls f for the numbers of a list, which f may remove from elsewhere.
func (c *chains) each(key int32, f func(number int32)) {
	for n := c.first(key); n >= 0; {
		next := c.next[n]
		f(n)
		n = next
	}
}

// unlink takes a number out of a list; before is the one before it, -1 for none.
func (c *chains) unlink(key, before, number int32) {
	next := c.next[number]
	if before < 0 {
		c.head[key] = next
	} else {
		c.next[before] = next
	}
	if next < 0 {
		c.tail[key] = before
	}
}

// clear empties a list.
func (c *chains) clear(key int32) {
	if int(key) < len(c.head) {
		c.head[key], c.tail[key] = -1, -1
	}
}

func (c *chains) reset() { c.head, c.tail, c.next = c.head[:0], c.tail[:0], c.next[:0] }

// bytes estimates the memory held.
func (c *chains) bytes() int64 { return int64(4 * (cap(c.head) + cap(c.tail) + cap(c.next))) }
