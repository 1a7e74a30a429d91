package stores

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"
)

// ErrNotExist is returned (wrapped) when a key has no object.
var ErrNotExist = errors.New("object does not exist")

// ErrExists is returned (wrapped) by PutIfAbsent when the key has an object.
var ErrExists = errors.New("object exists already")

// ErrFull is returned (wrapped) when the store has no room left.
var ErrFull = errors.New("no space left in the store")

// ObjectInfo describes one object.
type ObjectInfo struct {
	Key     string
	Size    int64
	ModTime time.Time
	// Version changes when the object's bytes may have (an etag, an inode and
	// time); empty where the store has none.
	Version string
}

// Store is a place for objects. Keys are slash-separated, relative, clean.
type Store interface {
	Reader
	Writer
}

// Reader reads objects.
type Reader interface {
	// Get returns the whole object.
	Get(ctx context.Context, key string) ([]byte, error)
	// Open opens an object for reading by ranges.
	Open(ctx context.Context, key string) (Object, error)
	// Stat describes one object.
	Stat(ctx context.Context, key string) (ObjectInfo, error)
	// List calls fn for each object whose key starts with the folder prefix
	// and is greater than after, in ascending byte order of keys, until fn
	// returns false.
	List(ctx context.Context, opts ListOptions, fn func(ObjectInfo) bool) error
}

// ListOptions selects what List shows.
type ListOptions struct {
	Prefix string // "" or a folder with its final slash
	After  string // only keys greater than this
	// NamesOnly allows a store to leave Size, ModTime and Version empty.
	NamesOnly bool
	// Flat leaves sub-folders out.
	Flat bool
	// Skip, where given, is asked about every key and says which are not to be
	// shown. It is asked in any order, and before keys are put in order, so
	// that what it skips costs next to nothing. The key is lent for the call.
	Skip func(key []byte) bool
}

// FolderTimer is implemented by stores that can tell, without listing it, when
// an object last came into or went out of a folder. Flat says that the folder
// holds no folders, so that the time covers all below it; without it the time
// means nothing.
type FolderTimer interface {
	FolderTime(prefix string) (changed time.Time, flat bool)
}

// Writer writes objects.
type Writer interface {
	// Put writes the object, replacing an older one atomically.
	Put(ctx context.Context, key string, data []byte) error
	// PutIfAbsent writes the object, or returns ErrExists.
	PutIfAbsent(ctx context.Context, key string, data []byte) error
	// Create starts an object that is written in pieces; it appears with
	// Commit, or never.
	Create(ctx context.Context, key string) (Upload, error)
	// Delete removes the object; a missing one is no error.
	Delete(ctx context.Context, key string) error
}

// Object is an open object.
type Object interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Upload is an object in the making.
type Upload interface {
	io.Writer
	// Commit makes the object durable and visible, replacing an older one.
	Commit() error
	// Abort drops it; after Commit it does nothing.
	Abort() error
}

// Class says what a caller may do about an error.
type Class uint8

// The classes.
const (
	Permanent Class = iota
	Retryable
	Corrupt
)

// ClassError carries the class of an error.
type ClassError struct {
	Class Class
	Err   error
}

func (e *ClassError) Error() string { return e.Err.Error() }
func (e *ClassError) Unwrap() error { return e.Err }

// Classify returns the class of err: that of the ClassError in its chain. Else
// a lack of room is Retryable, wherever it was met, for somebody may make room;
// all others are Permanent.
func Classify(err error) Class {
	if e, ok := errors.AsType[*ClassError](err); ok {
		return e.Class
	}
	for _, full := range []error{ErrFull, syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) {
			return Retryable
		}
	}
	return Permanent
}
