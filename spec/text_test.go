package spec

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"pipelines/spec/diag"
)

// checkMap demands that each character of a text stands at its place in the
// file, unless a fold, an escape or a substitution replaced it.
func checkMap(t testing.TB, text *diag.Text, exact bool) (approximate bool) {
	t.Helper()
	if text.Approximate() {
		if exact {
			t.Errorf("no exact map for %q", text.Body)
		}
		return true
	}
	src := text.File().Src
	for i, r := range text.Body {
		span := text.Span(diag.Range{Start: i, End: i + utf8.RuneLen(r)})
		got := src[span.Start.Offset:span.End.Offset]
		if got == string(r) || strings.HasPrefix(got, `\`) || strings.HasPrefix(got, "${") {
			continue
		}
		if (r == ' ' || r == '\n') && strings.TrimSpace(got) == "" || r == '\'' && got == "''" {
			continue
		}
		t.Fatalf("byte %d (%q) of %q maps to %q at %s", i, r, text.Body, got, span)
	}
	return false
}

func parseSQL(t testing.TB, doc string) *diag.Text {
	t.Helper()
	p, list := Parse("p.yml", []byte(doc), Options{})
	if false && list.HasErrors() {
		t.Fatalf("%s\n%s", doc, list.Render())
	}
	return p.Datasets[0].SQL
}

const head = "name: a\nstorage: b\nconfiguration: {t: orders_table, e: é}\nviews:\n"

func TestTextMaps(t *testing.T) {
	f := func(name, body, want string, exact bool) {
		t.Helper()
		text := parseSQL(t, head+body)
		if text.Body != want {
			t.Errorf("%s: body %q, want %q", name, text.Body, want)
		}
		checkMap(t, text, exact)
	}
	f("literal", "  - name: v\n    sql: |\n      SELECT a,\n        b -- é\n\n      FROM t\n", "SELECT a,\n  b -- é\n\nFROM t\n", true)
	f("literal strip", "  - name: v\n    sql: |-  # comment\n      SELECT a\n      FROM t\n\n", "SELECT a\nFROM t", true)
	f("literal keep", "  - name: v\n    sql: |+\n      SELECT a\n\n\n", "SELECT a\n\n\n", true)
	f("literal indent", "  - name: v\n    sql: |2\n        SELECT a\n      FROM t\n", "  SELECT a\nFROM t\n", true)
	f("literal anchor", "  - name: v\n    sql: &x |\n      SELECT a\n", "SELECT a\n", true)
	f("literal crlf", "  - name: v\r\n    sql: |\r\n      SELECT a\r\n      FROM t\r\n", "SELECT a\nFROM t\n", true)
	f("folded", "  - name: v\n    sql: >\n      SELECT a,\n      b\n\n      FROM t\n", "SELECT a, b\nFROM t\n", true)
	f("folded more", "  - name: v\n    sql: >-\n      SELECT a,\n        b\n      FROM t\n", "SELECT a,\n  b\nFROM t", true)
	f("plain", "  - name: v\n    sql: SELECT a FROM t\n", "SELECT a FROM t", true)
	f("plain lines", "  - name: v\n    sql: SELECT a\n      FROM t\n\n      WHERE b\n", "SELECT a FROM t\nWHERE b", true)
	f("double", "  - name: v\n    sql: \"SELECT '\\u00e9', \\\"q\\\" \\\n      FROM t\\n\"\n", "SELECT 'é', \"q\" FROM t\n", true)
	f("double lines", "  - name: v\n    sql: \"SELECT a,  \n      b\"\n", "SELECT a, b", true)
	f("single", "  - name: v\n    sql: 'SELECT ''x'' FROM t'\n", "SELECT 'x' FROM t", true)
	f("substituted", "  - name: v\n    sql: |\n      SELECT '${e}' AS é\n      FROM ${t} WHERE ${spark:t}.a\n", "SELECT 'é' AS é\nFROM orders_table WHERE orders_table.a\n", true)
	f("flow", "  - {name: v, sql: \"SELECT a, b FROM ${t}\"}\n", "SELECT a, b FROM orders_table", true)
	f("tag", "  - name: v\n    sql: !!str &a 'SELECT 1'\n", "SELECT 1", true)
	f("next line", "  - name: v\n    sql:\n      SELECT 1\n", "SELECT 1", true)
}

func TestSubstitutionPlaces(t *testing.T) {
	text := parseSQL(t, head+"  - name: v\n    sql: |\n      SELECT 1\n      FROM ${t} WHERE x\n")
	at := strings.Index(text.Body, "table")
	s := text.Span(diag.Range{Start: at, End: at + 5})
	if got := s.String(); got != "p.yml:8:12" || s.End.Column != 16 {
		t.Errorf("inside the value: %s to %d", got, s.End.Column)
	}
	at = strings.Index(text.Body, "x")
	if got := text.Span(diag.Range{Start: at, End: at + 1}).String(); got != "p.yml:8:23" {
		t.Errorf("behind the value: %s", got)
	}
}

// TestTextMapsRandom lets the YAML library write texts in all its styles and
// demands that the maps of what is read back are right.
func TestTextMapsRandom(t *testing.T) {
	styles := []yaml.Style{0, yaml.LiteralStyle, yaml.FoldedStyle, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle}
	pieces := []string{"SELECT ", "a", ",", "\n", "\n", "  ", "'x'", "\"q\"", "é", "日本", "\\", "${t}", "-- c", "\t", "FROM t", "; ", "(1)", "'", "word word word word word word word word word word "}
	approximate, all := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		sql := "x" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 30).Draw(rt, "pieces"), "") + "y"
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: sql, Style: rapid.SampledFrom(styles).Draw(rt, "style")}
		item := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Value: "name"}, {Kind: yaml.ScalarNode, Value: "v"},
			{Kind: yaml.ScalarNode, Value: "sql"}, n,
		}}
		out, err := yaml.Marshal(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}})
		if err != nil {
			rt.Fatal(err)
		}
		p, list := Parse("p.yml", []byte(head+"  "+strings.ReplaceAll(string(out), "\n", "\n  ")), Options{})
		if list.HasErrors() || p.Datasets[0].SQL == nil {
			rt.Fatalf("%s\n%v", out, list)
		}
		all++
		if checkMap(t, p.Datasets[0].SQL, false) {
			approximate++
		}
	})
	if approximate*10 > all {
		t.Errorf("%d of %d texts have no exact map", approximate, all)
	}
}
