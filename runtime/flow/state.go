package flow

import (
	"pipelines/runtime/checkpoint"
	"pipelines/runtime/connector"
)

// stateChanges collects what the step changed in each stateful operator.
func (e *Execution) stateChanges() []checkpoint.StateChange {
	var out []checkpoint.StateChange
	for _, h := range e.plan.State() {
		h.Changes(func(key, value []byte) {
			out = append(out, checkpoint.StateChange{Operator: h.ID(), Entry: checkpoint.Entry{Key: key, Value: value}})
		})
	}
	return e.sinkChanges(out)
}

// restoreState hands each stateful operator what the checkpoint holds of it.
func (e *Execution) restoreState() error {
	for _, h := range e.plan.State() {
		if err := e.o.DB.ReadState(h.ID(), h.Restore); err != nil {
			return err
		}
	}
	return e.startSink()
}

// meanings says what each stateful operator's entries mean.
func (e *Execution) meanings() map[string]string {
	out := map[string]string{}
	for _, h := range e.plan.State() {
		out[h.ID()] = h.Meaning()
	}
	if s, ok := e.o.Sink.(connector.Stateful); ok {
		out[s.StateID()] = s.Meaning()
	}
	return out
}
