package block

import (
	"errors"
	"io"

	"pipelines/tables/codec/record"
	"pipelines/tables/column"
	"pipelines/tables/format"
)

// maxBatchBytes ends a batch early, so that the offsets of text vectors fit.
const maxBatchBytes = 512 << 20

// Decoder appends records to vectors. Its errors about a record are
// *record.Error, whose offset counts from the start of the buffer.
type Decoder interface {
	// BindColumns starts a batch: rows are appended to the empty vectors.
	BindColumns(cols []*column.Vector)
	// DecodeLines appends the records of the lines in b[from:end] until the
	// batch has limit rows, and returns where it stopped.
	DecodeLines(b []byte, from, end, limit int) (int, error)
	// DecodeRecord appends what stands between two separators of the user's.
	DecodeRecord(rec []byte) error
	// DecodeWhole is DecodeLines for the whole file, whose records may have
	// line breaks; b ends with the file.
	DecodeWhole(b []byte, from, limit int) (int, error)
	// Rows returns how many rows the batch has.
	Rows() int
	// Finish ends the batch: the vectors get their length.
	Finish()
	// Stats returns the counts since the decoder was made.
	Stats() record.Stats
}

// Layout says how records lie in a file.
type Layout struct {
	Whole bool   // read as one piece: records may have line breaks
	Sep   string // the separator; empty is any line break
	// Charset is one of those of package record; empty is UTF-8.
	Charset string
}

// scanner reads one file by a decoder.
type scanner struct {
	r        *Reader
	dec      Decoder
	spec     format.ReadSpec
	layout   Layout
	sep      []byte
	failFast bool
	rows     int // of a batch

	cur  Block
	all  bool // cur is the whole file
	done bool
}

// Scan starts reading a file by a decoder.
func Scan(in format.Input, spec format.ReadSpec, o record.Options, dec Decoder) (format.Scanner, error) {
	r, err := Open(in, o.Charset)
	if err != nil {
		return nil, err
	}
	s := &scanner{r: r, dec: dec, spec: spec, layout: LayoutOf(o), rows: spec.BatchRows, failFast: o.Mode == record.FailFast}
	s.sep = []byte(s.layout.Sep)
	if s.rows <= 0 {
		s.rows = column.BatchRows
	}
	return s, nil
}

// LayoutOf returns what the options say.
func LayoutOf(o record.Options) Layout {
	return Layout{Whole: o.MultiLine, Sep: o.LineSep, Charset: o.Charset}
}

// Next returns the next batch.
func (s *scanner) Next() (*column.Batch, error) {
	if s.done {
		return nil, io.EOF
	}
	b := s.spec.Pool.Batch()
	for _, f := range s.spec.Columns.Fields {
		b.Cols = append(b.Cols, s.spec.Pool.Vector(f.Type))
	}
	s.dec.BindColumns(b.Cols)
	var err error
	for err == nil && s.dec.Rows() == 0 { // again where all records were dropped
		err = s.fill()
	}
	s.done = err != nil
	s.dec.Finish()
	b.Len = s.dec.Rows()
	if err == io.EOF && b.Len > 0 {
		err = nil
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// fill adds rows to the batch up to its limits; io.EOF says that they are the
// last.
func (s *scanner) fill() error {
	switch {
	case s.layout.Whole:
		return s.whole()
	case len(s.sep) > 0:
		return s.records()
	}
	return s.lines()
}

// lines fills the batch from blocks of lines.
func (s *scanner) lines() error {
	for bytes := 0; s.dec.Rows() < s.rows && bytes < maxBatchBytes; {
		if s.cur.From == s.cur.End {
			next, err := s.r.Lines()
			if err != nil {
				return err
			}
			s.cur = next
		}
		at, err := s.dec.DecodeLines(s.cur.Buf, s.cur.From, s.cur.End, s.rows)
		if err != nil {
			return s.recordError(err, s.cur.Offset-int64(s.cur.From))
		}
		bytes += at - s.cur.From
		s.advance(at)
	}
	return nil
}

func (s *scanner) advance(at int) {
	s.cur.Offset += int64(at - s.cur.From)
	s.cur.From = at
}

// records fills the batch record by record.
func (s *scanner) records() error {
	for bytes := 0; s.dec.Rows() < s.rows && bytes < maxBatchBytes; {
		rec, offset, err := s.r.Records(s.sep)
		if err != nil {
			return err
		}
		if err := s.dec.DecodeRecord(rec); err != nil {
			return s.recordError(err, offset)
		}
		bytes += len(rec)
	}
	return nil
}

// whole fills the batch from the whole file.
func (s *scanner) whole() error {
	if !s.all {
		b, err := s.r.All()
		if err != nil {
			return err
		}
		s.cur, s.all = b, true
	}
	at, err := s.dec.DecodeWhole(s.cur.Buf[:s.cur.End], s.cur.From, s.rows)
	if err != nil {
		return s.recordError(err, s.cur.Offset-int64(s.cur.From))
	}
	s.advance(at)
	if s.cur.From >= s.cur.End {
		return io.EOF
	}
	return nil
}

// recordError names the file and place of a record that FAILFAST or a limit
// met; base is the place of the buffer in the file.
func (s *scanner) recordError(err error, base int64) error {
	if known, ok := errors.AsType[*format.RecordError](err); ok {
		known.File = s.r.name
		return known
	}
	e, ok := errors.AsType[*record.Error](err)
	if !ok {
		return err
	}
	text := "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] " + e.Error()
	if s.failFast {
		text += " (mode FAILFAST)"
	}
	return &format.RecordError{File: s.r.name, Offset: base + int64(e.Offset), Class: "FAILED_READ_FILE.NO_HINT", Record: string(e.Start()),
		Err: errorText{text, e.Err}}
}

// errorText is an error with its own text around a cause.
type errorText struct {
	text  string
	cause error
}

func (e errorText) Error() string { return e.text }
func (e errorText) Unwrap() error { return e.cause }

// Counts returns what was met so far.
func (s *scanner) Counts() format.Counts {
	st := s.dec.Stats()
	return format.Counts{Records: st.Records, Corrupt: st.Corrupt, Dropped: st.Dropped, Bytes: s.r.Bytes()}
}

// Close closes the file.
func (s *scanner) Close() error { return s.r.Close() }
