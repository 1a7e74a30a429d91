// Package builtin lists what ships: formats, stores, sources and sinks. To add
// one, write its package and add one line to a list here.
//
// Reading order: formats.go, stores.go, connectors.go; table.go makes the
// connectors of the project's own tables.
//
// Invariants: this is the only package outside tests that imports concrete
// connectors, formats and stores. The lists are in the order in which they are
// shown; names are unique.
package builtin
