// Package state keeps the state of a flow's operators in files beside its
// checkpoint: a changelog an epoch, and now and then a snapshot, so that an
// epoch costs in proportion to the keys that it changed.
//
// Reading order: Changes (changes.go: by key group, sorted as they are written),
// entry order and file format (file.go: Writer, Reader), files of so many changes
// that who writes them neither holds nor sorts them (loose.go), what goes by itself
// (scope.go: Scope, Prune), Merge (merge.go: a tree of losers), how a chain is read
// without it (restore.go), Store (store.go: what a flow calls), Compaction
// (compact.go: a pure decision), files that are written over (spare.go).
//
// A state is a chain of files, oldest first; of several entries for one key
// the newest counts. The chain is what the checkpoint's record of an epoch
// names, by Ref: small ones stand in the checkpoint itself (Inline), and a file
// that no record names does not exist and is removed by Retain. Files are
// written once, synced, and never changed.
//
// What the watermark takes is not listed key by key: a file says up to which
// time an operator's entries have gone (Scope), and a file of which all has
// gone is dropped without being read (Prune).
//
// Invariants: keys and values are opaque bytes; the first byte of a key is its
// key group, so a file is sorted by operator, key group and key (a loose one not by
// key, which its reader does group by group). Every block carries a checksum and a
// Ref the checksum of the whole, so damaged, cut or swapped files are refused,
// never read as less state.
//
// runtime/flow imports it. It imports stores for folders.
package state
