package pipelines

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pipelines/pipelines/event"
	"pipelines/runtime/connector"
	exec "pipelines/runtime/flow"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/spec/option"
	"pipelines/sqlplan"
	"pipelines/tables/catalog"
)

// FlowStatus is what the last or running update did in one flow.
type FlowStatus struct {
	Dataset      string              `json:"dataset"`
	Flow         string              `json:"flow"`
	State        event.State         `json:"state"`
	Epochs       int64               `json:"epochs"`
	InputRows    int64               `json:"inputRows"`
	OutputRows   int64               `json:"outputRows"`
	Watermark    string              `json:"watermark,omitempty"`
	StateRows    int64               `json:"stateRows,omitempty"`
	Expectations []event.Expectation `json:"expectations,omitempty"`
	Error        *event.Failure      `json:"error,omitempty"`
	Reason       string              `json:"reason,omitempty"`
}

// Status is the content of status.json.
type Status struct {
	Schema   int           `json:"schema"`
	Pipeline string        `json:"pipeline"`
	Update   string        `json:"update"`
	State    event.State   `json:"state"`
	Started  time.Time     `json:"started"`
	Changed  time.Time     `json:"changed"`
	PID      int           `json:"pid"`
	Flows    []*FlowStatus `json:"flows"`
}

// statusFile keeps status.json up to date during an update.
type statusFile struct {
	path string
	mu   sync.Mutex // guards s
	s    Status
	last time.Time
}

func newStatusFile(path string, u *update) *statusFile {
	return &statusFile{path: path, s: Status{Schema: 1, Pipeline: u.p.Name(), Update: u.id, Started: u.started.UTC(), PID: os.Getpid(), Flows: []*FlowStatus{}}}
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

func (f *statusFile) listener() event.Listener {
	return event.Listener{
		UpdateChanged: func(e event.UpdateChanged) {
			f.mu.Lock()
			f.s.State, f.s.Changed = e.State, e.Time.UTC()
			f.mu.Unlock()
		},
		FlowChanged: func(e event.FlowChanged) {
			f.mu.Lock()
			x := f.flow(e.Dataset, e.Flow)
			x.State, x.Error, x.Reason = e.State, e.Error, e.Reason
			if e.Expectations != nil {
				x.Expectations = e.Expectations
			}
			f.s.Changed = e.Time.UTC()
			f.mu.Unlock()
		},
		FlowProgress: func(e event.FlowProgress) {
			f.mu.Lock()
			x := f.flow(e.Dataset, e.Flow)
			x.Epochs++
			x.InputRows += e.NumInputRows
			x.OutputRows += e.NumOutputRows
			x.Watermark, x.Expectations = e.Watermark, e.Expectations
			x.StateRows = 0
			for _, o := range e.Operators {
				x.StateRows += o.Total
			}
			f.s.Changed = e.Time.UTC()
			due := e.Time.Sub(f.last) > 200*time.Millisecond
			if due {
				f.last = e.Time
			}
			f.mu.Unlock()
			if due {
				// A status that cannot be written stops no flow; the last
				// write, at the end of the update, reports it.
				_ = f.write()
			}
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

// ReadStatus returns what the last or running update did, nil if none ran.
func (p *Project) ReadStatus() (*Status, error) {
	text, err := os.ReadFile(filepath.Join(p.spec.StorageDir(), "events", "status.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s Status
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("status.json: %w", err)
	}
	return &s, nil
}

// classOf finds the error class of a failure, "" if it has none.
func classOf(err error) (class, sqlState string) {
	if e, ok := errors.AsType[*sqlplan.Error](err); ok {
		return e.Class, e.SQLState
	}
	if _, ok := errors.AsType[*connector.PathError](err); ok {
		return "PATH_NOT_FOUND", diag.Code("PATH_NOT_FOUND").SQLState()
	}
	if _, ok := errors.AsType[*exec.Bug](err); ok {
		return "INTERNAL_ERROR", diag.Code("INTERNAL_ERROR").SQLState()
	}
	return "", ""
}

func decodeOptions(owner string, fields []option.Field, s *spec.Sink, p *Project) (*option.Values, diag.List) {
	return option.NewSet(owner, fields...).Decode(s.Options, p.optionContext(s.File, s.Span))
}
