package table

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"time"

	"pipelines/runtime/connector"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

const (
	// inlineGone is the size up to which identities stand in the token.
	inlineGone = 256 << 10
	// goneFolder holds them above it, relative to the table's folder.
	goneFolder    = "_pipelines/gone/"
	goneExtension = ".gone"
	// fewKeys is the number of identities up to which each is compared with a
	// file's bounds by itself.
	fewKeys = 64
	// commitAttempts bounds how often a commit is made again because others
	// moved rows that it takes out.
	commitAttempts = 20
)

var goneTable = crc32.MakeTable(crc32.Castagnoli)

func appendSized(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// goneSet are the rows that go, by identity, with bounds of its columns.
type goneSet struct {
	ids    map[string]struct{}
	fields []schema.Field // of the identity
	values []*column.Vector
	terms  [][]format.Term // one of them must match a file; nil: all files do
}

func (k *Keyed) newGoneSet(blob []byte) (*goneSet, error) {
	g := &goneSet{ids: map[string]struct{}{}}
	for _, c := range k.identity() {
		g.fields = append(g.fields, k.o.Schema.Fields[c])
	}
	g.values = newVectors(nil, g.fields)
	for len(blob) > 0 {
		n, w := binary.Uvarint(blob)
		if w <= 0 || n > uint64(len(blob)-w) {
			return nil, column.ErrEncoding
		}
		id := blob[w : w+int(n)]
		blob = blob[w+int(n):]
		g.ids[string(id)] = struct{}{}
		for _, v := range g.values {
			var err error
			if id, err = column.DecodeValue(id, v); err != nil {
				return nil, err
			}
		}
	}
	g.bounds()
	return g, nil
}

// bounds makes the terms by which files are skipped.
func (g *goneSet) bounds() {
	rows := len(g.ids)
	if rows <= fewKeys {
		for i := range rows {
			var ts []format.Term
			for c, f := range g.fields {
				ts = append(ts, termOf(f, format.Equal, g.values[c], i)...)
			}
			g.terms = append(g.terms, ts)
		}
		return
	}
	var ts []format.Term
	for c, f := range g.fields {
		v := g.values[c]
		if v.HasNulls() || f.Type.IsNested() {
			continue
		}
		lo, hi := 0, 0
		for i := range rows {
			if column.Compare(v, i, v, lo) < 0 {
				lo = i
			}
			if column.Compare(v, i, v, hi) > 0 {
				hi = i
			}
		}
		ts = append(append(ts, termOf(f, format.GreaterEqual, v, lo)...), termOf(f, format.LessEqual, v, hi)...)
	}
	g.terms = [][]format.Term{ts}
}

// termOf compares a column with row i of v; none where bounds do not tell.
func termOf(f schema.Field, op format.TermOp, v *column.Vector, i int) []format.Term {
	if f.Type.IsNested() || f.Type.IsFloat() {
		return nil
	}
	if v.IsNull(i) {
		return []format.Term{{Path: []string{f.Name}, Op: format.IsNull}}
	}
	one := column.New(f.Type)
	column.AppendRow(one, v, i)
	return []format.Term{{Path: []string{f.Name}, Op: op, Value: one}}
}

// mayHold reports whether a file may have a row that goes.
func (g *goneSet) mayHold(s *tables.Snapshot, f *tables.File) bool {
	for _, ts := range g.terms {
		if s.MayMatch(f, ts) {
			return true
		}
	}
	return false
}

// stay writes the rows of b whose identity does not go into sel; at has the
// places of the identity's columns.
func (g *goneSet) stay(b *column.Batch, at []int, sel []int32) []int32 {
	var key []byte
	for n := range b.Rows() {
		i := n
		if b.Sel != nil {
			i = int(b.Sel[n])
		}
		key = key[:0]
		for _, c := range at {
			key = column.AppendKey(key, b.Cols[c], i)
		}
		if _, gone := g.ids[string(key)]; !gone {
			sel = append(sel, int32(i))
		}
	}
	return sel
}

// Commit implements connector.Sink.
func (k *Keyed) Commit(ctx context.Context, info connector.EpochInfo, raw []byte) error {
	defer k.state.drop() // the checkpoint has what was staged
	var t keyedToken
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("prepared token: %w", err)
	}
	if err := k.at("commit.begin"); err != nil {
		return err
	}
	if err := k.notCommitted(ctx, info); err != nil {
		return err
	}
	blob, err := k.readGone(ctx, &t)
	if err != nil {
		return err
	}
	gone, err := k.newGoneSet(blob)
	if err != nil {
		return fmt.Errorf("prepared token: %w", err)
	}
	for n := 1; ; n++ {
		err := k.commitOnce(ctx, info, &t, gone)
		if _, ok := errors.AsType[*tables.CommittedError](err); ok {
			return fmt.Errorf("%w: %w", connector.ErrCommitted, err)
		}
		if errors.Is(err, tables.ErrConflict) && n < commitAttempts {
			continue // others moved rows: find them again
		}
		if err != nil {
			return err
		}
		break
	}
	if t.GoneKey != "" {
		store, _ := k.Sink.o.Table.Store()
		if err := store.Delete(ctx, k.Sink.o.Table.Key(t.GoneKey)); err != nil {
			return fmt.Errorf("remove %s: %w", t.GoneKey, err)
		}
	}
	return k.at("commit.logged")
}

