// Package connectortest is the contract that every source and sink keeps, as
// tests that a connector runs over itself.
//
// Reading order: SourceCase and Source (source.go), SinkCase and Sink
// (sink.go).
//
// What a source promises: a range of offsets gives the same rows for ever,
// also to another instance that has the ledger; ranges follow each other
// without gap or overlap; splits come in a fixed order; batch sizes, lanes and
// the choice of columns change nothing; what arrives after Pin waits for the
// next Pin.
//
// What a sink promises: nothing shows before Commit; a token commits in
// another process; an epoch that it holds is refused and changes nothing (if
// it knows epochs), or is repeated whole (if it does not); what crashed
// attempts left is cleaned; other applications are left alone.
package connectortest
