package shell

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pipelines/sqlplan"
	"pipelines/tables/codec/display"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// Format is a form of output.
type Format string

// The forms.
const (
	Table       Format = "table"
	CSV         Format = "csv"
	JSON        Format = "json"
	JSONStrings Format = "jsonstrings"
	Parquet     Format = "parquet"
)

// Formats lists the forms, for help and checks.
func Formats() []Format { return []Format{Table, CSV, JSON, JSONStrings, Parquet} }

// Printer writes results in one form. It is a Sink for one statement at a
// time, between Begin and End.
type Printer struct {
	form   Format
	out    *bufio.Writer
	errors io.Writer
	number int
	line   int
	shell  display.Shell
	schema schema.Schema
	result bool   // the statement has columns, maybe none
	buf    []byte // the JSON object or CSV so far, or the text of one value
	rows   int
	cells  [][]string // of the table
	tables int        // results printed
	file   *parquetFile
}

// NewPrinter returns a Printer that writes results to out and, in the forms
// for people, errors to errs. An unknown form is an error.
func NewPrinter(form Format, out, errs io.Writer) (*Printer, error) {
	if !slices.Contains(Formats(), form) {
		var names []string
		for _, f := range Formats() {
			names = append(names, string(f))
		}
		return nil, fmt.Errorf("unknown output form %q: use one of %s", form, strings.Join(names, ", "))
	}
	p := &Printer{form: form, out: bufio.NewWriterSize(out, 1<<16), errors: errs}
	p.file = &parquetFile{out: p.out}
	return p, nil
}

// Begin starts the result of a statement.
func (p *Printer) Begin(number, line int, settings *sqlplan.Session) {
	p.number, p.line, p.rows, p.cells = number, line, 0, nil
	p.shell = display.Shell{Zone: settings.Zone}.WithBinary(settings.Conf["spark.sql.binaryOutputStyle"])
	p.schema, p.result = schema.Schema{}, false
	p.buf = p.buf[:0]
}

// For is where the result of a statement goes: what SET and the like tell is
// no row of a Parquet file.
func (p *Printer) For(st *sqlplan.Statement) Sink {
	if p.form == Parquet && !givesResult(st) {
		return nowhere{}
	}
	return p
}

// nowhere takes results that nobody asked for.
type nowhere struct{}

// Columns implements Sink.
func (nowhere) Columns(schema.Schema) {}

// Rows implements Sink.
func (nowhere) Rows(*column.Batch) {}

func (p *Printer) isJSON() bool { return p.form == JSON || p.form == JSONStrings }

func (p *Printer) head() {
	p.buf = fmt.Appendf(p.buf[:0], `{"statement":%d,"line":%d`, p.number, p.line)
}

// Columns implements Sink.
func (p *Printer) Columns(s schema.Schema) {
	p.schema, p.result = s, true
	if p.form == Parquet {
		p.file.begin(s)
	}
	if p.form == CSV {
		p.csvHead()
	}
	if !p.isJSON() {
		return
	}
	p.head()
	p.buf = append(p.buf, `,"columns":[`...)
	for i, f := range s.Fields {
		if i > 0 {
			p.buf = append(p.buf, ',')
		}
		p.buf = display.AppendString(append(p.buf, `{"name":`...), []byte(f.Name))
		p.buf = display.AppendString(append(p.buf, `,"type":`...), []byte(f.Type.String()))
		p.buf = append(p.buf, '}')
	}
	p.buf = append(p.buf, `],"rows":[`...)
}

// Rows implements Sink.
func (p *Printer) Rows(b *column.Batch) {
	if p.form == Parquet {
		p.file.rows(b)
		return
	}
	if b.Sel != nil {
		for _, i := range b.Sel {
			p.row(b, int(i))
		}
		return
	}
	for i := range b.Len {
		p.row(b, i)
	}
}

