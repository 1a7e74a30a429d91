// Package parquet reads and writes Parquet files.
//
// Reading order: Format (options, the three entry points); writer.go (rows to
// row groups), tree.go (the schema as nodes), shred.go (nested values to
// levels), leaf.go and page.go (values to pages), bounds.go; scanner.go (row
// groups to batches), footer.go, filetree.go and logical.go (what the file
// holds), resolve.go (wanted columns on it), chunk.go and values.go (pages to
// values), emit*.go (physical values to vectors), assemble.go (levels to
// nested vectors), prune.go (row groups and pages that cannot match).
//
// The page codecs are our own, so that columns are written without a value
// object per cell and the bounds in footers are right for wide decimals and
// NaN; the footer structures, the rare encodings and the checks in tests are
// parquet-go's.
//
// Invariants: all columns are written optional (map keys excepted). Bounds in
// a file are exact or absent, except that those of long strings are cut
// outwards. Intervals, VARIANT and empty structs are refused; VOID columns are
// left out of the file and read as nulls. Whatever bytes a file holds, reading
// returns an error wrapped in stores.Corrupt rather than panics or allocates
// without bound. A failed Open, and Infer, leave the object open for the
// caller. Low-cardinality strings at the top level come as dictionary vectors.
package parquet
