package tables

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pipelines/stores"
	"pipelines/stores/local"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// interopRow is the data of the tables that testdata/interop.py reads.
type interopRow struct {
	ID   *int64     `parquet:"id,optional"`
	Name *string    `parquet:"name,optional"`
	At   time.Time  `parquet:"at,optional,timestamp(microsecond)"`
	S    *interopIn `parquet:"s,optional"`
	Tags []string   `parquet:"tags,list,optional"`
	More *string    `parquet:"more,optional"`
}

type interopIn struct {
	X *int32 `parquet:"x,optional"`
}

func interopSchema(more bool) schema.Schema {
	nullable := func(name string, t schema.Type) schema.Field {
		return schema.Field{Name: name, Type: t, Nullable: true}
	}
	s := schema.Schema{Fields: []schema.Field{
		nullable("id", schema.Of(schema.Int64)), nullable("name", schema.Of(schema.String)), nullable("at", schema.Of(schema.Timestamp)),
		nullable("s", schema.StructOf(nullable("x", schema.Of(schema.Int32)))), nullable("tags", schema.ArrayOf(schema.Of(schema.String), false)),
		nullable("day", schema.Of(schema.Date)), nullable("item", schema.Of(schema.String)),
	}}
	if more {
		s.Fields = append(s.Fields, nullable("more", schema.Of(schema.String)))
	}
	return s
}

func one(t schema.Type, fill func(v *column.Vector)) *column.Vector {
	v := column.New(t)
	v.Resize(1)
	fill(v)
	v.Len = 1
	return v
}

// interopFile writes rows id from..from+2 of one partition.
func interopFile(t *testing.T, table *Table, from int64, day int32, item *string) NewFile {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	var rows []interopRow
	for i := from; i < from+3; i++ {
		r := interopRow{ID: &i, At: at.Add(time.Duration(i) * time.Hour), Tags: []string{"a", fmt.Sprint(i)}}
		if i%2 == 0 {
			name, x := strings.Repeat("ü", 40)+fmt.Sprint(i), int32(i)
			r.Name, r.S, r.More = &name, &interopIn{&x}, &name
		}
		rows = append(rows, r)
	}
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[interopRow](&buf, parquet.Compression(&parquet.Snappy))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := one(schema.Of(schema.Date), func(v *column.Vector) { v.I32[0] = day })
	it := column.NullVector(nil, schema.Of(schema.String), 1)
	if item != nil {
		it = one(schema.Of(schema.String), func(v *column.Vector) { v.AppendStr([]byte(*item)) })
	}
	values := map[string]*string{"day": PartitionText(d, 0), "item": PartitionText(it, 0)}
	columns := []string{"day", "item"}
	key := PartitionFolder(columns, values) + FileName{AppID: "interop", Epoch: from, Extension: ".snappy.parquet"}.New()
	up := must[stores.Upload](t)(table.CreateFile(t.Context(), key))
	if _, err := up.Write(buf.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := up.Commit(); err != nil {
		t.Fatal(err)
	}
	i64 := func(v int64) *column.Vector {
		return one(schema.Of(schema.Int64), func(c *column.Vector) { c.I64[0] = v })
	}
	ts := func(v time.Time) *column.Vector {
		return one(schema.Of(schema.Timestamp), func(c *column.Vector) { c.I64[0] = v.UnixMicro() })
	}
	stats := format.FileStats{Rows: 3, Columns: []format.ColumnStats{
		{Path: []string{"id"}, Type: schema.Of(schema.Int64), Min: i64(from), Max: i64(from + 2)},
		{Path: []string{"at"}, Type: schema.Of(schema.Timestamp), Min: ts(rows[0].At), Max: ts(rows[2].At)},
		{Path: []string{"s", "x"}, Type: schema.Of(schema.Int32), NullCount: 1 + (from % 2)},
	}}
	return NewFile{Key: key, PartitionValues: values, Size: int64(buf.Len()), ModTime: time.Now(), Stats: Stats(stats)}
}

// TestInteropWrite makes the tables that testdata/interop.py reads with other
// engines; PIPELINES_INTEROP names the folder.
func TestInteropWrite(t *testing.T) {
	root := os.Getenv("PIPELINES_INTEROP")
	if root == "" {
		t.Skip("run by make integration, through testdata/interop.py")
	}
	ctx := t.Context()
	store := must[*local.Store](t)(local.Open(root, local.Options{}))
	for _, kind := range []string{"plain", "checkpoint"} {
		table := must[*Table](t)(Create(ctx, Options{Store: store, Folder: kind}, Definition{
			Schema: interopSchema(false), PartitionColumns: []string{"day", "item"},
			Properties: map[string]string{"delta.isolationLevel": "WriteSerializable"}, Description: "made \"here\"",
		}))
		commit := func(fill func(tx *Transaction)) {
			t.Helper()
			tx := must[*Transaction](t)(table.Begin(ctx))
			fill(tx)
			must[int64](t)(tx.Commit(ctx))
		}
		item := "a/b c%=d"
		commit(func(tx *Transaction) { tx.AddFiles(interopFile(t, table, 100, 3, &item)) })
		commit(func(tx *Transaction) {
			tx.Overwrite()
			tx.AddFiles(interopFile(t, table, 0, 20454, &item), interopFile(t, table, 3, 0, nil))
		})
		commit(func(tx *Transaction) {
			tx.SetTxn("app-1", 7)
			tx.SetInfo("pipelines", json.RawMessage(`{"epoch":7,"offsets":{"x":[1]}}`))
			tx.AddFiles(interopFile(t, table, 6, -1, &item))
		})
		commit(func(tx *Transaction) {
			tx.SetSchema(interopSchema(true))
			tx.AddFiles(interopFile(t, table, 9, 1, &item))
		})
		if kind == "plain" {
			continue
		}
		if err := table.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		for v := range 5 {
			if err := store.Delete(ctx, fmt.Sprintf("%s/_delta_log/%020d.json", kind, v)); err != nil {
				t.Fatal(err)
			}
		}
		commit(func(tx *Transaction) { tx.AddFiles(interopFile(t, table, 12, 1, &item)) })
		same(t, table)
	}
}

// TestInteropRead prints what the tables in PIPELINES_INTEROP_READ hold.
func TestInteropRead(t *testing.T) {
	root := os.Getenv("PIPELINES_INTEROP_READ")
	if root == "" {
		t.Skip("run by make integration, through testdata/interop.py")
	}
	ctx := t.Context()
	store := must[*local.Store](t)(local.Open(root, local.Options{ReadOnly: true}))
	for _, folder := range strings.Fields(os.Getenv("PIPELINES_INTEROP_TABLES")) {
		table, err := Open(ctx, Options{Store: store, Folder: folder})
		if err != nil {
			t.Logf("RESULT %s ERROR %v", folder, err)
			continue
		}
		s := table.Known()
		rows, _ := s.Rows()
		var keys []string
		for _, f := range s.Files() {
			if info, err := store.Stat(ctx, table.Key(f.Key)); err != nil || info.Size != f.Size {
				t.Errorf("%s: %v", f.Key, err)
			}
			keys = append(keys, f.Key)
		}
		slices.Sort(keys)
		var txns []string
		s.Txns(func(app string, v int64) { txns = append(txns, fmt.Sprint(app, v)) })
		out, _ := json.Marshal(map[string]any{"version": s.Version(), "rows": rows, "schema": json.RawMessage(s.Schema().JSON()), "files": keys, "txns": txns,
			"writable": fmt.Sprint(s.Writable()), "partitions": s.PartitionColumns()})
		t.Logf("RESULT %s %s", folder, out)
	}
}
