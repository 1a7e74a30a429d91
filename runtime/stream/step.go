package stream

import "math"

// NoWatermark is the watermark before any event time was seen.
const NoWatermark = math.MinInt64

// Step describes one step of an epoch. It is constant from the first Push to
// EndStep.
type Step struct {
	Epoch int64
	Step  int64
	// Now is the recorded wall time of the epoch in microseconds: what
	// current_timestamp() says, also when the epoch is run again.
	Now int64
	// Late is the watermark by which rows are late (the previous step's),
	// Evict the one by which state is closed (this step's): both are the
	// flow's global watermark, in microseconds, before propagation through
	// chained operators.
	Late  int64
	Evict int64
	// Bounded marks the single step of a bounded query: blocking operators
	// emit everything at EndStep.
	Bounded bool
	// NoData marks an epoch that runs only because the watermark moved.
	NoData bool
	// Wide says that there is much to read that is not a stream, on several
	// lanes: operators that hold no state may be divided among the lanes too.
	Wide bool
}

// Offset is a source's position: the source's own JSON, opaque to others.
// The empty Offset is "before everything".
type Offset string
