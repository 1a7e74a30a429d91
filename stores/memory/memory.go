package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pipelines/stores"
)

// Options says how a store behaves. The zero Options is a plain store.
type Options struct {
	// Lazy makes writes durable only when Sync is called.
	Lazy bool
	// Limit is the greatest number of bytes the store holds; 0 means no limit.
	Limit int64
	// Now stamps objects; nil means time.Now.
	Now func() time.Time
}

type item struct {
	data    []byte // never changed after it is stored
	modTime time.Time
	version uint64
}

// Store is a store in memory.
type Store struct {
	opts Options

	mu      sync.Mutex // guards all below
	items   map[string]item
	durable map[string]item // with Lazy: what Crash goes back to
	used    int64
	version uint64
	life    uint64 // number of crashes; uploads of an earlier life are void
}

// New returns an empty store.
func New(opts Options) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Store{opts: opts, items: map[string]item{}, durable: map[string]item{}}
}

// Sync makes all that was written durable.
func (s *Store) Sync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.durable = maps.Clone(s.items)
}

// Crash ends all uploads in the making and, with Options.Lazy, forgets what
// was written after the last Sync.
func (s *Store) Crash() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life++
	if !s.opts.Lazy {
		return
	}
	s.items = maps.Clone(s.durable)
	s.used = 0
	for _, it := range s.items {
		s.used += int64(len(it.data))
	}
}

// SetLimit changes Options.Limit.
func (s *Store) SetLimit(limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.Limit = limit
}

// Used returns the number of bytes in all objects.
func (s *Store) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

func check(ctx context.Context, op, key string) error {
	if !fs.ValidPath(key) || key == "." {
		return fmt.Errorf("%s: %q is not a key", op, key)
	}
	return ctx.Err()
}

func (s *Store) find(ctx context.Context, op, key string) (item, error) {
	if err := check(ctx, op, key); err != nil {
		return item{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	it, ok := s.items[key]
	if !ok {
		return item{}, fmt.Errorf("%s %s: %w", op, key, stores.ErrNotExist)
	}
	return it, nil
}

// Get returns the whole object.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	it, err := s.find(ctx, "get", key)
	return bytes.Clone(it.data), err
}

type object struct {
	*bytes.Reader
}

func (o object) Close() error { return nil }

// Open opens an object for reading by ranges.
func (s *Store) Open(ctx context.Context, key string) (stores.Object, error) {
	it, err := s.find(ctx, "open", key)
	if err != nil {
		return nil, err
	}
	return object{bytes.NewReader(it.data)}, nil
}

// Stat describes one object.
func (s *Store) Stat(ctx context.Context, key string) (stores.ObjectInfo, error) {
	it, err := s.find(ctx, "stat", key)
	if err != nil {
		return stores.ObjectInfo{}, err
	}
	return it.info(key), nil
}

func (it item) info(key string) stores.ObjectInfo {
	return stores.ObjectInfo{Key: key, Size: int64(len(it.data)), ModTime: it.modTime, Version: fmt.Sprint(it.version)}
}

// List calls fn for each object below the prefix, in order of keys. fn may
// call the store, opts.Skip may not.
func (s *Store) List(ctx context.Context, opts stores.ListOptions, fn func(stores.ObjectInfo) bool) error {
	if opts.Prefix != "" && !strings.HasSuffix(opts.Prefix, "/") {
		return fmt.Errorf("list: %q is not a folder prefix", opts.Prefix)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	var out []stores.ObjectInfo
	for _, key := range slices.Sorted(maps.Keys(s.items)) {
		rest, ok := strings.CutPrefix(key, opts.Prefix)
		if !ok || key <= opts.After || opts.Flat && strings.Contains(rest, "/") {
			continue
		}
		if opts.Skip != nil && opts.Skip([]byte(key)) {
			continue
		}
		info := s.items[key].info(key)
		if opts.NamesOnly {
			info = stores.ObjectInfo{Key: key}
		}
		out = append(out, info)
	}
	s.mu.Unlock()
	for _, info := range out {
		if !fn(info) {
			break
		}
	}
	return nil
}

// Put writes the object, replacing an older one atomically.
func (s *Store) Put(ctx context.Context, key string, data []byte) error {
	if err := check(ctx, "put", key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.storeLocked("put", key, bytes.Clone(data))
}

// PutIfAbsent writes the object, or returns ErrExists.
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if err := check(ctx, "put if absent", key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.items[key]; ok {
		return fmt.Errorf("put if absent %s: %w", key, stores.ErrExists)
	}
	return s.storeLocked("put if absent", key, bytes.Clone(data))
}

func (s *Store) storeLocked(op, key string, data []byte) error {
	used := s.used + int64(len(data)) - int64(len(s.items[key].data))
	if s.opts.Limit > 0 && used > s.opts.Limit {
		return fmt.Errorf("%s %s: %w", op, key, stores.ErrFull)
	}
	s.used = used
	s.version++
	s.items[key] = item{data: data, modTime: s.opts.Now(), version: s.version}
	return nil
}

type upload struct {
	store *Store
	key   string
	life  uint64
	data  []byte
	done  bool
}

// Create starts an object that is written in pieces.
func (s *Store) Create(ctx context.Context, key string) (stores.Upload, error) {
	if err := check(ctx, "create", key); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &upload{store: s, key: key, life: s.life}, nil
}

var errClosed = errors.New("upload is closed")

func (u *upload) Write(p []byte) (int, error) {
	if u.done {
		return 0, fmt.Errorf("write %s: %w", u.key, errClosed)
	}
	s := u.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Limit > 0 && s.used+int64(len(u.data)+len(p)) > s.opts.Limit {
		return 0, fmt.Errorf("write %s: %w", u.key, stores.ErrFull)
	}
	u.data = append(u.data, p...)
	return len(p), nil
}

func (u *upload) Commit() error {
	if u.done {
		return fmt.Errorf("commit %s: %w", u.key, errClosed)
	}
	u.done = true
	s := u.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.life != s.life {
		return fmt.Errorf("commit %s: %w", u.key, errClosed)
	}
	return s.storeLocked("commit", u.key, u.data)
}

func (u *upload) Abort() error {
	u.done, u.data = true, nil
	return nil
}

// Delete removes the object; a missing one is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := check(ctx, "delete", key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= int64(len(s.items[key].data))
	delete(s.items, key)
	return nil
}

var _ io.ReaderAt = object{}
