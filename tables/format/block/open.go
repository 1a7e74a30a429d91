package block

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"pipelines/stores"
	"pipelines/tables/format"
)

// Size is the usual size of a block.
const Size = 256 << 10

// MaxRecord is the longest record that is read.
const MaxRecord = 512 << 20

// Reader reads one file.
type Reader struct {
	name  string
	obj   stores.Object
	raw   *counter
	src   io.Reader
	close func() // of the decompressor, may be nil
	// packed says that the file is compressed.
	packed bool

	buf      []byte
	from, to int   // what is read and not handed out
	offset   int64 // of buf[from] in the decompressed file
	eof      bool
	begun    bool
}

// counter reads the object and counts the bytes.
type counter struct {
	obj stores.Object
	off int64
}

func (c *counter) Read(p []byte) (int, error) {
	if left := c.obj.Size() - c.off; left <= 0 {
		return 0, io.EOF
	} else if int64(len(p)) > left {
		p = p[:left]
	}
	n, err := c.obj.ReadAt(p, c.off)
	c.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Open starts reading in, of one of record.Charsets or, with none, UTF-8; the
// reader closes the object.
func Open(in format.Input, charset string) (*Reader, error) {
	r := &Reader{name: in.Name, obj: in.Object, raw: &counter{obj: in.Object}}
	r.src = r.raw
	var err error
	switch ext := strings.ToLower(path.Ext(in.Name)); ext {
	case ".gz", ".gzip":
		r.src = &gzipReader{in: bufio.NewReaderSize(r.raw, 64<<10)}
	case ".zst", ".zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(r.raw, zstd.WithDecoderConcurrency(1))
		if err == nil {
			r.src, r.close = z, z.Close
		}
	case ".bz2":
		r.src = bzip2.NewReader(bufio.NewReader(r.raw))
	case ".deflate":
		r.src = &zlibReader{in: r.raw}
	case ".lz4", ".snappy":
		err = fmt.Errorf("compression %s is not supported", ext)
	}
	if err != nil {
		return nil, r.wrap(err)
	}
	r.packed = r.src != io.Reader(r.raw)
	if r.src, err = decode(r.src, charset); err != nil {
		return nil, r.wrap(err)
	}
	return r, nil
}

// gzipReader reads joined gzip members; zero bytes behind the last are ignored.
type gzipReader struct {
	in *bufio.Reader
	z  *gzip.Reader
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for {
		if g.z == nil {
			z, err := gzip.NewReader(g.in)
			if err != nil { // io.EOF: an empty file
				return 0, err
			}
			g.z = z
			g.z.Multistream(false)
		}
		n, err := g.z.Read(p)
		if err != io.EOF || n > 0 {
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
		if err := g.nextMember(); err != nil {
			return 0, err
		}
	}
}

// nextMember starts the member that follows, or returns io.EOF.
func (g *gzipReader) nextMember() error {
	for {
		b, err := g.in.ReadByte()
		if err != nil {
			return err
		}
		if b == 0 {
			continue
		}
		if err := g.in.UnreadByte(); err != nil {
			return err
		}
		if err = g.z.Reset(g.in); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			g.z.Multistream(false)
		}
		return err
	}
}

// zlibReader opens the stream with the first read.
type zlibReader struct {
	in io.Reader
	z  io.ReadCloser
}

func (z *zlibReader) Read(p []byte) (int, error) {
	if z.z == nil {
		var err error
		if z.z, err = zlib.NewReader(z.in); err != nil {
			return 0, err
		}
	}
	return z.z.Read(p)
}

// wrap names the file; damaged compression is of class Corrupt.
func (r *Reader) wrap(err error) error {
	err = fmt.Errorf("read %s: %w", r.name, err)
	if r.packed {
		var known *stores.ClassError
		if !errors.As(err, &known) {
			return &stores.ClassError{Class: stores.Corrupt, Err: err}
		}
	}
	return err
}

// Bytes returns how many bytes of the object were read.
func (r *Reader) Bytes() int64 { return r.raw.off }

// Close closes the object.
func (r *Reader) Close() error {
	if r.close != nil {
		r.close()
		r.close = nil
	}
	if r.obj == nil {
		return nil
	}
	err := r.obj.Close()
	r.obj = nil
	return err
}
