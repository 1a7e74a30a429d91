// Command nexmark writes the deterministic Nexmark events that `make bench`
// measures with: persons, auctions and bids as JSON lines.
//
// Reading order: Gen (gen.go: the event with number e), main (main.go: flags,
// files).
//
// Invariants: the same seed and number give the same bytes; the sums of the
// first 1,000 and 100,000 events stand in a test.
package main
