package state

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// Changes collects what an epoch changed, in any order: of several changes of
// one key the last counts. Keys and values are kept one after another in large
// blocks without pointers.
type Changes struct {
	operators []operatorChanges
	scopes    []scoped
	bytes, n  int
	seen      byte // keeps touch from being left out
}

type operatorChanges struct {
	id     string
	blocks [][]byte
	n      int
	// first is the start of the first key, varying which bits of it differ in
	// some other key; long says that some key has more bytes than these, or that
	// lengths differ.
	first, varying [2]uint64
	size           int
	long           bool
}

// ordinal is a change in sorting order: bytes of its key, and where it stands
// (block and offset).
type ordinal struct {
	prefix uint64
	at     uint64
}

const (
	changeBlock = 1 << 20
	atBits      = 32
)

// Add notes a change; a nil value says that the key is gone. The slices are
// copied.
func (c *Changes) Add(operator string, key, value []byte) {
	i := len(c.operators) - 1
	if i < 0 || c.operators[i].id != operator {
		i = slices.IndexFunc(c.operators, func(o operatorChanges) bool { return o.id == operator })
	}
	if i < 0 {
		i = len(c.operators)
		c.operators = append(c.operators, operatorChanges{id: operator})
	}
	c.operators[i].add(key, value)
	c.bytes += len(key) + len(value) + 4
	c.n++
}

// add copies a change into the blocks: the lengths (of the value one more, 0
// for none), the key, the value.
func (o *operatorChanges) add(key, value []byte) {
	x, y := startOf(key)
	if o.n == 0 {
		o.first, o.varying, o.size, o.long = [2]uint64{x, y}, [2]uint64{}, len(key), false
	}
	o.varying[0] |= x ^ o.first[0]
	o.varying[1] |= y ^ o.first[1]
	o.long = o.long || len(key) > 16 || len(key) != o.size
	o.n++
	need := len(key) + len(value) + 2*binary.MaxVarintLen64
	last := len(o.blocks) - 1
	if last < 0 || cap(o.blocks[last])-len(o.blocks[last]) < need {
		o.blocks = append(o.blocks, make([]byte, 0, max(o.nextBlock(), need)))
		last++
	}
	b := binary.AppendUvarint(o.blocks[last], uint64(len(key)))
	if value == nil {
		b = append(append(b, 0), key...)
	} else {
		b = append(append(binary.AppendUvarint(b, uint64(len(value))+1), key...), value...)
	}
	o.blocks[last] = b
}

// nextBlock is the size of the next block: small states need little.
func (o *operatorChanges) nextBlock() int { return min(changeBlock, 4<<10<<min(2*len(o.blocks), 16)) }

// startOf is the first 16 bytes of a key as two numbers.
func startOf(key []byte) (x, y uint64) {
	if len(key) > 8 {
		return prefixOf(key), prefixOf(key[8:])
	}
	return prefixOf(key), 0
}

// entry reads the change at the start of b and says how many bytes it takes.
func entry(b []byte) (key, value []byte, size int) {
	k, v, n, m := uint64(b[0]), uint64(b[1]), 1, 1
	if k|v >= 0x80 {
		k, n = binary.Uvarint(b)
		v, m = binary.Uvarint(b[n:])
	}
	size = n + m
	b = b[size:]
	key = b[:k:k]
	size += int(k)
	if v > 0 {
		value = b[k : k+v-1 : k+v-1]
		size += int(v) - 1
	}
	return key, value, size
}

func (o *operatorChanges) entry(at uint64) (key, value []byte) {
	key, value, _ = entry(o.blocks[at>>atBits][at&(1<<atBits-1):])
	return key, value
}

// Scope notes how the entries of an operator go by themselves, as of now.
func (c *Changes) Scope(operator string, s Scope) {
	c.scopes = append(c.scopes, scoped{operator, s})
}

// Len is the number of changes; that the time of a scope has passed counts.
func (c *Changes) Len() int {
	n := c.n
	for _, s := range c.scopes {
		if s.Passed != NotPassed {
			n++
		}
	}
	return n
}

// Bytes is about the size of the changes.
func (c *Changes) Bytes() int { return c.bytes }

