package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"pipelines/stores"
)

// Run runs the suite; open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) stores.Store) {
	cases := []struct {
		name string
		run  func(*testing.T, stores.Store)
	}{
		{"put", testPut},
		{"missing", testMissing},
		{"absent", testAbsent},
		{"race", testRace},
		{"readers", testReaders},
		{"list", testList},
		{"list-while-deleting", testListDelete},
		{"ranges", testRanges},
		{"upload", testUpload},
		{"delete", testDelete},
		{"keys", testKeys},
		{"context", testContext},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func wantBytes(t *testing.T, s stores.Store, key, want string) {
	t.Helper()
	got, err := s.Get(t.Context(), key)
	must(t, err)
	if string(got) != want {
		t.Fatalf("%s holds %q, want %q", key, got, want)
	}
}

func keys(t *testing.T, s stores.Store, opts stores.ListOptions) string {
	t.Helper()
	var out []string
	must(t, s.List(t.Context(), opts, func(o stores.ObjectInfo) bool {
		out = append(out, o.Key)
		return true
	}))
	return strings.Join(out, " ")
}

func testPut(t *testing.T, s stores.Store) {
	ctx := t.Context()
	data := []byte("one")
	must(t, s.Put(ctx, "a/b/c", data))
	data[0] = 'X' // the caller's bytes stay the caller's
	wantBytes(t, s, "a/b/c", "one")
	first, err := s.Stat(ctx, "a/b/c")
	must(t, err)
	if first.Key != "a/b/c" || first.Size != 3 || first.ModTime.IsZero() {
		t.Fatalf("stat %+v", first)
	}
	must(t, s.Put(ctx, "a/b/c", []byte("second")))
	wantBytes(t, s, "a/b/c", "second")
	second, err := s.Stat(ctx, "a/b/c")
	must(t, err)
	if second.Size != 6 || first.Version != "" && second.Version == first.Version {
		t.Fatalf("stat after replacing: %+v", second)
	}
	must(t, s.Put(ctx, "empty", nil))
	wantBytes(t, s, "empty", "")
}

func testMissing(t *testing.T, s stores.Store) {
	ctx := t.Context()
	must(t, s.Put(ctx, "dir/file", []byte("x")))
	for _, key := range []string{"none", "no/folder", "dir", "dir/file/below"} {
		_, err := s.Get(ctx, key)
		wantErr(t, err, stores.ErrNotExist)
		_, err = s.Stat(ctx, key)
		wantErr(t, err, stores.ErrNotExist)
		_, err = s.Open(ctx, key)
		wantErr(t, err, stores.ErrNotExist)
		must(t, s.Delete(ctx, key))
	}
	wantBytes(t, s, "dir/file", "x")
	if got := keys(t, s, stores.ListOptions{Prefix: "none/"}); got != "" {
		t.Fatalf("listing of nothing: %s", got)
	}
}

func testAbsent(t *testing.T, s stores.Store) {
	ctx := t.Context()
	must(t, s.PutIfAbsent(ctx, "log/0", []byte("mine")))
	wantErr(t, s.PutIfAbsent(ctx, "log/0", []byte("yours")), stores.ErrExists)
	wantBytes(t, s, "log/0", "mine")
	must(t, s.Delete(ctx, "log/0"))
	must(t, s.PutIfAbsent(ctx, "log/0", []byte("again")))
	wantBytes(t, s, "log/0", "again")
}

// testRace lets writers race for the same keys: each key has one winner, and
// holds the winner's bytes.
func testRace(t *testing.T, s stores.Store) {
	const writers, rounds = 4, 25
	won := make([][rounds]bool, writers)
	var g errgroup.Group
	for w := range writers {
		g.Go(func() error {
			for r := range rounds {
				err := s.PutIfAbsent(t.Context(), fmt.Sprintf("race/%03d", r), fmt.Appendf(nil, "writer %d", w))
				if err != nil && !errors.Is(err, stores.ErrExists) {
					return err
				}
				won[w][r] = err == nil
			}
			return nil
		})
	}
	must(t, g.Wait())
	for r := range rounds {
		winners := 0
		for w := range writers {
			if won[w][r] {
				winners++
				wantBytes(t, s, fmt.Sprintf("race/%03d", r), fmt.Sprintf("writer %d", w))
			}
		}
		if winners != 1 {
			t.Fatalf("key %d has %d winners", r, winners)
		}
	}
}

// testReaders replaces an object while it is read: a reader sees one whole
// object or the other.
func testReaders(t *testing.T, s stores.Store) {
	a, b := bytes.Repeat([]byte("a"), 70_000), bytes.Repeat([]byte("b"), 50_000)
	must(t, s.Put(t.Context(), "k", a))
	var g errgroup.Group
	g.Go(func() error {
		for i := range 20 {
			data := a
			if i%2 == 0 {
				data = b
			}
			if err := s.Put(t.Context(), "k", data); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		for range 100 {
			got, err := s.Get(t.Context(), "k")
			if err != nil {
				return err
			}
			if !bytes.Equal(got, a) && !bytes.Equal(got, b) {
				return fmt.Errorf("a torn object of %d bytes", len(got))
			}
		}
		return nil
	})
	must(t, g.Wait())
}

func testList(t *testing.T, s stores.Store) {
	all := []string{"a", "a-b", "a.txt", "a/b", "a/b.c", "a/b/c", "a/z", "a0", "b/x", "ü/1", ".h/1", "_log/00", "_log/01"}
	for _, k := range all {
		// Some stores cannot hold an object and a folder of one name.
		if k == "a" || k == "a/b" {
			continue
		}
		must(t, s.Put(t.Context(), k, []byte(k)))
	}
	f := func(opts stores.ListOptions, want string) {
		t.Helper()
		if got := keys(t, s, opts); got != want {
			t.Errorf("list %+v:\n got %s\nwant %s", opts, got, want)
		}
	}
	f(stores.ListOptions{}, ".h/1 _log/00 _log/01 a-b a.txt a/b.c a/b/c a/z a0 b/x ü/1")
	f(stores.ListOptions{NamesOnly: true}, ".h/1 _log/00 _log/01 a-b a.txt a/b.c a/b/c a/z a0 b/x ü/1")
	f(stores.ListOptions{Flat: true}, "a-b a.txt a0")
	f(stores.ListOptions{Prefix: "a/"}, "a/b.c a/b/c a/z")
	f(stores.ListOptions{Prefix: "a/", Flat: true}, "a/b.c a/z")
	f(stores.ListOptions{Prefix: "a/", After: "a/b.c"}, "a/b/c a/z")
	f(stores.ListOptions{Prefix: "a/", After: "a/b/"}, "a/b/c a/z")
	f(stores.ListOptions{Prefix: "a/", After: "a/b/c"}, "a/z")
	f(stores.ListOptions{After: "a/b/c", NamesOnly: true}, "a/z a0 b/x ü/1")
	f(stores.ListOptions{Prefix: "_log/", After: "_log/00"}, "_log/01")
	f(stores.ListOptions{Prefix: "_log/", After: "_log/01"}, "")
	f(stores.ListOptions{Prefix: "b/", After: "a"}, "b/x")
	skip := func(keys ...string) func([]byte) bool {
		return func(key []byte) bool { return slices.Contains(keys, string(key)) }
	}
	f(stores.ListOptions{Skip: skip("a-b", "a", "a/", "a/c", "a0", "b/x", "x"), NamesOnly: true}, ".h/1 _log/00 _log/01 a.txt a/b.c a/b/c a/z ü/1")
	f(stores.ListOptions{Prefix: "a/", Skip: skip("z", "a/b.c"), After: "a/b"}, "a/b/c a/z")
	f(stores.ListOptions{Flat: true, Skip: func([]byte) bool { return true }}, "")
	n := 0
	must(t, s.List(t.Context(), stores.ListOptions{}, func(o stores.ObjectInfo) bool {
		n++
		if o.Size != int64(len(o.Key)) || o.ModTime.IsZero() {
			t.Errorf("listed %+v", o)
		}
		return n < 3
	}))
	if n != 3 {
		t.Errorf("listing went on after false: %d", n)
	}
	if err := s.List(t.Context(), stores.ListOptions{Prefix: "a"}, func(stores.ObjectInfo) bool { return true }); err == nil {
		t.Error("a prefix without its slash was taken")
	}
}

func testListDelete(t *testing.T, s stores.Store) {
	for i := range 10 {
		must(t, s.Put(t.Context(), fmt.Sprintf("d/%d", i), nil))
	}
	n := 0
	must(t, s.List(t.Context(), stores.ListOptions{Prefix: "d/"}, func(o stores.ObjectInfo) bool {
		n++
		must(t, s.Delete(t.Context(), o.Key))
		return true
	}))
	if n != 10 || keys(t, s, stores.ListOptions{}) != "" {
		t.Errorf("%d listed, left: %s", n, keys(t, s, stores.ListOptions{}))
	}
}

func testRanges(t *testing.T, s stores.Store) {
	must(t, s.Put(t.Context(), "o", []byte("0123456789")))
	o, err := s.Open(t.Context(), "o")
	must(t, err)
	if o.Size() != 10 {
		t.Errorf("size %d", o.Size())
	}
	buf := make([]byte, 4)
	if n, err := o.ReadAt(buf, 3); n != 4 || err != nil || string(buf) != "3456" {
		t.Errorf("read at 3: %d %v %q", n, err, buf)
	}
	if n, err := o.ReadAt(buf, 8); n != 2 || !errors.Is(err, io.EOF) {
		t.Errorf("read over the end: %d %v", n, err)
	}
	// An open object keeps its bytes whatever happens to the key.
	must(t, s.Put(t.Context(), "o", []byte("replaced!!")))
	if n, err := o.ReadAt(buf, 0); n != 4 || err != nil || string(buf) != "0123" {
		t.Errorf("read after replacing: %d %v %q", n, err, buf)
	}
	must(t, s.Delete(t.Context(), "o"))
	if n, err := o.ReadAt(buf, 6); n != 4 || err != nil || string(buf) != "6789" {
		t.Errorf("read after deleting: %d %v %q", n, err, buf)
	}
	must(t, o.Close())
}

func testUpload(t *testing.T, s stores.Store) {
	ctx := t.Context()
	u, err := s.Create(ctx, "up/a")
	must(t, err)
	for _, p := range []string{"one ", "two ", "three"} {
		n, err := io.WriteString(u, p)
		if n != len(p) || err != nil {
			t.Fatalf("write %d %v", n, err)
		}
	}
	_, err = s.Stat(ctx, "up/a")
	wantErr(t, err, stores.ErrNotExist)
	if got := keys(t, s, stores.ListOptions{}); got != "" {
		t.Fatalf("an unfinished object is listed: %s", got)
	}
	must(t, u.Commit())
	must(t, u.Abort())
	wantBytes(t, s, "up/a", "one two three")
	if u.Commit() == nil {
		t.Fatal("a second commit was taken")
	}
	u, err = s.Create(ctx, "up/a")
	must(t, err)
	_, err = u.Write([]byte("other"))
	must(t, err)
	must(t, u.Abort())
	must(t, u.Abort())
	wantBytes(t, s, "up/a", "one two three")
	u, err = s.Create(ctx, "up/a")
	must(t, err)
	must(t, u.Commit())
	wantBytes(t, s, "up/a", "")
	if got := keys(t, s, stores.ListOptions{}); got != "up/a" {
		t.Fatalf("left: %s", got)
	}
}

func testDelete(t *testing.T, s stores.Store) {
	ctx := t.Context()
	must(t, s.Put(ctx, "x/y", nil))
	must(t, s.Delete(ctx, "x/y"))
	must(t, s.Delete(ctx, "x/y"))
	_, err := s.Get(ctx, "x/y")
	wantErr(t, err, stores.ErrNotExist)
	must(t, s.Put(ctx, "x/y", []byte("back")))
	wantBytes(t, s, "x/y", "back")
}

func testKeys(t *testing.T, s stores.Store) {
	ctx := t.Context()
	good := []string{"p=a%2Fb c/d", "日本/ä", "..x/y..", "a:b", "#?&%25", strings.Repeat("k", 200)}
	for _, k := range good {
		must(t, s.Put(ctx, k, []byte(k)))
		wantBytes(t, s, k, k)
	}
	if got := keys(t, s, stores.ListOptions{NamesOnly: true}); len(strings.Split(got, " ")) != len(good)+1 {
		t.Errorf("listed %s", got)
	}
	for _, k := range []string{"", ".", "/abs", "a//b", "a/", "../up", "a/../b", "./a"} {
		if err := s.Put(ctx, k, nil); err == nil {
			t.Errorf("put took %q", k)
		}
		if err := s.PutIfAbsent(ctx, k, nil); err == nil {
			t.Errorf("put if absent took %q", k)
		}
		if _, err := s.Create(ctx, k); err == nil {
			t.Errorf("create took %q", k)
		}
		if _, err := s.Get(ctx, k); err == nil {
			t.Errorf("get took %q", k)
		}
		if err := s.Delete(ctx, k); err == nil {
			t.Errorf("delete took %q", k)
		}
	}
}

func testContext(t *testing.T, s stores.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	must(t, s.Put(ctx, "a", nil))
	cancel()
	_, err := s.Get(ctx, "a")
	errs := []error{err, s.Put(ctx, "b", nil), s.PutIfAbsent(ctx, "b", nil), s.Delete(ctx, "a"),
		s.List(ctx, stores.ListOptions{}, func(stores.ObjectInfo) bool { return true })}
	_, err = s.Open(ctx, "a")
	errs = append(errs, err)
	_, err = s.Stat(ctx, "a")
	errs = append(errs, err)
	_, err = s.Create(ctx, "b")
	errs = append(errs, err)
	if i := slices.IndexFunc(errs, func(e error) bool { return !errors.Is(e, context.Canceled) }); i >= 0 {
		t.Errorf("call %d with an ended context: %v", i, errs[i])
	}
}
