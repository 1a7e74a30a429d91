package parquet

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	pqformat "github.com/parquet-go/parquet-go/format"
)

// Thrift compact types.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

var errThrift = errors.New("malformed thrift structure")

// thriftReader walks compact-protocol bytes. It never allocates, and every
// length is checked against the bytes that are left.
type thriftReader struct {
	b   []byte
	pos int
	bad bool
}

func (r *thriftReader) fail() { r.bad, r.pos = true, len(r.b) }

func (r *thriftReader) byte() byte {
	if r.pos >= len(r.b) {
		r.fail()
		return 0
	}
	c := r.b[r.pos]
	r.pos++
	return c
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.pos:])
	if n <= 0 {
		r.fail()
		return 0
	}
	r.pos += n
	return v
}

func (r *thriftReader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *thriftReader) i32() int32 {
	v := r.varint()
	if int64(int32(v)) != v {
		r.fail()
		return 0
	}
	return int32(v)
}

func (r *thriftReader) discard(n uint64) {
	if n > uint64(len(r.b)-r.pos) {
		r.fail()
		return
	}
	r.pos += int(n)
}

// field reads a field header; typ is thriftStop at the end of the struct.
func (r *thriftReader) field(last int16) (id int16, typ byte) {
	c := r.byte()
	typ = c & 15
	if r.bad || typ == thriftStop {
		return 0, thriftStop
	}
	if d := c >> 4; d != 0 {
		return last + int16(d), typ
	}
	return int16(r.varint()), typ
}

// skip passes over one value; depth bounds the nesting.
func (r *thriftReader) skip(typ byte, depth int) {
	if depth > 32 {
		r.fail()
	}
	if r.bad {
		return
	}
	switch typ {
	case thriftTrue, thriftFalse:
	case thriftByte:
		r.byte()
	case thriftI16, thriftI32, thriftI64:
		r.uvarint()
	case thriftDouble:
		r.discard(8)
	case thriftBinary:
		r.discard(r.uvarint())
	case thriftList, thriftSet:
		r.skipList(depth)
	case thriftMap:
		r.skipMap(depth)
	case thriftStruct:
		var id int16
		for !r.bad {
			if id, typ = r.field(id); typ == thriftStop {
				return
			}
			r.skip(typ, depth+1)
		}
	default:
		r.fail()
	}
}

func (r *thriftReader) skipList(depth int) {
	c := r.byte()
	n := uint64(c >> 4)
	if n == 15 {
		n = r.uvarint()
	}
	if n > uint64(len(r.b)-r.pos) { // each element takes a byte at least
		r.fail()
		return
	}
	typ := c & 15
	for ; n > 0 && !r.bad; n-- {
		if typ == thriftTrue || typ == thriftFalse {
			r.byte()
			continue
		}
		r.skip(typ, depth+1)
	}
}

func (r *thriftReader) skipMap(depth int) {
	n := r.uvarint()
	if n == 0 {
		return
	}
	if n > uint64(len(r.b)-r.pos) {
		r.fail()
		return
	}
	kv := r.byte()
	for ; n > 0 && !r.bad; n-- {
		r.skip(kv>>4, depth+1)
		r.skip(kv&15, depth+1)
	}
}

// checkThrift reports whether b begins with a well-formed struct whose lists
// are no longer than b: after that a decoder that allocates by the announced
// sizes is safe to use.
func checkThrift(b []byte) error {
	r := thriftReader{b: b}
	r.skip(thriftStruct, 0)
	if r.bad {
		return errThrift
	}
	return nil
}

// pageHeader is the part of a page header that reading needs.
type pageHeader struct {
	kind         pqformat.PageType
	uncompressed int32
	compressed   int32
	values       int32
	encoding     pqformat.Encoding
	defEncoding  pqformat.Encoding
	repEncoding  pqformat.Encoding
	rows         int32 // version 2 only
	defBytes     int32
	repBytes     int32
	raw          bool // version 2: stored uncompressed
	crc          int32
	hasCRC       bool
}

