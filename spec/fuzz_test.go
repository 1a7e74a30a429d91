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
		checkModel(t, p)
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

// checkModel demands what users of a pipeline rely on: names have parts, and
// what is not faulty is complete.
func checkModel(t *testing.T, p *Pipeline) {
	t.Helper()
	flow := func(f *Flow) {
		if len(f.Name.Parts) != 1 || len(f.Target.Parts) == 0 || !f.Faulty && f.SQL == nil && f.AutoCDC == nil {
			t.Errorf("incomplete flow: %+v", f)
		}
		if c := f.AutoCDC; !f.Faulty && c != nil && (len(c.Source.Parts) == 0 || len(c.Keys) == 0 || c.SequenceBy == nil) {
			t.Errorf("incomplete auto_cdc: %+v", c)
		}
	}
	for _, s := range p.Sources {
		if len(s.Name.Parts) != 1 || !s.Faulty && (s.Format.Value == "" || s.Path.Value == "" && !pathless[s.Format.Value]) {
			t.Errorf("incomplete source: %+v", s)
		}
	}
	for _, s := range p.Sinks {
		if len(s.Name.Parts) != 1 || !s.Faulty && s.Format.Value == "" {
			t.Errorf("incomplete sink: %+v", s)
		}
	}
	for _, d := range p.Datasets {
		if n := len(d.Name.Parts); n == 0 || n > 3 || !d.Faulty && d.Kind != StreamingTable && d.SQL == nil && !d.SQLFile.IsSet() {
			t.Errorf("incomplete dataset: %+v", d)
		}
		for _, f := range d.Flows {
			flow(f)
		}
		for _, e := range d.Expectations {
			if e.Expect == nil || e.Name.Value == "" {
				t.Errorf("incomplete expectation: %+v", e)
			}
		}
	}
	for _, f := range p.Flows {
		flow(f)
	}
}
