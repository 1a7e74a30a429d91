package json

import (
	"bytes"
	"errors"
	"fmt"

	"pipelines/tables/codec/record"
	"pipelines/tables/column"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Decoder appends JSON records to vectors.
type Decoder struct {
	source
	root    *node
	opts    Options
	fmt     text.Formats
	arrays  bool // a top-level array gives one row per element
	corrupt int  // column for malformed texts, -1
	rescued int  // column for rescued fields, -1
	rescue  *rescuer
	unknown func(name string)

	rows       int
	remembered int // entries of all nodes
	partial    bool
	limit      int // rows of a batch of DecodeRows, 0: any number
	pending    int // the place of the next element of an array, 0: none
	scratch    []byte
	commas     []byte
	copied     []byte
	keys       map[string]bool // of a large map being read
	stats      record.Stats
	variants   *variantParser // made when a VARIANT is read
}

// ErrMalformed is the cause of a record that cannot be decoded.
var ErrMalformed = errors.New("malformed JSON record")

// NewDecoder plans the decoding of values of type t: a struct (its fields are
// the columns or the fields of from_json), an array or a map. The corrupt and
// rescued columns are taken out of a struct when it has them.
func NewDecoder(t schema.Type, o Options) (*Decoder, error) {
	d := &Decoder{opts: o, corrupt: -1, rescued: -1}
	d.opt = &d.opts
	root, err := newNode(t)
	if err != nil {
		return nil, err
	}
	if t.Kind != schema.Struct && t.Kind != schema.Array && t.Kind != schema.Map {
		return nil, fmt.Errorf("the JSON reader does not read %s at the top", t.SQL())
	}
	d.root = root
	for i, f := range t.Fields {
		switch {
		case f.Name == o.CorruptColumn && f.Type.Kind == schema.String:
			d.corrupt = i
		case o.RescuedColumn != "" && f.Name == o.RescuedColumn && f.Type.Kind == schema.String:
			d.rescued = i
			d.rescue = &rescuer{}
		default:
			continue
		}
		delete(root.known, f.Name)
	}
	d.fmt, err = o.Formats(true)
	return d, err
}

// HasCorruptColumn reports whether the schema has the column for malformed
// records.
func (d *Decoder) HasCorruptColumn() bool { return d.corrupt >= 0 }

// SetFile names the file that rescued fields tell (_file_path).
func (d *Decoder) SetFile(path string) {
	if d.rescue != nil {
		d.rescue.file = path
	}
}

// Declare tells the whole schema, of which the decoder's type is a part: its
// other fields are not rescued as unknown.
func (d *Decoder) Declare(whole schema.Type) {
	if d.rescue != nil || d.unknown != nil {
		d.root.declare(whole, "")
	}
}

// OnUnknown sets what is called, at least once each, with the fields that the
// schema told to Declare, afterwards, has not.
func (d *Decoder) OnUnknown(fn func(name string)) { d.unknown = fn }

// BindColumns starts a batch: rows are appended to the empty vectors cols, one
// a field of the struct.
func (d *Decoder) BindColumns(cols []*column.Vector) {
	d.rows = 0
	d.root.n = 0
	d.root.v = nil
	for i, f := range d.root.fields {
		f.bind(cols[i])
	}
}

// Bind starts a batch whose rows are appended to the empty vector v of the
// decoder's type.
func (d *Decoder) Bind(v *column.Vector) {
	d.rows = 0
	d.root.bind(v)
}

// Rows returns how many rows the batch has.
func (d *Decoder) Rows() int { return d.rows }

// Finish ends the batch: the vectors get their length.
func (d *Decoder) Finish() {
	if d.root.v != nil {
		d.root.finish(d.rows)
		return
	}
	for _, f := range d.root.fields {
		f.finish(d.rows)
	}
}

// Stats returns the counts since the decoder was made.
func (d *Decoder) Stats() record.Stats { return d.stats }

// AppendNull appends a row of nulls.
func (d *Decoder) AppendNull() { d.rows++ }

// Decode appends one record, which may have line feeds inside, with a single
// row (from_json: a top-level array is malformed for a struct). blank is true
// if the text has no value; then no row is appended.
func (d *Decoder) Decode(rec []byte) (blank bool, err error) {
	d.arrays = false
	return d.one(rec)
}

// DecodeRows is Decode where a top-level array gives one row per element, as
// in files (multiLine). If the batch then has limit rows (0: any number) and
// the array has more, Pending is true.
func (d *Decoder) DecodeRows(rec []byte, limit int) (blank bool, err error) {
	d.arrays, d.limit = true, limit
	if d.opts.Mode == record.DropMalformed { // all rows of a record are kept or none
		d.limit = 0
	}
	return d.one(rec)
}

// Pending reports whether the last record of DecodeRows has more rows, which
// Resume appends to the next batch.
func (d *Decoder) Pending() bool { return d.pending > 0 }

// Resume goes on with a record that is pending.
func (d *Decoder) Resume() error {
	rec, start, i := d.copied[:d.end], d.rows, d.pending
	d.pending, d.partial = 0, false
	if d.rescue != nil {
		d.rescue.reset()
	}
	for {
		i = d.object(d.root, d.rows, d.ws(i))
		d.rows++
		if i = d.ws(i); d.b[i] != ',' {
			break
		}
		i++
		if d.rows >= d.limit {
			d.pending = i
			break
		}
	}
	if d.partial {
		return d.bad(rec, 0, start, false)
	}
	d.good(start)
	return nil
}

// wellFormedRows reports whether the array at i holds objects only, at least
// one, and is right to its end.
func (d *Decoder) wellFormedRows(i int) bool {
	d.depth = 0
	if d.skip(i) < 0 {
		return false
	}
	for {
		if i = d.ws(i + 1); d.b[i] != '{' {
			return false
		}
		if i = d.ws(d.skip(i)); d.b[i] == ']' {
			return true
		}
	}
}

func (d *Decoder) one(rec []byte) (blank bool, err error) {
	d.copied = append(append(d.copied[:0], rec...), padding...)
	d.b, d.end, d.lines = d.copied, len(rec), false
	i := d.ws(0)
	if i >= d.end {
		return true, nil
	}
	if d.b[i] == '[' && d.arrays && d.limit > 0 && d.root.known != nil && d.wellFormedRows(i) {
		d.depth, d.pending = 0, i+1
		return false, d.Resume()
	}
	start := d.rows
	if next := d.record(i); next < 0 || d.partial {
		return false, d.bad(rec, 0, start, next < 0)
	}
	d.good(start)
	return false, nil
}

var padding = append([]byte{'\n'}, make([]byte, Padding)...)

// DecodeLines appends the records of the lines in b[from:end], until the
// block ends or limit rows are there; it returns where it stopped. The block
// ends with a line end, and b has Padding more bytes behind it. A top-level
// array may go beyond the limit by its length.
func (d *Decoder) DecodeLines(b []byte, from, end, limit int) (int, error) {
	d.b, d.end, d.lines, d.arrays = b, end, true, true
	i, lineStart := from, from
	for i < end && d.rows < limit {
		switch b[i] {
		case ' ', '\t':
			i++
			continue
		case '\n', '\r':
			i++
			lineStart = i
			continue
		case '/':
			if j := d.ws(i); j > i && (b[j] == '\n' || b[j] == '\r') { // a line of comments
				i = j
				continue
			}
		}
		start := d.rows
		next := d.record(d.ws(i))
		if next >= 0 && !d.partial {
			d.good(start)
			if i = next; b[i] == '\n' {
				i++
			} else {
				i = lineEnd(b, i, end)
			}
			lineStart = i
			continue
		}
		i = lineEnd(b, lineStart, end)
		if err := d.bad(trimLine(b[lineStart:i]), lineStart, start, next < 0); err != nil {
			return i, err
		}
		lineStart = i
	}
	return i, nil
}

// lineEnd returns the place behind the next line end.
func lineEnd(b []byte, i, end int) int {
	n := bytes.IndexByte(b[i:end], '\n')
	if n < 0 {
		n = end - i - 1
	}
	if k := bytes.IndexByte(b[i:i+n+1], '\r'); k >= 0 {
		n = k
	}
	return i + n + 1
}

func trimLine(b []byte) []byte {
	for n := len(b); n > 0 && (b[n-1] == '\n' || b[n-1] == '\r'); n = len(b) {
		b = b[:n-1]
	}
	return b
}

// record appends the rows of the value at i; next is behind it or -1.
func (d *Decoder) record(i int) (next int) {
	d.partial, d.depth = false, 0
	if d.rescue != nil {
		d.rescue.reset()
	}
	if d.root.known == nil {
		return d.nestedRoot(i)
	}
	switch c := d.b[i]; {
	case c == '{':
		if d.root.v != nil {
			d.root.seek(d.rows)
		}
		d.root.n = d.rows + 1
		next = d.object(d.root, d.rows, i)
		d.rows++
		return next
	case c == '[' && d.arrays:
		return d.rowArray(i)
	}
	return -1
}

// nestedRoot reads the value of a decoder of an array or a map.
func (d *Decoder) nestedRoot(i int) int {
	if d.b[i] == '{' && d.root.typ.Kind == schema.Array && d.root.elem.known != nil {
		d.root.seek(d.rows) // a single object counts as an array of one
		next, ok := d.value(d.root.elem, d.root.children, i)
		d.root.children++
		d.root.endList(d.rows)
		d.rows++
		d.partial = d.partial || !ok
		return next
	}
	if d.b[i] == 'n' {
		return -1
	}
	next, ok := d.value(d.root, d.rows, i)
	d.rows++
	d.partial = d.partial || !ok
	return next
}

// rowArray reads an array of objects, one row each.
func (d *Decoder) rowArray(i int) int {
	i = d.ws(i + 1)
	if d.b[i] == ']' {
		return i + 1
	}
	for {
		if i = d.ws(i); d.b[i] != '{' {
			return -1
		}
		if i = d.object(d.root, d.rows, i); i < 0 {
			return -1
		}
		d.rows++
		if i = d.ws(i); d.b[i] == ',' {
			i++
			continue
		}
		if d.b[i] != ']' {
			return -1
		}
		return i + 1
	}
}

// good ends the rows of a record without faults.
func (d *Decoder) good(start int) {
	d.stats.Records++
	if d.rescue != nil && d.rescue.any() {
		for r := start; r < d.rows; r++ {
			d.rescue.write(d.root.fields[d.rescued], r)
		}
	}
}

// bad handles a malformed record by the mode; whole means that nothing of it
// is kept.
func (d *Decoder) bad(rec []byte, offset, start int, whole bool) error {
	d.stats.Records++
	d.stats.Corrupt++
	cause := record.ErrPartial
	if whole {
		cause = ErrMalformed
	}
	if whole || d.opts.Mode != record.Permissive {
		d.rewind(start)
	}
	switch d.opts.Mode {
	case record.FailFast:
		return &record.Error{Record: rec, Offset: offset, Err: cause}
	case record.DropMalformed:
		d.stats.Dropped++
		return nil
	}
	if whole {
		d.rows = start + 1
		if d.root.v != nil && d.root.known != nil { // a struct of nulls
			d.root.seek(start)
			d.root.n = start + 1
		}
	}
	const most = 16 << 20 // of copies of one text, if an array has many rows
	for r := start; r < d.rows; r++ {
		if d.corrupt >= 0 && (r == start || (r-start)*len(rec) < most) {
			f := d.root.fields[d.corrupt]
			f.seek(r)
			f.v.AppendStr(rec)
			f.n = r + 1
		}
		if d.rescue != nil && !whole && d.rescue.any() {
			d.rescue.write(d.root.fields[d.rescued], r)
		}
	}
	return nil
}

// rewind drops the rows from start on.
func (d *Decoder) rewind(start int) {
	d.rows = start
	if d.root.v != nil {
		d.root.truncate(start)
		return
	}
	for _, f := range d.root.fields {
		f.truncate(start)
	}
}
