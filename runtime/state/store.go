package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/stores"
)

// Ref names one file of a chain. It is what a checkpoint stores.
type Ref struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	Sum     uint32 `json:"sum"`
	Entries int64  `json:"entries"`
	// Base marks a file that holds all there is: nothing before it counts.
	Base bool `json:"base,omitempty"`
	// Last is by when, by operator, all entries will have gone by themselves;
	// nil when some stay or there are none. Passed is what had gone when the
	// file was written: entries of it and of older files.
	Last   map[string]int64 `json:"last,omitempty"`
	Passed map[string]int64 `json:"passed,omitempty"`
	// Index is where the index of a loose file starts, 0 for a file in order.
	Index int64 `json:"index,omitempty"`
	// Inline marks a file so small that the checkpoint keeps it itself: Data is
	// its content, the store has no file of it.
	Inline bool   `json:"inline,omitempty"`
	Data   []byte `json:"-"`
}

// Store keeps the state files of one flow in a folder. Compact may run in the
// background beside Write: both touch files of their own only.
type Store struct {
	dir    string
	inline int   // size up to which a file is kept by the checkpoint
	large  int64 // size from which room is asked for at once and spare files are used
	spares spares
}

// Open returns the store in a folder, which is made with the first file.
func Open(dir string) *Store { return &Store{dir: dir, inline: inlineBytes, large: SmallMerge} }

const inlineBytes = 64 << 10

// Write writes the changes of an epoch: a synced file of their own, or, when
// they are few, the Data of the Ref. base says that they are the whole state.
func (s *Store) Write(epoch int64, c *Changes, base bool) (Ref, error) {
	kind := "log"
	if base {
		kind = "base"
	}
	ref, err := s.create(place{fmt.Sprintf("%012d", epoch), kind, c.Bytes(), c.scopes}, func(w *Writer) error {
		c.writeTo(w)
		return nil
	})
	ref.Base = base
	return ref, err
}

// place says how a file is named and about how large it will be.
type place struct {
	name, kind string
	bytes      int
	scopes     scopes
}

// create writes a file and syncs it and its folder.
func (s *Store) create(p place, fill func(*Writer) error) (Ref, error) {
	if p.bytes > s.inline {
		return s.createFile(p, func(f io.Writer) (Ref, error) {
			w := newWriter(f, p.scopes, p.bytes)
			if err := fill(w); err != nil {
				return Ref{}, err
			}
			return w.Close()
		})
	}
	var buf bytes.Buffer
	buf.Grow(p.bytes + p.bytes/8 + 256)
	w := newWriter(&buf, p.scopes, p.bytes)
	if err := fill(w); err != nil {
		return Ref{}, err
	}
	ref, err := w.Close()
	ref.Name, ref.Inline, ref.Data = p.name+"."+p.kind, true, buf.Bytes()
	return ref, err
}

// Later adds changes that may come beside others: Bytes is about what all of
// the file will take.
type Later struct {
	Bytes int
	Add   func()
}

// WriteLoose is Write of changes that are many, some of which are added only
// now: a file in which they stand as they come.
func (s *Store) WriteLoose(epoch int64, c *Changes, base bool, later Later) (Ref, error) {
	ref, err := s.createFile(place{fmt.Sprintf("%012d", epoch), "log", later.Bytes, c.scopes}, func(w io.Writer) (Ref, error) {
		f := newLoose(w, c.scopes)
		for _, o := range c.operators {
			o.file.Store(f)
		}
		later.Add()
		for _, o := range c.operators {
			o.file.Store(nil)
			for i := range o.groups {
				if g := &o.groups[i]; g.used > 0 {
					f.take(o.id, i, g)
				}
			}
		}
		return f.close()
	})
	ref.Base = base
	return ref, err
}

