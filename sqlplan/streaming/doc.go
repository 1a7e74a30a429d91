// Package streaming decides what a query may do over streams: it refuses what
// is not legal in the output mode, with Spark's error class, and fixes what
// the runtime must know about state before any rewriting.
//
// Reading order: Check and Options (check.go: the walk), modes.go (output
// modes), joins.go (sides, time bounds), state.go (ids and meaning of
// stateful operators).
//
// Invariants: the plan that comes back has a StateInfo on each stateful
// operator over a stream, TimeBounds on each stream-stream join, an ID on each
// Watermark; a batch plan comes back as it was. The rules are those of
// reference/streaming-semantics.md (numbers in comments).
package streaming
