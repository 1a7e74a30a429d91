// Package table connects flows with tables of package tables: a stream of the
// rows that are appended, a table read whole at one version, and the sink that
// commits one epoch a version.
//
// Reading order: Reader (reader.go: a file and its partition columns), Stream
// (stream.go: offsets are version, file index), Sink (sink.go, writer.go).
//
// Invariants: the sink's commit carries the txn (application id, epoch), which
// alone tells whether an epoch is in the table. Staged files are named after
// both, so that what a crash leaves is found. A commit that takes rows away is
// never read as if nothing had happened: it is refused, skipped or read again,
// as the reader asked.
package table
