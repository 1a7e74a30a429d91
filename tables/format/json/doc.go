// Package json reads and writes files of JSON lines, or of one JSON value a
// file (multiLine), over tables/codec/json.
//
// Reading order: Format (the options), scanner, Infer, writer.
//
// Invariants: those of tables/format. A blank line gives no row, a top-level
// array one row per element. Only the wanted columns are decoded, so a record
// whose fault lies in another column counts as good, as in Spark.
package json
