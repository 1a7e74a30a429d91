package csv

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"pipelines/tables/codec/record"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Decoder appends CSV records to vectors.
type Decoder struct {
	tokenizer
	opts     Options
	fmt      text.Formats
	cols     []col
	declared []string // column names, without the corrupt one
	checked  bool     // the number of tokens is compared
	width    int      // the number of tokens of a whole record
	byName   bool     // the header says which token a column is
	corrupt  int      // among cols, -1
	header   bool     // the next record is a header
	fresh    bool     // nothing of the file was read
	caseful  bool
	onHeader func(names []string)
	rescue   rescue
	empty    []byte // the option emptyValue
	commas   []byte // scratch

	rows  int
	stats record.Stats
}

// The causes of malformed records.
var (
	ErrMalformed = errors.New("malformed CSV record")
	ErrTokens    = errors.New("the number of values is not that of the columns")
	ErrLong      = errors.New("a value is longer than maxCharsPerColumn")
	ErrStray     = errors.New("a quote inside quotes is not escaped (unescapedQuoteHandling is RAISE_ERROR)")
	ErrColumns   = errors.New("more values than maxColumns")
)

// NewDecoder plans reading the wanted columns of files with the declared ones,
// which are matched by place. The corrupt column is no column of the file. If
// columns are left out, the number of values of a record is not checked.
func NewDecoder(declared, wanted schema.Schema, o Options) (*Decoder, error) {
	d := &Decoder{opts: o, corrupt: -1, empty: []byte(o.EmptyValue)}
	d.rescue.at = -1
	d.tokenizer = newTokenizer(&d.opts)
	place := map[string]int{}
	for _, f := range declared.Fields {
		if isCorrupt(f, o) || isRescued(f, o) {
			continue
		}
		place[f.Name] = len(d.declared)
		d.declared = append(d.declared, f.Name)
	}
	d.checked = true
	taken := 0
	for i, f := range wanted.Fields {
		c := col{typ: f.Type, phys: column.PhysicalOf(f.Type), token: -1}
		if isCorrupt(f, o) {
			d.corrupt = i
		} else if isRescued(f, o) {
			d.rescue.at = i
		} else if at, ok := place[f.Name]; ok {
			c.token, c.place = at, at
			taken++
		} else {
			return nil, fmt.Errorf("column %s is not declared", f.Name)
		}
		if f.Type.IsNested() || f.Type.Kind == schema.Variant {
			return nil, &TypeError{Type: f.Type}
		}
		d.cols = append(d.cols, c)
	}
	d.checked, d.width = taken == len(d.declared), len(d.declared)
	var err error
	d.fmt, err = o.Formats(true)
	return d, err
}

// TypeError says that CSV has no form for a type (UNSUPPORTED_DATATYPE).
type TypeError struct{ Type schema.Type }

func (e *TypeError) Error() string { return "[UNSUPPORTED_DATATYPE] CSV does not hold " + e.Type.SQL() }

func isCorrupt(f schema.Field, o Options) bool {
	return f.Name == o.CorruptColumn && f.Type.Kind == schema.String
}

// BindColumns starts a batch: rows are appended to the empty vectors.
func (d *Decoder) BindColumns(vectors []*column.Vector) {
	d.rows = 0
	for i := range d.cols {
		d.cols[i].v = vectors[i]
	}
}

// Rows returns how many rows the batch has.
func (d *Decoder) Rows() int { return d.rows }

// Stats returns the counts since the decoder was made.
func (d *Decoder) Stats() record.Stats { return d.stats }

// Finish ends the batch: the vectors get their length.
func (d *Decoder) Finish() {
	for i := range d.cols {
		d.cols[i].finish(d.rows)
	}
}

// StartFile begins a file, whose first record is a header if the option says
// so; names are compared in any case unless caseSensitive.
func (d *Decoder) StartFile(caseSensitive bool) {
	d.header, d.fresh, d.caseful = d.opts.Header, true, caseSensitive
}

