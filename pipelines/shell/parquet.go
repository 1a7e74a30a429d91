package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"pipelines/pipelines/builtin"
	"pipelines/sqlplan"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// parquetFile writes one result as one Parquet file. The first fault is kept
// until finish.
type parquetFile struct {
	out     io.Writer
	writer  format.Writer
	written bool // a result was begun
	err     error
}

// Check refuses a script that the form of output cannot hold: a Parquet file is
// the result of one query.
func (p *Printer) Check(list []sqlplan.Statement) error {
	n := 0
	for i := range list {
		if list[i].Kind == sqlplan.BrokenStatement {
			return nil // its own error says more
		}
		if givesResult(&list[i]) {
			n++
		}
	}
	if p.form == Parquet && n != 1 {
		return fmt.Errorf("--output parquet writes one file with the result of one query: the script has %d", n)
	}
	return nil
}

// givesResult reports whether a statement is there for its result.
func givesResult(st *sqlplan.Statement) bool {
	switch st.Kind { //nolint:exhaustive // the others give no result
	case sqlplan.QueryStatement, sqlplan.ShowStatement, sqlplan.DescribeStatement, sqlplan.ExplainStatement:
		return true
	}
	return false
}

// begin starts the file.
func (p *parquetFile) begin(s schema.Schema) {
	if p.written || p.err != nil {
		return
	}
	p.written = true
	seen := map[string]bool{}
	for _, f := range s.Fields {
		if seen[strings.ToLower(f.Name)] {
			p.err = sqlplan.NewError("COLUMN_ALREADY_EXISTS", "The column `"+f.Name+"` is there twice: give one of them an alias to write Parquet.")
			return
		}
		seen[strings.ToLower(f.Name)] = true
		if bad := unstorable(f.Type); bad != "" {
			p.err = sqlplan.NewError("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The Parquet datasource doesn't support the column `"+f.Name+"` of the type \""+bad+"\": cast it, or leave it out.")
			return
		}
	}
	for _, f := range builtin.Formats() {
		if f.Name() == string(Parquet) {
			p.writer, p.err = f.Create(p.out, format.WriteSpec{Schema: s})
			return
		}
	}
	panic("bug: shell: no Parquet format")
}

// unstorable names the part of a type that Parquet files do not hold here.
func unstorable(t schema.Type) string {
	switch t.Kind { //nolint:exhaustive // the others are stored
	case schema.Void, schema.YearMonthInterval, schema.DayTimeInterval, schema.CalendarInterval, schema.Variant:
		return t.SQL()
	case schema.Array:
		return unstorable(*t.Elem)
	case schema.Map:
		return unstorable(*t.Key) + unstorable(*t.Elem)
	case schema.Struct:
		for _, f := range t.Fields {
			if bad := unstorable(f.Type); bad != "" {
				return bad
			}
		}
	}
	return ""
}

func (p *parquetFile) rows(b *column.Batch) {
	if p.err == nil && p.writer != nil {
		p.err = p.writer.Write(b)
	}
}

// finish ends the file.
func (p *parquetFile) finish() error {
	if p.writer == nil {
		return p.err
	}
	_, err := p.writer.Close()
	p.writer = nil
	return errors.Join(p.err, err)
}
