package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pipelines/spec/diag"
)

// LockFile is the name of the file that pins inferred schemas. It lies beside
// the document and is meant to be committed.
const LockFile = "schemas.lock.yml"

// Lock holds the pinned schemas: of sources by their name, of unnamed streams
// by a hash that the caller makes.
type Lock struct {
	schemas map[string]*diag.Text
}

// Schema returns the pinned DDL of a source or stream, or nil.
func (l *Lock) Schema(name string) *diag.Text {
	if l == nil {
		return nil
	}
	return l.schemas[strings.ToLower(name)]
}

// Names lists what is pinned, sorted.
func (l *Lock) Names() []string {
	if l == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.schemas))
}

var lockObject = &object{name: "schema lock", doc: "Pinned schemas of sources.", keys: []key{
	{name: "version", kind: kindInt, min: 1, max: 1, required: true, doc: "Version of this file's form."},
	{name: "schemas", kind: kindSettings, required: true, doc: "Columns as DDL, by name."},
}}

// ParseLock reads a schemas.lock.yml.
func ParseLock(file string, src []byte) (*Lock, diag.List) {
	f := newFile(file, src)
	l := &Lock{schemas: map[string]*diag.Text{}}
	root, list := readDocument(f)
	if root == nil {
		return l, list
	}
	w := &walker{file: f, verbatim: true}
	if r := w.record(lockObject, root); r != nil && r.has("schemas") {
		for _, p := range r.get("schemas").pairs {
			l.schemas[strings.ToLower(p.name)] = p.val.m.text(f)
		}
	}
	w.list.Sort()
	return l, w.list
}

// FormatLock returns the bytes of a schemas.lock.yml, the same for the same
// schemas.
func FormatLock(schemas map[string]string) []byte {
	var b strings.Builder
	b.WriteString("# Schemas that were inferred, pinned by pipelines. Commit this file.\nversion: 1\nschemas:")
	if len(schemas) == 0 {
		b.WriteString(" {}")
	}
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		b.WriteString("  " + quoteYAML(name) + ": " + quoteYAML(schemas[name]) + "\n")
	}
	return []byte(b.String())
}

// quoteYAML writes a double-quoted scalar; the escapes of Go that it can make
// are a part of YAML's.
func quoteYAML(s string) string { return strconv.Quote(s) }

// lock reads the lock file beside the document, if there is one.
func (b *builder) lock() error {
	src, err := readLimited(filepath.Join(b.p.Dir, LockFile), maxBytes+4)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read the pinned schemas: %w", err)
	}
	var list diag.List
	b.p.Lock, list = ParseLock(b.show(LockFile), src)
	b.list = append(b.list, list...)
	return nil
}
