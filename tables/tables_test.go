package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pipelines/stores"
	"pipelines/stores/fault"
	"pipelines/stores/local"
	"pipelines/stores/memory"
	"pipelines/tables/schema"
)

var twoColumns = schema.Schema{Fields: []schema.Field{
	{Name: "id", Type: schema.Of(schema.Int64), Nullable: true},
	{Name: "Day", Type: schema.Of(schema.Date), Nullable: true},
}}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// options are those of a table in a memory store with a clock that moves.
func options() Options {
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	return Options{Store: memory.New(memory.Options{}), Folder: "t/x", Now: clock}
}

func create(t testing.TB, opts Options) *Table {
	t.Helper()
	return must[*Table](t)(Create(context.Background(), opts, Definition{Schema: twoColumns}))
}

func newFile(key string, rows int) NewFile {
	return NewFile{Key: key, Size: 100, ModTime: time.Unix(1_700_000_000, 0), Stats: fmt.Sprintf(`{"numRecords":%d}`, rows)}
}

// add appends files in one commit.
func add(t testing.TB, table *Table, app string, epoch int64, keys ...string) int64 {
	t.Helper()
	tx := must[*Transaction](t)(table.Begin(context.Background()))
	for _, k := range keys {
		tx.AddFiles(newFile(k, 1))
	}
	if app != "" {
		tx.SetTxn(app, epoch)
	}
	return must[int64](t)(tx.Commit(context.Background()))
}

func fileKeys(s *Snapshot) string {
	var out []string
	for _, f := range s.Files() {
		out = append(out, f.Key)
	}
	return strings.Join(out, " ")
}

// same opens the table anew and demands the same content.
func same(t testing.TB, table *Table) {
	t.Helper()
	ctx := context.Background()
	a := must[*Snapshot](t)(table.Snapshot(ctx))
	fresh := must[*Table](t)(Open(ctx, table.opts))
	b := fresh.Known()
	if a.Version() != b.Version() || fileKeys(a) != fileKeys(b) || a.Schema().JSON() != b.Schema().JSON() || a.ID() != b.ID() ||
		fmt.Sprint(a.view.Txns) != fmt.Sprint(b.view.Txns) || a.NumFiles() != b.NumFiles() || a.Bytes() != b.Bytes() ||
		fmt.Sprint(a.Properties()) != fmt.Sprint(b.Properties()) || fmt.Sprint(a.PartitionColumns()) != fmt.Sprint(b.PartitionColumns()) {
		t.Fatalf("opened anew: version %d %s %v\nwant version %d %s %v", b.Version(), fileKeys(b), b.view.Txns, a.Version(), fileKeys(a), a.view.Txns)
	}
}

func TestAppendOverwriteReopen(t *testing.T) {
	ctx := t.Context()
	table := create(t, options())
	if _, err := Create(ctx, table.opts, Definition{Schema: twoColumns}); !errors.Is(err, stores.ErrExists) {
		t.Errorf("second create: %v", err)
	}
	for i := range 25 {
		if v := add(t, table, "app", int64(i), fmt.Sprintf("f %02d%%.parquet", i)); v != int64(i+1) {
			t.Fatalf("version %d", v)
		}
		same(t, table)
	}
	if err := table.CheckpointError(); err != nil {
		t.Fatal(err)
	}
	s := table.Known()
	if rows, ok := s.Rows(); rows != 25 || !ok || s.NumFiles() != 25 || s.Bytes() != 2500 {
		t.Errorf("%d rows, %d files, %d bytes", rows, s.NumFiles(), s.Bytes())
	}
	if v, ok := s.Txn("app"); v != 24 || !ok {
		t.Errorf("txn %d", v)
	}
	tx := must[*Transaction](t)(table.Begin(ctx))
	tx.Overwrite()
	tx.AddFiles(newFile("new.parquet", 7))
	tx.SetInfo("pipelines", json.RawMessage(`{"epoch": 3, "offsets": {"a":[1,2]}}`))
	v := must[int64](t)(tx.Commit(ctx))
	same(t, table)
	_ = table.Changes(ctx, v, func(c *Change) bool {
		if string(c.Info("pipelines")) != `{"epoch":3,"offsets":{"a":[1,2]}}` || c.Operation != "WRITE" || !c.DataRemoved {
			t.Errorf("change %+v", c)
		}
		return true
	})
	if got := fileKeys(table.Known()); got != "new.parquet" {
		t.Errorf("after the overwrite: %s", got)
	}
	if fileKeys(s) == "new.parquet" || s.NumFiles() != 25 {
		t.Error("an older snapshot changed")
	}
	old := must[*Snapshot](t)(table.SnapshotAt(ctx, 5))
	if fileKeys(old) != "f 00%.parquet f 01%.parquet f 02%.parquet f 03%.parquet f 04%.parquet" {
		t.Errorf("version 5: %s", fileKeys(old))
	}
	for range 20 {
		add(t, table, "", 0)
		same(t, table)
	}
}

