package operator

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"pipelines/tables/column"
)

// cold holds the keys of a part of state that had to leave memory: runs of
// stored entries in a temporary file each, in order of the hash of their key. A
// key is in one place only: in memory, or in one run and not taken from it.
//
// A run is looked into by a filter and then by the first hash of its blocks; it
// costs about two bytes of memory a key.
type cold struct {
	mem  *memory
	runs []*coldRun
	kept int // entries
	read coldReader
}

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
	left                  int
	first, last           int64 // times at which the first and the last entry go
	fresh                 bool  // some entries are of this step
}

// coldReader reads blocks.
type coldReader struct {
	r       *coldRun // nil: nothing is read
	block   int
	gone    int64 // entries of earlier steps up to this time have gone
	data    []byte
	entries []coldEntry
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

// coldEntry is one entry. Slices are valid until another block is read.
type coldEntry struct {
	hash       uint64
	until      int64
	key, value []byte
	flags      byte
}

const (
	coldDirty = 1 << iota
	coldSaved
	coldTouched
)

const (
	coldBlockBytes = 2 << 10
	coldRunsMax    = 12
)

// mayFreeze asks for total bytes and says whether the keys in memory, which take
// loose bytes of them, shall leave it. A few keys stay as long as there is
// anything left: each run costs a file.
func (m *memory) mayFreeze(total, loose int64) (bool, error) {
	spill, err := m.mayExceed(total)
	if err != nil || !spill {
		return false, err
	}
	if loose < m.p.env.Budget.Limit()/freezeShare && m.must(total) == nil {
		return false, nil
	}
	return true, nil
}

// freezeShare is the part of the budget that keys take at least before they
// leave memory, unless nothing is left.
const freezeShare = 16

func newCold(mem *memory) cold { return cold{mem: mem, read: coldReader{gone: nonePassed}} }

func (c *cold) bytes() int64 {
	n := int64(cap(c.read.data) + 80*cap(c.read.entries))
	for _, r := range c.runs {
		n += int64(32*cap(r.blocks) + 8*cap(r.filter) + 8*(len(r.taken)+len(r.dirty)+len(r.saved)+len(r.touched)))
	}
	return n
}

// coldWriter writes a run.
type coldWriter struct {
	r       *coldRun
	block   []byte
	pending []byte
	at      int64
}

const coldFlush = 1 << 20

// write adds a run of at most n entries, which next gives in order of their hash.
func (c *cold) write(n int, next func() (coldEntry, bool, error)) error {
	file, err := c.mem.file()
	if err != nil {
		return err
	}
	words := (n + 63) >> 6 // at most
	r := &coldRun{
		file: file, filter: make([]uint64, max(1, (n*10+63)/64)), first: noExpiry, last: -noExpiry, fresh: true,
		taken: make(column.Bits, words), dirty: make(column.Bits, words), saved: make(column.Bits, words), touched: make(column.Bits, words),
	}
	w := coldWriter{r: r}
	for {
		e, ok, err := next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := w.add(r.left, e); err != nil {
			return err
		}
		r.left++
	}
	if err := w.end(); err != nil {
		return err
	}
	c.runs = append(c.runs, r)
	c.kept += r.left
	return nil
}

func (w *coldWriter) add(i int, e coldEntry) error {
	r := w.r
	if len(w.block) == 0 {
		r.blocks = append(r.blocks, coldBlock{hash: e.hash, entry: int32(i)})
	}
	for k := range uint64(3) {
		p := r.place(e.hash, k)
		r.filter[p>>6] |= 1 << (p & 63)
	}
	r.first, r.last = min(r.first, e.until), max(r.last, e.until)
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
	w.block = binary.LittleEndian.AppendUint64(w.block, e.hash)
	w.block = binary.LittleEndian.AppendUint64(w.block, uint64(e.until))
	w.block = appendLong(appendLong(w.block, e.key), e.value)
	if len(w.block) < coldBlockBytes {
		return nil
	}
	return w.flush()
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
		if len(rest) < 16 {
			return fmt.Errorf("%s: read spilled state: %w", r.file.name, errSpill)
		}
		e := coldEntry{hash: leUint64(rest), until: int64(leUint64(rest[8:]))}
		var ok1, ok2 bool
		e.key, rest, ok1 = cutLong(rest[16:])
		e.value, rest, ok2 = cutLong(rest)
		if !ok1 || !ok2 {
			return fmt.Errorf("%s: read spilled state: %w", r.file.name, errSpill)
		}
		x.entries = append(x.entries, e)
	}
	x.r, x.block = r, b
	return nil
}

