// Package csv turns CSV text into columns and columns into CSV text by Spark's
// rules (those of its univocity parser). Formats, from_csv, to_csv and
// schema_of_csv share it.
//
// Reading order: Options, tokens.go (a record into tokens), Decoder (tokens
// into vectors, modes, header), Inferrer, Encoder.
//
// The rules that surprise: a doubled quote inside quotes is no escape by
// default (the escape is a backslash); a quoted value with a stray quote is
// taken as it stands up to the next separator; text outside quotes is never
// trimmed on reading but always on writing; a record with too few or too many
// tokens is malformed, though its values are kept; in a file that is read
// whole (multiLine) the first line break says what ends all records.
//
// Invariants: every record gives one row, in order; a value that does not fit
// its type is null and makes the record malformed, the others are kept. No
// value holds a line break that stood outside quotes. Single-threaded; no call
// allocates per row.
//
// The package imports only tables/{schema,column,text} and codec/record.
package csv
