//go:build unix

package catalog

import (
	"errors"
	"os"
	"syscall"
)

// flock takes the kernel's lock of an open file without waiting.
func flock(f *os.File) error { return flockAs(f, syscall.LOCK_EX) }

// flockShared is flock beside others that do the same.
func flockShared(f *os.File) error { return flockAs(f, syscall.LOCK_SH) }

func flockAs(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		}
		return err
	}
}
