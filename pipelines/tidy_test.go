package pipelines_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// This test holds the house rules of STYLE.md: floors, sizes, no init, no
// stray goroutine, no context in a struct, no clock where evaluation must be
// pure, a doc.go in each package, and a package map in the README that equals
// the folders.

const (
	maxFileLines     = 800
	maxFunctionLines = 70
	maxParams        = 5 // counting ctx; more means an options struct
)

// floors maps a folder to what it may import of ours, by prefix. The longest
// matching folder counts; "X/" stands for everything below X.
var floors = map[string][]string{
	"spec/diag":         {},
	"spec/option":       {"spec/diag"},
	"spec":              {"spec/diag", "spec/option"},
	"stores":            {"stores"},
	"tables/schema":     {},
	"tables/column":     {"tables/schema"},
	"tables/text":       {"tables/schema", "tables/column"},
	"tables/codec":      {"tables/schema", "tables/column", "tables/text", "tables/codec/"},
	"tables/format":     {"spec/option", "spec/diag", "stores", "tables/schema", "tables/column", "tables/text", "tables/codec/", "tables/format", "tables/format/block", "tables/format/formattest"},
	"tables/commitlog":  {"stores", "stores/", "tables/schema", "tables/column", "tables/text", "tables/format", "tables/format/", "tables/commitlog"},
	"tables/catalog":    {"stores", "stores/", "tables/schema"},
	"tables":            {"stores", "stores/", "tables/schema", "tables/column", "tables/text", "tables/format", "tables/commitlog", "tables/catalog", "tables/"},
	"sqlplan":           {"spec/diag", "tables/schema", "tables/column", "tables/text", "tables/codec/", "sqlplan/", "sqlplan"},
	"runtime/stream":    {},
	"runtime/budget":    {},
	"runtime":           {"sqlplan/logical", "sqlplan/funcs", "sqlplan/expr", "tables", "tables/schema", "tables/column", "tables/text", "tables/codec/", "tables/format", "stores", "spec/diag", "runtime/"},
	"runtime/connector": {"spec/option", "sqlplan/logical", "sqlplan/funcs", "sqlplan/expr", "tables", "tables/schema", "tables/column", "tables/text", "tables/codec/", "tables/format", "stores", "spec/diag", "runtime/stream", "runtime/connector", "runtime/budget"},
	"pipelines":         {"spec", "spec/diag", "spec/option", "sqlplan", "sqlplan/logical", "tables", "tables/schema", "tables/column", "tables/catalog", "tables/maintain", "tables/codec/display", "tables/format", "stores", "runtime/flow", "runtime/checkpoint", "runtime/connector", "runtime/budget", "runtime/stream", "pipelines", "pipelines/"},
	"pipelines/builtin": {"spec", "spec/diag", "spec/option", "sqlplan", "tables", "tables/", "stores", "stores/", "runtime/", "pipelines/"},
	"pipelines/simtest": {"spec", "spec/diag", "spec/option", "sqlplan", "tables", "tables/", "stores", "stores/", "runtime/", "pipelines", "pipelines/"},
	"cmd/pipelines":     {"pipelines", "pipelines/", "spec/diag"},
	"cmd/nexmark":       {},
	"cmd/tpch":          {},
	"cmd/bench":         {},
}

// goroutines may be started here.
var goroutineFolders = []string{"runtime/flow", "pipelines", "runtime/connector/", "cmd/pipelines"}

// lasting folders make folders for what has to be there after a power cut.
var lastingFolders = []string{"runtime/checkpoint", "runtime/state", "runtime/connector"}

// pure folders read no clock.
var pureFolders = []string{"sqlplan", "runtime/operator"}

type source struct {
	path   string // slash-separated, relative to the root
	folder string
	file   *ast.File
	fset   *token.FileSet
	text   []byte
	test   bool
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(filepath.ToSlash(p), "../")
		out = append(out, source{path: rel, folder: path.Dir(rel), file: f, fset: fset, text: text, test: strings.HasSuffix(rel, "_test.go")})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func allowed(folder string) ([]string, bool) {
	for f := folder; f != "."; f = path.Dir(f) {
		if list, ok := floors[f]; ok {
			return list, true
		}
	}
	return nil, false
}

func mayImport(folder, imported string) bool {
	list, ok := allowed(folder)
	if !ok {
		return false
	}
	return slices.ContainsFunc(list, func(p string) bool {
		return p == imported || strings.HasSuffix(p, "/") && strings.HasPrefix(imported, p)
	})
}

func TestFloors(t *testing.T) {
	for _, s := range sources(t) {
		if _, ok := allowed(s.folder); !ok {
			t.Errorf("%s: folder %s is not in the table of floors", s.path, s.folder)
			continue
		}
		if s.test {
			continue
		}
		for _, im := range s.file.Imports {
			p := strings.Trim(im.Path.Value, `"`)
			ours, ok := strings.CutPrefix(p, "pipelines/")
			if !ok {
				if p == "gopkg.in/yaml.v3" && s.folder != "spec" {
					t.Errorf("%s: only spec imports the YAML library", s.path)
				}
				continue
			}
			if strings.HasSuffix(ours, "test") && !strings.HasSuffix(s.folder, "test") {
				t.Errorf("%s: imports %s, which is for tests", s.path, ours)
			}
			if strings.HasPrefix(s.folder, "runtime/connector/") && strings.HasPrefix(ours, "runtime/connector/") {
				t.Errorf("%s: connectors never import each other (%s)", s.path, ours)
			}
			if !strings.HasSuffix(s.folder, "test") && ours != s.folder && !mayImport(s.folder, ours) {
				t.Errorf("%s: %s may not import %s", s.path, s.folder, ours)
			}
		}
	}
}

var exemption = regexp.MustCompile(`^//tidy:allow-(\S+) .{10,}`)

func exempt(doc *ast.CommentGroup, what string) bool {
	if doc == nil {
		return false
	}
	return slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		m := exemption.FindStringSubmatch(c.Text)
		return m != nil && m[1] == what
	})
}

