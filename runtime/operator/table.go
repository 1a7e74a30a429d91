package operator

import (
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// groupTable numbers distinct keys densely from 0, in order of arrival. It holds
// no pointers but to the segments of its slots and keys. Numbers of removed
// groups are used again.
type groupTable struct {
	layout *keyLayout
	slots  slotTable
	keyStore
	groups int     // numbers handed out, free ones included
	free   []int32 // numbers of removed groups
	fresh  []int32 // groups that the last assign made, in order of arrival
	// single is set for one number or one text: null has its own group, -1 if
	// there is none yet.
	single    bool
	nullGroup int32
	keyBatch
	check *rowCodec // of keys that are restored
}

// keyBatch holds the keys of a batch and their hashes: scratch of one lane.
type keyBatch struct {
	kw   []uint64
	kb   []byte
	ke   []int32
	hash []uint64
	seen uint64 // keeps touch from being left out
}

func newGroupTable(types []schema.Type) *groupTable {
	l := newKeyLayout(types)
	return &groupTable{layout: l, nullGroup: -1, single: l.text || l.stride == 1 && !l.masked, slots: newSlotTable(), keyStore: keyStore{stride: l.stride}}
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, max(n, 2*cap(s)))
}

// prepare loads the keys of rows and their hashes into the scratch.
func (t *keyBatch) prepare(l *keyLayout, keys []*column.Vector, rows []int32) {
	n := len(rows)
	t.hash = grow(t.hash, n)
	if s := l.stride; s > 0 {
		if t.kw = grow(t.kw, n*s); n > 0 {
			l.load(keys, rows, t.kw)
			hashWords(t.kw, s, t.hash)
		}
		return
	}
	t.kb, t.ke = t.kb[:0], append(t.ke[:0], 0)
	if l.text {
		t.prepareText(keys[0], rows)
		return
	}
	for k, r := range rows {
		at := len(t.kb)
		t.kb = asKey.row(t.kb, keys, int(r))
		t.ke = append(t.ke, int32(len(t.kb)))
		t.hash[k] = column.HashBytes(0, t.kb[at:])
	}
}

func (t *keyBatch) prepareText(v *column.Vector, rows []int32) {
	for k, r := range rows {
		at := len(t.kb)
		if !v.IsNull(int(r)) {
			if v.Dict != nil {
				t.kb = append(t.kb, v.Dict.Str(int(v.Index[r]))...)
			} else {
				t.kb = append(t.kb, v.Str(int(r))...)
			}
		}
		t.ke = append(t.ke, int32(len(t.kb)))
		t.hash[k] = column.HashBytes(0, t.kb[at:])
	}
}

func hashWords(kw []uint64, s int, out []uint64) {
	if s == 1 {
		for k, x := range kw {
			out[k] = column.HashUint64(0, x)
		}
		return
	}
	for k := range out {
		h := uint64(0)
		for _, x := range kw[k*s : k*s+s] {
			h = column.HashUint64(h, x)
		}
		out[k] = h
	}
}

// assign sets out[k] to the group of key row rows[k], making new groups as
// needed; keys are flat, constant or dictionary vectors without errors.
func (t *groupTable) assign(keys []*column.Vector, rows []int32, out []int32) {
	t.prepare(t.layout, keys, rows)
	t.slots.reserve(len(rows))
	t.fresh = t.fresh[:0]
	switch {
	case t.single && keys[0].HasNulls():
		t.assignNulls(keys[0], rows, out)
	case t.layout.stride == 1 && t.slots.size() < smallTable:
		t.assignWords(out, 0, len(out))
	default:
		t.assignAll(out)
	}
}

// assignAll sets out[k] to the group of scratch key k, which is not null.
func (t *groupTable) assignAll(out []int32) {
	for from := 0; from < len(out); from += touchAhead {
		to := min(from+touchAhead, len(out))
		t.guess(&t.keyBatch, from, to, out)
		if t.stride == 1 {
			for k, g := range out[from:to] {
				if g < 0 || t.word(uint32(g)) != t.kw[from+k] {
					out[from+k] = t.put(from + k)
				}
			}
			continue
		}
		for k, g := range out[from:to] {
			if g < 0 || !t.equal(&t.keyBatch, g, from+k) {
				out[from+k] = t.put(from + k)
			}
		}
	}
}

