// Package optest is the harness for operators: it runs a plan over rows of Go
// values and gives back rows, with the batch size, selections, constant and
// dictionary vectors, lanes and resume points that a test asks for. It checks
// what every plan owes: nothing leaks from the pool, batches fit the schema.
//
// Reading order: Columns (attributes and scans), Options and Run (run.go),
// Matrix (all variations of a plan must give the same rows).
//
// Only tests import it.
package optest
