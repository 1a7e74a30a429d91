package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/stores"
)

// List calls fn for each object below the prefix, in order of keys.
func (s *Store) List(ctx context.Context, opts stores.ListOptions, fn func(stores.ObjectInfo) bool) error {
	folder := strings.TrimSuffix(opts.Prefix, "/")
	if opts.Prefix != "" && (folder == opts.Prefix || !fs.ValidPath(folder)) {
		return fmt.Errorf("list: %q is not a folder prefix", opts.Prefix)
	}
	l := lister{store: s, opts: opts, fn: fn}
	_, err := l.walk(ctx, opts.Prefix)
	return err
}

type lister struct {
	store *Store
	opts  stores.ListOptions
	fn    func(stores.ObjectInfo) bool
}

// entry is a name in a folder; key ends in a slash for folders, which gives
// the order of whole keys.
type entry struct {
	key    string
	dir    fs.DirEntry
	folder bool
}

// walk lists one folder (prefix is "" or ends in a slash) and reports whether
// to go on.
func (l *lister) walk(ctx context.Context, prefix string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	entries, err := l.read(prefix)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.folder {
			if l.opts.Flat {
				continue
			}
			if more, err := l.walk(ctx, e.key); !more || err != nil {
				return false, err
			}
			continue
		}
		info := stores.ObjectInfo{Key: e.key}
		if !l.opts.NamesOnly {
			fi, err := os.Stat(l.store.Path(e.key))
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone meanwhile, or a dangling link
			}
			if err != nil {
				return false, wrap("list", e.key, err)
			}
			info = describe(e.key, fi)
		}
		if !l.fn(info) {
			return false, nil
		}
	}
	return true, nil
}

// read returns the entries of a folder that may hold keys greater than After,
// in the order of keys.
func (l *lister) read(prefix string) ([]entry, error) {
	path := l.store.Path(prefix)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, wrap("list", prefix, err)
	}
	names, err := f.ReadDir(-1)
	_ = f.Close() // only read
	if err != nil {
		return nil, wrap("list", prefix, err)
	}
	out := make([]entry, 0, len(names))
	for _, d := range names {
		if prefix == "" && d.Name() == tempFolder {
			continue
		}
		e := entry{key: prefix + d.Name(), dir: d}
		switch d.Type() {
		case 0:
		case fs.ModeDir:
			e.folder = true
		case fs.ModeSymlink:
			var ok bool
			if e.folder, ok = follow(filepath.Join(path, d.Name()), path); !ok {
				continue
			}
		default:
			continue // pipes, sockets, devices hold no objects
		}
		if e.folder {
			e.key += "/"
			if e.key <= l.opts.After && !strings.HasPrefix(l.opts.After, e.key) {
				continue
			}
		} else if e.key <= l.opts.After {
			continue
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	return out, nil
}

// follow says whether a symbolic link leads to a folder, and whether it is to
// be followed at all: not when it dangles or leads back to where we are.
func follow(link, at string) (folder, ok bool) {
	info, err := os.Stat(link)
	if err != nil {
		return false, false
	}
	if !info.IsDir() {
		return false, info.Mode().IsRegular()
	}
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false, false
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return false, false
	}
	return true, real != target && !strings.HasPrefix(real, strings.TrimSuffix(target, "/")+"/")
}
