// Package console is the sink that writes one JSON line a row,
// {"epoch":0,"mode":"append","row":{…}}, to standard output or appended to a
// file (option path).
//
// Reading order: Options, Sink (sink.go).
//
// Invariants: an epoch's lines are written together when it commits; the
// prepared token is the epoch's text, so a crash before the commit loses
// nothing. The sink is at least once: a crash between the write and the mark
// repeats an epoch, and the lines carry the epoch to tell. All columns are
// written, nulls as null.
package console
