package operator

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// sortOrder is the direction of one sort key.
type sortOrder struct {
	descending, nullsLast bool
}

func ordersOf(keys []logical.SortKey) []sortOrder {
	out := make([]sortOrder, len(keys))
	for i, k := range keys {
		out[i] = sortOrder{k.Descending, k.NullsLast}
	}
	return out
}

// sortedKeys collects sort keys as bytes that compare like the keys: entry i
// belongs to row i. The first twelve bytes stand in the entry itself.
type sortedKeys struct {
	arena   []byte
	ends    []uint64
	entries []sortEntry
	long    bool // a key does not fit into its entry
}

type sortEntry struct {
	prefix uint64
	more   uint32 // the four bytes after it
	row    int32
}

// add appends the keys of the given rows.
func (s *sortedKeys) add(keys []*column.Vector, orders []sortOrder, rows []int32) {
	for _, r := range rows {
		from := len(s.arena)
		for i, v := range keys {
			s.arena = appendSortKey(s.arena, v, int(r), orders[i])
		}
		s.close(from)
	}
}

// close ends the key that starts at from.
func (s *sortedKeys) close(from int) {
	key := s.arena[from:]
	e := sortEntry{prefix: prefix(key), row: int32(len(s.ends))}
	if len(key) > 8 {
		e.more = uint32(prefix(key[8:]) >> 32)
		s.long = s.long || len(key) > 12
	}
	s.entries = append(s.entries, e)
	s.ends = append(s.ends, uint64(len(s.arena)))
}

func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var p [8]byte
	copy(p[:], key)
	return binary.BigEndian.Uint64(p[:])
}

// key returns the key of row i.
func (s *sortedKeys) key(i int32) []byte {
	from := uint64(0)
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.arena[from:s.ends[i]]
}

// sort orders the entries; equal keys keep the order of arrival.
func (s *sortedKeys) sort() {
	slices.SortFunc(s.entries, func(a, b sortEntry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if a.more != b.more {
			return cmp.Compare(a.more, b.more)
		}
		if s.long { // keys that fit are equal now: none is the start of another
			if d := bytes.Compare(s.key(a.row), s.key(b.row)); d != 0 {
				return d
			}
		}
		return cmp.Compare(a.row, b.row)
	})
}

func (s *sortedKeys) bytes() int64 { return int64(cap(s.arena) + 8*cap(s.ends) + 16*cap(s.entries)) }

// used counts the bytes in use, not the room.
func (s *sortedKeys) used() int64 { return int64(len(s.arena) + 8*len(s.ends) + 16*len(s.entries)) }

// grown is what memory that grows by and by takes for n bytes in use.
func grown(n int64) int64 { return n + n/2 }

func (s *sortedKeys) reset() {
	s.arena, s.ends, s.entries, s.long = s.arena[:0], s.ends[:0], s.entries[:0], false
}

// drop is reset that keeps no great memory.
func (s *sortedKeys) drop() {
	if s.bytes() > bigVector {
		*s = sortedKeys{}
	}
	s.reset()
}

// appendSortKey appends row i of v so that bytes compare as ORDER BY does:
// nulls as asked, NaN above all numbers, -0.0 equal to 0.0.
func appendSortKey(dst []byte, v *column.Vector, i int, o sortOrder) []byte {
	if v.IsNull(i) {
		if o.nullsLast {
			return append(dst, 2)
		}
		return append(dst, 0)
	}
	dst = append(dst, 1)
	from := len(dst)
	dst = appendOrdered(dst, v, i)
	if o.descending {
		for k := from; k < len(dst); k++ {
			dst[k] = ^dst[k]
		}
	}
	return dst
}

// appendOrdered appends a value that is not null, ascending and prefix-free.
func appendOrdered(dst []byte, v *column.Vector, i int) []byte {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Index[i])
	} else {
		i = v.Row(i)
	}
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		if v.Bool[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case column.PhysI8:
		return append(dst, byte(v.I8[i])^0x80)
	case column.PhysI16:
		return binary.BigEndian.AppendUint16(dst, uint16(v.I16[i])^1<<15)
	case column.PhysI32:
		return binary.BigEndian.AppendUint32(dst, uint32(v.I32[i])^1<<31)
	case column.PhysI64:
		return binary.BigEndian.AppendUint64(dst, uint64(v.I64[i])^1<<63)
	case column.PhysI128:
		dst = binary.BigEndian.AppendUint64(dst, uint64(v.I128[i].Hi)^1<<63)
		return binary.BigEndian.AppendUint64(dst, v.I128[i].Lo)
	case column.PhysF32:
		return binary.BigEndian.AppendUint64(dst, orderedFloat(float64(v.F32[i])))
	case column.PhysF64:
		return binary.BigEndian.AppendUint64(dst, orderedFloat(v.F64[i]))
	case column.PhysBytes:
		return appendEscaped(dst, v.Str(i))
	case column.PhysList:
		from, to := v.List(i)
		for e := from; e < to; e++ {
			dst = append(dst, 1)
			for _, c := range v.Children {
				dst = appendNested(dst, c, e)
			}
		}
		return append(dst, 0)
	case column.PhysStruct:
		for _, c := range v.Children {
			dst = appendNested(dst, c, i)
		}
	}
	return dst
}

func appendNested(dst []byte, v *column.Vector, i int) []byte {
	return appendSortKey(dst, v, i, sortOrder{})
}

func appendEscaped(dst, s []byte) []byte {
	for {
		k := bytes.IndexByte(s, 0)
		if k < 0 {
			return append(append(dst, s...), 0, 0)
		}
		dst = append(append(dst, s[:k]...), 0, 0xff)
		s = s[k+1:]
	}
}

func orderedFloat(x float64) uint64 {
	b := floatWord(x)
	if x != x {
		return math.MaxUint64
	}
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}
