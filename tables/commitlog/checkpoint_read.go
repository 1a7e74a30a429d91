package commitlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/parquet-go/parquet-go"

	"pipelines/stores"
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

func (l *Log) readPart(ctx context.Context, s *State, key string) (err error) {
	obj, err := l.store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, obj.Close()) }()
	if err := decodeCheckpoint(s, obj, obj.Size()); err != nil {
		if _, ok := errors.AsType[*UnsupportedError](err); ok {
			return err
		}
		return corrupt(err)
	}
	return nil
}

// decodeCheckpoint reads the actions of one Parquet file into the state.
// Columns are found by name, lists and maps by their form; what is not known
// is left out.
func decodeCheckpoint(s *State, r io.ReaderAt, size int64) (err error) {
	defer func() {
		if p := recover(); p != nil { // the Parquet library panics on some damaged files
			err = fmt.Errorf("damaged Parquet file: %v", p)
		}
	}()
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	if f.NumRows() > 8*size { // each row holds a path or an id of its own
		return fmt.Errorf("%d rows in %d bytes", f.NumRows(), size)
	}
	t := &table{root: f.Root(), rows: f.NumRows()}
	t.protocol(s)
	t.metadata(s)
	t.txns(s)
	t.domains(s)
	t.removes(s)
	t.adds(s)
	return t.err
}

// table reads columns of a checkpoint whole; the first error stays.
type table struct {
	root *parquet.Column
	rows int64
	err  error
}

func (t *table) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *table) column(path ...string) *parquet.Column {
	c := t.root
	for _, name := range path {
		if c = c.Column(name); c == nil {
			return nil
		}
	}
	return c
}

// scan calls fn with each value of a leaf and its row.
func (t *table) scan(c *parquet.Column, fn func(row int, v parquet.Value)) {
	if c == nil || t.err != nil {
		return
	}
	if !c.Leaf() {
		t.fail(fmt.Errorf("column %v has fields", c.Path()))
		return
	}
	pages := c.Pages()
	defer func() {
		if err := pages.Close(); err != nil {
			t.fail(err)
		}
	}()
	row := -1
	buf := make([]parquet.Value, 512)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.fail(err)
			return
		}
		err = scanPage(page.Values(), buf, func(v parquet.Value) {
			if v.RepetitionLevel() == 0 {
				row++
			}
			fn(row, v)
		})
		parquet.Release(page)
		if err != nil {
			t.fail(err)
			return
		}
	}
	if int64(row+1) != t.rows {
		t.fail(fmt.Errorf("column %v has %d rows of %d", c.Path(), row+1, t.rows))
	}
}

func scanPage(values parquet.ValueReader, buf []parquet.Value, fn func(parquet.Value)) error {
	for {
		n, err := values.ReadValues(buf)
		for _, v := range buf[:n] {
			fn(v)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrNoProgress
		}
	}
}

// texts reads a string column; nil where it is null or missing.
func (t *table) texts(path ...string) func(row int) *string {
	c := t.column(path...)
	if c == nil || t.err != nil {
		return func(int) *string { return nil }
	}
	out := make([]*string, t.rows)
	t.scan(c, func(row int, v parquet.Value) {
		if !v.IsNull() && v.Kind() == parquet.ByteArray && row < len(out) {
			s := string(v.ByteArray())
			out[row] = &s
		}
	})
	return func(row int) *string { return out[row] }
}

// numbers reads an integer or boolean column; 0 where it is null or missing.
func (t *table) numbers(path ...string) func(row int) int64 {
	c := t.column(path...)
	if c == nil || t.err != nil {
		return func(int) int64 { return 0 }
	}
	out := make([]int64, t.rows)
	t.scan(c, func(row int, v parquet.Value) {
		if v.IsNull() || row >= len(out) {
			return
		}
		switch v.Kind() {
		case parquet.Int64:
			out[row] = v.Int64()
		case parquet.Int32:
			out[row] = int64(v.Int32())
		case parquet.Boolean:
			if v.Boolean() {
				out[row] = 1
			}
		}
	})
	return func(row int) int64 { return out[row] }
}

// inner returns the leaves of a list (1) or map (2): the only child's children.
func inner(c *parquet.Column, n int) []*parquet.Column {
	if c == nil || len(c.Columns()) != 1 {
		return nil
	}
	mid := c.Columns()[0]
	if mid.Leaf() && n == 1 { // two-level list
		return c.Columns()
	}
	if len(mid.Columns()) != n {
		return nil
	}
	return mid.Columns()
}

// lists reads a list of strings; nil where the list is null.
func (t *table) lists(path ...string) func(row int) []string {
	c := t.column(path...)
	leaves := inner(c, 1)
	if leaves == nil || t.err != nil {
		return func(int) []string { return nil }
	}
	out := make([][]string, t.rows)
	empty := c.MaxDefinitionLevel()
	t.scan(leaves[0], func(row int, v parquet.Value) {
		if row >= len(out) || v.DefinitionLevel() < empty {
			return
		}
		if out[row] == nil {
			out[row] = []string{}
		}
		if !v.IsNull() {
			out[row] = append(out[row], string(v.ByteArray()))
		}
	})
	return func(row int) []string { return out[row] }
}

