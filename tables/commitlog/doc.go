// Package commitlog is the Delta transaction log: ordered, versioned commits
// of actions, kept as files through stores.Store.
//
// Reading order: action.go (what a commit is made of), encode.go and decode.go
// (a commit as lines of JSON), Log (commits and checkpoints in a store),
// State (what the commits up to a version amount to), feature.go (the table of
// protocol features: what is read, written, refused by name), conflict.go
// (what a writer that lost a race may do: pure functions), check.go (schemas
// that a table can hold), stats.go and partition.go (values as the log writes
// them).
//
// Invariants: a commit is made by one put-if-absent and is immutable; a commit
// has one txn action for one application at most; a State is only moved
// forward, one version at a time, and Views of older versions stay valid while
// it moves; everything that is not understood and would change the meaning of
// a table is refused with its name. Files are listed only to find checkpoints:
// following a table costs one read a commit.
//
// The package may be imported by tables and tables/maintain.
package commitlog
