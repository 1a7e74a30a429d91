package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"pipelines/stores"
)

// tempFolder holds objects in the making, below the root.
const tempFolder = ".tmp"

// Options says how to open a folder as a store.
type Options struct {
	// ReadOnly makes no folder, probes nothing and refuses writes.
	ReadOnly bool
	// NoSync leaves out all syncs: for tests and throw-away folders only.
	NoSync bool
}

// Store is a folder as a store.
type Store struct {
	root    string
	opts    Options
	replace bool // PutIfAbsent by a rename that does not replace: no hard links here
	serial  atomic.Uint64
}

// Open opens the folder root, which is made unless it exists. A folder whose
// file system has no way to create a name only if it is absent is refused with
// an UnsafeFolderError.
func Open(root string, opts Options) (*Store, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("store folder %s: %w", root, err)
	}
	s := &Store{root: abs, opts: opts}
	if opts.ReadOnly {
		return s, nil
	}
	if err := s.makeFolder(abs); err != nil {
		return nil, wrap("store folder", abs, err)
	}
	if err := os.MkdirAll(filepath.Join(abs, tempFolder), 0o777); err != nil {
		return nil, wrap("store folder", abs, err)
	}
	if err := s.probe(linker{os.Link, renameNoReplace}); err != nil {
		return nil, err
	}
	s.sweep()
	return s, nil
}

// Root returns the absolute path of the folder.
func (s *Store) Root() string { return s.root }

// Path returns the file path of a key.
func (s *Store) Path(key string) string { return filepath.Join(s.root, filepath.FromSlash(key)) }

func (s *Store) path(op, key string) (string, error) {
	if !fs.ValidPath(key) || key == "." || key == tempFolder || strings.HasPrefix(key, tempFolder+"/") || strings.ContainsRune(key, 0) {
		return "", fmt.Errorf("%s: %q is not a key", op, key)
	}
	return s.Path(key), nil
}

// Get returns the whole object.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	path, err := s.path("get", key)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, wrap("get", key, err)
	}
	return data, nil
}

type object struct {
	*os.File
	size int64
}

func (o object) Size() int64 { return o.size }

// Open opens an object for reading by ranges.
func (s *Store) Open(ctx context.Context, key string) (stores.Object, error) {
	path, err := s.path("open", key)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, wrap("open", key, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errIsFolder
	}
	if err != nil {
		_ = f.Close() // only read
		return nil, wrap("open", key, err)
	}
	return object{f, info.Size()}, nil
}

// Stat describes one object.
func (s *Store) Stat(ctx context.Context, key string) (stores.ObjectInfo, error) {
	path, err := s.path("stat", key)
	if err != nil {
		return stores.ObjectInfo{}, err
	}
	if err := ctx.Err(); err != nil {
		return stores.ObjectInfo{}, err
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = errIsFolder
	}
	if err != nil {
		return stores.ObjectInfo{}, wrap("stat", key, err)
	}
	return describe(key, info), nil
}

func describe(key string, info os.FileInfo) stores.ObjectInfo {
	return stores.ObjectInfo{Key: key, Size: info.Size(), ModTime: info.ModTime(), Version: fileVersion(info)}
}

// errIsFolder stands for "there is a folder of that name".
var errIsFolder = errors.New("is a folder")
