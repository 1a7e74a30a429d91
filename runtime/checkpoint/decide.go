package checkpoint

// Facts is what recovery found, with nothing interpreted.
type Facts struct {
	// Intent and Prepared are the newest records, -1 for none.
	Intent, Prepared int64
	// Marked is the newest epoch known to be committed, -1 for none.
	Marked int64
	// SinkEpoch is the newest epoch that the sink holds under our id, -1 for
	// none. SinkKnows says that the sink can tell (an at-least-once sink cannot).
	SinkEpoch int64
	SinkKnows bool
	// TokenVoid says that the sink can no longer commit the prepared epoch.
	TokenVoid bool
}

// Action is what recovery does first.
type Action uint8

// The actions.
const (
	// Start: everything is committed; plan epoch Epoch.
	Start Action = iota
	// Mark: the sink holds prepared epoch Epoch; note it and go on.
	Mark
	// Finish: commit prepared epoch Epoch from its token.
	Finish
	// Rerun: run the intent of Epoch again with the same offsets.
	Rerun
	// Discard: drop the prepared state of Epoch and run its intent again.
	Discard
	// RefuseAhead: the sink holds an epoch that the checkpoint does not know.
	RefuseAhead
	// RefuseDamaged: the records contradict each other.
	RefuseDamaged
)

// Decision is the result of Decide.
type Decision struct {
	Action Action
	Epoch  int64
}

// Decide is recovery as a pure function: what must happen before a new epoch
// may be planned. Rules: DESIGN §4 "One epoch".
func Decide(f Facts) Decision {
	if f.Prepared > f.Intent || f.Marked > f.Intent {
		return Decision{RefuseDamaged, max(f.Prepared, f.Marked)}
	}
	if f.SinkKnows && f.SinkEpoch > f.Intent {
		return Decision{RefuseAhead, f.SinkEpoch}
	}
	// An intent is written only when the epoch before is committed, and an
	// epoch is committed only when it was prepared.
	if min(f.Marked, f.Prepared) < f.Intent-1 || f.Prepared < f.Marked {
		return Decision{RefuseDamaged, f.Intent}
	}
	if f.SinkKnows && f.SinkEpoch < f.Marked {
		return Decision{RefuseDamaged, f.SinkEpoch}
	}
	switch {
	case f.Marked == f.Intent:
		return Decision{Start, f.Intent + 1}
	case f.Prepared < f.Intent:
		// The sink commits only what was prepared: an epoch that it holds
		// without our record means that our record was lost.
		if f.SinkKnows && f.SinkEpoch == f.Intent {
			return Decision{RefuseAhead, f.SinkEpoch}
		}
		return Decision{Rerun, f.Intent}
	case f.SinkKnows && f.SinkEpoch == f.Prepared:
		return Decision{Mark, f.Prepared}
	case f.TokenVoid:
		return Decision{Discard, f.Prepared}
	}
	return Decision{Finish, f.Prepared}
}

func (a Action) String() string {
	return [...]string{"start", "mark", "finish", "rerun", "discard", "refuse-ahead", "refuse-damaged"}[a]
}