// notCommitted is ErrCommitted if the table has the epoch already, before any
// work is done for it.
func (k *Keyed) notCommitted(ctx context.Context, info connector.EpochInfo) error {
	h, err := k.Held(ctx, info.AppID)
	if err == nil && info.AppID != "" && h.Epoch >= info.Epoch {
		err = fmt.Errorf("%w: table %s holds epoch %d", connector.ErrCommitted, k.o.Name, h.Epoch)
	}
	return err
}

// commitOnce tries the commit on the newest version.
func (k *Keyed) commitOnce(ctx context.Context, info connector.EpochInfo, t *keyedToken, gone *goneSet) (err error) {
	snap, err := k.Sink.o.Table.Snapshot(ctx)
	if err != nil {
		return err
	}
	tx := k.Sink.o.Table.BeginAt(snap)
	var moved []staged
	if !info.Overwrite && len(gone.ids) > 0 {
		var files []tables.File
		if files, moved, err = k.rewrite(ctx, info, snap, gone); err != nil {
			return err
		}
		tx.RemoveFiles(files...)
	}
	defer func() {
		// After a conflict the rewritten files are of no use. After any other
		// error the commit may have been made.
		if errors.Is(err, tables.ErrConflict) {
			err = errors.Join(err, k.drop(ctx, moved))
		}
	}()
	for _, f := range append(moved, t.Files...) {
		tx.AddFiles(tables.NewFile{
			Key: f.Key, PartitionValues: f.Partitions, Size: f.Size, ModTime: time.UnixMilli(f.ModTime), Stats: f.Stats,
		})
	}
	if err := k.describe(tx, info); err != nil {
		return err
	}
	if err := k.at("commit.log"); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}

func (k *Keyed) drop(ctx context.Context, files []staged) error {
	store, _ := k.Sink.o.Table.Store()
	var err error
	for _, f := range files {
		err = errors.Join(err, store.Delete(ctx, k.Sink.o.Table.Key(f.Key)))
	}
	return err
}

func (k *Keyed) describe(tx *tables.Transaction, info connector.EpochInfo) error {
	if info.AppID != "" {
		tx.SetTxn(info.AppID, info.Epoch)
	}
	if info.Overwrite {
		tx.Overwrite()
	} else {
		tx.SetOperation("MERGE", map[string]string{"predicate": "[" + k.keyNames() + "]"})
	}
	if len(info.Info) > 0 {
		text, err := json.Marshal(info.Info)
		if err != nil {
			return fmt.Errorf("commit info: %w", err)
		}
		tx.SetInfo("pipelines", text)
	}
	return nil
}

// rewrite finds the files that hold rows which go and writes the other rows of
// them anew.
func (k *Keyed) rewrite(ctx context.Context, info connector.EpochInfo, snap *tables.Snapshot, gone *goneSet) (old []tables.File, moved []staged, err error) {
	o := k.o.SinkOptions
	o.Schema, o.PartitionColumns = snap.Schema(), snap.PartitionColumns()
	ep := newEpoch(NewSink(o), info)
	defer func() {
		if err != nil {
			err = errors.Join(err, ep.Abort())
		}
	}()
	files := snap.Files()
	for i := range files {
		if !gone.mayHold(snap, &files[i]) {
			continue
		}
		found, err := k.holds(ctx, snap, &files[i], gone)
		if err != nil {
			return nil, nil, err
		}
		if !found {
			continue
		}
		old = append(old, files[i])
		if err := k.copyRest(ctx, snap, &files[i], gone, ep); err != nil {
			return nil, nil, err
		}
	}
	raw, err := ep.Prepare(ctx)
	if err != nil {
		return nil, nil, err
	}
	var t token
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, nil, fmt.Errorf("rewritten files: %w", err)
	}
	return old, t.Files, nil
}