// Decode appends the first record of rec (from_csv).
func (d *Decoder) Decode(rec []byte) error {
	if len(rec) == 0 {
		return d.bad(rec, 0, ErrMalformed, true)
	}
	d.split(rec, 0, false)
	return d.row(rec, rec, 0)
}

// DecodeLines appends the records of the lines in b[from:end], until the block
// ends or limit rows are there; it returns where it stopped. The block ends
// with a line end.
func (d *Decoder) DecodeLines(b []byte, from, end, limit int) (int, error) {
	i := from
	for i < end && d.rows < limit {
		stop := i + bytes.IndexByte(b[i:end], '\n')
		if stop < i {
			stop = end - 1
		}
		if k := bytes.IndexByte(b[i:stop+1], '\r'); k >= 0 {
			stop = i + k
		}
		line := b[i:stop]
		if c := b[stop]; c != '\n' && c != '\r' {
			line = b[i : stop+1] // a block without a line end at its end
		}
		if err := d.line(line, i); err != nil {
			return stop + 1, err
		}
		i = stop + 1
	}
	return i, nil
}

// line appends the record of one line.
func (d *Decoder) line(line []byte, offset int) error {
	if blank(line) || d.opts.Comment != none && line[0] == d.opts.Comment {
		return nil
	}
	if !d.long && !d.opts.TrimLeft && !d.opts.TrimRight && (d.opts.Quote == none || bytes.IndexByte(line, d.opts.Quote) < 0) {
		d.simple(line)
	} else {
		d.split(line, 0, true)
	}
	return d.row(line, line, offset)
}

// DecodeLine appends the record of one line without its end.
func (d *Decoder) DecodeLine(line []byte) error { return d.line(line, 0) }

func blank(line []byte) bool {
	for _, c := range line {
		if c > ' ' {
			return false
		}
	}
	return true
}

// DecodeRecords appends records whose quoted values may have line breaks, from
// b[from:] until limit rows are there; it returns where it stopped.
func (d *Decoder) DecodeRecords(b []byte, from, limit int) (int, error) {
	i := from
	if d.fresh {
		d.fresh = false
		d.detect(b[from:])
	}
	for d.rows < limit {
		if i = d.record(b, i); i >= len(b) {
			break
		}
		next := d.split(b, i, false)
		if err := d.row(b, b[i:d.stop], i); err != nil {
			return next, err
		}
		i = next
	}
	return i, nil
}

// row appends the tokens of b as a row; rec is the text of the record.
func (d *Decoder) row(b, rec []byte, offset int) error {
	if d.header {
		d.header = false
		return d.checkHeader(b)
	}
	var cause error
	switch {
	case d.opts.MaxColumns > 0 && len(d.tokens) > d.opts.MaxColumns:
		return &record.Error{Record: rec, Offset: offset, Err: ErrColumns}
	case d.opts.MaxChars > 0 && d.tooLong(b):
		return &record.Error{Record: rec, Offset: offset, Err: ErrLong}
	case d.stray:
		return &record.Error{Record: rec, Offset: offset, Err: ErrStray}
	case d.checked && len(d.tokens) < d.width, d.checked && d.rescue.at < 0 && len(d.tokens) > d.width:
		cause = ErrTokens
	}
	for k := range d.cols {
		c := &d.cols[k]
		if c.token < 0 || c.absent || c.token >= len(d.tokens) {
			c.appendNull(d.rows)
			continue
		}
		tok := &d.tokens[c.token]
		s := d.value(b, c.token)
		if len(s) == 0 {
			if !tok.quoted {
				c.appendNull(d.rows)
				continue
			}
			s = d.empty
		}
		if len(s) == len(d.opts.NullValue) && string(s) == d.opts.NullValue {
			c.appendNull(d.rows)
			continue
		}
		if !d.append(c, s) {
			c.appendNull(d.rows)
			if d.rescue.at >= 0 {
				d.rescue.add(d.declared[c.place], s)
			}
			if cause == nil {
				cause = record.ErrPartial
			}
		}
	}
	if d.rescue.at >= 0 {
		d.rescueRow(b)
	}
	d.rows++
	d.stats.Records++
	if cause == nil {
		return nil
	}
	d.stats.Records--
	d.rows--
	return d.bad(rec, offset, cause, false)
}

