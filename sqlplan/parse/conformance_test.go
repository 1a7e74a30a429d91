package parse

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"

	"pipelines/spec/diag"
	"pipelines/sqlplan/ast"
)

const conformance = "../../testdata/conformance"

// noSpans compares trees apart from places and from the text of constraints.
var noSpans = cmp.Options{cmpopts.IgnoreTypes(ast.Pos{}, diag.Range{}), cmpopts.EquateEmpty()}

// block is one statement of a conformance file.
type block struct {
	kind, sql, class string
	line             int
}

// blocks cuts a conformance file.
func blocks(t *testing.T, file string) []block {
	t.Helper()
	all := blocksOf(file)
	if len(all) == 0 {
		t.Fatalf("no blocks in %s", file)
	}
	return all
}

func blocksOf(file string) []block {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var all []block
	lines := strings.Split(string(b), "\n")
	for i := 0; i < len(lines); {
		kind, _, _ := strings.Cut(lines[i], " ")
		if kind != "query" && kind != "statement" && kind != "error" {
			i++
			continue
		}
		bl := block{kind: kind, line: i + 1}
		i++
		start := i
		for i < len(lines) && lines[i] != "----" && !(kind == "statement" && lines[i] == "") {
			i++
		}
		bl.sql = strings.Join(lines[start:i], "\n")
		if kind == "error" && i+1 < len(lines) {
			bl.class = lines[i+1]
		}
		for i < len(lines) && lines[i] != "" {
			i++
		}
		all = append(all, bl)
	}
	return all
}

// roundTrip prints statements and reads them again.
func roundTrip(t *testing.T, sql string, ss []ast.Statement) {
	t.Helper()
	for _, s := range ss {
		text := ast.String(s)
		again, errs := Statement(diag.NewText("printed", text))
		if errs.HasErrors() {
			t.Errorf("printed text does not parse\n sql: %s\n printed: %s\n error: %s", sql, text, errs[0].Message)
			continue
		}
		if d := cmp.Diff(s, again, noSpans); d != "" {
			t.Errorf("printed text reads differently\n sql: %s\n printed: %s\n%s", sql, text, d)
		}
		ast.Walk(s, func(ast.Node) bool { return true })
	}
}

func TestConformanceSQL(t *testing.T) {
	files, _ := filepath.Glob(conformance + "/sql/*.txt")
	if len(files) == 0 {
		t.Fatal("no conformance files")
	}
	for _, f := range files {
		for _, b := range blocks(t, f) {
			ss, errs := Statements(diag.NewText(filepath.Base(f), b.sql))
			if b.kind != "error" && errs.HasErrors() {
				t.Errorf("%s:%d: %s\n  %s", f, b.line, b.sql, errs[0].Message)
				continue
			}
			if !errs.HasErrors() {
				roundTrip(t, b.sql, ss)
				if b.kind == "error" && parserClasses[b.class] {
					if !boundLater.MatchString(b.sql) {
						t.Errorf("%s:%d: want error %s, got none\n  %s", f, b.line, b.class, b.sql)
					}
				}
				continue
			}
			if got := string(errs[0].Code); got != b.class && !strings.HasPrefix(b.class, "_LEGACY") {
				t.Errorf("%s:%d: want error %s, got %s\n  %s", f, b.line, b.class, got, b.sql)
			}
		}
	}
}

// boundLater matches texts whose fault the binder finds: schemas given as
// strings, and dates and timestamps.
var boundLater = regexp.MustCompile(`from_json|from_csv|variant_get|\b(DATE|TIMESTAMP|TIMESTAMP_NTZ|TIME) '`)

// parserClasses are the error classes that only a parser raises.
var parserClasses = map[string]bool{"PARSE_SYNTAX_ERROR": true, "INVALID_TYPED_LITERAL": true, "UNSUPPORTED_DATATYPE": true,
	"INVALID_NUMERIC_LITERAL_RANGE": true, "_LEGACY_ERROR_TEMP_0029": true, "_LEGACY_ERROR_TEMP_0026": true, "DUPLICATED_CTE_NAMES": true,
	"INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE": true}

func TestConformanceFiles(t *testing.T) {
	n := 0
	err := filepath.WalkDir(conformance, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".sql":
			n++
			check(t, path, string(b))
		case ".yml", ".yaml":
			for _, q := range yamlQueries(t, path, b) {
				n++
				if bytes.Contains(b, []byte(`error_class: "PARSE_SYNTAX_ERROR"`)) {
					if _, errs := Statements(diag.NewText(path, q)); !errs.HasErrors() {
						t.Errorf("%s: Spark's parser refuses this", path)
					}
					continue
				}
				check(t, path, q)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 200 {
		t.Errorf("only %d texts found", n)
	}
}

// yamlQueries returns the values of the keys query, then, and sql of a file.
func yamlQueries(t *testing.T, path string, b []byte) []string {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(b, &root); err != nil {
		return nil
	}
	var out []string
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				switch k, v := n.Content[i].Value, n.Content[i+1]; {
				case v.Kind == yaml.ScalarNode && (k == "query" || k == "then" || k == "sql"):
					out = append(out, v.Value)
				}
			}
		}
		for _, c := range n.Content {
			visit(c)
		}
	}
	visit(&root)
	return out
}

func check(t *testing.T, path, sql string) {
	t.Helper()
	if strings.Contains(path, "err_parse") || strings.Contains(sql, "${") {
		return
	}
	ss, errs := Statements(diag.NewText(path, sql))
	if errs.HasErrors() {
		t.Errorf("%s: %v\n  %s\n%s", path, errs[0].Span, errs[0].Message, sql)
		return
	}
	roundTrip(t, sql, ss)
}
