package state

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"
)

// Changes collects what an epoch changed, in any order: of several changes of
// one key the last counts.
type Changes struct {
	operators []*Operator
	scopes    []scoped
}

// Operator collects the changes of one operator. They are kept by key group, as
// records of a file one after another, so that what has to be sorted later lies
// close together. Calls of Add for different key groups may run side by side.
//
// While a loose file is written they go to it, block by block.
type Operator struct {
	id     string
	groups [keyGroups]groupChanges
	file   atomic.Pointer[loose]
}

// groupChanges are records in blocks, of which the first used ones hold some.
type groupChanges struct {
	blocks [][]byte
	used   int
	n      int
	given  int // of n, those that a file has taken
	bytes  int
}

const (
	firstBlock = 1 << 9
	mostBlock  = 1 << 14
	atBits     = 32 // of a place: offset in its block, the block above it
)

// room returns the block to which a record of up to n bytes is added.
func (o *Operator) room(group, n int) *[]byte {
	g := &o.groups[group]
	if k := g.used - 1; k >= 0 && cap(g.blocks[k])-len(g.blocks[k]) >= n {
		return &g.blocks[k]
	}
	if f := o.file.Load(); f != nil && g.used > 0 {
		f.take(o.id, group, g)
		if len(g.blocks) == 0 {
			g.blocks = append(g.blocks, make([]byte, 0, max(mostBlock, n)))
		}
	}
	if g.used < len(g.blocks) && cap(g.blocks[g.used]) < n {
		g.blocks = g.blocks[:g.used] // too small for this one
	}
	if g.used == len(g.blocks) {
		size := firstBlock
		if g.used > 0 {
			size = min(2*cap(g.blocks[g.used-1]), mostBlock)
		}
		g.blocks = append(g.blocks, make([]byte, 0, max(size, n)))
	}
	g.used++
	return &g.blocks[g.used-1]
}

// at returns the record at a place.
func (g *groupChanges) at(place uint64) (record, key, value []byte) {
	return cutRecord(g.blocks[place>>atBits][place&(1<<atBits-1):])
}

// reset forgets the records and keeps the memory for as many again.
func (g *groupChanges) reset() {
	if len(g.blocks) > 2*g.used+1 {
		clear(g.blocks[g.used+1:])
		g.blocks = g.blocks[:g.used+1]
	}
	for i := range g.blocks {
		g.blocks[i] = g.blocks[i][:0]
	}
	g.used, g.n, g.given, g.bytes = 0, 0, 0, 0
}

// empty leaves out the records, which a file has taken, and keeps the memory of
// one block.
func (g *groupChanges) empty() {
	if n := len(g.blocks); n > 1 {
		g.blocks[0] = g.blocks[n-1]
		clear(g.blocks[1:])
		g.blocks = g.blocks[:1]
	}
	if len(g.blocks) > 0 {
		if g.blocks[0] = g.blocks[0][:0]; cap(g.blocks[0]) < mostBlock {
			g.blocks = g.blocks[:0]
		}
	}
	g.used = 0
}

// Operator returns the changes of the operator with that id.
func (c *Changes) Operator(id string) *Operator {
	for _, o := range c.operators {
		if o.id == id {
			return o
		}
	}
	o := &Operator{id: id}
	c.operators = append(c.operators, o)
	return o
}

// Add notes a change; a nil value says that the key is gone. The slices are
// copied.
func (o *Operator) Add(key, value []byte) {
	group := groupOf(key)
	b := o.room(group, len(key)+len(value)+1+2*binary.MaxVarintLen64)
	before := len(*b)
	*b = appendRecord(*b, key, value)
	g := &o.groups[group]
	g.n++
	g.bytes += len(*b) - before
}

// appendRecord appends a change as a file holds it.
func appendRecord(b, key, value []byte) []byte {
	if value == nil {
		return appendBytes(append(b, recordDelete), key)
	}
	if len(key)|len(value) < 0x80 { // their lengths are a byte each
		b = append(append(b, recordPut, byte(len(key))), key...)
		return append(append(b, byte(len(value))), value...)
	}
	return appendBytes(appendBytes(append(b, recordPut), key), value)
}

// cutRecord is the change at the start of b; it is one that appendRecord made.
func cutRecord(b []byte) (record, key, value []byte) {
	k, n := uint64(b[1]), 1
	if k >= 0x80 {
		k, n = binary.Uvarint(b[1:])
	}
	at := 1 + n
	end := at + int(k)
	key = b[at:end:end]
	if b[0] == recordDelete {
		return b[:end:end], key, nil
	}
	v, n := uint64(b[end]), 1
	if v >= 0x80 {
		v, n = binary.Uvarint(b[end:])
	}
	at = end + n
	end = at + int(v)
	return b[:end:end], key, b[at:end:end]
}

// Scope notes how the entries of an operator go by themselves, as of now.
func (c *Changes) Scope(operator string, s Scope) {
	c.scopes = append(c.scopes, scoped{operator, s})
}

// Len is the number of changes; that the time of a scope has passed counts.
func (c *Changes) Len() (n int) {
	for _, o := range c.operators {
		for i := range o.groups {
			n += o.groups[i].n
		}
	}
	for _, s := range c.scopes {
		if s.Passed != NotPassed {
			n++
		}
	}
	return n
}

