package operator

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

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
	// marked entries have a 1 as their first byte, whatever was written; nil for
	// none.
	marked      column.Bits
	dirtyLeft   int
	touchedLeft int
	left, all   int
	times       [2][]coldTimes
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
		file: file, filter: make([]uint64, (n*10/filterBits+1)*(filterBits/64)),
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
	line, h := r.line(e.hash)
	for range filterHashes {
		line[h>>6%(filterBits/64)] |= 1 << (h & 63)
		h >>= filterShift
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
	if e.flags&coldMarked != 0 {
		r.mark(i)
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

// append appends the stored form of an entry, without its flags: its length, and
// then what entryOf reads.
func (e *coldEntry) append(dst []byte) []byte {
	form, n := byte(0), 9+longSize(e.key)+longSize(e.value)
	if e.until != noExpiry {
		form, n = form|coldHasUntil, n+8
	}
	if e.idle != noExpiry {
		form, n = form|coldHasIdle, n+8
	}
	if len(e.note) > 0 {
		form, n = form|coldHasNote, n+longSize(e.note)
	}
	dst = append(binary.AppendUvarint(dst, uint64(n)), form)
	dst = binary.LittleEndian.AppendUint64(dst, e.hash)
	if form&coldHasUntil != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.until))
	}
	if form&coldHasIdle != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.idle))
	}
	dst = appendLong(appendLong(dst, e.key), e.value)
	if form&coldHasNote != 0 {
		dst = appendLong(dst, e.note)
	}
	return dst
}

// longSize is how many bytes appendLong appends.
func longSize(x []byte) int { return len(x) + max(1, (bits.Len(uint(len(x)))+6)/7) }

// hashIn is the hash in a stored entry.
func hashIn(body []byte) uint64 { return leUint64(body[1:]) }

// entryOf is a stored entry. Its checksum was right, so it is whole.
func entryOf(body []byte) (e coldEntry) {
	form := body[0]
	e.hash, e.until, e.idle = hashIn(body), noExpiry, noExpiry
	rest := body[9:]
	if form&coldHasUntil != 0 {
		e.until, rest = int64(leUint64(rest)), rest[8:]
	}
	if form&coldHasIdle != 0 {
		e.idle, rest = int64(leUint64(rest)), rest[8:]
	}
	var ok [3]bool
	e.key, rest, ok[0] = cutLong(rest)
	e.value, rest, ok[1] = cutLong(rest)
	if ok[2] = true; form&coldHasNote != 0 {
		e.note, _, ok[2] = cutLong(rest)
	}
	if !ok[0] || !ok[1] || !ok[2] {
		panic("bug: operator: a spilled entry has another form")
	}
	return e
}

func (w *coldWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	size, err := w.size(len(w.block))
	if err != nil {
		return err
	}
	b := &w.r.blocks[len(w.r.blocks)-1]
	b.at, b.size, b.sum = w.at+int64(len(w.pending)), size, crc32.Checksum(w.block, castagnoli)
	w.pending = append(w.pending, w.block...)
	w.block = w.block[:0]
	if len(w.pending) < coldFlush {
		return nil
	}
	return w.out()
}

