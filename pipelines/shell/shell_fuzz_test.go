package shell

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pipelines/pipelines"
	"pipelines/spec/diag"
)

// seeds are the statements of the conformance corpus.
func seeds(f *testing.F, every int) {
	files, err := filepath.Glob("../../testdata/conformance/sql/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no corpus: %v", err)
	}
	n := 0
	for _, p := range files {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		for chunk := range strings.SplitSeq(string(text), "\n\n") {
			body, _, _ := strings.Cut(chunk, "\n----")
			if _, sql, ok := strings.Cut(body, "\n"); ok && n%every == 0 {
				f.Add(sql)
			}
			n++
		}
	}
}

// FuzzSession runs any text as a script: no statement may end in a panic, and
// one that is refused says why.
func FuzzSession(f *testing.F) {
	seeds(f, 25)
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	f.Fuzz(func(t *testing.T, script string) {
		r, err := pipelines.BareReader(context.Background(), t.TempDir(), now)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Options{Reader: r, Lanes: 1, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		var buf bytes.Buffer
		p, err := NewPrinter(JSONStrings, &buf, &buf)
		if err != nil {
			t.Fatal(err)
		}
		text := diag.NewText("fuzz", script)
		list := s.Parse(text)
		for i := range list {
			p.Begin(i+1, 1, s.Settings())
			failed := s.Run(ctx, &list[i], text, p)
			if failed != nil && failed.Class == "INTERNAL_ERROR" {
				t.Fatalf("%s\n%s", script, failed.Message)
			}
			if failed != nil && failed.Message == "" {
				t.Fatalf("%s: no message", script)
			}
			if err := p.End(failed); err != nil {
				t.Fatal(err)
			}
		}
	})
}
