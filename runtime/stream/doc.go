// Package stream has the words that operators, sources, sinks and flows share:
// epochs, steps, watermarks, offsets.
//
// Reading order: Step (what is constant while rows are pushed), Watermarks,
// Offset.
//
// Invariants: an epoch is what is committed; it is made of steps, and the
// watermarks are constant inside a step. Times are microseconds since
// 1970-01-01 UTC. The package imports nothing of ours.
package stream
