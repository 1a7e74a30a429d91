// Package graph holds who reads whom: the nodes of a project (sources, tables,
// views, sinks), the reads between them, their order, cycles, selections, and
// the forms in which a graph is shown.
//
// Reading order: Node and Graph (graph.go), Order and cycles (order.go),
// Select (select.go), Text, Mermaid, DOT and JSON (render.go).
//
// Invariants: nodes are found by their id, the lower-case full name, and keep
// the order in which they were added, which is the order of every output. The
// package knows no SQL and no spec; package pipelines fills it.
package graph
