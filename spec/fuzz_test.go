package spec

import (
	"os"
	"path/filepath"
	"testing"

	"pipelines/spec/diag"
)

// FuzzParse demands that no input makes Parse panic, and that all places lie
// inside the file.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/bad/*.yml", "../testdata/conformance/pipelines/*/project-native/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, list := Parse("p.yml", src, Options{Parameters: map[string]string{"since": "x"}})
		for _, d := range list {
			if d.Span.Start.Offset < 0 || d.Span.End.Offset > len(p.File.Src) || d.Span.End.Offset < d.Span.Start.Offset || !d.Span.IsValid() {
				t.Errorf("place outside of the file: %+v", d)
			}
			_ = diag.Render(d)
		}
		for _, d := range p.Datasets {
			for _, text := range []*diag.Text{d.SQL, d.Schema} {
				if text != nil {
					checkMap(t, text, false)
				}
			}
		}
		Parse("spark-pipeline.yml", src, Options{})
	})
}
