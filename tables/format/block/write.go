package block

import (
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Writer writes the bytes of one file, compressed if asked.
type Writer struct {
	raw  counted
	dst  io.Writer
	done func() error
}

type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// NewWriter writes to w; compression is none (or empty), gzip or zstd.
func NewWriter(w io.Writer, compression string) (*Writer, error) {
	out := &Writer{raw: counted{w: w}}
	switch strings.ToLower(compression) {
	case "", "none", "uncompressed":
		out.dst = &out.raw
	case "gzip":
		z := gzip.NewWriter(&out.raw)
		out.dst, out.done = z, z.Close
	case "zstd":
		z, err := zstd.NewWriter(&out.raw, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		out.dst, out.done = z, z.Close
	default:
		return nil, fmt.Errorf("option compression: %q is not supported: none, gzip and zstd are", compression)
	}
	return out, nil
}

// Write writes p.
func (w *Writer) Write(p []byte) (int, error) { return w.dst.Write(p) }

// Size returns the bytes that left so far, behind compression.
func (w *Writer) Size() int64 { return w.raw.n }

// Close ends the compression, not the writer below.
func (w *Writer) Close() error {
	if w.done == nil {
		return nil
	}
	return w.done()
}
