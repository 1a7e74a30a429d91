package commitlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"pipelines/stores"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/format/parquet"
	"pipelines/tables/schema"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// readCheckpoint fills an empty state from a checkpoint of so many parts.
func (l *Log) readCheckpoint(ctx context.Context, s *State, v int64, parts int) error {
	s.version, s.base = v, v
	for part := 1; part <= parts; part++ {
		key := l.key(checkpointName(v, part, parts))
		if err := l.readPart(ctx, s, key); err != nil {
			return fmt.Errorf("log checkpoint %s: %w", key, err)
		}
	}
	if s.protocol == nil || s.metadata == nil {
		return corrupt(fmt.Errorf("log checkpoint of version %d has no protocol or no metadata", v))
	}
	return s.protocol.Readable(s.metadata)
}

func (l *Log) readPart(ctx context.Context, s *State, key string) error {
	obj, err := l.store.Open(ctx, key)
	if err != nil {
		return err
	}
	err = decodeCheckpoint(ctx, s, format.Input{Name: key, Object: obj})
	if _, ok := errors.AsType[*UnsupportedError](err); ok || err == nil || stores.Classify(err) == stores.Retryable || ctx.Err() != nil {
		return err
	}
	return corrupt(err)
}

// The columns of a checkpoint that are read, in this order; more in the file
// are left out, missing ones are null.
const (
	colProtocol = iota
	colMetaData
	colTxn
	colDomain
	colRemove
	colAdd
)

// checkpointSchema returns the columns that are read.
func checkpointSchema() schema.Schema {
	str, num, flag := schema.Of(schema.String), schema.Of(schema.Int64), schema.Of(schema.Boolean)
	strs, dict := schema.ArrayOf(str, true), schema.MapOf(str, str, true)
	group := func(pairs ...schema.Field) schema.Type { return schema.StructOf(pairs...) }
	f := func(name string, t schema.Type) schema.Field {
		return schema.Field{Name: name, Type: t, Nullable: true}
	}
	small := schema.Of(schema.Int32)
	dv := f("deletionVector", group(f("storageType", str)))
	return schema.Schema{Fields: []schema.Field{
		colProtocol: f("protocol", group(f("minReaderVersion", small), f("minWriterVersion", small), f("readerFeatures", strs), f("writerFeatures", strs))),
		colMetaData: f("metaData", group(f("id", str), f("name", str), f("description", str), f("format", group(f("provider", str))), f("schemaString", str),
			f("partitionColumns", strs), f("configuration", dict), f("createdTime", num))),
		colTxn:    f("txn", group(f("appId", str), f("version", num), f("lastUpdated", num))),
		colDomain: f("domainMetadata", group(f("domain", str), f("configuration", str))),
		colRemove: f("remove", group(f("path", str), f("deletionTimestamp", num), f("extendedFileMetadata", flag), f("partitionValues", dict), f("size", num), dv)),
		colAdd:    f("add", group(f("path", str), f("partitionValues", dict), f("size", num), f("modificationTime", num), f("stats", str), f("tags", dict), dv)),
	}}
}

