package graph

import (
	"slices"

	"pipelines/spec/diag"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds.
const (
	Source Kind = iota
	StreamingTable
	MaterializedView
	TemporaryView
	PersistedView
	Sink
)

var kindNames = [...]string{"source", "streaming table", "materialized view", "temporary view", "view", "sink"}

func (k Kind) String() string { return kindNames[k] }

// IsTable reports nodes that hold rows of their own.
func (k Kind) IsTable() bool { return k == StreamingTable || k == MaterializedView }

// Node is one thing of the project.
type Node struct {
	ID    string // lower-case full name
	Name  string // as shown
	Kind  Kind
	Place diag.Span
	Flows []string // names of its flows, for showing

	reads []Read
	pos   int
}

// Read is an edge: the node reads From.
type Read struct {
	From   *Node
	Stream bool
	Place  diag.Span
}

// Reads lists what the node reads, in order of first mention.
func (n *Node) Reads() []Read { return n.reads }

// Graph is a set of nodes and their reads.
type Graph struct {
	nodes []*Node
	byID  map[string]*Node
}

// New returns an empty graph.
func New() *Graph { return &Graph{byID: map[string]*Node{}} }

// Add adds a node; a second one of the same id is not added and the first one
// is returned with false.
func (g *Graph) Add(n *Node) (*Node, bool) {
	if old, ok := g.byID[n.ID]; ok {
		return old, false
	}
	n.pos = len(g.nodes)
	g.nodes = append(g.nodes, n)
	g.byID[n.ID] = n
	return n, true
}

// Node returns the node of an id, or nil.
func (g *Graph) Node(id string) *Node { return g.byID[id] }

// Nodes lists the nodes in the order of adding.
func (g *Graph) Nodes() []*Node { return g.nodes }

// Link notes that reader reads from; a second mention of the same kind is not
// noted.
func (g *Graph) Link(reader, from *Node, stream bool, place diag.Span) {
	same := func(r Read) bool { return r.From == from && r.Stream == stream }
	if !slices.ContainsFunc(reader.reads, same) {
		reader.reads = append(reader.reads, Read{From: from, Stream: stream, Place: place})
	}
}

// Readers lists the nodes that read n directly.
func (g *Graph) Readers(n *Node) []*Node {
	var out []*Node
	for _, r := range g.nodes {
		if slices.ContainsFunc(r.reads, func(x Read) bool { return x.From == n }) {
			out = append(out, r)
		}
	}
	return out
}
