package rewrite_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/parse"
	"pipelines/sqlplan/rewrite"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// tables is the catalog of the test files: e and d.
type tables struct{}

var schemas = map[string][]schema.Field{
	"e": {field("id", schema.Int32), field("k", schema.Int32), field("s", schema.String),
		{Name: "st", Type: schema.Type{Kind: schema.Struct, Fields: []schema.Field{field("p", schema.Int32), field("q", schema.String)}}, Nullable: true}},
	"d": {field("k", schema.Int32), field("t", schema.String)},
	"f": {field("k", schema.Int32), field("id", schema.Int32), field("x", schema.Float64)},
	"p": {field("day", schema.String), field("n", schema.Int32), field("x", schema.Float64)},
}

// facts are the sizes of the tables, and the files of p: two of one day, one of
// another in which all n are null.
var facts = logical.Facts{
	Bytes: func(relation string) int64 {
		return map[string]int64{"e": 200e6, "d": 4e6, "f": 900e6, "p": 1e6}[relation]
	},
	Files: func(relation string) []logical.FileFacts {
		if relation != "p" {
			return nil
		}
		file := func(day string, rows, nulls int64, low, high int32) logical.FileFacts {
			return logical.FileFacts{Rows: rows, Column: func(name string) logical.ColumnFacts {
				switch {
				case name == "day":
					return logical.ColumnFacts{Nulls: -1, Constant: column.Constant(schema.Of(schema.String), 1, day)}
				case name == "n" && nulls < rows:
					i32 := schema.Of(schema.Int32)
					return logical.ColumnFacts{Nulls: nulls, Min: column.Constant(i32, 1, low), Max: column.Constant(i32, 1, high)}
				case name == "n":
					return logical.ColumnFacts{Nulls: nulls}
				}
				return logical.ColumnFacts{Nulls: -1}
			}}
		}
		return []logical.FileFacts{file("2026-01-01", 10, 2, -5, 7), file("2026-01-01", 4, 0, 1, 9), file("2026-01-02", 3, 3, 0, 0)}
	},
}

func field(name string, k schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: schema.Of(k), Nullable: true}
}

func (tables) Resolve(r bind.Request) (bind.Answer, error) {
	f, ok := schemas[strings.ToLower(r.Parts[0])]
	if !ok {
		return bind.Answer{}, &bind.NotFound{}
	}
	return bind.Answer{Relation: &logical.Relation{ID: r.Parts[0], Name: r.Parts, Schema: schema.Schema{Fields: f}, Streaming: r.Stream}}, nil
}

// step is one rule at work.
type step struct{ rule, before, after string }

// steps binds and rewrites a query.
func steps(t *testing.T, sql string, off map[string]bool) ([]step, error) {
	t.Helper()
	text := diag.NewText("q.sql", sql)
	q, list := parse.Query(text)
	if list.HasErrors() {
		t.Fatal(list.Render())
	}
	var names []string
	for r := range off {
		names = append(names, r)
	}
	session := &funcs.Session{ANSI: true, Conf: map[string]string{rewrite.ExcludedRules: strings.Join(names, ", ")}}
	b := bind.New(text, tables{}, bind.Options{Session: session})
	n, list := b.Query(q)
	if n == nil {
		t.Fatal(list.Render())
	}
	var out []step
	opts := rewrite.Options{Session: session, FirstID: b.NextID(), Facts: facts, Trace: func(rule string, before, after logical.Node) {
		out = append(out, step{rule, logical.Explain(before), logical.Explain(after)})
	}}
	n, err := rewrite.Run(n, opts)
	if err == nil {
		rewrite.Refine(n, opts)
	}
	return out, err
}

// TestData runs testdata/*: "rule NAME" prints the plan before and after one
// rule, "plan" what all rules leave.
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			all, err := steps(t, d.Input, nil)
			if err != nil {
				return "refused: " + err.Error() + "\n"
			}
			if d.Cmd == "plan" {
				return all[len(all)-1].after
			}
			rule := ruleOf(d)
			for _, s := range all {
				if s.rule == rule {
					if s.before == s.after {
						return "nothing to do\n" + s.after
					}
					return "before\n" + s.before + "after\n" + s.after
				}
			}
			t.Fatalf("no rule %s", rule)
			return ""
		})
	})
}

// ruleOf is the name of a rule, which may be several words.
func ruleOf(d *datadriven.TestData) string {
	var words []string
	for _, a := range d.CmdArgs {
		words = append(words, a.Key)
	}
	return strings.Join(words, " ")
}

// TestRulesHaveCases demands that each rule changes something in some case of
// testdata/rules, and that a rule which is off does not run.
func TestRulesHaveCases(t *testing.T) {
	worked := map[string]bool{}
	datadriven.RunTest(t, "testdata/rules", func(t *testing.T, d *datadriven.TestData) string {
		all, err := steps(t, d.Input, nil)
		if err == nil {
			for _, s := range all {
				worked[s.rule] = worked[s.rule] || s.before != s.after
			}
		}
		return d.Expected
	})
	for _, r := range rewrite.Rules() {
		if !worked[r] {
			t.Errorf("no case in testdata/rules lets the rule %s do anything", r)
		}
	}
	all, err := steps(t, "SELECT 1 + 1", map[string]bool{"fold": true, "pushdown": true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.rule == "fold" {
			t.Error("fold ran although it is off")
		}
	}
	if len(all) != len(rewrite.Rules())-1 {
		t.Errorf("%d rules ran: those that operators need cannot be off", len(all))
	}
}
