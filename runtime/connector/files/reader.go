package files

import (
	"context"
	"errors"
	"io"
	"path"
	"time"

	"pipelines/runtime/connector"
	"pipelines/stores"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Open implements connector.Opener.
func (s *Source) Open(ctx context.Context, sp connector.Split, spec connector.ScanSpec) (connector.Reader, error) {
	f := sp.Data.(file)
	obj, err := s.o.Store.Open(ctx, f.key)
	if errors.Is(err, stores.ErrNotExist) {
		if s.o.IgnoreMissing {
			return emptyReader{}, nil
		}
		return nil, &MissingError{Path: sp.Name}
	}
	if err != nil {
		return nil, err
	}
	r := &reader{path: sp.Name, file: f, spec: spec}
	rs := format.ReadSpec{
		Declared: s.o.Data, Options: s.o.FormatOptions, Location: spec.Location, Pool: spec.Pool,
		BatchRows: spec.BatchRows, CaseSensitive: spec.CaseSensitive, Terms: spec.Terms, Late: spec.Late, ByName: s.o.ByName,
	}
	var parts map[string]string
	for i, c := range spec.Columns.Fields {
		if name, ok := spec.Metadata[i]; ok {
			r.added = append(r.added, added{at: i, value: r.metadata(name, c.Type)})
			continue
		}
		field := spec.Fields[i]
		if field < len(s.o.Data.Fields) {
			rs.Columns.Fields = append(rs.Columns.Fields, c)
			continue
		}
		if parts == nil {
			parts = folderValues(f.key)
		}
		v, err := partitionValue(parts, c, spec.Location)
		if err != nil {
			return nil, errors.Join(err, obj.Close())
		}
		r.added = append(r.added, added{at: i, value: v})
	}
	in := format.Input{Name: sp.Name, Object: obj, ModTime: time.UnixMicro(f.mtime)}
	if s.o.NewColumns == "add" || s.o.NewColumns == "fail" {
		rs.Unknown = r.meet
		r.check = func() error { return s.newColumns(ctx, sp, r.met) }
	}
	if r.scan, err = s.o.Format.Open(ctx, in, rs); err != nil {
		return nil, errors.Join(err, obj.Close())
	}
	return r, nil
}

// added is a constant column that the file itself does not hold.
type added struct {
	at    int
	value *column.Vector
}

// reader puts the format's columns and the added ones together.
type reader struct {
	path  string
	file  file
	spec  connector.ScanSpec
	scan  format.Scanner
	added []added
	// met are columns that the schema has not; check looks at them.
	met   []string
	check func() error
}

func (r *reader) meet(name string) { r.met = append(r.met, name) }

// Next implements connector.Reader.
func (r *reader) Next() (*column.Batch, error) {
	b, err := r.scan.Next()
	if len(r.met) > 0 {
		if cerr := r.check(); cerr != nil {
			if b != nil {
				b.Release()
			}
			return nil, cerr
		}
		r.met = r.met[:0]
	}
	if err != nil || len(r.added) == 0 {
		return b, err
	}
	out := r.spec.Pool.Batch()
	out.Len, out.Change = b.Len, b.Change
	if b.Sel != nil {
		out.Sel = append(out.SelBuffer(), b.Sel...)
	}
	next, data := 0, 0
	for i := range r.spec.Columns.Fields {
		if next < len(r.added) && r.added[next].at == i {
			out.Cols = append(out.Cols, repeat(r.spec.Pool, r.added[next].value, b.Len))
			next++
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

// MetadataFields are the fields of the hidden _metadata column.
func MetadataFields() []schema.Field {
	return []schema.Field{
		{Name: "file_path", Type: schema.Of(schema.String)},
		{Name: "file_name", Type: schema.Of(schema.String)},
		{Name: "file_size", Type: schema.Of(schema.Int64)},
		{Name: "file_block_start", Type: schema.Of(schema.Int64)},
		{Name: "file_block_length", Type: schema.Of(schema.Int64)},
		{Name: "file_modification_time", Type: schema.Of(schema.Timestamp)},
	}
}

// metadata returns one field of _metadata, or the whole struct.
func (r *reader) metadata(name string, t schema.Type) *column.Vector {
	v := column.New(t)
	switch name {
	case "file_path":
		v.AppendStr([]byte("file://" + r.path))
	case "file_name":
		v.AppendStr([]byte(path.Base(r.path)))
	case "file_size", "file_block_length":
		v.Resize(1)
		v.I64[0] = r.file.size
	case "file_block_start":
		v.Resize(1)
		v.I64[0] = 0
	case "file_modification_time":
		v.Resize(1)
		v.I64[0] = r.file.mtime
	default:
		v.Resize(1)
		for i, f := range t.Fields {
			v.Children[i].Release()
			v.Children[i] = r.metadata(f.Name, f.Type)
		}
	}
	v.Len = 1
	return v
}

type emptyReader struct{}

func (emptyReader) Next() (*column.Batch, error) { return nil, io.EOF }
func (emptyReader) Counts() format.Counts        { return format.Counts{} }
func (emptyReader) Close() error                 { return nil }

// repeat makes a constant vector of n rows from the one row of v.
func repeat(p *column.Pool, v *column.Vector, n int) *column.Vector {
	out := p.Vector(v.Type)
	column.AppendRow(out, v, 0)
	out.SetConst(n)
	return out
}
