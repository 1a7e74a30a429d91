package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// sweepAge is how old a temporary file must be before it may be swept: it
// covers the moment between its creation and its lock.
const sweepAge = time.Minute

// linker are the two ways to give a file a name that must be free.
type linker struct {
	link, rename func(from, to string) error
}

// probe finds out how PutIfAbsent can work here.
func (s *Store) probe(ways linker) error {
	t, err := s.newTemp()
	if err != nil {
		return wrapWrite("probe", s.root, err)
	}
	second := t.path + ".probe"
	err = tryAbsent(ways.link, t.path, second)
	if err != nil {
		_ = os.Remove(second) // what a link that replaces has left
		if rerr := tryRename(ways.rename, t.path, second); rerr == nil {
			s.replace, err = true, nil
		} else {
			err = errors.Join(err, rerr)
		}
	}
	_ = os.Remove(second) // swept later if it stays
	if derr := t.drop(); derr != nil && err == nil {
		return wrapWrite("probe", s.root, derr)
	}
	if err != nil {
		return &UnsafeFolderError{Folder: s.root, Err: err}
	}
	return nil
}

// tryRename tries the rename that does not replace, with a file of its own as
// the source.
func tryRename(rename func(from, to string) error, busy, free string) error {
	a := busy + ".a"
	if err := os.WriteFile(a, nil, 0o666); err != nil {
		return err
	}
	defer func() { _ = os.Remove(a) }() // gone when the rename worked
	if err := rename(a, busy); !errors.Is(err, fs.ErrExist) {
		return errors.Join(errors.New("a rename replaced a file or failed"), err)
	}
	return rename(a, free)
}

// tryAbsent checks that publish works once and then finds the name taken.
func tryAbsent(publish func(from, to string) error, from, to string) error {
	if err := publish(from, to); err != nil {
		return err
	}
	if err := publish(from, to); !errors.Is(err, fs.ErrExist) {
		return errors.Join(errors.New("a name was given twice"), err)
	}
	return nil
}

// sweep removes temporary files whose writers are gone. What fails is left for
// the next time.
func (s *Store) sweep() {
	folder := filepath.Join(s.root, tempFolder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < sweepAge {
			continue
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if lock(f) == nil {
			_ = os.Remove(path)
		}
		_ = f.Close() // nothing was written
	}
}
