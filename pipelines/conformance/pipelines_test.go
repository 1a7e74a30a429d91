package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"pipelines/pipelines"
	"pipelines/pipelines/shell"
	"pipelines/spec/diag"
)

type pipelineCase struct {
	Native bool
	Steps  []pipelineStep
}

type pipelineStep struct {
	Copy        string
	CopyProject string `yaml:"copy_project"`
	CopyNative  string `yaml:"copy_native"`
	Args        []string
	ExpectExit  int    `yaml:"expect_exit"`
	ErrorClass  string `yaml:"expect_error_class"`
	Tables      map[string]string
}

// project is one case in its work folder.
type project struct {
	t      *testing.T
	folder string
	work   string
	spec   string
	native bool
}

func (p *project) copy(rule string) {
	p.t.Helper()
	if rule == "" {
		return
	}
	from, to, _ := strings.Cut(rule, "->")
	src := filepath.Join(p.folder, strings.TrimSpace(from))
	dst := filepath.Join(p.work, strings.TrimSpace(to))
	err := filepath.Walk(src, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(dst, strings.TrimPrefix(path, src))
		if info.IsDir() {
			return os.MkdirAll(at, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, text, 0o644)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// options reads the arguments of run and dry-run.
func options(t *testing.T, args []string) (o pipelines.RunOptions) {
	t.Helper()
	for i := 1; i < len(args); i++ {
		next := func() (names []string) {
			i++
			for name := range strings.SplitSeq(args[i], ",") {
				if name = strings.TrimSpace(name); name != "" {
					names = append(names, name)
				}
			}
			return names
		}
		switch args[i] {
		case "--refresh":
			o.Refresh = append(o.Refresh, next()...)
		case "--full-refresh":
			o.FullRefresh = append(o.FullRefresh, next()...)
		case "--full-refresh-all":
			o.FullRefreshAll = true
		default:
			t.Fatalf("argument %s", args[i])
		}
	}
	return o
}

// call runs a command; refused says that nothing ran.
func (p *project) call(args []string) (said string, refused bool) {
	ctx := context.Background()
	o := options(p.t, args)
	loaded, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: filepath.Join(p.work, p.spec)})
	if err != nil || list.HasErrors() || loaded == nil {
		return list.Render() + fmt.Sprint(err), true
	}
	if args[0] == "dry-run" {
		_, list, err := loaded.DryRun(ctx, o)
		if err != nil || list.HasErrors() {
			return list.Render() + fmt.Sprint(err), true
		}
		return "", false
	}
	if _, err := loaded.Pin(); err != nil {
		return err.Error(), true
	}
	o.Lanes = 1
	res, list, err := loaded.Run(ctx, ctx, o)
	if list.HasErrors() {
		return list.Render(), true
	}
	if err != nil {
		return err.Error(), false
	}
	for _, f := range res.Flows {
		if f.Err != nil {
			said += f.Flow + ": " + f.Err.Error() + "\n"
		}
	}
	return said, false
}

// table reads a table as the sql command does.
func (p *project) table(name string) (*queryResult, string) {
	ctx := context.Background()
	r, _, err := pipelines.OpenReader(ctx, pipelines.LoadOptions{Path: filepath.Join(p.work, p.spec)})
	if err != nil {
		return nil, err.Error()
	}
	s, err := shell.New(shell.Options{Reader: r, Lanes: 1, TempDir: p.t.TempDir()})
	if err != nil {
		return nil, err.Error()
	}
	text := diag.NewText("-c", "SELECT * FROM "+name)
	var buf bytes.Buffer
	out, err := shell.NewPrinter(shell.JSON, &buf, &buf)
	if err != nil {
		return nil, err.Error()
	}
	st := s.Parse(text)[0]
	out.Begin(1, 1, s.Settings())
	if f := s.Run(ctx, &st, text, out); f != nil {
		return nil, f.Error()
	}
	if err := out.End(nil); err != nil {
		return nil, err.Error()
	}
	var q queryResult
	d := json.NewDecoder(&buf)
	d.UseNumber()
	if err := d.Decode(&q); err != nil {
		return nil, err.Error()
	}
	return &q, ""
}

type queryResult struct {
	Columns []struct{ Name, Type string }
	Rows    [][]any
}

func splitTop(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '<' || c == '(':
			depth++
		case c == '>' || c == ')':
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}

var aliases = map[string]string{"INTEGER": "INT", "LONG": "BIGINT", "SHORT": "SMALLINT", "BYTE": "TINYINT", "REAL": "FLOAT"}

func typeKey(s string) string {
	s = regexp.MustCompile(`\s+`).ReplaceAllString(strings.ToUpper(s), "")
	return regexp.MustCompile(`[A-Z_]+`).ReplaceAllStringFunc(s, func(w string) string {
		if a, ok := aliases[w]; ok {
			return a
		}
		return w
	})
}

// canonical brings a value to a comparable text: numbers by value, the keys of
// maps and structs sorted and in lower case.
func canonical(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for k, x := range v {
			parts = append(parts, strings.ToLower(k)+":"+canonical(x))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, canonical(x))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return normal(v)
}

// compareTable says how a table differs from what Spark had.
func (p *project) compareTable(name, expected string) string {
	got, why := p.table(name)
	if expected == "absent" {
		if got != nil {
			return "table " + name + " should not exist"
		}
		return ""
	}
	if got == nil {
		return "table " + name + " cannot be read: " + why
	}
	base := filepath.Join(p.folder, strings.TrimSuffix(expected, ".jsonl"))
	ddl, err := os.ReadFile(base + ".schema")
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for i, c := range splitTop(strings.TrimSpace(string(ddl))) {
		n, typ, _ := strings.Cut(c, " ")
		names = append(names, n)
		if i >= len(got.Columns) || !strings.EqualFold(got.Columns[i].Name, n) || typeKey(got.Columns[i].Type) != typeKey(typ) {
			return fmt.Sprintf("table %s: columns %v, want %s", name, got.Columns, ddl)
		}
	}
	text, err := os.ReadFile(base + ".jsonl")
	if err != nil {
		p.t.Fatal(err)
	}
	var want, have []string
	for line := range strings.Lines(string(text)) {
		var row map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			p.t.Fatal(err)
		}
		values := make([]any, len(names))
		for i, n := range names {
			values[i] = row[n]
		}
		want = append(want, canonical(values))
	}
	for _, r := range got.Rows {
		have = append(have, canonical(r))
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		return fmt.Sprintf("table %s: want %v, got %v", name, want, have)
	}
	return ""
}

