package event

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// room is a disk that may be full.
type room struct {
	strings.Builder
	left int
}

func (r *room) Write(b []byte) (int, error) {
	n := min(len(b), r.left)
	r.left -= n
	r.Builder.Write(b[:n])
	if n < len(b) {
		return n, errors.New("full")
	}
	return n, nil
}

// TestLogFull: the log of a disk that was full for a while has all other lines
// whole, and says how many it has not.
func TestLogFull(t *testing.T) {
	r := &room{left: 1000}
	l, failed := Log(r)
	say := func(text string) { l.OnNote(Note{Time: time.Unix(0, 0).UTC(), Message: text}) }
	say("a")
	if failed() != nil {
		t.Error(failed())
	}
	r.left = 10
	say("b")
	say("c")
	if failed() == nil {
		t.Error("the log is full and does not say so")
	}
	r.left = 1000
	say("d")
	if failed() != nil {
		t.Error(failed())
	}
	want := []string{`"message":"a"`, `{"schema":`, `"message":"2 records of the event log were lost: full"`, `"message":"d"`}
	lines := strings.Split(strings.TrimSpace(r.String()), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%q", lines)
	}
	for i, w := range want {
		if !strings.Contains(lines[i], w) {
			t.Errorf("line %d is %s", i, lines[i])
		}
	}
}
