package flow

import (
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
)

// sinkState reads what a sink keeps in the flow's checkpoint.
type sinkState struct {
	db *checkpoint.DB
	id string
}

// Prefixes implements connector.StateReader.
func (s sinkState) Prefixes(prefixes [][]byte, fn func(i int, key, value []byte) error) error {
	return s.db.ReadPrefixes(s.id, prefixes, fn)
}

// startSink gives the sink what it keeps in the checkpoint.
func (e *Execution) startSink() error {
	s, ok := e.o.Sink.(connector.Stateful)
	if !ok {
		return nil
	}
	return s.StartState(sinkState{e.o.DB, s.StateID()})
}

// sinkChanges is what the epoch changes in the sink's state.
func (e *Execution) sinkChanges() (out []checkpoint.StateChange) {
	s, ok := e.o.Sink.(connector.Stateful)
	if !ok {
		return out
	}
	id := s.StateID()
	s.Changes(func(key, value []byte) {
		out = append(out, checkpoint.StateChange{Operator: id, Entry: checkpoint.Entry{Key: key, Value: value}})
	})
	return out
}