// entry is entry i of the loaded block with its flags; ok is false when it was
// taken or has gone.
func (x *coldReader) entry(i int) (e coldEntry, number int, ok bool) {
	r := x.r
	e, number = x.entries[i], int(r.blocks[x.block].entry)+i
	if r.dirty.Get(number) {
		e.flags |= coldDirty
	}
	if r.saved.Get(number) {
		e.flags |= coldSaved
	}
	if r.touched.Get(number) {
		e.flags |= coldTouched
	}
	return e, number, !r.taken.Get(number) && (r.fresh || e.until > x.gone)
}

// take finds a key and takes it out; ok is false when it is not here.
func (c *cold) take(hash uint64, key []byte) (e coldEntry, ok bool, err error) {
	for k := len(c.runs) - 1; k >= 0; k-- {
		r := c.runs[k]
		if r.left == 0 || !r.may(hash) {
			continue
		}
		b, found := slices.BinarySearchFunc(r.blocks, hash, func(b coldBlock, h uint64) int {
			switch {
			case b.hash < h:
				return -1
			case b.hash > h:
				return 1
			}
			return 0
		})
		if !found || b > 0 { // equal hashes may start in the block before
			b--
		}
		for b = max(b, 0); b < len(r.blocks) && r.blocks[b].hash <= hash; b++ {
			if r.blocks[b].left == 0 {
				continue
			}
			if err := c.read.load(r, b); err != nil {
				return e, false, err
			}
			for i := range c.read.entries {
				if x := &c.read.entries[i]; x.hash != hash || string(x.key) != string(key) {
					continue
				}
				if e, number, ok := c.read.entry(i); ok {
					c.drop(number)
					return e, true, nil
				}
			}
		}
	}
	return e, false, nil
}

// drop takes an entry of the loaded block out.
func (c *cold) drop(number int) {
	r := c.read.r
	r.blocks[c.read.block].left--
	r.taken.Set(number)
	r.left--
	c.kept--
	if r.dirty.Get(number) {
		r.dirtyLeft--
	}
	if r.touched.Get(number) {
		r.touchedLeft--
	}
}

// each calls f for the entries of the runs that want says; f says whether to
// take the entry out. It stops after f has taken n.
func (c *cold) each(n int, want func(r *coldRun) bool, f func(e coldEntry) (take bool, err error)) error {
	for _, r := range c.runs {
		first, all := noExpiry, want(r)
		for b := 0; r.left > 0 && all && b < len(r.blocks); b++ {
			if r.blocks[b].left == 0 {
				continue
			}
			if err := c.read.load(r, b); err != nil {
				return err
			}
			for i := range c.read.entries {
				e, number, ok := c.read.entry(i)
				if !ok {
					continue
				}
				take, err := f(e)
				if err != nil {
					return err
				}
				if !take {
					first = min(first, e.until)
					continue
				}
				c.drop(number)
				if n--; n == 0 {
					return nil
				}
			}
		}
		if all {
			r.first = first
		}
	}
	return nil
}

