// Package spec turns a pipeline document (YAML) into a *Pipeline in which
// every value has its place, and a list of everything that is wrong with it.
//
// Reading order: Pipeline, Dataset, Flow, AutoCDC, Source, Sink (the model);
// Parse (bytes) and Load (a project on disk with its fragments and SQL files);
// keys.go, the one table of keys from which the strict walk, the docs and
// JSONSchema are made; later.go, the list of what is refused until its issue
// lands.
//
// SQL bodies, column lists and expressions are *diag.Text values that map each
// of their bytes into the YAML file, with ${key} already replaced from the
// configuration; spec itself knows no SQL. Secrets stay references.
//
// Invariants: nothing is accepted and ignored; all faults are reported in one
// pass, ordered by place; a fault in one value leaves that value unset and
// causes no further fault. Parse does no I/O and never panics. It imports
// nothing of ours but diag and option, and only spec imports the YAML library.
package spec
