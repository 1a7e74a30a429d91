package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// member is one file of an archive in txtar form.
type member struct {
	name string
	data string
}

func splitArchive(text string) []member {
	var out []member
	for _, line := range strings.SplitAfter(text, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(name, " --") && !strings.HasPrefix(line, " ") {
			out = append(out, member{name: strings.TrimSuffix(name, " --")})
		} else if len(out) > 0 {
			out[len(out)-1].data += line
		}
	}
	return out
}

// unpack writes the files of an archive into a new folder and returns it.
func unpack(t *testing.T, files []member) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestProjects loads each archive: its marks are the faults, file by file, and
// its file "want" says what was read.
func TestProjects(t *testing.T) {
	files, err := filepath.Glob("testdata/projects/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			members := splitArchive(string(src))
			dir := unpack(t, members)
			p, list, err := Load(dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for _, file := range members {
				if file.name == "want" {
					want = file.data
					continue
				}
				var found diag.List
				for _, d := range list {
					if d.Span.File == filepath.Join(dir, file.name) {
						found = append(found, d)
					}
				}
				if diff := cmp.Diff(wantedMarks(file.data), foundMarks(found)); diff != "" {
					t.Errorf("%s: marks (- wanted, + found):\n%s\n%s", file.name, diff, found.Render())
				}
			}
			if diff := cmp.Diff(want, summary(p)); diff != "" {
				t.Errorf("read (- wanted, + found):\n%s", diff)
			}
			for _, s := range p.SQLFiles {
				checkMap(t, s.Text, true)
			}
		})
	}
}

func summary(p *Pipeline) string {
	var b strings.Builder
	for _, s := range p.SQLFiles {
		fmt.Fprintf(&b, "sql %s: %s\n", s.Path, strings.TrimSpace(s.Text.Body))
	}
	for _, d := range p.Datasets {
		if d.SQL != nil {
			fmt.Fprintf(&b, "dataset %s: %s\n", d.Name, strings.TrimSpace(d.SQL.Body))
		}
	}
	for _, s := range p.Sources {
		fmt.Fprintf(&b, "source %s\n", s.Name)
	}
	for _, name := range p.Lock.Names() {
		fmt.Fprintf(&b, "lock %s: %s\n", name, p.Lock.Schema(name).Body)
	}
	return b.String()
}

func TestFind(t *testing.T) {
	members := splitArchive("-- a/pipeline.yml --\nname: a\nstorage: state\n-- a/b/c/x --\n-- both/spark-pipeline.yml --\n-- both/spark-pipeline.yaml --\n-- none/x --\n")
	dir := unpack(t, members)
	t.Chdir(filepath.Join(dir, "a/b/c"))
	p, list, err := Load("", Options{})
	if err != nil || list != nil || p.File.Name != "../../pipeline.yml" || p.Dir != filepath.Join(dir, "a") {
		t.Fatalf("nearest parent: %v, %v, %+v", err, list, p)
	}
	if got := p.StorageDir(); got != filepath.Join(dir, "a/state") {
		t.Errorf("storage: %s", got)
	}
	if got := p.CheckpointDir(); got != filepath.Join(dir, "a/state/checkpoints") {
		t.Errorf("checkpoints: %s", got)
	}
	if got := p.Path("file:///tmp/x"); got != "/tmp/x" {
		t.Errorf("file URI: %s", got)
	}
	f := func(path string, code diag.Code) {
		t.Helper()
		p, list, err := Load(path, Options{})
		if err != nil || p != nil || len(list) != 1 || list[0].Code != code {
			t.Errorf("%s: %v, %v", path, err, list.Render())
		}
	}
	f(filepath.Join(dir, "both"), "MULTIPLE_PIPELINE_SPEC_FILES_FOUND")
	f(filepath.Join(dir, "none"), "PIPELINE_SPEC_FILE_NOT_FOUND")
	f(filepath.Join(dir, "nowhere"), "PIPELINE_SPEC_FILE_DOES_NOT_EXIST")
}

// TestSparkConformance loads the Spark form of each conformance project; only
// those that need Python are refused.
func TestSparkConformance(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/conformance/pipelines/*/project")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no projects: %v", err)
	}
	for _, dir := range dirs {
		_, list, err := Load(dir, Options{})
		if err != nil {
			t.Error(err)
		}
		_, statErr := os.Stat(filepath.Join(dir, "sources.py"))
		for _, d := range list {
			wanted := d.Severity != diag.Error || strings.Contains(dir, "spec_unknown_field") && d.Code == "PIPELINE_SPEC_UNEXPECTED_FIELD" ||
				statErr == nil && d.Code == "PYTHON_DEFINITIONS_NOT_SUPPORTED"
			if !wanted {
				t.Errorf("%s", diag.Render(d))
			}
		}
	}
}

func TestGood(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, list := Parse(f, src, Options{}); list != nil {
			t.Errorf("%s:\n%s", f, list.Render())
		}
	}
}

func TestSecrets(t *testing.T) {
	doc := "name: a\nstorage: b\nsources:\n  - {name: s, format: json, path: p, options: {a: 'x${env:SET}y', b: '${env:UNSET}', c: '${file:gone}'}}\n"
	p, list := Parse("p.yml", []byte(doc), Options{})
	if list != nil {
		t.Fatal(list.Render())
	}
	got := p.CheckSecrets(option.Resolver{
		Env:  func(name string) (string, bool) { return "MARKER", name == "SET" },
		File: func(path string) ([]byte, error) { return nil, os.ErrNotExist },
	})
	if len(got) != 2 || got.HasErrors() || strings.Contains(got.Render(), "MARKER") {
		t.Error(got.Render())
	}
	if all := fmt.Sprintf("%+v %#v %v", p.Sources[0], p.Sources[0].Options, p.Sources[0].Options[0].Value); strings.Contains(all, "MARKER") {
		t.Error("a secret is printed")
	}
}
