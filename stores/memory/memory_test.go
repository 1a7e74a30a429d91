package memory

import (
	"errors"
	"testing"

	"pipelines/stores"
	"pipelines/stores/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) stores.Store { return New(Options{}) })
}

func TestCrash(t *testing.T) {
	ctx := t.Context()
	s := New(Options{Lazy: true})
	put := func(key, data string) {
		t.Helper()
		if err := s.Put(ctx, key, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	put("a", "old")
	put("b", "b")
	s.Sync()
	put("a", "new")
	put("c", "c")
	if err := s.Delete(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	u, err := s.Create(ctx, "d")
	if err != nil {
		t.Fatal(err)
	}
	s.Crash()
	if u.Commit() == nil {
		t.Error("an upload outlived the crash")
	}
	for key, want := range map[string]string{"a": "old", "b": "b", "c": "", "d": ""} {
		got, err := s.Get(ctx, key)
		if string(got) != want || (want == "") != errors.Is(err, stores.ErrNotExist) {
			t.Errorf("%s: %q %v", key, got, err)
		}
	}
	if s.Used() != 4 {
		t.Errorf("used %d", s.Used())
	}
}

func TestFull(t *testing.T) {
	ctx := t.Context()
	s := New(Options{Limit: 10})
	if err := s.Put(ctx, "a", make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "b", make([]byte, 3)); !errors.Is(err, stores.ErrFull) {
		t.Errorf("got %v", err)
	}
	u, _ := s.Create(ctx, "c")
	if _, err := u.Write(make([]byte, 3)); !errors.Is(err, stores.ErrFull) {
		t.Errorf("got %v", err)
	}
	if err := s.Put(ctx, "a", make([]byte, 10)); err != nil {
		t.Error(err)
	}
	s.SetLimit(20)
	if err := s.Put(ctx, "b", make([]byte, 10)); err != nil {
		t.Error(err)
	}
}
