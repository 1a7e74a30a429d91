package catalog

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pipelines/stores"
	"pipelines/stores/memory"
)

func TestPathPart(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := PathPart(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	f("Orders_2-x", "orders_2-x")
	f("..", "%2E%2E")
	f("a/b c", "a%2Fb%20c")
	f("ÄB", "%C3%A4b")
	f("", "~")
	f("~", "%7E")
	long := PathPart(strings.Repeat("ü", 100))
	if len(long) > longest || long == PathPart(strings.Repeat("ü", 101)) {
		t.Errorf("long name: %s", long)
	}
	if (Name{"A", "b", "C"}).DataFolder() != "tables/a/b/c" || (Name{"a", "b", "c"}).CheckpointFolder("F", 2) != "a/b/c/f/2" {
		t.Error("folders")
	}
}

func TestCatalog(t *testing.T) {
	ctx := t.Context()
	store := memory.New(memory.Options{})
	now := time.Unix(1_700_000_000, 0)
	c := New(store, func() time.Time { now = now.Add(time.Hour); return now })
	name := Name{"main", "default", "Orders"}
	if _, err := c.Get(ctx, name); !errors.Is(err, stores.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := c.CheckOwner(ctx, name, "other"); err != nil {
		t.Error(err)
	}
	r := Record{Name: name, Kind: StreamingTable, Owner: "shop", Folder: name.DataFolder(), Flows: map[string]string{"orders": "id"}}
	if err := c.Put(ctx, r); err != nil {
		t.Fatal(err)
	}
	r.CheckpointVersion, r.PlanHash = 1, "p"
	r.Name.Table = "ORDERS"
	if err := c.Put(ctx, r); err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(ctx, name)
	if err != nil || got.CheckpointVersion != 1 || got.PlanHash != "p" || got.Flows["orders"] != "id" || !got.Updated.After(got.Created) || !got.Name.Equal(name) {
		t.Errorf("got %+v %v", got, err)
	}
	r.Owner = "thief"
	for _, err := range []error{c.Put(ctx, r), c.CheckOwner(ctx, name, "thief"), c.Delete(ctx, name, "thief")} {
		if e, ok := errors.AsType[*OwnerError](err); !ok || e.Owner != "shop" {
			t.Errorf("got %v", err)
		}
	}
	_ = c.Put(ctx, Record{Name: Name{"main", "default", "a"}, Kind: View, Owner: "shop", Query: "SELECT 1"})
	_ = store.Put(ctx, "catalog/main/default/bad.json", []byte("{"))
	_ = store.Put(ctx, "catalog/main/default/wrong.json", encode(r))
	_ = store.Put(ctx, "catalog/note.txt", nil)
	var names []string
	err = c.List(ctx, func(r Record, err error) bool {
		if err != nil && stores.Classify(err) != stores.Corrupt {
			t.Error(err)
		}
		names = append(names, r.Name.Table)
		return true
	})
	if s := strings.Join(names, " "); err != nil || s != "a catalog/main/default/bad.json ORDERS catalog/main/default/wrong.json" {
		t.Errorf("listed %s %v", s, err)
	}
	if err := c.Delete(ctx, name, "shop"); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(ctx, name); !errors.Is(err, stores.ErrNotExist) {
		t.Error(err)
	}
	_ = store.Put(ctx, name.key(), []byte(`{"format":2,"name":{"catalog":"main","database":"default","table":"orders"}}`))
	if _, err := c.Get(ctx, name); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("got %v", err)
	}
}

// TestMain is also the other process of TestB21.
func TestMain(m *testing.M) {
	if path := os.Getenv("CATALOG_TEST_LOCK"); path != "" {
		if _, err := Acquire(path, "child"); err != nil {
			os.Exit(3)
		}
		_, _ = os.Stdout.WriteString("held\n")
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

// TestB21 is known failure B21, "the second process waits for ever": it is
// refused at once and told who holds the lock; a lock whose holder was killed
// does not block.
func TestB21(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks", "shop")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CATALOG_TEST_LOCK="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	start := time.Now()
	_, err = Acquire(path, "me")
	e, ok := errors.AsType[*LockedError](err)
	if !ok || e.Holder.PID != cmd.Process.Pid || e.Holder.What != "child" || time.Since(start) > 15*time.Second {
		t.Fatalf("got %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l, err := Acquire(path, "me")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path, "me too"); err == nil || !strings.Contains(err.Error(), "(me)") {
		t.Errorf("got %v", err)
	}
	if err := l.Held(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil || l.Held() == nil {
		t.Error("a removed lock file is not noticed", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	again, err := Acquire(path, "me")
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Release()
}

func TestReplaceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "status.json")
	for _, want := range []string{"one", "two"} {
		if err := ReplaceFile(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%s %v", got, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}
