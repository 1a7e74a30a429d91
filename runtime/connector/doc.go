// Package connector is the contract between a flow and the outside: sources
// that are read by offset ranges, bounded relations that are read whole, and
// sinks that take one epoch at a time.
//
// Reading order: Split and Reader, Source, Bounded, Sink and Epoch.
//
// Invariants: for a source, the same range gives the same rows in the same
// order of splits, also after a restart, or an error that says why not. A sink
// shows an epoch's rows only after Commit, all at once, and Commit with a
// token that it has seen already changes nothing. Rows are never lost without
// a count. Connectors never import each other.
package connector
