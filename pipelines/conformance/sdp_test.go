package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// sdpCase is a project of docs/integration/sdp.py with what Spark's Declarative
// Pipelines made of it.
type sdpCase struct {
	Name     string
	Document string
	Spec     map[string]any
	Files    map[string]*string
	Sources  map[string]string
	Steps    []sdpStep
}

type sdpStep struct {
	Args  []string
	Spec  map[string]any
	Files map[string]*string // null removes
	In    map[string][][]any
	Drop  []string
	Want  struct {
		OK      bool
		Classes []string
		Tables  map[string]sdpTable
	}
}

type sdpTable struct {
	Columns [][2]string
	Rows    [][]any
}

// sdpProject is a case in its folder.
type sdpProject struct {
	project
	c *sdpCase
}

func (p *sdpProject) put(name string, text *string) {
	p.t.Helper()
	path := filepath.Join(p.work, name)
	if text == nil {
		if err := os.RemoveAll(path); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(*text, "@DIR@", p.work)), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// prepare makes the folder as it is before step i.
func (p *sdpProject) prepare(i int) {
	c, s := p.c, &p.c.Steps[i]
	doc := map[string]any{"name": "case", "storage": "./state", "libraries": []any{map[string]any{"glob": map[string]any{"include": "t/**"}}}}
	maps.Copy(doc, c.Spec)
	maps.Copy(doc, s.Spec)
	p.spec = "spark-pipeline.yml"
	if len(c.Sources) > 0 {
		p.spec = "pipeline.yml"
		var sources []any
		for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
			sources = append(sources, map[string]any{"name": name, "format": "json", "path": "in/" + name, "schema": c.Sources[name]})
			if err := os.MkdirAll(filepath.Join(p.work, "in", name), 0o755); err != nil {
				p.t.Fatal(err)
			}
		}
		doc["sources"] = sources
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		p.t.Fatal(err)
	}
	out := string(text)
	if c.Document != "" {
		out = strings.ReplaceAll(c.Document, "file:///tmp/", "file://"+p.work+"/")
	}
	p.put(p.spec, &out)
	if i == 0 {
		p.putAll(c.Files)
	}
	p.putAll(s.Files)
	for name, rows := range s.In {
		p.input(name, i, rows)
	}
	for _, name := range s.Drop {
		p.put("state/tables/main/"+strings.ReplaceAll(name, ".", "/"), nil)
	}
}

func (p *sdpProject) putAll(files map[string]*string) {
	for name, text := range files {
		p.put(name, text)
	}
}

func (p *sdpProject) input(name string, i int, rows [][]any) {
	var b strings.Builder
	columns := splitTop(p.c.Sources[name])
	for _, r := range rows {
		row := map[string]any{}
		for k, v := range r {
			column, _, _ := strings.Cut(columns[k], " ")
			row[column] = v
		}
		line, err := json.Marshal(row)
		if err != nil {
			p.t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	text := b.String()
	p.put(fmt.Sprintf("in/%s/b%04d.json", name, i), &text)
}

// step runs step i and says how it differs from Spark's.
func (p *sdpProject) step(i int) string {
	s := &p.c.Steps[i]
	said, refused := p.call(s.Args)
	later := p.c.Steps[i+1:]
	switch {
	case s.Want.OK && said != "" && s.Args[0] == "dry-run" && slices.ContainsFunc(later, func(x sdpStep) bool { return !x.Want.OK }):
		return "" // refused already at dry-run what Spark only notices in the run
	case s.Want.OK != (said == ""):
		return fmt.Sprintf("Spark's success is %v: %s", s.Want.OK, said)
	case !s.Want.OK:
		for _, class := range s.Want.Classes {
			if !strings.Contains(said, class) {
				return fmt.Sprintf("class %s is not in: %s", class, said)
			}
		}
	}
	if refused {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(s.Want.Tables)) {
		if why := p.same(name, s.Want.Tables[name]); why != "" {
			return why
		}
	}
	return ""
}

func (p *sdpProject) same(name string, want sdpTable) string {
	got, why := p.table("`" + strings.ReplaceAll(name, ".", "`.`") + "`")
	if got == nil {
		return "table " + name + " cannot be read: " + why
	}
	var columns [][2]string
	for _, c := range got.Columns {
		columns = append(columns, [2]string{c.Name, strings.ToLower(c.Type)})
	}
	if !slices.Equal(columns, want.Columns) {
		return fmt.Sprintf("table %s: columns %v, want %v", name, columns, want.Columns)
	}
	rows := func(all [][]any) []string {
		out := []string{}
		for _, r := range all {
			out = append(out, canonical(r))
		}
		slices.Sort(out)
		return out
	}
	if a, b := rows(got.Rows), rows(want.Rows); !slices.Equal(a, b) {
		return fmt.Sprintf("table %s: got %v, want %v", name, a, b)
	}
	return ""
}

// Whole projects as Spark's Declarative Pipelines ran them: names, references,
// faults with their classes, tables after each run.
func TestSDP(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "sdp.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for line := range bytes.Lines(text) {
		var c sdpCase
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		cases++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := &sdpProject{project: project{t: t, work: t.TempDir()}, c: &c}
			for i := range c.Steps {
				p.prepare(i)
				if why := p.step(i); why != "" {
					t.Fatalf("step %d (%s): %s", i+1, strings.Join(c.Steps[i].Args, " "), why)
				}
			}
		})
	}
	if cases < 200 {
		t.Errorf("%d cases", cases)
	}
}
