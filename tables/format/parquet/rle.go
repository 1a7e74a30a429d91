package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errLevels = errors.New("malformed run-length data")

// appendHybrid writes values in the RLE/bit-packed hybrid of the given width.
func appendHybrid[T uint8 | uint32](dst []byte, vals []T, width uint) []byte {
	start := 0 // of the values that wait to be bit-packed: a multiple of 8 before i
	for i := 0; i < len(vals); {
		run := i + 1
		for run < len(vals) && vals[run] == vals[i] {
			run++
		}
		if run-i < 16 && (run < len(vals) || start < i) {
			i = min(i+8, len(vals))
			continue
		}
		dst = appendPacked(dst, vals[start:i], width)
		dst = appendRun(dst, run-i, uint32(vals[i]), width)
		i = run
		start = i
	}
	return appendPacked(dst, vals[start:], width)
}

// appendRun writes one run of n equal values.
func appendRun(dst []byte, n int, v uint32, width uint) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for w := uint(0); w < width; w += 8 {
		dst = append(dst, byte(v>>w))
	}
	return dst
}

// appendPacked writes one bit-packed run, padded with zeros to groups of 8.
func appendPacked[T uint8 | uint32](dst []byte, vals []T, width uint) []byte {
	if len(vals) == 0 {
		return dst
	}
	groups := (len(vals) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	end := len(dst) + groups*int(width)
	var acc uint64
	var n uint
	for _, v := range vals {
		acc |= uint64(v) << n
		n += width
		if n >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
			acc >>= 32
			n -= 32
		}
	}
	for len(dst) < end {
		dst = append(dst, byte(acc))
		acc >>= 8
	}
	return dst[:end]
}

// hybridReader decodes the RLE/bit-packed hybrid.
type hybridReader struct {
	b     []byte
	width uint
	// the current run
	left   int    // values left of it
	value  uint32 // of an RLE run
	packed []byte // bits of a packed run, or nil
	bit    int    // place in packed
}

func (r *hybridReader) reset(b []byte, width uint) {
	*r = hybridReader{b: b, width: width}
}

// next loads the next run; false at the end or when it is malformed.
func (r *hybridReader) next() bool {
	h, n := binary.Uvarint(r.b)
	if n <= 0 || h>>1 == 0 || h>>1 > 1<<31 {
		return false
	}
	r.b = r.b[n:]
	if h&1 == 0 {
		size := int(r.width+7) / 8
		if len(r.b) < size {
			return false
		}
		r.value = 0
		for i := range size {
			r.value |= uint32(r.b[i]) << (8 * i)
		}
		if r.width < 32 && r.value>>r.width != 0 {
			return false
		}
		r.b, r.left, r.packed = r.b[size:], int(h>>1), nil
		return true
	}
	size := int(h>>1) * int(r.width)
	r.left, r.bit = int(h>>1)*8, 0
	if size > len(r.b) { // some writers cut the padding of the last group
		size = len(r.b)
		if r.width == 0 {
			return false
		}
		r.left = size * 8 / int(r.width)
		if r.left == 0 {
			return false
		}
	}
	r.packed, r.b = r.b[:size:size], r.b[size:]
	return true
}

// unpack reads up to len(dst) values of the current packed run.
func unpack[T uint8 | uint32 | int32](r *hybridReader, dst []T) {
	mask := uint64(1)<<r.width - 1
	bit, w := r.bit, int(r.width)
	b := r.packed
	i := 0
	for ; i < len(dst) && bit>>3+8 <= len(b); i++ {
		dst[i] = T(binary.LittleEndian.Uint64(b[bit>>3:]) >> (uint(bit) & 7) & mask)
		bit += w
	}
	for ; i < len(dst); i++ {
		var tail [8]byte
		copy(tail[:], b[min(bit>>3, len(b)):])
		dst[i] = T(binary.LittleEndian.Uint64(tail[:]) >> (uint(bit) & 7) & mask)
		bit += w
	}
	r.bit = bit
}

// fill decodes len(dst) values.
func fill[T uint8 | uint32 | int32](r *hybridReader, dst []T) error {
	for len(dst) > 0 {
		if r.left == 0 && !r.next() {
			return errLevels
		}
		n := min(r.left, len(dst))
		if r.packed == nil {
			for i := range dst[:n] {
				dst[i] = T(r.value)
			}
		} else {
			unpack(r, dst[:n])
		}
		r.left -= n
		dst = dst[n:]
	}
	return nil
}

// wholeRun reports whether all n values are one RLE run, and its value.
func (r *hybridReader) wholeRun(n int) (uint32, bool) {
	if r.left == 0 && !r.next() {
		return 0, false
	}
	return r.value, r.packed == nil && r.left >= n
}

// bitWidth is the number of bits that hold 0..greatest.
func bitWidth(greatest uint32) uint { return uint(bits.Len32(greatest)) }
