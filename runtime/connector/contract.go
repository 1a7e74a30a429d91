package connector

import (
	"context"
	"errors"
	"time"

	"pipelines/runtime/stream"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Split is a part of a range that one lane reads alone.
type Split struct {
	Name string
	// Bytes is an estimate of the work, for dealing splits to lanes.
	Bytes int64
	// Data is the connector's own.
	Data any
}

// ScanSpec says what a flow wants of each split.
type ScanSpec struct {
	// Fields are places in the relation's schema and Columns their (maybe
	// pruned) types, in output order.
	Fields  []int
	Columns schema.Schema
	// Metadata maps output columns that are file metadata to their field name;
	// Fields is -1 there.
	Metadata map[int]string
	Terms    []format.Term
	Late     bool // see format.ReadSpec
	Location *time.Location
	Pool     *column.Pool
	// BatchRows bounds the rows a batch; 0: column.BatchRows.
	BatchRows     int
	CaseSensitive bool
}

// Reader reads one split. Next gives batches owned by the caller, io.EOF at
// the end.
type Reader interface {
	Next() (*column.Batch, error)
	Counts() format.Counts
	Close() error
}

// Opener opens splits; safe for concurrent calls.
type Opener interface {
	Open(ctx context.Context, s Split, spec ScanSpec) (Reader, error)
}

// Entry is one change of a source's ledger; a nil Value deletes.
type Entry struct{ Key, Value []byte }

// Ledger gives a source what it stored in earlier epochs.
type Ledger func(fn func(key, value []byte) error) error

// PlanOptions are the trigger's wishes for one epoch.
type PlanOptions struct {
	// Unlimited ignores the source's limits (triggered).
	Unlimited bool
	// Pinned plans only up to what was there at the last Pin (available_now).
	Pinned bool
}

// Planned is the range of one epoch.
type Planned struct {
	To stream.Offset
	// Entries go into the ledger together with the intent.
	Entries []Entry
	// Splits is how many splits the range has; 0 means nothing new.
	Splits int
	Notes  []string // what the user should be told ("a.csv changed after it was read")
}

// Source is a relation read as a stream.
type Source interface {
	Opener
	// Start hands over the ledger and the offset up to which all is planned.
	Start(ctx context.Context, from stream.Offset, ledger Ledger) error
	// Pin notes what is there now, for PlanOptions.Pinned.
	Pin(ctx context.Context) error
	// Plan decides what comes after from.
	Plan(ctx context.Context, from stream.Offset, opts PlanOptions) (Planned, error)
	// Splits lists the splits of (from, to], in order.
	Splits(ctx context.Context, from, to stream.Offset) ([]Split, error)
}

// Forgetter is a Source that gives up what lies behind a committed offset
// (cleaned files, acknowledged messages). Forget is called when the mark is
// durable, and at a start for what was committed before. What fails is left to
// the next start.
type Forgetter interface {
	Forget(ctx context.Context, upTo stream.Offset) Forgotten
}

// Forgotten is what a Forgetter did: changes of its ledger, and what the user
// should be told.
type Forgotten struct {
	Entries []Entry
	Notes   []string
}

// Bounded is a relation read whole.
type Bounded interface {
	Opener
	// Whole lists the splits of the relation as it is now and a fingerprint
	// that changes when the rows may have.
	Whole(ctx context.Context) (splits []Split, fingerprint string, err error)
}

// Described is implemented by bounded relations that know more of their splits.
type Described interface {
	// Describe says what is known exactly of the splits that Whole returned;
	// nil if nothing is.
	Describe(ctx context.Context, splits []Split) []logical.FileFacts
}

// Held is what a sink knows of earlier epochs.
type Held struct {
	// Knows is false for at-least-once sinks.
	Knows bool
	// Epoch is the newest epoch committed under our id, -1 for none.
	Epoch int64
	// Foreign is another checkpoint's id that has committed here after ours.
	Foreign string
}

// EpochInfo describes the epoch that a sink takes.
type EpochInfo struct {
	AppID string
	Epoch int64
	// Now is the epoch's wall time in microseconds, the same when it is run
	// again.
	Now  int64
	Mode logical.OutputMode
	// Info is stored with the commit (offsets, watermarks) where the sink can.
	Info map[string]string
	// Overwrite replaces all rows of the target (full refresh, materialized
	// view).
	Overwrite bool
}

// ErrCommitted says that the sink holds the epoch already. Recovery looks
// before it commits, so this means another runner of the same flow.
var ErrCommitted = errors.New("the epoch was committed by another run of the flow")

// Sink takes a flow's rows.
type Sink interface {
	// Held looks what is committed under appID.
	Held(ctx context.Context, appID string) (Held, error)
	// Begin starts an epoch; whatever an earlier attempt left is dropped.
	Begin(ctx context.Context, info EpochInfo) (Epoch, error)
	// Commit makes a prepared epoch visible, also in another process than the
	// one that prepared it. A sink that knows epochs takes each once: one that
	// it holds already is ErrCommitted and changes nothing.
	Commit(ctx context.Context, info EpochInfo, token []byte) error
	// Clean removes what crashed attempts of an application left behind.
	Clean(ctx context.Context, appID string) error
}

// Epoch is an epoch in the making.
type Epoch interface {
	// Write takes a lent batch; concurrent calls are for different lanes.
	Write(lane int, b *column.Batch) error
	// Prepare makes the rows durable but not visible and returns the token.
	Prepare(ctx context.Context) (token []byte, err error)
	// Abort drops the rows.
	Abort() error
}
