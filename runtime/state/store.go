package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Ref names one file of a chain. It is what a checkpoint stores.
type Ref struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	Sum     uint32 `json:"sum"`
	Entries int64  `json:"entries"`
	// Base marks a file that holds all there is: nothing before it counts.
	Base bool `json:"base,omitempty"`
}

// Store keeps the state files of one flow in a folder. Compact may run in the
// background beside Write: both touch files of their own only.
type Store struct{ dir string }

// Open returns the store in a folder, which is made when it is missing.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	return &Store{dir}, nil
}

// Changes collects what an epoch changed, in any order: of several changes of
// one key the last counts.
type Changes struct {
	entries []change
	bytes   int
}

type change struct {
	operator   string
	key, value []byte
}

// Add notes a change; a nil value says that the key is gone. The slices are
// kept.
func (c *Changes) Add(operator string, key, value []byte) {
	c.entries = append(c.entries, change{operator, key, value})
	c.bytes += len(key) + len(value)
}

// Len is the number of changes, Bytes about their size.
func (c *Changes) Len() int { return len(c.entries) }

// Bytes is about the size of the changes.
func (c *Changes) Bytes() int { return c.bytes }

// Each calls f for the changes in order of operator and key, each key once.
func (c *Changes) Each(f func(operator string, key, value []byte)) {
	order := make([]place, len(c.entries))
	for i, e := range c.entries {
		order[i] = place{e.prefix(), int32(i)}
	}
	slices.SortFunc(order, func(x, y place) int {
		a, b := &c.entries[x.at], &c.entries[y.at]
		if a.operator != b.operator {
			return strings.Compare(a.operator, b.operator)
		}
		if x.prefix != y.prefix {
			return cmp.Compare(x.prefix, y.prefix)
		}
		if d := bytes.Compare(a.key, b.key); d != 0 {
			return d
		}
		return cmp.Compare(x.at, y.at)
	})
	for i, o := range order {
		e := &c.entries[o.at]
		if i+1 < len(order) {
			if n := &c.entries[order[i+1].at]; n.operator == e.operator && bytes.Equal(n.key, e.key) {
				continue
			}
		}
		f(e.operator, e.key, e.value)
	}
}

// place is a change in sorting order: the first bytes of its key and its number.
type place struct {
	prefix uint64
	at     int32
}

func (e *change) prefix() uint64 {
	if len(e.key) >= 8 {
		return binary.BigEndian.Uint64(e.key)
	}
	var p [8]byte
	copy(p[:], e.key)
	return binary.BigEndian.Uint64(p[:])
}

// Write writes the changes of an epoch to a synced file of their own. base
// says that they are the whole state.
func (s *Store) Write(epoch int64, c *Changes, base bool) (Ref, error) {
	kind := "log"
	if base {
		kind = "base"
	}
	ref, err := s.create(fmt.Sprintf("%012d.%s", epoch, kind), func(w *Writer) error {
		c.Each(w.Put)
		return nil
	})
	ref.Base = base
	return ref, err
}

// create writes a file and syncs it and its folder. A file of the same name,
// left by an epoch that was not prepared, is replaced.
func (s *Store) create(name string, fill func(*Writer) error) (ref Ref, err error) {
	tmp := filepath.Join(s.dir, name+".tmp")
	f, err := os.Create(tmp)
	if err != nil {
		return Ref{}, fmt.Errorf("write state: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(tmp))
		}
	}()
	w := NewWriter(f)
	if err := fill(w); err != nil {
		return Ref{}, err
	}
	if ref, err = w.Close(); err != nil {
		return Ref{}, err
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
	d, err := os.Open(s.dir)
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// Restore reads a chain, oldest first: fn gets each key once, in order of
// operator and key. The slices are valid during the call only.
func (s *Store) Restore(chain []Ref, fn func(operator string, key, value []byte) error) error {
	return s.merged(chain, false, fn)
}

func (s *Store) merged(chain []Ref, keepDeleted bool, fn func(operator string, key, value []byte) error) (err error) {
	for i := len(chain) - 1; i > 0; i-- {
		if chain[i].Base {
			chain = chain[i:]
			break
		}
	}
	var readers []*Reader
	for _, ref := range chain {
		f, oerr := os.Open(filepath.Join(s.dir, ref.Name))
		if oerr != nil {
			return fmt.Errorf("read state: %w", oerr)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		r, rerr := NewReader(io.Reader(f), ref)
		if rerr != nil {
			return rerr
		}
		readers = append(readers, r)
	}
	return Merge(readers, keepDeleted, fn)
}

// Compact merges the files chain[from:] into one and returns the chain with it
// in their place. The old files stay until Retain.
func (s *Store) Compact(chain []Ref, from int) ([]Ref, error) {
	part := chain[from:]
	whole := from == 0 || part[0].Base
	last := strings.TrimSuffix(part[len(part)-1].Name, filepath.Ext(part[len(part)-1].Name))
	// For one last epoch, from only gets smaller: the name is new.
	name := fmt.Sprintf("%s-%d-%d.merged", strings.SplitN(last, "-", 2)[0], from, len(part))
	ref, err := s.create(name, func(w *Writer) error {
		return s.merged(part, !whole, func(op string, key, value []byte) error {
			w.Put(op, key, value)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	ref.Base = whole
	return append(slices.Clone(chain[:from]), ref), nil
}

// Retain removes the files that no ref names.
func (s *Store) Retain(refs []Ref) error {
	names := map[string]bool{}
	for _, r := range refs {
		names[r.Name] = true
	}
	files, err := os.ReadDir(s.dir)
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

// Verify reads the files of a chain and returns the first fault.
func (s *Store) Verify(chain []Ref) error {
	return s.merged(chain, true, func(string, []byte, []byte) error { return nil })
}
