package pipelines

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pipelines/pipelines/event"
	"pipelines/tables/catalog"
)

// FlowStatus is what the last or running update did in one flow.
type FlowStatus struct {
	Dataset    string      `json:"dataset"`
	Flow       string      `json:"flow"`
	State      event.State `json:"state"`
	Epochs     int64       `json:"epochs"`
	InputRows  int64       `json:"inputRows"`
	OutputRows int64       `json:"outputRows"`
	// CorruptRows could not be decoded fully, DroppedRows were left out for it.
	CorruptRows  int64               `json:"corruptRecords,omitempty"`
	DroppedRows  int64               `json:"droppedRecords,omitempty"`
	Watermark    string              `json:"watermark,omitempty"`
	StateRows    int64               `json:"stateRows,omitempty"`
	LateRows     int64               `json:"lateRows,omitempty"` // dropped: they came after the watermark
	Expectations []event.Expectation `json:"expectations,omitempty"`
	Error        *event.Failure      `json:"error,omitempty"`
	Reason       string              `json:"reason,omitempty"`
}

// Status is the content of a pipeline's status file.
type Status struct {
	Schema   int            `json:"schema"`
	Pipeline string         `json:"pipeline"`
	Update   string         `json:"update"`
	State    event.State    `json:"state"`
	Started  time.Time      `json:"started"`
	Changed  time.Time      `json:"changed"`
	PID      int            `json:"pid"`
	Error    *event.Failure `json:"error,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Flows    []*FlowStatus  `json:"flows"`
}

// statusInterval is how often the status is written at most, but for the end.
const statusInterval = 200 * time.Millisecond

// statusFile keeps a pipeline's status file up to date during an update: a
// change is written at once, or an interval after the write before.
type statusFile struct {
	path    string
	mu      sync.Mutex // guards s; held for memory work only
	s       Status
	changed chan struct{} // rung by each change
	over    chan struct{} // closed to end the writer
	ended   chan struct{} // closed by it
}

// statusPath is where the status of a pipeline is; before there was one for
// each it was status.json.
func statusPath(root, pipeline string) string {
	return filepath.Join(root, "events", catalog.PathPart(pipeline)+".status.json")
}

// newStatusFile starts to keep the file; close ends it.
func newStatusFile(u *update) *statusFile {
	f := &statusFile{path: statusPath(u.st.root, u.p.Name()), changed: make(chan struct{}, 1), over: make(chan struct{}), ended: make(chan struct{})}
	f.s = Status{Schema: 1, Pipeline: u.p.Name(), Update: u.id, State: event.Running, Started: u.started.UTC(), Changed: u.p.now().UTC(), PID: os.Getpid(), Flows: []*FlowStatus{}}
	go f.keep()
	return f
}

// keep writes what changes until the update is over. A status that cannot be
// written stops no flow; the last write, by close, reports it.
func (f *statusFile) keep() {
	defer close(f.ended)
	for {
		select {
		case <-f.changed:
			_ = f.write() // see above
		case <-f.over:
			return
		}
		timer := time.NewTimer(statusInterval)
		select {
		case <-timer.C:
		case <-f.over:
			timer.Stop()
			return
		}
	}
}

// close writes the last status. An update that could not tell its end has
// failed.
func (f *statusFile) close(err error) error {
	if f == nil {
		return nil
	}
	close(f.over)
	<-f.ended
	if f.s.State == event.Running {
		f.s.State, f.s.Error = event.Failed, failure(err)
	}
	return f.write()
}

func (f *statusFile) flow(dataset, name string) *FlowStatus {
	for _, x := range f.s.Flows {
		if x.Dataset == dataset && x.Flow == name {
			return x
		}
	}
	x := &FlowStatus{Dataset: dataset, Flow: name}
	f.s.Flows = append(f.s.Flows, x)
	return x
}

// change changes the status as of t.
func (f *statusFile) change(t time.Time, do func(s *Status)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.s)
	f.s.Changed = t.UTC()
	ring(f.changed)
}

func (f *statusFile) listener() event.Listener {
	return event.Listener{
		UpdateChanged: func(e event.UpdateChanged) {
			f.change(e.Time, func(s *Status) { s.State, s.Error = e.State, e.Error })
		},
		FlowChanged: func(e event.FlowChanged) {
			f.change(e.Time, func(*Status) {
				x := f.flow(e.Dataset, e.Flow)
				x.State, x.Error, x.Reason = e.State, e.Error, e.Reason
				if e.Expectations != nil {
					x.Expectations = e.Expectations
				}
			})
		},
		FlowProgress: func(e event.FlowProgress) {
			f.change(e.Time, func(*Status) {
				x := f.flow(e.Dataset, e.Flow)
				x.Epochs++
				x.InputRows += e.NumInputRows
				x.OutputRows += e.NumOutputRows
				x.CorruptRows += e.CorruptRows
				x.DroppedRows += e.DroppedRows
				x.Watermark, x.Expectations = e.Watermark, e.Expectations
				x.StateRows = 0
				for _, o := range e.Operators {
					x.StateRows += o.Total
					x.LateRows += o.Late
				}
			})
		},
	}
}

func (f *statusFile) write() error {
	f.mu.Lock()
	text, err := json.MarshalIndent(f.s, "", "  ")
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return catalog.ReplaceFile(f.path, append(text, '\n'))
}

// ReadStatus returns what the last or running update did, nil if none ran. An
// update whose process ended without a word is given as stopped.
func (p *Project) ReadStatus() (*Status, error) {
	root := p.spec.StorageDir()
	s, err := readStatus(statusPath(root, p.Name()))
	if s == nil && err == nil {
		if s, err = readStatus(filepath.Join(root, "events", "status.json")); s != nil && !strings.EqualFold(s.Pipeline, p.Name()) {
			s = nil
		}
	}
	if s == nil || err != nil || s.State != event.Running {
		return s, err
	}
	// A lock that may not be looked at tells nothing.
	holder, held, err := catalog.HolderOf(filepath.Join(root, filepath.FromSlash(catalog.LockPath(p.Name()))))
	if err != nil || held && (holder.PID == s.PID || holder.PID == 0) {
		return s, nil
	}
	s.State, s.Reason = event.Stopped, fmt.Sprintf("its process %d is gone", s.PID)
	for _, f := range s.Flows {
		switch f.State {
		case event.Queued, event.Planning, event.Starting, event.Running:
			f.State, f.Reason = event.Stopped, s.Reason
		case event.Completed, event.Failed, event.Skipped, event.Excluded, event.Stopped:
		}
	}
	return s, nil
}

// readStatus reads a status file, nil if there is none.
func readStatus(path string) (*Status, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s Status
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return &s, nil
}
