package shell

import (
	"context"
	"fmt"
	"io"

	"pipelines/runtime/connector"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// memoryTable holds rows in memory: a session table, or a result that is kept.
// Batches are flat and never changed once they are full.
type memoryTable struct {
	name    []string
	schema  schema.Schema
	batches []*column.Batch
	rows    int
	version int
	// what DESCRIBE EXTENDED and SHOW print beside the columns
	comment, format string
	properties      map[string]string
	partitioned     []string
	// files is what a table over files reads in place of rows in memory.
	files    *sqlplan.Answer
	location string
	// defaults are the columns' defaults by lower-case name.
	defaults map[string]columnDefault
}

// columnDefault is the DEFAULT of a column: an expression of a text.
type columnDefault struct {
	value sqlplan.Expr
	text  *diag.Text
}

// sql is the expression as it was written.
func (d columnDefault) sql() string {
	at := d.value.Range()
	return d.text.Body[at.Start:at.End]
}

// Columns implements Sink.
func (m *memoryTable) Columns(s schema.Schema) { m.schema = s }

// Rows implements Sink: the rows are copied.
func (m *memoryTable) Rows(b *column.Batch) {
	if b.Rows() == 0 {
		return
	}
	cols := make([]*column.Vector, len(b.Cols))
	for i, src := range b.Cols {
		v := column.New(m.schema.Fields[i].Type)
		if b.Sel != nil {
			for _, row := range b.Sel {
				column.AppendRow(v, src, int(row))
			}
		} else {
			column.AppendRange(v, src, 0, b.Len)
		}
		cols[i] = v
	}
	out := (*column.Pool)(nil).Batch()
	out.Cols, out.Len = cols, b.Rows()
	m.batches = append(m.batches, out)
	m.rows += out.Len
}

// reorder puts the columns into another order.
func (m *memoryTable) reorder(order []int) {
	fields := make([]schema.Field, len(order))
	for to, from := range order {
		fields[to] = m.schema.Fields[from]
	}
	m.schema.Fields = fields
	for _, b := range m.batches {
		cols := make([]*column.Vector, len(order))
		for to, from := range order {
			cols[to] = b.Cols[from]
		}
		b.Cols = cols
	}
}

// chars are the lengths of the columns of type CHAR, 0 for others; nil when
// there is none.
func (m *memoryTable) chars() (out []int) {
	for i, f := range m.schema.Fields {
		if !f.Type.Char {
			continue
		}
		if out == nil {
			out = make([]int, len(m.schema.Fields))
		}
		out[i] = f.Type.Length
	}
	return out
}

// append adds the rows of another table of the same columns. Values in memory
// are texts without a length.
func (m *memoryTable) append(o *memoryTable) {
	for _, b := range o.batches {
		for _, v := range b.Cols {
			withoutLength(v)
		}
	}
	m.batches = append(m.batches, o.batches...)
	m.rows += o.rows
	m.version++
}

func withoutLength(v *column.Vector) {
	v.Type = v.Type.WithoutLength()
	for _, c := range v.Children {
		withoutLength(c)
	}
}

func (m *memoryTable) clear() { m.batches, m.rows, m.version = nil, 0, m.version+1 }

// Whole implements connector.Bounded.
func (m *memoryTable) Whole(context.Context) ([]connector.Split, string, error) {
	return []connector.Split{{Name: m.schema.DDL(), Data: m.batches}}, fmt.Sprint(m.version), nil
}

// Open implements connector.Opener.
func (m *memoryTable) Open(_ context.Context, s connector.Split, spec connector.ScanSpec) (connector.Reader, error) {
	return &memoryReader{batches: s.Data.([]*column.Batch), spec: spec}, nil
}

type memoryReader struct {
	batches []*column.Batch
	spec    connector.ScanSpec
}

// Next gives the stored columns as they are.
func (r *memoryReader) Next() (*column.Batch, error) {
	if len(r.batches) == 0 {
		return nil, io.EOF
	}
	src := r.batches[0]
	r.batches = r.batches[1:]
	b := r.spec.Pool.Batch()
	b.Len = src.Len
	for i, f := range r.spec.Fields {
		b.Cols = append(b.Cols, pruned(src.Cols[f], r.spec.Columns.Fields[i].Type))
	}
	return b, nil
}

func (r *memoryReader) Counts() connector.Counts { return connector.Counts{} }
func (r *memoryReader) Close() error             { return nil }

// pruned returns v with only the nested fields that t has.
func pruned(v *column.Vector, t schema.Type) *column.Vector {
	if v.Type.SameShape(t) {
		return v.Retain()
	}
	out := column.New(t)
	for _, c := range out.Children {
		c.Release()
	}
	out.Len, out.Nulls, out.Offsets = v.Len, v.Nulls, v.Offsets
	out.Children = out.Children[:0]
	switch t.Kind {
	case schema.Struct:
		from := schema.Schema{Fields: v.Type.Fields}
		for _, f := range t.Fields {
			out.Children = append(out.Children, pruned(v.Children[from.Index(f.Name)], f.Type))
		}
	case schema.Array:
		out.Children = append(out.Children, pruned(v.Children[0], *t.Elem))
	case schema.Map:
		out.Children = append(out.Children, pruned(v.Children[0], *t.Key), pruned(v.Children[1], *t.Elem))
	default:
		panic("bug: shell: a column of type " + v.Type.String() + " is wanted as " + t.String())
	}
	return out
}
