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
	blocks    [][]byte
	bytes, n  int
	seen      byte // keeps touch from being left out
}

type operatorChanges struct {
	id      string
	entries []ordinal
}

// ordinal is a change in sorting order: the first bytes of its key, and where
// it stands (block and offset).
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
	o := &c.operators[i]
	o.entries = append(o.entries, ordinal{prefixOf(key), c.keep(key, value)})
	c.bytes += len(key) + len(value) + 4
	c.n++
}

// keep copies a change into the blocks: the lengths (of the value one more, 0
// for none), the key, the value.
func (c *Changes) keep(key, value []byte) (at uint64) {
	need := len(key) + len(value) + 2*binary.MaxVarintLen64
	last := len(c.blocks) - 1
	if last < 0 || cap(c.blocks[last])-len(c.blocks[last]) < need {
		c.blocks = append(c.blocks, make([]byte, 0, max(changeBlock, need)))
		last++
	}
	b := c.blocks[last]
	at = uint64(last)<<atBits | uint64(len(b))
	b = binary.AppendUvarint(b, uint64(len(key)))
	if value == nil {
		b = append(append(b, 0), key...)
	} else {
		b = append(append(binary.AppendUvarint(b, uint64(len(value))+1), key...), value...)
	}
	c.blocks[last] = b
	return at
}

// entry is the change that stands at a place.
func (c *Changes) entry(at uint64) (key, value []byte) {
	b := c.blocks[at>>atBits][at&(1<<atBits-1):]
	k, v, n, m := uint64(b[0]), uint64(b[1]), 1, 1
	if k|v >= 0x80 {
		k, n = binary.Uvarint(b)
		v, m = binary.Uvarint(b[n:])
	}
	b = b[n+m:]
	key = b[:k:k]
	if v > 0 {
		value = b[k : k+v-1 : k+v-1]
	}
	return key, value
}

// Len is the number of changes.
func (c *Changes) Len() int { return c.n }

// Bytes is about the size of the changes.
func (c *Changes) Bytes() int { return c.bytes }

// Reset forgets the changes and keeps some memory for the next.
func (c *Changes) Reset() {
	for i := range c.operators {
		o := &c.operators[i]
		if cap(o.entries) > keepEntries {
			o.entries = nil
		}
		o.entries = o.entries[:0]
	}
	if len(c.blocks) > 1 || len(c.blocks) == 1 && cap(c.blocks[0]) > changeBlock {
		c.blocks = nil
	}
	if len(c.blocks) == 1 {
		c.blocks[0] = c.blocks[0][:0]
	}
	c.bytes, c.n = 0, 0
}

// keepEntries bounds the memory that Reset keeps for the next epoch.
const keepEntries = 1 << 16

// Each calls f for the changes in order of operator and key, each key once.
func (c *Changes) Each(f func(operator string, key, value []byte)) {
	slices.SortFunc(c.operators, func(a, b operatorChanges) int { return strings.Compare(a.id, b.id) })
	for _, o := range c.operators {
		order := radix(o.entries) // equal keys stay in order of arrival
		touched := 0
		for from := 0; from < len(order); {
			to := from + 1
			for to < len(order) && order[to].prefix == order[from].prefix {
				to++
			}
			for touched < to {
				touched += c.touch(order[touched:])
			}
			if to-from > 1 {
				slices.SortStableFunc(order[from:to], func(x, y ordinal) int {
					a, _ := c.entry(x.at)
					b, _ := c.entry(y.at)
					return bytes.Compare(a, b)
				})
			}
			c.run(order[from:to], func(key, value []byte) { f(o.id, key, value) })
			from = to
		}
	}
}

// touch loads some entries, which lie anywhere, all at once into the cache.
func (c *Changes) touch(order []ordinal) int {
	n := min(len(order), touchAhead)
	for _, x := range order[:n] {
		c.seen += c.blocks[x.at>>atBits][x.at&(1<<atBits-1)]
	}
	return n
}

const touchAhead = 64

// run calls f for sorted entries of one prefix, each key once.
func (c *Changes) run(order []ordinal, f func(key, value []byte)) {
	for i, x := range order {
		key, value := c.entry(x.at)
		if i+1 < len(order) {
			if next, _ := c.entry(order[i+1].at); bytes.Equal(next, key) {
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