func (p *project) run(c *pipelineCase) string {
	for i, s := range c.Steps {
		p.copy(s.Copy)
		if p.native {
			p.copy(s.CopyNative)
		} else {
			p.copy(s.CopyProject)
		}
		said, refused := p.call(s.Args)
		failed := said != ""
		if s.Args[0] == "dry-run" && s.ExpectExit == 0 && failed && slices.ContainsFunc(c.Steps[i+1:], func(x pipelineStep) bool {
			return x.ErrorClass != "" && strings.Contains(said, x.ErrorClass)
		}) {
			continue // refused already at dry-run what Spark only notices in the run
		}
		if failed != (s.ExpectExit != 0) {
			return fmt.Sprintf("step %d: failed is %v: %s", i+1, failed, said)
		}
		if !strings.Contains(said, s.ErrorClass) {
			return fmt.Sprintf("step %d: error class %s is not in: %s", i+1, s.ErrorClass, said)
		}
		if s.ErrorClass != "" && refused {
			continue
		}
		for _, name := range sortedKeys(s.Tables) {
			if why := p.compareTable(name, s.Tables[name]); why != "" {
				return fmt.Sprintf("step %d: %s", i+1, why)
			}
		}
	}
	return ""
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func TestPipelines(t *testing.T) {
	open := openCases(t, "pipelines")
	for _, path := range files(t, "pipelines/*/case.yml") {
		folder := filepath.Dir(path)
		name := filepath.Base(folder)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var c pipelineCase
			if err := yaml.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			p := &project{t: t, folder: folder, work: t.TempDir(), spec: "spark-pipeline.yml"}
			from := "project"
			if _, err := os.Stat(filepath.Join(folder, "project-native")); err == nil {
				p.native, p.spec, from = true, "pipeline.yml", "project-native"
			}
			p.copy(from + " -> .")
			spec := filepath.Join(p.work, p.spec)
			if text, err = os.ReadFile(spec); err != nil {
				t.Fatal(err)
			}
			moved := regexp.MustCompile(`(?m)^storage: file:///tmp/\S*`).ReplaceAll(text, []byte("storage: file://"+p.work+"/state"))
			if err := os.WriteFile(spec, moved, 0o644); err != nil {
				t.Fatal(err)
			}
			judge(t, open, name, p.run(&c))
		})
	}
	t.Cleanup(func() { leftOver(t, open) })
}
