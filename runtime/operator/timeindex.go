package operator

import "pipelines/tables/column"

// timeIndex lists numbers by the event time at which they expire. Times are
// kept in buckets of an eighth of a second, so that many different times cost
// few entries; a bucket that is only partly due is looked through.
type timeIndex struct {
	listed     column.Bits
	exact      []int64 // number -> time
	next, prev []int32 // number -> its neighbours in the bucket's list, -1
	head, tail []int32 // list -> numbers, -1
	at         map[int64]int32
	buckets    timeQueue
	free       []int32 // lists not in use
	due        []int32
	// fast-1 is the list of the bucket that was last added to; 0 for none.
	fast   int32
	bucket int64
}

const bucketShift = 17 // microseconds

// timeQueue gives buckets out from the least. Those that come in order, as
// most do, stand in a list; only the others go through a heap.
type timeQueue struct {
	list []int64 // ascending; those before from have gone
	from int
	heap []int64
}

func (q *timeQueue) push(b int64) {
	if q.from == len(q.list) || b > q.list[len(q.list)-1] {
		if q.from > 0 && q.from*2 >= len(q.list) {
			q.list = q.list[:copy(q.list, q.list[q.from:])]
			q.from = 0
		}
		q.list = append(q.list, b)
		return
	}
	h := append(q.heap, b)
	i := len(h) - 1
	for i > 0 && h[(i-1)/2] > b {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = b
	q.heap = h
}

// pop takes the least bucket out if it is not above limit.
func (q *timeQueue) pop(limit int64) (b int64, ok bool) {
	late := len(q.heap) > 0 && (q.from == len(q.list) || q.heap[0] < q.list[q.from])
	switch {
	case late:
		b = q.heap[0]
	case q.from < len(q.list):
		b = q.list[q.from]
	default:
		return 0, false
	}
	if b > limit {
		return 0, false
	}
	if late {
		q.sink()
	} else {
		q.from++
	}
	return b, true
}

// sink fills the top of the heap, which has gone.
func (q *timeQueue) sink() {
	n := len(q.heap) - 1
	h, x := q.heap[:n], q.heap[n]
	q.heap = h
	i := 0
	for 2*i+1 < n {
		c := 2*i + 1
		if c+1 < n && h[c+1] < h[c] {
			c++
		}
		if x <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	if n > 0 {
		h[i] = x
	}
}

// add lists number under time t, in place of its time before if it had one.
func (x *timeIndex) add(t int64, number int32) {
	x.remove(number)
	for len(x.exact) <= int(number) {
		x.exact, x.next, x.prev = append(x.exact, 0), append(x.next, -1), append(x.prev, -1)
	}
	x.listed = x.listed.Grow(int(number) + 1)
	x.listed.Set(int(number))
	x.exact[number] = t
	b := t >> bucketShift
	l := x.fast - 1
	if l < 0 || b != x.bucket {
		l = x.listOf(b)
		x.fast, x.bucket = l+1, b
	}
	last := x.tail[l]
	x.next[number], x.prev[number] = -1, last
	if last < 0 {
		x.head[l] = number
	} else {
		x.next[last] = number
	}
	x.tail[l] = number
}

// bytes estimates the memory held.
func (x *timeIndex) bytes() int64 {
	return int64(8*cap(x.exact) + 4*(cap(x.next)+cap(x.prev)+cap(x.head)+cap(x.tail)+cap(x.free)+cap(x.due)) + 8*len(x.listed) + 8*(cap(x.buckets.list)+cap(x.buckets.heap)) + 48*len(x.at))
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
		l = int32(len(x.head))
		x.head, x.tail = append(x.head, -1), append(x.tail, -1)
	}
	x.at[b] = l
	x.buckets.push(b)
	return l
}

// remove takes number out if it is listed.
func (x *timeIndex) remove(number int32) {
	if !x.listed.Get(int(number)) {
		return
	}
	x.listed.Unset(int(number))
	l := x.at[x.exact[number]>>bucketShift]
	before, after := x.prev[number], x.next[number]
	if before < 0 {
		x.head[l] = after
	} else {
		x.next[before] = after
	}
	if after < 0 {
		x.tail[l] = before
	} else {
		x.prev[after] = before
	}
}

// expire takes out all numbers with a time up to w, by bucket and then in the
// order in which they were added. The list is valid until the next call.
func (x *timeIndex) expire(w int64) []int32 {
	due, left := x.due[:0], []int32(nil)
	for {
		b, ok := x.buckets.pop(w >> bucketShift)
		if !ok {
			break
		}
		x.fast = 0
		l := x.at[b]
		delete(x.at, b)
		for n := x.head[l]; n >= 0; n = x.next[n] {
			x.listed.Unset(int(n))
			if x.exact[n] <= w {
				due = append(due, n)
			} else {
				left = append(left, n)
			}
		}
		x.head[l], x.tail[l] = -1, -1
		x.free = append(x.free, l)
	}
	for _, n := range left {
		x.add(x.exact[n], n)
	}
	x.due = due
	return due
}
