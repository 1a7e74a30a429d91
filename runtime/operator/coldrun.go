package operator

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"pipelines/tables/column"
)

// coldRun is one run. Its entries are numbered in order.
type coldRun struct {
	file   *spillFile
	blocks []coldBlock
	filter []uint64
	taken  column.Bits // entries that are not here any more
	// dirty entries are not in a checkpoint in this form, saved ones are in some
	// form, touched ones were used in this step.
	dirty, saved, touched column.Bits
	dirtyLeft             int
	touchedLeft           int
	left, all             int
	times                 [2][]coldTimes
}

// coldBlock is a block: where it is, its first hash and entry.
type coldBlock struct {
	at    int64
	hash  uint64
	entry int32
	left  int32
	size  int32
	sum   uint32
}

// coldWriter writes a run.
type coldWriter struct {
	r       *coldRun
	block   []byte
	pending []byte
	at      int64
	times   [2][]coldTime
}

const coldFlush = 1 << 20

// write adds a run of at most n entries, which fill gives in order of their hash.
func (c *cold) write(n int, fill func(put func(e *coldEntry) error) error) error {
	if n == 0 {
		return nil
	}
	file, err := c.mem.file()
	if err != nil {
		return err
	}
	words := (n + 63) >> 6 // at most
	w := coldWriter{r: &coldRun{
		file: file, filter: make([]uint64, (n*10+63)/64),
		taken: make(column.Bits, words), dirty: make(column.Bits, words), saved: make(column.Bits, words), touched: make(column.Bits, words),
	}}
	if err := fill(w.add); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	w.r.left = w.r.all
	c.runs = append(c.runs, w.r)
	c.kept += w.r.left
	return nil
}

// Of an entry, what its first byte says: which parts follow.
const (
	coldHasUntil = 1 << iota
	coldHasIdle
	coldHasNote
)

func (w *coldWriter) add(e *coldEntry) error {
	r := w.r
	i := r.all
	r.all++
	if len(w.block) == 0 {
		r.blocks = append(r.blocks, coldBlock{hash: e.hash, entry: int32(i)})
	}
	for k := range uint64(3) {
		p := r.place(e.hash, k)
		r.filter[p>>6] |= 1 << (p & 63)
	}
	if e.flags&coldDirty != 0 {
		r.dirty.Set(i)
		r.dirtyLeft++
	}
	if e.flags&coldSaved != 0 {
		r.saved.Set(i)
	}
	if e.flags&coldTouched != 0 {
		r.touched.Set(i)
		r.touchedLeft++
	}
	r.blocks[len(r.blocks)-1].left++
	if err := w.time(byTime, e.until, i); err != nil {
		return err
	}
	if err := w.time(byIdle, e.idle, i); err != nil {
		return err
	}
	w.block = e.append(w.block)
	if len(w.block) < coldBlockBytes {
		return nil
	}
	return w.flush()
}

// append appends the stored form of an entry, without its flags.
func (e *coldEntry) append(dst []byte) []byte {
	form, at := byte(0), len(dst)
	dst = binary.LittleEndian.AppendUint64(append(dst, 0), e.hash)
	if e.until != noExpiry {
		form |= coldHasUntil
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.until))
	}
	if e.idle != noExpiry {
		form |= coldHasIdle
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.idle))
	}
	dst = appendLong(appendLong(dst, e.key), e.value)
	if len(e.note) > 0 {
		form |= coldHasNote
		dst = appendLong(dst, e.note)
	}
	dst[at] = form
	return dst
}

// cutColdEntry reads what append wrote.
func cutColdEntry(src []byte) (e coldEntry, rest []byte, ok bool) {
	if len(src) < 9 {
		return e, nil, false
	}
	form := src[0]
	e.hash, e.until, e.idle = leUint64(src[1:]), noExpiry, noExpiry
	src = src[9:]
	if form&coldHasUntil != 0 {
		if len(src) < 8 {
			return e, nil, false
		}
		e.until, src = int64(leUint64(src)), src[8:]
	}
	if form&coldHasIdle != 0 {
		if len(src) < 8 {
			return e, nil, false
		}
		e.idle, src = int64(leUint64(src)), src[8:]
	}
	if e.key, src, ok = cutLong(src); !ok {
		return e, nil, false
	}
	if e.value, src, ok = cutLong(src); !ok {
		return e, nil, false
	}
	if form&coldHasNote != 0 {
		e.note, src, ok = cutLong(src)
	}
	return e, src, ok
}

func (w *coldWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	b := &w.r.blocks[len(w.r.blocks)-1]
	b.at, b.size, b.sum = w.at+int64(len(w.pending)), int32(len(w.block)), crc32.Checksum(w.block, castagnoli)
	w.pending = append(w.pending, w.block...)
	w.block = w.block[:0]
	if len(w.pending) < coldFlush {
		return nil
	}
	return w.out()
}

func (w *coldWriter) out() error {
	if _, err := w.r.file.f.WriteAt(w.pending, w.at); err != nil {
		return fmt.Errorf("%s: spill: %w", w.r.file.name, err)
	}
	w.at += int64(len(w.pending))
	w.pending = w.pending[:0]
	return nil
}

func (w *coldWriter) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	for kind := range w.times {
		if err := w.list(kind); err != nil {
			return err
		}
	}
	return w.out()
}

// place is the bit of the filter that stands for a hash, of three.
func (r *coldRun) place(hash, k uint64) uint64 {
	return (hash ^ hash>>29 + k*(hash>>17|1)) % uint64(64*len(r.filter))
}

func (r *coldRun) may(hash uint64) bool {
	for k := range uint64(3) {
		if p := r.place(hash, k); r.filter[p>>6]>>(p&63)&1 == 0 {
			return false
		}
	}
	return true
}

// coldReader reads blocks.
type coldReader struct {
	r       *coldRun // nil: nothing is read
	block   int
	data    []byte
	entries []coldEntry
}

// load reads block b of a run.
func (x *coldReader) load(r *coldRun, b int) error {
	if x.r == r && x.block == b {
		return nil
	}
	x.r = nil
	blk := r.blocks[b]
	x.data = grow(x.data, int(blk.size))
	if _, err := r.file.f.ReadAt(x.data, blk.at); err != nil {
		return fmt.Errorf("%s: read spilled state: %w", r.file.name, err)
	}
	if crc32.Checksum(x.data, castagnoli) != blk.sum {
		return fmt.Errorf("%s: read spilled state: %w", r.file.name, errSpill)
	}
	x.entries = x.entries[:0]
	for rest := x.data; len(rest) > 0; {
		e, more, ok := cutColdEntry(rest)
		if !ok {
			return fmt.Errorf("%s: read spilled state: %w", r.file.name, errSpill)
		}
		x.entries, rest = append(x.entries, e), more
	}
	x.r, x.block = r, b
	return nil
}

// entry is entry i of the loaded block with its flags; ok is false when it was
// taken.
func (x *coldReader) entry(i int) (e coldEntry, number int, ok bool) {
	r := x.r
	e, number = x.entries[i], int(r.blocks[x.block].entry)+i
	e.flags = r.flags(number)
	return e, number, !r.taken.Get(number)
}

func (r *coldRun) flags(number int) (f byte) {
	if r.dirty.Get(number) {
		f |= coldDirty
	}
	if r.saved.Get(number) {
		f |= coldSaved
	}
	if r.touched.Get(number) {
		f |= coldTouched
	}
	return f
}
