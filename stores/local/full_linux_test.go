package local

import (
	"errors"
	"syscall"
	"testing"

	"pipelines/stores"
)

// TestFull writes to a file system of 64 KiB until it is full: the error says
// so, no part of an object is seen, and there is room again after a delete.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("needs a file system of its own size, and none may be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := s.Put(ctx, "a", make([]byte, 40_000)); err != nil {
		t.Fatal(err)
	}
	u, err := s.Create(ctx, "u")
	if err != nil {
		t.Fatal(err)
	}
	_, werr := u.Write(make([]byte, 40_000))
	if err := u.Abort(); err != nil {
		t.Error(err)
	}
	for _, err := range []error{werr, s.Put(ctx, "b", make([]byte, 40_000)), s.PutIfAbsent(ctx, "b", make([]byte, 40_000)), s.Put(ctx, "a", make([]byte, 50_000))} {
		if !errors.Is(err, stores.ErrFull) {
			t.Errorf("got %v", err)
		}
	}
	if got, err := s.Get(ctx, "a"); len(got) != 40_000 || err != nil {
		t.Error(len(got), err)
	}
	if err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if err := s.PutIfAbsent(ctx, "b", make([]byte, 40_000)); err != nil {
		t.Error(err)
	}
}