// holds reports whether a file has a row that goes.
func (k *Keyed) holds(ctx context.Context, snap *tables.Snapshot, f *tables.File, gone *goneSet) (bool, error) {
	at := make([]int, len(gone.fields))
	for i := range at {
		at[i] = i
	}
	var terms []format.Term
	if len(gone.terms) == 1 {
		terms = gone.terms[0]
	}
	found := false
	var sel []int32
	err := k.eachBatch(ctx, snap, f, connector.ScanSpec{Columns: schema.Schema{Fields: gone.fields}, Terms: terms}, func(b *column.Batch) (bool, error) {
		sel = gone.stay(b, at, sel[:0])
		found = len(sel) < b.Rows()
		return !found, nil
	})
	return found, err
}

// copyRest writes the rows of a file that stay.
func (k *Keyed) copyRest(ctx context.Context, snap *tables.Snapshot, f *tables.File, gone *goneSet, ep *epoch) error {
	s := snap.Schema()
	at := make([]int, len(gone.fields))
	for i, x := range gone.fields {
		if at[i] = s.Index(x.Name); at[i] < 0 {
			return fmt.Errorf("table %s has no column %s", k.o.Name, x.Name)
		}
	}
	return k.eachBatch(ctx, snap, f, connector.ScanSpec{Columns: s}, func(b *column.Batch) (bool, error) {
		rest := b.Share(k.Sink.o.Pool)
		defer rest.Release()
		rest.Sel = gone.stay(b, at, rest.SelBuffer())
		return true, ep.Write(0, rest)
	})
}

// eachBatch reads columns of a file until fn returns false.
func (k *Keyed) eachBatch(ctx context.Context, snap *tables.Snapshot, f *tables.File, spec connector.ScanSpec, fn func(*column.Batch) (bool, error)) (err error) {
	spec.Pool, spec.Location, spec.CaseSensitive = k.Sink.o.Pool, k.Sink.o.Location, true
	r := Reader{Table: k.Sink.o.Table, Format: k.Sink.o.Format}
	in, err := r.Open(ctx, splitOf(k.Sink.o.Table, snap, *f), spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	for more := true; more; {
		b, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		more, err = fn(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// stageGone moves the identities of the token into a file.
func (k *Keyed) stageGone(ctx context.Context, info connector.EpochInfo, t *keyedToken) error {
	t.GoneKey = goneFolder + tables.FileName{AppID: info.AppID, Epoch: info.Epoch, Extension: goneExtension}.New()
	t.GoneSum = crc32.Checksum(t.Gone, goneTable)
	store, _ := k.Sink.o.Table.Store()
	if err := store.Put(ctx, k.Sink.o.Table.Key(t.GoneKey), t.Gone); err != nil {
		return fmt.Errorf("stage %s: %w", t.GoneKey, err)
	}
	t.Gone = nil
	return nil
}

// readGone returns the identities of the token.
func (k *Keyed) readGone(ctx context.Context, t *keyedToken) ([]byte, error) {
	if t.GoneKey == "" {
		return t.Gone, nil
	}
	store, _ := k.Sink.o.Table.Store()
	blob, err := store.Get(ctx, k.Sink.o.Table.Key(t.GoneKey))
	if err != nil {
		return nil, fmt.Errorf("prepared rows: %w", err)
	}
	if crc32.Checksum(blob, goneTable) != t.GoneSum {
		return nil, fmt.Errorf("prepared rows: %s is damaged", t.GoneKey)
	}
	return blob, nil
}

// Clean implements connector.Sink.
func (k *Keyed) Clean(ctx context.Context, appID string) error {
	store, _ := k.Sink.o.Table.Store()
	folder := k.Sink.o.Table.Key(goneFolder)
	var dead []string
	err := store.List(ctx, stores.ListOptions{Prefix: folder, NamesOnly: true}, func(o stores.ObjectInfo) bool {
		if strings.Contains(o.Key, "-"+appID+"_") {
			dead = append(dead, o.Key)
		}
		return true
	})
	for _, key := range dead {
		if err == nil {
			err = store.Delete(ctx, key)
		}
	}
	if err != nil {
		return fmt.Errorf("clean table %s: %w", k.o.Name, err)
	}
	return k.Sink.Clean(ctx, appID)
}
