package pipelines_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/doc"
	"math"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pipelines/pipelines/builtin"
	"pipelines/spec"
	"pipelines/spec/option"
	"pipelines/sqlplan/funcs"
)

// These tests hold the generated pages under docs/ fresh. `make docs` writes
// them anew (PIPELINES_REWRITE=1).

// generated compares a file below the root with what it should hold, or
// writes it.
func generated(t *testing.T, name, want string) {
	t.Helper()
	file := path.Join("..", name)
	if os.Getenv("PIPELINES_REWRITE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) == want {
		return
	}
	a, b := strings.Split(string(have), "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s is stale (run `make docs`), line %d:\n have %s\n want %s", name, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s is stale (run `make docs`): %d lines, %d wanted", name, len(a), len(b))
}

func TestSpecPage(t *testing.T) {
	generated(t, "docs/spec.md", `# Reference of pipeline.yml

Made from the declarations that the loader itself uses (`+"`make docs`"+`); `+"`pipelines schema`"+` prints the same as a JSON Schema for editors.
"Not available yet" means: known, checked, and refused with `+"`FEATURE_NOT_AVAILABLE`"+` and its place. Nothing is accepted and then ignored.
All paths are relative to the file. Durations are written as Spark's interval texts (`+"`10 seconds`"+`, `+"`5 minutes`"+`).

`+spec.KeysMarkdown()+optionTables())
}

// optionTables lists the options of all sources and sinks; those that every
// source of files has stand once.
func optionTables() string {
	var b strings.Builder
	section := func(title string, fields []option.Field) {
		b.WriteString("## " + title + "\n\n")
		if len(fields) == 0 {
			b.WriteString("None.\n\n")
			return
		}
		b.WriteString(option.NewSet(title, fields...).Markdown() + "\n")
	}
	b.WriteString("# Options of sources\n\nKey `options`, names ignore case; values are quoted texts. An unknown option is an error.\n\n")
	var common []option.Field
	own := map[string][]option.Field{}
	for _, f := range builtin.Sources() {
		own[f.Name] = f.Fields
	}
	for _, x := range own["text"] {
		has := func(y option.Field) bool { return y.Name == x.Name && y.Doc == x.Doc }
		if slices.ContainsFunc(own["json"], has) && slices.ContainsFunc(own["csv"], has) && slices.ContainsFunc(own["parquet"], has) {
			common = append(common, x)
		}
	}
	section("json, csv, parquet and text", common)
	for _, f := range builtin.Sources() {
		fields := slices.DeleteFunc(slices.Clone(f.Fields), func(x option.Field) bool {
			return slices.ContainsFunc(common, func(y option.Field) bool { return y.Name == x.Name && y.Doc == x.Doc })
		})
		section(f.Name, fields)
	}
	b.WriteString("# Options of sinks\n\n")
	for _, f := range builtin.Sinks() {
		section(f.Name, f.Fields)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cell escapes text for a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "|", `\|`) + "`" }

// functionRow is a line of the function tables.
type functionRow struct{ name, usage, doc, example, result string }

func functionTable(b *strings.Builder, rows []functionRow) {
	slices.SortFunc(rows, func(x, y functionRow) int { return strings.Compare(x.name, y.name) })
	b.WriteString("| call | does | example |\n| --- | --- | --- |\n")
	for _, r := range rows {
		usage := r.usage
		if usage == "" {
			usage = r.name + "(...)"
		}
		example := ""
		if r.example != "" {
			example = code(r.example)
			if r.result != "" {
				example += " → " + code(r.result)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", code(usage), cell(r.doc), example)
	}
	b.WriteByte('\n')
}

func named(name string) bool { return name != "" && name[0] >= 'a' && name[0] <= 'z' }

func aliases(doc string, names []string) string {
	var out []string
	for _, n := range names {
		if named(n) {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return doc
	}
	return strings.TrimSpace(doc + " Also: " + strings.Join(out, ", ") + ".")
}

func TestSQLPage(t *testing.T) {
	groups := map[string][]functionRow{}
	n := 0
	for _, f := range funcs.Scalars() {
		if !named(f.Name) {
			continue
		}
		g := f.Group
		if g == "" {
			g = "other"
		}
		groups[g] = append(groups[g], functionRow{f.Name, f.Usage, aliases(f.Doc, f.Aliases), f.Example, f.Result})
		n++
	}
	var aggregates, rows, windows []functionRow
	for _, f := range funcs.Aggregates() {
		if named(f.Name) {
			aggregates = append(aggregates, functionRow{f.Name, f.Usage, aliases(f.Doc, f.Aliases), f.Example, f.Result})
		}
	}
	for _, name := range funcs.Names() {
		if f := funcs.LookupGenerator(name); f != nil {
			rows = append(rows, functionRow{name, f.Usage, f.Doc, f.Example, f.Result})
		}
		if f := funcs.LookupWindow(name); f != nil {
			windows = append(windows, functionRow{name, f.Usage, f.Doc, f.Example, f.Result})
		}
	}
	var b strings.Builder
	intro, err := os.ReadFile("../docs/parts/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	b.Write(bytes.TrimSpace(intro))
	fmt.Fprintf(&b, "\n\n## Functions\n\n%d scalar functions, %d aggregates, %d window functions, %d that make rows. This part is made from the functions themselves (`make docs`).\n\n",
		n, len(aggregates), len(windows), len(rows))
	names := make([]string, 0, len(groups))
	for g := range groups {
		names = append(names, g)
	}
	slices.Sort(names)
	for _, g := range names {
		fmt.Fprintf(&b, "### %s\n\n", strings.ToUpper(g[:1])+g[1:])
		functionTable(&b, groups[g])
	}
	for _, part := range []struct {
		title string
		rows  []functionRow
	}{{"Aggregates", aggregates}, {"Window functions", windows}, {"Functions that make rows", rows}} {
		fmt.Fprintf(&b, "### %s\n\n", part.title)
		functionTable(&b, part.rows)
	}
	generated(t, "docs/sql.md", strings.TrimRight(b.String(), "\n")+"\n")
}

// TestPackageMap holds README's package map: one row a package, with the first
// sentence of its doc.go.
func TestPackageMap(t *testing.T) {
	var b strings.Builder
	b.WriteString("| folder | what |\n| --- | --- |\n")
	docs := map[string]string{}
	for _, s := range sources(t) {
		if path.Base(s.path) == "doc.go" && s.file.Doc != nil {
			docs[s.folder] = s.file.Doc.Text()
		}
	}
	var p doc.Package
	for _, folder := range packages(t) {
		text := p.Synopsis(docs[folder])
		for _, prefix := range []string{"Package " + path.Base(folder) + " ", "Command " + path.Base(folder) + " "} {
			text = strings.TrimPrefix(text, prefix)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", folder, cell(strings.TrimSuffix(text, ".")))
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const title = "## Package map\n\n"
	before, section, ok := strings.Cut(string(readme), title)
	if !ok {
		t.Fatal("README.md has no section \"Package map\"")
	}
	_, after, _ := strings.Cut(section, "\n\n")
	if after != "" {
		after = "\n" + after
	}
	generated(t, "README.md", before+title+b.String()+after)
}

// TestFunctionExamples runs the examples of docs/sql.md.
func TestFunctionExamples(t *testing.T) {
	type example struct{ name, sql, want string }
	var list []example
	for _, f := range funcs.Scalars() {
		if f.Example != "" && f.Result != "" {
			list = append(list, example{f.Name, f.Example, f.Result})
		}
	}
	for _, f := range funcs.Aggregates() {
		if f.Example != "" && f.Result != "" {
			list = append(list, example{f.Name, f.Example, f.Result})
		}
	}
	var script strings.Builder
	for _, e := range list {
		script.WriteString(strings.TrimSuffix(e.sql, ";") + ";\n")
	}
	cmd := exec.Command(binary(t), "sql", "--no-project", "--continue-on-error", "--output", "jsonstrings")
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.Output()
	if len(out) == 0 {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(list) {
		t.Fatalf("%d examples gave %d results", len(list), len(lines))
	}
	for i, line := range lines {
		var doc struct {
			Rows  [][]*string
			Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		got := string(doc.Error)
		if len(doc.Rows) > 0 && len(doc.Rows[0]) > 0 {
			if got = "NULL"; doc.Rows[0][0] != nil {
				got = *doc.Rows[0][0]
			}
		}
		if got != list[i].want && !lastDigit(got, list[i].want) {
			t.Errorf("%s: %s gives %s, the docs say %s", list[i].name, list[i].sql, got, list[i].want)
		}
	}
}

// lastDigit reports whether two texts are numbers that differ in the last
// binary digits only: the trigonometric functions of Go and of Java do.
func lastDigit(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && math.Abs(x-y) <= 4e-16*math.Abs(x)
}