func (d *Decoder) tooLong(b []byte) bool {
	for k := range d.tokens {
		if len(d.value(b, k)) > d.opts.MaxChars {
			return true
		}
	}
	return false
}

// bad ends a malformed row by the mode; whole means that it was not appended.
func (d *Decoder) bad(rec []byte, offset int, cause error, whole bool) error {
	d.stats.Records++
	d.stats.Corrupt++
	switch {
	case d.opts.Mode != record.Permissive:
		if !whole {
			for k := range d.cols {
				d.cols[k].v.Cut(d.rows)
			}
		}
		if d.opts.Mode == record.DropMalformed {
			d.stats.Dropped++
			return nil
		}
		return &record.Error{Record: rec, Offset: offset, Err: cause}
	case whole:
		for k := range d.cols {
			d.cols[k].appendNull(d.rows)
		}
	}
	if d.corrupt >= 0 {
		c := &d.cols[d.corrupt]
		c.v.Cut(d.rows)
		c.v.AppendStr(rec)
	}
	d.rows++
	return nil
}

// HeaderError says that a header does not name the columns of the schema.
type HeaderError struct{ Header, Schema []string }

func (e *HeaderError) Error() string {
	return fmt.Sprintf("CSV header does not conform to the schema (enforceSchema=false): header %s, schema %s",
		strings.Join(e.Header, ", "), strings.Join(e.Schema, ", "))
}

// OnHeader sets what is called with the names of each file's header.
func (d *Decoder) OnHeader(fn func(names []string)) { d.onHeader = fn }

// checkHeader compares the header with the schema unless that is enforced.
func (d *Decoder) checkHeader(b []byte) error {
	if d.opts.EnforceSchema && d.onHeader == nil && d.rescue.at < 0 && !d.byName {
		return nil
	}
	names := headerNames(&d.tokenizer, b)
	d.rescue.names = names
	if d.onHeader != nil {
		d.onHeader(names)
	}
	if d.byName {
		d.matchHeader(names)
		return nil
	}
	if d.opts.EnforceSchema {
		return nil
	}
	same := len(names) == len(d.declared)
	for i := 0; same && i < len(names); i++ {
		same = names[i] == d.declared[i] || !d.caseful && strings.EqualFold(names[i], d.declared[i])
	}
	if same {
		return nil
	}
	return &HeaderError{Header: names, Schema: d.declared}
}

// MatchHeader finds the columns of files by the names in their header, not by
// their place. A column that a file has not is null; values under names that
// are not declared go into the rescued column if there is one.
func (d *Decoder) MatchHeader() { d.byName = d.opts.Header }

func (d *Decoder) matchHeader(header []string) {
	names := columnNames(header, &d.opts)
	d.width, d.rescue.names = len(names), names
	token := map[string]int{}
	for k, n := range names {
		token[d.folded(n)] = k
	}
	for k := range d.cols {
		c := &d.cols[k]
		if c.token < 0 {
			continue // the corrupt and the rescued column
		}
		if at, ok := token[d.folded(d.declared[c.place])]; ok {
			c.token = at
		} else {
			c.token = len(names) // beyond every record that is whole
			c.absent = true
		}
	}
	d.rescue.unknown = make([]bool, len(names))
	declared := map[string]bool{}
	for _, n := range d.declared {
		declared[d.folded(n)] = true
	}
	for k, n := range names {
		d.rescue.unknown[k] = !declared[d.folded(n)]
	}
}

func (d *Decoder) folded(name string) string {
	if d.caseful {
		return name
	}
	return strings.ToLower(name)
}

// headerNames returns the tokens of a header.
func headerNames(t *tokenizer, b []byte) []string {
	names := make([]string, len(t.tokens))
	for k := range t.tokens {
		names[k] = string(t.value(b, k))
	}
	return names
}
