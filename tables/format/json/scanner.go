package json

import (
	"errors"
	"io"

	codec "pipelines/tables/codec/json"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/format/block"
)

// maxBatchBytes ends a batch early, so that the offsets of text vectors fit.
const maxBatchBytes = 512 << 20

// scanner reads one file.
type scanner struct {
	r    *block.Reader
	dec  *codec.Decoder
	spec format.ReadSpec
	opts codec.Options
	name string
	sep  []byte
	rows int // of a batch

	cur  block.Block
	done bool
}

// limit returns the most rows of a batch.
func limit(spec format.ReadSpec) int {
	if spec.BatchRows > 0 {
		return spec.BatchRows
	}
	return column.BatchRows
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
	switch {
	case s.opts.MultiLine:
		err = s.whole()
	case len(s.sep) > 0:
		err = s.records()
	default:
		err = s.decodeLines()
	}
	if err == io.EOF {
		s.done = true
		err = nil
	}
	s.dec.Finish()
	b.Len = s.dec.Rows()
	if err == nil && b.Len > 0 {
		return b, nil
	}
	b.Release()
	if err != nil {
		s.done = true
		return nil, err
	}
	return nil, io.EOF
}

// decodeLines fills the batch from blocks of lines.
func (s *scanner) decodeLines() error {
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
			return s.recordError(err, s.cur.Offset)
		}
		bytes += at - s.cur.From
		s.cur.Offset += int64(at - s.cur.From)
		s.cur.From = at
	}
	return nil
}

// records fills the batch record by record.
func (s *scanner) records() error {
	for bytes := 0; s.dec.Rows() < s.rows && bytes < maxBatchBytes; {
		rec, offset, err := s.r.Records(s.sep)
		if err != nil {
			return err
		}
		if _, err := s.dec.DecodeRows(rec, 0); err != nil {
			return s.recordError(err, offset)
		}
		bytes += len(rec)
	}
	return nil
}

// whole decodes the file as one value, of which the rows of an array come
// batch by batch (but with DROPMALFORMED all at once).
func (s *scanner) whole() error {
	var err error
	if s.dec.Pending() {
		err = s.dec.Resume()
	} else {
		all, e := s.r.All()
		if e != nil {
			return e
		}
		_, err = s.dec.DecodeRows(all.Buf[all.From:all.End], s.rows)
	}
	if err != nil {
		return s.recordError(err, 0)
	}
	if s.dec.Pending() {
		return nil
	}
	return io.EOF
}

// recordError names the file and place of a record that FAILFAST met.
func (s *scanner) recordError(err error, offset int64) error {
	e, ok := errors.AsType[*codec.RecordError](err)
	if !ok {
		return err
	}
	rec := e.Record
	if len(rec) > 200 {
		rec = rec[:200]
	}
	at := int64(e.Offset)
	if len(s.sep) == 0 && !s.opts.MultiLine {
		at -= int64(s.cur.From)
	}
	return &format.RecordError{File: s.name, Offset: offset + at, Class: "FAILED_READ_FILE.NO_HINT", Record: string(rec),
		Err: errorText{"[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] " + e.Error() + " (mode FAILFAST)", e.Err}}
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
