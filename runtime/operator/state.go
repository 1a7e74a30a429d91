package operator

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Put takes one piece of an operator's state in the form in which it is
// stored. The first byte of the key is its key group: entries of one group
// move together. A nil value says that the key is gone. Key and value are valid
// during the call only.
type Put func(key, value []byte)

// StateHandle is the state of one operator as a checkpoint sees it. It is used
// between steps, by one goroutine.
type StateHandle interface {
	// ID names the operator in the checkpoint.
	ID() string
	// Meaning changes when the stored state means another thing.
	Meaning() string
	// Changes calls put for each key that was changed or removed since the last
	// Changes, so that applied in order they bring a copy up to date. It is
	// called after each step. Of a large step put is called side by side, for
	// entries of different parts.
	Changes(put Put) error
	// Cut is Changes of which some may be left: keys says how much, and drain,
	// if there is something, has to be called before the next Cut or Changes. It
	// may run beside the pushes of the next step, up to its end.
	Cut(put Put) (keys int, drain func(), err error)
	// Number says to which changelog, counted from 1, the entries of the next Cut
	// go. keys is how many keys there are, and ok whether Renew works until then.
	Number(changelog uint32) (keys int, ok bool)
	// Renew has the next Cut hand out some keys again; done says that after it
	// none is left.
	Renew(r Renewal) (done bool)
	// Expiry says how entries go by themselves. Asked before Changes, which
	// does not list what went that way; all instances of an operator say the same
	// but for Passed, of which the greatest counts.
	Expiry() Expiry
	// Snapshot calls put for each living key.
	Snapshot(put Put)
	// Restore takes one entry, before the first step: of each living key one.
	Restore(key, value []byte) error
	// RestoreAll is Restore of many entries of one part.
	RestoreAll(entries *Entries) error
	// Parts is the number of parts of which each can be restored beside the
	// others: key group g belongs to part g*Parts()/256.
	Parts() int
}

// Entries are stored entries, kept one after another.
type Entries struct {
	// Changelog is the number of the one that they were read from, 0 for unknown.
	Changelog uint32

	bytes []byte
	ends  []int32 // of a key, of its value, …
}

// Add copies an entry.
func (e *Entries) Add(key, value []byte) {
	e.bytes = append(e.bytes, key...)
	e.ends = append(e.ends, int32(len(e.bytes)))
	e.bytes = append(e.bytes, value...)
	e.ends = append(e.ends, int32(len(e.bytes)))
}

// Len is the number of entries.
func (e *Entries) Len() int { return len(e.ends) / 2 }

// Bytes is their size.
func (e *Entries) Bytes() int { return len(e.bytes) }

// Reset forgets them.
func (e *Entries) Reset() { e.bytes, e.ends = e.bytes[:0], e.ends[:0] }

// At returns an entry.
func (e *Entries) At(i int) (key, value []byte) {
	from := int32(0)
	if i > 0 {
		from = e.ends[2*i-1]
	}
	k, v := e.ends[2*i], e.ends[2*i+1]
	return e.bytes[from:k:k], e.bytes[k:v:v]
}

// restoreEach restores entries one by one.
func restoreEach(e *Entries, restore func(key, value []byte) error) error {
	for i := range e.Len() {
		if err := restore(e.At(i)); err != nil {
			return err
		}
	}
	return nil
}

// bulk is a part that restores many keys at less cost than one by one.
type bulk interface{ restoreAll(e *Entries) error }

// Expiry says that each entry holds a time, 8 bytes little-endian at offset At of
// its key or value, and is gone when it is not after Passed. At is -1 when
// entries go only as Changes says. The times of one key never get less.
type Expiry struct {
	InKey  bool
	At     int
	Passed int64 // nonePassed: nothing since the last Changes
}

const nonePassed = int64(math.MinInt64)

// explicit is the Expiry of state whose Changes lists all that goes.
type explicit struct{}

// Expiry says that entries go only as Changes says.
func (explicit) Expiry() Expiry { return Expiry{At: -1, Passed: nonePassed} }

// entryWriter hands out entries.
type entryWriter struct{ put Put }

