// Package memory is a store in memory, for tests.
//
// Reading order: New, Options, Store; then Sync and Crash.
//
// It keeps the whole contract of stores.Store. With Options.Lazy it plays a
// disk that lies about durability: writes are seen at once and forgotten by
// Crash unless Sync was called after them. A store can be given a size
// (Options.Limit), after which writes fail with ErrFull. All methods are safe
// for concurrent use; objects that are open keep the bytes they had.
package memory