// Reset forgets the changes and keeps some memory for the next.
func (c *Changes) Reset() {
	for i := range c.operators {
		o := &c.operators[i]
		o.n, o.blocks = 0, o.blocks[:min(len(o.blocks), 1)]
		if len(o.blocks) > 0 {
			o.blocks[0] = o.blocks[0][:0]
		}
	}
	c.scopes = c.scopes[:0]
	c.bytes, c.n = 0, 0
}

// Each calls f for the changes in order of operator and key, each key once.
func (c *Changes) Each(f func(operator string, key, value []byte)) {
	slices.SortFunc(c.operators, func(a, b operatorChanges) int { return strings.Compare(a.id, b.id) })
	for i := range c.operators {
		o := &c.operators[i]
		list, whole := o.ordinals()
		order := radix(list) // equal keys stay in order of arrival
		touched := 0
		for from := 0; from < len(order); {
			to := from + 1
			for to < len(order) && order[to].prefix == order[from].prefix {
				to++
			}
			for touched < to {
				touched += c.touch(o, order[touched:])
			}
			if to-from > 1 && !whole {
				slices.SortStableFunc(order[from:to], func(x, y ordinal) int {
					a, _ := o.entry(x.at)
					b, _ := o.entry(y.at)
					return bytes.Compare(a, b)
				})
			}
			o.run(order[from:to], func(key, value []byte) { f(o.id, key, value) })
			from = to
		}
	}
}

// ordinals lists the changes in order of arrival. The prefix leaves out the
// bytes that are the same in all keys; whole says that it tells all keys apart.
func (o *operatorChanges) ordinals() (list []ordinal, whole bool) {
	var shifts [8]uint // of the bytes of the prefix in the first 16, from the right
	n, more := 0, o.long
	for i := range 16 {
		if byte(o.varying[i/8]>>(56-8*(i%8))) == 0 {
			continue
		}
		if n == len(shifts) {
			more = true
			break
		}
		shifts[n] = uint(i)
		n++
	}
	list = make([]ordinal, 0, o.n)
	for i, b := range o.blocks {
		for at := 0; at < len(b); {
			key, _, size := entry(b[at:])
			x, y := startOf(key)
			p := uint64(0)
			for _, s := range shifts[:n] {
				w := x
				if s >= 8 {
					w = y
				}
				p = p<<8 | w>>(56-8*(s%8))&0xff
			}
			list = append(list, ordinal{p, uint64(i)<<atBits | uint64(at)})
			at += size
		}
	}
	return list, !more
}

// touch loads some entries, which lie anywhere, all at once into the cache.
func (c *Changes) touch(o *operatorChanges, order []ordinal) int {
	n := min(len(order), touchAhead)
	for _, x := range order[:n] {
		c.seen += o.blocks[x.at>>atBits][x.at&(1<<atBits-1)]
	}
	return n
}

const touchAhead = 64

// run calls f for sorted entries of one prefix, each key once.
func (o *operatorChanges) run(order []ordinal, f func(key, value []byte)) {
	for i, x := range order {
		key, value := o.entry(x.at)
		if i+1 < len(order) {
			if next, _ := o.entry(order[i+1].at); bytes.Equal(next, key) {
				continue
			}
		}
		f(key, value)
	}
}

func prefixOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var p [8]byte
	copy(p[:], key)
	return binary.BigEndian.Uint64(p[:])
}

// radix sorts by prefix, stable, a byte at a time from the lowest; bytes that
// are the same everywhere cost nothing.
func radix(a []ordinal) []ordinal {
	var counts [8][256]int32
	for i := range a {
		p := a[i].prefix
		for d := range 8 {
			counts[d][byte(p>>(8*d))]++
		}
	}
	var b []ordinal
	for d := range 8 {
		c := &counts[d]
		if len(a) == 0 || c[byte(a[0].prefix>>(8*d))] == int32(len(a)) {
			continue
		}
		sum := int32(0)
		for i := range c {
			c[i], sum = sum, sum+c[i]
		}
		if b == nil {
			b = make([]ordinal, len(a))
		}
		for _, x := range a {
			k := byte(x.prefix >> (8 * d))
			b[c[k]] = x
			c[k]++
		}
		a, b = b, a
	}
	return a
}
