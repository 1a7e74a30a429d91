package event

import (
	"encoding/json"
	"io"
)

// SchemaVersion is the version of the event log's lines.
const SchemaVersion = 1

// Log returns a listener that writes one JSON line a record, and the first
// error it met.
func Log(w io.Writer) (Listener, func() error) {
	var failed error
	write := func(kind string, record any) {
		if failed != nil {
			return
		}
		line, err := json.Marshal(struct {
			Schema int    `json:"schema"`
			Type   string `json:"type"`
			Event  any    `json:"event"`
		}{SchemaVersion, kind, record})
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		failed = err
	}
	return Listener{
		UpdateChanged: func(e UpdateChanged) { write("update", e) },
		FlowChanged:   func(e FlowChanged) { write("flow", e) },
		FlowProgress:  func(e FlowProgress) { write("progress", e) },
		Note:          func(e Note) { write("note", e) },
	}, func() error { return failed }
}
