package catalog

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestHolderOf: looking tells who holds a lock, and keeps nobody from taking
// it.
func TestHolderOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks", "p")
	look := func(held bool) {
		t.Helper()
		h, is, err := HolderOf(path)
		if err != nil || is != held || held && h.PID != os.Getpid() {
			t.Errorf("%+v %v %v", h, is, err)
		}
	}
	look(false)
	l, err := Acquire(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	look(true)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	look(false)
	var wg sync.WaitGroup
	over := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				if _, _, err := HolderOf(path); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for range 200 {
		l, err := Acquire(path, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	wg.Wait()
}