// readPageHeader decodes the header at the start of b and returns its length;
// 0 when b does not hold a whole one.
func readPageHeader(b []byte, h *pageHeader) int {
	*h = pageHeader{kind: -1, defEncoding: pqformat.RLE, repEncoding: pqformat.RLE}
	r := thriftReader{b: b}
	var id int16
	var typ byte
	for {
		if id, typ = r.field(id); typ == thriftStop {
			break
		}
		switch {
		case id == 1 && typ == thriftI32:
			h.kind = pqformat.PageType(r.i32())
		case id == 2 && typ == thriftI32:
			h.uncompressed = r.i32()
		case id == 3 && typ == thriftI32:
			h.compressed = r.i32()
		case id == 4 && typ == thriftI32:
			h.crc, h.hasCRC = r.i32(), true
		case (id == 5 || id == 7 || id == 8) && typ == thriftStruct:
			r.dataHeader(id, h)
		default:
			r.skip(typ, 0)
		}
	}
	if r.bad {
		return 0
	}
	return r.pos
}

// dataHeader reads the struct of field which: 5 data page, 7 dictionary page,
// 8 data page of version 2.
func (r *thriftReader) dataHeader(which int16, h *pageHeader) {
	var id int16
	var typ byte
	for {
		if id, typ = r.field(id); typ == thriftStop {
			return
		}
		v2 := which == 8
		switch {
		case typ == thriftI32 && id == 1:
			h.values = r.i32()
		case typ == thriftI32 && (id == 2 && !v2 || id == 4 && v2):
			h.encoding = pqformat.Encoding(r.i32())
		case typ == thriftI32 && which == 5 && id == 3:
			h.defEncoding = pqformat.Encoding(r.i32())
		case typ == thriftI32 && which == 5 && id == 4:
			h.repEncoding = pqformat.Encoding(r.i32())
		case typ == thriftI32 && v2 && id == 3:
			h.rows = r.i32()
		case typ == thriftI32 && v2 && id == 5:
			h.defBytes = r.i32()
		case typ == thriftI32 && v2 && id == 6:
			h.repBytes = r.i32()
		case v2 && id == 7 && typ == thriftFalse:
			h.raw = true
		default:
			r.skip(typ, 0)
		}
	}
}

func appendI32Field(dst []byte, delta byte, v int32) []byte {
	dst = append(dst, delta<<4|thriftI32)
	return binary.AppendUvarint(dst, uint64(uint32(v<<1)^uint32(v>>31)))
}

// appendDataPageHeader writes the header of a data page of version 1.
func appendDataPageHeader(dst []byte, uncompressed, values int, data []byte, enc pqformat.Encoding) []byte {
	dst = appendI32Field(dst, 1, int32(pqformat.DataPage))
	dst = appendI32Field(dst, 1, int32(uncompressed))
	dst = appendI32Field(dst, 1, int32(len(data)))
	dst = appendI32Field(dst, 1, int32(crc32.ChecksumIEEE(data)))
	dst = append(dst, 1<<4|thriftStruct)
	dst = appendI32Field(dst, 1, int32(values))
	dst = appendI32Field(dst, 1, int32(enc))
	dst = appendI32Field(dst, 1, int32(pqformat.RLE))
	dst = appendI32Field(dst, 1, int32(pqformat.RLE))
	return append(dst, thriftStop, thriftStop)
}

// appendDictionaryHeader writes the header of a dictionary page.
func appendDictionaryHeader(dst []byte, uncompressed, values int, data []byte) []byte {
	dst = appendI32Field(dst, 1, int32(pqformat.DictionaryPage))
	dst = appendI32Field(dst, 1, int32(uncompressed))
	dst = appendI32Field(dst, 1, int32(len(data)))
	dst = appendI32Field(dst, 1, int32(crc32.ChecksumIEEE(data)))
	dst = append(dst, 3<<4|thriftStruct)
	dst = appendI32Field(dst, 1, int32(values))
	dst = appendI32Field(dst, 1, int32(pqformat.Plain))
	return append(dst, thriftStop, thriftStop)
}
