package pipelines_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pipelines/pipelines"
	"pipelines/runtime/checkpoint"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
)

// exampleDocument and the rest are the example of docs/architecture.md.
const (
	exampleDocument = `name: shop
storage: ./state
libraries:
  - glob: {include: "*.sql"}
sources:
  - name: orders_raw
    format: json
    path: landing
    schema: "id BIGINT, item STRUCT<sku: STRING, qty: INT>, note STRING, amount DECIMAL(12,2)"
streaming_tables:
  - name: orders
    expectations:
      - {name: positive, expect: "amount > 0", on_violation: drop}
    sql: |
      SELECT id, upper(sku) AS sku, amount
      FROM (SELECT *, item.sku, item.qty FROM STREAM(orders_raw))
      WHERE qty >= 1 + 1
`
	exampleSQL = `CREATE MATERIALIZED VIEW by_sku AS
SELECT sku, sum(amount) AS total FROM orders GROUP BY sku;
`
	exampleData = `{"id": 1, "item": {"sku": "pen", "qty": 3}, "note": "gift", "amount": 4.50}
{"id": 2, "item": {"sku": "ink", "qty": 1}, "note": null, "amount": 12.00}
{"id": 3, "item": {"sku": "cup", "qty": 2}, "note": null, "amount": -1.00}
`
)

// changing is what differs from run to run in the printed parts.
var changing = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "…uuid…"},
	{regexp.MustCompile(`pipelines-[0-9a-f]{32}`), "pipelines-…id…"},
	{regexp.MustCompile(`\d{8}T\d{6}-[0-9a-f]{8}`), "20260105T090000-0a1b2c3d"},
	{regexp.MustCompile(`"20\d\d-\d\d-\d\dT[0-9:.]+Z"`), `"2026-01-05T09:00:00Z"`},
	{regexp.MustCompile(`\b1[7-9]\d{11}\b`), "1767603600000"},
	{regexp.MustCompile(`\b1[7-9]\d{14}\b`), "1767603600000000"},
	{regexp.MustCompile(`("[A-Za-z]*(?:PerSecond|DurationMs|Execution|getBatch|addBatch|latestOffset|walCommit|commitOffsets|queryPlanning|Ms)"):[0-9.]+`), "$1:1"},
	{regexp.MustCompile(`("numOutputBytes":)"\d+"`), `$1"1234"`},
	{regexp.MustCompile(`("size":)\d+`), "${1}1234"},
}

func fixed(s string) string {
	for _, c := range changing {
		s = c.re.ReplaceAllString(s, c.with)
	}
	return s
}

func box(kind, s string) string {
	return "```" + kind + "\n" + strings.TrimRight(s, "\n") + "\n```"
}

// exampleCatalog answers for the example's source.
type exampleCatalog struct{ relation *logical.Relation }

func (c exampleCatalog) Resolve(r sqlplan.Request) (sqlplan.Answer, error) {
	rel := *c.relation
	rel.Streaming = r.Stream
	return sqlplan.Answer{Relation: &rel}, nil
}

// example is the project of the page on disk.
type example struct {
	t        *testing.T
	bin, dir string
	parts    map[string]string
}

func (x *example) put(name, kind, text string) { x.parts[name] = box(kind, fixed(text)) }

