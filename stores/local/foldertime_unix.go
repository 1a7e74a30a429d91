//go:build unix

package local

import (
	"os"
	"syscall"
	"time"
)

// FolderTime implements stores.FolderTimer. A folder with a link count of two
// has no folders in it; where the file system counts otherwise nothing is
// promised.
func (s *Store) FolderTime(prefix string) (changed time.Time, flat bool) {
	info, err := os.Stat(s.Path(prefix))
	if err != nil || !info.IsDir() {
		return time.Time{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return info.ModTime(), ok && st.Nlink == 2
}
