package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"pipelines/runtime/connector"
	"pipelines/runtime/stream"
	"pipelines/stores"
)

// Forget implements connector.Forgetter: with cleanSource the files up to an
// offset are archived or deleted, and leave the ledger, so that neither grows;
// a file that comes later under the same name is a new one. A file that is not
// what was read stays where it is.
func (s *Source) Forget(ctx context.Context, upTo stream.Offset) (out connector.Forgotten) {
	last, err := parseOffset(upTo)
	if s.o.Clean == "" || err != nil || last < 0 {
		return out
	}
	var away []string
	for i, t := range s.ledger.files {
		id := s.ledger.ids[i]
		if t.log > last || s.left[id] {
			continue
		}
		key := id
		if t.key != "" {
			key = t.key
		}
		gone, note := s.clean(ctx, file{key: key, mtime: t.mtime, size: t.size, version: t.version})
		if gone {
			away = append(away, id)
			out.Entries = append(out.Entries, connector.Entry{Key: []byte(id)})
			continue
		}
		if s.o.Overwrites && note == "" {
			continue // it is read again, and cleaned then
		}
		s.left[id] = true
		out.Notes = append(out.Notes, note)
	}
	s.ledger.remove(away)
	return out
}

// clean takes one file away; otherwise it says why not.
func (s *Source) clean(ctx context.Context, f file) (gone bool, note string) {
	name := path.Join(s.o.Root, f.key)
	now, err := s.o.stat(ctx, f.key)
	switch {
	case errors.Is(err, stores.ErrNotExist):
		return true, ""
	case err == nil && now != f && s.o.Overwrites:
		return false, ""
	case err == nil && now != f:
		return false, name + " changed after it was read: it is neither read again nor cleaned up"
	case err == nil && s.o.Clean == "delete":
		err = os.Remove(name)
	case err == nil:
		err = archive(name, filepath.Join(s.o.ArchiveDir, name))
	}
	if err != nil {
		return false, fmt.Sprintf("%s is not cleaned up: %v", name, err)
	}
	return true, ""
}

// archive moves a file; one of that name that is there already stays.
func archive(from, to string) error {
	if err := stores.MakeFolder(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	for n := 1; ; n++ {
		name := to
		if n > 1 {
			name = fmt.Sprintf("%s.%d", to, n)
		}
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return os.Rename(from, name)
		}
	}
}

// checkClean looks at the options of cleaning, once the path is known.
func (o *Options) checkClean(c connector.SourceConfig) error {
	mode := c.Options.String("cleanSource")
	if mode == "off" {
		return nil
	}
	o.Clean = mode
	fail := func(format string, args ...any) error {
		return fmt.Errorf("[INVALID_OPTION] cleanSource "+mode+": "+format, args...)
	}
	if o.Single != "" {
		return fail("the path names one file; name its folder")
	}
	if mode == "delete" {
		return nil
	}
	dir := c.Options.String("sourceArchiveDir")
	if dir == "" {
		return fail("sourceArchiveDir is missing")
	}
	if dir = strings.TrimPrefix(dir, "file:"); !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Dir, dir)
	}
	o.ArchiveDir = filepath.Clean(dir)
	if within(o.ArchiveDir, o.Root) || within(o.Root, o.ArchiveDir) {
		return fail("sourceArchiveDir %s and the source's folder %s lie in one another: archived files would be read again", o.ArchiveDir, o.Root)
	}
	return nil
}

// within reports whether a path is a folder or lies in it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