func (x *example) file(name, text string) {
	p := filepath.Join(x.dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

// call runs the binary in the project and returns what it prints.
func (x *example) call(words ...string) string {
	cmd := exec.Command(x.bin, words...)
	cmd.Dir = x.dir
	out, _ := cmd.CombinedOutput() // findings exit with 2, and are what is shown
	return string(out)
}

func TestArchitecturePage(t *testing.T) {
	x := &example{t: t, bin: binary(t), dir: t.TempDir(), parts: map[string]string{}}
	x.file("pipeline.yml", exampleDocument)
	x.file("views.sql", exampleSQL)
	x.file("landing/monday.json", exampleData)
	x.put("document", "yaml", exampleDocument)
	x.put("sql", "sql", exampleSQL)
	x.put("data", "json", exampleData)
	x.spec()
	x.plans()
	x.put("graph", "text", x.call("graph"))
	x.put("select", "text", x.call("sql", "-c", "SELECT id, upper(item.sku) AS sku, amount FROM orders_raw WHERE item.qty >= 2"))
	x.run()

	text, err := os.ReadFile("../docs/parts/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`\{\{(\w+)\}\}`).ReplaceAllStringFunc(string(text), func(m string) string {
		part, ok := x.parts[strings.Trim(m, "{}")]
		if !ok {
			t.Errorf("no part %s", m)
		}
		return part
	})
	generated(t, "docs/architecture.md", page)
}

// spec prints places of values, a mistake, and the definitions of the SQL file.
func (x *example) spec() {
	p, list, err := spec.Load(x.dir, spec.Options{})
	if err != nil || list.HasErrors() {
		x.t.Fatal(err, list.Render())
	}
	d := p.Datasets[0]
	var b strings.Builder
	at := func(what string, s diag.Span) {
		fmt.Fprintf(&b, "%-34s %s:%d:%d\n", what, filepath.Base(s.File), s.Start.Line, s.Start.Column)
	}
	at("name "+d.Name.String(), d.Name.Span)
	at("expectation "+d.Expectations[0].Name.Value, d.Expectations[0].Name.Span)
	sql := d.SQL.Body
	at("first character of its SQL", d.SQL.Span(diag.Range{Start: 0, End: 1}))
	i := strings.Index(sql, "WHERE")
	at("WHERE, character "+fmt.Sprint(i)+" of its SQL", d.SQL.Span(diag.Range{Start: i, End: i + 5}))
	x.put("places", "text", b.String())

	x.file("pipeline.yml", strings.Replace(exampleDocument, "upper(sku)", "uper(sku)", 1))
	x.put("mistake", "text", x.call("validate"))
	x.file("pipeline.yml", exampleDocument)

	script, list := sqlplan.ParseScript(p.SQLFiles[0].Text, nil)
	if list.HasErrors() {
		x.t.Fatal(list.Render())
	}
	b.Reset()
	for _, def := range script.Definitions {
		at := def.Text.Span(def.At).Start
		fmt.Fprintf(&b, "%s at views.sql:%d:%d: materialized view: %t, with a query: %t\n", strings.Join(def.Name, "."), at.Line, at.Column, def.Kind == sqlplan.DefineMaterializedView, def.Query != nil)
	}
	x.put("definitions", "text", b.String())
}

// plans prints the bound plan of orders and what each rule made of it.
func (x *example) plans() {
	s, list := sqlplan.ParseSchema(nil, diag.NewText("schema", "id BIGINT, item STRUCT<sku: STRING, qty: INT>, note STRING, amount DECIMAL(12,2)"))
	if list.HasErrors() {
		x.t.Fatal(list.Render())
	}
	_, sql, _ := strings.Cut(exampleDocument, "sql: |\n")
	var steps strings.Builder
	last := ""
	plan, list := sqlplan.Compile(diag.NewText("orders", sql), exampleCatalog{&logical.Relation{ID: "source:orders_raw", Name: []string{"orders_raw"}, Schema: s}}, sqlplan.Options{
		Wanted: sqlplan.Stream, Name: "orders",
		Checks: []sqlplan.Check{{Name: "positive", Text: diag.NewText("expect", "amount > 0"), Action: logical.Drop}},
		Trace: func(rule string, _, after logical.Node) {
			if text := logical.Explain(after); text != last && last != "" {
				fmt.Fprintf(&steps, "-- %s\n%s\n", rule, text)
			}
			last = logical.Explain(after)
		},
	})
	if list.HasErrors() {
		x.t.Fatal(list.Render())
	}
	x.put("bound", "text", logical.Explain(plan.Bound))
	x.put("rewritten", "text", steps.String())
}

// run runs the project and prints what it left.
func (x *example) run() {
	ctx := context.Background()
	p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: x.dir})
	if err != nil || list.HasErrors() {
		x.t.Fatal(err, list.Render())
	}
	var borders []string
	res, list, err := p.Run(ctx, ctx, pipelines.RunOptions{Refresh: []string{"orders"}, Lanes: 1, At: func(point string) error {
		borders = append(borders, point)
		return nil
	}})
	if err != nil || list.HasErrors() || res.Failed() {
		x.t.Fatal(err, list.Render(), res)
	}
	x.put("borders", "text", strings.Join(borders, "\n"))
	x.put("commit", "json", x.read("state/tables/main/default/orders/_delta_log/00000000000000000001.json"))
	var events []string
	for _, line := range strings.Split(x.read("state/events/"+res.Update+".jsonl"), "\n") {
		if strings.Contains(line, `"progress"`) || strings.Contains(line, `"COMPLETED"`) {
			events = append(events, line)
		}
	}
	x.put("events", "json", strings.Join(events, "\n"))
	db, err := checkpoint.View(x.path("state/checkpoints/main/default/orders/orders/*/flow.db"))
	if err != nil {
		x.t.Fatal(err)
	}
	defer db.Close()
	snapshot, err := db.Load()
	if err != nil {
		x.t.Fatal(err)
	}
	intent, err := json.MarshalIndent(snapshot.Intent, "", "  ")
	if err != nil {
		x.t.Fatal(err)
	}
	x.put("checkpoint", "json", fmt.Sprintf("%s\nmarked: %d", intent, snapshot.Marked))
}

func (x *example) path(glob string) string {
	found, err := filepath.Glob(filepath.Join(x.dir, glob))
	if err != nil || len(found) != 1 {
		x.t.Fatalf("%s: %v %v", glob, found, err)
	}
	return found[0]
}

func (x *example) read(glob string) string {
	b, err := os.ReadFile(x.path(glob))
	if err != nil {
		x.t.Fatal(err)
	}
	return string(b)
}
