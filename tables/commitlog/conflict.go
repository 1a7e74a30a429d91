package commitlog

import (
	"errors"
	"fmt"
	"slices"
)

// ErrConflict is in the chain of every *ConflictError.
var ErrConflict = errors.New("another writer changed the table")

// Conflict is the kind of a conflict.
type Conflict uint8

// The conflicts, with Delta's error class in the comment.
const (
	NoConflict            Conflict = iota
	MetadataChanged                // DELTA_METADATA_CHANGED
	ProtocolChanged                // DELTA_PROTOCOL_CHANGED
	ConcurrentTransaction          // DELTA_CONCURRENT_TRANSACTION
	ConcurrentAppend               // DELTA_CONCURRENT_APPEND
	ConcurrentDelete               // DELTA_CONCURRENT_DELETE_DELETE
	ConcurrentDeleteRead           // DELTA_CONCURRENT_DELETE_READ
)

var conflictClasses = [...]string{"", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "DELTA_CONCURRENT_TRANSACTION",
	"DELTA_CONCURRENT_APPEND", "DELTA_CONCURRENT_DELETE_DELETE", "DELTA_CONCURRENT_DELETE_READ"}

// Class returns Delta's error class.
func (c Conflict) Class() string { return conflictClasses[c] }

// ConflictError says which commit of another writer stands in the way.
type ConflictError struct {
	Kind    Conflict
	Version int64  // of the other commit
	What    string // what it did
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("[%s] version %d of the table, by another writer, %s", e.Kind.Class(), e.Version, e.What)
}

func (e *ConflictError) Unwrap() error { return ErrConflict }

// Attempt is what a transaction wants, as far as conflicts depend on it.
type Attempt struct {
	// AppIDs are the applications of its txn actions.
	AppIDs []string
	// Reads says that it depends on the rows of the whole table (an aggregate
	// over it, a keyed merge): rows that others add or remove matter.
	Reads bool
	// ReplacesAll says that it removes whatever is in the table: what others
	// add or remove is removed too, so neither matters.
	ReplacesAll bool
	// Removes are the paths of the files that it removes.
	Removes []string
	// Isolation is the table's.
	Isolation Isolation
}

// Judge decides whether an attempt still holds when commit w, made meanwhile
// as version v, comes before it. It is a pure function.
func Judge(a *Attempt, v int64, w *Commit) *ConflictError {
	conflict := func(k Conflict, what string) *ConflictError { return &ConflictError{Kind: k, Version: v, What: what} }
	if w.Protocol != nil {
		return conflict(ProtocolChanged, "changed the protocol")
	}
	if w.Metadata != nil {
		return conflict(MetadataChanged, "changed the schema or the properties")
	}
	for _, t := range w.Txns {
		if slices.Contains(a.AppIDs, t.AppID) {
			return conflict(ConcurrentTransaction, fmt.Sprintf("committed epoch %d of the same flow (%s)", t.Version, t.AppID))
		}
	}
	if a.ReplacesAll {
		return nil
	}
	for i := range w.Removes {
		r := &w.Removes[i]
		if slices.Contains(a.Removes, r.Path) {
			return conflict(ConcurrentDelete, "removed the file "+r.Path)
		}
		if a.Reads && r.DataChange {
			return conflict(ConcurrentDeleteRead, "removed rows that were read")
		}
	}
	if !a.Reads || a.Isolation == WriteSerializable && w.HasInfo && w.Info.IsBlindAppend {
		return nil
	}
	for i := range w.Adds {
		if w.Adds[i].DataChange {
			return conflict(ConcurrentAppend, "added rows")
		}
	}
	return nil
}
