package parquet

import (
	"encoding/binary"
	"hash/maphash"
)

const (
	maxDictBytes   = 1 << 20
	maxDictEntries = 1 << 16
)

// dictionary numbers the distinct strings of one column chunk.
type dictionary struct {
	seed    maphash.Seed
	table   []uint32 // entry number + 1 by hash, a power of two
	tags    []uint32 // hash of each entry
	offsets []uint32 // of each entry in bytes, and the end
	bytes   []byte
	seen    int    // values looked up
	last    uint32 // entry of the value before
	remap   []uint32
}

func (d *dictionary) reset() {
	d.table = d.table[:64]
	clear(d.table)
	d.tags, d.offsets, d.bytes = d.tags[:0], append(d.offsets[:0], 0), d.bytes[:0]
	d.seen, d.last = 0, 0
}

func newDictionary() *dictionary {
	return &dictionary{seed: maphash.MakeSeed(), table: make([]uint32, 64), offsets: []uint32{0}}
}

func (d *dictionary) len() int { return len(d.tags) }

func (d *dictionary) entry(x uint32) []byte { return d.bytes[d.offsets[x]:d.offsets[x+1]] }

// index returns the number of s, adding it when it is new.
func (d *dictionary) index(s []byte) uint32 {
	if len(d.tags) > 0 && string(d.entry(d.last)) == string(s) {
		return d.last
	}
	h := uint32(maphash.Bytes(d.seed, s))
	mask := uint32(len(d.table) - 1)
	at := h & mask
	for ; ; at = (at + 1) & mask {
		e := d.table[at]
		if e == 0 {
			break
		}
		if d.tags[e-1] == h && string(d.entry(e-1)) == string(s) {
			d.last = e - 1
			return e - 1
		}
	}
	x := uint32(len(d.tags))
	d.table[at] = x + 1
	d.tags = append(d.tags, h)
	d.bytes = append(d.bytes, s...)
	d.offsets = append(d.offsets, uint32(len(d.bytes)))
	if 2*len(d.tags) > len(d.table) {
		d.grow()
	}
	d.last = x
	return x
}

func (d *dictionary) grow() {
	if n := 4 * len(d.table); n <= cap(d.table) {
		d.table = d.table[:n]
		clear(d.table)
	} else {
		d.table = make([]uint32, n)
	}
	mask := uint32(len(d.table) - 1)
	for x, h := range d.tags {
		at := h & mask
		for d.table[at] != 0 {
			at = (at + 1) & mask
		}
		d.table[at] = uint32(x) + 1
	}
}

// pays reports whether the dictionary is worth going on with.
func (d *dictionary) pays() bool {
	n := len(d.tags)
	if len(d.bytes) > maxDictBytes || n > maxDictEntries {
		return false
	}
	return d.seen < 512 || n <= d.seen/2 || n < 64
}

// appendPlain writes the entries as the PLAIN page of the dictionary.
func (d *dictionary) appendPlain(dst []byte) []byte {
	for x := range uint32(d.len()) {
		s := d.entry(x)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
		dst = append(dst, s...)
	}
	return dst
}
