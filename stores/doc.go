// Package stores is the contract by which the product reads and writes bytes:
// whole objects under slash-separated keys, put atomically, put if absent,
// read by range, listed in order. It fits object stores: no rename, no append.
//
// Reading order: Store, ObjectInfo, the errors; MakeFolder is for files that
// stand beside the stores (checkpoints). Implementations live in
// sub-packages (local, memory, fault); storetest holds the suite that each
// must pass.
//
// Invariants: after Put or PutIfAbsent returns nil the object is durable and
// seen whole by every reader; a failed or crashed put leaves either nothing or
// the whole object. Every error is classified by Classify. All methods are
// safe for concurrent use. The package imports nothing of ours.
package stores