func (t *groupTable) assignNulls(v *column.Vector, rows, out []int32) {
	for k, r := range rows {
		if !v.IsNull(int(r)) {
			out[k] = t.put(k)
			continue
		}
		if t.nullGroup < 0 {
			t.nullGroup = t.appendKey(k, true)
		}
		out[k] = t.nullGroup
	}
}

// touchAhead is how many places are brought into the cache at once.
const touchAhead = 128

// guess sets out[from:to] to the groups that keys of kb most probably have, -1
// where it cannot tell. Slots and keys, which lie anywhere, are loaded into the
// cache by loops in which nothing waits for what they load.
func (t *groupTable) guess(kb *keyBatch, from, to int, out []int32) {
	hash, out := kb.hash[from:to], out[from:to]
	if t.slots.size() < smallTable {
		for k := range out {
			out[k] = -1
		}
		return
	}
	x := uint64(0)
	for _, h := range hash {
		slots := t.slots.of(h)
		x += slots[h&uint64(len(slots)-1)]
	}
	for k, h := range hash {
		slots := t.slots.of(h)
		mask, tag, i := uint64(len(slots)-1), h<<32, h
		s := slots[i&mask]
		for s != 0 && (s&^tombstone != tag || s&tombstone == tombstone) {
			i++
			s = slots[i&mask]
		}
		out[k] = int32(uint32(s)) - 1 // -1 of a free slot
	}
	kb.seen += x + t.loadKeys(out)
}

// loadKeys loads the keys of groups, -1 for none, all at once.
func (t *groupTable) loadKeys(groups []int32) (x uint64) {
	if s := t.stride; s > 0 {
		for _, g := range groups {
			if g >= 0 {
				x += t.words[g>>segmentBits][int(g)&(segmentGroups-1)*s]
			}
		}
		return x
	}
	for _, g := range groups {
		if g >= 0 {
			x += uint64(t.place(g).size)
		}
	}
	for _, g := range groups {
		if g < 0 {
			continue
		}
		if p := t.place(g); p.size > 0 {
			x += uint64(t.text[p.segment].bytes[p.at])
		}
	}
	return x
}

// touchKeys loads the keys of groups all at once.
func (t *groupTable) touchKeys(groups []int32) {
	if t.groups >= smallTable {
		t.seen += t.loadKeys(groups)
	}
}

// smallTable is a number of slots that stay in the cache by themselves.
const smallTable = 1 << 15

func (t *groupTable) assignWords(out []int32, from, to int) {
	for k := from; k < to; k++ {
		h := t.hash[k]
		slots := t.slots.of(h)
		mask := uint64(len(slots) - 1)
		tag := h << 32
		x := t.kw[k]
		i := h & mask
		for {
			s := slots[i&mask]
			if s == 0 {
				out[k] = t.insert(k, slots, i)
				break
			}
			if s&^tombstone == tag && s&tombstone != tombstone && t.word(uint32(s)-1) == x {
				out[k] = int32(uint32(s) - 1)
				break
			}
			i = (i + 1) & mask
		}
	}
}

// put finds or makes the group of scratch key k.
func (t *groupTable) put(k int) int32 {
	g, slots, at := t.probe(&t.keyBatch, k)
	if g >= 0 {
		return g
	}
	return t.insert(k, slots, at)
}

// probe returns the group of key k of kb, or -1 and the free slot.
func (t *groupTable) probe(kb *keyBatch, k int) (int32, []uint64, uint64) {
	h := kb.hash[k]
	slots := t.slots.of(h)
	mask := uint64(len(slots) - 1)
	tag := h << 32
	i := h & mask
	for {
		s := slots[i]
		if s == 0 {
			return -1, slots, i
		}
		if s&^tombstone == tag && s&tombstone != tombstone && t.equal(kb, int32(uint32(s)-1), k) {
			return int32(uint32(s) - 1), slots, i
		}
		i = (i + 1) & mask
	}
}

