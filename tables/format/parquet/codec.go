package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	pqformat "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

var errPageSize = errors.New("a page does not have its announced size")

// maxPage bounds what one page may take decompressed.
const maxPage = 1 << 30

// codec compresses and decompresses pages; its machines are made when first
// needed.
type codec struct {
	id   pqformat.CompressionCodec
	zenc *zstd.Encoder
	zdec *zstd.Decoder
	gz   *gzip.Writer
	buf  bytes.Buffer
}

func codecNamed(name string) (pqformat.CompressionCodec, error) {
	switch strings.ToLower(name) {
	case "", "snappy":
		return pqformat.Snappy, nil
	case "none", "uncompressed":
		return pqformat.Uncompressed, nil
	case "gzip":
		return pqformat.Gzip, nil
	case "zstd":
		return pqformat.Zstd, nil
	}
	return 0, fmt.Errorf("parquet: compression %q is none of snappy, zstd, gzip, none", name)
}

// compress appends the compressed form of src to dst, which is empty.
func (c *codec) compress(dst, src []byte) []byte {
	switch c.id {
	case pqformat.Snappy:
		dst = slices.Grow(dst, s2.MaxEncodedLen(len(src)))
		return s2.EncodeSnappy(dst[:cap(dst)], src)
	case pqformat.Zstd:
		if c.zenc == nil {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
			if err != nil {
				panic("bug: parquet: zstd: " + err.Error())
			}
			c.zenc = e
		}
		return c.zenc.EncodeAll(src, dst)
	case pqformat.Gzip:
		c.buf.Reset()
		if c.gz == nil {
			c.gz = gzip.NewWriter(&c.buf)
		} else {
			c.gz.Reset(&c.buf)
		}
		_, _ = c.gz.Write(src) // a bytes.Buffer does not fail
		_ = c.gz.Close()
		return append(dst, c.buf.Bytes()...)
	}
	return append(dst, src...)
}

// decompress returns the size bytes that src stands for; dst is scratch.
func (c *codec) decompress(id pqformat.CompressionCodec, dst, src []byte, size int) ([]byte, error) {
	if size < 0 || size > maxPage {
		return nil, errPageSize
	}
	var err error
	switch id {
	case pqformat.Uncompressed:
		dst = src
	case pqformat.Snappy:
		n, e := s2.DecodedLen(src)
		if e != nil || n != size || n > 64*len(src)+64 {
			return nil, errPageSize
		}
		dst, err = s2.Decode(slices.Grow(dst[:0], size)[:size], src)
	case pqformat.Zstd:
		if c.zdec == nil {
			c.zdec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecoderLowmem(true))
			if err != nil {
				return nil, err
			}
		}
		dst, err = c.zdec.DecodeAll(src, dst[:0])
	case pqformat.Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			dst, err = readSized(r, dst, size)
		}
	case pqformat.Brotli:
		dst, err = readSized(brotli.NewReader(bytes.NewReader(src)), dst, size)
	case pqformat.Lz4Raw:
		dst, err = lz4Block(dst, src, size)
	case pqformat.Lz4:
		dst, err = lz4Hadoop(dst, src, size)
	default:
		return nil, fmt.Errorf("compression %s is not supported", id)
	}
	if err != nil {
		return nil, err
	}
	if len(dst) != size {
		return nil, errPageSize
	}
	return dst, nil
}

// readSized reads r into dst as far as size+1 bytes.
func readSized(r io.Reader, dst []byte, size int) ([]byte, error) {
	b := bytes.NewBuffer(dst[:0])
	_, err := b.ReadFrom(io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}

func lz4Block(dst, src []byte, size int) ([]byte, error) {
	if size > 255*len(src)+64 {
		return nil, errPageSize
	}
	dst = slices.Grow(dst[:0], size)[:size]
	if size == 0 {
		return dst, nil
	}
	n, err := lz4.UncompressBlock(src, dst)
	return dst[:max(0, n)], err
}

// lz4Hadoop decodes the old LZ4 codec: Hadoop frames (two big-endian lengths
// before each block), or a bare block as some writers stored.
func lz4Hadoop(dst, src []byte, size int) ([]byte, error) {
	var out []byte
	rest := src
	for len(rest) >= 8 && len(out) < size {
		n := int(binary.BigEndian.Uint32(rest))
		k := int(binary.BigEndian.Uint32(rest[4:]))
		if k <= 0 || k > len(rest)-8 || n > size-len(out) {
			break
		}
		block, err := lz4Block(nil, rest[8:8+k], n)
		if err != nil {
			break
		}
		out, rest = append(out, block...), rest[8+k:]
	}
	if len(out) == size && len(rest) == 0 {
		return out, nil
	}
	return lz4Block(dst, src, size)
}
