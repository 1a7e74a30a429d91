// Package column holds data in memory: typed vectors over plain Go slices,
// batches of them, and the pool that recycles both.
//
// Reading order: Bits, Vector (one column of one batch), Errors (rows whose
// value could not be computed), Batch (columns, selection, change column),
// Pool (recycling and the accounting that tests read).
//
// Lending rules (DESIGN §5):
//   - A vector is immutable once it is part of a batch. Only its maker writes
//     it, before handing it on.
//   - Vectors and batches are counted. Who makes one holds one reference.
//     A batch holds one reference on each of its columns. A batch is lent for
//     the duration of Push; who keeps it longer calls Retain, and the last
//     Release gives everything back to the pool.
//   - A selection belongs to the batch header: a filter makes a new header
//     over retained columns. Crossing a queue moves the reference.
//   - Vectors without a pool (literals of a plan) are never recycled.
//
// Values at rows that are not selected, and at rows that are null, are
// unspecified but always safe to read. A row in Errs is also null. Where a
// struct row is null, the same row of each child is null too, so that reading
// a field needs no look at the parent.
//
// Retain and Release are safe from any goroutine; everything else is
// single-threaded. The package imports only tables/schema.
package column
