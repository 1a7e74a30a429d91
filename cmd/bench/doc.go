// Command bench measures the product as a whole program: it makes Nexmark
// data with cmd/nexmark, writes projects, runs bin/pipelines on them, checks
// the answers, and prints user + system CPU seconds, wall time and the largest
// resident size of each run.
//
// Reading order: main.go (flags, data), workload.go (projects and answers),
// nexmark.go (the queries of testdata/nexmark), measure.go (one run of the
// binary), sql.go (SQL over Parquet beside DuckDB), spill.go (sorts and joins of
// more than memory holds).
//
// Invariants: a run whose answer is wrong is an error, never a figure. Rates
// are events per CPU second; "steady" is the difference of two sizes, which
// leaves the fixed cost of a process out.
package main
