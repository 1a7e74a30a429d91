package operator

import "container/heap"

// timeIndex lists numbers by the event time at which they expire. Times are
// kept in buckets of an eighth of a second, so that many different times cost
// few heap entries; a bucket that is only partly due is looked through.
type timeIndex struct {
	lists   chains
	exact   []int64         // number -> time
	at      map[int64]int32 // bucket -> list
	buckets timeHeap
	free    []int32 // lists not in use
	used    int32
	last    int64 // the bucket of the last add, and its list
	list    int32
	left    []int32
}

const bucketShift = 17 // microseconds

type timeHeap []int64

func (h timeHeap) Len() int           { return len(h) }
func (h timeHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h timeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a bucket; for container/heap.
func (h *timeHeap) Push(x any) { *h = append(*h, x.(int64)) }

// Pop removes the last bucket; for container/heap.
func (h *timeHeap) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}

// add lists number, which must not be listed, under time t.
func (x *timeIndex) add(t int64, number int32) {
	for len(x.exact) <= int(number) {
		x.exact = append(x.exact, 0)
	}
	x.exact[number] = t
	b := t >> bucketShift
	if x.at == nil || b != x.last {
		x.list, x.last = x.listOf(b), b
	}
	x.lists.add(x.list, number)
}

func (x *timeIndex) listOf(b int64) int32 {
	if x.at == nil {
		x.at = map[int64]int32{}
	}
	l, ok := x.at[b]
	if ok {
		return l
	}
	if n := len(x.free); n > 0 {
		l, x.free = x.free[n-1], x.free[:n-1]
	} else {
		l = x.used
		x.used++
	}
	x.at[b] = l
	heap.Push(&x.buckets, b)
	return l
}

// expire takes out all numbers with a time up to w, by bucket and then in the
// order in which they were added. f may add numbers again, with later times.
func (x *timeIndex) expire(w int64, f func(number int32)) {
	x.left = x.left[:0]
	for len(x.buckets) > 0 && x.buckets[0] <= w>>bucketShift {
		b := heap.Pop(&x.buckets).(int64)
		l := x.at[b]
		delete(x.at, b)
		if b == x.last {
			x.last = -1 << 62 // no bucket: times are far smaller
		}
		first := x.lists.first(l)
		x.lists.clear(l)
		x.free = append(x.free, l)
		for n := first; n >= 0; {
			next := x.lists.next[n]
			if x.exact[n] <= w {
				f(n)
			} else {
				x.left = append(x.left, n)
			}
			n = next
		}
	}
	for _, n := range x.left {
		x.add(x.exact[n], n)
	}
}
