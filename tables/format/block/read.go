package block

import (
	"bytes"
	"fmt"
	"io"
)

// Padding is how many readable bytes follow a block in its buffer.
const Padding = 64

// fill reads more behind what is left, growing the buffer if it is full.
func (r *Reader) fill() error {
	if r.from > 0 {
		copy(r.buf, r.buf[r.from:r.to])
		r.to -= r.from
		r.from = 0
	}
	if r.to+1+Padding >= len(r.buf) {
		if len(r.buf) > MaxRecord {
			return r.wrap(fmt.Errorf("a record at byte %d is longer than %d bytes", r.offset, MaxRecord))
		}
		first := int64(Size)
		if r.src == io.Reader(r.raw) { // a small file needs no large block
			first = min(first, max(r.raw.obj.Size(), 512))
		}
		grown := make([]byte, max(int(first)+1+Padding, 2*len(r.buf)))
		copy(grown, r.buf[:r.to])
		r.buf = grown
	}
	room := r.buf[:len(r.buf)-1-Padding]
	for r.to < len(room) && !r.eof {
		n, err := r.src.Read(room[r.to:])
		r.to += n
		if err == io.EOF {
			r.eof = true
		} else if err != nil {
			return r.wrap(err)
		}
	}
	if !r.begun && (r.to >= 3 || r.eof) {
		r.begun = true
		if bytes.HasPrefix(r.buf[:r.to], []byte("\xef\xbb\xbf")) {
			r.from, r.offset = 3, 3
		}
	}
	return nil
}

// Block is a piece of the file: Buf[From:End], followed in Buf by Padding
// bytes.
type Block struct {
	Buf       []byte
	From, End int
	Offset    int64 // of From in the decompressed file
}

// Lines returns the next block of whole lines, or io.EOF. The last byte of a
// block is a line feed or a carriage return that no line feed follows.
func (r *Reader) Lines() (Block, error) {
	for {
		if r.eof && r.from == r.to && r.begun {
			return Block{}, io.EOF
		}
		if r.eof && r.to > r.from {
			return r.lastLines(), nil
		}
		if err := r.fill(); err != nil {
			return Block{}, err
		}
		if end := wholeLines(r.buf[r.from:r.to], r.eof); end > 0 {
			return r.take(r.from + end), nil
		}
	}
}

// lastLines hands out the rest, closed with a line feed.
func (r *Reader) lastLines() Block {
	if c := r.buf[r.to-1]; c != '\n' && c != '\r' {
		r.buf[r.to] = '\n'
		r.to++
	}
	return r.take(r.to)
}

func (r *Reader) take(end int) Block {
	b := Block{Buf: r.buf, From: r.from, End: end, Offset: r.offset}
	r.offset += int64(end - r.from)
	r.from = end
	return b
}

// wholeLines returns the length of the whole lines at the start of b.
func wholeLines(b []byte, eof bool) int {
	if n := bytes.LastIndexByte(b, '\n'); n >= 0 {
		return n + 1
	}
	if eof || len(b) == 0 {
		return 0
	}
	return bytes.LastIndexByte(b[:len(b)-1], '\r') + 1
}

// Records returns the next record that ends with sep, without it; io.EOF after
// the last. A last record without sep counts, an empty rest does not.
func (r *Reader) Records(sep []byte) (record []byte, offset int64, err error) {
	seen := 0
	for {
		if n := bytes.Index(r.buf[r.from+seen:r.to], sep); n >= 0 {
			b := r.take(r.from + seen + n + len(sep))
			return b.Buf[b.From : b.End-len(sep)], b.Offset, nil
		}
		seen = max(r.to-r.from-len(sep)+1, 0)
		if r.eof && r.begun {
			if r.from == r.to {
				return nil, 0, io.EOF
			}
			b := r.take(r.to)
			return b.Buf[b.From:b.End], b.Offset, nil
		}
		if err := r.fill(); err != nil {
			return nil, 0, err
		}
	}
}

// All returns the rest of the file as one block; an empty one at the end.
func (r *Reader) All() (Block, error) {
	for !r.eof || !r.begun {
		if err := r.fill(); err != nil {
			return Block{}, err
		}
	}
	return r.take(r.to), nil
}
