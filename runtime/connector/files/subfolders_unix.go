//go:build unix

package files

import (
	"os"
	"syscall"
)

// noSubfolders reports whether a folder surely has no folder in it: it then
// has two links, its name and its own dot. Where a file system does not count
// that way, it shows one link.
func noSubfolders(root string) bool {
	info, err := os.Stat(root)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && st.Nlink == 2
}