// mapping reads a map of strings; nil where the map is null.
func (t *table) mapping(path ...string) func(row int) map[string]*string {
	c := t.column(path...)
	leaves := inner(c, 2)
	if leaves == nil || t.err != nil {
		return func(int) map[string]*string { return nil }
	}
	out := make([]map[string]*string, t.rows)
	type entry struct {
		row int
		key string
	}
	var keys []entry
	empty := c.MaxDefinitionLevel()
	t.scan(leaves[0], func(row int, v parquet.Value) {
		if row < len(out) && v.DefinitionLevel() >= empty && out[row] == nil {
			out[row] = map[string]*string{}
		}
		if v.IsNull() {
			keys = append(keys, entry{row: -1})
		} else {
			keys = append(keys, entry{row, string(v.ByteArray())})
		}
	})
	i := 0
	t.scan(leaves[1], func(row int, v parquet.Value) {
		if i >= len(keys) {
			t.fail(fmt.Errorf("map %v has more values than keys", c.Path()))
			return
		}
		k := keys[i]
		i++
		if k.row < 0 || k.row >= len(out) {
			return
		}
		if v.IsNull() {
			out[k.row][k.key] = nil
			return
		}
		s := string(v.ByteArray())
		out[k.row][k.key] = &s
	})
	return func(row int) map[string]*string { return out[row] }
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

func orEmptyText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (t *table) protocol(s *State) {
	if t.column("protocol") == nil {
		return
	}
	reader, writer := t.numbers("protocol", "minReaderVersion"), t.numbers("protocol", "minWriterVersion")
	rf, wf := t.lists("protocol", "readerFeatures"), t.lists("protocol", "writerFeatures")
	for row := 0; t.err == nil && row < int(t.rows); row++ {
		if reader(row) > 0 {
			s.protocol = &Protocol{int(reader(row)), int(writer(row)), rf(row), wf(row)}
		}
	}
}

func (t *table) metadata(s *State) {
	if t.column("metaData") == nil {
		return
	}
	id, text := t.texts("metaData", "id"), t.texts("metaData", "schemaString")
	nm, desc, provider := t.texts("metaData", "name"), t.texts("metaData", "description"), t.texts("metaData", "format", "provider")
	columns, conf := t.lists("metaData", "partitionColumns"), t.mapping("metaData", "configuration")
	created := t.numbers("metaData", "createdTime")
	for row := 0; t.err == nil && row < int(t.rows); row++ {
		if text(row) == nil {
			continue
		}
		j := metaJSON{
			ID: orEmptyText(id(row)), Name: orEmptyText(nm(row)), Description: orEmptyText(desc(row)),
			Format: formatJSON{Provider: orEmptyText(provider(row))}, SchemaString: *text(row),
			PartitionColumns: columns(row), Configuration: flat(conf(row)), CreatedTime: created(row),
		}
		m, err := j.action()
		if err != nil {
			t.fail(err)
			return
		}
		s.metadata = m
	}
}

func (t *table) txns(s *State) {
	app := t.texts("txn", "appId")
	version, updated := t.numbers("txn", "version"), t.numbers("txn", "lastUpdated")
	for row := 0; t.err == nil && row < int(t.rows); row++ {
		if id := app(row); id != nil {
			s.txns[*id] = Txn{*id, version(row), updated(row)}
		}
	}
}

func (t *table) domains(s *State) {
	nm, conf := t.texts("domainMetadata", "domain"), t.texts("domainMetadata", "configuration")
	for row := 0; t.err == nil && row < int(t.rows); row++ {
		if d := nm(row); d != nil {
			s.domains[*d] = Domain{Name: *d, Configuration: orEmptyText(conf(row))}
		}
	}
}

func (t *table) removes(s *State) {
	path, values := t.texts("remove", "path"), t.mapping("remove", "partitionValues")
	deleted, size, ext := t.numbers("remove", "deletionTimestamp"), t.numbers("remove", "size"), t.numbers("remove", "extendedFileMetadata")
	dv := t.texts("remove", "deletionVector", "storageType")
	for row := 0; t.err == nil && row < int(t.rows); row++ {
		p := path(row)
		if p == nil {
			continue
		}
		if dv(row) != nil {
			t.fail(&UnsupportedError{Feature: "deletionVectors", What: "the removed file " + *p + " has a deletion vector"})
			return
		}
		s.tombs[*p] = Remove{Path: *p, DeletionTimestamp: deleted(row), Extended: ext(row) == 1, PartitionValues: values(row), Size: size(row)}
	}
}

func (t *table) adds(s *State) {
	path, values, tags := t.texts("add", "path"), t.mapping("add", "partitionValues"), t.mapping("add", "tags")
	size, modified := t.numbers("add", "size"), t.numbers("add", "modificationTime")
	stats, dv := t.texts("add", "stats"), t.texts("add", "deletionVector", "storageType")
	for row := 0; t.err == nil && row < int(t.rows); row++ {
		p := path(row)
		if p == nil {
			continue
		}
		if dv(row) != nil {
			t.fail(&UnsupportedError{Feature: "deletionVectors", What: "file " + *p + " has a deletion vector"})
			return
		}
		if s.index[*p] != nil {
			t.fail(&stores.ClassError{Class: stores.Corrupt, Err: fmt.Errorf("file %s is there twice", *p)})
			return
		}
		s.add(s.version, Add{*p, values(row), size(row), modified(row), false, orEmptyText(stats(row)), flat(tags(row))})
	}
}
