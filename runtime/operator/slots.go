package operator

import "pipelines/tables/column"

// slotTable finds numbers by hash. Open addressing in segments, of which each
// grows to its full size alone; then there are more of them, one split after
// another, so that no row waits for a large table to be copied.
//
// A slot is 0 when free, else hash32<<32 | number+1; a tombstone was removed.
// The low bits of the hash say where in its segment a number stands, those
// above them which segment it is: dir[hash>>slotBits & (len(dir)-1)]. Of the
// 2*base entries of dir those from base+split on repeat the segment at base less,
// which is still to be split.
type slotTable struct {
	dir         [][]uint64
	base, split int
	used        int // slots not free, tombstones included
	tombs       int
	swept       int      // the segment that is swept of tombstones next
	scratch     []uint64 // slots on their way
}

const (
	tombstone = uint64(0xffffffff)
	slotBits  = 16
	slotsFull = 1 << slotBits
)

func newSlotTable() slotTable { return slotTable{dir: [][]uint64{make([]uint64, 64)}, base: 1} }

// of returns the segment of a hash.
func (t *slotTable) of(hash uint64) []uint64 {
	return t.dir[hash>>slotBits&uint64(len(t.dir)-1)]
}

// segments are those there are, each once.
func (t *slotTable) segments() [][]uint64 { return t.dir[:t.base+t.split] }

// size is the number of slots.
func (t *slotTable) size() int { return (t.base + t.split) * len(t.dir[0]) }

// set takes a free slot of a segment.
func (t *slotTable) set(segment []uint64, at, hash uint64, g int32) {
	segment[at] = hash<<32 | uint64(g+1)
	t.used++
}

// reserve makes room for n more numbers, so that no loop has to look.
func (t *slotTable) reserve(n int) {
	if len(t.dir[0]) < slotsFull {
		t.reserveOne(n)
		return
	}
	if t.tombs*8 > t.size() {
		t.sweep(sweepAtOnce)
	}
	// A segment that is to be split is at least 0.62 and at most 0.68 full.
	for t.want(n) {
		t.splitOne()
	}
}

// want says whether one more segment is due: the fuller those are which are
// still to be split, the more have to be split already.
func (t *slotTable) want(n int) bool {
	due := (t.used+n)*1000/slotsFull - 620*t.base
	return due > 0 && due > 60*t.split
}

const sweepAtOnce = 4

// reserveOne is reserve of a table of one segment that is not of full size.
func (t *slotTable) reserveOne(n int) {
	size := len(t.dir[0])
	if (t.used+n)*3 <= size*2 {
		return
	}
	live := t.used - t.tombs
	for (live+n)*2 > size && size < slotsFull {
		size *= 2
	}
	old := t.dir[0]
	t.dir[0] = make([]uint64, size)
	t.used, t.tombs = 0, 0
	t.place(old)
	if size == slotsFull {
		t.reserve(n)
	}
}

// place puts living slots into free ones.
func (t *slotTable) place(slots []uint64) {
	for _, s := range slots {
		if s == 0 || s&tombstone == tombstone {
			continue
		}
		to := t.of(s >> 32)
		mask := uint64(len(to) - 1)
		i := s >> 32 & mask
		for to[i] != 0 {
			i = (i + 1) & mask
		}
		to[i] = s
		t.used++
	}
}

// splitOne divides the next segment in two.
func (t *slotTable) splitOne() {
	if len(t.dir) == t.base { // none is split yet
		t.dir = append(t.dir, t.dir...)
	}
	old := t.dir[t.split]
	t.dir[t.base+t.split] = make([]uint64, slotsFull)
	t.refill(old, nil)
	if t.split++; t.split == t.base {
		t.base, t.split = 2*t.base, 0
	}
}

// refill places what lives in a segment anew, without the doomed numbers.
func (t *slotTable) refill(segment []uint64, doomed column.Bits) {
	t.scratch = t.scratch[:0]
	for _, s := range segment {
		switch {
		case s == 0:
			continue
		case s&tombstone == tombstone:
			t.tombs--
		case doomed == nil || !doomed.Get(int(uint32(s)-1)):
			t.scratch = append(t.scratch, s)
		}
		t.used--
	}
	clear(segment)
	t.place(t.scratch)
}

// sweep frees the tombstones of the next n segments.
func (t *slotTable) sweep(n int) {
	for range n {
		if t.swept >= t.base+t.split {
			t.swept = 0
		}
		t.refill(t.dir[t.swept], nil)
		t.swept++
	}
}

// forget makes a tombstone of the slot of a number.
func (t *slotTable) forget(hash uint64, g int32) {
	slots := t.of(hash)
	mask := uint64(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if uint32(slots[i]) == uint32(g+1) {
			slots[i] = slots[i]&^tombstone | tombstone
			t.tombs++
			return
		}
		if slots[i] == 0 {
			panic("bug: operator: group is not in its table")
		}
	}
}

// clear frees all slots and keeps the memory.
func (t *slotTable) clear() {
	for _, s := range t.segments() {
		clear(s)
	}
	t.used, t.tombs = 0, 0
}

// bytes is the memory held.
func (t *slotTable) bytes() int64 { return int64(8*t.size() + 24*len(t.dir) + 8*cap(t.scratch)) }
