package state

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// Changes collects what an epoch changed, in any order: of several changes of
// one key the last counts.
type Changes struct {
	operators []operatorChanges
	bytes, n  int
}

type operatorChanges struct {
	id      string
	entries []change
}

type change struct{ key, value []byte }

// Add notes a change; a nil value says that the key is gone. The slices are
// kept.
func (c *Changes) Add(operator string, key, value []byte) {
	i := len(c.operators) - 1
	if i < 0 || c.operators[i].id != operator {
		i = slices.IndexFunc(c.operators, func(o operatorChanges) bool { return o.id == operator })
	}
	if i < 0 {
		i = len(c.operators)
		c.operators = append(c.operators, operatorChanges{id: operator})
	}
	c.operators[i].entries = append(c.operators[i].entries, change{key, value})
	c.bytes += len(key) + len(value) + 4
	c.n++
}

// Len is the number of changes.
func (c *Changes) Len() int { return c.n }

// Bytes is about the size of the changes.
func (c *Changes) Bytes() int { return c.bytes }

// Reset forgets the changes.
func (c *Changes) Reset() {
	for i := range c.operators {
		o := &c.operators[i]
		if cap(o.entries) > keepEntries {
			o.entries = nil
		}
		clear(o.entries)
		o.entries = o.entries[:0]
	}
	c.bytes, c.n = 0, 0
}

// keepEntries bounds the memory that Reset keeps for the next epoch.
const keepEntries = 1 << 16

// Each calls f for the changes in order of operator and key, each key once.
func (c *Changes) Each(f func(operator string, key, value []byte)) {
	slices.SortFunc(c.operators, func(a, b operatorChanges) int { return strings.Compare(a.id, b.id) })
	for _, o := range c.operators {
		order := o.order()
		for i, at := range order {
			e := &o.entries[at.at]
			if i+1 < len(order) && order[i+1].prefix == at.prefix && bytes.Equal(o.entries[order[i+1].at].key, e.key) {
				continue
			}
			f(o.id, e.key, e.value)
		}
	}
}

// ordinal is a change in sorting order: the first bytes of its key and its
// number.
type ordinal struct {
	prefix uint64
	at     int32
}

func (e *change) prefix() uint64 {
	if len(e.key) >= 8 {
		return binary.BigEndian.Uint64(e.key)
	}
	var p [8]byte
	copy(p[:], e.key)
	return binary.BigEndian.Uint64(p[:])
}

// order sorts the entries by key, equal keys by arrival.
func (o *operatorChanges) order() []ordinal {
	order := make([]ordinal, len(o.entries))
	for i := range o.entries {
		order[i] = ordinal{o.entries[i].prefix(), int32(i)}
	}
	order = radix(order)
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && order[to].prefix == order[from].prefix {
			to++
		}
		if to-from > 1 {
			slices.SortStableFunc(order[from:to], func(x, y ordinal) int {
				return bytes.Compare(o.entries[x.at].key, o.entries[y.at].key)
			})
		}
		from = to
	}
	return order
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
