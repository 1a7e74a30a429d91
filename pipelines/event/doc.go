// Package event is the vocabulary in which an update tells users what happens:
// typed records, a Listener of callbacks that may be nil, Tee, and the JSON
// lines of the event log.
//
// Reading order: the records (event.go), Listener and Tee (listener.go), Log
// (log.go: JSON lines), Text (text.go: the lines people read).
//
// Invariants: lower floors know none of this; package pipelines translates
// their values. Listeners are called from one goroutine at a time and must not
// block for long. Times are UTC. Secrets never appear: records hold names,
// numbers and error texts only.
package event
