// Package rewrite changes a bound plan into an equal one that runs faster, and
// removes what operators cannot run (subqueries, lateral joins).
//
// Reading order: Run, Refine and Options (run.go), rules.go (the ordered list), then
// one file a rule. decorrelate is the only rule that must run; the others may
// be switched off. Late rules (Refine) look at what is known of the data, just
// before a plan runs.
//
// Invariants: after each rule the plan gives the same columns (names, types,
// ids); a rule that breaks this is a bug and panics. No rule evaluates an
// expression that can fail (logical.CanFail) on rows it was guarded from, and
// none repeats or moves a volatile one. What gets below a watermark or a join of
// streams is what Spark's optimiser would put there (streams.go): it decides how
// the watermark moves. Ids, watermarks and state of streaming
// operators, fixed by sqlplan/streaming, stay as they are.
package rewrite
