package spec

import (
	"os"
	"path/filepath"
	"testing"
)

func TestConformanceSpecs(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/pipelines/*/*/*.yml")
	if err != nil || len(files) < 50 {
		t.Fatalf("conformance files: %d, %v", len(files), err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, list := Parse(f, src, Options{})
		if p == nil {
			t.Fatalf("%s: no pipeline", f)
		}
		if filepath.Base(filepath.Dir(filepath.Dir(f))) == "spec_unknown_field" {
			if len(list) != 1 || list[0].Code != "PIPELINE_SPEC_UNEXPECTED_FIELD" {
				t.Errorf("%s: %v", f, list)
			}
			continue
		}
		for _, d := range list {
			t.Errorf("%s: %s %s (%s)", d.Span, d.Code, d.Message, d.Hint)
		}
	}
}
