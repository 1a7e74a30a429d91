package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/delta"
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/tables/column"
)

const (
	pageBytes = 1 << 20
	pageRows  = 20_000
	// minDelta is the least number of integers that are worth delta encoding,
	// whose blocks have a fixed least size.
	minDelta = 24
)

// pageMaker encodes and compresses pages with scratch shared by the leaves.
type pageMaker struct {
	codec  *codec
	page   []byte
	packed []byte
	head   []byte
}

// full reports whether the page in the making should end.
func (l *leaf) full() bool { return l.entries >= pageRows || l.pending() >= pageBytes }

// flush ends the page in the making; rowsSoFar is the number of rows of the
// row group up to here.
func (m *pageMaker) flush(l *leaf, rowsSoFar int64) error {
	if l.entries == 0 {
		return nil
	}
	b := m.page[:0]
	if l.rep > 0 {
		b = appendLevels(b, l.reps, l.rep)
	}
	switch {
	case l.def == 0:
	case len(l.defs) == 0:
		at := len(b)
		b = appendRun(append(b, 0, 0, 0, 0), l.entries, uint32(l.def), bitWidth(uint32(l.def)))
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	default:
		b = appendLevels(b, l.defs, l.def)
	}
	b, enc := l.appendValues(b)
	m.page = b
	if len(b) > math.MaxInt32/2 {
		return fmt.Errorf("parquet: column %s: %d values do not fit one page", pathText(l.path), l.entries)
	}
	p := pageInfo{offset: l.out.size, firstRow: l.rows, nulls: l.nulls, empty: l.nulls == l.entries}
	data := m.compress(l, b)
	m.head = appendDataPageHeader(m.head[:0], len(b), l.entries, data, enc)
	l.raw += int64(len(m.head) + len(b))
	l.out.add(m.head)
	l.out.add(data)
	p.size = l.out.size - p.offset
	switch enc {
	case pqformat.RLEDictionary:
		l.dictPages++
	case pqformat.DeltaBinaryPacked:
		l.deltaPages++
	default:
		l.plainPages++
	}
	if enc != pqformat.RLEDictionary {
		pb := l.pageBounds()
		ph := column.PhysicalOf(l.typ)
		l.chunk.merge(&pb, ph)
		if ph == column.PhysBytes && pb.any {
			hi, _ := cutGreatest(pb.s[1], true)
			pb.s = [2][]byte{cutLeast(pb.s[0], true), hi}
			pb.nan = hi == nil
		}
		p.bounds = pb
	}
	l.pages = append(l.pages, p)
	l.values += int64(l.entries)
	l.chunkNulls += int64(l.nulls)
	l.entries, l.nulls, l.rows = 0, 0, rowsSoFar
	l.str.any = false
	l.clearPage()
	return nil
}

// compress returns the stored form of a page. The first page of a column
// decides whether the column is compressed at all: bit-packed numbers seldom
// gain anything. (parquet-go cannot read a column whose codec changes.)
func (m *pageMaker) compress(l *leaf, b []byte) []byte {
	first := !l.codecSet
	if first {
		l.codec, l.codecSet = m.codec.id, true
	}
	if l.codec == pqformat.Uncompressed {
		return b
	}
	m.packed = m.codec.compress(m.packed[:0], b)
	if first && len(m.packed) > len(b)-len(b)/20 {
		l.codec = pqformat.Uncompressed
		return b
	}
	return m.packed
}

func appendLevels(b, levels []byte, greatest uint8) []byte {
	at := len(b)
	b = appendHybrid(append(b, 0, 0, 0, 0), levels, bitWidth(uint32(greatest)))
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendValues encodes the values of the page in the making.
func (l *leaf) appendValues(b []byte) ([]byte, pqformat.Encoding) {
	switch l.phys {
	case pqformat.Boolean:
		return appendBools(b, l.bools), pqformat.Plain
	case pqformat.Int32:
		if len(l.i32) < minDelta {
			for _, v := range l.i32 {
				b = binary.LittleEndian.AppendUint32(b, uint32(v))
			}
			break
		}
		var e delta.BinaryPackedEncoding
		out, _ := e.EncodeInt32(b[len(b):], l.i32)
		return append(b, out...), pqformat.DeltaBinaryPacked
	case pqformat.Int64:
		if len(l.i64) < minDelta {
			for _, v := range l.i64 {
				b = binary.LittleEndian.AppendUint64(b, uint64(v))
			}
			break
		}
		var e delta.BinaryPackedEncoding
		out, _ := e.EncodeInt64(b[len(b):], l.i64)
		return append(b, out...), pqformat.DeltaBinaryPacked
	case pqformat.Float:
		for _, v := range l.f32 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	case pqformat.Double:
		for _, v := range l.f64 {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	case pqformat.FixedLenByteArray:
		at, size := len(b), l.size
		b = slices.Grow(b, size*len(l.i128))[:at+size*len(l.i128)]
		for _, v := range l.i128 { // the high bytes first; the low eight overwrite the rest
			binary.BigEndian.PutUint64(b[at:], uint64(v.Hi)<<(8*(16-size)&63))
			binary.BigEndian.PutUint64(b[at+size-8:], v.Lo)
			at += size
		}
	default:
		if l.useDict {
			width := max(1, bitWidth(uint32(max(1, l.dict.len())-1)))
			return appendHybrid(append(b, byte(width)), l.idx, width), pqformat.RLEDictionary
		}
		b = append(b, l.plain...)
	}
	return b, pqformat.Plain
}

func appendBools(b []byte, vals []bool) []byte {
	for len(vals) > 0 {
		n := min(8, len(vals))
		var c byte
		for i, v := range vals[:n] {
			if v {
				c |= 1 << i
			}
		}
		b = append(b, c)
		vals = vals[n:]
	}
	return b
}
