// Package catalog says which tables a storage folder holds, whose they are and
// where their data is, and keeps two runs of one pipeline apart.
//
// Reading order: Name (how names become paths), Record and Catalog (one JSON
// object a table, replaced atomically), Lock (one runner a pipeline), and
// ReplaceFile (status files that readers see whole).
//
// Invariants: names ignore case; two names that differ in case only are one
// record. A record is made only where there is none, and changed only by the
// pipeline that owns it. A lock is held by the kernel for a living process:
// what is left of a dead one never blocks. Readers take no lock.
//
// The package may be imported by runtime and pipelines.
package catalog