func (t *groupTable) equal(kb *keyBatch, g int32, k int) bool {
	if s := t.layout.stride; s > 0 {
		a, b := t.wordsOf(g), kb.kw[k*s:k*s+s]
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	return string(t.key(g)) == string(kb.kb[kb.ke[k]:kb.ke[k+1]])
}

func (t *groupTable) insert(k int, slots []uint64, at uint64) int32 {
	g := t.appendKey(k, false)
	t.slots.set(slots, at, t.hash[k], g)
	return g
}

// appendKey gives scratch key k a number.
func (t *groupTable) appendKey(k int, null bool) int32 {
	g := int32(t.groups)
	if n := len(t.free); n > 0 {
		g, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.groups++
		t.addKey(g)
	}
	t.fresh = append(t.fresh, g)
	switch s := t.stride; {
	case s == 0 && null:
		*t.place(g) = keyPlace{}
	case s == 0:
		t.setKey(t.place(g), t.kb[t.ke[k]:t.ke[k+1]])
	case null:
		t.wordsOf(g)[0] = 0
	default:
		copy(t.wordsOf(g), t.kw[k*s:k*s+s])
	}
	return g
}

// live returns the number of groups.
func (t *groupTable) live() int { return t.groups - len(t.free) }

// find sets out[k] to the group of the key, or -1. It changes only kb, so
// lanes may call it at the same time while nobody assigns.
func (t *groupTable) find(kb *keyBatch, keys []*column.Vector, rows []int32, out []int32) {
	kb.prepare(t.layout, keys, rows)
	nulls := t.single && keys[0].HasNulls()
	for k, r := range rows {
		if k%touchAhead == 0 {
			t.guess(kb, k, min(k+touchAhead, len(rows)), out)
		}
		if nulls && keys[0].IsNull(int(r)) {
			out[k] = t.nullGroup
			continue
		}
		if g := out[k]; g < 0 || !t.equal(kb, g, k) {
			out[k], _, _ = t.probe(kb, k)
		}
	}
}

// remove forgets group g; its number will be used again.
func (t *groupTable) remove(g int32) {
	t.free = append(t.free, g)
	if g == t.nullGroup {
		t.nullGroup = -1
		return
	}
	t.slots.forget(t.hashOf(g), g)
	t.discard(g)
}

// removeAll is remove for many groups at once.
func (t *groupTable) removeAll(groups []int32) {
	if len(groups) < bulkRemoval || len(groups)*2 < t.live() {
		for _, g := range groups {
			t.remove(g)
		}
		return
	}
	doomed := make(column.Bits, (t.groups+63)>>6)
	for _, g := range groups {
		doomed.Set(int(g))
		if g == t.nullGroup {
			t.nullGroup = -1
		}
	}
	t.free = append(t.free, groups...)
	for _, segment := range t.slots.segments() {
		t.slots.refill(segment, doomed)
	}
	for _, g := range groups {
		t.discard(g)
	}
}

// bulkRemoval is the least number of groups for which the slots are made anew.
const bulkRemoval = 1 << 10

func (t *groupTable) hashOf(g int32) uint64 {
	if s := t.layout.stride; s > 0 {
		h := [1]uint64{}
		hashWords(t.wordsOf(g), s, h[:])
		return h[0]
	}
	return column.HashBytes(0, t.key(g))
}

// appendKeys appends the keys of groups to out, one vector a key column.
func (t *groupTable) appendKeys(groups []int32, out []*column.Vector) {
	if len(out) == 0 {
		return
	}
	s := t.layout.stride
	switch {
	case s > 0:
		t.kw = grow(t.kw, len(groups)*s)
		t.touchKeys(groups)
		for k, g := range groups {
			copy(t.kw[k*s:], t.wordsOf(g))
		}
		base := out[0].Len
		t.layout.unload(t.kw, out)
		if t.single && t.nullGroup >= 0 {
			for k, g := range groups {
				if g == t.nullGroup {
					out[0].SetNull(base + k)
				}
			}
		}
	case t.layout.text:
		for _, g := range groups {
			if g == t.nullGroup {
				out[0].AppendNull()
				continue
			}
			out[0].AppendStr(t.key(g))
		}
	default:
		for _, g := range groups {
			if err := decodeRow(t.key(g), out); err != nil {
				panic("bug: operator: own key does not decode")
			}
		}
	}
}

// bytes estimates the memory held.
func (t *groupTable) bytes() int64 {
	return t.slots.bytes() + t.keyStore.bytes() + int64(4*(cap(t.free)+cap(t.fresh)))
}

// reset forgets all groups and keeps the memory.
func (t *groupTable) reset() {
	t.slots.clear()
	t.keyStore.clear()
	t.groups, t.nullGroup = 0, -1
	t.free, t.fresh = t.free[:0], t.fresh[:0]
}
