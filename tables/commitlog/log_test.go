package commitlog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pipelines/stores"
	"pipelines/stores/memory"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

func ptr(s string) *string { return &s }

var oneColumn = schema.Schema{Fields: []schema.Field{{Name: "a", Type: schema.Of(schema.Int64), Nullable: true}}}

// write makes version v.
func write(t testing.TB, l *Log, v int64, c *Commit) {
	t.Helper()
	data, err := Encode(c)
	if err == nil {
		err = l.Write(t.Context(), v, data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func first() *Commit {
	return &Commit{
		Protocol: ProtocolFor(oneColumn),
		Metadata: &Metadata{ID: "id", Name: "n", Description: "d", Schema: oneColumn, PartitionColumns: []string{"p", "q"}, Configuration: map[string]string{"k": "v", "e": ""}, CreatedTime: 5},
	}
}

func adds(paths ...string) *Commit {
	c := &Commit{}
	for i, p := range paths {
		c.Adds = append(c.Adds, Add{Path: p, PartitionValues: map[string]*string{"p": nil, "q": ptr("x=" + p)}, Size: int64(i), ModificationTime: 100, DataChange: true, Stats: `{"numRecords":1}`})
	}
	return c
}

// sameState compares all that a checkpoint keeps.
func sameState(t testing.TB, got, want *State) {
	t.Helper()
	if g, w := describe(got), describe(want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func describe(s *State) string {
	var b strings.Builder
	b.WriteString(show(s))
	v := s.View()
	fmt.Fprintf(&b, "%+v\n", *v.Protocol)
	out, _ := Encode(&Commit{Metadata: v.Metadata})
	b.Write(out)
	for _, f := range v.Files() {
		a := f.Add
		a.DataChange = false
		fmt.Fprintf(&b, "%s %s %d %d %s %q\n", a.Path, showValues(a.PartitionValues), a.Size, a.ModificationTime, a.Stats, a.Tags)
	}
	for _, r := range s.Checkpoint(time.UnixMilli(0)).Tombstones {
		fmt.Fprintf(&b, "%s %d %t %s %d\n", r.Path, r.DeletionTimestamp, r.Extended, showValues(r.PartitionValues), r.Size)
	}
	return b.String()
}

func TestCheckpointRoundTrip(t *testing.T) {
	ctx := t.Context()
	l := NewLog(memory.New(memory.Options{}), "t")
	write(t, l, 0, first())
	c := adds("b", "a", "c%20d")
	c.Adds[0].Tags = map[string]string{"t": "u"}
	c.Adds[1].Stats = ""
	c.Adds[1].PartitionValues = nil
	c.Txns = []Txn{{"x", 0, 0}, {"y", 7, 99}}
	c.Domains = []Domain{{"dom", "", false}, {"other", `{"a":1}`, false}}
	write(t, l, 1, c)
	write(t, l, 2, &Commit{Removes: []Remove{{"c%20d", 1000, true, true, map[string]*string{"p": nil}, 0}, {Path: "plain", DeletionTimestamp: 1001}}})
	want, err := l.Load(ctx, Latest)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.WriteCheckpoint(ctx, want.Checkpoint(time.UnixMilli(0))); err != nil {
		t.Fatal(err)
	}
	for v := range int64(3) {
		_ = l.store.Delete(ctx, l.commitKey(v))
	}
	got, err := l.Load(ctx, Latest)
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, got, want)
	if got.base != 2 || got.version != 2 {
		t.Errorf("base %d version %d", got.base, got.version)
	}
	// Expired tombstones go.
	if n := len(want.Checkpoint(time.UnixMilli(1001).Add(defaultRetention)).Tombstones); n != 1 {
		t.Errorf("%d tombstones", n)
	}
	if o, err := l.Oldest(ctx); !errors.Is(err, stores.ErrNotExist) {
		t.Error(o, err)
	}
}

// TestProtocolLists keeps absent feature lists apart from present ones.
func TestProtocolLists(t *testing.T) {
	for _, p := range []Protocol{{MinReader: 1, MinWriter: 2}, {MinReader: 1, MinWriter: 7, WriterFeatures: []string{"appendOnly"}},
		{3, 7, []string{"timestampNtz"}, []string{"timestampNtz", "appendOnly"}}} {
		c := first()
		c.Protocol = &p
		s := NewState()
		if err := s.Apply(0, c); err != nil {
			t.Fatal(err)
		}
		got := reread(t, s)
		if fmt.Sprintf("%#v", *got.protocol) != fmt.Sprintf("%#v", p) {
			t.Errorf("%#v became %#v", p, *got.protocol)
		}
	}
}

func checkpointBytes(t testing.TB, s *State) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := s.Checkpoint(time.UnixMilli(0)).write(&counter{w: &buf}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func reread(t testing.TB, s *State) *State {
	t.Helper()
	data := checkpointBytes(t, s)
	got := NewState()
	got.version = s.version
	if err := decodeCheckpoint(t.Context(), got, input(data)); err != nil {
		t.Fatal(err)
	}
	return got
}

type memoryObject struct{ *bytes.Reader }

func (memoryObject) Close() error { return nil }

func input(data []byte) format.Input {
	return format.Input{Name: "x.parquet", Object: memoryObject{bytes.NewReader(data)}}
}

// foreignRow is a checkpoint in the manner of other writers: other names in
// lists and maps, more columns, other order.
type foreignRow struct {
	Protocol *struct {
		MinReader int32  `parquet:"minReaderVersion,optional"`
		MinWriter int32  `parquet:"minWriterVersion,optional"`
		New       string `parquet:"newThing,optional"`
	} `parquet:"protocol,optional"`
	Sidecar *struct {
		Path string `parquet:"path"`
	} `parquet:"sidecar,optional"`
	MetaData *struct {
		SchemaString string `parquet:"schemaString,optional"`
		ID           string `parquet:"id,optional"`
	} `parquet:"metaData,optional"`
	Add *foreignAdd `parquet:"add,optional"`
}

type foreignAdd struct {
	Stats  string            `parquet:"stats,optional"`
	Size   int32             `parquet:"size,optional"`
	Path   string            `parquet:"path"`
	Values map[string]string `parquet:"partitionValues,optional"`
	Parsed *struct {
		N int64 `parquet:"numRecords,optional"`
	} `parquet:"stats_parsed,optional"`
	DV *struct {
		Type string `parquet:"storageType,optional"`
	} `parquet:"deletionVector,optional"`
}

func foreignFile(t testing.TB, rows []foreignRow) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[foreignRow](&buf)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func foreignRows() []foreignRow {
	rows := make([]foreignRow, 4)
	rows[0].Protocol = &struct {
		MinReader int32  `parquet:"minReaderVersion,optional"`
		MinWriter int32  `parquet:"minWriterVersion,optional"`
		New       string `parquet:"newThing,optional"`
	}{1, 2, "x"}
	rows[1].MetaData = &struct {
		SchemaString string `parquet:"schemaString,optional"`
		ID           string `parquet:"id,optional"`
	}{oneColumn.JSON(), "id"}
	rows[2].Add = &foreignAdd{Path: "p1", Size: 5, Values: map[string]string{"a": "b", "c": "d"}}
	rows[3].Add = &foreignAdd{Path: "p2", Size: 6, Stats: `{"numRecords":3}`}
	return rows
}

// TestForeignCheckpoint reads a checkpoint of two parts, of which one is made
// last, and falls back on the log while it is incomplete.
func TestForeignCheckpoint(t *testing.T) {
	ctx := t.Context()
	l := NewLog(memory.New(memory.Options{}), "")
	rows := foreignRows()
	put := func(part int, rows []foreignRow) {
		t.Helper()
		if err := l.store.Put(ctx, l.key(checkpointName(4, part, 2)), foreignFile(t, rows)); err != nil {
			t.Fatal(err)
		}
	}
	put(1, rows[:2])
	if _, err := l.Load(ctx, Latest); err == nil {
		t.Error("half a checkpoint was enough")
	}
	put(2, rows[2:])
	write(t, l, 5, adds("p3"))
	s, err := l.Load(ctx, Latest)
	if err != nil {
		t.Fatal(err)
	}
	want := "version 5, 3 files, 11 bytes\n  p1 a=b,c=d\n  p2 \n  p3 p=NULL,q=x=p3\n"
	if got := show(s); got != want {
		t.Errorf("got %s", got)
	}
	rows[3].Add.DV = &struct {
		Type string `parquet:"storageType,optional"`
	}{"u"}
	put(2, rows[2:])
	_, err = l.Load(ctx, Latest)
	if e, ok := errors.AsType[*UnsupportedError](err); !ok || e.Feature != "deletionVectors" {
		t.Errorf("got %v", err)
	}
}

// damaged builds a log of seven versions with checkpoints at 3 and 5, damages
// it and says what Load makes of it.
func damaged(t *testing.T, damage func(put func(name, data string), drop func(names ...string))) string {
	t.Helper()
	ctx := t.Context()
	l := NewLog(memory.New(memory.Options{}), "t")
	write(t, l, 0, first())
	for v := int64(1); v <= 6; v++ {
		write(t, l, v, adds(fmt.Sprint(v)))
		if v != 3 && v != 5 {
			continue
		}
		s, err := l.Load(ctx, Latest)
		if err == nil {
			err = l.WriteCheckpoint(ctx, s.Checkpoint(time.Now()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	damage(func(name, data string) { _ = l.store.Put(ctx, l.key(name), []byte(data)) },
		func(names ...string) {
			for _, n := range names {
				_ = l.store.Delete(ctx, l.key(n))
			}
		})
	s, err := l.Load(ctx, Latest)
	if err != nil {
		return fmt.Sprintf("class %d: %v", stores.Classify(err), err)
	}
	v := s.View()
	return fmt.Sprintf("version %d, %d files", v.Version, v.NumFiles)
}

func TestLoadDamaged(t *testing.T) {
	checkpoint := func(v int64) string { return checkpointName(v, 1, 1) }
	commit := func(v int64) string { return fmt.Sprintf("%020d.json", v) }
	f := func(name, want string, damage func(put func(name, data string), drop func(names ...string))) {
		t.Helper()
		if got := damaged(t, damage); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	const good = "version 6, 6 files"
	f("nothing", good, func(_ func(string, string), _ func(...string)) {})
	f("no pointer", good, func(_ func(string, string), drop func(...string)) { drop("_last_checkpoint") })
	f("bad pointer", good, func(put func(string, string), _ func(...string)) { put("_last_checkpoint", "{") })
	f("pointer to nothing", good, func(put func(string, string), _ func(...string)) { put("_last_checkpoint", `{"version":77,"size":1}`) })
	f("pointer behind", good, func(put func(string, string), _ func(...string)) { put("_last_checkpoint", `{"version":3,"size":1}`) })
	f("checkpoint gone", good, func(_ func(string, string), drop func(...string)) { drop(checkpoint(5)) })
	f("checkpoint empty", good, func(put func(string, string), _ func(...string)) { put(checkpoint(5), "") })
	f("checkpoint torn", good, func(put func(string, string), _ func(...string)) { put(checkpoint(5), "PAR1 nonsense PAR1") })
	f("both damaged", good, func(put func(string, string), _ func(...string)) { put(checkpoint(5), "x"); put(checkpoint(3), "y") })
	f("old commits gone", good, func(_ func(string, string), drop func(...string)) { drop(commit(0), commit(1), commit(2), commit(3)) })
	f("all before gone and damaged", "class 2", func(put func(string, string), drop func(...string)) {
		drop(commit(0), commit(1), commit(2), commit(3), commit(4), checkpoint(3))
		put(checkpoint(5), "x")
	})
	f("gap", "class 2: the log of the table has no version 4", func(_ func(string, string), drop func(...string)) {
		drop(commit(4), checkpoint(5), "_last_checkpoint")
	})
	f("torn commit", "class 2: t/_delta_log/00000000000000000006.json is damaged", func(put func(string, string), _ func(...string)) {
		put(commit(6), `{"add":{"path":"z"`)
	})
	f("only commits, first gone", "no longer in its log", func(_ func(string, string), drop func(...string)) {
		drop(commit(0), checkpoint(3), checkpoint(5), "_last_checkpoint")
	})
	f("second form only", "v2Checkpoint", func(put func(string, string), drop func(...string)) {
		drop(commit(0), checkpoint(3), checkpoint(5), "_last_checkpoint")
		put("00000000000000000005.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json", "{}")
	})
	f("other files", good, func(put func(string, string), _ func(...string)) {
		put(".00000000000000000009.json.crc", "x")
		put("00000000000000000006.crc", "{}")
		put("00000000000000000009.json.tmp", "x")
		put("_sidecars/x.parquet", "x")
		put("00000000000000000004.00000000000000000006.compacted.json", "x")
	})
}

// FuzzDecode reads anything as a commit; what is read is applied, written and
// read again.
func FuzzDecode(f *testing.F) {
	data, _ := Encode(first())
	f.Add(string(data))
	data, _ = Encode(adds("a", "b"))
	f.Add(string(data))
	f.Add(`{"remove":{"path":"a","dataChange":true}}` + "\n" + `{"txn":{"appId":"a","version":1}}`)
	f.Add(`{"add":null}` + "\n\n" + `{"commitInfo":{"x":1}}`)
	f.Fuzz(func(t *testing.T, in string) {
		c, err := Decode([]byte(in))
		if err != nil {
			return
		}
		s := NewState()
		if s.Apply(0, c) != nil {
			return
		}
		c.HasInfo = false
		out, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) == 0 {
			return // only its provenance was there
		}
		again, err := Decode(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		s2 := NewState()
		if err := s2.Apply(0, again); err != nil {
			t.Fatal(err)
		}
		if show(s) != show(s2) {
			t.Errorf("%s\n%s", show(s), show(s2))
		}
	})
}

// FuzzCheckpoint reads damaged checkpoints: an error, never a panic.
func FuzzCheckpoint(f *testing.F) {
	s := NewState()
	if err := s.Apply(0, first()); err != nil {
		f.Fatal(err)
	}
	if err := s.Apply(1, adds("a", "b")); err != nil {
		f.Fatal(err)
	}
	good := checkpointBytes(f, s)
	f.Add(good, uint16(0), byte(0))
	f.Add(good, uint16(len(good)-5), byte(1))
	f.Add(foreignFile(f, foreignRows()), uint16(30), byte(255))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, flip byte) {
		data = bytes.Clone(data)
		if int(at) < len(data) {
			data[at] ^= flip
		}
		s := NewState()
		s.version = 1
		_ = decodeCheckpoint(t.Context(), s, input(data))
	})
}
