// Package json turns JSON text into columns and columns into JSON text by
// Spark's rules. Formats, from_json, to_json and schema_of_json share it.
//
// Reading order: Options, Decoder (decoder.go: one record or a block of lines
// appended to vectors), node.go (the plan: one node a wanted value),
// nested.go and scalar.go (the conversions), scan.go (strings, numbers and
// blanks), Reprint, Inferrer, Encoder.
//
// How it is fast: the decoder is driven by the wanted schema; the key that
// followed the last time is compared first; what is not wanted is skipped in
// place, though validated; strings are scanned eight bytes at a time; values
// go straight into the vectors. Missing fields cost nothing: a node notes how
// many rows it holds and fills up with nulls when it is written next.
//
// Invariants: a decoder appends rows to the bound vectors only; a record with
// a syntax error leaves a row of nulls, a value that does not fit its type
// leaves that value null and the rest of the record intact (Spark's partial
// results). Text after the first value of a record is ignored. Texts must be
// UTF-8, else the record counts as malformed. Decoders, inferrers and
// encoders are single-threaded. No call allocates per row.
//
// The package imports only tables/{schema,column,text} and
// codec/{record,variant}.
package json
