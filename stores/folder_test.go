package stores

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestMakeFolder: whoever gains a name is synced, from the outside in, and
// nobody else.
func TestMakeFolder(t *testing.T) {
	dir := t.TempDir()
	var synced []string
	note := func(path string) error {
		rel, err := filepath.Rel(dir, path)
		synced = append(synced, rel)
		return err
	}
	for _, c := range []struct {
		path string
		want []string
	}{
		{"a/b/c", []string{".", "a", "a/b"}},
		{"a/b/c", nil},
		{"a/b/d", []string{"a/b"}},
	} {
		synced = nil
		if err := MakeFolderBy(filepath.Join(dir, c.path), 0o755, note); err != nil || !slices.Equal(synced, c.want) {
			t.Errorf("%s: %v, synced %q, want %q", c.path, err, synced, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, c.path)); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolder(filepath.Join(dir, "file", "x"), 0o755); err == nil {
		t.Error("a folder was made in a file")
	}
	if err := MakeFolder(filepath.Join(dir, "x", "y"), 0o755); err != nil {
		t.Error(err)
	}
}
