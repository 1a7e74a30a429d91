//go:build unix

package console

import (
	"errors"
	"os"
	"syscall"
)

// lockFile keeps other writers of the file out until it is closed, so that
// flows into one file do not write over each other. Pipes and devices need no
// lock and may refuse one.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EBADF) {
		return nil
	}
	return err
}
