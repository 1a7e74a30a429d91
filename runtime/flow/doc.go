// Package flow runs one flow: a plan, its sources and its sink, epoch by
// epoch, exactly once. It owns the goroutines of a flow.
//
// Reading order: Options and Execution (execution.go), the epoch (epoch.go), how
// it ends beside the next (beside.go), recovery (recover.go), what a checkpoint
// fits (changed.go), state in files (state.go), how their chain is kept short
// (renew.go), which scans share a read (scan.go), the reading of splits by lanes (read.go), watermarks
// (watermark.go), bounded queries (bounded.go).
//
// One epoch: plan end offsets → intent → read and push by lane → end the step →
// prepare (files of sink and state synced, one checkpoint transaction) → sink
// commit → mark (with the next intent). Recovery decides by checkpoint.Decide.
// From "prepare" on an epoch with much state, for whose changes there is memory,
// runs beside the reading of the next, whose intent waits for the commit.
//
// Invariants: nothing is visible before it is prepared; an epoch that was
// planned is either committed or run again with the same offsets, wall time
// and watermarks; the decision depends on what is found, never on timing.
package flow
