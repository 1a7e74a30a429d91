package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"pipelines/pipelines/event"
)

// terminal is the size of the terminal behind w, 0 if it is none or if it
// should not be steered.
func terminal(w io.Writer) (width, height int) {
	if out, ok := w.(*checkedOutput); ok {
		w = out.Writer
	}
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || os.Getenv("CI") != "" {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// liveLines shows one line a flow on a terminal, drawn anew as things happen.
// Where there are more flows than lines, those that run are shown.
type liveLines struct {
	w             io.Writer
	width, height int

	mu    sync.Mutex // guards all below
	flows []*liveFlow
	drawn int // lines on the screen
	last  time.Time
}

// liveOut is where console sinks write while the lines are on the screen.
type liveOut struct {
	lines *liveLines
	to    io.Writer
}

// Write takes the lines away and writes; the next event draws them again.
func (o liveOut) Write(b []byte) (int, error) {
	o.lines.mu.Lock()
	defer o.lines.mu.Unlock()
	o.lines.clear()
	return o.to.Write(b)
}

type liveFlow struct {
	title     string
	state     event.State
	epochs    int64
	in, out   int64
	watermark string
}

func (l *liveLines) flow(dataset, name string) *liveFlow {
	title := flowTitle(dataset, name)
	for _, f := range l.flows {
		if f.title == title {
			return f
		}
	}
	f := &liveFlow{title: title}
	l.flows = append(l.flows, f)
	return f
}

func (l *liveLines) listener() event.Listener {
	return event.Listener{
		FlowChanged: func(e event.FlowChanged) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flow(e.Dataset, e.Flow).state = e.State
			l.draw(e.Time, true)
		},
		FlowProgress: func(e event.FlowProgress) {
			l.mu.Lock()
			defer l.mu.Unlock()
			f := l.flow(e.Dataset, e.Flow)
			f.epochs++
			f.in += e.NumInputRows
			f.out += e.NumOutputRows
			f.watermark = e.Watermark
			l.draw(e.Time, false)
		},
		Note: func(e event.Note) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.clear()
			fmt.Fprintf(l.w, "note: %s\n", e.Message)
			l.draw(e.Time, true)
		},
	}
}

// clear removes the lines from the screen.
func (l *liveLines) clear() {
	if l.drawn > 0 {
		fmt.Fprintf(l.w, "\x1b[%dA\x1b[J", l.drawn)
	}
	l.drawn = 0
}

// draw shows all flows; at most ten times a second unless it is forced.
func (l *liveLines) draw(now time.Time, force bool) {
	if !force && now.Sub(l.last) < 100*time.Millisecond {
		return
	}
	l.last = now
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", l.drawn)
	}
	shown := 0
	for _, f := range l.flows {
		if len(l.flows) >= l.height && f.state != event.Running || shown >= l.height-1 {
			continue
		}
		shown++
		text := fmt.Sprintf("%-30s %-10s", f.title, f.state)
		if f.epochs > 0 {
			text += fmt.Sprintf("  %s  %s in  %s out", plural(int(f.epochs), "epoch"), count(f.in), count(f.out))
		}
		if f.watermark != "" {
			text += "  watermark " + f.watermark
		}
		if r := []rune(text); len(r) >= l.width {
			text = string(r[:max(l.width-1, 0)])
		}
		b.WriteString(text + "\n")
	}
	l.drawn = shown
	_, _ = io.WriteString(l.w, b.String()) // a closed terminal stops no update
}

// finish leaves the screen to the summary.
func (l *liveLines) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}
