// Package noop is the sink that takes rows and forgets them: for measuring a
// flow without a target. It is listed in pipelines/builtin under "noop".
//
// Reading order: Sink is all there is.
//
// Invariants: nothing is kept, nothing fails. The sink knows no epochs, so a
// flow into it is at least once, and its plan says so.
//
// It is imported by pipelines/builtin only.
package noop
