package spec

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"pipelines/spec/diag"
)

// The tests of this file are named by the case of known-failures.md that they
// hold.

func codesOf(list diag.List) string {
	var out []string
	for _, d := range list {
		out = append(out, string(d.Code))
	}
	return strings.Join(out, " ")
}

func TestB58DoubleKeys(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		_, list := Parse("p.yml", []byte("name: a\nstorage: b\n"+body), Options{})
		if got := codesOf(list); got != want {
			t.Errorf("%s\ngot %q, want %q", body, got, want)
		}
		for _, d := range list {
			if len(d.Related) != 1 || !d.Related[0].Span.IsValid() || d.Related[0].Span == d.Span {
				t.Errorf("both places are wanted: %s", diag.Render(d))
			}
		}
	}
	f("views: [{name: a, sql: 'SELECT 1'}]\nviews: [{name: b, sql: 'SELECT 1'}]\n", "DUPLICATE_KEY")
	f("views: [{name: a, sql: 'SELECT 1'}, {name: a, sql: 'SELECT 1'}]\n", "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT")
	f("views: [{name: a, sql: 'SELECT 1'}, {name: A, sql: 'SELECT 1'}]\n", "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT")
}

func TestB59AnchorsWithOverride(t *testing.T) {
	doc := "name: a\nstorage: b\nsources:\n  - &c {name: id, format: json, path: p, options: {mode: FAILFAST}}\n  - {<<: *c, name: other, options: {sep: ';'}}\n"
	p, list := Parse("p.yml", []byte(doc), Options{})
	if list != nil {
		t.Fatal(list.Render())
	}
	s := p.Sources[1]
	if s.Name.String() != "other" || s.Path.Value != "p" || len(s.Options) != 1 || s.Options[0].Name != "sep" {
		t.Errorf("%+v", s)
	}
}

func TestB60TextStaysText(t *testing.T) {
	for _, word := range []string{"no", "on", "y", "off", "NO", "2026-01-01", "12:30"} {
		doc := fmt.Sprintf("name: a\nstorage: b\nstreaming_tables:\n  - name: %s\n    sql: 'SELECT 1'\n    partitioned_by: [%s]\n    properties: {k: %s, on: x}\n", word, word, word)
		p, list := Parse("p.yml", []byte(doc), Options{})
		if list.HasErrors() {
			t.Errorf("%s: %s", word, list.Render())
			continue
		}
		d := p.Datasets[0]
		if d.Name.Parts[0] != word || d.PartitionedBy[0].Value != word || d.Properties[0].Value.Value != word || d.Properties[1].Key.Value != "on" {
			t.Errorf("%s became %+v", word, d)
		}
	}
	for _, word := range []string{"null", "~", "1.10", "true", "12", "1_000", "010"} {
		_, list := Parse("p.yml", []byte("name: "+word+"\nstorage: b\n"), Options{})
		if codesOf(list) != "WRONG_TYPE" || word != "null" && word != "~" && !strings.Contains(list[0].Hint, `quote it: "`+word+`"`) {
			t.Errorf("%s: %s", word, list.Render())
		}
	}
	for _, word := range []string{"no", "yes", "1", "'true'", "on"} {
		_, list := Parse("p.yml", []byte("name: a\nstorage: b\nflows: [{name: f, target: t, sql: 'SELECT 1', once: "+word+"}]\n"), Options{})
		if codesOf(list) != "WRONG_TYPE" {
			t.Errorf("once: %s: %s", word, list.Render())
		}
	}
}

func TestB61Bombs(t *testing.T) {
	f := func(name string, doc []byte) {
		t.Helper()
		start := time.Now()
		_, list := Parse("p.yml", doc, Options{})
		if d := time.Since(start); d > 15*time.Second { // a bomb takes minutes; a busy machine a second
			t.Errorf("%s took %v", name, d)
		}
		if c := codesOf(list); c != "DOCUMENT_TOO_LARGE" && c != "INVALID_YAML" {
			t.Errorf("%s: %q", name, c)
		}
	}
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9))
	}
	f("nine levels of nine aliases", []byte(bomb))
	f("20,000 brackets", bytes.Repeat([]byte("["), 20000))
	f("a scalar of 32 MB", append([]byte("name: "), bytes.Repeat([]byte("x"), 32<<20)...))
	f("an alias of itself", []byte("views: &a [*a]\n"))
}
