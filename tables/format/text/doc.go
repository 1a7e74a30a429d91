// Package text reads and writes files of plain lines: one column "value".
//
// Reading order: Format (the options), scanner, writer.
//
// Invariants: those of tables/format. Every line gives a row, empty ones too;
// with wholeText a file is one row. Bytes are kept as they are.
package text