func (p *Printer) row(b *column.Batch, i int) {
	switch p.form {
	case JSON:
		p.open()
		for k, c := range b.Cols {
			p.comma(k)
			p.buf = display.AppendJSON(p.buf, c, i)
		}
		p.buf = append(p.buf, ']')
	case JSONStrings:
		p.open()
		var text [128]byte
		for k, c := range b.Cols {
			p.comma(k)
			if c.IsNull(i) {
				p.buf = append(p.buf, "null"...)
				continue
			}
			p.buf = display.AppendString(p.buf, p.shell.Append(text[:0], c, i))
		}
		p.buf = append(p.buf, ']')
	case CSV:
		p.csvRow(b, i)
	default:
		cells := make([]string, len(b.Cols))
		for k, c := range b.Cols {
			if c.IsNull(i) {
				cells[k] = "NULL"
				continue
			}
			p.buf = p.shell.Append(p.buf[:0], c, i)
			cells[k] = string(p.buf)
		}
		p.cells = append(p.cells, cells)
	}
	p.rows++
}

func (p *Printer) open() {
	p.comma(p.rows)
	p.buf = append(p.buf, '[')
}

func (p *Printer) comma(k int) {
	if k > 0 {
		p.buf = append(p.buf, ',')
	}
}

// End finishes the statement with its result or failure.
func (p *Printer) End(f *Failure) error {
	switch {
	case f != nil && p.isJSON():
		p.head()
		p.buf = display.AppendString(append(p.buf, `,"error":{"class":`...), []byte(f.Class))
		p.buf = display.AppendString(append(p.buf, `,"sqlstate":`...), []byte(f.SQLState))
		p.buf = display.AppendString(append(p.buf, `,"message":`...), []byte(f.Message))
		p.buf = append(p.buf, "}}\n"...)
		p.write(p.buf)
	case f != nil:
		if err := p.out.Flush(); err != nil {
			return err
		}
		if _, err := io.WriteString(p.errors, f.Render()); err != nil {
			return err
		}
	case p.isJSON():
		if !p.result {
			p.Columns(schema.Schema{})
		}
		p.buf = append(p.buf, "]}\n"...)
		p.write(p.buf)
	case p.form == Parquet:
		if err := p.file.finish(); err != nil {
			return err
		}
	case !p.result:
	case p.form == CSV:
		p.write(p.buf)
	default:
		p.table()
	}
	return p.out.Flush()
}

// write hands bytes to the buffered output, whose first error Flush returns.
func (p *Printer) write(b []byte) { _, _ = p.out.Write(b) }

// maxHeld is how much CSV of a statement is held back: a small result is
// printed whole or not at all, a large one as it comes.
const maxHeld = 1 << 20

func (p *Printer) csvHead() {
	p.buf = p.buf[:0]
	if p.tables > 0 {
		p.buf = append(p.buf, '\n')
	}
	p.tables++
	for k, name := range p.schema.Names() {
		p.comma(k)
		p.buf = appendCSV(p.buf, []byte(name))
	}
	p.buf = append(p.buf, '\n')
}

func (p *Printer) csvRow(b *column.Batch, i int) {
	var text [128]byte
	start := len(p.buf)
	for k, c := range b.Cols {
		p.comma(k)
		if !c.IsNull(i) {
			p.buf = appendCSV(p.buf, p.shell.Append(text[:0], c, i))
		}
	}
	if len(p.buf) == start && len(b.Cols) > 0 {
		p.buf = append(p.buf, `""`...) // an empty line would be no record
	}
	if p.buf = append(p.buf, '\n'); len(p.buf) > maxHeld {
		p.write(p.buf)
		p.buf = p.buf[:0]
	}
}

// appendCSV appends a field, quoted where it must be (RFC 4180) and where it is
// empty: a field without anything is a null.
func appendCSV(dst, field []byte) []byte {
	if !bytes.ContainsAny(field, ",\"\r\n") && len(field) > 0 && field[0] != ' ' {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	for _, c := range field {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// separate puts an empty line between results.
func (p *Printer) separate() {
	if p.tables > 0 {
		p.write([]byte("\n"))
	}
	p.tables++
}

func rowsText(n int) string {
	if n == 1 {
		return "(1 row)\n"
	}
	return "(" + strconv.Itoa(n) + " rows)\n"
}
