package csv

import (
	"io"

	codec "pipelines/tables/codec/csv"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/format/block"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// writer writes one file.
type writer struct {
	out  *block.Writer
	enc  *codec.Encoder
	buf  []byte
	sep  string
	rows int64
}

// Create starts writing one file.
func (Format) Create(w io.Writer, spec format.WriteSpec) (format.Writer, error) {
	o, err := codec.ParseOptions(spec.Options)
	if err != nil {
		return nil, err
	}
	for _, f := range spec.Schema.Fields {
		if f.Type.IsNested() || f.Type.Kind == schema.Variant {
			return nil, &codec.TypeError{Type: f.Type}
		}
	}
	if o.Zone == nil {
		o.Zone = text.NewZone(spec.Location)
	}
	enc, err := codec.NewEncoder(o)
	if err != nil {
		return nil, err
	}
	out, err := block.NewWriter(w, spec.Options["compression"])
	if err != nil {
		return nil, err
	}
	res := &writer{out: out, enc: enc, sep: o.LineSep}
	if res.sep == "" {
		res.sep = "\n"
	}
	if o.Header {
		_, err = out.Write(append(enc.AppendHeader(nil, spec.Schema.Names()), res.sep...))
	}
	return res, err
}

// Write adds the selected rows of b.
func (w *writer) Write(b *column.Batch) error {
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
func (w *writer) Size() int64 { return w.out.Size() }

// Close finishes the file.
func (w *writer) Close() (format.FileStats, error) {
	err := w.out.Close()
	return format.FileStats{Rows: w.rows, Bytes: w.out.Size()}, err
}
