package graph

import (
	"fmt"
	"strings"
	"testing"

	"pipelines/spec/diag"
)

// build makes a graph from "reader: from from" lines.
func build(t *testing.T, text string) *Graph {
	t.Helper()
	g := New()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, l := range lines {
		name, _, _ := strings.Cut(l, ":")
		g.Add(&Node{ID: strings.TrimSpace(name), Name: strings.TrimSpace(name), Kind: StreamingTable})
	}
	for _, l := range lines {
		name, rest, _ := strings.Cut(l, ":")
		for _, from := range strings.Fields(rest) {
			g.Link(g.Node(strings.TrimSpace(name)), g.Node(from), true, diag.Span{})
		}
	}
	return g
}

func names(ns []*Node) string {
	var out []string
	for _, n := range ns {
		out = append(out, n.Name)
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := names(build(t, text).Order()); got != want {
			t.Errorf("order %q, want %q", got, want)
		}
	}
	f("c: b\nb: a\na:", "a b c")
	f("d: b c\nb: a\nc: a\na:", "a b c d")
	f("a: a\nb:", "b")
	f("a: b\nb: a\nc: a", "")
}

func TestCycles(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for _, c := range build(t, text).Cycles() {
			got = append(got, names(c))
		}
		if strings.Join(got, ";") != strings.Join(want, ";") {
			t.Errorf("cycles %q, want %q", got, want)
		}
	}
	f("a:\nb: a")
	f("a: a", "a")
	f("a: b\nb: c\nc: a\nd: a", "a b c")
	f("a: x\nx:\nb: c\nc: b", "b c")
}

func TestDeepChain(t *testing.T) {
	g := New()
	var last *Node
	for i := range 100_000 {
		n, _ := g.Add(&Node{ID: fmt.Sprint(i), Name: "n"})
		if last != nil {
			g.Link(n, last, false, diag.Span{})
		}
		last = n
	}
	if len(g.Cycles()) != 0 || len(g.Order()) != len(g.Nodes()) {
		t.Error("a chain has no cycle and a full order")
	}
}

func TestRenderEscapes(t *testing.T) {
	g := New()
	g.Add(&Node{ID: "a", Name: `<script>"a"&`, Kind: Sink})
	if out := g.Mermaid(); strings.Contains(out, "<script>") {
		t.Errorf("mermaid holds markup:\n%s", out)
	}
}
