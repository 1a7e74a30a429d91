package sqlplan_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"pipelines/spec/diag"
	"pipelines/sqlplan"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/parse"
	"pipelines/tables/schema"
)

// fixture is a catalog that test files declare.
type fixture struct {
	tables  map[string]schema.Schema
	streams map[string]bool
	views   map[string]*sqlplan.View
}

func (f *fixture) Resolve(r sqlplan.Request) (sqlplan.Answer, error) {
	name := strings.ToLower(strings.Join(r.Parts, "."))
	if v := f.views[name]; v != nil {
		return sqlplan.Answer{View: v}, nil
	}
	if s, ok := f.tables[name]; ok && (f.streams[name] || !r.Stream) {
		rel := &logical.Relation{ID: name, Name: r.Parts, Schema: s, Streaming: r.Stream}
		return sqlplan.Answer{Relation: rel, Metadata: []schema.Field{{Name: "file_path", Type: schema.Of(schema.String)}}}, nil
	}
	nf := &sqlplan.NotFound{}
	for k := range f.tables {
		nf.Names = append(nf.Names, k)
	}
	sort.Strings(nf.Names)
	return sqlplan.Answer{}, nf
}

// TestData runs testdata/*: "table" and "view" declare, "bind" prints the plan
// before rewriting, "plan" after it, "rule" what one rule changes; errors are
// printed with their place.
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		cat := &fixture{map[string]schema.Schema{}, map[string]bool{}, map[string]*sqlplan.View{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return run(t, cat, d)
		})
	})
}

func run(t *testing.T, cat *fixture, d *datadriven.TestData) string {
	text := diag.NewText("q.sql", d.Input)
	opts := sqlplan.Options{Name: "t"}
	name, rule := "", ""
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "append", "update", "complete":
			opts.Mode = map[string]logical.OutputMode{"append": logical.Append, "update": logical.Update, "complete": logical.Complete}[a.Key]
		case "batch":
			opts.Wanted = sqlplan.Batch
		case "stream":
			opts.Wanted = sqlplan.Stream
		default:
			name, rule = strings.ToLower(a.Key), strings.TrimSpace(rule+" "+a.Key)
		}
	}
	switch d.Cmd {
	case "table":
		s, diags := sqlplan.ParseSchema(nil, text)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		cat.tables[name], cat.streams[name] = s, opts.Wanted == sqlplan.Stream
		return ""
	case "view":
		q, diags := parse.Query(text)
		if diags.HasErrors() {
			return report(diags)
		}
		cat.views[name] = &sqlplan.View{Name: []string{name}, Text: text, Query: q}
		return ""
	case "rule":
		out := ""
		opts.Trace = func(r string, before, after logical.Node) {
			if r == rule {
				out = "before\n" + logical.Explain(before) + "after\n" + logical.Explain(after)
			}
		}
		if _, diags := sqlplan.Compile(text, cat, opts); diags.HasErrors() {
			return report(diags)
		}
		return out
	}
	p, diags := sqlplan.Compile(text, cat, opts)
	if p == nil {
		return report(diags)
	}
	n := p.Node
	if d.Cmd == "bind" {
		n = p.Bound
	}
	return report(diags) + logical.Explain(n) + p.Schema.DDL() + "\n"
}

func report(diags diag.List) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%s [%s] %s-%s: %s\n", map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Info: "info"}[d.Severity], d.Code, d.Span.Start, d.Span.End, d.Message)
		if d.Hint != "" {
			b.WriteString("  hint: " + d.Hint + "\n")
		}
	}
	return b.String()
}
