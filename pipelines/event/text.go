package event

import (
	"fmt"
	"io"
	"time"
)

// Text returns a listener that writes the lines that people read in CI:
// time, then what happened.
func Text(w io.Writer) Listener {
	line := func(t time.Time, format string, args ...any) {
		// A listener has nobody to tell: a closed terminal stops no update.
		_, _ = fmt.Fprintf(w, "%s: %s\n", t.UTC().Format(time.DateTime), fmt.Sprintf(format, args...))
	}
	return Listener{
		UpdateChanged: func(e UpdateChanged) {
			line(e.Time, "Run is %s.", e.State)
			if e.Error != nil {
				line(e.Time, "Error: %s", e.Error.Message)
			}
		},
		FlowChanged: func(e FlowChanged) {
			switch e.State {
			case Failed:
				line(e.Time, "Flow '%s' has FAILED.", e.Flow)
				if e.Error != nil {
					line(e.Time, "Error: %s", e.Error.Message)
				}
			case Completed:
				line(e.Time, "Flow '%s' has COMPLETED.", e.Flow)
			case Skipped:
				line(e.Time, "Flow '%s' SKIPPED: %s", e.Flow, e.Reason)
			default:
				line(e.Time, "Flow '%s' is %s.", e.Flow, e.State)
			}
		},
		FlowProgress: func(e FlowProgress) {
			line(e.Time, "Flow '%s' epoch %d: %d rows in, %d rows out, %d ms.",
				e.Flow, e.BatchID, e.NumInputRows, e.NumOutputRows, e.DurationMs["triggerExecution"])
			if e.CorruptRows+e.DroppedRows > 0 {
				line(e.Time, "Flow '%s': %d records could not be decoded fully, %d were left out.", e.Flow, e.CorruptRows, e.DroppedRows)
			}
			for _, x := range e.Expectations {
				if x.Failed > 0 {
					line(e.Time, "Flow '%s': expectation %s (%s): %d of %d rows violate it.", e.Flow, x.Title(), x.Action, x.Failed, x.Passed+x.Failed)
				}
			}
		},
		Note: func(e Note) { line(e.Time, "Note: %s", e.Message) },
	}
}
