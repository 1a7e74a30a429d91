package block

import (
	"io"

	"pipelines/tables/column"
	"pipelines/tables/format"
)

// RowEncoder appends the text of row i of the columns.
type RowEncoder interface {
	AppendRow(dst []byte, cols []*column.Vector, i int) []byte
}

// RowWriter writes one file, a record a row.
type RowWriter struct {
	out  *Writer
	enc  RowEncoder
	buf  []byte
	sep  string
	rows int64
}

// NewRowWriter writes to w; a record ends with sep, a line feed if that is
// empty.
func NewRowWriter(w io.Writer, enc RowEncoder, compression, sep string) (*RowWriter, error) {
	out, err := NewWriter(w, compression)
	if err != nil {
		return nil, err
	}
	if sep == "" {
		sep = "\n"
	}
	return &RowWriter{out: out, enc: enc, sep: sep}, nil
}

// WriteRecord adds a record that is no row: a header.
func (w *RowWriter) WriteRecord(text []byte) error {
	_, err := w.out.Write(append(text, w.sep...))
	return err
}

// Write adds the selected rows of b.
func (w *RowWriter) Write(b *column.Batch) error {
	w.buf = w.buf[:0]
	for k := range b.Rows() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		w.buf = append(w.enc.AppendRow(w.buf, b.Cols, i), w.sep...)
	}
	w.rows += int64(b.Rows())
	_, err := w.out.Write(w.buf)
	return err
}

// Size returns the bytes written so far.
func (w *RowWriter) Size() int64 { return w.out.Size() }

// Close finishes the file.
func (w *RowWriter) Close() (format.FileStats, error) {
	err := w.out.Close()
	return format.FileStats{Rows: w.rows, Bytes: w.out.Size()}, err
}
