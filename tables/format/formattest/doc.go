// Package formattest is the contract suite of formats, for tests only.
//
// Reading order: Case and Run (the suite), Object (bytes as a file), Read and
// Show (rows as text, to compare); Spark (files with what a real Spark read
// from them, which spark.py fills in).
//
// The suite reads a file with batches of 1, 7 and 2,048 rows and demands the
// same rows in the same order; each column alone, all reversed and no column
// at all; the file compressed with gzip (in one and in two members) and zstd;
// no vector or batch left over in the pool; and what a writer wrote read back.
package formattest
