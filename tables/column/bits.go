package column

import "math/bits"

// Bits is a bitmap; a nil Bits has no bit set.
type Bits []uint64

// Get reports bit i; a short or nil bitmap reads as 0.
func (b Bits) Get(i int) bool {
	w := i >> 6
	return w < len(b) && b[w]&(1<<(uint(i)&63)) != 0
}

// Set sets bit i, which must be inside the bitmap.
func (b Bits) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Unset clears bit i, which must be inside the bitmap.
func (b Bits) Unset(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// ClearFrom clears bit n and all behind it.
func (b Bits) ClearFrom(n int) {
	w := n >> 6
	if w >= len(b) {
		return
	}
	b[w] &= 1<<(uint(n)&63) - 1
	clear(b[w+1:])
}

// Any reports whether one of the first n bits is set.
func (b Bits) Any(n int) bool { return b.Count(n) > 0 }

// Count counts the set bits among the first n.
func (b Bits) Count(n int) int {
	c := 0
	for w, x := range b {
		left := n - w*64
		if left <= 0 {
			break
		}
		if left < 64 {
			x &= 1<<uint(left) - 1
		}
		c += bits.OnesCount64(x)
	}
	return c
}

// Grow returns the bitmap with room for n bits, new bits zero.
func (b Bits) Grow(n int) Bits {
	words := (n + 63) >> 6
	for len(b) < words {
		b = append(b, 0)
	}
	return b
}