// write hands out an entry whose key is buf[:n] and whose value is the rest.
func (w *entryWriter) write(buf []byte, n int) { w.put(buf[:n:n], buf[n:]) }

// delete hands out the removal of a key.
func (w *entryWriter) delete(key []byte) { w.put(key, nil) }

// stateful is an operator with state as the plan keeps it.
type stateful interface {
	StateHandle
	count() OperatorCount
}

// State lists the stateful operators, the one nearest the output first.
func (p *Plan) State() []StateHandle {
	out := make([]StateHandle, len(p.state))
	for i, s := range p.state {
		out[i] = s
	}
	return out
}

// rowLayout names the columns of rows that are kept whole, in their order.
func rowLayout(attrs []logical.Attr) string {
	var b strings.Builder
	for i, a := range attrs {
		b.WriteString([...]string{" rows(", ","}[min(i, 1)] + strings.ToLower(a.Name) + " " + a.Type.String())
	}
	if len(attrs) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

// errState says that a stored entry cannot be read.
func errState(id string) error { return fmt.Errorf("restore state %s: entry is damaged", id) }

// keyGroup is the key group of a hash.
func keyGroup(hash uint64) uint8 { return uint8(hash >> 56) }

// storedKey appends the stored form of a group's key.
func (t *groupTable) storedKey(dst []byte, g int32) []byte {
	if t.single {
		if g == t.nullGroup {
			return append(dst, 0)
		}
		dst = append(dst, 1)
	}
	if s := t.layout.stride; s > 0 {
		return appendWords(dst, t.wordsOf(g))
	}
	return append(dst, t.key(g)...)
}

// groupOf returns the key group of a group.
func (t *groupTable) groupOf(g int32) uint8 {
	if g == t.nullGroup {
		return 0
	}
	return keyGroup(t.hashOf(g))
}

// loadKey puts a stored key into the scratch as key 0; ok is false when it is
// damaged. null says that it is the null key of a single column.
func (t *groupTable) loadKey(key []byte) (null, ok bool) {
	if t.single {
		if len(key) == 0 {
			return false, false
		}
		null = key[0] == 0
		key = key[1:]
	}
	t.hash = grow(t.hash, 1)
	if s := t.layout.stride; s > 0 {
		t.kw = grow(t.kw, s)
		if null {
			return true, len(key) == 0
		}
		if len(key) != 8*s {
			return false, false
		}
		for i := range s {
			t.kw[i] = leUint64(key[8*i:])
		}
		hashWords(t.kw[:s], s, t.hash[:1])
		return false, true
	}
	if !t.layout.text {
		if t.check == nil {
			t.check = newRowCodec(t.layout.types)
		}
		if t.check.decode(key) != nil {
			return false, false
		}
	}
	t.kb = append(t.kb[:0], key...)
	t.ke = append(t.ke[:0], 0, int32(len(key)))
	t.hash[0] = column.HashBytes(0, t.kb)
	return null, true
}

// restoreKey finds or makes the group of a stored key.
func (t *groupTable) restoreKey(key []byte) (int32, bool) {
	null, ok := t.loadKey(key)
	if !ok {
		return -1, false
	}
	t.slots.reserve(1)
	t.fresh = t.fresh[:0]
	if null {
		if t.nullGroup < 0 {
			t.nullGroup = t.appendKey(0, true)
		}
		return t.nullGroup, true
	}
	return t.put(0), true
}

// restoreKeys is restoreKey of many keys: key gives the one with number k.
func (t *groupTable) restoreKeys(n int, key func(k int) []byte, out []int32) bool {
	t.hash = grow(t.hash, n)
	t.kb, t.ke = t.kb[:0], append(t.ke[:0], 0)
	s := t.layout.stride
	t.kw = grow(t.kw, n*s)
	var nulls []int32
	for k := range n {
		b := key(k)
		if t.single {
			if len(b) == 0 {
				return false
			}
			if b[0] == 0 {
				nulls = append(nulls, int32(k))
				b = b[:1]
			}
			b = b[1:]
		}
		if s > 0 {
			if len(b) != 8*s && !(t.single && len(b) == 0) {
				return false
			}
			for i := range len(b) / 8 {
				t.kw[k*s+i] = leUint64(b[8*i:])
			}
			continue
		}
		if !t.layout.text {
			if t.check == nil {
				t.check = newRowCodec(t.layout.types)
			}
			if t.check.decode(b) != nil {
				return false
			}
		}
		t.kb = append(t.kb, b...)
		t.ke = append(t.ke, int32(len(t.kb)))
		t.hash[k] = column.HashBytes(0, b)
	}
	if s > 0 {
		hashWords(t.kw, s, t.hash)
	}
	t.slots.reserve(n)
	t.fresh = t.fresh[:0]
	for k := range n {
		if k%touchAhead == 0 {
			t.guess(&t.keyBatch, k, min(k+touchAhead, n), out)
		}
		if len(nulls) == 0 || nulls[0] != int32(k) {
			if g := out[k]; g < 0 || !t.equal(&t.keyBatch, g, k) {
				out[k] = t.put(k)
			}
			continue
		}
		nulls = nulls[1:]
		if t.nullGroup < 0 {
			t.nullGroup = t.appendKey(k, true)
		}
		out[k] = t.nullGroup
	}
	return true
}

// lookupKey finds the group of a stored key, or -1.
func (t *groupTable) lookupKey(key []byte) int32 {
	null, ok := t.loadKey(key)
	if !ok {
		return -1
	}
	if null {
		return t.nullGroup
	}
	g, _, _ := t.probe(&t.keyBatch, 0)
	return g
}

func leUint64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// rowCodec turns rows into bytes and back through scratch columns.
type rowCodec struct {
	cols []*column.Vector
}

func newRowCodec(types []schema.Type) *rowCodec {
	c := &rowCodec{}
	for _, t := range types {
		c.cols = append(c.cols, column.New(t))
	}
	return c
}

// clear empties the scratch.
func (c *rowCodec) clear() {
	for _, v := range c.cols {
		v.Truncate(0)
	}
}

// encode appends the only row of the scratch.
func (c *rowCodec) encode(dst []byte) []byte { return exact.row(dst, c.cols, 0) }

// decode makes the scratch hold the row.
func (c *rowCodec) decode(src []byte) error {
	c.clear()
	return decodeRow(src, c.cols)
}

// setCodec is a rowCodec for the arguments in a distinct set, whose keys start
// with the group's number.
type setCodec struct {
	rowCodec
	keys  []*column.Vector
	entry [1]int32
}

func newSetCodec(args []schema.Type) *setCodec {
	c := &setCodec{rowCodec: *newRowCodec(args)}
	c.keys = append([]*column.Vector{column.New(schema.Of(schema.Int32))}, c.cols...)
	return c
}

// load makes the scratch hold the arguments of an entry of the set.
func (c *setCodec) load(set *groupTable, entry int32) {
	for _, v := range c.keys {
		v.Truncate(0)
	}
	c.entry[0] = entry
	set.appendKeys(c.entry[:], c.keys)
}

// changeLog notes which numbers changed and which keys went since the last
// changelog.
type changeLog struct {
	dirty column.Bits
	saved column.Bits // numbers that a checkpoint holds
	list  []int32
	gone  []byte // removed keys, one after another
	ends  []int
	many  bool // some that are dirty are not listed

	stamps stamps
}

// touchAll is touch of many numbers.
func (c *changeLog) touchAll(numbers column.Bits) {
	c.dirty = c.dirty.Grow(64 * len(numbers))
	for i, word := range numbers {
		c.dirty[i] |= word
	}
	c.many = true
}

func (c *changeLog) touch(g int32) {
	c.dirty = c.dirty.Grow(int(g) + 1)
	if !c.dirty.Get(int(g)) {
		c.dirty.Set(int(g))
		c.list = append(c.list, g)
	}
}

// save notes that a checkpoint holds number g, in whatever changelog.
func (c *changeLog) save(g int32) {
	c.saveIn(g, 0)
}

// saveIn is save of a number that stands in a changelog.
func (c *changeLog) saveIn(g int32, changelog uint32) {
	c.stamps.to(g, changelog)
	c.saved = c.saved.Grow(int(g) + 1)
	c.saved.Set(int(g))
}

// lapse notes that number g is gone without an entry for it: it went by its
// Expiry. It reports whether a checkpoint holds it.
func (c *changeLog) lapse(g int32) bool {
	if int(g)>>6 < len(c.dirty) {
		c.dirty.Unset(int(g))
	}
	held := int(g)>>6 < len(c.saved) && c.saved.Get(int(g))
	if held {
		c.saved.Unset(int(g))
	}
	return held
}

// remove notes that number g, with the stored key that key appends, is gone; g
// may be used again for another key. A negative g has no number.
func (c *changeLog) remove(g int32, key func(dst []byte) []byte) {
	if g >= 0 && !c.lapse(g) {
		return
	}
	c.gone = key(c.gone)
	c.ends = append(c.ends, len(c.gone))
}

// flags says of a number that leaves memory what the log knows about it.
func (c *changeLog) flags(g int32) (f byte) {
	if c.dirty.Get(int(g)) {
		f |= coldDirty
	}
	if c.saved.Get(int(g)) {
		f |= coldSaved
	}
	return f
}

// back tells of a number that comes back into memory what flags told.
func (c *changeLog) back(g int32, flags byte) {
	if flags&coldSaved != 0 {
		c.save(g)
	}
	if flags&coldDirty != 0 {
		c.touch(g)
	}
}

// bytes estimates the memory held for numbers.
func (c *changeLog) bytes() int64 {
	return int64(8*(len(c.dirty)+len(c.saved)) + 4*cap(c.list))
}

// goneBytes is the memory held for removed keys, which stays when numbers leave memory.
func (c *changeLog) goneBytes() int64 { return int64(cap(c.gone) + 8*cap(c.ends)) }

// away forgets all numbers, which have left memory; what was removed stays.
func (c *changeLog) away() { c.dirty, c.saved, c.list, c.many = nil, nil, nil, false }

// forget notes that a stored key is gone which no number has.
func (c *changeLog) forget(key []byte) {
	c.gone = append(c.gone, key...)
	c.ends = append(c.ends, len(c.gone))
}

// flush hands out the removed keys, oldest first, then calls each for the
// changed numbers, and forgets both.
func (c *changeLog) flush(w *entryWriter, each func(g int32)) {
	c.flushMany(w, func(groups []int32) {
		for _, g := range groups {
			each(g)
		}
	})
}

// flushMany is flush that hands out some numbers at once, in order, for what
// belongs to neighbours lies close together.
func (c *changeLog) flushMany(w *entryWriter, some func(groups []int32)) {
	from := 0
	for _, end := range c.ends {
		w.delete(c.gone[from:end])
		from = end
	}
	var groups [touchAhead]int32
	n := 0
	take := func(g int32) {
		c.save(g)
		c.stamps.set(g)
		if groups[n] = g; n == len(groups)-1 {
			some(groups[:])
			n = -1
		}
		n++
	}
	if c.many || len(c.list)*8 > len(c.dirty) {
		for i, word := range c.dirty {
			for ; word != 0; word &= word - 1 {
				take(int32(i<<6 + bits.TrailingZeros64(word)))
			}
			c.dirty[i] = 0
		}
	} else {
		slices.Sort(c.list)
		for _, g := range c.list {
			if c.dirty.Get(int(g)) { // else removed since, or listed twice
				c.dirty.Unset(int(g))
				take(g)
			}
		}
	}
	if n > 0 {
		some(groups[:n])
	}
	c.reset()
}

func (c *changeLog) reset() {
	for _, g := range c.list {
		c.dirty.Unset(int(g))
	}
	if c.many {
		clear(c.dirty)
	}
	if c.goneBytes() > bigVector {
		c.gone, c.ends = nil, nil
	}
	c.list, c.gone, c.ends, c.many = c.list[:0], c.gone[:0], c.ends[:0], false
}
