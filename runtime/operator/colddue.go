package operator

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
)

// Entries are due by their event time, or by the wall time at which they were
// last used.
const (
	byTime = iota
	byIdle
)

// coldTime is when an entry of a run is due.
type coldTime struct {
	at     int64
	number int32
}

// coldTimes is a list of times in a run's file, ascending: what is left of it. It
// stands in pieces with a checksum each.
type coldTimes struct {
	place int64 // of the piece with the first time
	gone  int   // times of the piece that have gone
	left  int
	next  int64 // the first time
}

const (
	coldTimeBytes  = 12
	coldTimesMax   = 1 << 17 // of one list, which is sorted in memory
	coldTimesPiece = 340     // of one piece: about a page
)

// time notes when entry i is due.
func (w *coldWriter) time(kind int, t int64, i int) error {
	if t == noExpiry {
		return nil
	}
	w.times[kind] = append(w.times[kind], coldTime{t, int32(i)})
	if len(w.times[kind]) < coldTimesMax {
		return nil
	}
	return w.list(kind)
}

// list writes the times that wait.
func (w *coldWriter) list(kind int) error {
	list := w.times[kind]
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b coldTime) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number)) })
	if err := w.out(); err != nil { // blocks know their places already
		return err
	}
	w.r.times[kind] = append(w.r.times[kind], coldTimes{place: w.at, next: list[0].at, left: len(list)})
	for rest := list; len(rest) > 0; {
		n, from := min(len(rest), coldTimesPiece), len(w.pending)
		for _, t := range rest[:n] {
			w.pending = binary.LittleEndian.AppendUint64(w.pending, uint64(t.at))
			w.pending = binary.LittleEndian.AppendUint32(w.pending, uint32(t.number))
		}
		w.pending = binary.LittleEndian.AppendUint32(w.pending, crc32.Checksum(w.pending[from:], castagnoli))
		rest = rest[n:]
	}
	w.times[kind] = list[:0]
	return w.out()
}

// due takes out up to n entries whose time, of a kind, is up to w, and says how
// many they were. It calls f with each, which has flags only unless read is set.
func (c *cold) due(kind int, w int64, n int, read bool, f func(e *coldEntry) error) (got int, err error) {
	return c.dueOf(kind, w, n, func(byte) bool { return read }, f)
}

// dueOf is due where read says of the flags of an entry whether it is read.
func (c *cold) dueOf(kind int, w int64, n int, read func(flags byte) bool, f func(e *coldEntry) error) (got int, err error) {
	for _, r := range c.runs {
		for got < n {
			if err := c.nextDue(r, kind, w, min(n-got, coldTimesMax)); err != nil {
				return got, err
			}
			if len(c.numbers) == 0 {
				break
			}
			if err := c.takeNumbers(r, read, f); err != nil {
				return got, err
			}
			got += len(c.numbers)
		}
	}
	c.prune()
	return got, nil
}

// dropIdle forgets the entries that were not used for the time (state_ttl), and
// calls f with each.
func (c *cold) dropIdle(i *idle, log *changeLog, f func(e *coldEntry)) error {
	if i.ttl <= 0 {
		return nil
	}
	_, err := c.due(byIdle, i.now, 1<<62, true, func(e *coldEntry) error {
		if e.flags&coldSaved != 0 {
			log.forget(e.key)
		}
		f(e)
		return nil
	})
	return err
}

// nextDue lists some numbers of a run that are due, none when none are.
func (c *cold) nextDue(r *coldRun, kind int, w int64, n int) error {
	c.numbers = c.numbers[:0]
	for i := range r.times[kind] {
		l := &r.times[kind][i]
		for l.left > 0 && l.next <= w && len(c.numbers) < n {
			if err := c.readTimes(r, l); err != nil {
				return err
			}
			c.cutTimes(r, l, w, n)
		}
	}
	slices.Sort(c.numbers)
	return nil
}

// readTimes reads the piece with the first time of a list into c.times.
func (c *cold) readTimes(r *coldRun, l *coldTimes) error {
	size := min(l.gone+l.left, coldTimesPiece) * coldTimeBytes
	c.times = grow(c.times, size+4)
	if _, err := r.file.f.ReadAt(c.times, l.place); err != nil {
		return fmt.Errorf("%s: read spilled state: %w", r.file.name, err)
	}
	if crc32.Checksum(c.times[:size], castagnoli) != binary.LittleEndian.Uint32(c.times[size:]) {
		return fmt.Errorf("%s: read spilled state: %w", r.file.name, errSpill)
	}
	c.times = c.times[:size]
	return nil
}

// cutTimes takes what is due from the start of a list, of which c.times has a piece.
func (c *cold) cutTimes(r *coldRun, l *coldTimes, w int64, n int) {
	for b := c.times[l.gone*coldTimeBytes:]; len(b) > 0; b = b[coldTimeBytes:] {
		l.next = int64(leUint64(b))
		if l.next > w || len(c.numbers) == n {
			return
		}
		if number := int32(binary.LittleEndian.Uint32(b[8:])); !r.taken.Get(int(number)) {
			c.numbers = append(c.numbers, number)
		}
		l.gone, l.left = l.gone+1, l.left-1
	}
	l.place, l.gone = l.place+coldTimesPiece*coldTimeBytes+4, 0
}

// takeNumbers takes the entries in c.numbers out.
func (c *cold) takeNumbers(r *coldRun, read func(flags byte) bool, f func(e *coldEntry) error) error {
	b := 0
	for i, number := range c.numbers {
		b = r.blockOf(b, number)
		e := &c.e
		*e = coldEntry{flags: r.flags(int(number))}
		if read(e.flags) {
			if err := c.loadNumbers(r, b, c.numbers[i+1:]); err != nil {
				return err
			}
			body, k := c.read.body()
			for k < int(number) {
				body, k = c.read.body()
			}
			*e = r.of(body, int(number))
		}
		c.drop(r, b, int(number))
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// blockOf is the block of an entry, which is not before block b.
func (r *coldRun) blockOf(b int, number int32) int {
	i := b + 1
	if i == len(r.blocks) || r.blocks[i].entry > number {
		return b
	}
	rest, found := slices.BinarySearchFunc(r.blocks[i:], number, func(b coldBlock, x int32) int { return cmp.Compare(b.entry, x) })
	if found {
		return i + rest
	}
	return i + rest - 1
}

// loadNumbers loads block b, and those after it that hold some of the next numbers.
func (c *cold) loadNumbers(r *coldRun, b int, next []int32) error {
	return c.read.loadNext(r, b, c.span(), func(i int) bool {
		for len(next) > 0 && next[0] < r.blocks[i].entry {
			next = next[1:]
		}
		return len(next) > 0 && (i+1 == len(r.blocks) || next[0] < r.blocks[i+1].entry)
	})
}