// createFile writes a file that fill fills and syncs it and its folder.
func (s *Store) createFile(p place, fill func(io.Writer) (Ref, error)) (ref Ref, err error) {
	if err := stores.MakeFolder(s.dir, 0o755); err != nil {
		return Ref{}, fmt.Errorf("write state: %w", err)
	}
	// A record may still name a file of the same epoch: names are never used
	// again while their file is there.
	name := p.name + "." + p.kind
	for n := 1; ; n++ {
		if _, err := os.Lstat(filepath.Join(s.dir, name)); err != nil {
			break
		}
		name = fmt.Sprintf("%s-%d.%s", p.name, n, p.kind)
	}
	tmp := filepath.Join(s.dir, name+".tmp")
	large := int64(p.bytes) >= s.large
	f, err := s.newFile(tmp, large)
	if err != nil {
		return Ref{}, fmt.Errorf("write state: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(tmp), s.Close())
		}
	}()
	if large {
		allocate(f, int64(p.bytes))
	}
	if ref, err = fill(f); err != nil {
		return Ref{}, err
	}
	if large {
		if err := f.Truncate(ref.Bytes); err != nil {
			return Ref{}, fmt.Errorf("write state: %w", err)
		}
	}
	if err := f.Sync(); err != nil {
		return Ref{}, fmt.Errorf("write state: %w", err)
	}
	if err := f.Close(); err != nil {
		return Ref{}, fmt.Errorf("write state: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(s.dir, name)); err != nil {
		return Ref{}, fmt.Errorf("write state: %w", err)
	}
	ref.Name = name
	return ref, s.syncDir()
}

func (s *Store) syncDir() error {
	if err := stores.SyncFolder(s.dir); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// Restore reads a chain, oldest first: fn gets each key once, in order of
// operator and key, but see RestoreGroups.
func (s *Store) Restore(chain []Ref, fn func(Entry) error) error {
	return s.RestoreGroups(chain, nil, fn)
}

// RestoreGroups is Restore of some key groups; it may run beside others. Where a
// file of the chain is loose, the keys of a key group come in any order.
func (s *Store) RestoreGroups(chain []Ref, groups Groups, fn func(Entry) error) error {
	readers, done, err := s.open(chain, groups)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(readers, func(r *Reader) bool { return r.loose != nil }) {
		return errors.Join(newestOf(readers, fn), done())
	}
	err = Merge(readers, false, func(operator string, key, value []byte) error {
		return fn(Entry{operator, key, value, -1})
	})
	return errors.Join(err, done())
}

// open starts reading the files of a chain that count.
func (s *Store) open(chain []Ref, groups Groups) (_ []*Reader, done func() error, err error) {
	var files []*os.File
	var readers []*Reader
	closeAll := func() error {
		var errs []error
		for _, f := range files {
			errs = append(errs, f.Close())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	from := 0
	for i := len(chain) - 1; i > 0; i-- {
		if chain[i].Base {
			from = i
			break
		}
	}
	for i, ref := range chain[from:] {
		var in io.Reader = bytes.NewReader(ref.Data)
		if !ref.Inline {
			f, oerr := os.Open(filepath.Join(s.dir, ref.Name))
			if oerr != nil {
				return nil, nil, fmt.Errorf("read state: %w", oerr)
			}
			files = append(files, f)
			in = f
		}
		r, rerr := NewReader(in, ref, groups)
		if rerr != nil {
			return nil, nil, rerr
		}
		r.file = from + i
		readers = append(readers, r)
	}
	return readers, closeAll, nil
}

// Compact merges the files chain[from:] into one and returns the chain with it
// in their place. The old files stay until Retain. It stops with stop's error
// as soon as stop gives one; stop may be nil.
func (s *Store) Compact(chain []Ref, from int, stop func() error) ([]Ref, error) {
	part := chain[from:]
	whole := from == 0 || part[0].Base
	var size int64
	for _, r := range part {
		size += r.Bytes
	}
	last, _, _ := strings.Cut(part[len(part)-1].Name, ".")
	last, _, _ = strings.Cut(last, "-")
	readers, done, err := s.open(part, nil)
	if err != nil {
		return nil, err
	}
	// For one last epoch, from only gets smaller: the name is new.
	n := 0
	at := place{fmt.Sprintf("%s-%d-%d", last, from, len(part)), "merged", int(size), join(readers)}
	ref, err := s.create(at, func(w *Writer) error {
		return merge(readers, !whole, func(r *Reader) error {
			if n++; n%stopEvery == 0 && stop != nil {
				if err := stop(); err != nil {
					return err
				}
			}
			w.record(r.operator, r.record, r.key, r.value)
			return nil
		})
	})
	if err = errors.Join(err, done()); err != nil {
		return nil, err
	}
	ref.Base = whole
	return append(slices.Clone(chain[:from]), ref), nil
}

// stopEvery is after how many entries a compaction asks whether to stop.
const stopEvery = 1 << 12

// Retain removes the files that no ref names.
func (s *Store) Retain(refs []Ref) error {
	names := map[string]bool{}
	for _, r := range refs {
		names[r.Name] = true
	}
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("clean state: %w", err)
	}
	for _, f := range files {
		if names[f.Name()] || f.IsDir() {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clean state: %w", err)
		}
	}
	return nil
}

// Drop removes the files of old that keep does not name.
func (s *Store) Drop(old []Ref, keep ...[]Ref) error {
	for _, r := range old {
		if r.Inline || slices.ContainsFunc(keep, func(k []Ref) bool { return names(k, r.Name) }) {
			continue
		}
		if err := s.remove(r); err != nil {
			return fmt.Errorf("clean state: %w", err)
		}
	}
	return nil
}

func names(chain []Ref, name string) bool {
	return slices.ContainsFunc(chain, func(r Ref) bool { return r.Name == name })
}

// Verify reads the files of a chain and returns the first fault.
func (s *Store) Verify(chain []Ref) error {
	return s.Restore(chain, func(Entry) error { return nil })
}
