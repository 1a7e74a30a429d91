package csv

import (
	"errors"
	"io"

	codec "pipelines/tables/codec/csv"
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
	rows int // of a batch

	cur  block.Block
	all  bool // cur is the whole file
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
	case custom(s.opts.LineSep):
		err = s.records()
	default:
		err = s.lines()
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
	s.done = true
	if err != nil {
		return nil, err
	}
	return nil, io.EOF
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
		rec, offset, err := s.r.Records([]byte(s.opts.LineSep))
		if err != nil {
			return err
		}
		if err := s.dec.DecodeLine(rec); err != nil {
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
	at, err := s.dec.DecodeRecords(s.cur.Buf[:s.cur.End], s.cur.From, s.rows)
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
	if h, ok := errors.AsType[*codec.HeaderError](err); ok {
		return &format.RecordError{File: s.name, Line: 1, Class: "CSV_HEADER_MISMATCH", Err: h}
	}
	e, ok := errors.AsType[*codec.RecordError](err)
	if !ok {
		return err
	}
	rec := e.Record
	if len(rec) > 200 {
		rec = rec[:200]
	}
	return &format.RecordError{File: s.name, Offset: base + int64(e.Offset), Class: "FAILED_READ_FILE.NO_HINT", Record: string(rec),
		Err: errorText{"[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] " + e.Error(), e.Err}}
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
