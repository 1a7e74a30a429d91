package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"pipelines/stores"
	"pipelines/tables/format"
)

// tailBytes is what is read first, from the end of the file.
const tailBytes = 64 << 10

// file is an opened file: its footer and a way to its bytes.
type file struct {
	name  string
	obj   stores.Object
	size  int64
	tail  []byte // the last bytes of the file
	bytes int64  // read from the object
	meta  pqformat.FileMetaData
	root  *fileNode
}

// corrupt wraps an error about the content of the file.
func (f *file) corrupt(err error) error {
	return &stores.ClassError{Class: stores.Corrupt, Err: fmt.Errorf("parquet file %s: %w", f.name, err)}
}

func (f *file) corruptf(text string, args ...any) error {
	return f.corrupt(fmt.Errorf(text, args...))
}

// openFile reads the footer of in. Only a failed open leaves in.Object to the
// caller.
func openFile(in format.Input) (f *file, err error) {
	f = &file{name: in.Name, obj: in.Object, size: in.Object.Size()}
	defer func() {
		if p := recover(); p != nil { // of the library that decodes the footer
			f, err = nil, f.corruptf("malformed footer: %v", p)
		}
	}()
	if f.size < 12 {
		return nil, f.corruptf("%d bytes are no Parquet file", f.size)
	}
	n := min(f.size, tailBytes)
	if f.tail, err = f.readAt(make([]byte, n), f.size-n); err != nil {
		return nil, err
	}
	end := f.tail[len(f.tail)-8:]
	if m := string(end[4:]); m != magic {
		if m == "PARE" {
			return nil, fmt.Errorf("parquet file %s: encrypted files cannot be read", f.name)
		}
		return nil, f.corruptf("no Parquet file: it does not end with %s", magic)
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > f.size-12 {
		return nil, f.corruptf("footer of %d bytes in a file of %d", length, f.size)
	}
	if length+8 > n {
		if f.tail, err = f.readAt(make([]byte, length+8), f.size-length-8); err != nil {
			return nil, err
		}
	}
	foot := f.tail[int64(len(f.tail))-8-length : len(f.tail)-8]
	if err := checkThrift(foot); err != nil {
		return nil, f.corrupt(fmt.Errorf("footer: %w", err))
	}
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, foot, &f.meta); err != nil {
		return nil, f.corrupt(fmt.Errorf("footer: %w", err))
	}
	if err := f.check(); err != nil {
		return nil, f.corrupt(err)
	}
	return f, nil
}

// check validates what reading relies on.
func (f *file) check() error {
	leaves := 0
	var err error
	if f.root, leaves, err = buildFileTree(f.meta.Schema); err != nil {
		return err
	}
	total := int64(0)
	for g := range f.meta.RowGroups {
		rg := &f.meta.RowGroups[g]
		if rg.NumRows < 0 || len(rg.Columns) != leaves {
			return fmt.Errorf("row group %d: %d rows, %d columns of %d", g, rg.NumRows, len(rg.Columns), leaves)
		}
		total += rg.NumRows
	}
	if total != f.meta.NumRows || total < 0 {
		return fmt.Errorf("%d rows in the footer, %d in row groups", f.meta.NumRows, total)
	}
	return nil
}

func (f *file) readAt(b []byte, off int64) ([]byte, error) {
	n, err := f.obj.ReadAt(b, off)
	f.bytes += int64(n)
	if n == len(b) {
		return b, nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("parquet file %s: reading %d bytes at %d: %w", f.name, len(b), off, err)
}

// window gives slices of a range of the file, reading ahead.
type window struct {
	f     *file
	end   int64 // no reading beyond
	start int64 // of buf in the file
	buf   []byte
}

const readAhead = 256 << 10

// fetch returns n bytes at off, valid until the next fetch.
func (w *window) fetch(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off+n > w.end {
		return nil, w.f.corruptf("a page reaches beyond its column")
	}
	if at := off - (w.f.size - int64(len(w.f.tail))); at >= 0 {
		return w.f.tail[at : at+n], nil
	}
	if at := off - w.start; at >= 0 && at+n <= int64(len(w.buf)) {
		return w.buf[at : at+n], nil
	}
	size := min(max(n, readAhead), w.end-off)
	var have []byte // what is there already
	if at := off - w.start; at >= 0 && at < int64(len(w.buf)) {
		have = w.buf[at:]
	}
	buf := w.buf
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	k := copy(buf, have)
	w.buf, w.start = buf, off
	if _, err := w.f.readAt(buf[k:], off+int64(k)); err != nil {
		w.buf = w.buf[:0]
		return nil, err
	}
	return buf[:n], nil
}
