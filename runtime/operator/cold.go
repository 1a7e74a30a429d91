package operator

import (
	"slices"

	"pipelines/tables/column"
)

// cold holds the part of an operator's keyed state that had to leave memory: runs
// of stored entries in a temporary file each, in order of the hash of their
// key. A key may have several entries (rows of a join, values of a set): all of
// one hash. An entry is in one place only: in memory, or in one run and not
// taken from it.
//
// A run is looked into by a filter and then by the first hash of its blocks; it
// costs about two bytes of memory an entry. Entries that are due at a time are
// listed in its file by that time, so that they are found without reading others
// (colddue.go). Runs of like size are merged (coldmerge.go).
//
// All operators with state go by the same steps: check puts all keys away when
// memory is refused; back brings those of a batch back before it is folded, or
// ask finds many where they are (coldask.go); due hands out what goes by its time;
// each and sweep give entries in bulk.
type cold struct {
	mem  *memory
	runs []*coldRun
	kept int // entries
	read coldReader
	kb   keyBatch // scratch of back
	key  []byte   // likewise
	e    coldEntry
	// places is scratch of look.
	places []coldPlace
	// times is scratch of due.
	times   []byte
	numbers []int32
	// wants is scratch of ask.
	wants []coldWant
}

// coldEntry is one entry. Its key and value are in the form of the checkpoint.
// Slices are valid until another block is read.
type coldEntry struct {
	hash       uint64
	until      int64 // event time at which it is due, or noExpiry
	idle       int64 // wall time at which it is due, or noExpiry
	key, value []byte
	note       []byte // what the operator remembers until the step ends
	flags      byte
}

const (
	coldDirty = 1 << iota
	coldSaved
	coldTouched
	coldMarked
)

const (
	coldBlockBytes = 2 << 10
	coldRunsMax    = 12
	// freezeShare is the part of the budget that keys take at least before they
	// leave memory, unless nothing is left.
	freezeShare = 16
	// coldQuota is the part of the budget that keys of one batch may take when
	// they come back, and leastQuota the least of it.
	coldQuota  = 64
	leastQuota = 8 << 10
)

// freezable is an operator whose keys can leave memory.
type freezable interface {
	bytes() int64 // all that it holds, what its cold holds included
	loose() int64 // what it would give up
	entries() int // how many it would write
	// freeze writes all keys to its cold and forgets them.
	freeze() error
}

func newCold(mem *memory) cold { return cold{mem: mem} }

func (c *cold) bytes() int64 {
	n := int64(cap(c.read.span) + cap(c.times) + 4*cap(c.numbers) + 24*cap(c.wants))
	for _, r := range c.runs {
		n += int64(32*cap(r.blocks) + 8*cap(r.filter) + 8*(len(r.taken)+len(r.dirty)+len(r.saved)+len(r.touched)+len(r.marked)))
		n += int64(32 * (cap(r.times[byTime]) + cap(r.times[byIdle])))
	}
	return n
}

// mayFreeze asks for total bytes and says whether the keys in memory, which take
// loose bytes of them, shall leave it. A few keys stay as long as there is
// anything left: each run costs a file.
func (m *memory) mayFreeze(total, loose int64) (bool, error) {
	spill, err := m.mayExceed(total)
	if err != nil || !spill {
		return m.tight(), err
	}
	if loose < m.p.env.Budget.Limit()/freezeShare && m.must(total) == nil {
		return false, nil
	}
	return true, nil
}

// tight says that keys leave memory without need: at every second chance.
func (m *memory) tight() bool {
	if !m.p.env.Budget.Tight() || m.p.env.TempDir == "" {
		return false
	}
	m.chances++
	return m.chances%2 == 1
}

// freezeBytes is what it takes to put n entries away: they are sorted by their hash,
// times are sorted in pieces, and a part of the file waits to be written. It is
// reserved before, with the keys.
func freezeBytes(n int) int64 {
	return int64(20*n + 16*min(n, coldTimesMax) + min(64*n, 2*coldFlush))
}

