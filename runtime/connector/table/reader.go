package table

import (
	"context"
	"errors"
	"fmt"
	"path"

	"pipelines/runtime/connector"
	"pipelines/sqlplan/logical"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Reader opens the files of a table.
type Reader struct {
	Table  *tables.Table
	Format format.Format
}

// located is a file with the version that it was read from.
type located struct {
	file     tables.File
	snapshot *tables.Snapshot
}

func splitOf(t *tables.Table, s *tables.Snapshot, f tables.File) connector.Split {
	_, folder := t.Store()
	return connector.Split{Name: path.Join(folder, f.Key), Bytes: f.Size, Data: located{f, s}}
}

// Open implements connector.Opener.
func (r *Reader) Open(ctx context.Context, sp connector.Split, spec connector.ScanSpec) (connector.Reader, error) {
	l := sp.Data.(located)
	obj, err := r.Table.OpenFile(ctx, &l.file)
	if errors.Is(err, stores.ErrNotExist) {
		return nil, fmt.Errorf("data file %s is gone: it was removed, or cleaned up while it was still needed (version %d); restore it from a copy; otherwise the next run makes a view anew, and a streaming table needs --full-refresh", sp.Name, l.snapshot.Version())
	}
	if err != nil {
		return nil, err
	}
	out := &reader{pool: spec.Pool, columns: spec.Columns.Fields, parts: map[int]*column.Vector{}}
	rs := format.ReadSpec{
		Declared: l.snapshot.DataSchema(), Options: map[string]string{}, Terms: spec.Terms, Late: spec.Late, Location: spec.Location,
		Pool: spec.Pool, BatchRows: spec.BatchRows,
	}
	isPart := map[string]bool{}
	for _, p := range l.snapshot.PartitionColumns() {
		isPart[p] = true
	}
	for i, f := range spec.Columns.Fields {
		if !isPart[f.Name] {
			rs.Columns.Fields = append(rs.Columns.Fields, f)
			continue
		}
		v, err := tables.PartitionValue(&l.file, f, 1)
		if err != nil {
			return nil, errors.Join(err, obj.Close())
		}
		out.parts[i] = v
	}
	rs.Terms = dataTerms(rs.Terms, isPart)
	in := format.Input{Name: sp.Name, Object: obj, ModTime: l.file.ModTime}
	if out.scan, err = r.Format.Open(ctx, in, rs); err != nil {
		return nil, errors.Join(err, obj.Close())
	}
	return out, nil
}

// dataTerms leaves out terms on partition columns, which files do not hold.
func dataTerms(ts []format.Term, isPart map[string]bool) []format.Term {
	var out []format.Term
	for _, t := range ts {
		if !isPart[t.Path[0]] {
			out = append(out, t)
		}
	}
	return out
}

type reader struct {
	pool    *column.Pool
	columns []schema.Field
	parts   map[int]*column.Vector
	scan    format.Scanner
}

// Next implements connector.Reader.
func (r *reader) Next() (*column.Batch, error) {
	b, err := r.scan.Next()
	if err != nil || len(r.parts) == 0 {
		return b, err
	}
	out := r.pool.Batch()
	out.Len = b.Len
	if b.Sel != nil {
		out.Sel = append(out.SelBuffer(), b.Sel...)
	}
	data := 0
	for i := range r.columns {
		if v, ok := r.parts[i]; ok {
			c := r.pool.Vector(v.Type)
			column.AppendRow(c, v, 0)
			c.SetConst(b.Len)
			out.Cols = append(out.Cols, c)
			continue
		}
		out.Cols = append(out.Cols, b.Cols[data].Retain())
		data++
	}
	b.Release()
	return out, nil
}

// Counts implements connector.Reader.
func (r *reader) Counts() format.Counts { return r.scan.Counts() }

// Close implements connector.Reader.
func (r *reader) Close() error { return r.scan.Close() }

// Whole is a table read at one version.
type Whole struct {
	Reader
	// Pinned is the version to read; nil reads the newest at each call.
	Pinned *tables.Snapshot
}

// Whole implements connector.Bounded.
func (w *Whole) Whole(ctx context.Context) ([]connector.Split, string, error) {
	s := w.Pinned
	if s == nil {
		var err error
		if s, err = w.Table.Snapshot(ctx); err != nil {
			return nil, "", err
		}
	}
	var out []connector.Split
	for _, f := range s.Files() {
		out = append(out, splitOf(w.Table, s, f))
	}
	return out, fmt.Sprintf("%s@%d", s.ID(), s.Version()), nil
}

// Describe implements connector.Described.
func (w *Whole) Describe(_ context.Context, splits []connector.Split) []logical.FileFacts {
	out := make([]logical.FileFacts, len(splits))
	for i, sp := range splits {
		l := sp.Data.(located)
		rows, ok := l.file.Rows()
		if !ok || l.file.Err() != nil { // reading it will say why it cannot be
			rows = -1
		}
		exact := l.snapshot.Exact(&l.file)
		out[i] = logical.FileFacts{Rows: rows, Column: func(name string) logical.ColumnFacts {
			e := exact(name)
			return logical.ColumnFacts{Nulls: e.Nulls, Min: e.Min, Max: e.Max, Constant: e.Constant}
		}}
	}
	return out
}
