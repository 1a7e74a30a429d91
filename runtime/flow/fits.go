package flow

import (
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
)

// Refusal is the error with which Run would end before its first epoch because
// checkpoint and target are not of one moment; nil when it would go on.
func Refusal(o Options, path string, snap checkpoint.Snapshot, held connector.Held) error {
	_, err := decide(o.Dataset, o.Flow, path, snap, held)
	return err
}

// SinkFits returns a *connector.StateError when what the sink keeps in the
// checkpoint does not fit it any more. The sink is of no use afterwards.
func SinkFits(sink connector.Sink, db *checkpoint.DB) error {
	s, ok := sink.(connector.Stateful)
	if !ok {
		return nil
	}
	return s.StartState(sinkState{db, s.StateID()})
}