func TestSizes(t *testing.T) {
	for _, s := range sources(t) {
		lines := bytes.Count(s.text, []byte("\n"))
		if lines > maxFileLines && !strings.HasSuffix(s.path, "_gen.go") {
			t.Errorf("%s: %d lines, at most %d", s.path, lines, maxFileLines)
		}
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			if n > maxFunctionLines && !exempt(fn.Doc, "long") {
				t.Errorf("%s: %s has %d lines, at most %d", s.path, fn.Name.Name, n, maxFunctionLines)
			}
			if p := fn.Type.Params.NumFields(); p > maxParams && !s.test && !exempt(fn.Doc, "params") {
				t.Errorf("%s: %s has %d parameters, at most %d", s.path, fn.Name.Name, p, maxParams)
			}
		}
	}
}

func TestHabits(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		in := func(list []string) bool {
			return slices.ContainsFunc(list, func(p string) bool {
				return s.folder == strings.TrimSuffix(p, "/") || strings.HasPrefix(s.folder+"/", strings.TrimSuffix(p, "/")+"/")
			})
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			at := func(format string, args ...any) {
				t.Errorf("%s: %s", s.fset.Position(n.Pos()), fmt.Sprintf(format, args...))
			}
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					at("no init functions")
				}
			case *ast.GoStmt:
				if !in(goroutineFolders) && !strings.HasSuffix(s.folder, "test") {
					at("no go statement outside flow, pipelines and connectors")
				}
			case *ast.StructType:
				for _, f := range n.Fields.List {
					if sel, ok := f.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Context" {
						at("no context in a struct")
					}
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since") && in(pureFolders) && !strings.HasSuffix(s.folder, "test") {
					at("no clock in %s", s.folder)
				}
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "os" && n.Sel.Name == "MkdirAll" && in(lastingFolders) {
					at("stores.MakeFolder, which a power cut does not take back")
				}
			}
			return true
		})
	}
}

func TestTodo(t *testing.T) {
	re := regexp.MustCompile(`\b(TODO|FIXME)\b(\(#\d+\))?`)
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "pipelines/tidy_test.go") {
			continue
		}
		for _, g := range s.file.Comments {
			if m := re.FindStringSubmatch(g.Text()); m != nil && m[2] == "" {
				t.Errorf("%s: %s needs an issue number", s.fset.Position(g.Pos()), m[1])
			}
		}
	}
}

// packages lists the folders with Go files that are not tests.
func packages(t *testing.T) []string {
	var out []string
	for _, s := range sources(t) {
		if !s.test && !slices.Contains(out, s.folder) {
			out = append(out, s.folder)
		}
	}
	slices.Sort(out)
	return out
}

func TestDocs(t *testing.T) {
	docs := map[string]int{}
	for _, s := range sources(t) {
		if path.Base(s.path) == "doc.go" && s.file.Doc != nil {
			docs[s.folder] = strings.Count(s.file.Doc.Text(), "\n")
		}
	}
	for _, p := range packages(t) {
		if n, ok := docs[p]; !ok {
			t.Errorf("%s: no doc.go with a package comment", p)
		} else if n < 5 || n > 45 {
			t.Errorf("%s: doc.go has %d lines, 5 to 45 wanted", p, n)
		}
	}
	if _, err := os.Stat("../runtime/doc.go"); err == nil {
		t.Error("runtime/ must hold no Go files")
	}
}

func TestReadmePackageMap(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "## Package map")
	if !ok {
		t.Fatal("README.md has no section \"Package map\"")
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|").FindAllStringSubmatch(section, -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	if have := packages(t); !slices.Equal(have, listed) {
		for _, p := range have {
			if !slices.Contains(listed, p) {
				t.Errorf("README's package map lacks %s", p)
			}
		}
		for _, p := range listed {
			if !slices.Contains(have, p) {
				t.Errorf("README's package map names %s, which is no package", p)
			}
		}
	}
}
