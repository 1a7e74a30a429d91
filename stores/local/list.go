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
	key   []byte // scratch
}

// entry is a name in a folder; key ends in a slash for folders, which gives
// the order of whole keys.
type entry struct {
	key    string
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
	var out []entry
	err = readNames(f, func(name []byte, mode fs.FileMode) {
		if prefix == "" && string(name) == tempFolder {
			return
		}
		var folder bool
		switch mode {
		case 0:
		case fs.ModeDir:
			folder = true
		case fs.ModeSymlink:
			var ok bool
			if folder, ok = follow(filepath.Join(path, string(name)), path); !ok {
				return
			}
		default:
			return // pipes, sockets, devices hold no objects
		}
		if key, ok := l.takes(prefix, name, folder); ok {
			out = append(out, entry{key: key, folder: folder})
		}
	})
	_ = f.Close() // only read
	if err != nil {
		return nil, wrap("list", prefix, err)
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	return out, nil
}

// takes returns the key of a name, unless it is not to be shown.
func (l *lister) takes(prefix string, name []byte, folder bool) (key string, ok bool) {
	l.key = append(append(l.key[:0], prefix...), name...)
	if folder {
		l.key = append(l.key, '/')
		if string(l.key) <= l.opts.After && !strings.HasPrefix(l.opts.After, string(l.key)) {
			return "", false
		}
	} else if string(l.key) <= l.opts.After || l.opts.Skip != nil && l.opts.Skip(l.key) {
		return "", false
	}
	return string(l.key), true
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
