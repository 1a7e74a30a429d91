package operator

import "encoding/binary"

// idle finds state that was not touched for a time (state_ttl), by the wall
// time that the epoch has recorded. With a ttl of 0 it does nothing.
type idle struct {
	ttl   int64
	now   int64
	at    []int64 // number -> last touch
	index timeIndex
	// waiting are restored numbers, listed when the first step begins.
	waiting []int32
	unknown bool // some of them were stored without a time
}

// begin starts a step. It returns the numbers that were stored without a time,
// under no ttl: they count as touched now, which has to be stored.
func (i *idle) begin(now int64) (stamped []int32) {
	i.now = now
	for _, n := range i.waiting {
		if i.at[n] < 0 {
			continue
		}
		if i.at[n] == 0 { // stored without a time
			i.at[n] = now
			stamped = append(stamped, n)
		}
		i.index.add(i.at[n], n)
	}
	i.waiting, i.unknown = nil, false
	return stamped
}

// due is the time at which number n goes.
func (i *idle) due(n int32) int64 {
	if i.ttl <= 0 {
		return noExpiry
	}
	return i.at[n] + i.ttl
}

// away forgets all numbers, which have left memory.
func (i *idle) away() { *i = idle{ttl: i.ttl, now: i.now} }

// back takes number n, which comes back into memory.
func (i *idle) back(n int32, at int64) {
	if i.ttl > 0 {
		i.set(n, at)
		i.index.add(at, n)
	}
}

// bytes estimates the memory held.
func (i *idle) bytes() int64 { return int64(8*cap(i.at)) + i.index.bytes() }

// touch notes that number n was used in this step.
func (i *idle) touch(n int32) {
	if i.ttl <= 0 {
		return
	}
	i.set(n, i.now)
	if !i.index.listed.Get(int(n)) { // else it is moved when its turn comes
		i.index.add(i.now, n)
	}
}

// forget notes that number n is not in use any more.
func (i *idle) forget(n int32) {
	i.index.remove(n)
	if int(n) < len(i.at) {
		i.at[n] = -1
	}
}

func (i *idle) set(n int32, at int64) {
	for len(i.at) <= int(n) {
		i.at = append(i.at, 0)
	}
	i.at[n] = at
}

// expire calls drop for the numbers that were not touched for the time.
func (i *idle) expire(drop func(n int32)) {
	if i.ttl <= 0 {
		return
	}
	for _, n := range i.index.expire(i.now - i.ttl) {
		if i.at[n] > i.now-i.ttl {
			i.index.add(i.at[n], n)
			continue
		}
		drop(n)
	}
}

// append appends the stored form of the last touch of n.
func (i *idle) append(dst []byte, n int32) []byte {
	if i.ttl <= 0 {
		return append(dst, 0)
	}
	return binary.AppendUvarint(dst, uint64(max(i.at[n], 0)))
}

// cut reads what append wrote, and restore takes it for number n.
func (i *idle) cut(src []byte) (at int64, rest []byte, ok bool) {
	x, w := binary.Uvarint(src)
	if w <= 0 {
		return 0, nil, false
	}
	return int64(x), src[w:], true
}

func (i *idle) restore(n int32, at int64) {
	if i.ttl > 0 {
		i.set(n, at)
		i.waiting = append(i.waiting, n)
		i.unknown = i.unknown || at == 0
	}
}
