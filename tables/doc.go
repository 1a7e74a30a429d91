// Package tables has tables as their users see them: files with a schema,
// under versions that are committed one after the other. The log underneath is
// Delta's (package commitlog); the rows are the business of package format.
//
// Reading order: Open and Create, Table, Snapshot (a version and its files),
// Transaction (the next version), Table.Changes (what each version added and
// removed, for readers that follow the table), file.go (names of data files),
// orphan.go (what a dead writer left).
//
// Invariants: a Snapshot never changes. Committing is one atomic step; a lost
// race is retried where the outcome is the same in either order and is a
// *ConflictError else. A transaction that carries a txn is committed once
// only, whoever repeats it. Files of a version have a stable order: of
// Changes, that of the commit; of a Snapshot, by modification time and path.
// A Table follows its log by reading the commits it does not know, nothing
// else.
//
// Tables are safe for concurrent use, transactions are not. The package starts
// no goroutines.
package tables
