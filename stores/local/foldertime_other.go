//go:build !unix

package local

import "time"

// FolderTime promises nothing here.
func (s *Store) FolderTime(string) (changed time.Time, flat bool) { return time.Time{}, false }
