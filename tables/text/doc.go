// Package text turns text into values and values into text by Spark's rules:
// booleans, integers, floats, decimals, dates, timestamps, intervals, Java
// date-time patterns and zone names. It is the only place that does so; SQL
// casts, the JSON and CSV codecs and partition values share it.
//
// Reading order: Bool and the numbers (number.go), decimals as scaled
// column.Int128 (decimal.go, decimal_math.go, decimal_text.go), the proleptic
// Gregorian calendar (calendar.go), Zone (zone.go, zone_name.go), dates and
// timestamps in cast form (date.go, timestamp.go), Pattern (pattern*.go),
// intervals (interval*.go).
//
// Invariants: parsers take bytes and report ok or a status instead of an
// error, printers append to a buffer, none of them allocates (but for Compile
// and LoadZone). Timestamps are microseconds since 1970-01-01 UTC, local
// timestamps microseconds of the wall clock, dates days since 1970-01-01.
// Everything here is immutable or a function and safe for concurrent use.
// No function reads the clock: what depends on it takes the instant.
//
// The package imports only tables/schema and tables/column.
package text
