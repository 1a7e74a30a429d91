// Command tpch writes tables like those of TPC-H as CSV files with a header:
// the same names, columns, key ranges, value ranges and sizes for a scale,
// with texts of its own. `make bench-program` measures SQL with them.
//
// Reading order: main.go (flags, files), rows.go (the row with a number of each
// table), rng.go.
//
// Invariants: a table is a pure function of seed and scale; the checksums of a
// small scale stand in a test.
package main
