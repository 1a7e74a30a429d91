package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"pipelines/pipelines/builtin"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/stores"
	"pipelines/tables"
	"pipelines/tables/catalog"
)

// storage is the project's storage folder: catalog records and tables. It is
// safe for concurrent use.
type storage struct {
	root    string
	store   stores.Store
	catalog *catalog.Catalog
	now     clock

	mu   sync.Mutex // guards open; held for memory work only
	open map[string]*tables.Table
}

// openStorage opens the storage for writing, or only for reading: a storage
// that is not there yet then reads as empty.
func openStorage(root string, write bool, now clock) (*storage, error) {
	open := builtin.ViewStore
	if write {
		open = builtin.OpenStore
	}
	if err := checkStorage(root); err != nil {
		return nil, err
	}
	st, err := open(root)
	if err != nil {
		return nil, fmt.Errorf("storage %s: %w", root, err)
	}
	return &storage{root: root, store: st, catalog: catalog.New(st, now), now: now, open: map[string]*tables.Table{}}, nil
}

// checkStorage refuses what can be no storage, in words for it; a folder that
// is not there is fine.
func checkStorage(root string) error {
	st, err := os.Stat(root)
	switch {
	case err == nil && !st.IsDir():
		return fmt.Errorf("storage %s: it is a file, and a folder is wanted", root)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("storage %s: a part of its path is a file: %w", root, err)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("storage %s: %w", root, err)
	}
	if to, lerr := os.Readlink(root); err != nil && lerr == nil {
		return fmt.Errorf("storage %s: it is a link to %s, which is not there", root, to)
	}
	return nil
}

func nameOf(parts []string) catalog.Name {
	return catalog.Name{Catalog: parts[0], Database: parts[1], Table: parts[2]}
}

// record returns what the catalog knows of a name; ok is false when nothing.
func (s *storage) record(ctx context.Context, name []string) (r catalog.Record, ok bool, err error) {
	r, err = s.catalog.Get(ctx, nameOf(name))
	if errors.Is(err, stores.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("catalog record of %s: %w", nameOf(name), err)
	}
	return r, true, nil
}

func (s *storage) options(folder string) tables.Options {
	return tables.Options{Store: s.store, Folder: folder, Engine: "pipelines", Now: s.now}
}

// table opens the table of a record, once a run.
func (s *storage) table(ctx context.Context, folder string) (*tables.Table, error) {
	s.mu.Lock()
	t := s.open[folder]
	s.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := tables.Open(ctx, s.options(folder))
	if err != nil {
		return nil, err
	}
	s.keep(folder, t)
	return t, nil
}

func (s *storage) keep(folder string, t *tables.Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[folder] = t
}

// record, table and snapshot are the storage's, with the context lent.
func (a *analyzer) record(s *storage, name []string) (rec catalog.Record, ok bool, err error) {
	err = a.with(func(ctx context.Context) (err error) {
		rec, ok, err = s.record(ctx, name)
		return err
	})
	return rec, ok, a.noteBroken(err)
}

func (a *analyzer) table(s *storage, folder string) (t *tables.Table, err error) {
	err = a.with(func(ctx context.Context) (err error) {
		t, err = s.table(ctx, folder)
		return err
	})
	return t, a.noteBroken(err)
}

// snapshot reads a version, the newest for -1.
func (a *analyzer) snapshot(t *tables.Table, version int64) (snap *tables.Snapshot, err error) {
	err = a.with(func(ctx context.Context) (err error) {
		if version < 0 {
			snap, err = t.Snapshot(ctx)
		} else {
			snap, err = t.SnapshotAt(ctx, version)
		}
		return err
	})
	if stores.Classify(err) == stores.Corrupt { // not that there is no such version
		err = a.noteBroken(err)
	}
	return snap, err
}

func (a *analyzer) noteBroken(err error) error {
	if err != nil && !errors.Is(err, stores.ErrNotExist) && a.broken == nil {
		a.broken = err
	}
	return err
}

// recordPath is where the record of a name is.
func (s *storage) recordPath(n catalog.Name) string {
	return filepath.Join(s.root, filepath.FromSlash(n.RecordPath()))
}

// lockPath is the path of the run lock.
func (s *storage) lockPath(pipeline string) string {
	return filepath.Join(s.root, filepath.FromSlash(catalog.LockPath(pipeline)))
}

// external is a table in the storage that the project does not define.
type external struct {
	name   []string
	folder string
	record catalog.Record
}

// external answers with a table that another pipeline has made in the storage.
func (c *catalogOf) external(r sqlplan.Request) (sqlplan.Answer, error) {
	p := c.a.project
	if len(r.Parts) > 3 || !p.spec.Storage.IsSet() {
		return sqlplan.Answer{}, &sqlplan.NotFound{}
	}
	root := p.spec.StorageDir()
	if _, err := os.Stat(root); err != nil {
		return sqlplan.Answer{}, &sqlplan.NotFound{}
	}
	st, err := openStorage(root, false, p.now)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	name := c.fullName(r.Parts)
	rec, ok, err := c.a.record(st, name)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	if !ok || rec.Folder == "" {
		return sqlplan.Answer{}, &sqlplan.NotFound{}
	}
	t, err := c.a.table(st, rec.Folder)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	ext := &external{name: name, folder: rec.Folder, record: rec}
	limits, err := tableLimits(r)
	if err != nil {
		return sqlplan.Answer{}, err
	}
	rel := &logical.Relation{ID: relationID("table:"+rec.Folder, r), Name: name, Schema: t.Known().Schema(), Streaming: r.Stream, Handle: handle{external: ext, limits: limits}}
	return sqlplan.Answer{Relation: rel}, nil
}

// ownFiles are paths as the files of a storage and of checkpoints have them.
var ownFiles = []string{"events/20260101T000000-00000000.jsonl", "events/status.json", "catalog/main/default/t.json", "tables/main/default/t/part-0.snappy.parquet"}

const storageHint = "put the data into a folder of its own, beside the storage; or give the storage a name that begins with _ or ., which sources leave out"

// readsStorage returns why a source would read the pipeline's own files: the
// storage lies below what it reads. A path inside of the storage is meant.
func (p *Project) readsStorage(rel *sourceRelation) string {
	f := rel.factory
	if f.Within == nil || rel.config.Path == "" || !p.spec.Storage.IsSet() {
		return ""
	}
	root := p.spec.StorageDir()
	var own []string
	for _, name := range ownFiles {
		own = append(own, filepath.Join(root, filepath.FromSlash(name)))
	}
	own = append(own, filepath.Join(p.spec.CheckpointDir(), filepath.FromSlash("main/default/t/t/0/flow.db")))
	for _, file := range own {
		key, taken := f.Within(rel.config, file)
		if up := len(file) - len(key); taken && (up <= len(root)+1 || strings.HasPrefix(file, p.spec.CheckpointDir()) && up <= len(p.spec.CheckpointDir())+1) {
			return fmt.Sprintf("%s reads the folder that holds the storage %s: it would take the pipeline's own files for data", rel.name, root)
		}
	}
	return ""
}