func TestTxnOnce(t *testing.T) {
	ctx := t.Context()
	table := create(t, options())
	add(t, table, "app", 3, "a")
	for _, epoch := range []int64{2, 3} {
		tx := must[*Transaction](t)(table.Begin(ctx))
		tx.AddFiles(newFile("b", 1))
		tx.SetTxn("app", epoch)
		_, err := tx.Commit(ctx)
		if e, ok := errors.AsType[*CommittedError](err); !ok || e.Stored != 3 || e.Wanted != epoch {
			t.Errorf("epoch %d: %v", epoch, err)
		}
	}
	// A second runner with the same id, from another process.
	other := must[*Table](t)(Open(ctx, table.opts))
	mine, theirs := must[*Transaction](t)(table.Begin(ctx)), must[*Transaction](t)(other.Begin(ctx))
	for _, tx := range []*Transaction{mine, theirs} {
		tx.AddFiles(newFile(fmt.Sprintf("%p", tx), 1))
		tx.SetTxn("app", 4)
	}
	must[int64](t)(mine.Commit(ctx))
	_, err := theirs.Commit(ctx)
	if _, ok := errors.AsType[*CommittedError](err); !ok || !errors.Is(err, ErrConflict) {
		t.Errorf("second runner: %v", err)
	}
}

// TestUnknownOutcome lets the store say "failed" after it wrote the commit.
func TestUnknownOutcome(t *testing.T) {
	ctx := t.Context()
	opts := options()
	opts.Store = fault.New(opts.Store, fault.MustParse("absent key *02.json : after retryable\nabsent key *03.json : error"))
	table := create(t, opts)
	add(t, table, "app", 0, "a")
	if v := add(t, table, "app", 1, "b"); v != 2 {
		t.Errorf("version %d", v)
	}
	tx := must[*Transaction](t)(table.Begin(ctx))
	tx.AddFiles(newFile("c", 1))
	if _, err := tx.Commit(ctx); err == nil || errors.Is(err, ErrConflict) {
		t.Errorf("got %v", err)
	}
	same(t, table)
	if got := fileKeys(table.Known()); got != "a b" {
		t.Errorf("files %s", got)
	}
}

