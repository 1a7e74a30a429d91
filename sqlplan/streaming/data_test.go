package streaming_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"pipelines/spec/diag"
	"pipelines/sqlplan/bind"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/sqlplan/parse"
	"pipelines/sqlplan/streaming"
	"pipelines/tables/schema"
)

// tables gives e and f as streams (and as tables), d as a table only.
type tables struct{}

func field(name string, k schema.Kind) schema.Field {
	return schema.Field{Name: name, Type: schema.Of(k), Nullable: true}
}

func (tables) Resolve(r bind.Request) (bind.Answer, error) {
	name := strings.ToLower(r.Parts[0])
	s, ok := map[string]schema.Schema{
		"e": {Fields: []schema.Field{field("ts", schema.Timestamp), field("k", schema.String), field("v", schema.Int32)}},
		"f": {Fields: []schema.Field{field("ft", schema.Timestamp), field("k", schema.String)}},
		"d": {Fields: []schema.Field{field("k", schema.String), field("label", schema.String)}},
	}[name]
	if !ok || r.Stream && name == "d" {
		return bind.Answer{}, &bind.NotFound{}
	}
	return bind.Answer{Relation: &logical.Relation{ID: name, Name: r.Parts, Schema: s, Streaming: r.Stream}}, nil
}

var modes = map[string]logical.OutputMode{"append": logical.Append, "update": logical.Update, "complete": logical.Complete}

// TestData runs testdata/*: "check MODE" prints what is refused, or the
// warnings and the annotated plan. The comment above a case names the rule of
// reference/streaming-semantics.md.
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return check(t, d.Input, modes[d.CmdArgs[0].Key])
		})
	})
}

func check(t *testing.T, sql string, mode logical.OutputMode) string {
	t.Helper()
	text := diag.NewText("q.sql", sql)
	q, list := parse.Query(text)
	if list.HasErrors() {
		t.Fatal(list.Render())
	}
	n, list := bind.New(text, tables{}, bind.Options{Session: &funcs.Session{ANSI: true}}).Query(q)
	if n == nil {
		return "bind: " + list.Render()
	}
	n, list = streaming.Check(n, streaming.Options{Text: text, Place: text.Span(q.Range()), Mode: mode, Name: "t"})
	if list.HasErrors() {
		return list.Render()
	}
	return list.Render() + logical.Explain(n)
}

// TestIDs demands that the ids of state do not change with what leaves the
// meaning alone: aliases, further columns, conditions below.
func TestIDs(t *testing.T) {
	id := func(sql string) string {
		_, out, _ := strings.Cut(check(t, sql, logical.Append), " state ")
		out, _, _ = strings.Cut(out, " ")
		return out
	}
	base := id("SELECT k, count(*) AS n FROM STREAM(e) WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY k, ts")
	if base == "" {
		t.Fatal("no state")
	}
	for _, sql := range []string{
		"SELECT x.k AS other, count(*) AS m FROM STREAM(e) WATERMARK ts DELAY OF INTERVAL 1 MINUTE AS x GROUP BY x.k, ts",
		"SELECT k, count(*) AS n FROM STREAM(e) WATERMARK ts DELAY OF INTERVAL 1 MINUTE WHERE v > 1 GROUP BY k, ts",
		"SELECT upper(k), count(*) AS n FROM STREAM(e) WATERMARK ts DELAY OF INTERVAL 2 MINUTES GROUP BY k, ts HAVING count(*) > 1",
	} {
		if got := id(sql); got != base {
			t.Errorf("id %s, want %s: %s", got, base, sql)
		}
	}
	if id("SELECT v, count(*) AS n FROM STREAM(e) WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY v, ts") == base {
		t.Error("another key has the same id")
	}
}
