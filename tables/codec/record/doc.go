// Package record is what the codecs of records, one text a row, share: the
// options that JSON and CSV have in common, the error of a malformed record
// and the counts.
//
// Reading order: Options (with Set), Mode, OptionError; Error and Stats.
//
// Invariants: options are read by Spark's names in lower case, and what Spark
// takes but a codec does not do is an error, never ignored. It may be imported
// by codecs, formats and SQL functions.
package record
