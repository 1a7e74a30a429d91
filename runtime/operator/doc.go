// Package operator turns a logical plan into physical operators and runs
// batches through them. It trusts the annotations that sqlplan/streaming put
// on the plan.
//
// Reading order: Env and Build (build.go: the list of operators), Plan (how a
// flow drives it), port and unit (plan.go: the contract of operators),
// exchange.go (how keyed operators are divided among lanes), table.go
// and key.go (keys and groups), rows.go and sortkey.go (kept rows), state.go
// (what a checkpoint sees), then one file an operator.
//
//	Begin(step) → Push(lane, scan, batch)… → EndScan(scan)… → EndStep()
//	                   → … operators … → Env.Output(lane, batch)
//
// A bounded query is one step with Bounded set; a micro-batch epoch is one
// step. Operators without state start anew in each step, so static inputs of a
// streaming plan are read again. All scans of a lower phase end before those
// of a higher one are pushed: build sides come first.
//
// Invariants: operators are pushed batches, start no goroutines, read no clock
// and never keep a lent batch. Stateless operators have one instance of their
// expressions a lane; keyed operators have one instance a lane behind an
// exchange by key group, others one behind a lock, so results do not depend on
// the number of lanes (the order of rows may). A failed row is a mark in a vector: it
// becomes a *RowError, or is dropped and counted, where its value is used.
// After an error, or to run a step again, the plan is thrown away and built
// anew from the checkpoint. Blocking operators refuse by name what does not
// fit into Env.Budget, or spill it to Env.TempDir: spill.go and spillparts.go
// (files and partitions), sortspill.go, tablespill.go, aggspill.go, joinspill.go;
// keyed state goes to sorted runs: cold.go, then the files named after it.
//
// runtime/flow imports it; it never imports a connector.
package operator
