package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pipelines/stores"
	"pipelines/stores/storetest"
)

func open(t *testing.T, opts Options) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "deep/er"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) stores.Store { return open(t, Options{}) })
}

// TestContractRename runs the suite as on a file system without hard links.
func TestContractRename(t *testing.T) {
	storetest.Run(t, func(t *testing.T) stores.Store {
		s := open(t, Options{NoSync: true})
		if err := tryRename(renameNoReplace, s.mustTemp(t), filepath.Join(s.root, tempFolder, "free")); err != nil {
			t.Skip("this file system has no rename that refuses to replace: ", err)
		}
		s.replace = true
		return s
	})
}

func (s *Store) mustTemp(t *testing.T) string {
	t.Helper()
	f, err := s.newTemp()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.drop() })
	return f.path
}

func TestNothingStays(t *testing.T) {
	s := open(t, Options{})
	ctx := t.Context()
	for range 3 {
		_ = s.PutIfAbsent(ctx, "a/b", []byte("x"))
		_ = s.Put(ctx, "a/b", []byte("x"))
		u, err := s.Create(ctx, "c")
		if err != nil {
			t.Fatal(err)
		}
		_ = u.Abort()
	}
	if err := s.Put(ctx, "a", []byte("x")); err == nil {
		t.Error("a folder was replaced by an object")
	}
	if err := s.Put(ctx, "a/b/c", []byte("x")); err == nil || errors.Is(err, stores.ErrNotExist) {
		t.Errorf("an object became a folder: %v", err)
	}
	left, err := os.ReadDir(filepath.Join(s.Root(), tempFolder))
	if err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestSweep(t *testing.T) {
	s := open(t, Options{})
	old := time.Now().Add(-time.Hour)
	dead := filepath.Join(s.Root(), tempFolder, "1-2-3")
	if err := os.WriteFile(dead, []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	alive := s.mustTemp(t)
	for _, p := range []string{dead, alive} {
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(s.Root(), Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("a dead writer's file stays")
	}
	if _, err := os.Stat(alive); err != nil {
		t.Error("a living writer's file was swept")
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "f"); err != nil {
		t.Error(err)
	}
	_, cerr := s.Create(t.Context(), "g")
	for _, err := range []error{s.Put(t.Context(), "g", nil), s.PutIfAbsent(t.Context(), "g", nil), s.Delete(t.Context(), "f"), cerr} {
		if !errors.Is(err, errReadOnly) {
			t.Errorf("got %v", err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the folder was touched: %v", left)
	}
}

func TestLinks(t *testing.T) {
	s := open(t, Options{NoSync: true})
	other := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Put(t.Context(), "d/f", []byte("1")))
	must(os.WriteFile(filepath.Join(other, "g"), []byte("22"), 0o666))
	must(os.Symlink(other, s.Path("d/away")))
	must(os.Symlink(s.Root(), s.Path("d/loop")))
	must(os.Symlink(filepath.Join(other, "g"), s.Path("d/link")))
	must(os.Symlink(filepath.Join(other, "none"), s.Path("d/dangling")))
	must(syscall.Mkfifo(s.Path("d/pipe"), 0o666))
	var got []string
	must(s.List(t.Context(), stores.ListOptions{Prefix: "d/"}, func(o stores.ObjectInfo) bool {
		got = append(got, o.Key)
		return true
	}))
	if len(got) != 3 || got[0] != "d/away/g" || got[1] != "d/f" || got[2] != "d/link" {
		t.Errorf("listed %v", got)
	}
}

// TestNames compares the reading of a folder that is larger than the buffer
// with the standard library's.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(dir, strings.Repeat("n", i%200)+strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, err := range []error{os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.Symlink("x", filepath.Join(dir, "link")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)} {
		if err != nil {
			t.Fatal(i, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	got := map[string]fs.FileMode{}
	if err := readNames(f, func(name []byte, mode fs.FileMode) { got[string(name)] = mode }); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		mode, ok := got[e.Name()]
		if plain := e.Type() == 0 || e.Type() == fs.ModeDir || e.Type() == fs.ModeSymlink; !ok || plain != (mode == e.Type()) {
			t.Errorf("%s: %v, want %v", e.Name(), mode, e.Type())
		}
	}
	if len(got) != len(entries) {
		t.Errorf("%d names, want %d", len(got), len(entries))
	}
}

func TestErrors(t *testing.T) {
	f := func(in error, want error, class stores.Class) {
		t.Helper()
		err := wrap("op", "key", &os.PathError{Op: "write", Path: "p", Err: in})
		if want != nil && !errors.Is(err, want) || stores.Classify(err) != class {
			t.Errorf("%v became %v, class %d", in, err, stores.Classify(err))
		}
	}
	f(syscall.ENOSPC, stores.ErrFull, stores.Retryable)
	f(syscall.EDQUOT, stores.ErrFull, stores.Retryable)
	f(syscall.ENOENT, stores.ErrNotExist, stores.Permanent)
	f(syscall.EEXIST, stores.ErrExists, stores.Permanent)
	f(syscall.EBUSY, nil, stores.Retryable)
	f(syscall.EACCES, os.ErrPermission, stores.Permanent)
}

func TestProbe(t *testing.T) {
	s := open(t, Options{NoSync: true})
	fails := func(string, string) error { return syscall.EPERM }
	replaces := func(from, to string) error {
		if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
			return err
		}
		return os.Link(from, to)
	}
	f := func(name string, ways linker, safe, replace bool) {
		t.Helper()
		s.replace = false
		err := s.probe(ways)
		_, refused := errors.AsType[*UnsafeFolderError](err)
		if refused == safe || err == nil != safe || s.replace != replace {
			t.Errorf("%s: %v, rename %t", name, err, s.replace)
		}
	}
	f("links", linker{os.Link, fails}, true, false)
	f("no links", linker{fails, renameNoReplace}, true, true)
	f("links that replace", linker{replaces, renameNoReplace}, true, true)
	f("nothing", linker{fails, fails}, false, false)
	f("everything replaces", linker{replaces, os.Rename}, false, false)
	if left, err := os.ReadDir(filepath.Join(s.Root(), tempFolder)); err != nil || len(left) != 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}
