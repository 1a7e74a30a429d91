package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"pipelines/spec/option"
	"pipelines/tables/codec/record"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/format/block"
	"pipelines/tables/schema"
)

// maxBatchBytes ends a batch early, so that the offsets of text vectors fit.
const maxBatchBytes = 512 << 20

// Format is the text format.
type Format struct{}

// New returns the format.
func New() Format { return Format{} }

// Name returns text.
func (Format) Name() string { return "text" }

// Fields returns the reader and writer options.
func (Format) Fields() []option.Field {
	return []option.Field{
		{Name: "wholeText", Type: option.TypeBool, Default: "false", Doc: "A file is one row."},
		{Name: "lineSep", Type: option.TypeString, Doc: "What ends a row; any line break by default."},
		{Name: "encoding", Aliases: []string{"charset"}, Type: option.TypeString, Default: "UTF-8", Doc: "Only UTF-8 is supported."},
		{Name: "compression", Type: option.TypeString, Default: "none", Doc: "What the writer compresses with: none, gzip or zstd."},
	}
}

// options are the decoded reader options.
type options struct {
	sep   string // empty: any line break
	whole bool
}

func parseOptions(m map[string]string) (o options, err error) {
	err = record.ReadAll(m, func(name, value string) *record.OptionError {
		switch name {
		case "wholetext":
			return record.SetFlag(&o.whole, value, true)
		case "linesep":
			if value == "" {
				return &record.OptionError{Value: value, Reason: "must not be empty"}
			}
			o.sep = value
		case "encoding", "charset":
			if !strings.EqualFold(value, record.UTF8) && !strings.EqualFold(value, "UTF8") {
				return &record.OptionError{Value: value, Reason: "is not supported: only UTF-8 is"}
			}
		case "compression":
			return record.CheckCompression(value)
		}
		return nil
	})
	return o, err
}

// CheckOptions refuses values that no reader takes.
func (Format) CheckOptions(opts map[string]string) error {
	_, err := parseOptions(opts)
	return err
}

// Infer returns the one column.
func (Format) Infer(context.Context, []format.Input, format.ReadSpec) (schema.Schema, error) {
	return schema.Schema{Fields: []schema.Field{{Name: "value", Type: schema.Of(schema.String), Nullable: true}}}, nil
}

// Open starts reading one file.
func (Format) Open(_ context.Context, in format.Input, spec format.ReadSpec) (format.Scanner, error) {
	if n := len(spec.Columns.Fields); n > 1 || n == 1 && spec.Columns.Fields[0].Type.Kind != schema.String {
		return nil, fmt.Errorf("text files have one column of type STRING, not %s", spec.Columns.DDL())
	}
	o, err := parseOptions(spec.Options)
	if err != nil {
		return nil, err
	}
	r, err := block.Open(in, "")
	if err != nil {
		return nil, err
	}
	s := &scanner{r: r, spec: spec, rows: spec.BatchRows, sep: []byte(o.sep), whole: o.whole}
	if s.rows <= 0 {
		s.rows = column.BatchRows
	}
	return s, nil
}

// scanner reads one file.
type scanner struct {
	r       *block.Reader
	spec    format.ReadSpec
	rows    int
	sep     []byte
	whole   bool
	cur     block.Block
	done    bool
	records int64
}

// Next returns the next batch.
func (s *scanner) Next() (*column.Batch, error) {
	if s.done {
		return nil, io.EOF
	}
	b := s.spec.Pool.Batch()
	var v *column.Vector
	if len(s.spec.Columns.Fields) == 1 {
		v = s.spec.Pool.Vector(s.spec.Columns.Fields[0].Type)
		b.Cols = append(b.Cols, v)
	}
	var err error
	for size := 0; b.Len < s.rows && size < maxBatchBytes; b.Len++ {
		var line []byte
		if line, err = s.line(); err != nil {
			break
		}
		if v != nil {
			v.AppendStr(line)
		}
		size += len(line)
	}
	s.records += int64(b.Len)
	s.done = err != nil
	if err == io.EOF && b.Len > 0 {
		err = nil
	}
	if err != nil || b.Len == 0 {
		b.Release()
		return nil, err
	}
	return b, nil
}

// line returns the next row's text.
func (s *scanner) line() ([]byte, error) {
	switch {
	case s.whole && s.records > 0:
		return nil, io.EOF
	case s.whole:
		b, err := s.r.All()
		s.rows = 1
		return b.Buf[b.From:b.End], err
	case len(s.sep) > 0:
		rec, _, err := s.r.Records(s.sep)
		return rec, err
	}
	if s.cur.From == s.cur.End {
		next, err := s.r.Lines()
		if err != nil {
			return nil, err
		}
		s.cur = next
	}
	b := s.cur.Buf[s.cur.From:s.cur.End]
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		n = len(b) - 1
	}
	next := n + 1
	if k := bytes.IndexByte(b[:n+1], '\r'); k >= 0 {
		if n, next = k, k+1; next < len(b) && b[next] == '\n' {
			next++
		}
	}
	s.cur.From += next
	return b[:n], nil
}

// Counts returns what was met so far.
func (s *scanner) Counts() format.Counts {
	return format.Counts{Records: s.records, Bytes: s.r.Bytes()}
}

// Close closes the file.
func (s *scanner) Close() error { return s.r.Close() }

// Create starts writing one file.
func (Format) Create(w io.Writer, spec format.WriteSpec) (format.Writer, error) {
	if len(spec.Schema.Fields) != 1 || spec.Schema.Fields[0].Type.Kind != schema.String {
		return nil, fmt.Errorf("text files have one column of type STRING, not %s", spec.Schema.DDL())
	}
	return block.NewRowWriter(w, encoder{}, spec.Options["compression"], spec.Options["linesep"])
}

// encoder writes the one column's text; a null is an empty line.
type encoder struct{}

func (encoder) AppendRow(dst []byte, cols []*column.Vector, i int) []byte {
	v := cols[0]
	for v.Dict != nil && !v.IsNull(i) {
		v, i = v.Dict, int(v.Index[i])
	}
	if v.IsNull(i) {
		return dst
	}
	return append(dst, v.Str(i)...)
}
