// Package files reads folders, files and globs: as a stream that takes each
// file once, and whole. The format does the decoding; this package finds the
// files, remembers which were taken, and adds partition and metadata columns.
//
// Reading order: Options, Source (source.go), the listing (list.go), the
// ledger (ledger.go), the reader with its added columns (reader.go).
//
// Invariants: a file is identified by its path; it is taken once, in the order
// of (modification time, path). An epoch's files are fixed by the ledger
// entries written with its intent. A known name costs no stat and no database
// read. A file that changed after it was taken is said, never read again.
// Offsets are {"log":n}: the epoch's place in the ledger.
package files
