package graph

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Text shows the graph as an indented list: each node in order, with what it
// reads.
func (g *Graph) Text() string {
	var b strings.Builder
	for _, n := range g.Order() {
		fmt.Fprintf(&b, "%s (%s)\n", n.Name, n.Kind)
		for _, r := range n.reads {
			how := "reads"
			if r.Stream {
				how = "streams"
			}
			fmt.Fprintf(&b, "  %s %s\n", how, r.From.Name)
		}
	}
	return b.String()
}

// Mermaid shows the graph as a Mermaid flowchart: thick arrows are streams.
func (g *Graph) Mermaid() string {
	shapes := [...][2]string{Source: {"[/", "/]"}, StreamingTable: {"[(", ")]"}, MaterializedView: {"[", "]"}, TemporaryView: {"(", ")"}, PersistedView: {"([", "])"}, Sink: {"[\\", "\\]"}}
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	order := g.Order()
	for _, n := range order {
		s := shapes[n.Kind]
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", n.pos, s[0], escape(n.Name), s[1])
	}
	for _, n := range order {
		for _, r := range n.reads {
			arrow := "-->"
			if r.Stream {
				arrow = "==>"
			}
			fmt.Fprintf(&b, "  n%d %s n%d\n", r.From.pos, arrow, n.pos)
		}
	}
	return b.String()
}

// escape keeps names from ending a quoted label or from being taken as markup.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// DOT shows the graph for Graphviz: bold edges are streams.
func (g *Graph) DOT() string {
	shapes := [...]string{Source: "parallelogram", StreamingTable: "cylinder", MaterializedView: "box", TemporaryView: "oval", PersistedView: "oval", Sink: "invhouse"}
	var b strings.Builder
	b.WriteString("digraph pipeline {\n  rankdir=LR;\n")
	order := g.Order()
	for _, n := range order {
		fmt.Fprintf(&b, "  n%d [label=%q, shape=%s];\n", n.pos, n.Name, shapes[n.Kind])
	}
	for _, n := range order {
		for _, r := range n.reads {
			style := ""
			if r.Stream {
				style = " [style=bold]"
			}
			fmt.Fprintf(&b, "  n%d -> n%d%s;\n", r.From.pos, n.pos, style)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// JSON shows the graph as one document.
func (g *Graph) JSON() ([]byte, error) {
	type read struct {
		From   string `json:"from"`
		Stream bool   `json:"stream"`
	}
	type node struct {
		Name  string   `json:"name"`
		Kind  string   `json:"kind"`
		File  string   `json:"file,omitempty"`
		Line  int      `json:"line,omitempty"`
		Flows []string `json:"flows,omitempty"`
		Reads []read   `json:"reads"`
	}
	doc := struct {
		Schema int    `json:"schema"`
		Nodes  []node `json:"nodes"`
	}{Schema: 1, Nodes: []node{}}
	for _, n := range g.Order() {
		d := node{Name: n.Name, Kind: n.Kind.String(), File: n.Place.File, Line: n.Place.Start.Line, Flows: n.Flows, Reads: []read{}}
		for _, r := range n.reads {
			d.Reads = append(d.Reads, read{r.From.Name, r.Stream})
		}
		doc.Nodes = append(doc.Nodes, d)
	}
	return json.MarshalIndent(doc, "", "  ")
}
