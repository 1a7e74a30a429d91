package record

import (
	"errors"
	"fmt"
)

// ErrPartial is the cause of a record with a value that does not fit its type.
var ErrPartial = errors.New("a value does not fit its type")

// Stats count records since a decoder was made.
type Stats struct {
	Records, Corrupt, Dropped int64
}

// Error is returned for a malformed record in FAILFAST mode, and for limits in
// any mode.
type Error struct {
	Record []byte // the whole record, valid until the next call
	Offset int    // of the record in its block
	Err    error
}

// shown is how much of a record an error shows.
const shown = 200

func (e *Error) Error() string { return fmt.Sprintf("%v: %q", e.Err, e.Start()) }

func (e *Error) Unwrap() error { return e.Err }

// Start returns the first bytes of the record.
func (e *Error) Start() []byte { return e.Record[:min(len(e.Record), shown)] }
