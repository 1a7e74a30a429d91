package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// spares are large files that nothing names any more. A few are kept for a while:
// to write over what is in the page cache and on the disk already costs a half to
// a tenth of new pages.
type spares struct {
	mu    sync.Mutex // guards below
	names []string
	made  int
}

const mostSpares = 2

// spareName is how a spare file is called; Retain removes those that a run left.
const spareName = "spare-"

// remove removes a file, or keeps it as a spare one.
func (s *Store) remove(r Ref) error {
	path := filepath.Join(s.dir, r.Name)
	if r.Bytes >= s.large {
		s.spares.mu.Lock()
		defer s.spares.mu.Unlock()
		if len(s.spares.names) < mostSpares {
			s.spares.made++
			spare := filepath.Join(s.dir, spareName+string(rune('a'+s.spares.made%26))+".tmp")
			err := os.Rename(path, spare)
			if err == nil {
				s.spares.names = append(s.spares.names, spare)
			}
			return gone(err)
		}
	}
	return gone(os.Remove(path))
}

// gone is an error but that a file is not there.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// newFile makes an empty file, or for a large one takes a spare, whose content
// is written over.
func (s *Store) newFile(path string, large bool) (*os.File, error) {
	if large {
		s.spares.mu.Lock()
		defer s.spares.mu.Unlock()
		if n := len(s.spares.names); n > 0 {
			spare := s.spares.names[n-1]
			s.spares.names = s.spares.names[:n-1]
			if os.Rename(spare, path) == nil {
				return os.OpenFile(path, os.O_RDWR, 0o644)
			}
		}
	}
	return os.Create(path)
}

// Close removes the spare files.
func (s *Store) Close() error {
	s.spares.mu.Lock()
	defer s.spares.mu.Unlock()
	var errs []error
	for _, name := range s.spares.names {
		errs = append(errs, gone(os.Remove(name)))
	}
	s.spares.names = nil
	return errors.Join(errs...)
}