// check asks for what an operator holds, and extra bytes, and puts all its keys
// away when that is refused.
func (c *cold) check(f freezable, extra int64) error {
	if c.mem.p.env.TempDir != "" {
		extra += freezeBytes(f.entries())
	}
	spill, err := c.mem.mayFreeze(f.bytes()+extra, f.loose())
	if err != nil || !spill {
		return err
	}
	if err := c.away(f); err != nil {
		return err
	}
	return c.mem.owe(f.bytes())
}

// away puts all keys away. Each time makes a file, so runs are merged after it.
func (c *cold) away(f freezable) error {
	if err := f.freeze(); err != nil {
		return err
	}
	return c.tidy()
}

// freeze writes the entries of numbers, one of each, in order of their hash. What
// is put into w becomes the key and value of the entry.
func (c *cold) freeze(numbers []int32, hash func(g int32) uint64, entry func(g int32, e *coldEntry, w *entryWriter)) error {
	e := &c.e
	w := &entryWriter{put: func(key, value []byte) { e.key, e.value = key, value }}
	return c.write(len(numbers), func(put func(e *coldEntry) error) error {
		for _, x := range byHash(numbers, hash) {
			*e = coldEntry{hash: x.hash, until: noExpiry, idle: noExpiry}
			entry(x.g, e, w)
			if err := put(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// quota is how many bytes of keys may come back at once.
func (c *cold) quota() int64 { return max(c.mem.p.env.Budget.Limit()/coldQuota, leastQuota) }

// span is how many bytes of blocks are read at once at most.
func (c *cold) span() int64 { return min(c.mem.p.env.Budget.Limit()/coldQuota, coldSpan) }

// begin begins a step: nothing was touched in it.
func (c *cold) begin() {
	for _, r := range c.runs {
		if r.touchedLeft > 0 {
			clear(r.touched)
			r.touchedLeft = 0
		}
	}
}

// touched is the number of entries that were touched in this step.
func (c *cold) touched() (n int) {
	for _, r := range c.runs {
		n += r.touchedLeft
	}
	return n
}

// backing is how an operator takes keys back.
type backing struct {
	f     freezable
	table *groupTable
	// hash is the hash of entries, where it is not that of the table's keys: of
	// the keys in kb. It may leave it as it is.
	hash func(kb *keyBatch, keys []*column.Vector, rows []int32) []uint64
	// stored is the key in an entry as the table stores it.
	stored func(e *coldEntry) []byte
	take   func(e *coldEntry) error
}

// back brings the keys of the first rows of a batch back, of as many as memory
// allows, and says how many rows that are.
func (c *cold) back(b *backing, keys []*column.Vector, rows []int32) (int, error) {
	if c.kept == 0 || len(rows) == 0 {
		return len(rows), nil
	}
	quota := c.quota()
	if err := c.check(b.f, quota); err != nil {
		return 0, err
	}
	t, got := b.table, int64(0)
	c.kb.prepare(t.layout, keys, rows)
	hash := c.kb.hash
	if b.hash != nil {
		hash = b.hash(&c.kb, keys, rows)
	}
	mine := func(e *coldEntry) bool { return string(b.stored(e)) == string(c.key) }
	take := func(e *coldEntry) error {
		got += sizeOf(e)
		return b.take(e)
	}
	for k, r := range rows {
		null := t.single && keys[0].IsNull(int(r))
		if null {
			hash[k] = t.nullHash()
		}
		if t.group(&c.kb, k, null) >= 0 {
			continue
		}
		size := c.look(hash[k])
		if size > 0 {
			c.key = t.storedOf(c.key[:0], &c.kb, k, null)
		}
		if size > quota/8 { // a large key, or chance
			var err error
			if size, err = c.size(hash[k], mine); err != nil {
				return 0, err
			}
		}
		if k > 0 && size > 0 && got+size > quota {
			return k, nil
		}
		if size > quota { // of the first row
			if err := c.room(b.f, size); err != nil {
				return 0, err
			}
			c.look(hash[k])
		}
		if size > 0 {
			if err := c.takeFound(hash[k], mine, take); err != nil {
				return 0, err
			}
			c.read.shrink(quota)
		}
	}
	return len(rows), nil
}

// group is the group of key k of kb, or -1.
func (t *groupTable) group(kb *keyBatch, k int, null bool) int32 {
	if null {
		return t.nullGroup
	}
	g, _, _ := t.probe(kb, k)
	return g
}

// size is about what the entries of a key in c.places will take in memory.
func (c *cold) size(hash uint64, mine func(e *coldEntry) bool) (n int64, err error) {
	err = c.found(hash, func(e *coldEntry) (bool, bool, error) {
		if mine(e) {
			n += sizeOf(e)
		}
		return false, true, nil
	})
	return n, err
}

func sizeOf(e *coldEntry) int64 { return int64(len(e.key)+len(e.value)) + 64 }

// room makes room for a large key. The block that it is read from is not kept.
func (c *cold) room(f freezable, size int64) error {
	c.read.shrink(c.quota())
	if c.mem.fits(f.bytes() + size) {
		return nil
	}
	if err := c.away(f); err != nil {
		return err
	}
	return c.mem.must(f.bytes() + size)
}

// nullHash is the hash of the group of null, as hashOf gives it.
func (t *groupTable) nullHash() uint64 {
	if t.layout.stride > 0 {
		return column.HashUint64(0, 0)
	}
	return column.HashBytes(0, nil)
}

// storedOf is storedKey of key k of kb.
func (t *groupTable) storedOf(dst []byte, kb *keyBatch, k int, null bool) []byte {
	if t.single {
		if null {
			return append(dst, 0)
		}
		dst = append(dst, 1)
	}
	if s := t.layout.stride; s > 0 {
		return appendWords(dst, kb.kw[k*s:k*s+s])
	}
	return append(dst, kb.kb[kb.ke[k]:kb.ke[k+1]]...)
}

// take finds a key and takes it out; ok is false when it is not here. For keys of
// one entry.
func (c *cold) take(hash uint64, key []byte) (e coldEntry, ok bool, err error) {
	err = c.find(hash, func(x *coldEntry) (take, more bool, err error) {
		if string(x.key) != string(key) {
			return false, true, nil
		}
		e, ok = *x, true
		return true, false, nil
	})
	return e, ok, err
}

// has says whether a key is here.
func (c *cold) has(hash uint64, key []byte) (ok bool, err error) {
	err = c.find(hash, func(x *coldEntry) (take, more bool, err error) {
		ok = string(x.key) == string(key)
		return false, !ok, nil
	})
	return ok, err
}

// takeAll takes the entries of a key out.
func (c *cold) takeAll(hash uint64, mine func(e *coldEntry) bool, f func(e *coldEntry) error) error {
	c.look(hash)
	return c.takeFound(hash, mine, f)
}

// takeFound is takeAll in c.places.
func (c *cold) takeFound(hash uint64, mine func(e *coldEntry) bool, f func(e *coldEntry) error) error {
	return c.found(hash, func(e *coldEntry) (bool, bool, error) {
		if !mine(e) {
			return false, true, nil
		}
		return true, true, f(e)
	})
}

// find calls f for the entries with the hash, and takes out what f says, until it
// does not want more.
func (c *cold) find(hash uint64, f func(e *coldEntry) (take, more bool, err error)) error {
	c.look(hash)
	return c.found(hash, f)
}

// coldPlace is a block that may hold a hash.
type coldPlace struct {
	r     *coldRun
	block int
}

// look lists the blocks that may hold a hash in c.places, and says how large they
// are.
func (c *cold) look(hash uint64) (n int64) {
	c.places = c.places[:0]
	for _, r := range c.runs {
		if r.left == 0 || !r.may(hash) {
			continue
		}
		for b := r.first(hash); b < len(r.blocks) && r.blocks[b].hash <= hash; b++ {
			if r.blocks[b].left > 0 {
				c.places = append(c.places, coldPlace{r, b})
				n += int64(r.blocks[b].size)
			}
		}
	}
	return n
}

// found is find in c.places.
func (c *cold) found(hash uint64, f func(e *coldEntry) (take, more bool, err error)) error {
	for _, p := range c.places {
		r := p.r
		if err := c.read.load(r, p.block); err != nil {
			return err
		}
		for body, number := c.read.body(); body != nil; body, number = c.read.body() {
			if hashIn(body) != hash || r.taken.Get(number) {
				continue
			}
			c.e = r.of(body, number)
			take, more, err := f(&c.e)
			if take {
				c.drop(r, p.block, number)
			}
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// first is the first block that may hold a hash.
func (r *coldRun) first(hash uint64) int {
	b, _ := slices.BinarySearchFunc(r.blocks, hash, func(b coldBlock, h uint64) int {
		if b.hash < h {
			return -1
		}
		return 1
	})
	return max(b-1, 0) // equal hashes may start in the block before
}

// drop takes an entry of block b out.
func (c *cold) drop(r *coldRun, b, number int) {
	r.blocks[b].left--
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
func (c *cold) each(n int, want func(r *coldRun) bool, f func(e *coldEntry) (take bool, err error)) error {
	for _, r := range c.runs {
		for b := 0; r.left > 0 && want(r) && b < len(r.blocks); b++ {
			if r.blocks[b].left == 0 {
				continue
			}
			if err := c.read.loadNext(r, b, c.span(), r.has); err != nil {
				return err
			}
			for e, number, ok := c.read.entry(); ok; e, number, ok = c.read.entry() {
				c.e = e
				take, err := f(&c.e)
				if err != nil {
					return err
				}
				if !take {
					continue
				}
				c.drop(r, b, number)
				if n--; n == 0 {
					return nil
				}
			}
		}
	}
	return nil
}

// eachTouched takes up to n of the entries out that were touched in this step.
func (c *cold) eachTouched(n int, f func(e *coldEntry) error) error {
	return c.each(n, func(r *coldRun) bool { return r.touchedLeft > 0 }, func(e *coldEntry) (bool, error) {
		if e.flags&coldTouched == 0 {
			return false, nil
		}
		return true, f(e)
	})
}

// changes hands out the entries that no checkpoint holds in their form.
func (c *cold) changes(w *entryWriter) error {
	for _, r := range c.runs {
		for b := 0; r.dirtyLeft > 0 && b < len(r.blocks); b++ {
			if !r.changed(b) {
				continue
			}
			if err := c.read.loadNext(r, b, c.span(), r.changed); err != nil {
				return err
			}
			for body, number := c.read.body(); body != nil; body, number = c.read.body() {
				if !r.dirty.Get(number) || r.taken.Get(number) {
					continue
				}
				e := r.of(body, number)
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
	err := c.each(-1, func(*coldRun) bool { return true }, func(e *coldEntry) (bool, error) {
		w.put(e.key, e.value)
		return false, nil
	})
	if err != nil {
		panic("bug: operator: " + err.Error()) // tests only
	}
}

// close gives the files back.
func (c *cold) close() {
	for _, r := range c.runs {
		c.mem.p.closeSpill(r.file)
	}
	c.runs, c.kept, c.read = nil, 0, coldReader{}
}

// hashed is a number with the hash of its key.
type hashed struct {
	hash uint64
	g    int32
}

// byHash lists numbers in order of their hash.
func byHash(numbers []int32, hash func(g int32) uint64) []hashed {
	list := make([]hashed, len(numbers))
	for i, g := range numbers {
		list[i] = hashed{hash(g), g}
	}
	sortHashed(list)
	return list
}

func sortHashed(list []hashed) {
	slices.SortFunc(list, func(a, b hashed) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return 0
	})
}