// decodeCheckpoint reads the actions of one Parquet file into the state; it
// closes the input. Columns are found by name, lists and maps by their form.
func decodeCheckpoint(ctx context.Context, s *State, in format.Input) (err error) {
	columns := checkpointSchema()
	sc, err := parquet.New().Open(ctx, in, format.ReadSpec{Declared: columns, Columns: columns, Pool: column.NewPool(), CaseSensitive: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sc.Close()) }()
	for {
		b, err := sc.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.takeBatch(b)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// takeBatch takes the actions of a batch, one kind after the other.
func (s *State) takeBatch(b *column.Batch) error {
	takers := [...]func(g group, row int) error{
		colProtocol: s.takeProtocol, colMetaData: s.takeMetadata, colTxn: s.takeTxn, colDomain: s.takeDomain, colRemove: s.takeRemove, colAdd: s.takeAdd,
	}
	for i, take := range takers {
		g := group{b.Cols[i]}
		for row := range b.Len {
			if g.v.IsNull(row) {
				continue
			}
			if err := take(g, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// group is a struct column of a checkpoint; its fields are taken by place.
type group struct{ v *column.Vector }

func (g group) text(field, row int) *string { return textAt(g.v.Children[field], row) }

func textAt(v *column.Vector, row int) *string {
	flat, i := flatRow(v, row)
	if v.IsNull(row) || flat.IsNull(i) {
		return nil
	}
	s := string(flat.Str(i))
	return &s
}

// str is text with the empty string for null.
func (g group) str(field, row int) string {
	if s := g.text(field, row); s != nil {
		return *s
	}
	return ""
}

// num returns an integer or a boolean, 0 for null.
func (g group) num(field, row int) int64 {
	v := g.v.Children[field]
	flat, i := flatRow(v, row)
	switch {
	case v.IsNull(row) || flat.IsNull(i):
		return 0
	case v.Type.Kind == schema.Boolean:
		if flat.Bool[i] {
			return 1
		}
		return 0
	case v.Type.Kind == schema.Int32:
		return int64(flat.I32[i])
	}
	return flat.I64[i]
}

// list returns a list of strings, nil for null.
func (g group) list(field, row int) []string {
	v := g.v.Children[field]
	if v.IsNull(row) {
		return nil
	}
	from, to := v.List(row)
	out := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		if s := textAt(v.Children[0], i); s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// dict returns a map of strings, nil for null.
func (g group) dict(field, row int) map[string]*string {
	v := g.v.Children[field]
	if v.IsNull(row) {
		return nil
	}
	from, to := v.List(row)
	out := make(map[string]*string, to-from)
	for i := from; i < to; i++ {
		if k := textAt(v.Children[0], i); k != nil {
			out[*k] = textAt(v.Children[1], i)
		}
	}
	return out
}

func flat(m map[string]*string) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if v != nil {
			out[k] = *v
		}
	}
	return out
}

func (s *State) takeProtocol(g group, row int) error {
	s.protocol = &Protocol{int(g.num(0, row)), int(g.num(1, row)), g.list(2, row), g.list(3, row)}
	return nil
}

func (s *State) takeMetadata(g group, row int) error {
	j := metaJSON{
		ID: g.str(0, row), Name: g.str(1, row), Description: g.str(2, row), SchemaString: g.str(4, row),
		PartitionColumns: g.list(5, row), Configuration: flat(g.dict(6, row)), CreatedTime: g.num(7, row),
	}
	if f := (group{g.v.Children[3]}); !f.v.IsNull(row) {
		j.Format.Provider = f.str(0, row)
	}
	m, err := j.action()
	if err == nil {
		s.metadata = m
	}
	return err
}

func (s *State) takeTxn(g group, row int) error {
	id := g.str(0, row)
	s.txns[id] = Txn{id, g.num(1, row), g.num(2, row)}
	return nil
}

func (s *State) takeDomain(g group, row int) error {
	id := g.str(0, row)
	s.domains[id] = Domain{Name: id, Configuration: g.str(1, row)}
	return nil
}

// noVector refuses files with a deletion vector.
func noVector(g group, field, row int, path string) error {
	if dv := (group{g.v.Children[field]}); !dv.v.IsNull(row) && dv.text(0, row) != nil {
		return &UnsupportedError{Feature: "deletionVectors", What: "file " + path + " has a deletion vector"}
	}
	return nil
}

func (s *State) takeRemove(g group, row int) error {
	path := g.str(0, row)
	if path == "" {
		return errors.New("remove without a path")
	}
	s.tombs[path] = Remove{Path: path, DeletionTimestamp: g.num(1, row), Extended: g.num(2, row) == 1, PartitionValues: g.dict(3, row), Size: g.num(4, row)}
	return noVector(g, 5, row, path)
}

func (s *State) takeAdd(g group, row int) error {
	path := g.str(0, row)
	if path == "" {
		return errors.New("add without a path")
	}
	if s.index[path] != nil {
		return fmt.Errorf("file %s is there twice", path)
	}
	s.add(s.version, Add{path, g.dict(1, row), g.num(2, row), g.num(3, row), false, g.str(4, row), flat(g.dict(5, row))})
	return noVector(g, 6, row, path)
}
