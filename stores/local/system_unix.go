//go:build unix

package local

import (
	"fmt"
	"os"
	"syscall"
)

// lock takes the exclusive lock of an open file without waiting.
func lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// fileVersion tells one content of a path from another: node, size, time.
func fileVersion(info os.FileInfo) string {
	node := uint64(0)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		node = uint64(st.Ino)
	}
	return fmt.Sprintf("%x-%x-%x", node, info.Size(), info.ModTime().UnixNano())
}
