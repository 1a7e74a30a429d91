package csv

import (
	"bytes"

	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Encoder prints rows as CSV text by the rules of to_csv and the CSV writer.
type Encoder struct {
	opts  Options
	fmt   text.Formats
	value []byte
}

// NewEncoder returns an encoder.
func NewEncoder(o Options) (*Encoder, error) {
	e := &Encoder{opts: o}
	var err error
	e.fmt, err = o.Formats(false)
	return e, err
}

// AppendRow appends row i of the columns, without a line end.
func (e *Encoder) AppendRow(dst []byte, cols []*column.Vector, i int) []byte {
	for k, v := range cols {
		if k > 0 {
			dst = append(dst, e.opts.Sep...)
		}
		dst = e.cell(dst, v, i)
	}
	return dst
}

// AppendHeader appends the names of the columns.
func (e *Encoder) AppendHeader(dst []byte, names []string) []byte {
	for k, n := range names {
		if k > 0 {
			dst = append(dst, e.opts.Sep...)
		}
		dst = e.text(dst, []byte(n))
	}
	return dst
}

func (e *Encoder) cell(dst []byte, v *column.Vector, i int) []byte {
	for v.Dict != nil && !v.IsNull(i) {
		v, i = v.Dict, int(v.Index[i])
	}
	if v.IsNull(i) {
		return e.text0(dst, []byte(e.opts.NullValue))
	}
	i = v.Row(i)
	s := e.value[:0]
	switch v.Type.Kind {
	case schema.Date:
		s = e.fmt.AppendDate(s, v.I32[i])
	case schema.Timestamp:
		s = e.fmt.AppendTimestamp(s, v.I64[i])
	case schema.TimestampNTZ:
		s = e.fmt.AppendNTZ(s, v.I64[i])
	case schema.Binary:
		s = e.opts.Binary.Append(s, v.Str(i))
	default:
		s = text.AppendValue(s, v, i, e.fmt.Zone)
	}
	e.value = s
	return e.text(dst, s)
}

// text0 is text for what stands for null: an empty one stays empty.
func (e *Encoder) text0(dst, s []byte) []byte {
	if len(s) == 0 {
		if e.opts.QuoteAll && e.opts.Quote != none {
			return append(dst, e.opts.Quote, e.opts.Quote)
		}
		return dst
	}
	return e.text(dst, s)
}

// text appends a value, trimmed and quoted as the options ask.
func (e *Encoder) text(dst, s []byte) []byte {
	o := &e.opts
	if !o.KeepLeft {
		for len(s) > 0 && s[0] <= ' ' {
			s = s[1:]
		}
	}
	if !o.KeepRight {
		for len(s) > 0 && s[len(s)-1] <= ' ' {
			s = s[:len(s)-1]
		}
	}
	if len(s) == 0 {
		return append(dst, o.WriteEmpty...)
	}
	if o.Quote == none || !o.QuoteAll && !e.needsQuotes(s) {
		return append(dst, s...)
	}
	dst = append(dst, o.Quote)
	for _, c := range s {
		switch {
		case c == o.Quote && o.Escape != none:
			dst = append(dst, o.Escape)
		case c == o.Escape && c != none && o.EscapeEscape != none && o.Escape != o.Quote:
			dst = append(dst, o.EscapeEscape)
		}
		dst = append(dst, c)
	}
	return append(dst, o.Quote)
}

func (e *Encoder) needsQuotes(s []byte) bool {
	o := &e.opts
	return bytes.Contains(s, []byte(o.Sep)) || bytes.IndexByte(s, '\n') >= 0 || bytes.IndexByte(s, '\r') >= 0 ||
		!o.KeepQuotes && bytes.IndexByte(s, o.Quote) >= 0 || o.Comment != none && s[0] == o.Comment
}
