// Package csv reads and writes CSV files over tables/codec/csv.
//
// Reading order: Format (the options), scanner, Infer, writer.
//
// Invariants: those of tables/format. Columns are matched by place; a header
// is skipped, or compared with enforceSchema=false. Blank lines and comments
// give no row. With multiLine the whole file is held in memory.
package csv
