//go:build unix

package checkpoint

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// waitForLock takes a shared lock, which an open database refuses; it goes
// away with the file.
func waitForLock(f *os.File, wait time.Duration) error {
	for deadline := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if wait == 0 || time.Now().After(deadline) {
			return ErrLocked
		}
	}
}