// changes hands out the entries that no checkpoint holds in their form.
func (c *cold) changes(w *entryWriter) error {
	for _, r := range c.runs {
		for b := 0; r.dirtyLeft > 0 && b < len(r.blocks); b++ {
			if err := c.read.load(r, b); err != nil {
				return err
			}
			for i := range c.read.entries {
				e, number, ok := c.read.entry(i)
				if !ok || e.flags&coldDirty == 0 {
					continue
				}
				w.put(e.key, e.value)
				r.dirty.Unset(number)
				r.saved.Set(number)
				r.dirtyLeft--
			}
		}
	}
	return nil
}

// snapshot hands out all entries.
func (c *cold) snapshot(w *entryWriter) {
	err := c.each(-1, func(*coldRun) bool { return true }, func(e coldEntry) (bool, error) {
		w.put(e.key, e.value)
		return false, nil
	})
	if err != nil {
		panic("bug: operator: " + err.Error()) // tests only
	}
}

// lapse ends a step: it drops the runs of which all entries have gone by w and says how many
// entries those were.
func (c *cold) lapse(w int64) int {
	n := 0
	c.read.gone = max(c.read.gone, w)
	for _, r := range c.runs {
		r.fresh = false
	}
	c.runs = slices.DeleteFunc(c.runs, func(r *coldRun) bool {
		if r.left > 0 && r.last > w {
			return false
		}
		n += r.left
		c.kept -= r.left
		c.mem.p.closeSpill(r.file)
		return true
	})
	return n
}

// tidy merges the runs into one when there are many.
func (c *cold) tidy() error {
	c.read = coldReader{gone: c.read.gone}
	c.runs = slices.DeleteFunc(c.runs, func(r *coldRun) bool {
		if r.left == 0 {
			c.mem.p.closeSpill(r.file)
		}
		return r.left == 0
	})
	if len(c.runs) <= coldRunsMax {
		return nil
	}
	old, rows := c.runs, c.kept
	cursors := make([]coldCursor, len(old))
	for i := range cursors {
		cursors[i].r, cursors[i].read.gone = old[i], c.read.gone
		if err := cursors[i].next(); err != nil {
			return err
		}
	}
	c.runs, c.kept, c.read = nil, 0, coldReader{gone: c.read.gone}
	var buf []byte
	err := c.write(rows, func() (coldEntry, bool, error) {
		var best *coldCursor
		for i := range cursors {
			if x := &cursors[i]; x.ok && (best == nil || x.e.hash < best.e.hash) {
				best = x
			}
		}
		if best == nil {
			return coldEntry{}, false, nil
		}
		e := best.e
		buf = append(append(buf[:0], e.key...), e.value...)
		e.key, e.value = buf[:len(e.key):len(e.key)], buf[len(e.key):]
		return e, true, best.next()
	})
	for _, r := range old {
		c.mem.p.closeSpill(r.file)
	}
	return err
}

// coldCursor walks through what a run still has.
type coldCursor struct {
	r        *coldRun
	read     coldReader
	block, i int
	e        coldEntry
	ok       bool
}

func (x *coldCursor) next() error {
	for x.block < len(x.r.blocks) {
		if err := x.read.load(x.r, x.block); err != nil {
			return err
		}
		for x.i < len(x.read.entries) {
			e, _, ok := x.read.entry(x.i)
			x.i++
			if ok {
				x.e, x.ok = e, true
				return nil
			}
		}
		x.block, x.i = x.block+1, 0
	}
	x.ok = false
	return nil
}

// close gives the files back.
func (c *cold) close() {
	for _, r := range c.runs {
		c.mem.p.closeSpill(r.file)
	}
	c.runs, c.kept = nil, 0
}

// byHash lists numbers in order of their hash.
func byHash(numbers []int32, hash func(g int32) uint64) []int32 {
	type pair struct {
		hash uint64
		g    int32
	}
	list := make([]pair, len(numbers))
	for i, g := range numbers {
		list[i] = pair{hash(g), g}
	}
	slices.SortFunc(list, func(a, b pair) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
	out := make([]int32, len(list))
	for i, p := range list {
		out[i] = p.g
	}
	return out
}
