// Package format is the contract between files and batches: how a format
// reads a file into columns, infers a schema, and writes columns to a file.
// Each format lives in a package of its own below and is listed in
// pipelines/builtin.
//
// Reading order: Format, Input, ReadSpec, Scanner; Writer, WriteSpec,
// FileStats; Term (predicate push-down).
//
// Invariants: a Scanner yields each record of the file once and in file
// order, in batches whose columns are ReadSpec.Columns in that order; the
// caller owns each batch. A record that cannot be decoded is handled by the
// format's mode option and counted, never silently lost. Push-down terms may
// skip rows that cannot match, never rows that may; the caller filters again.
// Scanners and writers are single-threaded and start no goroutines.
package format
