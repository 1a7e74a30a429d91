// Package operator turns a logical plan into physical operators and runs
// batches through them. It trusts the annotations that sqlplan/streaming put
// on the plan.
//
// Reading order: Env and Build (build.go), Plan (how a flow drives it),
// Operator (the contract between operators), then one file an operator.
//
// Invariants: operators are pushed batches, are single-threaded, start no
// goroutines, read no clock, and never keep a lent batch without Retain. A
// lane is a set of operator instances; keyed operators sit behind an exchange
// by key group, so that the number of lanes does not change results. Blocking
// operators reserve their memory from the budget and spill or refuse by name.
//
//	flow → Plan.Push(lane, scan, batch) → … operators … → Plan.Output(lane, batch)
//	flow → Plan.EndScan(scan) → build sides close
//	flow → Plan.EndStep(step) → eviction, emission, in topological order
package operator
