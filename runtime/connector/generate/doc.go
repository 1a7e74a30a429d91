// Package generate is a source that makes rows from their number, without any
// input: for tests, demos and benchmarks. The same row number always gives the
// same row.
//
// Reading order: Options, Source (source.go), the columns (columns.go).
//
// Invariants: row i of the stream is a function of i, the seed and the schema;
// offsets are {"row":n}. It reads no clock and does no I/O.
package generate