// Bytes is about the size of the changes.
func (c *Changes) Bytes() (n int) {
	for _, o := range c.operators {
		for i := range o.groups {
			n += o.groups[i].bytes
		}
	}
	return n
}

// Reset forgets the changes and keeps the memory for as many again.
func (c *Changes) Reset() {
	for _, o := range c.operators {
		for i := range o.groups {
			o.groups[i].reset()
		}
	}
	c.scopes = c.scopes[:0]
}

// writeTo writes the changes in order of operator and key, each key once.
func (c *Changes) writeTo(w *Writer) {
	slices.SortFunc(c.operators, func(a, b *Operator) int { return strings.Compare(a.id, b.id) })
	var s sorter
	for _, o := range c.operators {
		for i := range o.groups {
			if g := &o.groups[i]; g.n > 0 {
				s.sort(g)
				s.writeTo(w, o.id, g)
			}
		}
	}
}

// sorter sorts the changes of a key group.
type sorter struct {
	list, spare []ordinal
}

// ordinal is a change in sorting order: bytes of its key, and where it stands.
type ordinal struct {
	prefix uint64
	at     uint64
}

// sort lists the changes of g in order of key, equal keys in order of arrival.
func (s *sorter) sort(g *groupChanges) {
	whole := s.load(g)
	s.radix()
	list := s.list
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].prefix == list[from].prefix {
			to++
		}
		if to-from > 1 && !whole {
			slices.SortStableFunc(list[from:to], func(x, y ordinal) int {
				_, a, _ := g.at(x.at)
				_, b, _ := g.at(y.at)
				return bytes.Compare(a, b)
			})
		}
		from = to
	}
}

// writeTo writes the records that the sorter lists, of each key the last.
func (s *sorter) writeTo(w *Writer, operator string, g *groupChanges) {
	for i, x := range s.list {
		record, key, value := g.at(x.at)
		if i+1 < len(s.list) && s.list[i+1].prefix == x.prefix {
			if _, next, _ := g.at(s.list[i+1].at); bytes.Equal(next, key) {
				continue
			}
		}
		w.record(operator, record, key, value)
	}
}

// places lists the changes of g in order of arrival.
func (s *sorter) places(g *groupChanges) []ordinal {
	s.list = slices.Grow(s.list[:0], g.n)
	for k, block := range g.blocks[:g.used] {
		for at := 0; at < len(block); {
			record, _, _ := cutRecord(block[at:])
			s.list = append(s.list, ordinal{at: uint64(k)<<atBits | uint64(at)})
			at += len(record)
		}
	}
	return s.list
}

// load lists the changes of g in order of arrival. The prefix is made of the
// first bytes that are not the same in all keys; whole says that it tells all
// keys apart.
func (s *sorter) load(g *groupChanges) (whole bool) {
	var first, varying [2]uint64
	size, more := -1, false
	for _, o := range s.places(g) {
		_, key, _ := g.at(o.at)
		x, y := startOf(key)
		if size < 0 {
			size, first = len(key), [2]uint64{x, y}
		}
		more = more || len(key) > 16 || len(key) != size
		varying[0] |= x ^ first[0]
		varying[1] |= y ^ first[1]
	}
	var places [8]int // of the bytes of the prefix in the first 16
	n := 0
	for i := range 16 {
		if byte(varying[i/8]>>(56-8*(i%8))) == 0 {
			continue
		}
		if n == len(places) {
			more = true
			break
		}
		places[n] = i
		n++
	}
	for i := range s.list {
		_, key, _ := g.at(s.list[i].at)
		x, y := startOf(key)
		p := uint64(0)
		for _, at := range places[:n] {
			w := x
			if at >= 8 {
				w = y
			}
			p = p<<8 | w>>(56-8*(at%8))&0xff
		}
		s.list[i].prefix = p
	}
	return !more
}

// startOf is the first 16 bytes of a key as two numbers.
func startOf(key []byte) (x, y uint64) {
	if len(key) > 8 {
		return prefixOf(key), prefixOf(key[8:])
	}
	return prefixOf(key), 0
}

func prefixOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	p := uint64(0)
	for i, b := range key {
		p |= uint64(b) << (56 - 8*i)
	}
	return p
}

// fewOrdinals are sorted by insertion.
const fewOrdinals = 32

// radix sorts by prefix, stable, a byte at a time from the lowest; bytes that
// are the same everywhere cost nothing.
func (s *sorter) radix() {
	a := s.list
	if len(a) < fewOrdinals {
		for i := 1; i < len(a); i++ {
			for k := i; k > 0 && a[k].prefix < a[k-1].prefix; k-- {
				a[k], a[k-1] = a[k-1], a[k]
			}
		}
		return
	}
	varying := uint64(0)
	for i := range a {
		varying |= a[i].prefix ^ a[0].prefix
	}
	s.spare = slices.Grow(s.spare[:0], len(a))[:len(a)]
	b := s.spare
	for shift := 0; shift < 64; shift += 8 {
		if byte(varying>>shift) == 0 {
			continue
		}
		var places [256]int32
		for i := range a {
			places[byte(a[i].prefix>>shift)]++
		}
		sum := int32(0)
		for i, n := range places {
			places[i], sum = sum, sum+n
		}
		for _, x := range a {
			k := byte(x.prefix >> shift)
			b[places[k]] = x
			places[k]++
		}
		a, b = b, a
	}
	s.list, s.spare = a, b
}