func TestConflicts(t *testing.T) {
	ctx := t.Context()
	f := func(name string, mine, theirs func(*Transaction), want string) {
		t.Helper()
		table := create(t, options())
		add(t, table, "", 0, "a", "b")
		tx := must[*Transaction](t)(table.Begin(ctx))
		mine(tx)
		other := must[*Transaction](t)(must[*Table](t)(Open(ctx, table.opts)).Begin(ctx))
		theirs(other)
		must[int64](t)(other.Commit(ctx))
		_, err := tx.Commit(ctx)
		got := ""
		if e, ok := errors.AsType[*ConflictError](err); ok {
			got = e.Kind.Class()
		} else if err != nil {
			got = err.Error()
		} else {
			got = fileKeys(table.Known())
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		same(t, table)
	}
	appendC := func(tx *Transaction) { tx.AddFiles(newFile("c", 1)) }
	appendD := func(tx *Transaction) { tx.AddFiles(newFile("d", 1)) }
	overwrite := func(tx *Transaction) { tx.Overwrite(); tx.AddFiles(newFile("o", 1)) }
	compact := func(tx *Transaction) {
		tx.KeepsData()
		tx.RemoveFiles(tx.Snapshot().Files()...)
		tx.AddFiles(newFile("ab", 2))
	}
	rewriteB := func(tx *Transaction) {
		tx.RemoveFiles(tx.Snapshot().Files()[1])
		tx.AddFiles(newFile("b2", 1))
	}
	merge := func(tx *Transaction) { rewriteB(tx); tx.Reads() }
	property := func(tx *Transaction) { tx.SetProperty("x", "y") }
	f("append beside append", appendC, appendD, "a b c d")
	f("append beside compaction", appendC, compact, "ab c")
	f("append beside overwrite", appendC, overwrite, "c o")
	f("append beside metadata", appendC, property, "DELTA_METADATA_CHANGED")
	f("overwrite beside append", overwrite, appendC, "o")
	f("overwrite beside compaction", overwrite, compact, "o")
	f("overwrite beside metadata", overwrite, property, "DELTA_METADATA_CHANGED")
	f("compaction beside append", compact, appendC, "ab c")
	f("compaction beside rewrite", compact, rewriteB, "DELTA_CONCURRENT_DELETE_DELETE")
	f("rewrite beside overwrite", rewriteB, overwrite, "DELTA_CONCURRENT_DELETE_DELETE")
	f("rewrite beside append", rewriteB, appendC, "a b2 c")
	f("merge beside append", merge, appendC, "DELTA_CONCURRENT_APPEND")
	f("metadata beside append", property, appendC, "a b c")
}

func TestSchemaChange(t *testing.T) {
	ctx := t.Context()
	table := create(t, options())
	tx := must[*Transaction](t)(table.Begin(ctx))
	tx.SetSchema(twoColumns)
	tx.SetProperty("delta.appendOnly", "false")
	tx.UnsetProperty("none")
	must[int64](t)(tx.Commit(ctx))
	more := schema.Schema{Fields: append(twoColumns.Fields[:2:2], schema.Field{Name: "n", Type: schema.Of(schema.TimestampNTZ), Nullable: true})}
	tx = must[*Transaction](t)(table.Begin(ctx))
	tx.SetSchema(more)
	must[int64](t)(tx.Commit(ctx))
	s := table.Known()
	if r, w := s.Protocol(); r != 3 || w != 7 || !s.Schema().Equal(more) {
		t.Errorf("protocol %d/%d, schema %s", r, w, s.Schema().DDL())
	}
	var got []string
	err := table.Changes(ctx, 0, func(c *Change) bool {
		ddl := "-"
		if c.Schema != nil {
			ddl = c.Schema.DDL()
		}
		got = append(got, ddl)
		return true
	})
	if err != nil || strings.Join(got, "|") != "id BIGINT, Day DATE|id BIGINT, Day DATE|id BIGINT, Day DATE, n TIMESTAMP_NTZ" {
		t.Errorf("changes %v %v", got, err)
	}
	tx = must[*Transaction](t)(table.Begin(ctx))
	tx.SetSchema(more)
	v := must[int64](t)(tx.Commit(ctx))
	if c := must[*Snapshot](t)(table.SnapshotAt(ctx, v)); c.view.Metadata != table.Known().view.Metadata {
		t.Error("a schema that did not change was written")
	}
	bad := schema.Schema{Fields: append(twoColumns.Fields[:2:2], schema.Field{Name: "a b", Type: schema.Of(schema.Int32)})}
	tx = must[*Transaction](t)(table.Begin(ctx))
	tx.SetSchema(bad)
	if _, err := tx.Commit(ctx); err == nil {
		t.Error("a bad name was taken")
	} else if e, ok := errors.AsType[ColumnErrors](err); !ok || e[0].Class != "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES" {
		t.Errorf("got %v", err)
	}
	same(t, table)
}

func TestChanges(t *testing.T) {
	ctx := t.Context()
	table := create(t, options())
	add(t, table, "app", 0, "z", "a")
	follower := must[*Table](t)(Open(ctx, table.opts))
	tx := must[*Transaction](t)(table.Begin(ctx))
	tx.KeepsData()
	tx.RemoveFiles(table.Known().Files()...)
	tx.AddFiles(newFile("az", 2))
	must[int64](t)(tx.Commit(ctx))
	add(t, table, "app", 1, "b")
	show := func(table *Table, from int64) string {
		var out []string
		err := table.Changes(ctx, from, func(c *Change) bool {
			text := fmt.Sprintf("%d", c.Version)
			for _, f := range c.Adds {
				text += "+" + f.Key
			}
			for _, f := range c.Removes {
				text += "-" + f.Key
			}
			if c.DataAdded || c.DataRemoved {
				text += "!"
			}
			if v, ok := c.Txn("app"); ok {
				text += fmt.Sprintf("@%d", v)
			}
			out = append(out, text)
			return true
		})
		if err != nil {
			out = append(out, err.Error())
		}
		return strings.Join(out, " ")
	}
	if got := show(follower, 1); got != "1+z+a!@0 2+az-a-z 3+b!@1" {
		t.Errorf("got %s", got)
	}
	if got := follower.Known().Version(); got != 3 {
		t.Errorf("the follower knows version %d", got)
	}
	if got := show(follower, 4); got != "" {
		t.Errorf("got %s", got)
	}
	if got := show(follower, 5); !strings.Contains(got, "not there yet") {
		t.Errorf("got %s", got)
	}
	if err := table.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	for v := range 3 {
		_ = table.opts.Store.Delete(ctx, fmt.Sprintf("t/x/_delta_log/%020d.json", v))
	}
	same(t, table)
	err := table.Changes(ctx, 1, func(*Change) bool { return true })
	if e, ok := errors.AsType[*VersionGoneError](err); !ok || e.Version != 1 || e.Oldest != 3 {
		t.Errorf("got %v", err)
	}
	if _, err := table.SnapshotAt(ctx, 1); err == nil {
		t.Error("a version that is gone was read")
	} else if e, ok := errors.AsType[*VersionGoneError](err); !ok || e.Oldest != 3 {
		t.Errorf("got %v", err)
	}
}

func TestOrphans(t *testing.T) {
	ctx := t.Context()
	now := time.Unix(1_700_000_000, 0)
	store := memory.New(memory.Options{Now: func() time.Time { return now }})
	table := create(t, Options{Store: store, Folder: "t/x", Now: func() time.Time { return now }})
	put := func(key string) string {
		if err := store.Put(ctx, table.Key(key), nil); err != nil {
			t.Fatal(err)
		}
		return key
	}
	name := func(app string, epoch int64) string { return put(FileName{app, epoch, ".snappy.parquet"}.New()) }
	const app = "0000_aa"
	ancient := name(app, 1)
	now = now.Add(8 * 24 * time.Hour)
	committed, removed, old, dead, staged := name(app, 4), name(app, 3), name(app, 3), name(app, 5), name(app, 5)
	view, other, foreign := name("", 2), name("other", 9), put("day=1/part-0.parquet")
	hidden := put("_pipelines/" + dead)
	add(t, table, app, 3, removed)
	tx := must[*Transaction](t)(table.Begin(ctx))
	tx.Overwrite()
	tx.AddFiles(newFile(committed, 1))
	tx.SetTxn(app, 4)
	must[int64](t)(tx.Commit(ctx))
	check := func(wantGone int, gone []string, stay ...string) {
		t.Helper()
		for _, key := range stay {
			if _, err := store.Stat(ctx, table.Key(key)); err != nil {
				t.Error(err)
			}
		}
		for _, key := range gone {
			if _, err := store.Stat(ctx, table.Key(key)); !errors.Is(err, stores.ErrNotExist) {
				t.Errorf("%s: %v", key, err)
			}
		}
		if len(gone) != wantGone {
			t.Errorf("%d deleted, want %d", wantGone, len(gone))
		}
	}
	n := must[int](t)(table.RemoveOrphans(ctx, app, map[string]bool{staged: true}))
	check(n, []string{old, dead}, ancient, committed, removed, staged, view, other, foreign, hidden)
	n = must[int](t)(table.RemoveOrphans(ctx, "", nil))
	check(n, []string{view}, ancient, committed, removed, staged, other, foreign, hidden)
}

func BenchmarkEpoch(b *testing.B) {
	store := must[*local.Store](b)(local.Open(filepath.Join(b.TempDir(), "s"), local.Options{}))
	table := create(b, Options{Store: store, Folder: "t"})
	i := 0
	for b.Loop() {
		add(b, table, "app", int64(i), fmt.Sprintf("part-%d.parquet", i))
		i++
	}
}

// A property that no reader here would accept makes no version, neither the
// first nor a later one.
func TestUnreadableProperty(t *testing.T) {
	ctx := t.Context()
	opts := options()
	mapped := map[string]string{"delta.columnMapping.mode": "name"}
	if _, err := Create(ctx, opts, Definition{Schema: twoColumns, Properties: mapped}); err == nil {
		t.Fatal("a table was made that cannot be read")
	} else if e, ok := errors.AsType[*UnsupportedError](err); !ok || e.Feature != "columnMapping" {
		t.Fatal(err)
	}
	table := create(t, opts)
	tx := must[*Transaction](t)(table.Begin(ctx))
	tx.SetProperty("delta.columnMapping.mode", "name")
	if _, err := tx.Commit(ctx); err == nil {
		t.Fatal("a table was made unreadable")
	}
	tx = must[*Transaction](t)(table.Begin(ctx))
	tx.SetDescription("what it is")
	must[int64](t)(tx.Commit(ctx))
	if s := must[*Table](t)(Open(ctx, opts)).Known(); s.Version() != 1 || s.Description() != "what it is" || len(s.Properties()) != 0 {
		t.Errorf("version %d, %q, %v", s.Version(), s.Description(), s.Properties())
	}
}
