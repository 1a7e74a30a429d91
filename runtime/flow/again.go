package flow

import (
	"fmt"

	"pipelines/runtime/checkpoint"
)

// caughtUpLedger is where the checkpoint of a refreshed flow notes that the
// flow has read all there was; no source has such a name.
const caughtUpLedger = "refresh:"

// readAgain finds out whether the flow still reads what its target had before a
// full refresh. The commits until it has caught up carry the word again: a
// stream of the target that skips refreshes leaves them out.
func (e *Execution) readAgain() error {
	if e.again = e.o.Refreshed; !e.again {
		return nil
	}
	err := e.o.DB.ReadLedger(caughtUpLedger, func(_, _ []byte) error {
		e.again = false
		return nil
	})
	if err != nil {
		return fmt.Errorf("look how far the refresh of %s came: %w", e.o.Flow, err)
	}
	return nil
}

// caughtUp notes that nothing is left to read.
func (e *Execution) caughtUp() error {
	if !e.again {
		return nil
	}
	if err := e.o.DB.WriteLedger(caughtUpLedger, []checkpoint.Entry{{Key: []byte("caught up"), Value: []byte{1}}}); err != nil {
		return err
	}
	e.again = false
	return nil
}
