package operator

import "container/heap"

// timeIndex lists numbers by the event time at which they expire, earliest
// first. Numbers of one time share a list, so that windows cost one heap entry
// for all their keys.
type timeIndex struct {
	lists chains
	at    map[int64]int32 // time -> list
	times timeHeap
	free  []int32 // lists not in use
	used  int32
}

type timeHeap []int64

func (h timeHeap) Len() int           { return len(h) }
func (h timeHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h timeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a time; for container/heap.
func (h *timeHeap) Push(x any) { *h = append(*h, x.(int64)) }

// Pop removes the last time; for container/heap.
func (h *timeHeap) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}

// add lists number under time t.
func (x *timeIndex) add(t int64, number int32) {
	if x.at == nil {
		x.at = map[int64]int32{}
	}
	l, ok := x.at[t]
	if !ok {
		if n := len(x.free); n > 0 {
			l, x.free = x.free[n-1], x.free[:n-1]
		} else {
			l = x.used
			x.used++
		}
		x.at[t] = l
		heap.Push(&x.times, t)
	}
	x.lists.add(l, number)
}

// expire takes out, in order of time, all numbers with a time up to w.
func (x *timeIndex) expire(w int64, f func(number int32)) {
	for len(x.times) > 0 && x.times[0] <= w {
		t := heap.Pop(&x.times).(int64)
		l := x.at[t]
		delete(x.at, t)
		x.lists.each(l, f)
		x.lists.clear(l)
		x.free = append(x.free, l)
	}
}
