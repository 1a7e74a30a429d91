package event

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// SchemaVersion is the version of the event log's lines.
const SchemaVersion = 1

// Log returns a listener that writes one JSON line a record, and the error of
// the last. Records that could not be written (a full disk) are counted in a
// note before the next that can.
func Log(w io.Writer) (Listener, func() error) {
	l := &log{w: w}
	return Listener{
		UpdateChanged: func(e UpdateChanged) { l.write("update", e, e.Time) },
		FlowChanged:   func(e FlowChanged) { l.write("flow", e, e.Time) },
		FlowProgress:  func(e FlowProgress) { l.write("progress", e, e.Time) },
		Note:          func(e Note) { l.write("note", e, e.Time) },
	}, func() error { return l.failed }
}

type log struct {
	w      io.Writer
	failed error // of the last record
	lost   int   // records before the next
	cut    bool  // the last line was written in part
}

func (l *log) write(kind string, record any, at time.Time) {
	var text []byte
	if l.cut {
		text = append(text, '\n')
	}
	if l.lost > 0 {
		text = appendLine(text, "note", Note{Time: at, Message: fmt.Sprintf("%d records of the event log were lost: %v", l.lost, l.failed)})
	}
	text = appendLine(text, kind, record)
	n, err := l.w.Write(text)
	if l.failed = err; err != nil {
		l.lost++
		l.cut = l.cut || n > 0
		return
	}
	l.lost, l.cut = 0, false
}

func appendLine(text []byte, kind string, record any) []byte {
	line, err := json.Marshal(struct {
		Schema int    `json:"schema"`
		Type   string `json:"type"`
		Event  any    `json:"event"`
	}{SchemaVersion, kind, record})
	if err != nil {
		panic("bug: event: " + err.Error())
	}
	return append(append(text, line...), '\n')
}