// size is the size of a block, which ends with the entry that fills it.
func (w *coldWriter) size(n int) (int32, error) {
	if n > math.MaxInt32 {
		return 0, fmt.Errorf("%s: spill: the state of one key takes %d MiB, the most is %d; reduce the input", w.r.file.name, n>>20, math.MaxInt32>>20)
	}
	return int32(n), nil
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

// A filter has 10 bits an entry in lines of the size of a cache line; those of a
// hash are all in one.
const (
	filterBits   = 512
	filterHashes = 4
	filterShift  = 9
)

// line is the line of a hash and the bits in it, filterShift each.
func (r *coldRun) line(hash uint64) ([]uint64, uint64) {
	const words = filterBits / 64
	i, _ := bits.Mul64(hash*0x9e3779b97f4a7c15, uint64(len(r.filter)/words))
	return r.filter[i*words : (i+1)*words], hash ^ hash>>31
}

func (r *coldRun) may(hash uint64) bool {
	line, h := r.line(hash)
	for range filterHashes {
		if line[h>>6%(filterBits/64)]>>(h&63)&1 == 0 {
			return false
		}
		h >>= filterShift
	}
	return true
}

// coldReader reads blocks, some at once where the caller says which come next.
type coldReader struct {
	r        *coldRun // nil: nothing is read
	from, to int      // the blocks of r that span holds
	span     []byte
	whole    column.Bits // blocks of span whose checksum was right: then marks are set in it
	block    int         // the one that data is, or -1
	data     []byte      // of span
	at       int         // of the next entry
	next     int         // its number
}

// coldSpan is how many bytes are read at once at most, coldGap how many of them,
// in a row, need not be wanted: reading them costs less than another call.
const (
	coldSpan   = 128 << 10
	cursorSpan = 16 << 10 // the same where many runs are read side by side
	coldGap    = 8 << 10
)

// load reads block b of a run, and stands before its first entry.
func (x *coldReader) load(r *coldRun, b int) error { return x.loadOf(r, b, b+1) }

// loadOf is load that may read the blocks up to block to as well.
func (x *coldReader) loadOf(r *coldRun, b, to int) error {
	blk := &r.blocks[b]
	x.at, x.next = 0, int(blk.entry)
	if x.r == r && x.block == b {
		return nil
	}
	x.block = -1
	if !x.holds(r, b) {
		x.r = nil
		end := &r.blocks[to-1]
		x.span = grow(x.span, int(end.at-blk.at)+int(end.size))
		if _, err := r.file.f.ReadAt(x.span, blk.at); err != nil {
			return fmt.Errorf("%s: read spilled state: %w", r.file.name, err)
		}
		x.r, x.from, x.to = r, b, to
		x.whole = x.whole.Grow(to - b)
		clear(x.whole)
	}
	at := blk.at - r.blocks[x.from].at
	x.data = x.span[at : at+int64(blk.size)]
	if !x.whole.Get(b-x.from) && crc32.Checksum(x.data, castagnoli) != blk.sum {
		return fmt.Errorf("%s: read spilled state: %w", r.file.name, errSpill)
	}
	x.whole.Set(b - x.from)
	x.block = b
	return nil
}

// loadNext is load of block b that reads, up to most bytes, those that follow it
// too and are wanted.
func (x *coldReader) loadNext(r *coldRun, b int, most int64, wanted func(b int) bool) error {
	if x.holds(r, b) {
		return x.load(r, b)
	}
	first, to := r.blocks[b].at, b+1
	for i, end := b+1, r.end(b); i < len(r.blocks) && r.end(i)-first <= most && r.blocks[i].at-end <= coldGap; i++ {
		if wanted(i) {
			to, end = i+1, r.end(i)
		}
	}
	return x.loadOf(r, b, to)
}

// shrink gives the buffer back if it is larger than most.
func (x *coldReader) shrink(most int64) {
	if int64(cap(x.span)) > most {
		*x = coldReader{}
	}
}

// holds says that block b was read.
func (x *coldReader) holds(r *coldRun, b int) bool { return x.r == r && b >= x.from && b < x.to }

// end is where block b ends.
func (r *coldRun) end(b int) int64 { return r.blocks[b].at + int64(r.blocks[b].size) }

// has says whether block b has entries.
func (r *coldRun) has(b int) bool { return r.blocks[b].left > 0 }

// changed says whether block b has dirty entries.
func (r *coldRun) changed(b int) bool {
	i, to := int(r.blocks[b].entry), r.all
	if b+1 < len(r.blocks) {
		to = int(r.blocks[b+1].entry)
	}
	for r.blocks[b].left > 0 && i < to && !r.dirty.Get(i) {
		i++
	}
	return r.blocks[b].left > 0 && i < to
}

// mark sets the first byte of an entry to 1.
func (r *coldRun) mark(number int) {
	if r.marked == nil {
		r.marked = make(column.Bits, len(r.taken))
	}
	r.marked.Set(number)
}

// of is the entry in body, with its flags.
func (r *coldRun) of(body []byte, number int) coldEntry {
	e := entryOf(body)
	e.flags = r.flags(number)
	if e.flags&coldMarked != 0 {
		e.value[0] = 1
	}
	return e
}

// body is the next stored entry of the block, taken or not, nil at its end.
func (x *coldReader) body() (body []byte, number int) {
	if x.at >= len(x.data) {
		return nil, 0
	}
	n, w := binary.Uvarint(x.data[x.at:])
	from, number := x.at+w, x.next
	x.at, x.next = from+int(n), number+1
	return x.data[from:x.at:x.at], number
}

// entry is the next entry of the block that was not taken.
func (x *coldReader) entry() (e coldEntry, number int, ok bool) {
	for {
		body, number := x.body()
		if body == nil {
			return e, 0, false
		}
		if !x.r.taken.Get(number) {
			return x.r.of(body, number), number, true
		}
	}
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
	if r.marked.Get(number) {
		f |= coldMarked
	}
	return f
}
