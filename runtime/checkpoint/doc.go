// Package checkpoint keeps what a flow must remember between epochs: one bbolt
// file a flow and checkpoint version, with the identity, the intents, the
// prepared epochs, the marks, the sources' ledgers, the sink's own state, and the
// names of the operators' state files with the content of small ones (state.go).
//
// Reading order: Identity and DB (db.go), Intent, Prepared (record.go), Decide
// (decide.go: recovery as a pure function over Facts), verifyFile (verify.go:
// the file's structure is proved before bbolt maps it, since a damaged page
// could end the process), sums (sum.go: bbolt has no checksums of its own).
//
// Invariants: a missing, empty or damaged file is refused, never taken as new;
// whatever byte changed, a reader gets right data or ErrDamaged;
// a second process gets an error at once; every write is one synced bbolt
// transaction. The protocol of an epoch is intent → (work) → prepared → sink
// commit → mark, where the mark is written together with the next intent.
// A DB is used by one flow, single-threaded.
package checkpoint
