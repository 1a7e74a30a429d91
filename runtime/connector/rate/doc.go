// Package rate is Spark's rate source: rows (timestamp, value) at a fixed
// number a second, by the clock that is handed in.
//
// Reading order: Options, Source.
//
// Invariants: value counts from 0; the rows of second n are fixed by
// rowsPerSecond and the time of the first start, which the ledger keeps, so
// that an epoch that is run again gives the same rows. Offsets are
// {"second":n}, seconds since that start.
package rate
