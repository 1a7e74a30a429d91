// Package table connects flows with tables of package tables: a stream of the
// rows that are appended, a table read whole at one version, the sink that
// commits one epoch a version, and the sink that replaces rows by key (AUTO CDC,
// upsert).
//
// Reading order: Reader (reader.go: a file and its partition columns), Stream
// (stream.go: offsets are version, file index), Sink (sink.go, writer.go), Keyed
// (keyed.go: options; keyedepoch.go: one epoch; keyedrows.go: its rows by key;
// keyedmemory.go: what they hold of the budget; keyedfold.go: what changes make of a key's rows; keyedstate.go and
// keyedexpire.go: the changes that are remembered; keyedcommit.go: rows that go
// leave their files).
//
// Invariants: the sink's commit carries the txn (application id, epoch), which
// alone tells whether an epoch is in the table. Staged files are named after
// both, so that what a crash leaves is found. A commit that takes rows away is
// never read as if nothing had happened: it is refused, skipped or read again,
// as the reader asked. What Keyed stages does not depend on the table, only on
// the changes and its state; the table is looked at when the epoch commits.
package table
