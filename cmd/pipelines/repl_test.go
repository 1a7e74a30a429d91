package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"pipelines/pipelines"
	"pipelines/pipelines/shell"
)

type typed struct {
	lines   []string
	prompts []string
}

func (t *typed) SetPrompt(p string) { t.prompts = append(t.prompts, p) }

func (t *typed) ReadLine() (string, error) {
	if len(t.lines) == 0 {
		return "", io.EOF
	}
	l := t.lines[0]
	t.lines = t.lines[1:]
	return l, nil
}

func TestPrompt(t *testing.T) {
	r, err := pipelines.BareReader(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shell.New(shell.Options{Reader: r})
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	p, err := shell.NewPrinter(shell.CSV, &out, &errs)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{stdout: &out, stderr: &errs}
	in := &typed{lines: []string{"", "SELECT 1", "AS a;", "SELECT nope;", "SELECT 2 AS b; SELECT 3 AS c;", "exit", "SELECT 4 AS d;"}}
	if err := a.prompt(in, s, p); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "a\n1\n\nb\n2\n\nc\n3\n" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(errs.String(), "UNRESOLVED_COLUMN") || a.code != 0 {
		t.Errorf("%q, code %d", errs.String(), a.code)
	}
	if in.prompts[1] != "  -> " {
		t.Errorf("%q", in.prompts)
	}
}

func TestComplete(t *testing.T) {
	words := []string{"orders", "order_items", "SELECT", "date_add", "date_sub"}
	for _, c := range []struct{ line, want string }{
		{"sel", "select"}, {"SEL", "SELECT"}, {"SELECT * FROM ord", "SELECT * FROM order"}, {"SELECT * FROM orders", ""}, {"SELECT date_a", "SELECT date_add"}, {"xyz", ""}, {"", ""}, {"a ", ""},
	} {
		got, pos, ok := complete(c.line, len(c.line), words)
		if got != c.want || ok != (c.want != "") || ok && pos != len(got) {
			t.Errorf("complete(%q) = %q, %d, %v", c.line, got, pos, ok)
		}
	}
	if got, pos, _ := complete("sel 1", 3, words); got != "select 1" || pos != 6 {
		t.Errorf("%q %d", got, pos)
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "history")
	h := &history{path: path}
	h.load()
	for _, l := range []string{"one;", "two;", "two;", " ", "three;"} {
		h.Add(l)
	}
	again := &history{path: path}
	again.load()
	if again.Len() != 3 || again.At(0) != "three;" || again.At(2) != "one;" {
		t.Errorf("%q", again.lines)
	}
}
