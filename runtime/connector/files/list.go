package files

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"pipelines/stores"
)

// file is one file that was found.
type file struct {
	key   string
	mtime int64 // microseconds
	size  int64
	// version is a hash of the store's version; 0: it has none.
	version uint64
}

// names lists the keys that belong to the source, without looking at the
// files themselves. Skip may leave out some at once.
func (o *Options) names(ctx context.Context, skip func(key []byte) bool, fn func(key string) bool) error {
	if o.Single != "" {
		fn(o.Single)
		return nil
	}
	prefix := ""
	if o.Pattern != "" {
		prefix = literalFolder(o.Pattern)
	}
	opts := stores.ListOptions{Prefix: prefix, NamesOnly: true, Skip: skip}
	return o.Store.List(ctx, opts, func(info stores.ObjectInfo) bool {
		if !o.selects(info.Key) {
			return true
		}
		return fn(info.Key)
	})
}

// literalFolder is the part of a glob before its first wildcard folder.
func literalFolder(pattern string) string {
	i := strings.IndexAny(pattern, "*?[{")
	if i < 0 {
		i = len(pattern)
	}
	return pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
}

// selects reports whether a key below the root is data of this source.
func (o *Options) selects(key string) bool {
	if o.Pattern == "" && o.NameGlob == "" && strings.IndexByte(key, '/') < 0 {
		return !hidden(key) // the common case allocates nothing
	}
	parts := strings.Split(key, "/")
	for _, p := range parts {
		if hidden(p) {
			return false
		}
	}
	name := parts[len(parts)-1]
	if o.NameGlob != "" && !globMatch(o.NameGlob, name) {
		return false
	}
	rest := parts[:len(parts)-1]
	if o.Pattern != "" {
		n := strings.Count(o.Pattern, "/") + 1
		if len(parts) < n || !globPath(o.Pattern, parts[:n]) {
			return false
		}
		rest = parts[min(n, len(parts)-1) : len(parts)-1]
	}
	if o.Recursive {
		return true
	}
	// Below the root only partition folders are looked into.
	for _, p := range rest {
		if !strings.Contains(p, "=") {
			return false
		}
	}
	return true
}

func globPath(pattern string, parts []string) bool {
	pats := strings.Split(pattern, "/")
	for i, p := range pats {
		if !globMatch(p, parts[i]) {
			return false
		}
	}
	return true
}

// globMatch matches one path part against a Hadoop glob: *, ?, [a-z], {a,b}.
func globMatch(pattern, name string) bool {
	if i := strings.IndexByte(pattern, '{'); i >= 0 {
		j := strings.IndexByte(pattern[i:], '}')
		if j > 0 {
			for _, alt := range strings.Split(pattern[i+1:i+j], ",") {
				if globMatch(pattern[:i]+alt+pattern[i+j+1:], name) {
					return true
				}
			}
			return false
		}
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return err == nil && ok
}

// checkGlob refuses a glob with an open bracket, or one that ends in a
// backslash.
func checkGlob(pattern string) error {
	if i := strings.IndexByte(pattern, '{'); i >= 0 {
		j := strings.IndexByte(pattern[i:], '}')
		if j < 0 {
			return errors.New("the glob has a { without }")
		}
		for _, alt := range strings.Split(pattern[i+1:i+j], ",") {
			if err := checkGlob(pattern[:i] + alt + pattern[i+j+1:]); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), ""); err != nil {
		return errors.New("the glob has a [ without ], or ends in a backslash")
	}
	return nil
}

// readable refuses names that are no text: paths are kept in offsets, ledgers
// and columns, which are.
func (o *Options) readable(key string) error {
	if utf8.ValidString(key) {
		return nil
	}
	return fmt.Errorf("the name of the file %q in %s is not UTF-8", key, o.Root)
}

// stat looks at one file.
func (o *Options) stat(ctx context.Context, key string) (file, error) {
	info, err := o.Store.Stat(ctx, key)
	if err != nil {
		return file{}, fmt.Errorf("look at %s: %w", path.Join(o.Root, key), err)
	}
	f := file{key: key, mtime: info.ModTime.UnixMicro(), size: info.Size}
	if info.Version != "" {
		h := fnv.New64a()
		h.Write([]byte(info.Version))
		f.version = h.Sum64()
	}
	return f, nil
}

// sortFiles orders files as they are taken.
func sortFiles(fs []file, latestFirst bool) {
	sort.Slice(fs, func(i, j int) bool {
		a, b := fs[i], fs[j]
		if a.mtime != b.mtime {
			return a.mtime < b.mtime != latestFirst
		}
		return a.key < b.key
	})
}
